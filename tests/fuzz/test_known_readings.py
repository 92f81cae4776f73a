"""Exports with known answers: each is read as it was written, or refused with what to do."""

from pathlib import Path

import pytest

from tests.fuzz.known_readings import KnownReading, list_readings
from tests.fuzz.studies import read_known

READINGS = list_readings()


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_an_export_is_read_as_it_was_written_or_refused(
    reading: KnownReading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_known(reading) == ("refused" if reading.known is None else "read")
