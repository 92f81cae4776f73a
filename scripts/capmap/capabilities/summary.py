"""What a finished map tells: what stands in its middle, and what its axes go with."""

from functools import partial

import pandas as pd

from capmap.capabilities.axes import relate_attributes
from capmap.capabilities.centrality import correlate_centrality
from capmap.rng import make_stream


def summarize_map(
    positions: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    confidence_level: float,
    seed: int,
    study: str,
) -> dict[str, pd.DataFrame]:
    """Test what positions go with.

    Parameters
    ----------
    positions, models, datasets : pandas.DataFrame
        The tables of these names.
    confidence_level : float
        Of intervals, between 0 and 1.
    seed : int
        As in the setting `bootstrap`.
    study : str
        Name of the study, part of the names of its random streams.

    Returns
    -------
    dict
        The tables ``centrality`` and ``axes``.
    """
    make_rng = partial(make_stream, seed, study, "axes")
    return {
        "centrality": correlate_centrality(positions, models, confidence_level=confidence_level),
        "axes": relate_attributes(positions, models, datasets, make_rng=make_rng),
    }
