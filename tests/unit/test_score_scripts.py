"""The scripts that aggregate, bootstrap and rank, on tiny files."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aggregate import aggregate
from bootstrap import bootstrap
from capmap.artifacts import read_parquet, read_table, write_json, write_parquet
from capmap.ranking import choose
from capmap.tables import read_declared
from rank import rank
from tests.steps import make_scope

EVIL = '=cmd "<script>" $x_1$ %&/ é'
FORMATS = ("csv", "tex")
STATISTICS = ["iqm", "mean", "median", "optimality_gap", "trimmed_mean"]


class Folder:
    """A study's folder with runs of two ordinary models and one with a hostile name."""

    def __init__(self, path: Path, *, seeds: int = 3) -> None:
        self.path = path
        rng = np.random.default_rng(0)
        rows = [
            (model, dataset, str(seed), level + 0.05 * rng.standard_normal())
            for model, level in ((EVIL, 0.9), ("b", 0.5), ("c", 0.1))
            for dataset in ("x", "y", "007")
            for seed in range(seeds)
        ]
        self.runs = pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])
        self.runs["ranked"] = True
        raw = self.runs.assign(metric="RMSE", score=10 * self.runs["score"], source="f", line=2)
        write_parquet(path / "runs.parquet", raw)
        self.write()

    def write(self) -> None:
        """Write the normalized runs."""
        write_parquet(self.path / "normalized.parquet", self.runs)

    def table(self, name: str) -> list[str]:
        """Paths of a table in its formats."""
        return [str(self.path / f"{name}.{suffix}") for suffix in FORMATS]

    def read(self, name: str) -> pd.DataFrame:
        """A table that was written."""
        return read_table(self.path / f"{name}.csv")

    def read_ranking(self, **where: str | None) -> pd.DataFrame:
        """Rows of the ranking, by default those of the headline."""
        return choose(read_declared(self.path / "ranking.csv", "tables/ranking"), **where)

    def add_dataset(self) -> None:
        """Add a fourth dataset, which is as hard as another."""
        more = self.runs[self.runs["dataset"] == "x"].assign(dataset="z")
        self.runs = pd.concat([self.runs, more], ignore_index=True)
        self.write()

    def aggregate(self, **options: object) -> None:
        """Run aggregate."""
        given = {"datasets": {}} | options
        write_json(self.path / "scope.json", make_scope())
        aggregate(
            normalized=str(self.path / "normalized.parquet"),
            runs=str(self.path / "runs.parquet"),
            scores=self.table("scores"),
            seeds=self.table("seeds"),
            scope=str(self.path / "scope.json"),
            dependence=self.table("dependence"),
            **given,
        )

    def bootstrap(
        self, shard: int, *, unit: str = "runs", rank_by: str = "iqm", **options: object
    ) -> Path:
        """Run bootstrap on one of two shards; b is in the last."""
        target, scope = self.path / f"replicates{shard}.parquet", self.path / "scope.json"
        write_json(scope, make_scope(unit, rank_by, (None, 1)))
        given = {
            "study": "toy",
            "shard": str(shard),
            "shards": 2,
            "replicates": 200,
            "confidence": 0.95,
            "interval": "percentile",
            "groups": {},
            "dimensions": None,
            "seed": 0,
        } | options
        runs = str(self.path / "normalized.parquet")
        bootstrap(runs=runs, scope=str(scope), estimates=str(target), **given)
        return target

    def rank(self, estimates: list[str] | None = None, groups: Sequence[str] = ()) -> None:
        """Run rank, on both shards unless told."""
        both = [str(self.path / f"replicates{shard}.parquet") for shard in (0, 1)]
        rank(
            estimates=estimates or both,
            scope=str(self.path / "scope.json"),
            ranking=self.table("ranking"),
            groups=list(groups),
            confidence=0.95,
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_seed_table_has_raw_and_normalized_scores(folder: Folder) -> None:
    folder.aggregate()
    seeds = folder.read("seeds")
    statistics, normalized = ["mean", "std"], ["normalized_mean", "normalized_std"]
    assert list(seeds) == ["model", "dataset", "n", *statistics, "sem", *normalized]
    np.testing.assert_allclose(seeds[statistics], 10 * seeds[normalized], rtol=1e-12)


def test_what_runs_have_in_common_is_a_table(folder: Folder) -> None:
    folder.aggregate()
    assert folder.read("dependence")[["effective", "seed_variance"]].to_numpy().tolist() == [[1, 0]]


def test_runs_that_were_not_normalized_are_left_out(folder: Folder) -> None:
    folder.runs = folder.runs.query("dataset != '007' and model in ['b', 'c']")
    folder.write()
    folder.aggregate()
    cells = folder.read("seeds")[["model", "dataset"]].to_numpy().tolist()
    assert cells == [["b", "x"], ["b", "y"], ["c", "x"], ["c", "y"]]


def test_a_model_that_is_not_ranked_is_last_and_moves_no_other(folder: Folder) -> None:
    folder.bootstrap(0)
    folder.bootstrap(1)
    folder.rank()
    before = folder.read_ranking(unit=None).set_index("model")
    others = folder.runs[folder.runs["model"] == "c"].assign(model="z", score=9.0, ranked=False)
    folder.runs = pd.concat([folder.runs, others[others["dataset"] == "x"]])
    folder.write()
    folder.bootstrap(1)
    folder.rank()
    table = folder.read_ranking(unit=None).set_index("model")
    pd.testing.assert_frame_equal(
        table.drop("z").reset_index(drop=True), before.reset_index(drop=True), check_dtype=False
    )
    assert table.loc["z", ["rank", "rank_low", "rank_high", "tie_group"]].isna().all(axis=None)
    assert table.loc["z", ["datasets", "missing"]].drop_duplicates().to_numpy().tolist() == [[1, 2]]
    medians = folder.read_ranking(statistic="median")
    assert medians["model"].iloc[-1] == "z"
    assert medians["rank"].isna().tolist() == [False] * 3 + [True]


def test_intervals_of_the_bootstrap_stand_beside_calibrated_ones(folder: Folder) -> None:
    table = read_parquet(folder.bootstrap(0, interval="calibrated"))
    own = table[(table["unit"] == "runs") & (table["statistic"] != "trimmed_mean")]
    assert own["ci_low"].notna().all()
    percentile = read_parquet(folder.bootstrap(0)).loc[own.index]
    assert own["boot_low"].tolist() == percentile["ci_low"].tolist()
    assert own["boot_high"].tolist() == percentile["ci_high"].tolist()


def test_a_shard_without_models_is_empty_and_changes_no_ranking(folder: Folder) -> None:
    estimates = [str(folder.bootstrap(shard, shards=4)) for shard in (0, 1, 2, 3)]
    assert [len(read_parquet(path)) for path in estimates] == [6, 6, 6, 0]
    folder.rank(estimates)
    apart = folder.read("ranking")
    folder.rank([str(folder.bootstrap(0, shards=1))])
    pd.testing.assert_frame_equal(apart, folder.read("ranking"))


def test_studies_have_streams_of_their_own(folder: Folder) -> None:
    one = read_parquet(folder.bootstrap(0))["ci_low"].tolist()
    assert read_parquet(folder.bootstrap(0, study="other"))["ci_low"].tolist() != one
    assert read_parquet(folder.bootstrap(0, seed=1))["ci_low"].tolist() != one


def test_resampled_datasets_are_those_of_the_study(folder: Folder) -> None:
    folder.add_dataset()
    plain = read_parquet(folder.bootstrap(0)).query("unit == 'runs'")
    both = read_parquet(folder.bootstrap(0, unit="runs_and_datasets"))
    assert both["estimate"].tolist() == plain["estimate"].tolist()
    wide, narrow = (own["ci_high"] - own["ci_low"] for own in (both, plain))
    assert (wide.dropna() > narrow.dropna()).all()


def test_the_headline_comes_first_then_the_other_scope(folder: Folder) -> None:
    folder.add_dataset()
    for unit in ("runs", "seeds"):
        for shard in (0, 1):
            folder.bootstrap(shard, unit=unit, interval="calibrated")
        folder.rank()
        scopes = folder.read_ranking(unit=None)
        assert scopes["unit"].tolist() == [unit] * 3 + ["runs_and_datasets"] * 3
        assert scopes["statistic"].tolist() == ["iqm"] * 3 + ["mean"] * 3
        first, other = scopes.iloc[:3], scopes.iloc[3:]
        assert scopes.index.tolist() == [*range(6)]
        pd.testing.assert_frame_equal(first, folder.read_ranking())
        means = folder.read_ranking(statistic="mean").set_index("model")["score"]
        assert other.set_index("model")["score"].to_dict() == means.to_dict()
        assert other["ci_high"].notna().all()
    for shard in (0, 1):
        folder.bootstrap(shard, unit="runs_and_datasets")
    folder.rank()
    assert set(folder.read("ranking")["unit"]) == {"runs_and_datasets"}


@pytest.mark.parametrize("rank_by", ["mean", "median"])
def test_another_statistic_ranks_the_models(folder: Folder, rank_by: str) -> None:
    folder.add_dataset()
    for shard in (0, 1):
        folder.bootstrap(shard, rank_by=rank_by, interval="calibrated")
    folder.rank()
    scopes = folder.read_ranking(unit=None)
    assert scopes["statistic"].tolist() == [rank_by] * 3 + ["mean"] * 3
    assert scopes["unit"].tolist() == ["runs"] * 3 + ["runs_and_datasets"] * 3
    assert scopes["model"].iloc[0] == EVIL
    assert set(folder.read("ranking")["statistic"]) == {*STATISTICS}
    assert folder.read_ranking(statistic="iqm")["score"].is_monotonic_decreasing


def test_a_group_is_ranked_like_a_study_of_its_datasets(folder: Folder) -> None:
    chosen = {"definitions": {"G": {"datasets": ["x", "007"]}}}
    chosen |= {"incomplete": "error", "min_datasets": 0.5}
    for shard in (0, 1):
        folder.bootstrap(shard, groups=chosen, interval="calibrated")
    folder.rank(groups=["G"])
    group = folder.read_ranking(group="G", statistic=None)
    assert group["datasets"].tolist() == [2] * 15
    folder.runs = folder.runs[folder.runs["dataset"] != "y"]
    folder.write()
    for shard in (0, 1):
        folder.bootstrap(shard, interval="calibrated")
    folder.rank()
    alone = folder.read_ranking(statistic=None).assign(group="G")
    pd.testing.assert_frame_equal(
        group.drop(columns=["boot_low", "boot_high"]).reset_index(drop=True),
        alone.drop(columns=["boot_low", "boot_high"]).reset_index(drop=True),
    )
