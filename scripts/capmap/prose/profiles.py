"""Sentences on performance profiles."""

import numpy as np
import pandas as pd

from capmap.prose.words import (
    describe_leader,
    format_share,
    join_sentences,
)
from capmap.wording import format_count, format_percent

KINDS = {"raw": "raw scores", "normalized": "normalized scores"}


def describe_profiles(
    profile_area: pd.DataFrame,
    *,
    datasets_total: int,
    nonpositive: int,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say which models stay close to the best one on most datasets.

    Parameters
    ----------
    profile_area : pandas.DataFrame
        The columns of ``comparisons/profile_area.csv``.
    datasets_total : int
        Datasets of the study.
    nonpositive : int
        Cells with a score of 0 or less, whose ratio follows an explicit rule.
    n_resamples : int
        Number of bootstrap resamples behind the bands.
    confidence_level : float
        Of the bands, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if profile_area.empty:
        return ["There was no model to profile."]
    level = format_percent(confidence_level)
    methods = join_sentences(
        "Performance profiles (Dolan and Moré) are the share of datasets on which a model is "
        "within a factor tau of the best; areas under them, over log tau up to the largest finite "
        "ratio, are in percent of the largest possible.",
        "Each model was profiled on the datasets that it had runs on.",
        _describe_nonpositive(nonpositive),
        "Score distributions are the share of runs above each normalized score, datasets weighing "
        f"the same; models with repeated runs have pointwise {level} bands over runs "
        f"({n_resamples:,} bootstrap resamples).",
    )
    results = join_sentences(
        *(_describe_first(profile_area, kind, datasets_total) for kind in KINDS),
        "Areas depend on which other models are present, and have no intervals.",
    )
    return [methods, results]


def _describe_nonpositive(cells: int) -> str:
    if not cells:
        return ""
    had = "had a score" if cells == 1 else "had scores"
    return (
        f"{format_count(cells, 'cell')} {had} of 0 or less, which counted as never within a factor "
        "of a positive best score, or as best where an error of 0 is the best; a dataset without a "
        "usable best score was left out."
    )


def _describe_first(areas: pd.DataFrame, kind: str, total: int) -> str:
    own = areas.rename(columns={f"{name}_{kind}": name for name in ("share", "rank", "datasets")})
    known = own.dropna(subset=["share"]).assign(ci_low=np.nan, ci_high=np.nan)
    if known.empty:
        return f"By {KINDS[kind]}, no dataset allowed ratios."
    lead = describe_leader(
        known, "share", "the largest area", total=total, confidence_level=1, write=format_share
    )
    return f"By {KINDS[kind]}, {lead}"
