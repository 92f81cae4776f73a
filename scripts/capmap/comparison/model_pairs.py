"""Every pair of models: differences, tests, improvement and equivalence together."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from capmap.comparison.improvement import estimate_improvement
from capmap.comparison.pairwise import compare_pairs
from capmap.comparison.rope import compare_posteriors, scale_means
from capmap.comparison.score_matrix import arrange_runs
from capmap.problems import require_known
from capmap.rng import make_stream
from capmap.settings.choices import DECIDED, POSTERIOR_SAMPLES, Unit


def compare_models(
    runs: pd.DataFrame,
    scopes: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    reference: str,
    rope_setting: float | Mapping[str, float],
    n_resamples: int,
    confidence_level: float,
    seed: int,
    n_samples: int = POSTERIOR_SAMPLES,
) -> dict[str, Any]:
    """Compare every pair of models: differences, tests, probability of improvement, equivalence.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    scopes, bounds : pandas.DataFrame
        The ranking, which says what intervals are over and whose first model is the reference
        unless one is named, and the bounds.
    study : str
        Name of the study, part of the names of its random streams.
    reference, rope_setting, n_resamples
        As in the setting `comparison`.
    confidence_level, seed
        As in the setting `bootstrap`.
    n_samples : int
        Number of samples of the posteriors.

    Returns
    -------
    dict
        The table ``pairwise``, the name of the ``reference``, and ``unit`` of the intervals.
    """
    unit: Unit = scopes["unit"].iloc[0]
    matrix = arrange_runs(runs, by_seed=unit == "seeds")
    reference = reference or str(scopes["model"].iloc[0])
    require_known([reference], matrix.models, option="comparison.reference", kind="model")
    pairs = compare_pairs(matrix, unit=unit, confidence_level=confidence_level)
    improvement = estimate_improvement(
        runs,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        unit=unit,
        make_rng=partial(make_stream, seed, study, "improvement"),
        make_dataset_rng=lambda names: make_stream(seed, study, "improvement_datasets", *names),
    )
    if isinstance(rope_setting, Mapping):
        matrix = scale_means(matrix, bounds=bounds, widths=rope_setting)
    posterior = compare_posteriors(
        matrix,
        rope=1.0 if isinstance(rope_setting, Mapping) else float(rope_setting),
        probability=DECIDED,
        n_samples=n_samples,
        make_rng=lambda datasets: make_stream(seed, study, "signed_rank", str(datasets)),
    )
    # All three have a row per pair in the same order.
    joined = pd.concat([pairs, improvement.iloc[:, 2:], posterior], axis=1)
    return {"pairwise": joined, "reference": reference, "unit": unit}
