"""One job runs the comparisons of a study."""

from pathlib import Path
from typing import Any

import pytest

from analyse import analyse
from capmap.artifacts import write_parquet
from capmap.errors import ConfigError, ValidationError
from capmap.tables import read_declared
from tests.steps import INDEPENDENT, put
from tests.toy_runs import draw_benchmark

STEPS = "capmap.tables"
FILES = ["friedman.csv", "elo.csv", "index.csv"]


class Study:
    """Runs in a study's folder, and the job that runs two steps on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.options: dict[str, dict[str, Any]] = {
            "compare_ranks": {"alpha": 0.05},
            "rate_models": {"n_resamples": 20, "confidence_level": 0.9} | {"seed": 0},
        }
        self.write_runs(models=3)

    def write_runs(self, models: int) -> None:
        """Draw the runs."""
        runs = draw_benchmark(0, models=models, datasets=4, seeds=2)
        runs = runs.assign(ranked=True, raw=runs["score"])
        write_parquet(self.folder / "normalized/runs.parquet", runs)
        put(INDEPENDENT, self.folder / "tables/dependence.csv")

    def analyse(self) -> None:
        """Run the job."""
        analyse(
            study="toy",
            folder=str(self.folder),
            steps=self.options,
            comparisons=str(self.folder / "comparisons"),
        )

    def read(self) -> list[bytes]:
        """Some of the files of both steps."""
        return [(self.folder / "comparisons" / name).read_bytes() for name in FILES]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.mark.parametrize("error", [ConfigError, ValidationError])
def test_an_error_of_a_step_is_that_of_the_job(
    study: Study, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail() -> None:
        raise error("mend this")

    monkeypatch.setattr(f"{STEPS}.call_with", lambda _run, _known: fail())
    with pytest.raises(error, match="mend this"):
        study.analyse()


def test_pairs_of_more_models_than_the_bound_are_left_out_with_the_reason(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{STEPS}.MOST_MODELS", 3)
    study.analyse()
    assert len(read_declared(study.folder / "comparisons/elo.csv")) == 3
    study.write_runs(models=4)
    study.analyse()
    index = read_declared(study.folder / "comparisons/index.csv").set_index("file")
    assert "500" in index.loc["elo.csv", "reason"]
    elo = read_declared(study.folder / "comparisons/elo.csv")
    assert elo.empty
    assert "elo" in elo
