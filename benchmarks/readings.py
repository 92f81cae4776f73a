"""Hundreds of exports whose values are known: read as they were written, refused, or misread.

The exports are those of tests/fuzz/known_readings.py, of which the tests take a quarter. Prints how
many of those that can be read were read, and how many of the others were refused; any other outcome
ends the script with an error.
"""

import logging
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import chdir

import pandas as pd
from attacks import record_attack

from capmap.tables import render_markdown
from tests.fuzz.known_readings import list_readings
from tests.fuzz.studies import read_known

OUTCOMES = ["read", "refused", "lost", "misread"]


def main() -> None:
    """Read all exports, print what became of them and record the counts."""
    warnings.simplefilter("error")
    logging.disable()
    counts = {"to be read": Counter[str](), "to be refused": Counter[str]()}
    for reading in list_readings():
        expected = "to be refused" if reading.known is None else "to be read"
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            outcome = read_known(reading)
        if outcome != expected.removeprefix("to be "):
            print(f"{reading.name}: {outcome}", file=sys.stderr)
        counts[expected][outcome] += 1
    table = pd.DataFrame(
        {"exports": name, **{outcome: found[outcome] for outcome in OUTCOMES}}
        for name, found in counts.items()
    )
    print(render_markdown(table), end="")
    every = sum(counts.values(), Counter[str]())
    record_attack(
        "exports with known answers",
        tries=every.total(),
        lost=every["lost"],
        misread=every["misread"],
    )
    if every["lost"] or every["misread"] or counts["to be read"]["refused"]:
        sys.exit("An export was not taken as it should be.")


if __name__ == "__main__":
    main()
