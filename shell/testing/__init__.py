"""In-memory twins, contracts and laws for tests."""
