"""Multiple imputation of empty cells, from a Bayesian factorization of those with runs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from capmap.ranking.aggregation import FloatArray, unstack_cells
from capmap.ranking.holes import Effects, fit_effects, require_connected
from capmap.ranking.standard_errors import StandardError
from capmap.settings.choices import Incomplete

IMPUTATIONS = 50
BURN_IN, THINNING = 200, 10
MOST_FACTORS, CELLS_PER_COEFFICIENT = 8, 2
# Least variance of noise, where scores have variance 1: a dataset may be fitted exactly.
NEGLIGIBLE = 1e-8
# Prior scales of variances, in that of all cells: of levels, of slopes, of loadings and noise.
LEVELS, SLOPES, SMALL = 1.0, 0.1, 0.01
# Degrees of freedom of the noise of a dataset.
FREEDOM = 5.0


@dataclass(frozen=True)
class FactorDraws:
    """What is believed of the datasets, by which the scores of each model are imputed.

    Parameters
    ----------
    datasets : sequence of str
        By name.
    offsets, noise : numpy.ndarray, shape (imputations, datasets)
        Score of a model whose factors are 0, and variance of a cell, of each draw.
    loadings : numpy.ndarray, shape (imputations, datasets, factors)
        What each of a model's factors, the first of which is its level, adds to the score.
    precisions : numpy.ndarray, shape (imputations, factors)
        Of the factors of models, which are normal around 0.
    freedom : float
        Degrees of freedom of what is known of how models differ: one fewer than these are.
    """

    datasets: Sequence[str]
    offsets: FloatArray
    noise: FloatArray
    loadings: FloatArray
    precisions: FloatArray
    freedom: float

    def fill(self, means: Mapping[str, float]) -> dict[str, float]:
        """Expected scores of a model on the datasets that it lacks, by the means that it has."""
        return self._name(means, self._expect(means, None).mean(axis=0))

    def draw(self, means: Mapping[str, float], rng: np.random.Generator) -> dict[str, FloatArray]:
        """Imputed scores of a model, shape (imputations,), on each dataset that it lacks."""
        expected = self._expect(means, rng)
        rest = self._find_rest(means)
        errors = np.sqrt(self.noise[:, rest]) * rng.normal(size=expected.shape)
        return self._name(means, (expected + errors).T)

    def to_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        known = asdict(self)
        return {name: np.asarray(own).tolist() for name, own in known.items()}

    @classmethod
    def from_json(cls, known: Mapping[str, Any]) -> Self:
        """Read what `to_json` made."""
        arrays = {name: np.array(own) for name, own in known.items() if isinstance(own, list)}
        return cls(**{**known, **arrays, "datasets": known["datasets"]})

    def _find_rest(self, means: Mapping[str, float]) -> list[int]:
        return [place for place, name in enumerate(self.datasets) if name not in means]

    def _name(self, means: Mapping[str, float], values: Any) -> dict[str, Any]:
        names = (self.datasets[place] for place in self._find_rest(means))
        return dict(zip(names, values, strict=True))

    def _expect(self, means: Mapping[str, float], rng: np.random.Generator | None) -> FloatArray:
        """Scores on what it lacks but for noise, with factors drawn, or expected without `rng`."""
        own = [place for place, name in enumerate(self.datasets) if name in means]
        values = np.array([means[self.datasets[place]] for place in own])
        factors = draw_coefficients(
            self.loadings[:, own],
            values - self.offsets[:, own],
            1 / self.noise[:, own],
            self.precisions,
            rng,
        )
        rest = self._find_rest(means)
        added = np.einsum("mdk,mk->md", self.loadings[:, rest], factors)
        return np.asarray(self.offsets[:, rest] + added)


def draw_coefficients(
    design: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    precisions: FloatArray,
    rng: np.random.Generator | None,
) -> FloatArray:
    """Coefficients of many Bayesian linear regressions with normal priors around 0.

    Parameters
    ----------
    design : numpy.ndarray, shape (regressions, cells, coefficients)
        May be the same of all, with one regression.
    values, weights : numpy.ndarray, shape (regressions, cells)
        What is regressed, and its precisions, 0 where there is no value.
    precisions : numpy.ndarray, shape (regressions or 1, coefficients)
        Of the prior.
    rng : numpy.random.Generator or None
        Source of a draw of each; their means without.

    Returns
    -------
    numpy.ndarray, shape (regressions, coefficients)
    """
    transposed = design.swapaxes(1, 2)
    size = design.shape[2]
    if len(design) == 1:
        squares = (design[0, :, :, None] * design[0, :, None, :]).reshape(design.shape[1], -1)
        information = (weights @ squares).reshape(-1, size, size)
        sums = (weights * values) @ design[0]
    else:
        information = (transposed * weights[:, None, :]) @ design
        sums = (transposed @ (weights * values)[:, :, None])[:, :, 0]
    information = information + precisions[:, :, None] * np.eye(size)
    if rng is not None:
        root = np.linalg.cholesky(information)
        sums = sums + np.einsum("mij,mj->mi", root, rng.normal(size=sums.shape))
    return np.asarray(np.linalg.solve(information, sums[:, :, None])[:, :, 0])


def fit_factor_draws(cells: pd.DataFrame, *, rng: np.random.Generator) -> FactorDraws | None:
    """Draw from the posterior of a factorization of cells, by Gibbs sampling.

    Parameters
    ----------
    cells : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``mean``, a row per cell with runs.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    FactorDraws or None
        50 draws, every tenth after 200 that are dropped; None where no cell is empty.

    Raises
    ------
    ValidationError
        If the models fall into groups without a common dataset, which nothing compares.

    Notes
    -----
    The mean of model m on dataset d is normal around

        o_d + a_m (1 + s_d) + u_m · v_d

    with a level a of each model, its slope 1 + s on each dataset, and up to seven factors u · v:
    one for every two cells per coefficient of models and datasets. Variances have inverse-gamma
    priors of shape 1, small ones for loadings, so that factors without use vanish. The noise of a
    dataset has a scaled inverse χ² prior with 5 degrees of freedom around that of all. Cells count
    as known: the noise is that of cells, their seeds' included.

    Cells are missing at random in the sense of Rubin (1976): an empty cell is like one with runs
    of which the same is known.

    References
    ----------
    Salakhutdinov, R. and Mnih, A. (2008). Bayesian probabilistic matrix factorization using Markov
    chain Monte Carlo. ICML 25.
    Rubin, D. B. (1976). Inference and missing data. Biometrika 63, 581–592.
    """
    table = unstack_cells(cells).set_index("model")
    matrix = table.to_numpy(dtype=np.float64)
    known = ~np.isnan(matrix)
    if known.all():
        return None
    require_connected(cells, policy="impute")
    center, spread = matrix[known].mean(), max(matrix[known].std(), NEGLIGIBLE)
    chain = _Chain(np.where(known, (matrix - center) / spread, 0), known.astype(np.float64), rng)
    for _ in range(BURN_IN):
        chain.sweep()
    draws = []
    for number in range(1, THINNING * IMPUTATIONS + 1):
        chain.sweep()
        if number % THINNING == 0:
            draws.append((chain.coefficients, chain.noise, chain.precisions))
    coefficients, noise, precisions = map(np.array, zip(*draws, strict=True))
    return FactorDraws(
        table.columns.tolist(),
        center + spread * coefficients[:, :, 0],
        spread**2 * noise,
        spread * coefficients[:, :, 1:],
        precisions,
        len(matrix) - 1.0,
    )


def fit_policy(
    cells: pd.DataFrame, policy: Incomplete, *, rng: np.random.Generator
) -> Effects | FactorDraws | None:
    """What the policy for empty cells fits to the cells, as `fit_effects` or `fit_factor_draws`."""
    if policy == "impute":
        return fit_factor_draws(cells, rng=rng)
    return fit_effects(cells) if policy == "adjust" else None


class _Chain:
    """The state of the sampler; scores have mean 0 and variance 1."""

    def __init__(self, values: FloatArray, known: FloatArray, rng: np.random.Generator) -> None:
        self.values, self.known, self.rng = values, known, rng
        n_models, n_datasets = values.shape
        coefficients = CELLS_PER_COEFFICIENT * (n_models + n_datasets)
        size = 1 + int(np.clip(known.sum() // coefficients, 1, MOST_FACTORS))
        # Offsets, slopes around 1, and loadings.
        self.expected = np.zeros(1 + size)
        self.expected[1] = 1
        self.scales = np.array([LEVELS, SLOPES] + [SMALL] * (size - 1))
        self.variances = self.scales
        starts = np.sqrt(self.scales) * rng.normal(size=(n_datasets, 1 + size))
        starts[:, 0] = values.sum(axis=0) / known.sum(axis=0)
        starts[:, 1] = 0
        self.coefficients = self.expected + starts
        self.precisions = np.ones(size)
        self.noise = np.full(n_datasets, SLOPES)
        self.total = SLOPES

    def sweep(self) -> None:
        """Draw everything once, each from what is believed of it if all else is known."""
        rng, known, values = self.rng, self.known, self.values
        offsets, loadings = self.coefficients[:, 0], self.coefficients[:, 1:]
        factors = draw_coefficients(
            loadings[None], values - offsets, known / self.noise, self.precisions[None], rng
        )
        self.precisions = self.precisions.copy()
        level = LEVELS * SLOPES + (factors[:, 0] ** 2).sum() / 2
        self.precisions[0] = rng.gamma(1 + len(factors) / 2) / level
        design = np.concatenate([np.ones((len(factors), 1)), factors], axis=1)
        apart = draw_coefficients(
            design[None],
            (values - design @ self.expected[:, None]).T,
            (known / self.noise).T,
            1 / self.variances[None],
            rng,
        )
        self.coefficients = self.expected + apart
        squares = self.scales + (apart**2).sum(axis=0) / 2
        self.variances = squares / rng.gamma(1 + len(apart) / 2, size=len(squares))
        errors = (known * (values - design @ self.coefficients.T)) ** 2
        counts = known.sum(axis=0)
        sums = FREEDOM * self.total + errors.sum(axis=0)
        self.noise = np.maximum(sums / 2 / rng.gamma((FREEDOM + counts) / 2), NEGLIGIBLE)
        rate = 1 + FREEDOM * (1 / self.noise).sum() / 2
        self.total = max(rng.gamma(1 + FREEDOM * len(apart) / 2) / rate, NEGLIGIBLE)


def combine_imputations(
    estimates: FloatArray, errors: Sequence[StandardError], *, freedom: float, over_datasets: bool
) -> StandardError:
    """Standard error of a mean over imputations, by the rules of Rubin.

    Parameters
    ----------
    estimates : numpy.ndarray, shape (imputations,)
        A statistic of each completed sample.
    errors : sequence of StandardError
        As if the imputed scores were known.
    freedom : float
        Degrees of freedom of the data that the imputations come from.
    over_datasets : bool
        Whether these are over datasets, the imputed ones as well, or over the model's own runs.

    Returns
    -------
    StandardError
        The variance is that within imputations plus 1 + 1 / M of that between M of them.
        ``imputed`` has a part per imputation; models whose imputations come from the same draws
        have these parts in common.

    Notes
    -----
    The degrees of freedom over datasets are those of Barnard and Rubin (1999). Over runs, imputed
    scores have no part in the variance within, whose degrees of freedom are not fewer for them; so
    Satterthwaite's approximation to the sum of both takes their place (Lipsitz et al. 2002). Those
    of the variance between are fewer than M − 1 and than those of the data, as the inverse of
    theirs is the sum of both inverses.

    References
    ----------
    Rubin, D. B. (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.
    Barnard, J. and Rubin, D. B. (1999). Small-sample degrees of freedom with multiple imputation.
    Biometrika 86, 948–955.
    Lipsitz, S., Parzen, M. and Zhao, L. P. (2002). A degrees-of-freedom approximation in multiple
    imputation. Journal of Statistical Computation and Simulation 72, 309–318.
    """
    count = len(estimates)
    within = float(np.mean([error.value**2 for error in errors]))
    own = float(np.mean([error.freedom for error in errors]))
    others = 1 / (1 / (count - 1) + 1 / freedom)
    imputed = np.sqrt((1 + 1 / count) / (count - 1)) * (estimates - estimates.mean())
    between = float((imputed**2).sum())
    total = within + between
    if over_datasets:
        missing = between / total if total else 0.0
        observed = (own + 1) / (own + 3) * own * (1 - missing) if missing else own
        found = 1 / (missing**2 / others + (1 / observed if observed else 0))
    else:
        spread = within**2 / own + between**2 / others
        found = total**2 / spread if spread else own
    shared = [error.parts for error in errors if error.parts is not None]
    return replace(
        errors[0],
        value=float(np.sqrt(total)),
        freedom=found,
        third=float(np.mean([error.third for error in errors])),
        parts=np.mean(shared, axis=0) if shared else None,
        imputed=imputed,
    )
