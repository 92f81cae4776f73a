"""The scripts that aggregate, bootstrap and rank, on tiny files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aggregate import aggregate
from bootstrap import bootstrap
from capmap.artifacts import read_parquet, read_table, write_json, write_parquet
from rank import rank

EVIL = '=cmd "<script>" $x_1$ %&/ é'
FORMATS = ("csv", "md", "tex")
STATISTICS = ["iqm", "mean", "median", "optimality_gap"]


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

    def add_dataset(self) -> None:
        """Add a fourth dataset, which is as hard as another."""
        more = self.runs[self.runs["dataset"] == "x"].assign(dataset="z")
        self.runs = pd.concat([self.runs, more], ignore_index=True)
        self.write()

    def aggregate(self, **options: object) -> None:
        """Run aggregate."""
        given = {"datasets": {}} | options
        scope = self.path / "scope.json"
        if not scope.is_file():
            write_json(scope, {"effects": None})
        aggregate(
            normalized=str(self.path / "normalized.parquet"),
            scope=str(scope),
            runs=str(self.path / "runs.parquet"),
            scores=self.table("scores"),
            seeds=self.table("seeds"),
            shared_seeds=self.table("shared_seeds"),
            aggregate=self.table("aggregate"),
            **given,  # type: ignore[arg-type]
        )

    def bootstrap(
        self, shard: int, *, unit: str = "runs", rank_by: str = "iqm", **options: object
    ) -> Path:
        """Run bootstrap on one of two shards; b is in the last."""
        target, scope = self.path / f"replicates{shard}.parquet", self.path / "scope.json"
        names = {f"{name}s": sorted(self.runs[name].unique()) for name in ("dataset", "seed")}
        write_json(
            scope, {"unit": unit, "rank_by": rank_by, **names, "effects": None, "limits": [None, 1]}
        )
        given = {
            "study": "toy",
            "shard": str(shard),
            "shards": 2,
            "replicates": 200,
            "confidence": 0.95,
            "interval": "percentile",
            "dimensions": None,
            "seed": 0,
        } | options
        runs = str(self.path / "normalized.parquet")
        bootstrap(runs=runs, scope=str(scope), estimates=str(target), **given)  # type: ignore[arg-type]
        return target

    def rank(self, estimates: list[str] | None = None) -> None:
        """Run rank, on both shards unless told."""
        both = [str(self.path / f"replicates{shard}.parquet") for shard in (0, 1)]
        rank(
            estimates=estimates or both,
            scope=str(self.path / "scope.json"),
            iqm=self.table("iqm"),
            scopes=self.table("scopes"),
            intervals=self.table("intervals"),
            confidence=0.95,
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_scores_are_seed_means_of_normalized_runs(folder: Folder) -> None:
    folder.aggregate()
    scores = folder.read("scores")
    assert list(scores) == ["model", "007", "x", "y"]
    assert scores["model"].tolist() == [EVIL, "b", "c"]
    expected = folder.runs.groupby(["model", "dataset"])["score"].mean()
    np.testing.assert_allclose(scores[["007", "x", "y"]].to_numpy().ravel(), expected, rtol=1e-14)


def test_seed_table_has_raw_and_normalized_scores(folder: Folder) -> None:
    folder.aggregate()
    seeds = folder.read("seeds")
    statistics = ["mean", "std", "sem", "min", "max", "iqm"]
    normalized = [f"normalized_{name}" for name in statistics]
    assert list(seeds) == ["model", "dataset", "n", *statistics, *normalized]
    np.testing.assert_allclose(seeds[statistics], 10 * seeds[normalized], rtol=1e-12)


def test_runs_that_are_only_numbered_are_not_compared_over_datasets(folder: Folder) -> None:
    folder.aggregate()
    assert folder.read("shared_seeds")["models"].tolist() == [3]
    raw = read_parquet(folder.path / "runs.parquet")
    write_parquet(folder.path / "runs.parquet", raw.assign(numbered=True))
    folder.aggregate()
    assert folder.read("shared_seeds").empty


def test_transforms_apply_to_raw_scores(folder: Folder) -> None:
    folder.aggregate(datasets={"x": {"transform": {"scale_rmse": {"std": 0.1}}}})
    seeds = folder.read("seeds").set_index(["model", "dataset"])
    # Raw 10 s becomes 1 - 10 s * 0.1 = 1 - s.
    row = seeds.loc[("b", "x")]
    assert row["mean"] == pytest.approx(1 - row["normalized_mean"])


def test_runs_that_were_not_normalized_are_left_out(folder: Folder) -> None:
    folder.runs = folder.runs.query("dataset != '007' and model in ['b', 'c']")
    folder.write()
    folder.aggregate()
    cells = folder.read("seeds")[["model", "dataset"]].to_numpy().tolist()
    assert cells == [["b", "x"], ["b", "y"], ["c", "x"], ["c", "y"]]


def test_missing_cells_stay_empty(folder: Folder) -> None:
    folder.runs = folder.runs.query("model == 'b' or model == 'c' and dataset != 'y'")
    folder.write()
    folder.aggregate()
    assert folder.read("scores").set_index("model").loc["c"].isna().tolist() == [False, False, True]
    assert folder.read("aggregate")["datasets"].tolist() == [3, 2]


def test_a_model_that_is_not_ranked_is_last_and_moves_no_other(folder: Folder) -> None:
    folder.bootstrap(0)
    folder.bootstrap(1)
    folder.rank()
    before = folder.read("scopes").set_index("model")
    others = folder.runs[folder.runs["model"] == "c"].assign(model="z", score=9.0, ranked=False)
    folder.runs = pd.concat([folder.runs, others[others["dataset"] == "x"]])
    folder.write()
    folder.bootstrap(1)
    folder.rank()
    table = folder.read("scopes").set_index("model")
    pd.testing.assert_frame_equal(
        table.drop("z").reset_index(drop=True), before.reset_index(drop=True), check_dtype=False
    )
    assert table.loc["z", ["rank", "rank_low", "rank_high", "tie_group"]].isna().all(axis=None)
    assert table.loc["z", ["datasets", "missing"]].drop_duplicates().to_numpy().tolist() == [[1, 2]]
    assert folder.read("iqm")["model"].iloc[-1] == "z"
    folder.aggregate()
    assert folder.read("aggregate")["rank_median"].isna().tolist() == [False] * 3 + [True]


def test_replicates_have_the_columns_of_the_contract(folder: Folder) -> None:
    table = read_parquet(folder.bootstrap(0))
    assert list(table) == [
        *("model", "statistic", "estimate", "ci_low", "ci_high", "standard_error", "freedom"),
        *("runs", "datasets", "filled", "ranked", "replicates", "parts", "unit", "kind", "group"),
    ]
    assert table["model"].tolist() == [EVIL] * 4 + ["c"] * 4 + [EVIL, "c"]
    assert table["statistic"].tolist() == STATISTICS * 2 + ["iqm"] * 2
    assert table["runs"].tolist() == [9] * 10
    assert [len(replicates) for replicates in table["replicates"]] == [200] * 8 + [0] * 2
    assert table["unit"].tolist() == ["runs"] * 8 + ["runs_and_datasets"] * 2


def test_calibrated_intervals_need_no_replicates(folder: Folder) -> None:
    table = read_parquet(folder.bootstrap(0, interval="calibrated"))
    assert {len(replicates) for replicates in table["replicates"]} == {0}
    assert table[table["unit"] == "runs"]["ci_low"].notna().all()


def test_shards_do_not_move_replicates(folder: Folder) -> None:
    apart = read_parquet(folder.bootstrap(0))
    folder.runs = folder.runs.sample(frac=1, random_state=0)
    folder.write()
    together = read_parquet(folder.bootstrap(0, shards=1))
    rest = together[together["model"] != "b"].reset_index(drop=True)
    pd.testing.assert_series_equal(rest["ci_low"], apart["ci_low"])
    assert [list(row) for row in rest["replicates"]] == [list(row) for row in apart["replicates"]]


def test_a_shard_without_models_is_empty_and_changes_no_ranking(folder: Folder) -> None:
    estimates = [str(folder.bootstrap(shard, shards=4)) for shard in (0, 1, 2, 3)]
    assert [len(read_parquet(path)) for path in estimates] == [5, 5, 5, 0]
    folder.rank(estimates)
    apart = folder.read("intervals")
    folder.rank([str(folder.bootstrap(0, shards=1))])
    pd.testing.assert_frame_equal(apart, folder.read("intervals"))


def test_studies_have_streams_of_their_own(folder: Folder) -> None:
    one = read_parquet(folder.bootstrap(0))["ci_low"].tolist()
    assert read_parquet(folder.bootstrap(0, study="other"))["ci_low"].tolist() != one
    assert read_parquet(folder.bootstrap(0, seed=1))["ci_low"].tolist() != one


def test_resampled_datasets_are_those_of_the_study(folder: Folder) -> None:
    folder.add_dataset()
    plain = read_parquet(folder.bootstrap(0)).query("unit == 'runs'")
    both = read_parquet(folder.bootstrap(0, unit="runs_and_datasets"))
    assert both["estimate"].tolist() == plain["estimate"].tolist()
    assert (both["ci_high"] - both["ci_low"]).gt(plain["ci_high"] - plain["ci_low"]).all()


def test_both_scopes_are_ranked_side_by_side(folder: Folder) -> None:
    folder.add_dataset()
    for unit in ("runs", "seeds"):
        for shard in (0, 1):
            folder.bootstrap(shard, unit=unit, interval="calibrated")
        folder.rank()
        scopes, iqm = folder.read("scopes"), folder.read("iqm")
        assert scopes["unit"].tolist() == [unit] * 3 + ["runs_and_datasets"] * 3
        assert set(scopes["statistic"]) == {"iqm"}
        first, beside = scopes.iloc[:3], scopes.iloc[3:]
        pd.testing.assert_frame_equal(first.rename(columns={"score": "iqm"})[iqm.columns], iqm)
        assert (first["ci_low_all"] < first["ci_low"]).all()
        assert beside["score"].tolist() == first["score"].tolist()
        assert beside["ci_high"].notna().all()
    for shard in (0, 1):
        folder.bootstrap(shard, unit="runs_and_datasets")
    folder.rank()
    assert folder.read("scopes")["unit"].tolist() == ["runs_and_datasets"] * 3


@pytest.mark.parametrize(("rank_by", "best"), [("mean", EVIL), ("median", EVIL)])
def test_another_statistic_ranks_the_models(folder: Folder, rank_by: str, best: str) -> None:
    folder.add_dataset()
    for shard in (0, 1):
        folder.bootstrap(shard, rank_by=rank_by, interval="calibrated")
    folder.rank()
    scopes, intervals = folder.read("scopes"), folder.read("intervals")
    assert scopes["statistic"].tolist() == [rank_by] * 6
    assert scopes["unit"].tolist() == ["runs"] * 3 + ["runs_and_datasets"] * 3
    assert scopes["model"].iloc[0] == best
    own = intervals[intervals["statistic"] == rank_by].reset_index()
    for column, same in (("model", "model"), ("score", "estimate"), ("ci_low", "ci_low")):
        assert scopes[column].iloc[:3].tolist() == own[same].tolist()
    assert set(intervals["statistic"]) == {*STATISTICS}
    assert folder.read("iqm")["iqm"].is_monotonic_decreasing


def test_ranking_is_written(folder: Folder) -> None:
    folder.bootstrap(0)
    folder.bootstrap(1)
    folder.rank()
    iqm = folder.read("iqm")
    assert list(iqm) == [
        *("model", "iqm", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
        *(
            "rank_low_all",
            "rank_high_all",
            "may_be_best",
            "runs",
            "datasets",
            "filled",
            "tie_group",
        ),
    ]
    assert iqm["may_be_best"].tolist() == [True, False, False]
    assert iqm["model"].tolist() == [EVIL, "b", "c"]
    assert iqm["rank"].tolist() == [1, 2, 3]
    assert iqm["tie_group"].tolist() == ["a", "b", "c"]


def test_gaps_rank_upwards(folder: Folder) -> None:
    folder.bootstrap(0)
    folder.bootstrap(1)
    folder.rank()
    intervals = folder.read("intervals")
    assert list(intervals) == [
        *("statistic", "model", "estimate", "ci_low", "ci_high", "rank", "rank_low", "rank_high")
    ]
    gaps = intervals[intervals["statistic"] == "optimality_gap"]
    assert gaps["model"].tolist() == [EVIL, "b", "c"]
    assert gaps["estimate"].is_monotonic_increasing


def test_single_runs_rank_without_intervals(tmp_path: Path) -> None:
    folder = Folder(tmp_path, seeds=1)
    folder.bootstrap(0)
    folder.bootstrap(1)
    folder.rank()
    iqm = folder.read("iqm")
    assert iqm["rank"].tolist() == [1, 2, 3]
    assert iqm[["ci_low", "ci_high", "rank_low", "rank_high", "tie_group"]].isna().all(axis=None)
