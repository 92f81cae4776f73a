"""Bayesian factorization of gaps with random effects of models, datasets and their attributes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import gammaincinv, ndtri

from capmap.capabilities.gaps import Results, are_connected
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import KeyArray, combine_keys, draw_uniforms, hash_names

FIT_SWEEPS = 200
TOLERANCE = 1e-12
# Sweeps that are dropped, and those that follow, of which every fifth one is used.
BURN_IN, SWEEPS, THINNING = 10, 110, 5
# Most chains, and how many results all chains of a part may have together.
CHAINS, WORK = 8, 20_000
MOST_FACTORS = 12
# Prior scale of effects, in gaps; degrees of freedom of the noise of a dataset.
SCALE, FREEDOM = 0.1, 5.0
START_NOISE = 0.03
# Pairs are multiplied all at once where at least one in so many is asked for.
DENSE = 4


class Additive(NamedTuple):
    """A level, and what each model and each dataset adds to it."""

    level: float
    models: FloatArray
    datasets: FloatArray

    def predict(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Predict the gaps of some pairs of model and dataset, by their places."""
        return np.asarray(self.level + self.models[rows] + self.datasets[columns])


def fit_additive(results: Results, *, penalty: float = 2.0) -> Additive:
    """Fit the effects of models and of datasets together, by backfitting.

    The minimum of Σ (prediction − gap)² + penalty · Σ effect²: an effect of few results is drawn
    towards 0.
    """
    level = float(results.gaps.mean())
    rows, columns, gaps = results.rows, results.columns, results.gaps - level
    models, datasets = np.zeros(len(results.models)), np.zeros(len(results.datasets))
    for _ in range(FIT_SWEEPS):
        before = datasets
        datasets = _average(gaps - models[rows], columns, len(datasets), penalty=penalty)
        models = _average(gaps - datasets[columns], rows, len(models), penalty=penalty)
        if np.abs(datasets - before).max() < TOLERANCE:
            break
    return Additive(level, models, datasets)


def average_datasets(results: Results, columns: IntArray) -> FloatArray:
    """The mean gap of some datasets; the mean of all for one without results."""
    level = float(results.gaps.mean())
    means = _average(results.gaps - level, results.columns, len(results.datasets), penalty=0)
    return np.asarray(level + means[columns])


def _average(values: FloatArray, places: IntArray, count: int, *, penalty: float) -> FloatArray:
    sums = np.bincount(places, values, minlength=count)
    weights = np.bincount(places, minlength=count) + penalty
    return np.asarray(sums / np.where(weights > 0, weights, 1))


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
    results: Results, models: pd.DataFrame, datasets: pd.DataFrame
) -> SideInformation:
    """Gather the attributes of the models and datasets of some results, by their names.

    An attribute that is missing is one of the model's or dataset's own, and one that no two share
    is left out. Parameters count as logarithms.
    """
    table = models.set_index("model").reindex(results.models, columns=["parameters", "date"])
    numbers, dates = table["parameters"].to_numpy(dtype=float), pd.to_datetime(table["date"])
    days = np.asarray((dates - dates.min()) / pd.Timedelta(days=1), dtype=float)
    sizes = np.log(np.where(numbers > 0, numbers, np.nan))
    return SideInformation(
        models=_number(models, "model", results.models, ["architecture"]),
        datasets=_number(datasets, "dataset", results.datasets, ["family", "type"]),
        covariates=np.stack([_standardize(sizes), _standardize(days)], axis=1),
    )


def _number(table: pd.DataFrame, key: str, names: list[str], columns: list[str]) -> list[IntArray]:
    found = []
    for _, column in table.set_index(key).reindex(names, columns=columns).items():
        codes = pd.factorize(column.astype("str").where(column.notna()), sort=True)[0]
        codes = np.where(codes < 0, codes.max(initial=-1) + np.cumsum(codes < 0), codes)
        if 1 < codes.max(initial=0) + 1 < len(names):
            found.append(np.asarray(codes))
    return found


def _standardize(values: FloatArray) -> FloatArray:
    known = values[~np.isnan(values)]
    if len(known) < 2 or np.ptp(known) == 0:
        return np.zeros(len(values))
    return np.asarray(np.nan_to_num((values - known.mean()) / known.std()))


class Pairs(NamedTuple):
    """Pairs of model and dataset by their places, shape (pairs,) each."""

    rows: IntArray
    columns: IntArray


def predict_gaps(
    parts: Sequence[Results],
    attributes: SideInformation,
    pairs: Sequence[Pairs],
    *,
    rng: np.random.Generator,
) -> list[Moments]:
    """Predict the gaps of pairs of model and dataset by a Bayesian factorization.

    Each part is fitted alone, but all in one sweep, which takes less time; there are as many
    factors and effects as the smallest part supports. The gap of model m on dataset d is normal
    around

        μ + a_m (1 + δ_d) + c_d + x_m · β_d + u_m · v_d + Σ_g e_{g(m, d)}

    with covariates x, at most 12 factors u · v (about 1 + results / (models + datasets)), and an
    effect e of every attribute of models, of datasets, and of every pair of the two (also of a
    model with an attribute, and of an attribute with a dataset), left out where hardly any pair
    shares one. That is a Gaussian process with one variance component per term, and a factorization
    whose columns have variances of their own, so that those without use vanish.
    The noise of a dataset has a scaled inverse χ² prior with 5 degrees of freedom around that of
    all. Variances have inverse-gamma priors, with shape 1 and scale 0.01 for effects.

    Mean, from 0 to 1, and variance of a result are over the draws, one after every fifth of 110
    sweeps that follow 10 dropped ones, by Gibbs sampling. Where no known result connects model and
    dataset, the mean is that of the dataset. Only sums are kept of draws, so memory grows with
    chains × (results + pairs); a sweep takes time in proportion to results × factors².

    Random numbers are made from the key, the number of the chain and of the sweep, and the name of
    the model or dataset (of a group, that of the member whose hash is least), so neither the order
    nor an unrelated model changes them. All parts have the same.

    Salakhutdinov and Mnih (2008), Bayesian probabilistic matrix factorization using Markov chain
    Monte Carlo, ICML. Searle, Casella and McCulloch (1992), Variance components, chapter 9.
    Gelfand and Smith (1990), Journal of the American Statistical Association 85:398-409, for means
    of conditional expectations.
    """
    chains = max(1, min(CHAINS, WORK // max(len(part.gaps) for part in parts)))
    sums = np.zeros((3, sum(len(own.rows) for own in pairs)))
    sampler = _Sampler(parts, attributes, pairs, chains=chains, rng=rng)
    for sweep in range(1, BURN_IN + SWEEPS + 1):
        sampler.sweep()
        if sweep > BURN_IN and (sweep - BURN_IN) % THINNING == 0:
            sampled, expected, noise = sampler.predict()
            draws = expected, sampled, sampled**2 + noise
            sums += [own.mean(axis=0) for own in draws]
    means, samples, squares = sums / (SWEEPS // THINNING)
    ends = np.cumsum([len(own.rows) for own in pairs])[:-1]
    found = (np.split(own, ends) for own in (means.clip(0, 1), squares - samples**2))
    return [
        Moments(
            np.where(are_connected(part, *own), mean, average_datasets(part, own.columns)),
            variance,
        )
        for part, own, mean, variance in zip(parts, pairs, *found, strict=True)
    ]


class _Effect:
    """Effects of the groups of one grouping, of all copies at once."""

    def __init__(self, own: IntArray, groups: IntArray, copies: int) -> None:
        self.count = int(groups.max(initial=0)) + 1
        self.known, self.places = np.unique(own * self.count + groups, return_inverse=True)
        self.own, self.groups = np.divmod(self.known, self.count)
        self.sizes = np.bincount(self.own, minlength=copies)
        self.drawn = self.means = np.zeros(len(self.known))
        self.variances = np.full(copies, SCALE**2)

    def update(
        self, errors: FloatArray, weights: FloatArray, normals: FloatArray, uniforms: FloatArray
    ) -> FloatArray:
        """Draw effects and their variance; returns the errors that are left."""
        errors = errors + self.drawn.take(self.places)
        precision = np.bincount(self.places, weights) + 1 / self.variances[self.own]
        self.means = np.bincount(self.places, weights * errors) / precision
        self.drawn = self.means + normals / np.sqrt(precision)
        squares = np.bincount(self.own, self.drawn**2, minlength=len(self.sizes))
        self.variances = (SCALE**2 + squares / 2) / gammaincinv(1 + self.sizes / 2, uniforms)
        return np.asarray(errors - self.drawn.take(self.places))

    def find(self, own: IntArray, groups: IntArray) -> IntArray:
        """Places among known groups, in order; the number of these for a group without results."""
        wanted = np.where(groups < self.count, own * self.count + groups, -1)
        places = np.searchsorted(self.known, wanted)
        is_known = np.append(self.known, -2)[places] == wanted
        return np.where(is_known, places, len(self.known))


class _Side:
    """Coefficients of all models, or of all datasets, of all copies at once."""

    def __init__(self, places: IntArray, others: IntArray, shape: tuple[int, int, int]) -> None:
        self.copies, count, partners = shape
        self.order = np.lexsort((others, places))
        rows, columns = places[self.order], others[self.order]
        ends = np.searchsorted(rows, np.arange(self.copies * count + 1))
        self.sums = csr_array(
            (np.ones(len(rows)), columns, ends),
            shape=(self.copies * count, self.copies * partners),
        )

    def draw(
        self,
        design: FloatArray,
        errors: FloatArray,
        weights: FloatArray,
        precisions: FloatArray,
        normals: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the coefficients of a regression of each on the designs of its partners.

        Returns the draws and their means.
        """
        size = design.shape[1]
        first, second = np.tril_indices(size)
        self.sums.data = weights[self.order]
        products = design.take(first, axis=1) * design.take(second, axis=1)
        summed = np.asarray(self.sums @ products)
        information = np.empty((size, size, len(summed)))
        information[first, second] = summed.T
        each = np.arange(size)
        information[each, each] += np.repeat(precisions.T, len(summed) // self.copies, axis=1)
        self.sums.data = (weights * errors)[self.order]
        sums = np.asarray(self.sums @ design)
        found = _draw_normals(information, sums.T, normals.reshape(-1, size).T)
        drawn, means = (own.T.reshape(normals.shape) for own in found)
        return drawn, means


def _draw_normals(
    information: FloatArray, sums: FloatArray, normals: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Draws from normal distributions, and their means.

    The precision of each is `information`, shape (size, size, count), of which the lower triangle
    is read; times the mean it is `sums`, shape (size, count) as all others. Going through the
    elements of all matrices at once is three times faster than a call of LAPACK for each.
    """
    size = len(information)
    root = np.empty_like(information)
    for at in range(size):
        column = information[at:, at]
        if at:
            column = column - np.einsum("iqn,qn->in", root[at:, :at], root[at, :at])
        root[at:, at] = column / np.sqrt(column[0])
    scaled = sums.copy()
    for at in range(size):
        scaled[at] /= root[at, at]
        scaled[at + 1 :] -= root[at + 1 :, at] * scaled[at]
    found = np.stack([scaled + normals, scaled], axis=1)
    for at in reversed(range(size)):
        found[at] /= root[at, at]
        found[:at] -= root[at, :at, None] * found[at]
    return found[:, 0], found[:, 1]


class _Sampler:
    """The state of a Gibbs sampler of several chains of several parts, a copy each."""

    def __init__(
        self,
        parts: Sequence[Results],
        attributes: SideInformation,
        pairs: Sequence[Pairs],
        *,
        chains: int,
        rng: np.random.Generator,
    ) -> None:
        self.covariates, self.chains = attributes.covariates, chains
        models, datasets = len(parts[0].models), len(parts[0].datasets)
        known, wanted = [*parts] * chains, [*pairs] * chains
        self.shape = copies, _, _ = len(known), models, datasets
        self.sizes = np.array([len(part.gaps) for part in known])
        self.own = np.repeat(np.arange(copies), self.sizes)
        rows, columns, self.gaps = (
            np.concatenate([getattr(part, name) for part in known])
            for name in ("rows", "columns", "gaps")
        )
        self.rows, self.columns = self.own * models + rows, self.own * datasets + columns
        self.model_side = _Side(self.rows, self.columns, (copies, models, datasets))
        self.dataset_side = _Side(self.columns, self.rows, (copies, datasets, models))
        self.wanted = np.repeat(np.arange(copies), [len(own.rows) for own in wanted])
        asked = Pairs(*map(np.concatenate, zip(*wanted, strict=True)))
        self.asked = Pairs(
            self.wanted * models + asked.rows, self.wanted * datasets + asked.columns
        )
        self._name(parts[0], chains, rng)
        self.effects, self.effect_keys, self.effect_places = [], [], []
        for grouping in list_groupings(attributes, models, datasets):
            effect = _Effect(self.own, _pair(*grouping, rows, columns), copies)
            if len(effect.known) < 0.9 * len(rows):
                self.effects.append(effect)
                self.effect_keys.append(self._name_groups(effect, grouping))
                self.effect_places.append(effect.find(self.wanted, _pair(*grouping, *asked)))
        self._start(known)

    def _name(self, results: Results, chains: int, rng: np.random.Generator) -> None:
        """Keys of the random numbers of copies, models and datasets."""
        root = rng.integers(2**64, size=1, dtype=np.uint64)
        copies = combine_keys(root, np.repeat(np.arange(chains), self.shape[0] // chains))
        self.names = hash_names(results.models), hash_names(results.datasets)
        self.copy_keys, model_keys, dataset_keys = (combine_keys(copies, own) for own in range(3))
        self.model_keys, self.dataset_keys = (
            combine_keys(keys[:, None], names)
            for keys, names in zip((model_keys, dataset_keys), self.names, strict=True)
        )

    def _name_groups(self, effect: _Effect, grouping: tuple[IntArray, IntArray]) -> KeyArray:
        """Keys of the groups of an effect, by the least hash of a member."""
        least = []
        for codes, names in zip(grouping, self.names, strict=True):
            own = np.full(int(codes.max(initial=0)) + 1, np.iinfo(np.uint64).max, np.uint64)
            np.minimum.at(own, codes, names if codes.any() else np.zeros_like(names))
            least.append(own)
        of_models, of_datasets = np.divmod(effect.groups, len(least[1]))
        keys = combine_keys(self.copy_keys, 3 + len(self.effects))[effect.own]
        return combine_keys(combine_keys(keys, least[0][of_models]), least[1][of_datasets])

    def _start(self, parts: Sequence[Results]) -> None:
        copies, models, datasets = self.shape
        factors = int(np.clip(1 + self.sizes.min() // (models + datasets), 1, MOST_FACTORS))
        self.known = np.tile(self.covariates, (copies, 1))
        covariates = self.known.shape[1]
        self.scales = (
            np.array([SCALE**2] + [SCALE] * factors),
            np.array([SCALE**2, SCALE] + [SCALE**2] * covariates + [SCALE] * factors),
        )
        self.precisions = [np.tile(1 / scales, (copies, 1)) for scales in self.scales]
        starts = [fit_additive(part) for part in parts[: self.shape[0] // self.chains]]
        starts *= self.chains
        self.levels = np.array([start.level for start in starts])
        self.models, self.datasets = (
            np.sqrt(scales) * ndtri(draw_uniforms(keys, len(scales)))
            for scales, keys in zip(self.scales, (self.model_keys, self.dataset_keys), strict=True)
        )
        self.models[:, :, 0] = [start.models for start in starts]
        self.datasets[:, :, 0] = [start.datasets for start in starts]
        self.datasets[:, :, 1 : 2 + covariates] = 0
        self.dataset_means = self.datasets
        self.variances = np.full(copies, START_NOISE)
        self.weights = np.ones(copies * datasets)
        self.count = 0
        self.fitted = self._multiply(self._extend(), self.datasets, self.rows, self.columns)
        self.errors = self.gaps - self.levels[self.own] - self.fitted

    def _extend(self) -> FloatArray:
        """What the coefficients of datasets are multiplied with, of all models."""
        models = self.models.reshape(-1, self.models.shape[2])
        return np.concatenate(
            [np.ones_like(models[:, :1]), models[:, :1], self.known, models[:, 1:]], axis=1
        )

    def _multiply(
        self, factors: FloatArray, datasets: FloatArray, rows: IntArray, columns: IntArray
    ) -> FloatArray:
        """What models, datasets, covariates and factors add to the gaps of some pairs."""
        copies, models, count = self.shape
        if len(rows) * DENSE > copies * models * count:
            by_copy = factors.reshape(copies, models, -1) @ datasets.transpose(0, 2, 1)
            found = by_copy.ravel().take(rows * count + columns % count)
        else:
            size = datasets.shape[2]
            found = np.einsum(
                "nk,nk->n", factors[rows], datasets.reshape(-1, size)[columns], optimize=False
            )
        return np.asarray(self.models[:, :, 0].ravel().take(rows) + found)

    def sweep(self) -> None:
        """Draw everything once, each from what is believed of it if all else is known."""
        self.count += 1
        copies, models, datasets = (
            combine_keys(keys, self.count)
            for keys in (self.copy_keys, self.model_keys, self.dataset_keys)
        )
        sizes = self.models.shape[2], self.datasets.shape[2]
        uniforms = draw_uniforms(copies, 2 + len(self.effects) + sum(sizes))
        weights = self.weights.take(self.columns) / self.variances.take(self.own)
        self._draw_levels(weights, ndtri(uniforms[:, 0]))
        for place, effect in enumerate(self.effects):
            keys = combine_keys(self.effect_keys[place], self.count)
            normals = ndtri(draw_uniforms(keys, 1)[:, 0])
            self.errors = effect.update(self.errors, weights, normals, uniforms[:, 2 + place])
        of_datasets = draw_uniforms(datasets, sizes[1] + 1)
        of_models = ndtri(draw_uniforms(models, sizes[0]))
        self._draw_sides(weights, (of_models, ndtri(of_datasets[:, :, 1:])))
        self._draw_precisions(np.split(uniforms[:, -sum(sizes) :], [sizes[0]], axis=1))
        self._draw_noise(of_datasets[:, :, 0].ravel(), uniforms[:, 1])

    def _draw_levels(self, weights: FloatArray, normals: FloatArray) -> None:
        precision = np.bincount(self.own, weights)
        errors = self.errors + self.levels.take(self.own)
        self.levels = np.bincount(self.own, weights * errors) / precision
        self.levels += normals / np.sqrt(precision)
        self.errors = errors - self.levels.take(self.own)

    def _draw_sides(self, weights: FloatArray, normals: tuple[FloatArray, FloatArray]) -> None:
        covariates = self.known.shape[1]
        datasets = self.datasets.reshape(-1, self.datasets.shape[2])
        targets = self.errors + self.fitted
        given = datasets[:, 0].take(self.columns)
        if covariates:
            by_covariates = datasets[:, 2 : 2 + covariates].take(self.columns, axis=0)
            given += np.einsum("nk,nk->n", self.known.take(self.rows, axis=0), by_covariates)
        design = np.concatenate([1 + datasets[:, 1:2], datasets[:, 2 + covariates :]], axis=1)
        self.models, _ = self.model_side.draw(
            design, targets - given, weights, self.precisions[0], normals[0]
        )
        own = self.models[:, :, 0].ravel().take(self.rows)
        design = self._extend()
        self.datasets, self.dataset_means = self.dataset_side.draw(
            design, targets - own, weights, self.precisions[1], normals[1]
        )
        self.fitted = self._multiply(design, self.datasets, self.rows, self.columns)
        self.errors = targets - self.fitted

    def _draw_precisions(self, uniforms: Sequence[FloatArray]) -> None:
        self.precisions = [
            gammaincinv(1 + side.shape[1] / 2, own) / (scales + (side**2).sum(axis=1) / 2)
            for side, scales, own in zip(
                (self.models, self.datasets), self.scales, uniforms, strict=True
            )
        ]

    def _draw_noise(self, of_datasets: FloatArray, uniforms: FloatArray) -> None:
        squares = self.errors**2
        relative = squares / self.variances.take(self.own)
        sums = np.bincount(self.columns, relative, minlength=len(of_datasets))
        counts = np.bincount(self.columns, minlength=len(of_datasets))
        self.weights = gammaincinv((FREEDOM + counts) / 2, of_datasets) / ((FREEDOM + sums) / 2)
        total = np.bincount(self.own, self.weights.take(self.columns) * squares)
        self.variances = (SCALE**2 + total / 2) / gammaincinv(1 + self.sizes / 2, uniforms)

    def predict(self) -> list[FloatArray]:
        """The gaps of the pairs that are asked for, as they are drawn now, by chain.

        A draw from the posterior; what it was expected to be before the last effects and
        coefficients of datasets were drawn, which has the same mean and less noise; and the
        variance of a result.
        """
        factors, level = self._extend(), self.levels[self.wanted]
        sampled = level + self._multiply(factors, self.datasets, *self.asked)
        expected = level + self._multiply(factors, self.dataset_means, *self.asked)
        for effect, places in zip(self.effects, self.effect_places, strict=True):
            sampled += np.append(effect.drawn, 0.0)[places]
            expected += np.append(effect.means, 0.0)[places]
        variance = self.variances[self.wanted] / self.weights[self.asked.columns]
        return [own.reshape(self.chains, -1) for own in (sampled, expected, variance)]


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
