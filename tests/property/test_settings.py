"""Settings stay within their limits, and a change changes what it names."""

from attrs import asdict, evolve
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.result import Failure, Success
from groundkit.core.settings import LANGUAGES, Settings, SettingsChange, SettingsRefused, changed, checked

numbers = st.integers(-2, 40) | st.integers(999_990, 1_000_010)
languages = st.sampled_from((*LANGUAGES, "klingon", "English", ""))
any_settings = st.builds(Settings, numbers, numbers, languages, st.integers(-1, 3), st.none() | st.just("../docs"))
changes = st.builds(
    SettingsChange,
    st.none() | numbers,
    st.none() | numbers,
    st.none() | languages,
    st.none() | st.integers(-1, 3),
    st.none() | st.just(".."),
)
good = any_settings.filter(lambda each: isinstance(checked(each), Success))


def within(settings: Settings) -> bool:
    return (
        16 <= settings.chunk_size <= 1_000_000
        and 0 <= settings.chunk_overlap < settings.chunk_size
        and settings.language in LANGUAGES
        and settings.max_bytes >= 1
    )


@given(any_settings)
def test_settings_pass_exactly_within_their_limits(settings: Settings) -> None:
    judged = checked(settings)
    assert isinstance(judged, Success) == within(settings)
    if isinstance(judged, Success):
        assert judged.unwrap() == settings


@given(any_settings)
def test_a_refusal_names_a_setting_and_the_value_it_has(settings: Settings) -> None:
    judged = checked(settings)
    if isinstance(judged, Failure):
        refused = judged.failure()
        assert isinstance(refused, SettingsRefused)
        assert asdict(settings)[refused.name] == refused.value
        assert refused.allowed


@given(good, changes)
def test_a_change_changes_what_it_names_and_other_sizes_ask_for_a_recut(
    settings: Settings, change: SettingsChange
) -> None:
    named = {name: value for name, value in asdict(change).items() if value is not None}
    wanted = Settings(**(asdict(settings) | named))
    if (wanted.chunk_size, wanted.chunk_overlap) != (settings.chunk_size, settings.chunk_overlap):
        wanted = evolve(wanted, recut=True)
    assert changed(settings, change) == (Success(wanted) if within(wanted) else checked(wanted))


@given(good)
def test_no_change_is_no_change(settings: Settings) -> None:
    assert changed(settings, SettingsChange()) == Success(settings)


@given(good)
def test_no_chunk_may_be_longer_than_the_hard_limit_nor_may_it_be_below_the_size(settings: Settings) -> None:
    assert settings.hard_limit >= 4 * settings.chunk_size > settings.chunk_overlap


def test_the_defaults_are_within_the_limits() -> None:
    assert within(Settings())
