"""What intervals generalize to, and whether runs of a seed move together, with known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.ranking.aggregation import arrange_runs
from capmap.ranking.dependence import correlate_seeds, resolve_unit
from capmap.ranking.estimates import Options, Part, estimate_models
from capmap.ranking.pairs import compare_pairs
from capmap.rng import make_stream


def draw(
    correlation: float = 0.0,
    *,
    models: int = 4,
    datasets: int = 6,
    seeds: int = 5,
    number: int = 0,
    common: bool = False,
) -> pd.DataFrame:
    """Runs of which those of a seed correlate over datasets, or (common) over models."""
    rng = np.random.default_rng(number)
    noise = rng.standard_normal((models, datasets, seeds))
    shape = (1, datasets, seeds) if common else (models, 1, seeds)
    noise = np.sqrt(1 - correlation) * noise + np.sqrt(correlation) * rng.standard_normal(shape)
    scores = rng.random((models, datasets, 1)) + 0.05 * noise
    places = np.indices(scores.shape).reshape(3, -1)
    names = [[f"{kind}{place:02d}" for place in row] for kind, row in zip("mds", places)]  # noqa: B905
    columns = dict(zip(("model", "dataset", "seed"), names, strict=True))
    return pd.DataFrame({**columns, "score": scores.ravel()})


def test_a_correlation_is_found_and_its_size_is_right() -> None:
    found = [correlate_seeds(draw(0.4, number=number)) for number in range(30)]
    assert np.mean([one.correlation for one in found]) == pytest.approx(0.4, abs=0.08)
    assert np.mean([one.p <= 0.05 for one in found]) > 0.9
    assert {one.models for one in found} == {4}


@pytest.mark.parametrize("common", [False, True])
def test_independent_datasets_seldom_correlate(common: bool) -> None:
    # Models that share noise on each dataset, as with a common split of the data, are no reason.
    ps = [
        correlate_seeds(draw(0.7 if common else 0, number=number, common=common)).p
        for number in range(60)
    ]
    assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    assert np.mean(ps) == pytest.approx(0.5, abs=0.12)


def test_the_correlation_is_that_of_all_pairs_of_datasets() -> None:
    runs = draw(0.3, models=2)
    cells = runs.pivot_table(index=["model", "dataset"], columns="seed", values="score")
    pairs = [np.corrcoef(cells.loc[model])[np.triu_indices(6, k=1)] for model in ("m00", "m01")]
    assert correlate_seeds(runs).correlation == pytest.approx(np.mean(pairs), rel=1e-12)


def test_gaps_and_constant_cells_are_left_out() -> None:
    runs = draw(0.5)
    odd = runs["dataset"].eq("d00") & runs["seed"].eq("s04")
    flat = runs.assign(score=runs["score"].where(runs["dataset"] != "d01", 0.1))
    rest = runs[~runs["dataset"].isin(["d00", "d01"])]
    found, expected = correlate_seeds(flat[~odd]), correlate_seeds(rest)
    assert found.correlation == pytest.approx(expected.correlation, rel=1e-12)
    assert correlate_seeds(runs[runs["seed"] == "s00"]).p == 1
    assert correlate_seeds(runs[runs["dataset"] == "d00"]).models == 0


def test_the_unit_follows_from_the_runs() -> None:
    runs = draw()
    assert resolve_unit("auto", runs, interval="calibrated") == "runs"
    assert resolve_unit("auto", runs, interval="calibrated", shared=True) == "seeds"
    assert resolve_unit("auto", runs, interval="percentile", shared=True) == "runs"
    assert resolve_unit("runs", runs, interval="calibrated", shared=True) == "runs"
    single = runs[runs["seed"] == "s00"]
    assert resolve_unit("auto", single, interval="calibrated") == "runs_and_datasets"
    few = single[single["dataset"] < "d03"]
    assert resolve_unit("auto", few, interval="calibrated") == "runs"
    some = pd.concat([single, runs[runs["model"] == "m00"]]).drop_duplicates()
    assert resolve_unit("auto", some, interval="calibrated") == "runs"
    assert correlate_seeds(draw(0.6)).is_found


def estimate(runs: pd.DataFrame, unit: str) -> pd.DataFrame:
    part = Part(runs, ["mean"], Options(unit=unit), lambda *_: make_stream(0, "test"))
    return estimate_models([part])


def test_the_error_over_seeds_is_that_of_seed_means() -> None:
    runs = draw(0.5, models=1)
    table = estimate(runs, "seeds")
    means = runs.groupby("seed")["score"].mean()
    low, high = stats.t.interval(0.95, 4, loc=means.mean(), scale=stats.sem(means))
    row = table.iloc[0]
    assert (row["standard_error"], row["freedom"]) == (pytest.approx(stats.sem(means)), 4)
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(low), pytest.approx(high))


def test_single_runs_add_the_variance_of_the_others() -> None:
    runs = draw(0.5, models=1)
    lone = runs[(runs["dataset"] > "d00") | (runs["seed"] == "s00")]
    tables = [estimate(own, "seeds") for own in (runs, lone)]
    full, single = (table.iloc[0] for table in tables)
    assert single["standard_error"] > full["standard_error"]
    # What single runs add is the model's own, and no part that models have in common.
    assert (single["parts"] ** 2).sum() < single["standard_error"] ** 2
    assert (full["parts"] ** 2).sum() == pytest.approx(full["standard_error"] ** 2)


def test_seeds_of_their_own_on_each_dataset_are_runs() -> None:
    # With names that nothing shares, the variance is that over runs.
    runs = draw(models=1).assign(seed=lambda table: table["dataset"] + table["seed"])
    one, other = (estimate(runs, unit).iloc[0] for unit in ("runs", "seeds"))
    assert other["standard_error"] == pytest.approx(one["standard_error"])
    assert other["freedom"] == 4


def test_pairs_over_seeds_are_compared_as_in_a_paired_t_test() -> None:
    runs = draw(0.5, models=2)
    matrix = arrange_runs(runs, by_seed=True)
    row = compare_pairs(matrix, unit="seeds", confidence_level=0.9).iloc[0]
    means = runs.groupby(["model", "seed"])["score"].mean()
    test = stats.ttest_rel(means["m00"], means["m01"]).confidence_interval(0.9)
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(test.low), pytest.approx(test.high))
    with pytest.raises(ValueError, match="seeds"):
        compare_pairs(arrange_runs(runs), unit="seeds", confidence_level=0.9)
