"""Fifty random moments at which a run, or one of its jobs, is killed: what is lost or half-written.

Prints a row per way of killing with the counts; a result that is not byte for byte that of a whole
run, or a temporary file that stays, ends the script with an error. Moments at which nothing was
alive any more are made up for. Takes a quarter of an hour.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
from attacks import record_attack

from capmap.tables import render_markdown, write_table
from tests.faults.disturbances import (
    TARGETS,
    find_damage,
    forget_results,
    kill_group,
    kill_job,
    lay_out,
    resume,
    start,
)
from tests.workflow.checkouts import Checkout

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "benchmarks/results"
MOMENTS = 50


def disturb(checkout: Checkout, moment: float, *, whole: bool) -> bool:
    """Kill a run, or one of its jobs, some seconds after its start; tell whether it was alive."""
    with start(checkout) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        if whole:
            is_hit = process.poll() is None
            kill_group(process)
        else:
            is_hit = kill_job(process)
            process.wait(300)
    return is_hit


def main() -> None:
    """Kill, look, resume and compare, again and again; print the counts and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=MOMENTS, help="how many to hit")
    moments = parser.parse_args().moments
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        checkout = lay_out(Path(folder) / "project")
        begin = time.perf_counter()
        run = checkout.snakemake(*TARGETS)
        length = time.perf_counter() - begin
        if run.status:
            sys.exit(run.output)
        expected = checkout.digests()
        for number in count():
            if sum(row["alive"] for row in rows) == moments:
                break
            moment = random.Random(number).uniform(0, length)  # noqa: S311
            forget_results(checkout)
            was_running = disturb(checkout, moment, whole=number % 5 > 0)
            damaged = find_damage(checkout, expected)
            kept = len(checkout.digests())
            resume(checkout)
            remains = list((checkout.folder / "results").rglob("*.tmp"))
            rows.append(
                {
                    "killed": "run" if number % 5 else "job",
                    "alive": was_running,
                    "kept": kept,
                    "damaged": len(damaged),
                    "different": checkout.digests() != expected,
                    "remains": len(remains),
                }
            )
    counts = pd.DataFrame(rows).groupby("killed").sum().reset_index()
    counts.insert(1, "moments", pd.DataFrame(rows).groupby("killed").size().to_numpy())
    print(render_markdown(counts), end="")
    write_table(counts, [RESULTS / "faults.csv", RESULTS / "faults.md"])
    harm = counts.sum(numeric_only=True).astype(int)
    record_attack(
        "kills of runs and jobs",
        tries=harm["alive"],
        lost=harm["damaged"] + harm["remains"],
        misread=harm["different"],
    )
    if counts[["damaged", "different", "remains"]].to_numpy().any():
        sys.exit("A killed run has left what a whole run does not.")


if __name__ == "__main__":
    main()
