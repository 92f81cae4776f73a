"""What a real leaderboard publishes of its dimensions, through the leaderboard's own steps.

Its tables per dataset are among the papers, see tests/workflow/test_papers.py.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capmap.wording import ALL
from tests.leaderboard_tables import estimate_shard, rank_study, write_board_inputs

SHARED = Path(__file__).parents[3] / "shared"
DATA, REFERENCE = SHARED / "data/geobench", SHARED / "reference/geobench"
N_RESAMPLES = 4000


def read_runs():
    exports = pd.read_csv(DATA / "results_and_parameters.csv")
    return pd.DataFrame(
        {
            "model": exports["backbone"],
            "dataset": exports["dataset"],
            "metric": exports["Metric"],
            "seed": exports["Seed"].astype(str),
            "score": exports["test metric"],
            "submission": "base",
            "backbone": exports["backbone"],
            "method": exports["frozen_or_full_ft"],
        }
    )


def normalize(runs):
    bounds = json.loads((DATA / "normalizer.json").read_text("utf-8"))
    low, high = (runs["dataset"].map(lambda name, end=end: bounds[name][end]) for end in (0, 1))
    return runs.assign(score=(runs["score"] - low) / (high - low))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    if not REFERENCE.is_dir() or not DATA.is_dir():
        pytest.skip("needs the shared data beside the checkout")
    folder = tmp_path_factory.mktemp("leaderboard")
    runs = read_runs()
    records = [{"name": "base", "models": []}]
    known = {"records": records, "limits": [None, None], "iqm": "whole"}
    write_board_inputs(folder, runs, normalize(runs), **known)
    benchmark = json.loads((REFERENCE / "benchmark.json").read_text("utf-8"))
    estimate_shard(
        folder,
        study="geobench",
        dimensions=benchmark["dimensions"],
        replicates=N_RESAMPLES,
        confidence=0.95,
        interval="percentile",
        seed=0,
    )
    return rank_study(folder, dimensions=benchmark["dimensions"])


def read_published(name):
    return pd.read_csv(REFERENCE / "leaderboard" / f"{name}.csv")


def join(published, ours, column):
    found = published.merge(
        ours, left_on=["backbone", column], right_on=["model", column], suffixes=("_published", "")
    )
    assert len(found) == len(ours)
    return found


def test_pooled_means_and_complete_entries_per_dimension_are_the_published_ones(tables):
    published = read_published("dimensions")
    ours = tables["dimensions"]
    cells = join(published, ours[ours["dimension"] != ALL], "dimension")
    told = cells[cells["complete"]]
    np.testing.assert_allclose(told["iqm"], told["plain_pooled_iqm"], rtol=0, atol=1e-12)
    assert cells["complete"].eq(cells["complete_published"]).all()
    assert cells["runs"].eq(cells["n_runs"]).all()
    # Those that the published table lists without a single run have no row.
    assert (published["n_runs"] == 0).sum() == len(published) - len(cells) == 4


def test_published_means_of_few_replicates_agree_within_their_own_error(tables):
    # They rest on 100 replicates. If both are means of draws from one distribution, the differences
    # in units of the published error have a root mean square of about 1: 154 of them, not all
    # independent, stay below 1.3.
    cells = join_complete(tables)
    assert len(cells) == 154
    apart = cells["bootstrap_mean"] - cells["authors_bootstrap_mean_iqm"]
    scores = apart / np.hypot(cells["authors_bootstrap_sem"], cells["bootstrap_sem"])
    assert 0.7 < np.sqrt((scores**2).mean()) < 1.3
    assert abs(scores.mean()) < 0.3
    core = cells["dimension"] == "Core"
    assert 100 * apart[core].abs().max() < 0.35


def join_complete(tables):
    ours = tables["dimensions"]
    cells = join(read_published("dimensions"), ours[ours["dimension"] != ALL], "dimension")
    return cells[cells["complete"]]
