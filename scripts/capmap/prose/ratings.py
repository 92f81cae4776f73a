"""Sentences on Elo ratings and win rates."""

import pandas as pd

from capmap.prose.words import describe_leader, format_share, join_names, join_sentences
from capmap.wording import depends_on_ridge, format_count, format_percent


def describe_ratings(
    elo: pd.DataFrame, winrate: pd.DataFrame, *, n_resamples: int, confidence_level: float
) -> list[str]:
    """Say how models are rated, and which lead."""
    if len(elo) < 2:
        return ["With a single model there is no opponent to be rated against."]
    has_intervals = bool(elo["ci_low"].notna().any())
    methods = join_sentences(
        "Ratings are those of a Bradley-Terry model (maximum likelihood with a slight ridge) of "
        "wins on the datasets that both models have; ties count half, and datasets weigh the same.",
        "On the Elo scale (mean 1000), 400 points are odds of ten to one.",
        f"Intervals ({format_percent(confidence_level)}) are percentiles of {n_resamples:,} "
        "bootstrap resamples of datasets and runs."
        if has_intervals
        else "",
    )
    parts = elo["component"].nunique()
    results = join_sentences(
        describe_leader(
            elo,
            "elo",
            "the highest rating",
            confidence_level=confidence_level,
            write="{:.0f}".format,
        ),
        _describe_winners(winrate),
        f"{format_count(parts, 'group')} of models never meet; ratings compare only within a group."
        if parts > 1
        else "",
        _warn_of_separation(elo["separated"].max(), confidence_level, has_intervals),
    )
    return [methods, results]


def _describe_winners(winrate: pd.DataFrame) -> str:
    lowest = winrate.dropna(subset="win_rate").groupby("model")["win_rate"].min()
    names = lowest.index[lowest == 1].tolist()
    if not names:
        return ""
    verb = "wins" if len(names) == 1 else "win"
    return f"{join_names(names)} {verb} on every dataset, so the distance rests on the ridge."


def _warn_of_separation(share: float, confidence_level: float, has_intervals: bool) -> str:
    if not depends_on_ridge(share, confidence_level=confidence_level):
        return ""
    what = "ends of intervals there depend" if has_intervals else "intervals would depend"
    return (
        f"In {format_share(share)} of the resamples some models only win, only lose or never meet "
        f"the rest: {what} on the ridge."
    )
