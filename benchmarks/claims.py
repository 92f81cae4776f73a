"""How many false claims a study of equal models makes, and how wide the sets of ranks are.

All models have the same true scores. A claim is false if any two models are separated, if the rank
of a given model is said to lie where it does not, if a set of all models' ranks is wrong, or if a
given model is not among those that may be the best; a model is called the best only where it is
also separated from all others. Of the tests over datasets every claim that any two models differ is
false. Run by ``make bench``; ``benchmarks/results/claims.*`` (of the ranking),
``claims_of_tests.*`` (over datasets), ``claims_of_items.*`` and ``power_of_items.*`` (over test
items) keep the tables. Standard error of a share of 0.05: 0.007 for 1000 studies.
"""

import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
from shapes import Shape

from capmap.analyses.ranks import compare_mean_ranks, measure_allowance, tabulate_rank_tests
from capmap.claims import claim_decisions, claim_mean_ranks, claim_nemenyi, claim_pairs
from capmap.ranking.aggregation import arrange_runs
from capmap.ranking.clusters import bound_flat, spread_items
from capmap.ranking.dependence import INDEPENDENT, Dependence, measure_dependence
from capmap.ranking.estimates import Options, Part, estimate_models
from capmap.ranking.pairs import compare_pairs, compare_posteriors
from capmap.ranking.rank_sets import SamplingErrors, find_rank_sets, rank_models
from capmap.ranking.standard_errors import StandardError, bound_estimate
from capmap.rng import make_stream
from capmap.settings.choices import Statistic, Unit
from capmap.tables import write_table

RESULTS = Path(__file__).parent / "results"
STUDIES = {2: 1000, 5: 1000, 10: 1000, 20: 200, 50: 60}
SEEDS, DATASETS = (3, 5), (8, 19)
LEVEL = 0.95
SPACINGS = (0.02, 0.3, 1.0, 3.0)


def tabulate(scores: np.ndarray) -> pd.DataFrame:
    """Runs of the shape (models, datasets, seeds) as a table."""
    places = np.indices(scores.shape).reshape(3, -1)
    names = {
        kind: [f"{kind[0]}{place:03d}" for place in own]
        for kind, own in zip(("model", "dataset", "seed"), places, strict=True)
    }
    return pd.DataFrame({**names, "score": scores.ravel()})


def rank_runs(
    runs: list[np.ndarray],
    unit: Unit,
    statistic: Statistic = "iqm",
    dependence: Dependence = INDEPENDENT,
) -> pd.DataFrame:
    """The ranking of models with runs of the shape (datasets, seeds) each."""
    part = Part(
        tabulate(np.array(runs)),
        statistics=[statistic],
        options=Options(n_resamples=0, unit=unit, dependence=dependence),
        make_rng=lambda *names: make_stream(0, "claims", *names),
    )
    estimates = estimate_models([part])
    return rank_models(estimates, statistic, confidence_level=LEVEL).set_index("model")


def count_false(ranking: pd.DataFrame) -> list[bool]:
    """Which claims are false when all models are equal."""
    n = len(ranking)
    given = ranking.loc["m000"]
    return [
        bool((ranking["tie_group"] != ranking["tie_group"].iloc[0]).any()),
        bool(given["rank_low"] > 1 or given["rank_high"] < n),
        bool((ranking["rank_low_all"] > 1).any() or (ranking["rank_high_all"] < n).any()),
        bool(given["rank_low"] > 1),
        int((ranking["rank_low"] == 1).sum()) == 1,
    ]


CLAIMS = ["separated", "rank of a model", "ranks of all", "not the best", "one candidate"]


def measure_equal(models: int, seeds: int, datasets: int, noise: str) -> dict[str, object]:
    """Share of studies of equal models with each false claim."""
    rng = make_stream(0, "claims", str(models), str(seeds), str(datasets), noise)
    false = np.zeros(len(CLAIMS))
    for _ in range(STUDIES[models]):
        shape = Shape(noise if seeds > 1 else "normal", datasets, rng)
        if seeds > 1:
            runs = [shape.draw(seeds) for _ in range(models)]
        else:
            # Datasets suit each model otherwise; over all such datasets the models are equal.
            runs = list(shape.means[:, None] + 0.1 * rng.standard_normal((models, datasets, 1)))
        false += np.array(
            count_false(rank_runs(runs, "runs" if seeds > 1 else "runs_and_datasets"))
        )
    about = {"models": models, "seeds": seeds, "datasets": datasets, "noise": noise}
    shares = false / STUDIES[models]
    return {**about, **dict(zip(CLAIMS, shares, strict=True)), "studies": STUDIES[models]}


def measure_tests(models: int, datasets: int, noise: str) -> dict[str, object]:
    """Share of studies with a false claim of the tests over datasets, by what is claimed.

    Over all datasets the models are equal; on each, they differ by `noise`.
    """
    rng = make_stream(0, "claims", "tests", str(models), str(datasets), noise)
    false: Counter[str] = Counter()
    for _ in range(STUDIES[models]):
        shape = Shape(noise, datasets, rng)
        names = [f"m{number:03d}" for number in range(models)]
        runs = pd.concat(
            pd.DataFrame({"model": name, "dataset": DATASET_NAMES[:datasets], "score": scores})
            for name, scores in zip(names, (shape.draw(1)[:, 0] for _ in names), strict=True)
        )
        matrix = arrange_runs(runs)
        means = matrix.means.mean(axis=1)
        posteriors = compare_posteriors(
            matrix,
            rope=0.01,
            probability=LEVEL,
            n_samples=2000,
            make_rng=lambda size: make_stream(0, "claims", "posterior", str(size)),
        )
        pairs = compare_pairs(matrix, unit="runs_and_datasets", confidence_level=LEVEL)
        pairs = pairs.join(posteriors)
        reference = matrix.models[int(means.argmax())]
        claims = [
            *claim_pairs(pairs, alpha=1 - LEVEL),
            *claim_decisions(pairs, reference=reference, probability=LEVEL, alpha=1 - LEVEL),
            *claim_mean_ranks(tabulate_rank_tests(matrix), alpha=1 - LEVEL),
            *claim_nemenyi(compare_mean_ranks(matrix, alpha=1 - LEVEL), alpha=1 - LEVEL),
        ]
        false.update({claim.method for claim in claims if "equivalent" not in claim.relation})
    about = {"models": models, "datasets": datasets, "noise": noise}
    studies = STUDIES[models]
    return {**about, **{name: false[name] / studies for name in TESTS}, "studies": studies}


TESTS = [
    "Wilcoxon's signed-rank test",
    "Bayesian signed-rank test",
    "Friedman's test",
    "Nemenyi's test",
]
DATASET_NAMES = [f"d{number:03d}" for number in range(max(DATASETS))]
# Share of the variance of runs that is of seeds, and of cells that clusters of datasets have.
SHARED, ALIKE = (0.0, 0.05, 0.1, 0.3, 0.5), (0.5, 0.8)


def measure_dependent(
    models: int, *, shared: float = 0.0, cluster: int = 1, alike: float = 0.0, studies: int = 1000
) -> dict[str, object]:
    """Share of studies with a false claim over datasets, where runs have something in common.

    12 datasets and 3 seeds; with clusters, models differ by dataset four times as much as by run.
    """
    rng = make_stream(0, "claims", "dependent", str(models), str(shared), str(cluster), str(alike))
    false: Counter[str] = Counter()
    for _ in range(studies):
        scores = np.sqrt(1 - shared) * rng.standard_normal((models, 12, 3))
        scores += np.sqrt(shared) * rng.standard_normal((models, 1, 3))
        if cluster > 1:
            common = np.repeat(rng.standard_normal((models, 12 // cluster)), cluster, axis=1)
            own = rng.standard_normal((models, 12))
            scores += 4 * (np.sqrt(alike) * common + np.sqrt(1 - alike) * own)[..., None]
        runs = tabulate(scores)
        matrix = arrange_runs(runs, by_seed=True)
        known = measure_dependence(matrix)
        ranking = rank_runs(list(scores), "runs_and_datasets", "mean", known)
        allowance = measure_allowance(runs, known)
        pairs = compare_pairs(matrix, unit="runs", confidence_level=LEVEL, dependence=known)
        nemenyi = compare_mean_ranks(matrix, alpha=1 - LEVEL, allowance=allowance)
        found = {
            "ranking": len(set(ranking["tie_group"])) > 1,
            "Wilcoxon": bool(claim_pairs(pairs, alpha=1 - LEVEL)),
            "Friedman": bool(
                claim_mean_ranks(tabulate_rank_tests(matrix, allowance), alpha=1 - LEVEL)
            ),
            "Nemenyi": bool(claim_nemenyi(nemenyi, alpha=1 - LEVEL)),
        }
        false.update({name for name, is_false in found.items() if is_false})
    about = {"models": models, "shared": shared, "cluster": cluster, "alike": alike}
    shares = {name: false[name] / studies for name in found}
    return {**about, **shares, "studies": studies}


def measure_spaced(models: int, spacing: float, studies: int = 200) -> dict[str, object]:
    """How often sets hold the truth, and how wide they are, for models at even distances.

    Distances are in standard errors; 10 datasets and 5 seeds.
    """
    rng = make_stream(0, "claims", "spaced", str(models), str(spacing))
    held, width = np.zeros(4), np.zeros(2)
    middle = models // 2
    for _ in range(studies):
        shape = Shape("normal", 10, rng)
        # The standard error of an interquartile mean of 50 runs with half of them kept, about.
        step = spacing * 0.05 * np.sqrt(1 / 25)
        runs = [shape.draw(5) - place * step for place in range(models)]
        ranking = rank_runs(runs, "runs").sort_index()
        truth = np.arange(1, models + 1)
        own = (ranking["rank_low"] <= truth) & (truth <= ranking["rank_high"])
        every = (ranking["rank_low_all"] <= truth) & (truth <= ranking["rank_high_all"])
        ends = [own.iloc[0], own.iloc[middle], own.iloc[-1], every.all()]
        held += np.array(ends, dtype=np.float64)
        width += [
            (ranking["rank_high"] - ranking["rank_low"] + 1).mean(),
            (ranking["rank_high_all"] - ranking["rank_low_all"] + 1).mean(),
        ]
    names = ["best", "middle", "worst", "all", "width", "width of all"]
    values = np.concatenate([held, width]) / studies
    return {"models": models, "spacing": spacing, **dict(zip(names, values, strict=True))}


# Sizes of clusters of items in turn, shares of right answers, and runs of the studies of a block.
SIZES, SHARES, BLOCK = (3, 4, 5, 6, 7), (0.1, 0.3, 0.5, 0.7, 0.9), 2_000_000


def draw_items(
    rng: np.random.Generator, shares: np.ndarray, sizes: np.ndarray, alike: float, hard: float
) -> np.ndarray:
    """Right and wrong answers to items, of the shape (studies, models, items).

    ``shares`` has the chance of each study and model over all such items; answers of a model to a
    cluster have the correlation ``alike`` on the latent scale, and ``hard`` is the deviation of
    the difficulty that items have for all models.
    """
    studies, models = shares.shape
    level = scipy.special.ndtri(shares)[..., None] * np.sqrt(1 + hard**2)
    common = np.repeat(rng.standard_normal((studies, models, len(sizes))), sizes, axis=2)
    own = rng.standard_normal((studies, models, sizes.sum()))
    difficulty = hard * rng.standard_normal((studies, 1, sizes.sum()))
    latent = level + np.sqrt(alike) * common + np.sqrt(1 - alike) * own
    return np.asarray(latent > difficulty, dtype=np.float64)


def measure_items(
    models: int, items: int, alike: float, hard: float, studies: int = 1000
) -> dict[str, object]:
    """False claims and coverage where equal models answer items in clusters of unequal sizes."""
    rng = make_stream(0, "claims", "items", str(models), str(items), str(alike), str(hard))
    sizes = np.tile(SIZES, items // sum(SIZES))
    starts = np.cumsum(sizes) - sizes
    found = np.zeros(3)
    block = max(BLOCK // (models * items), 1)
    for start in range(0, studies, block):
        count = min(block, studies - start)
        shares = rng.choice(SHARES, count)
        answers = draw_items(rng, np.repeat(shares[:, None], models, axis=1), sizes, alike, hard)
        spread = spread_items(answers.reshape(-1, items), starts)
        parts = spread.parts.reshape(count, models, -1)
        means, freedom = answers.mean(axis=2), spread.freedom.reshape(count, models)
        flat = bound_flat(np.array([0.0, 1.0]), np.array([len(sizes)]))[0]
        for share, mean, part, known in zip(shares, means, parts, freedom, strict=True):
            variances = (part**2).sum(axis=1)
            variances = np.where(variances > 0, variances, flat)
            third = float((part[0] ** 3).sum())
            error = StandardError(float(np.sqrt(variances[0])), float(known[0]), third)
            low, high = bound_estimate(float(mean[0]), error, confidence_level=LEVEL)
            found[1] += low <= share <= high
            spread_of = float(np.sqrt(((part[0] - part[1]) ** 2).sum()))
            reach = scipy.special.stdtrit(known[0], (1 + LEVEL) / 2) * spread_of
            found[2] += abs(mean[0] - mean[1]) <= reach
            own = SamplingErrors(variances, np.full(models, np.inf), part, known)
            sets = find_rank_sets(mean, own, confidence_level=LEVEL)
            found[0] += bool(sets.separated is not None and sets.separated.any())
    about = {"models": models, "items": items, "alike": alike, "hard": hard}
    names = ["separated", "covered score", "covered difference"]
    return {**about, **dict(zip(names, found / studies, strict=True)), "studies": studies}


def measure_power(
    items: int, alike: float, size: int, shares: tuple[float, float], studies: int = 4000
) -> dict[str, object]:
    """How often two models are told apart, and by a t test that knows the true variance."""
    rng = make_stream(0, "claims", "power", str(items), str(alike), str(size))
    sizes = np.full(items // size, size)
    answers = draw_items(rng, np.tile(shares, (studies, 1)), sizes, alike, 1.0)
    spread = spread_items(answers[:, 0] - answers[:, 1], np.cumsum(sizes) - sizes)
    apart = (answers[:, 0] - answers[:, 1]).mean(axis=1)
    limit = scipy.special.stdtrit(spread.freedom, (1 + LEVEL) / 2)
    power = (np.abs(apart) > limit * np.sqrt((spread.parts**2).sum(axis=1))).mean()
    clusters = (answers[:, 0] - answers[:, 1]).reshape(studies, -1, size).mean(axis=2)
    oracle = np.asarray(scipy.stats.ttest_1samp(clusters, 0, axis=1).pvalue) < 1 - LEVEL
    known = np.asarray(np.abs(apart) > limit * apart.std())
    about = {"items": items, "alike": alike, "size": size, "power": power}
    return {**about, "paired t": oracle.mean(), "variance known": known.mean(), "studies": studies}


if __name__ == "__main__":
    cells = product((2, 5, 20), (50, 200, 1000), (0.0, 0.1, 0.5), (0.0, 1.0))
    of_items = [measure_items(*cell) for cell in cells]
    shares = {50: (0.5, 0.7), 200: (0.5, 0.6), 1000: (0.5, 0.55)}
    power = [
        measure_power(items, alike, size, shares[items])
        for items, alike, size in product(shares, (0.0, 0.1, 0.5), (1, 5))
    ]
    rows = [measure_equal(*setting) for setting in product(STUDIES, SEEDS, DATASETS, ["normal"])]
    rows += [
        measure_equal(n, *shape, noise)
        for n, shape, noise in product(STUDIES, [(3, 8), (5, 19)], ["exponential", "sd x 30"])
    ]
    rows += [
        measure_equal(models, 1, size, "normal") for models, size in product(STUDIES, DATASETS)
    ]
    spaced = [measure_spaced(*setting) for setting in product((5, 20, 50), SPACINGS)]
    tests = [
        measure_tests(models, *shape)
        for models, shape in product(STUDIES, [(8, "normal"), (19, "exponential")])
    ]
    shared = product((2, 5, 10), SHARED)
    dependent = [measure_dependent(models, shared=share) for models, share in shared]
    dependent += [
        measure_dependent(models, cluster=size, alike=share)
        for models, size, share in product((5, 10, 20), (2, 3), ALIKE)
    ]
    tables = {
        "claims_of_items": of_items,
        "power_of_items": power,
        "claims_dependent": dependent,
        "claims": rows,
        "rank_sets": spaced,
        "claims_of_tests": tests,
    }
    for name, table in ((name, pd.DataFrame(rows)) for name, rows in tables.items()):
        write_table(table, [RESULTS / f"{name}.csv"])
        sys.stdout.write(table.to_string(index=False))
