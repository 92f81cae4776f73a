"""What positions of models and datasets go with: attributes, by axis and by all axes at once."""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from capmap.comparison.wilcoxon import correct_holm
from capmap.ranking.aggregation import FloatArray

COLUMNS = ["kind", "attribute", "axis", "points", "statistic", "estimate", "p", "p_holm"]
ATTRIBUTES = {"model": ("architecture", "parameters", "date"), "dataset": ("type", "family")}
CATEGORIES = {"architecture", "type", "family"}
ALL_AXES = "all"
FEWEST = 8
PERMUTATIONS = 4999
# Numbers that are held at once.
BLOCK = 4_000_000
ROUNDING = 1e-9


class _Attribute(NamedTuple):
    """Places of the points whose attribute is known, and an orthonormal base of its values."""

    places: pd.Index
    base: FloatArray
    is_category: bool


def relate_attributes(
    positions: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    make_rng: Callable[[str, str], np.random.Generator],
) -> pd.DataFrame:
    """Test whether positions go with attributes.

    Parameters
    ----------
    positions : pandas.DataFrame
        Columns ``kind``, ``name``, ``component`` and the coordinates ``x1``, … along the principal
        axes, the longest first.
    models : pandas.DataFrame
        Columns ``model``, ``architecture``, ``parameters`` and ``date`` (ISO).
    datasets : pandas.DataFrame
        Columns ``dataset``, ``type`` and ``family``.
    make_rng : callable
        The random generator of a kind and an attribute.

    Returns
    -------
    pandas.DataFrame
        The columns of `COLUMNS`. Of each attribute first a row for all axes, whose ``statistic`` no
        rotation changes: "r2" of the ranks of a number regressed on all coordinates; "r2_groups",
        the share of the variance of positions that is between categories. Then a row per axis:
        "spearman", or "correlation_ratio" of the ranks on the axis (eta squared, which is that of
        Kruskal and Wallis's test). ``p`` is by permutation of the points, two-sided, and ``p_holm``
        corrected for all rows. Datasets of a family and a type count as one point, their mean, as
        those of a family lie together and mostly are of one type.

        Empty where no attribute can be tested: that needs 8 points of the largest component with
        known values, and of categories two with two points.

    Notes
    -----
    Principal axes are settled by the spread of points alone, so where two spread alike either may
    carry what goes with an attribute. A test says that values were not dealt out at random, not
    what causes what: attributes may go together. Variants of a model that share its architecture
    or date lie together too, of which nothing is known here.

    References
    ----------
    Anderson, M. J. (2001). A new method for non-parametric multivariate analysis of variance.
    Austral Ecology 26, 32–46. Phipson, B. and Smyth, G. K. (2010). Permutation p-values should
    never be zero. Statistical Applications in Genetics and Molecular Biology 9, article 39.
    """
    axes = [str(name) for name in positions if re.fullmatch(r"x\d+", str(name))]
    tables = {"model": models, "dataset": datasets}
    rows = []
    for kind, names in ATTRIBUTES.items():
        own = positions[(positions["kind"] == kind) & (positions["component"] == 1)]
        points = own.set_index("name")[axes].sort_index()
        for name in names:
            known = tables[kind].set_index(kind).reindex(points.index)
            values, places = known[name].replace("", np.nan).dropna(), points
            if name == "type":
                values, places = _join_families(values, known["family"], points)
            found = _read_attribute(values, is_category=name in CATEGORIES)
            if found is None:
                continue
            coordinates = places.loc[found.places].to_numpy(dtype=float)
            about = kind, name, len(coordinates)
            rows += _test_attribute(about, coordinates, found, axes, make_rng(kind, name))
    table = pd.DataFrame(rows, columns=COLUMNS[:-1])
    return table.assign(p_holm=correct_holm(table["p"].to_numpy(dtype=float)))


def _join_families(
    types: "pd.Series[str]", families: "pd.Series[str]", points: pd.DataFrame
) -> tuple["pd.Series[str]", pd.DataFrame]:
    """Types and mean places of the datasets of a family that are of one type."""
    names = families.loc[types.index]
    names = names.where(names.notna() & (names != ""), types.index.to_series())
    groups = points.loc[types.index].groupby([names.to_numpy(), types.to_numpy()])
    places = groups.mean()
    return pd.Series(places.index.get_level_values(1), index=places.index), places


def _read_attribute(values: "pd.Series[str]", *, is_category: bool) -> _Attribute | None:
    if len(values) < FEWEST or values.nunique() < 2:
        return None
    if not is_category:
        ranks = _center(rankdata(values.to_numpy())[:, None])
        return _Attribute(values.index, ranks / np.linalg.norm(ranks), is_category)
    counts = values.value_counts()
    if (counts > 1).sum() < 2:
        return None
    members = (values.to_numpy()[:, None] == counts.sort_index().index.to_numpy()).astype(float)
    return _Attribute(values.index, members / np.sqrt(members.sum(axis=0)), is_category)


def _test_attribute(
    about: tuple[str, str, int],
    coordinates: FloatArray,
    attribute: _Attribute,
    axes: list[str],
    rng: np.random.Generator,
) -> list[tuple[str, str, str, int, str, float, float]]:
    kind, name, count = about
    centered = _center(coordinates)
    ranks = _center(np.apply_along_axis(rankdata, 0, coordinates))
    ranks /= np.maximum(np.linalg.norm(ranks, axis=0), ROUNDING)
    if attribute.is_category:
        whole = centered / max(float(np.linalg.norm(centered)), ROUNDING)
        words = "r2_groups", "correlation_ratio"
    else:
        left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
        whole = left[:, sizes > ROUNDING * sizes.max(initial=0)]
        words = "r2", "spearman"
    targets = np.concatenate([whole, ranks], axis=1)
    products = attribute.base.T @ targets
    shares = _sum_squares(products, whole.shape[1])
    estimates = shares.copy()
    if not attribute.is_category:
        estimates[1:] = products[0, whole.shape[1] :]
    p = _permute(attribute.base, targets, whole.shape[1], shares, rng)
    return [
        (kind, name, axis, count, words[axis != ALL_AXES], float(estimate), float(own))
        for axis, estimate, own in zip([ALL_AXES, *axes], estimates, p, strict=True)
    ]


def _permute(
    base: FloatArray, targets: FloatArray, width: int, shares: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Share of permutations of the points with statistics as large as those found."""
    exceeding = np.ones(len(shares))
    size = max(1, BLOCK // targets.size)
    for start in range(0, PERMUTATIONS, size):
        count = min(size, PERMUTATIONS - start)
        orders = rng.permuted(np.tile(np.arange(len(targets)), (count, 1)), axis=1)
        drawn = _sum_squares(base.T @ targets[orders], width)
        exceeding += (drawn >= shares - ROUNDING).sum(axis=0)
    return exceeding / (PERMUTATIONS + 1)


def _sum_squares(products: FloatArray, width: int) -> FloatArray:
    """Sums of squares: of the first columns together, and of each of the others."""
    squares = (products**2).sum(axis=-2)
    whole = squares[..., :width].sum(axis=-1, keepdims=True)
    return np.concatenate([whole, squares[..., width:]], axis=-1)


def _center(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean(axis=0))
