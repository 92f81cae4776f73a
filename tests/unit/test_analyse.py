"""One job runs the comparisons of a study, and of these only what would come out otherwise."""

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from analyse import analyse
from capmap.artifacts import write_parquet
from capmap.catalog import STEPS
from capmap.errors import ConfigError, ValidationError
from capmap.sizes import note_left_out, read_left_out
from capmap.tables import read_declared
from tests.steps import LIMITS, run_step, write_size
from tests.toy_runs import draw_benchmark

NAMES = ["compare_ranks", "rate_models"]
FILES = ["tables/friedman.csv", "tables/elo.csv", "text/ranks.txt", "text/ratings.tex"]
RATINGS = {"battles": "means", "tie_threshold": 0.0, "calibration": ""}


class Study:
    """Runs in a study's folder, and the job that runs two steps on them."""

    def __init__(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        self.folder, self.caplog = folder, caplog
        caplog.set_level(logging.INFO, "analyse")
        self.options: dict[str, dict[str, Any]] = {
            "compare_ranks": {"missing": "pairwise", "alpha": 0.05},
            "rate_models": {"missing": "pairwise", "n_resamples": 20, "confidence_level": 0.9}
            | {"seed": 0, **RATINGS},
        }
        self.code = dict.fromkeys(NAMES, "code")
        self.excess: dict[str, str] = {}
        self.write_runs(0)

    def write_runs(self, seed: int) -> None:
        """Draw the runs."""
        runs = draw_benchmark(seed, models=3, datasets=4, seeds=2)
        write_parquet(self.folder / "runs.parquet", runs)

    def analyse(self, *names: str, threads: int = 1) -> None:
        """Run the job."""
        analyse(
            study="toy",
            folder=str(self.folder),
            steps=[*(names or NAMES)],
            options=self.options,
            code=self.code,
            measured=str(write_size(self.folder)),
            excess=self.excess,
            limits=LIMITS,
            threads=threads,
            runs=[str(self.folder / "runs.parquet")],
        )

    def list_made(self, *names: str) -> list[str]:
        """Run the job, and list the steps that it made anew, by what it logs."""
        self.caplog.clear()
        self.analyse(*names)
        heads = [record.getMessage().partition(":")[0] for record in self.caplog.records]
        made = [head for head in heads if head in NAMES]
        assert heads[-1].startswith(f"ran {len(made)} of {len(names or NAMES)} steps")
        return made

    def read(self) -> list[bytes]:
        """Some of the files of both steps."""
        return [(self.folder / name).read_bytes() for name in FILES]


@pytest.fixture
def study(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Study:
    return Study(tmp_path, caplog)


def test_what_does_not_differ_comes_out_as_it_is(study: Study) -> None:
    assert study.list_made() == NAMES
    written = study.read()
    assert study.list_made() == []
    # Before a job runs again Snakemake deletes what it wrote.
    for folder in ("tables", "text"):
        shutil.rmtree(study.folder / folder)
    assert study.list_made() == []
    assert study.read() == written


def test_only_what_differs_is_made_again(study: Study) -> None:
    study.analyse()
    written = study.read()
    study.options["rate_models"]["seed"] = 1
    assert study.list_made() == ["rate_models"]
    assert [new == old for new, old in zip(study.read(), written, strict=True)][::2] == [True, True]
    # An option that only the paragraph uses, and the code, are of one step each.
    study.options["compare_ranks"]["alpha"] = 0.1
    assert study.list_made() == ["compare_ranks"]
    study.code["rate_models"] = "other code"
    assert study.list_made() == ["rate_models"]
    study.write_runs(1)
    assert study.list_made() == NAMES


def test_a_kept_result_that_was_altered_is_made_again(study: Study) -> None:
    study.analyse()
    written = study.read()
    with (study.folder / "tables/elo.csv").open("a") as file:
        file.write("altered in its place, so what is kept is as well\n")
    assert study.list_made() == ["rate_models"]
    assert study.read() == written


def test_several_processes_write_the_same(study: Study, tmp_path: Path) -> None:
    study.analyse(threads=2)
    written = study.read()
    for folder in ("tables", "text", ".kept"):
        shutil.rmtree(tmp_path / folder)
    study.analyse()
    assert study.read() == written


def test_a_step_alone_keeps_nothing(study: Study) -> None:
    assert study.list_made("compare_ranks") == study.list_made("compare_ranks") == NAMES[:1]
    assert not (study.folder / ".kept").exists()


@pytest.mark.parametrize("error", [ConfigError, ValidationError])
def test_a_step_that_fails_leaves_what_the_other_made(
    study: Study, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail() -> None:
        raise error("mend this")

    module, _, function = STEPS["rate_models"].run.partition(":")
    with monkeypatch.context() as patch:
        patch.setattr(f"{module}.{function}", fail)
        with pytest.raises(error, match="mend this"):
            study.analyse()
    assert study.list_made() == ["rate_models"]


def test_an_error_of_a_step_is_that_of_the_job_and_older_results_stay(study: Study) -> None:
    study.analyse()
    written = study.read()
    study.options["rate_models"]["calibration"] = "m9"
    with pytest.raises(ValidationError, match="no model 'm9' is analysed"):
        study.analyse()
    study.options["rate_models"]["calibration"] = ""
    assert study.list_made() == []
    assert study.read() == written


def test_what_needs_more_than_is_allowed_is_left_out_with_the_reason(study, tmp_path, caplog):
    study.excess = dict.fromkeys(NAMES, "Left out: too large.")
    study.analyse()
    text = (tmp_path / "text/ratings.txt").read_text()
    assert text.strip() == "Left out: too large."
    assert read_left_out(tmp_path, "rate_models") == text.strip()
    told = [r.getMessage().partition(": ") for r in caplog.records if r.levelname == "WARNING"]
    assert sorted(name for name, _, _ in told) == sorted(NAMES)
    assert all(reason == "Left out: too large." for _, _, reason in told)
    elo = read_declared(tmp_path / "tables/elo.csv")
    assert elo.empty
    assert "elo" in elo
    study.excess = {}
    study.analyse()
    assert not read_left_out(tmp_path, "rate_models")
    assert len(read_declared(tmp_path / "tables/elo.csv")) == 3


def test_what_reads_tables_that_are_left_out_is_left_out_too(tmp_path):
    note_left_out(tmp_path, "measure_gaps", "Left out: too large.")
    run_step("replay_placements", tmp_path, {"gaps": tmp_path / "capabilities/gaps.csv"})
    assert read_left_out(tmp_path, "replay_placements") == "Left out: too large."
    assert read_declared(tmp_path / "capabilities/placement_replay.csv").empty


def test_what_reads_folds_that_are_left_out_is_left_out_too(tmp_path):
    note_left_out(tmp_path, "crossvalidate_embedding", "Left out: too large.")
    inputs = {"baselines": "baselines.parquet", "factors": "factors.parquet", "folds": []}
    run_step("summarize_crossvalidation", tmp_path, inputs)
    assert read_left_out(tmp_path, "summarize_crossvalidation") == "Left out: too large."
    told = {"method": "l2", "dimension": 3}
    inputs = {"gaps": "gaps.csv", "datasets": "datasets.csv", "factor_fits": []}
    note_left_out(tmp_path, "measure_gaps", "Left out: too large.")
    run_step("crossvalidate_embedding", tmp_path, inputs, **told)
    assert (tmp_path / "capabilities/folds/l2/3.parquet").is_file()
