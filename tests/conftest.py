"""Hypothesis profiles: `dev` on a desk, `ci` derandomised and bounded, `nightly` with ten times the examples."""

import os

from hypothesis import HealthCheck, settings

_LENIENT = [HealthCheck.too_slow]

settings.register_profile("dev", deadline=None, max_examples=100, suppress_health_check=_LENIENT)
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True, suppress_health_check=_LENIENT)
settings.register_profile("nightly", deadline=None, max_examples=1000, suppress_health_check=_LENIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
