"""Bayesian factorization of gaps with random effects of models, datasets and their attributes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from capmap.capabilities.baselines import fit_additive
from capmap.capabilities.gaps import Results
from capmap.ranking.aggregation import FloatArray, IntArray

BURN_IN, DRAWS = 50, 100
MOST_FACTORS = 12
# Prior scale of effects, in gaps; degrees of freedom of the noise of a dataset.
SCALE, FREEDOM = 0.1, 5.0
START_NOISE = 0.03


class SideInformation(NamedTuple):
    """What is known of models and datasets, besides their results.

    Parameters
    ----------
    models, datasets : sequence of ndarray of int
        Each attribute as a number from 0 per model or per dataset; may be empty.
    covariates : ndarray, shape (models, covariates)
        Numbers of models, standardized; 0 where one is missing.
    """

    models: Sequence[IntArray]
    datasets: Sequence[IntArray]
    covariates: FloatArray


class Moments(NamedTuple):
    """Mean and variance of the results that a model would have, shape (pairs,) each."""

    mean: FloatArray
    variance: FloatArray


def gather_attributes(
    results: Results, models: pd.DataFrame | None = None, datasets: pd.DataFrame | None = None
) -> SideInformation:
    """Gather the attributes of the models and datasets of some results.

    Parameters
    ----------
    results : Results
        For its names.
    models : pandas.DataFrame, optional
        Column ``model``, and any of ``architecture``, ``parameters`` and ``date``.
    datasets : pandas.DataFrame, optional
        Column ``dataset``, and any of ``family`` and ``type``.

    Returns
    -------
    SideInformation
        An attribute that is missing is one of the model's or dataset's own, and one that no two
        share is left out. Parameters count as logarithms.
    """
    covariates: list[FloatArray] = []
    if models is not None:
        table = models.set_index("model").reindex(results.models)
        if "parameters" in table:
            numbers = table["parameters"].to_numpy(dtype=float)
            known = np.where(numbers > 0, numbers, np.nan)
            covariates.append(np.log(known))
        if "date" in table:
            dates = pd.to_datetime(table["date"])
            days = (dates - dates.min()) / pd.Timedelta(days=1)
            covariates.append(np.asarray(days, dtype=float))
    columns = [_standardize(column) for column in covariates]
    return SideInformation(
        models=_number(models, "model", results.models, ["architecture"]),
        datasets=_number(datasets, "dataset", results.datasets, ["family", "type"]),
        covariates=np.stack(columns, axis=1) if columns else np.zeros((len(results.models), 0)),
    )


def _number(
    table: pd.DataFrame | None, key: str, names: list[str], columns: Iterable[str]
) -> list[IntArray]:
    if table is None:
        return []
    found = []
    table = table.set_index(key).reindex(names)
    for column in columns:
        if column in table:
            known = table[column].astype("str").where(table[column].notna())
            codes = pd.factorize(known, sort=True)[0]
            codes = np.where(codes < 0, codes.max(initial=-1) + np.cumsum(codes < 0), codes)
            if 1 < codes.max(initial=0) + 1 < len(names):
                found.append(np.asarray(codes))
    return found


def _standardize(values: FloatArray) -> FloatArray:
    known = values[~np.isnan(values)]
    if len(known) < 2 or np.ptp(known) == 0:
        return np.zeros(len(values))
    return np.asarray(np.nan_to_num((values - known.mean()) / known.std()))


@dataclass(frozen=True)
class Posterior:
    """Draws from what is believed of gaps.

    Parameters
    ----------
    levels, noise, model_effects, dataset_effects, slopes, loadings, factors : ndarray
        Of each draw, the first axis: mean gap; variance of a result, by dataset; effects of models
        and datasets; how much of a model's effect a dataset adds to it; and what a dataset and a
        model have in common, one column per covariate and per factor.
    effects : sequence of (ndarray, ndarray)
        Groups of pairs, and of each draw the effect of each and 0 for all other groups.
    groupings : sequence of (ndarray, ndarray)
        The attributes of models and datasets whose pairs have these effects.
    """

    levels: FloatArray
    noise: FloatArray
    model_effects: FloatArray
    dataset_effects: FloatArray
    slopes: FloatArray
    loadings: FloatArray
    factors: FloatArray
    effects: Sequence[tuple[IntArray, FloatArray]]
    groupings: Sequence[tuple[IntArray, IntArray]]

    def predict(self, rows: IntArray, columns: IntArray) -> Moments:
        """Predict results of some pairs of model and dataset, by their places."""
        groups = [
            _find(known, _pair(*grouping, rows, columns))
            for (known, _), grouping in zip(self.effects, self.groupings, strict=True)
        ]
        total, squares = np.zeros((2, len(rows)))
        for draw, level in enumerate(self.levels):
            found = level + self.dataset_effects[draw, columns]
            found += self.model_effects[draw, rows] * (1 + self.slopes[draw, columns])
            found += np.einsum("nk,nk->n", self.factors[draw, rows], self.loadings[draw, columns])
            for (_, values), group in zip(self.effects, groups, strict=True):
                found += values[draw, group]
            total += found
            squares += found**2 + self.noise[draw, columns]
        mean = total / len(self.levels)
        return Moments(mean, squares / len(self.levels) - mean**2)


def fit_factors(
    parts: Sequence[Results], attributes: SideInformation, *, rng: np.random.Generator
) -> list[Posterior]:
    """Draw from the posterior of the gaps of models on datasets, by Gibbs sampling.

    Parameters
    ----------
    parts : sequence of Results
        Results of the same models and datasets, at least one in each part; each part is fitted
        alone, but all in one sweep, which takes less time, with as many factors and effects as
        the smallest part supports.
    attributes : SideInformation
        Of the models and datasets; may be empty.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    list of Posterior
        Of each part, with 100 draws after 50 that are dropped.

    Notes
    -----
    The gap of model m on dataset d is normal around

        μ + a_m (1 + δ_d) + c_d + x_m · β_d + u_m · v_d + Σ_g e_{g(m, d)}

    with covariates x, at most 12 factors u · v (about 1 + results / (models + datasets)), and an
    effect e of every attribute of models, of datasets, and of every pair of the two (also of a
    model with an attribute, and of an attribute with a dataset), left out where hardly any pair
    shares one. That is a Gaussian process with one variance component per term, and a factorization
    whose columns have variances of their own, so that those without use vanish.
    The noise of a dataset has a scaled inverse χ² prior with 5 degrees of freedom around that of
    all. Variances have inverse-gamma priors, with shape 1 and scale 0.01 for effects.

    A sweep takes time in proportion to results × factors².

    References
    ----------
    Salakhutdinov and Mnih (2008), Bayesian probabilistic matrix factorization using Markov chain
    Monte Carlo, ICML. Searle, Casella and McCulloch (1992), Variance components, chapter 9.
    """
    sampler = _Sampler(parts, attributes, rng)
    for _ in range(BURN_IN):
        sampler.sweep()
    return sampler.collect([sampler.sweep() for _ in range(DRAWS)])


class _Draw(NamedTuple):
    levels: FloatArray
    noise: FloatArray
    models: FloatArray
    datasets: FloatArray
    effects: list[FloatArray]


class _Effect:
    """Effects of the groups of one grouping, of all parts at once."""

    def __init__(self, own: IntArray, groups: IntArray, parts: int) -> None:
        count = int(groups.max(initial=0)) + 1
        self.known, self.places = np.unique(own * count + groups, return_inverse=True)
        self.own, self.groups = np.divmod(self.known, count)
        self.sizes = np.bincount(self.own, minlength=parts)
        self.drawn = np.zeros(len(self.known))
        self.variances = np.full(parts, SCALE**2)

    def update(
        self, errors: FloatArray, weights: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw effects and their variance; returns the errors that are left."""
        errors = errors + self.drawn[self.places]
        precision = np.bincount(self.places, weights) + 1 / self.variances[self.own]
        mean = np.bincount(self.places, weights * errors) / precision
        self.drawn = mean + rng.normal(size=len(mean)) / np.sqrt(precision)
        squares = np.bincount(self.own, self.drawn**2, minlength=len(self.sizes))
        self.variances = (SCALE**2 + squares / 2) / rng.gamma(1 + self.sizes / 2)
        return np.asarray(errors - self.drawn[self.places])


class _Side:
    """Coefficients of all models, or of all datasets, of all parts at once."""

    def __init__(self, places: IntArray, others: IntArray, shape: tuple[int, int, int]) -> None:
        self.parts, count, partners = shape
        self.order = np.lexsort((others, places))
        rows, columns = places[self.order], others[self.order]
        ends = np.searchsorted(rows, np.arange(self.parts * count + 1))
        self.sums = csr_array(
            (np.ones(len(rows)), columns, ends), shape=(self.parts * count, self.parts * partners)
        )

    def draw(
        self,
        design: FloatArray,
        errors: FloatArray,
        weights: FloatArray,
        precisions: FloatArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Draw the coefficients of a regression of each on the designs of its partners."""
        size = design.shape[1]
        self.sums.data = weights[self.order]
        squares = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
        information = np.asarray(self.sums @ squares).reshape(self.parts, -1, size, size)
        information = information + precisions[:, None, :, None] * np.eye(size)
        self.sums.data = (weights * errors)[self.order]
        sums = np.asarray(self.sums @ design).reshape(self.parts, -1, size)
        root = np.linalg.cholesky(information)
        drawn = np.einsum("pmij,pmj->pmi", root, rng.normal(size=sums.shape))
        return np.asarray(np.linalg.solve(information, (sums + drawn)[..., None])[..., 0])


class _Sampler:
    """The state of a Gibbs sampler of several parts."""

    def __init__(
        self, parts: Sequence[Results], attributes: SideInformation, rng: np.random.Generator
    ) -> None:
        self.rng, self.attributes = rng, attributes
        self.shape = len(parts), len(parts[0].models), len(parts[0].datasets)
        count, models, datasets = self.shape
        self.sizes = np.array([len(part.gaps) for part in parts])
        self.own = np.repeat(np.arange(count), self.sizes)
        rows = np.concatenate([part.rows for part in parts])
        columns = np.concatenate([part.columns for part in parts])
        self.gaps = np.concatenate([part.gaps for part in parts])
        self.rows, self.columns = self.own * models + rows, self.own * datasets + columns
        self.groupings, self.effects = [], []
        for grouping in list_groupings(attributes, models, datasets):
            effect = _Effect(self.own, _pair(*grouping, rows, columns), count)
            if len(effect.known) < 0.9 * len(rows):
                self.groupings.append(grouping)
                self.effects.append(effect)
        self.model_side = _Side(self.rows, self.columns, (count, models, datasets))
        self.dataset_side = _Side(self.columns, self.rows, (count, datasets, models))
        self._start(parts)

    def _start(self, parts: Sequence[Results]) -> None:
        count, models, datasets = self.shape
        factors = int(np.clip(1 + self.sizes.min() // (models + datasets), 1, MOST_FACTORS))
        self.known = np.tile(self.attributes.covariates, (count, 1))
        covariates = self.known.shape[1]
        self.scales = (
            np.array([SCALE**2] + [SCALE] * factors),
            np.array([SCALE**2, SCALE] + [SCALE**2] * covariates + [SCALE] * factors),
        )
        self.precisions = [np.tile(1 / scales, (count, 1)) for scales in self.scales]
        starts = [fit_additive(part) for part in parts]
        self.levels = np.array([start.level for start in starts])
        self.models, self.datasets = (
            np.sqrt(scales) * self.rng.normal(size=(count, size, len(scales)))
            for scales, size in zip(self.scales, (models, datasets), strict=True)
        )
        self.models[:, :, 0] = [start.models for start in starts]
        self.datasets[:, :, 0] = [start.datasets for start in starts]
        self.datasets[:, :, 1 : 2 + covariates] = 0
        self.variances = np.full(count, START_NOISE)
        self.weights = np.ones(count * datasets)
        self.errors = self.gaps - self.levels[self.own] - self._join(*self._flatten())

    def _flatten(self) -> tuple[FloatArray, FloatArray]:
        return tuple(side.reshape(-1, side.shape[2]) for side in (self.models, self.datasets))

    def _join(self, models: FloatArray, datasets: FloatArray) -> FloatArray:
        """What models, datasets, covariates and factors add to the results."""
        factors = np.concatenate(
            [1 + 0 * models[:, :1], models[:, :1], self.known, models[:, 1:]], 1
        )
        own = models[self.rows, 0]
        return np.asarray(own + np.einsum("nk,nk->n", factors[self.rows], datasets[self.columns]))

    def sweep(self) -> _Draw:
        """Draw everything once, each from what is believed of it if all else is known."""
        weights = self.weights[self.columns] / self.variances[self.own]
        self._draw_levels(weights)
        for effect in self.effects:
            self.errors = effect.update(self.errors, weights, self.rng)
        self._draw_sides(weights)
        self._draw_noise()
        noise = self.variances[:, None] / self.weights.reshape(self.shape[0], -1)
        values = [effect.drawn for effect in self.effects]

        # Draws take most of the memory, and none needs all digits.
        def shorten(values: FloatArray) -> FloatArray:
            return values.astype(np.float32)

        return _Draw(
            self.levels.copy(),
            shorten(noise),
            shorten(self.models),
            shorten(self.datasets),
            list(map(shorten, values)),
        )

    def _draw_levels(self, weights: FloatArray) -> None:
        count = self.shape[0]
        precision = np.bincount(self.own, weights, minlength=count)
        errors = self.errors + self.levels[self.own]
        self.levels = np.bincount(self.own, weights * errors, minlength=count) / precision
        self.levels += self.rng.normal(size=count) / np.sqrt(precision)
        self.errors = errors - self.levels[self.own]

    def _draw_sides(self, weights: FloatArray) -> None:
        models, datasets = self._flatten()
        covariates = self.known.shape[1]
        targets = self.errors + self._join(models, datasets)
        given = datasets[self.columns, 0]
        by_covariates = datasets[:, 2 : 2 + covariates][self.columns]
        given += np.einsum("nk,nk->n", self.known[self.rows], by_covariates)
        design = np.concatenate([1 + datasets[:, 1:2], datasets[:, 2 + covariates :]], axis=1)
        self.models = self.model_side.draw(
            design, targets - given, weights, self.precisions[0], self.rng
        )
        models = self._flatten()[0]
        design = np.concatenate(
            [1 + 0 * models[:, :1], models[:, :1], self.known, models[:, 1:]], 1
        )
        self.datasets = self.dataset_side.draw(
            design, targets - models[self.rows, 0], weights, self.precisions[1], self.rng
        )
        self.errors = targets - self._join(*self._flatten())
        self.precisions = [
            self.rng.gamma(1 + side.shape[1] / 2, size=(len(side), len(scales)))
            / (scales + (side**2).sum(axis=1) / 2)
            for side, scales in zip((self.models, self.datasets), self.scales, strict=True)
        ]

    def _draw_noise(self) -> None:
        count, _, datasets = self.shape
        squares = self.errors**2
        relative = squares / self.variances[self.own]
        sums = np.bincount(self.columns, relative, minlength=count * datasets)
        counts = np.bincount(self.columns, minlength=count * datasets)
        self.weights = self.rng.gamma((FREEDOM + counts) / 2) / ((FREEDOM + sums) / 2)
        total = np.bincount(self.own, self.weights[self.columns] * squares, minlength=count)
        self.variances = (SCALE**2 + total / 2) / self.rng.gamma(1 + self.sizes / 2)

    def collect(self, draws: Sequence[_Draw]) -> list[Posterior]:
        """The posterior of each part."""
        covariates = self.known.shape[1]
        found = []
        for part in range(self.shape[0]):
            models = np.stack([draw.models[part] for draw in draws])
            datasets = np.stack([draw.datasets[part] for draw in draws])
            known = np.broadcast_to(self.attributes.covariates, (*models.shape[:2], covariates))
            effects = []
            for place, effect in enumerate(self.effects):
                chosen = effect.own == part
                values = np.stack([draw.effects[place][chosen] for draw in draws])
                effects.append((effect.groups[chosen], np.pad(values, ((0, 0), (0, 1)))))
            found.append(
                Posterior(
                    levels=np.array([draw.levels[part] for draw in draws]),
                    noise=np.stack([draw.noise[part] for draw in draws]),
                    model_effects=models[:, :, 0],
                    dataset_effects=datasets[:, :, 0],
                    slopes=datasets[:, :, 1],
                    loadings=datasets[:, :, 2:],
                    factors=np.concatenate([known, models[:, :, 1:]], axis=2),
                    effects=effects,
                    groupings=self.groupings,
                )
            )
        return found


def list_groupings(
    attributes: SideInformation, models: int, datasets: int
) -> list[tuple[IntArray, IntArray]]:
    """Attributes whose pairs share an effect, first those of models or of datasets alone."""
    no_model, no_dataset = np.zeros(models, dtype=np.intp), np.zeros(datasets, dtype=np.intp)
    each_model, each_dataset = np.arange(models), np.arange(datasets)
    return [
        *((own, no_dataset) for own in attributes.models),
        *((no_model, own) for own in attributes.datasets),
        *((each_model, own) for own in attributes.datasets),
        *((own, each_dataset) for own in attributes.models),
        *((own, other) for own in attributes.models for other in attributes.datasets),
    ]


def _pair(
    of_models: IntArray, of_datasets: IntArray, rows: IntArray, columns: IntArray
) -> IntArray:
    return np.asarray(of_models[rows] * (of_datasets.max(initial=0) + 1) + of_datasets[columns])


def _find(known: IntArray, groups: IntArray) -> IntArray:
    """Places among known groups, in order; the number of these for a group that is not there."""
    places = np.searchsorted(known, groups)
    is_known = np.append(known, -1)[places] == groups
    return np.where(is_known, places, len(known))
