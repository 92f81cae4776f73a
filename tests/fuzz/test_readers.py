"""Whatever a file holds, it is read or refused with a message; a faulty reader raises otherwise."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.readers import CASES, Case, take

FILES = 60


@pytest.mark.parametrize("kind", CASES)
def test_any_file_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    outcomes = set()

    @settings(
        max_examples=FILES,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(CASES[kind])
    def take_each(case: Case) -> None:
        outcomes.add(take(case, tmp_path))

    take_each()
    assert outcomes == {"read", "refused"}
