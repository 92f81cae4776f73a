"""Equivalence of all pairs of models, with a region in normalized scores or in raw units."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from capmap.comparison.pairwise import subtract_means
from capmap.comparison.score_matrix import ScoreMatrix, list_pairs
from capmap.comparison.signed_rank import compare_signed_ranks, decide
from capmap.errors import ValidationError
from capmap.metrics import canonical_name
from capmap.problems import require_known
from capmap.wording import quote_name


def scale_means(
    matrix: ScoreMatrix, *, bounds: pd.DataFrame, widths: Mapping[str, float]
) -> ScoreMatrix:
    """Measure cell means in half-widths of the region that is configured for their metric.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores.
    bounds : pandas.DataFrame
        Columns ``dataset``, ``metric``, ``low`` and ``high``, a row per dataset.
    widths : mapping of float
        Half-width of the region in the raw units of each metric, above 0. Names are matched by
        `capmap.metrics.canonical_name`.

    Returns
    -------
    ScoreMatrix
        Means and variances for a region with a half-width of 1: a normalized score is multiplied by
        ``(high − low) / half-width``, so differences of lower-is-better metrics have their sign.

    Raises
    ------
    ValidationError
        If a metric of the study has no half-width, two, or one that is not above 0, or if there is
        one for a metric that the study does not have.
    """
    metrics = sorted(bounds["metric"].unique())
    known = _match_widths(metrics, widths)
    for metric in metrics:
        _require_width(metric, known.get(canonical_name(metric)))
    rows = bounds.set_index("dataset").loc[matrix.datasets]
    reach = np.array([known[canonical_name(metric)] for metric in rows["metric"]])
    scales = (rows["high"] - rows["low"]).to_numpy(dtype=np.float64) / reach
    return replace(matrix, means=matrix.means * scales, variances=matrix.variances * scales**2)


def compare_posteriors(
    matrix: ScoreMatrix,
    *,
    rope: float,
    probability: float,
    n_samples: int,
    make_rng: Callable[[int], np.random.Generator],
) -> pd.DataFrame:
    """Compare all pairs of models by the Bayesian signed-rank test.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells in units of `rope`.
    rope : float
        Half-width of the region, 0 or more.
    probability, n_samples, make_rng : float, int, callable
        As in `decide` and `compare_signed_ranks`.

    Returns
    -------
    pandas.DataFrame
        A row per pair in the order of `list_pairs`: ``p_a_better``, ``p_equivalent``,
        ``p_b_better`` and ``decision``.
    """
    apart = subtract_means(matrix, list_pairs(len(matrix.models)))
    chances = compare_signed_ranks(apart, rope=rope, n_samples=n_samples, make_rng=make_rng)
    table = pd.DataFrame(chances, columns=["p_a_better", "p_equivalent", "p_b_better"])
    return table.assign(decision=decide(chances, probability=probability))


def _match_widths(metrics: list[str], widths: Mapping[str, float]) -> dict[str, float]:
    """Half-widths by canonical name of their metric."""
    own = {canonical_name(metric) for metric in metrics}
    strangers = [name for name in widths if canonical_name(name) not in own]
    require_known(strangers, metrics, option="comparison.rope", kind="metric")
    spellings: dict[str, str] = {}
    for name in widths:
        first = spellings.setdefault(canonical_name(name), name)
        if first != name:
            raise ValidationError(
                f"comparison.rope: {quote_name(first)} and {quote_name(name)} are the same metric. "
                "Keep one of them."
            )
    return {canonical_name(name): width for name, width in widths.items()}


def _require_width(metric: str, width: float | None) -> None:
    if width is None:
        raise ValidationError(
            f"comparison.rope: the metric {quote_name(metric)} has no half-width. Give each metric "
            "of the study one in its own units, or one number for normalized scores."
        )
    if not width > 0:
        raise ValidationError(
            f"comparison.rope: the half-width of the metric {quote_name(metric)} is {width:g}. "
            "Give a number above 0, or rope: 0 for a test without equivalence."
        )
