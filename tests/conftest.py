"""Generated examples are the same in every run, and take as long as they take."""

import pytest
from hypothesis import settings

settings.register_profile("capmap", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("capmap")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the texts of `tests/golden` again."""
    parser.addoption("--refresh", action="store_true", help="write tests/golden again")
