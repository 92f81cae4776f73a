"""Twelve kinds of tampering × every kind of artifact of a study with all analyses, and deletion.

1. Every kind of artifact is tampered with in every way: each is found, by what every run looks
   with.
2. Each is deleted alone: a run would make it again (its plan is looked at, which is empty where
   nothing is deleted). A record of digests is tampered with alone: a run takes it, or says that it
   is damaged and what to do.
3. In rounds, all are tampered with at once, each in another way than in the round before, and also
   what is kept for the next run: the next run says so, ends well, and every result has the bytes of
   the untouched run.

Prints the counts; what is not found, not planned, or has other bytes ends the script with an error.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from attacks import record_attack

from capmap.digests import find_altered
from capmap.errors import ConfigError
from capmap.tables import render_markdown
from tests.faults.tampering import OTHER, TAMPERINGS, list_artifacts
from tests.workflow.checkouts import Checkout, copy_project

STUDY = "results/toy"
ANALYSES = [
    *("pairwise", "ranks", "strengths", "profiles", "ratings", "improvability", "robustness"),
    *("groups", "conditions", "sample_size", "capabilities", "placements", "next_results"),
    *("drift", "transfer"),
]
SETTINGS = {
    "analyses": ANALYSES,
    "bootstrap": {"replicates": 300, "shards": 2},
    "comparison": {"samples": 1000, "replicates": 200},
    "groups": {"one": {"datasets": ["d0", "d1", "d2"]}, "two": {"datasets": ["d3", "d4", "d5"]}},
    "capabilities": {
        **{"min_results": 2, "method": "l2", "dimension": 2, "distances": ["l2"]},
        **{"dimensions": [2], "splits": 2, "starts": 1},
    },
}


def make_export(shift: float) -> str:
    """Six models × six datasets × two seeds; scores from a fixed rule."""
    lines = ["model,dataset,metric,seed,score"]
    for model in range(6):
        for dataset in range(6):
            score = 0.4 + model / 20 + dataset / 30 + model * dataset * 7 % 5 / 50 + shift
            lines += [f"m{model},d{dataset},acc,{s},{score + s * model / 999:.4f}" for s in (0, 1)]
    return "\n".join(lines) + "\n"


def lay_out(folder: Path) -> Checkout:
    """Lay out a project, and run a study with all analyses and a smaller one."""
    checkout = copy_project(folder)
    studies: dict[str, dict[str, Any]] = {
        "toy": SETTINGS,
        OTHER: {"analyses": ["pairwise"], "conditions": ["toy"]},
    }
    for number, (name, settings) in enumerate(studies.items()):
        (folder / f"{name}.csv").write_text(make_export(number / 100))
        settings["exports"] = f"{name}.csv"
    checkout.write_studies(studies)
    run = checkout.snakemake(cores=1)
    if run.status:
        sys.exit(run.output)
    return checkout


def find_all(checkout: Checkout) -> tuple[int, list[str]]:
    """Tamper with every kind of artifact in every way: the tries, and what was not found."""
    tries, unseen = 0, []
    for kind, tamper in TAMPERINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(checkout.folder / "results", f"{folder}/results")
            artifacts = list_artifacts(Path(folder) / STUDY)
            for path in artifacts:
                tamper(path)
                if not find_altered(Path(folder) / STUDY, among=[str(path)]):
                    unseen.append(f"{kind}: {path.name}")
            tries += len(artifacts)
    return tries, unseen


def plan_all(checkout: Checkout) -> tuple[int, list[str]]:
    """Delete every kind of artifact alone: the tries, and what no run would make again."""
    artifacts, unplanned = list_artifacts(checkout.folder / STUDY), []
    for path in [None, *artifacts]:
        with tempfile.TemporaryDirectory() as folder:
            copy = checkout.copy(Path(folder) / "project")
            if path:
                (copy.folder / path.relative_to(checkout.folder)).unlink()
            run = copy.snakemake("--dry-run", cores=1)
            if run.status or bool(run.jobs) != bool(path):
                unplanned.append(f"deleted: {path and path.name}, planned: {[*run.jobs]}")
    return len(artifacts), unplanned


def spoil_records(checkout: Checkout) -> tuple[int, list[str]]:
    """Tamper with a record of digests in every way: the tries, and what is not told."""
    untold = []
    for kind, tamper in TAMPERINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(checkout.folder / "results", f"{folder}/results")
            record = min((Path(folder) / STUDY).glob(".digests/*.json"))
            tamper(record)
            try:
                find_altered(Path(folder) / STUDY)
            except ConfigError as error:
                if f"{record} is damaged" not in str(error):
                    untold.append(f"record, {kind}")
    return len(TAMPERINGS), untold


def make_all(checkout: Checkout, number: int) -> tuple[int, int, list[str]]:
    """Tamper with everything at once and run: the tries, whether it failed, what is different."""
    before, kinds = checkout.digests(), [*TAMPERINGS]
    with tempfile.TemporaryDirectory() as folder:
        copy = checkout.copy(Path(folder) / "project")
        study = copy.folder / STUDY
        artifacts = [*list_artifacts(study), *list_artifacts(study / ".kept")]
        for place, path in enumerate(artifacts):
            TAMPERINGS[kinds[(place + number) % len(kinds)]](path)
        run = copy.snakemake(cores=1)
        after = copy.digests()
        if run.status or "Altered since capmap made it" not in run.output:
            print(run.output[-3000:], file=sys.stderr)
            return len(artifacts), len(artifacts), []
        different = [str(path) for path in find_altered(study)]
        different += [name for name, digest in before.items() if after.get(name) != digest]
        return len(artifacts), 0, different


def main() -> None:
    """Tamper, look, run and compare; print the counts and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=len(TAMPERINGS), help="how many whole runs")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        checkout = lay_out(Path(folder) / "project")
        tries, unseen = find_all(checkout)
        rows = [("found", tries, 0, len(unseen))]
        tries, unplanned = plan_all(checkout)
        rows.append(("planned", tries, len(unplanned), 0))
        faults = [*unseen, *unplanned]
        tries, untold = spoil_records(checkout)
        rows.append(("records", tries, len(untold), 0))
        faults += untold
        print(rows, faults, file=sys.stderr, flush=True)
        for number in range(rounds):
            tries, lost, different = make_all(checkout, number)
            rows.append(("made again", tries, lost, len(different)))
            faults += different
            print(number, rows[-1], file=sys.stderr, flush=True)
    table = pd.DataFrame(rows, columns=["artifacts", "tries", "lost", "misread"])
    table = table.groupby("artifacts").sum().reset_index()
    print(render_markdown(table), end="")
    tries, lost, misread = map(int, table[["tries", "lost", "misread"]].sum())
    record_attack("tampering with artifacts", tries=tries, lost=lost, misread=misread)
    if faults or lost:
        sys.exit("\n".join(["Tampering was not undone:", *faults]))


if __name__ == "__main__":
    main()
