"""All pairs of models: differences, tests, probability of improvement and equivalence."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.errors import ValidationError
from capmap.ranking.aggregation import Pairs, ScoreMatrix, arrange_runs
from capmap.ranking.pairs import (
    compare_pairs,
    compare_signed_ranks,
    compute_wilcoxon,
    estimate_differences,
    estimate_improvement,
)
from capmap.rng import make_stream
from tests.toy_runs import draw_benchmark, make_runs
from tests.toy_scores import run_on_runs

UNCORRECTED = [
    *("datasets", "mean_difference", "ci_low", "ci_high", "wins", "ties"),
    *("losses", "wilcoxon_p", "effect_size"),
]


def compare(runs: pd.DataFrame, **options: object) -> pd.DataFrame:
    settings = {"unit": "runs", "confidence_level": 0.95} | options
    return compare_pairs(arrange_runs(runs), **settings)


def repeat(cells: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    rows = [
        (model, dataset, score, str(seed))
        for (model, dataset), scores in cells.items()
        for seed, score in enumerate(scores)
    ]
    return make_runs(*rows)


def test_two_models_by_hand() -> None:
    runs = make_runs(
        *(("a", f"D{place}", score) for place, score in enumerate([0.5, 0.6, 0.7, 0.4])),
        *(("b", f"D{place}", score) for place, score in enumerate([0.4, 0.4, 0.7, 0.7])),
    )
    [row] = compare(runs).to_dict("records")
    # Differences 0.1, 0.2, 0, -0.3: mean 0; ranks 1, 2 in favor and 3 against, one zero dropped.
    assert row["mean_difference"] == pytest.approx(0, abs=1e-15)
    assert (row["wins"], row["ties"], row["losses"]) == (2, 1, 1)
    assert row["effect_size"] == 0
    assert row["wilcoxon_p"] == 1
    assert np.isnan(row["ci_low"]), "single runs tell nothing of the spread of runs"


def test_interval_on_one_dataset_is_that_of_welch() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(0.5, 0.1, 4), rng.normal(0.4, 0.3, 7)
    row = compare(repeat({("a", "D"): list(one), ("b", "D"): list(other)})).iloc[0]
    interval = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    assert row[["ci_low", "ci_high"]].tolist() == pytest.approx(list(interval), abs=1e-12)


def test_interval_over_datasets_is_that_of_the_paired_t_test() -> None:
    runs = draw_benchmark(1, models=2, datasets=7, seeds=3)
    row = compare(runs, unit="runs_and_datasets", confidence_level=0.9).iloc[0]
    means = runs.pivot_table(index="model", columns="dataset", values="score").to_numpy()
    interval = stats.ttest_rel(*means).confidence_interval(0.9)
    assert row[["ci_low", "ci_high"]].tolist() == pytest.approx(list(interval), abs=1e-11)


def test_single_run_takes_the_pooled_variance_of_its_model() -> None:
    runs = repeat(
        {
            ("a", "X"): [0.1, 0.3],
            ("a", "Y"): [0.5],
            ("b", "X"): [0.2, 0.2, 0.2],
            ("b", "Y"): [0.4, 0.4],
        }
    )
    row = compare(runs).iloc[0]
    # Variance of a on X is 0.02, so 0.02 / 2 + 0.02 / 1 for its sum, and 0 for b. Both parts rest
    # on the same one degree of freedom; t at 0.975 is 12.706. The mean is over 2 datasets.
    assert row["mean_difference"] == pytest.approx(0.05)
    reach = stats.t.ppf(0.975, 1) * np.sqrt(0.03) / 2
    assert row["ci_high"] - row["mean_difference"] == pytest.approx(reach)


@pytest.mark.parametrize("datasets", [8, 19])
@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
@pytest.mark.parametrize("single", [0, 3])
def test_intervals_cover_the_truth(datasets: int, unit: str, single: int) -> None:
    # 8000 independent pairs at 3 seeds; the standard error of the coverage is 0.0024. Cells differ
    # in spread, but for those of a model that has single runs: its cells are then pooled.
    n, rng = 8000, np.random.default_rng(datasets)
    truth = rng.normal(size=(2 * n, datasets))
    spread = rng.uniform(0.2, 1, (2 * n, datasets, 1))
    if single:
        spread[:n] = spread[:n, :1]
    runs = truth[:, :, None] + spread * rng.normal(size=(2 * n, datasets, 3))
    means, variances = runs.mean(axis=-1), runs.var(axis=-1, ddof=1)
    counts = np.full(means.shape, 3)
    means[:n, :single], counts[:n, :single] = runs[:n, :single, 0], 1
    variances[:n, :single] = np.nan
    matrix = ScoreMatrix([""] * 2 * n, [""] * datasets, means, counts, variances)
    pairs = Pairs(np.arange(n), np.arange(n, 2 * n))
    _, low, high = estimate_differences(matrix, pairs, unit=unit, confidence_level=0.95)
    target = (truth[:n] - truth[n:]).mean(axis=-1) if unit == "runs" else np.zeros(n)
    assert np.mean((low <= target) & (target <= high)) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("datasets", [1, 2, 5, 13, 14, 30, 50, 51, 100])
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros", "both"])
def test_signed_rank_test_is_that_of_scipy(datasets: int, kind: str) -> None:
    rng = np.random.default_rng(datasets)
    # scipy enumerates all signs of up to 13 differences, which takes it a second.
    apart = rng.normal(0.3, 1, (12 if datasets != 13 else 1, datasets))
    if kind in ("ties", "both"):
        apart = np.where(np.abs(apart) > 0.2, np.round(apart, 1), apart)
    if kind in ("zeros", "both"):
        apart[:, ::4] = 0
        apart[:, -1] = 0.7
    p, effect_size = compute_wilcoxon(apart)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # scipy chooses the exact test by the number of differences with the zeros.
        expected = [stats.wilcoxon(row[row != 0], zero_method="wilcox").pvalue for row in apart]
    np.testing.assert_allclose(p, expected, rtol=0, atol=1e-10)
    used = [row[row != 0] for row in apart]
    sums = [np.sum(stats.rankdata(np.abs(row)) * np.sign(row)) for row in used]
    totals = [len(row) * (len(row) + 1) / 2 for row in used]
    np.testing.assert_allclose(effect_size, np.divide(sums, totals), atol=1e-12)


@pytest.mark.parametrize("wins", [3, 4, 5])
def test_no_p_value_is_below_the_least_that_so_few_wins_can_have(wins: int) -> None:
    apart = np.concatenate([np.arange(1.0, wins + 1), np.zeros(15)])[None]
    assert compute_wilcoxon(apart)[0].tolist() == [2.0 ** (1 - wins)]


def test_runs_that_cancel_are_a_tie_and_not_an_order() -> None:
    rows = [("a", f"d{d}", score) for d in range(3) for score in (-0.1, 0.0, 0.1)]
    rows += [("b", f"d{d}", score) for d in range(3) for score in (-0.3, 0.1, 0.2)]
    matrix = arrange_runs(make_runs(*rows))
    assert (matrix.means == 0).all()


def test_empty_cells_are_no_part_of_the_signed_rank_test() -> None:
    apart = np.random.default_rng(0).normal(size=(1, 9))
    holed = np.insert(apart, [0, 3, 9], np.nan, axis=1)
    assert [part.tolist() for part in compute_wilcoxon(holed)] == [
        part.tolist() for part in compute_wilcoxon(apart)
    ]


def test_holm_leaves_out_what_was_not_tested() -> None:
    runs = draw_benchmark(3, models=5, datasets=9)
    apart = make_runs(("M9", "D33", 0.5), ("M9", "D34", 0.5))
    table = compare(pd.concat([runs, apart])).sort_values("wilcoxon_p")
    is_tested = table["wilcoxon_p"].notna()
    assert is_tested.sum() == 10
    assert (table["wilcoxon_p_holm"].notna() == is_tested).all()
    # Holm (1979): the smallest of ten times 10, the next one times 9 and at least as large.
    raised = table["wilcoxon_p"][is_tested].to_numpy() * np.arange(10, 0, -1)
    expected = np.maximum.accumulate(raised.clip(max=1))
    np.testing.assert_allclose(table["wilcoxon_p_holm"][is_tested], expected)


@given(st.integers(0, 10**6), st.sampled_from(["runs", "runs_and_datasets"]))
def test_bystander_changes_no_other_pair(seed: int, unit: str) -> None:
    runs = draw_benchmark(seed, models=4, datasets=6, seeds=2).sample(frac=0.8, random_state=seed)
    weak = make_runs(("M2b", "D0", -9.0), ("M2b", "D3", -9.0), ("M2b", "D33", -9.0))
    both = compare(pd.concat([runs, weak]), unit=unit)
    others = both[(both["model_a"] != "M2b") & (both["model_b"] != "M2b")]
    alone = compare(runs, unit=unit)
    pd.testing.assert_frame_equal(
        others[UNCORRECTED].reset_index(drop=True), alone[UNCORRECTED], check_exact=True
    )


@given(st.integers(0, 10**6))
def test_exchanged_names_mirror_the_row(seed: int) -> None:
    runs = draw_benchmark(seed, models=2, datasets=5, seeds=3)
    runs["score"] = runs["score"].round(1)
    row = compare(runs).iloc[0]
    turned = compare(runs.assign(model=runs["model"].map({"M0": "M1", "M1": "M0"}))).iloc[0]
    assert turned["mean_difference"] == -row["mean_difference"]
    assert (turned["ci_low"], turned["ci_high"]) == (-row["ci_high"], -row["ci_low"])
    assert (turned["wins"], turned["losses"]) == (row["losses"], row["wins"])
    assert turned["effect_size"] == -row["effect_size"]
    assert turned["wilcoxon_p"] == row["wilcoxon_p"]


@pytest.mark.parametrize("scale", [1e-15, 1e-6, 1.0, 1e7])
@pytest.mark.parametrize("seed", range(4))
def test_equal_differences_are_ties_at_any_scale(seed: int, scale: float) -> None:
    # Three seeds on a grid of 0.1: sums of the tenths are exact integers.
    tenths = np.random.default_rng(seed).integers(0, 10, (2, 7, 3))
    rows = [
        (model, f"d{d}", scale * (tenth / 10), str(s))
        for model, own in zip("ab", tenths, strict=True)
        for (d, s), tenth in np.ndenumerate(own)
    ]
    row = compare(make_runs(*rows)).iloc[0]
    exact = tenths[0].sum(axis=1) - tenths[1].sum(axis=1)
    assert [row["wins"], row["ties"]] == [(exact > 0).sum(), (exact == 0).sum()]
    p, effect_size = compute_wilcoxon(exact[None])
    assert (row["wilcoxon_p"], row["effect_size"]) == (p[0], effect_size[0])
    method = stats.PermutationMethod(n_resamples=np.inf)
    expected = stats.wilcoxon(exact[exact != 0], method=method).pvalue
    assert row["wilcoxon_p"] == pytest.approx(expected, rel=1e-12)


def test_a_dataset_of_huge_scores_hides_no_difference_on_another() -> None:
    runs = make_runs(("a", "X", 3e9), ("b", "X", 1e9), ("a", "Y", 0.5), ("b", "Y", 0.5 + 1e-9))
    row = compare(runs).iloc[0]
    assert (row["wins"], row["ties"], row["losses"]) == (1, 0, 1)


def test_models_without_a_common_dataset_are_neither_better_nor_equal() -> None:
    runs = make_runs(("a", "X", 0.5), ("b", "Y", 0.4), ("b", "Z", 0.4))
    row = compare(runs).iloc[0]
    assert row[["datasets", "wins", "ties", "losses"]].tolist() == [0, 0, 0, 0]
    assert row[["mean_difference", "ci_low", "wilcoxon_p", "wilcoxon_p_holm"]].isna().all()


class Study:
    """Files of a small study, and the step on them."""

    def __init__(self, path: Path, runs: pd.DataFrame, *, metric: str = "RMSE") -> None:
        self.path, self.runs = path, runs[["model", "dataset", "seed", "score"]]
        scores = runs.groupby("model")["score"].mean().sort_values(ascending=False)
        self.ranking = scores.reset_index()
        datasets = sorted(runs["dataset"].unique())
        bounds = {"dataset": datasets, "metric": metric, "direction": "min", "low": 0, "high": 10}
        self.bounds = pd.DataFrame(bounds)

    def run(self, *, unit: str = "runs", **own: object) -> pd.DataFrame:
        """Run the step and read its table."""
        given = {"ranking": self.ranking.assign(unit=unit), "bounds": self.bounds}
        chosen = {"reference": "", "rope": 0.01} | own
        tables = run_on_runs(
            "compare_models", self.path, self.runs, tables=given, comparison=chosen
        )
        return tables["pairwise"]


def test_region_in_raw_units_is_that_of_normalized_ones(tmp_path: Path) -> None:
    # Bounds 0 and 10: a half-width of 0.2 RMSE is 0.02 of a normalized score.
    runs = draw_benchmark(5, models=3, datasets=5, seeds=2)
    runs["score"] = 0.5 + 0.05 * runs["score"]
    study = Study(tmp_path, runs)
    raw = study.run(rope={"rmse": 0.2})
    normalized = study.run(rope=0.02)
    pd.testing.assert_frame_equal(raw, normalized)


def test_the_bayesian_test_is_asked_for(tmp_path: Path) -> None:
    found = Study(tmp_path, draw_benchmark(5, models=3, datasets=5)).run(rope={})
    assert found[["p_a_better", "p_equivalent", "p_b_better", "decision"]].isna().all(axis=None)
    assert found["wilcoxon_p"].notna().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"rope": {"mae": 1}},
            "'RMSE' has no half-width. Give each metric of the study one",
        ),
        ({"reference": "m0"}, "no model 'm0' is analysed. Did you mean 'M0'?"),
    ],
)
def test_step_says_what_to_mend(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        Study(tmp_path, draw_benchmark(0, models=2, datasets=2)).run(**options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "X", 0.5)],
        [("a", "X", 0.5), ("b", "X", 0.5)],
        [("a", "X", 0.5), ("b", "Y", 0.4)],
        [("a", "X", 0.5), ("a", "X", 0.5, "2"), ("b", "X", 0.4), ("b", "Y", 0.4), ("c", "Y", 0.0)],
    ],
)
@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
def test_step_bears_little_data(
    tmp_path: Path, rows: list[tuple[str, str, float]], unit: str
) -> None:
    runs = make_runs(*rows)
    pairs = Study(tmp_path, runs).run(unit=unit, rope=0)
    models = runs["model"].nunique()
    assert len(pairs) == models * (models - 1) / 2
    is_apart = pairs["datasets"] == 0
    assert (pairs["p_improvement"].isna() == is_apart).all()
    assert (pairs.loc[is_apart, "decision"] == "undecided").all()


SHARED = Path(__file__).parents[3] / "shared"
INTERVAL = ["p_improvement_low", "p_improvement_high"]


def estimate(runs: pd.DataFrame, **options: object) -> pd.DataFrame:
    settings = {"n_resamples": 200, "confidence_level": 0.95, "unit": "runs"} | options
    return estimate_improvement(
        runs,
        make_rng=lambda model: make_stream(0, "toy", "improvement", model),
        make_dataset_rng=lambda names: make_stream(0, "toy", "improvement_datasets", *names),
        **settings,
    )


def estimate_naively(runs: pd.DataFrame, one: str, other: str) -> float:
    """Loop over datasets and pairs of runs, as Agarwal et al. (2021) define it."""
    shares = []
    for _, rows in runs.groupby("dataset"):
        wins = [
            1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
            for mine in rows.loc[rows["model"] == one, "score"]
            for theirs in rows.loc[rows["model"] == other, "score"]
        ]
        if wins:
            shares.append(sum(wins) / len(wins))
    return sum(shares) / len(shares) if shares else np.nan


def resample_naively(
    runs: pd.DataFrame, *, n_resamples: int, unit: str, seed: int
) -> tuple[float, float]:
    """Percentile interval of M0 against M1 from resamples of rows."""
    rng = np.random.default_rng(seed)
    cells = {key: rows["score"].to_numpy() for key, rows in runs.groupby(["model", "dataset"])}
    datasets = sorted({d for m, d in cells if ("M0", d) in cells and ("M1", d) in cells})
    replicates = []
    for _ in range(n_resamples):
        shares = {}
        for dataset in datasets:
            mine, theirs = (rng.choice(cells[m, dataset], len(cells[m, dataset])) for m in MODELS)
            shares[dataset] = np.mean(np.heaviside(mine[:, None] - theirs, 0.5))
        drawn = datasets if unit == "runs" else rng.choice(datasets, len(datasets))
        replicates.append(np.mean([shares[dataset] for dataset in drawn]))
    low, high = np.quantile(replicates, [0.025, 0.975])
    return float(low), float(high)


MODELS = ("M0", "M1")


@given(st.integers(0, 10**6), st.sampled_from(["runs", "runs_and_datasets"]))
def test_estimates_are_those_of_a_double_loop(seed: int, unit: str) -> None:
    runs = draw_benchmark(seed, models=4, datasets=4, seeds=3).sample(frac=0.5, random_state=seed)
    runs["score"] = runs["score"].round(1)
    table = estimate(runs, n_resamples=20, unit=unit)
    expected = [estimate_naively(runs, a, b) for a, b in zip(*pair_names(table), strict=True)]
    np.testing.assert_allclose(table["p_improvement"], expected, rtol=0, atol=1e-12)


def pair_names(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    return table["model_a"].tolist(), table["model_b"].tolist()


@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
def test_intervals_are_those_of_resampled_rows(unit: str) -> None:
    runs = draw_benchmark(1, models=2, datasets=8, seeds=6).iloc[5:]
    row = estimate(runs, n_resamples=4000, unit=unit).iloc[0]
    # 4000 and 1500 replicates: the standard error of a 2.5% percentile is about a fortieth and a
    # fifteenth of the standard deviation, which is a quarter of the width.
    low, high = resample_naively(runs, n_resamples=1500, unit=unit, seed=0)
    assert row[INTERVAL].tolist() == pytest.approx([low, high], abs=0.08 * (high - low))


def test_atari_is_that_of_rliable() -> None:
    reference = SHARED / "reference/atari100k/probability_of_improvement.csv"
    if not reference.is_file():
        pytest.skip("needs the shared reference values")
    runs = pd.read_csv(SHARED / "data/atari100k/runs.csv")
    runs = runs.merge(pd.read_csv(SHARED / "data/atari100k/baselines.csv"), on="dataset")
    runs["score"] = (runs["score"] - runs["random"]) / (runs["human"] - runs["random"])
    table = estimate(runs, n_resamples=2000).set_index(["model_a", "model_b"])
    for row in pd.read_csv(reference).itertuples():
        expected = [row.point, row.ci_low, row.ci_high]
        pair = (row.model_a, row.model_b)
        if row.model_a > row.model_b:
            pair, expected = pair[::-1], [1 - row.point, 1 - row.ci_high, 1 - row.ci_low]
        found = table.loc[pair, ["p_improvement", *INTERVAL]].tolist()
        assert found[0] == pytest.approx(expected[0], rel=0, abs=1e-10)
        # A percentile of 2000 replicates is off by 0.06 of a standard deviation, 0.015 of a width;
        # 0.08 are five times as much.
        assert found[1:] == pytest.approx(expected[1:], abs=0.08 * (row.ci_high - row.ci_low))


@given(st.integers(0, 10**6), st.sampled_from(["runs", "runs_and_datasets"]))
def test_bystander_changes_no_bit_of_other_pairs(seed: int, unit: str) -> None:
    runs = draw_benchmark(seed, models=3, datasets=5, seeds=3).sample(frac=0.7, random_state=seed)
    weak = make_runs(("M1b", "D0", -9.0), ("M1b", "D0", -8.0, "2"), ("M1b", "D33", -9.0))
    both = estimate(pd.concat([weak, runs]), n_resamples=50, unit=unit)
    others = both[(both["model_a"] != "M1b") & (both["model_b"] != "M1b")]
    alone = estimate(runs, n_resamples=50, unit=unit)
    pd.testing.assert_frame_equal(others.reset_index(drop=True), alone, check_exact=True)


@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
def test_single_runs_have_an_estimate_and_no_interval(unit: str) -> None:
    table = estimate(draw_benchmark(0, models=3, datasets=4), unit=unit)
    assert table["p_improvement"].notna().all()
    assert table[INTERVAL].isna().all(axis=None)


def test_one_dataset_has_no_interval_over_datasets() -> None:
    runs = draw_benchmark(0, models=2, datasets=1, seeds=5)
    assert estimate(runs)[INTERVAL].notna().all(axis=None)
    assert estimate(runs, unit="runs_and_datasets")[INTERVAL].isna().all(axis=None)


def test_what_no_resample_moves_has_no_interval() -> None:
    runs = draw_benchmark(0, models=1, datasets=3, seeds=3)
    apart = runs.assign(
        model="other", score=runs["score"] + np.where(runs["dataset"] == "D0", 9, -9)
    )
    row = estimate(pd.concat([runs, apart])).iloc[0]
    assert row["p_improvement"] not in (0, 1)
    assert row[INTERVAL].isna().all()


ROPES = [0.0, 0.5, 1.0, 2.0]


def make_rng(n: int) -> np.random.Generator:
    return make_stream(0, "toy", "signed_rank", str(n))


def compare_signed_rank(apart: object, *, rope: float, n_samples: int = 50_000) -> np.ndarray:
    rows = np.atleast_2d(np.asarray(apart, dtype=float))
    return compare_signed_ranks(rows, rope=rope, n_samples=n_samples, make_rng=make_rng)


def weigh_naively(apart: np.ndarray, rope: float, n_samples: int) -> np.ndarray:
    """Sum over all pairs of differences, sample by sample, from the same draws."""
    rng = make_rng(len(apart))
    weights = rng.standard_exponential((len(apart), n_samples))
    weights = np.vstack([rng.standard_gamma(0.5, n_samples), weights])
    weights /= weights.sum(axis=0)
    values = np.concatenate([[0], np.sort(apart)])
    sums = values[:, None] + values
    above = np.heaviside(sums - 2 * rope, 0.5)
    below = np.heaviside(-2 * rope - sums, 0.5)
    samples = np.empty((n_samples, 3))
    for sample, weight in zip(samples, weights.T, strict=True):
        product = np.outer(weight, weight)
        sample[:] = (product * above).sum(), 0, (product * below).sum()
    if rope > 0:
        samples[:, 1] = 1 - samples.sum(axis=1)
    return np.bincount(samples.argmax(axis=1), minlength=3) / n_samples


def test_one_difference_by_hand() -> None:
    # The pseudo-difference 0 has weight w ~ Beta(0.5, 1), so P(w < t) = sqrt(t).
    # d > 2 rope: only the pair (0, 0) is equivalent, w^2 < 1/2 where w < 0.7071: 0.8409.
    assert compare_signed_rank([0.3], rope=0.1)[0] == pytest.approx([0.8409, 0.1591, 0], abs=0.007)
    # rope < d < 2 rope: only (d, d) is better, (1 - w)^2 > 1/2 where w < 0.2929: 0.5412.
    assert compare_signed_rank([0.15], rope=0.1)[0] == pytest.approx([0.5412, 0.4588, 0], abs=0.009)
    assert compare_signed_rank([0.05], rope=0.1).tolist() == [[0, 1, 0]]


def test_edge_of_the_region_counts_half() -> None:
    # d = 2 rope: (0, d) lies on the edge, so better has (1 - w)^2 + w (1 - w) = 1 - w, and the rest
    # is w: better where w < 1/2, that is 0.7071. In floating point, 0.3 - 0.1 is not quite 0.2.
    assert compare_signed_rank([0.3 - 0.1], rope=0.1)[0] == pytest.approx(
        [0.7071, 0.2929, 0], abs=0.008
    )


@pytest.mark.parametrize("rope", ROPES)
@pytest.mark.parametrize("step", [0.5, 1e-9])
def test_probabilities_are_those_of_a_double_loop(rope: float, step: float) -> None:
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 7, 12):
        # Multiples of 0.5 fall on edges and on each other, and are exact in floating point.
        apart = np.round(rng.normal(1, 2, n) / step) * step
        expected = weigh_naively(apart, rope, 400)
        flipped = weigh_naively(-apart, rope, 400)[::-1]
        found = compare_signed_rank(apart, rope=rope, n_samples=400)[0]
        assert found.tolist() in (expected.tolist(), flipped.tolist())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rope", [0.0, 0.01, 0.04])
@pytest.mark.parametrize("n", [1, 6, 20])
def test_probabilities_are_those_of_baycomp(rope: float, n: int) -> None:
    import baycomp

    apart = np.random.default_rng(n).normal(0.02, 0.05, n)
    test = baycomp.SignedRankTest.sample(
        np.zeros(n), apart, rope, nsamples=8000, random_state=np.random.RandomState(0).randint(99)
    )
    worse, equivalent, better = np.bincount(test.argmax(axis=1), minlength=3) / 8000
    # Standard error of baycomp's share: 0.0056 at most.
    assert compare_signed_rank(apart, rope=rope)[0] == pytest.approx(
        [better, equivalent, worse], abs=0.02
    )


def test_identical_models_are_equivalent_and_without_region_undecided() -> None:
    apart = np.zeros((1, 5))
    assert compare_signed_rank(apart, rope=0.01).tolist() == [[0, 1, 0]]
    assert compare_signed_rank(apart, rope=0.0).tolist() == [[0.5, 0, 0.5]]


@given(st.integers(0, 10**6), st.sampled_from(ROPES), st.integers(1, 9), st.booleans())
def test_exchange_mirrors_exactly(seed: int, rope: float, n: int, is_coarse: bool) -> None:
    apart = np.random.default_rng(seed).normal(0, 2, (3, n)).round(0 if is_coarse else 8)
    straight = compare_signed_rank(apart, rope=rope, n_samples=200)
    np.testing.assert_array_equal(
        compare_signed_rank(-apart, rope=rope, n_samples=200), straight[:, ::-1]
    )


def test_tiny_scores_are_compared_like_others() -> None:
    differences = np.array([[0.3, -0.1, 0.2, 0.2, -0.1], [0.1, 0.1, 0.0, 0.2, 0.1]])
    for rope in (0.0, 0.1):
        usual, tiny = (
            compare_signed_ranks(
                scale * differences, rope=scale * rope, n_samples=300, make_rng=make_rng
            )
            for scale in (1.0, 1e-20)
        )
        np.testing.assert_array_equal(usual, tiny)
