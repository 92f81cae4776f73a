"""How many runs are enough: differences that so many runs detect."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.analyses import Analysis, Step, Table
from capmap.ranking import choose
from capmap.ranking.aggregation import FloatArray, IntArray, bound_variance
from capmap.ranking.resampling import stratify_runs
from capmap.ranking.standard_errors import measure_influences, satterthwaite_freedom
from capmap.settings.choices import Cut

SEEDS = (3, 5, 10, 20)
# Spreads below this part of the largest score are floating-point noise.
QUIET = 1e-12
# Share of studies that are to find a difference that there is.
POWER = 0.8
DETECTABLE = ["seeds", "difference", "difference_all"]


@dataclass(frozen=True)
class Noise:
    """How the spread of runs blurs the interquartile mean of a model, by dataset.

    A dataset with n runs adds the n-th part of ``variances`` to the variance of the mean, with
    degrees of freedom of which each run loses a share of ``lost`` at the quartiles.
    """

    draws: IntArray
    variances: FloatArray
    lost: FloatArray

    def find_freedom(self, draws: IntArray) -> float:
        """Degrees of freedom of the variance with other numbers of runs.

        Single runs borrow their variance from the others.
        """
        many, variances = draws > 1, self.variances / draws
        noise = (self.variances * (draws - 1))[many]
        borrowed = noise * (variances[~many].sum() / (noise.sum() or 1))
        freedom = np.maximum(draws * (1 - self.lost) - 1, 1)[many]
        return satterthwaite_freedom(variances[many] + borrowed, freedom)


def measure_noise(runs: pd.DataFrame, cut: Cut = "exact") -> dict[str, Noise]:
    """Measure how sure the interquartile mean of each model is, by the influences of its runs.

    A single run has the pooled variance of the model's other cells, or that of the study; NaN where
    no cell of the study has two runs.
    """
    cells = runs.groupby(["model", "dataset"], observed=True)["score"]
    squares = ((runs["score"] - cells.transform("mean")) ** 2).groupby(runs["model"], observed=True)
    freedom = (cells.size() - 1).groupby("model", observed=True).sum()
    every = squares.sum().sum() / freedom.sum() if freedom.any() else np.nan
    pooled = (squares.sum() / freedom.where(freedom > 0)).fillna(every)
    units = dict(zip(runs["dataset"], runs["resolution"], strict=True))
    least = (QUIET * float(runs["score"].abs().max())) ** 2
    found = {}
    for model, own in runs.groupby("model", sort=True, observed=True):
        names = own["dataset"].tolist()
        strata = stratify_runs(own["score"], names, resolutions=units, cut=cut)
        draws, owner = strata.draws, strata.datasets
        influences = measure_influences("iqm", strata)
        spread = _sum_squares(influences.values, owner) / np.maximum(draws - 1, 1)
        slopes = np.bincount(owner, influences.slopes**2)
        variances = np.where(draws > 1, spread, slopes / draws * pooled[model]) * draws**2
        variances = np.where(variances <= least, 0, variances)
        means = np.bincount(owner, strata.scores) / draws
        rounding = slopes * draws * bound_variance(means, draws, strata.resolutions)
        found[str(model)] = Noise(draws, np.maximum(variances, rounding), influences.lost / draws)
    return found


def _sum_squares(values: FloatArray, owner: IntArray) -> FloatArray:
    """Sum of squares about the mean of each dataset."""
    means = np.bincount(owner, values) / np.bincount(owner)
    return np.bincount(owner, (values - means[owner]) ** 2).astype(np.float64)


def find_detectable(noise: dict[str, Noise], *, confidence_level: float) -> pd.DataFrame:
    """Find which differences of two typical models a t test would detect in 80% of studies.

    The sum of the quantiles of Student's t at 1 - alpha / 2 and at the power (Bloom 1995), times
    the standard error of a difference; variance and degrees of freedom are the medians of the
    models' ones. As the runs there are may show too small a variance, its upper limit is taken,
    with the power as its one-sided level (Browne 1995): with 4 datasets and 3 runs, 54 to 63% of
    studies found what 80% were to find without this. ``difference_all`` allows for all pairs.
    """
    per_run = float(np.median([own.variances.sum() for own in noise.values()]))
    if len(noise) < 2 or not per_run > 0:
        return pd.DataFrame(columns=DETECTABLE)
    repeated = [own for own in noise.values() if (own.draws > 1).any()]
    now = 2 * float(np.median([own.find_freedom(own.draws) for own in repeated]))
    per_run *= now / float(scipy.special.chdtri(now, POWER))
    rows = []
    for seeds in SEEDS:
        every = [own.find_freedom(np.full_like(own.draws, seeds)) for own in noise.values()]
        tests = np.array([1, len(noise) * (len(noise) - 1) // 2])
        freedom, tail = 2 * float(np.median(every)), (1 - confidence_level) / (2 * tests)
        reach = scipy.special.stdtrit(freedom, 1 - tail) + scipy.special.stdtrit(freedom, POWER)
        rows.append((seeds, *(reach * np.sqrt(2 * per_run / seeds))))
    return pd.DataFrame(rows, columns=DETECTABLE)


def advise_sample_size(runs: pd.DataFrame, *, confidence_level: float, cut: Cut) -> pd.DataFrame:
    """Find the differences that are detected with more runs."""
    return find_detectable(measure_noise(runs, cut), confidence_level=confidence_level)


def find_facts(detectable: pd.DataFrame, ranking: pd.DataFrame) -> dict[str, Any]:
    """How many runs tell the first two models apart, and which difference so many detect."""
    ranked = choose(ranking, statistic="iqm").dropna(subset="rank")
    first = ranked[["model", "score"]].to_numpy().tolist()[:2] if len(ranked) > 1 else []
    apart = first[0][1] - first[1][1] if first else 0.0
    enough = detectable.loc[detectable["difference_all"] <= apart, "seeds"]
    return {
        "first": first if apart > 0 else [],
        "enough": int(enough.min()) if len(enough) else 0,
        "detectable": detectable[DETECTABLE].to_numpy().tolist(),
        "power": POWER,
        "unit": next(iter(ranking["unit"]), "runs"),
    }


ANALYSIS = Analysis(
    question="How many runs are needed?",
    position=120,
    default=True,
    tables={
        "detectable": Table(
            "Minimum detectable difference in IQM of two typical models by runs per dataset.",
            " ".join(DETECTABLE),
        ),
    },
    steps={"advise_sample_size": Step(advise_sample_size)},
    find_facts=find_facts,
    meanings={
        "difference_all": "Minimum detectable difference, allowing for all pairs.",
        "detectable.difference": "Minimum detectable difference of two models.",
    },
)
