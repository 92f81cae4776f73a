"""Time of the comparisons beside evaluma 0.3.0's: per method, and as a stage of the workflow.

Methods run in this process on the same 20 models × 20 datasets × 5 seeds. The stage is what a run
of the real export adds to finished rankings: every analysis that needs no further setting, all its
figures, and the page anew; beside it stands ``evaluma report`` on the same 14 models.
All figures of a table come from one call of this script; quote the ratios, not the seconds.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from capmap.comparison.bradley_terry import estimate_ratings
from capmap.comparison.improvement import estimate_improvement
from capmap.comparison.pairwise import subtract_means
from capmap.comparison.score_matrix import ScoreMatrix, arrange_runs, list_pairs
from capmap.comparison.signed_rank import compare_signed_ranks
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from workflow import EXPORT, PROJECT, RESULTS, prepare, time_run

SHAPE = (20, 20, 5)
ANALYSES = [
    *("pairwise", "ranks", "profiles", "ratings"),
    *("improvability", "robustness", "sample_size"),
]


def make_runs() -> pd.DataFrame:
    """Runs of models of different strength on datasets of different difficulty."""
    rng = make_stream(0, "benchmarks", "comparisons")
    models, datasets, _ = SHAPE
    means = 0.5 + 0.1 * rng.normal(size=(models, 1)) + 0.1 * rng.normal(size=(models, datasets))
    scores = means[:, :, None] + 0.02 * rng.normal(size=SHAPE)
    rows = np.indices(SHAPE).reshape(3, -1)
    names = [
        [f"{letter}{number:02d}" for number in row] for letter, row in zip("MDS", rows, strict=True)
    ]
    columns = dict(zip(["model", "dataset", "seed"], names, strict=True))
    return pd.DataFrame({**columns, "score": scores.ravel()})


def time_call(call: Callable[[], object]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def list_methods(runs: pd.DataFrame, matrix: ScoreMatrix) -> dict[str, Callable[[], object]]:
    """What is timed, ours and the peer's."""
    from evaluma.methods.bayesian import compute_bayesian
    from evaluma.methods.elo import compute_elo

    scores = pd.DataFrame(matrix.means, index=matrix.models, columns=matrix.datasets)
    differences = subtract_means(matrix, list_pairs(len(matrix.models)))

    def make_rng(*names: object) -> np.random.Generator:
        return make_stream(0, "benchmarks", *map(str, names))

    return {
        "evaluma: Bayesian signed-rank, 190 pairs": lambda: compute_bayesian(
            scores, random_state=0
        ),
        "capmap: Bayesian signed-rank, 190 pairs": lambda: compare_signed_ranks(
            differences, rope=0.01, n_samples=50_000, make_rng=make_rng
        ),
        "evaluma: Elo, 1000 replicates": lambda: compute_elo(
            scores, n_bootstrap=1000, random_state=0
        ),
        "capmap: Elo, 1000 replicates": lambda: estimate_ratings(
            runs,
            battles="means",
            tie_threshold=0,
            calibration="",
            n_resamples=1000,
            confidence_level=0.95,
            make_rng=make_rng,
        ),
        "capmap: probability of improvement, 190 pairs, 2000 replicates": lambda: (
            estimate_improvement(
                runs,
                n_resamples=2000,
                confidence_level=0.95,
                unit="runs",
                make_rng=make_rng,
                make_dataset_rng=make_rng,
            )
        ),
    }


def measure_methods(repeats: int) -> pd.DataFrame:
    """Median seconds of each method, one after another in each round."""
    runs = make_runs()
    methods = list_methods(runs, arrange_runs(runs))
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(repeats):
            for name, call in methods.items():
                seconds[name].append(time_call(call))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ratios = [
        medians.get(name.replace("capmap", "evaluma"), np.nan) / value
        for name, value in medians.items()
    ]
    return pd.DataFrame(
        {
            "method": list(medians),
            "seconds": [round(value, 3) for value in medians.values()],
            "times faster than evaluma": np.round(ratios, 1),
        }
    )


def measure_stage(folder: Path, repeats: int) -> pd.DataFrame:
    """Median seconds of the comparison stage on the real study, and of the peer's report."""
    prepare(folder)
    program = [sys.executable, "-m", "snakemake", "--cores", "2", "-s", str(PROJECT / "Snakefile")]
    peer = str(Path(sys.executable).with_name("evaluma"))
    study = yaml.safe_load((folder / "study.yaml").read_text())["studies"]["geobench"]
    for name, analyses in {"rankings": [], "comparisons": ANALYSES}.items():
        studies = {"studies": {"geobench": study | {"analyses": analyses}}}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(studies))
    reports: list[float] = []
    stages: list[float] = []
    for _ in range(repeats):
        reports.append(time_run([peer, "report", "means.csv", "--output", "r"], folder))
        shutil.rmtree(folder / "results", ignore_errors=True)
        shutil.rmtree(folder / ".snakemake", ignore_errors=True)
        time_run([*program, "--configfile", "rankings.yaml"], folder)
        stages.append(time_run([*program, "--configfile", "comparisons.yaml"], folder))
    report, stage = statistics.median(reports), statistics.median(stages)
    return pd.DataFrame(
        {
            "run": ["evaluma report", "capmap, every analysis added to the rankings"],
            "seconds": [round(report, 2), round(stage, 2)],
            "of evaluma report": [1.0, round(stage / report, 3)],
        }
    )


def main() -> None:
    """Measure and write benchmarks/results/comparisons and comparison_stage, .csv and .md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["methods", "stage"])
    arguments = parser.parse_args()
    if arguments.only != "stage":
        _write(measure_methods(arguments.repeats), "comparisons")
    if arguments.only == "methods":
        return
    if not EXPORT.is_file():
        sys.stdout.write(f"The real export is not at {EXPORT}; the stage is not measured.\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        _write(measure_stage(Path(folder), arguments.repeats), "comparison_stage")


def _write(table: pd.DataFrame, name: str) -> None:
    write_table(table, [RESULTS / f"{name}.csv", RESULTS / f"{name}.md"])
    sys.stdout.write(render_markdown(table) + "\n")


if __name__ == "__main__":
    main()
