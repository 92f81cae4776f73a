"""What a finished map shows: its middle, what its axes go with, and the best model of a budget."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from capmap.capabilities.axes import relate_attributes
from capmap.capabilities.budgets import choose_best, read_costs
from capmap.capabilities.centrality import correlate_centrality
from capmap.rng import make_stream


def summarize_map(
    positions: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    predictions: pd.DataFrame,
    gaps: pd.DataFrame,
    model_file: Sequence[str],
    *,
    model_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
    against: str,
    confidence_level: float,
    seed: int,
    study: str,
) -> dict[str, pd.DataFrame]:
    """Test what positions go with, and choose models.

    Parameters
    ----------
    positions, models, datasets, predictions, gaps : pandas.DataFrame
        The tables of these names.
    model_file, model_attributes, renamed, against
        As for `read_costs`.
    confidence_level : float
        Of intervals and of sets of models, between 0 and 1.
    seed : int
        As in the setting `bootstrap`.
    study : str
        Name of the study, part of the names of its random streams.

    Returns
    -------
    dict
        The tables ``centrality``, ``axes``, ``best_models`` and ``best_candidates``.
    """
    make_rng = partial(make_stream, seed, study, "axes")
    costs = read_costs(
        model_file, model_attributes=model_attributes, renamed=renamed, against=against
    )
    return {
        "centrality": correlate_centrality(positions, models, confidence_level=confidence_level),
        "axes": relate_attributes(positions, models, datasets, make_rng=make_rng),
        **choose_best(predictions, gaps, costs, confidence_level=confidence_level),
    }
