"""The leader's score corrected for having been chosen, against closed forms and simulation."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from capmap.analyses.winners_curse import bound_selection, correct_leaders, correct_score
from capmap.artifacts import write_parquet

LEVEL, MODELS, FREEDOM = 0.95, 20, 30


def correct(selected: tuple[float, float], freedom: float = FREEDOM) -> tuple[float, ...]:
    return correct_score(
        0.0, 1.0, freedom, selected=selected, models=MODELS, confidence_level=LEVEL
    )


def test_a_model_that_leads_by_far_has_nearly_its_own_interval() -> None:
    estimate, low, high = correct((-np.inf, np.inf))
    # Of the error, half is for the simultaneous interval, and this one holds within that.
    share = special.stdtr(FREEDOM, -special.stdtrit(FREEDOM, 1 - 0.0125 / MODELS))
    tail = 0.025 / 0.975 / 2
    own = special.stdtrit(FREEDOM, 1 - share - tail * (1 - 2 * share))
    assert (estimate, low, high) == pytest.approx((0, -own, own), abs=0.01)


def test_estimate_and_ends_are_truths_of_a_truncated_distribution() -> None:
    estimate, low, high = correct((-0.3, np.inf))
    reach, normal = stats.t(FREEDOM).ppf(1 - 0.0125 / MODELS), stats.norm.ppf(1 - 0.0125 / MODELS)
    for truth, spread, half, share in (
        (estimate, stats.norm(), normal, 0.5),
        (low, stats.t(FREEDOM), reach, 0.025 / 0.975 / 2),
        (high, stats.t(FREEDOM), reach, 1 - 0.025 / 0.975 / 2),
    ):
        first, last = spread.cdf([max(-0.3, truth - half) - truth, half])
        assert (last - spread.cdf(-truth)) / (last - first) == pytest.approx(share, abs=1e-6)


def test_the_leader_leads_between_the_bounds_of_its_selection() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores, slopes = rng.standard_normal(6), rng.uniform(-1, 2, 6)
        leader = int(scores.argmax())
        slopes[leader] = 1
        low, high = bound_selection(scores, slopes, leader)
        for moved in rng.normal(scores[leader], 3, 40):
            others = scores + slopes * (moved - scores[leader])
            assert (others.argmax() == leader) == (low <= moved <= high)


def write_estimates(folder: Path, **columns: object) -> list[str]:
    """Estimates of a study with what `columns` say, in two shards."""
    n = len(columns["estimate"])  # type: ignore[arg-type]
    table = pd.DataFrame(
        {
            **{"kind": "study", "group": "", "unit": "runs", "statistic": "iqm"},
            **{"model": [f"m{place:02d}" for place in range(n)], "standard_error": 0.1},
            **{"freedom": 20.0, "ranked": True, "filled": 0, "parts": [np.empty(0)] * n},
            **columns,
        }
    )
    paths = [f"{folder}/{shard}.parquet" for shard in range(2)]
    for shard, path in enumerate(paths):
        write_parquet(path, table[shard::2])
    scope = {"unit": "runs", "rank_by": table["statistic"].iloc[0], "limits": [0, 1]}
    (folder / "scope.json").write_text(json.dumps(scope))
    return paths


def lead(folder: Path, **columns: object) -> pd.DataFrame:
    paths = write_estimates(folder, **columns)
    return correct_leaders(paths, [f"{folder}/scope.json"], confidence_level=LEVEL)


def test_tables_keep_within_the_scale(tmp_path: Path) -> None:
    score = lead(tmp_path, estimate=[0.9, 0.97, 0.1]).iloc[0]
    assert score["model"] == "m01"
    assert score["ci_high"] == 1
    assert score["estimate"] < score["score"] == 0.97


@pytest.mark.parametrize(
    "columns",
    [
        {"estimate": [0.5, 0.5, 0.4]},
        {"estimate": [0.5]},
        {"estimate": [0.6, 0.5], "standard_error": [np.nan, 0.1]},
        {"estimate": [0.6, 0.5], "standard_error": [0.0, 0.1]},
        {"estimate": [0.6, 0.5], "ranked": False},
    ],
    ids=["tie", "single", "no error", "no noise", "not ranked"],
)
def test_without_a_single_leader_nothing_is_corrected(tmp_path: Path, columns: object) -> None:
    assert lead(tmp_path, **columns).empty  # type: ignore[arg-type]


def test_means_decide_over_datasets(tmp_path: Path) -> None:
    places = ["runs", "runs", "runs_and_datasets", "runs_and_datasets"]
    table = lead(
        tmp_path,
        **{"estimate": [0.6, 0.5, 0.4, 0.7], "model": ["a", "b"] * 2, "unit": places},
        statistic=["iqm", "iqm", "mean", "mean"],
    )
    assert table[["unit", "statistic", "model"]].to_numpy().tolist() == [
        ["runs", "iqm", "a"],
        ["runs_and_datasets", "mean", "b"],
    ]


def test_shared_errors_choose_no_leader(tmp_path: Path) -> None:
    parts = np.random.default_rng(0).standard_normal(12)
    parts *= 0.1 / np.sqrt((parts**2).sum())
    alike = {"estimate": [0.5, 0.51, 0.5, 0.5], "parts": [parts] * 4}
    shared = lead(tmp_path, **alike).iloc[0]
    apart = lead(tmp_path, estimate=alike["estimate"]).iloc[0]
    assert shared["estimate"] == pytest.approx(0.51)
    assert apart["estimate"] < 0.45


@pytest.mark.parametrize("spread", [0.0, 0.2, 10.0])
def test_intervals_hold_the_score_of_a_chosen_leader(spread: float) -> None:
    rng, truths = np.random.default_rng(0), np.linspace(0, spread, MODELS)
    held, above, widths = [], [], []
    for _ in range(300):
        scores = truths + rng.standard_normal(MODELS)
        errors = np.sqrt(rng.chisquare(FREEDOM, MODELS) / FREEDOM)
        leader = int(scores.argmax())
        estimate, low, high = correct_score(
            scores[leader],
            errors[leader],
            FREEDOM,
            selected=bound_selection(scores, np.zeros(MODELS), leader),
            models=MODELS,
            confidence_level=LEVEL,
        )
        held.append(low <= truths[leader] <= high)
        above.append(estimate > truths[leader])
        widths.append((high - low) / errors[leader])
    assert np.mean(held) > 0.93
    assert np.mean(above) == pytest.approx(0.5, abs=0.1)
    assert np.mean(widths) < 2 * special.stdtrit(FREEDOM, 1 - 0.025 / MODELS)
