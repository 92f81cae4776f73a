"""Sentences on performance profiles."""

import pandas as pd

from capmap.prose.words import format_share, join_names, join_sentences
from capmap.wording import format_percent

KINDS = {"raw": "raw scores", "normalized": "normalized scores"}


def describe_profiles(
    profile_area: pd.DataFrame, *, n_resamples: int, confidence_level: float
) -> list[str]:
    """Say which models stay close to the best one on most datasets."""
    if profile_area.empty:
        return ["There is no model to profile."]
    methods = (
        "Performance profiles (Dolan and Moré 2002) are the share of datasets on which a model is "
        "within a factor tau of the best. Areas are over log tau, in percent of the largest "
        "possible, on the datasets that a model has. Score distributions have pointwise "
        f"{format_percent(confidence_level)} bands over runs ({n_resamples:,} resamples)."
    )
    results = join_sentences(
        *(_describe_first(profile_area, kind) for kind in KINDS),
        "Areas have no intervals and depend on which models are compared.",
    )
    return [methods, results]


def _describe_first(areas: pd.DataFrame, kind: str) -> str:
    known = areas.dropna(subset=[f"share_{kind}"])
    if known.empty:
        return f"By {KINDS[kind]}, no dataset allows ratios."
    first = known[known[f"rank_{kind}"] == known[f"rank_{kind}"].min()]
    verb = "has" if len(first) == 1 else "share"
    share = format_share(first[f"share_{kind}"].iloc[0])
    return f"By {KINDS[kind]}, {join_names(first['model'])} {verb} the largest area, {share}."
