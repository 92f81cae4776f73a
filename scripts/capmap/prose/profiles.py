"""Sentences on performance profiles."""

import pandas as pd

from capmap.prose.words import (
    PER_MODEL,
    format_count,
    format_percent,
    format_span,
    format_value,
    join_names,
    join_sentences,
    tell_policy,
)

KINDS = {"raw": "raw scores", "normalized": "normalized scores"}


def describe_profiles(
    profile_area: pd.DataFrame,
    *,
    missing: str,
    datasets_total: int,
    nonpositive: int,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say which models stay close to the best one on most datasets.

    Parameters
    ----------
    profile_area : pandas.DataFrame
        The columns of ``tables/profile_area.csv``.
    missing : {"pairwise", "common"}
        Policy for empty cells.
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
        "Performance profiles (Dolan and More) gave the share of datasets on which a model is "
        "within a factor tau of the best model, of raw and of normalized scores. The area under a "
        "profile over the logarithm of tau, up to the largest finite ratio of any model, was given "
        "as share of what a model that is best everywhere would have.",
        tell_policy(missing, subject="Each model was profiled", own=PER_MODEL),
        _tell_nonpositive(nonpositive),
        "Score distributions gave the share of runs above each normalized score, datasets weighing "
        f"the same, with pointwise {level} bands from {n_resamples:,} stratified bootstrap "
        "resamples.",
    )
    results = join_sentences(
        _tell_leaders(profile_area, "raw", datasets_total),
        _tell_leaders(profile_area, "normalized", datasets_total),
        "Ratios and areas depend on which other models are present, and have no intervals.",
    )
    return [methods, results]


def _tell_nonpositive(cells: int) -> str:
    if not cells:
        return ""
    had = "had a score" if cells == 1 else "had scores"
    return (
        f"{format_count(cells, 'cell')} (a model on a dataset) {had} of 0 or less, for which a "
        "ratio means little: they counted as never within a factor of a positive best score, or as "
        "best where an error of 0 is the best; a dataset without a usable best score was left out."
    )


def _tell_leaders(areas: pd.DataFrame, kind: str, total: int) -> str:
    share, datasets = f"share_{kind}", f"datasets_{kind}"
    known = areas.dropna(subset=[share])
    known = known[known[datasets] > 0]
    scores = KINDS[kind]
    if known.empty:
        return f"By {scores}, no dataset allowed ratios."
    first = known.loc[known[f"rank_{kind}"] == known[f"rank_{kind}"].min(), "model"]
    largest = format_value(known[share].max())
    span = format_span(known[datasets], "dataset")
    lead = "had the largest area" if len(first) == 1 else "shared the largest area"
    if len(known) == 1:
        lead = "was the only model"
    return f"By {scores}, {join_names(first)} {lead} (share {largest}; {span} of {total:,} used)."
