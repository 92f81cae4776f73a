"""Sentences on Elo ratings and win rates."""

import pandas as pd

from capmap.prose.words import (
    describe_leader,
    describe_no_interval,
    format_share,
    join_names,
    join_sentences,
    join_some,
    name_covered,
)
from capmap.wording import depends_on_ridge, format_count, format_percent

SHOWN_PARTS = 3


def describe_ratings(
    elo: pd.DataFrame,
    winrate: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say how models were rated, and which lead.

    Parameters
    ----------
    elo, winrate : pandas.DataFrame
        The columns of ``comparisons/elo.csv`` and ``comparisons/winrate.csv``.
    n_resamples : int
        Number of bootstrap resamples.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if len(elo) < 2:
        return ["With a single model there was no opponent to be rated against."]
    methods = join_sentences(
        f"The {format_count(len(elo), 'model')} were rated by a Bradley-Terry model (maximum "
        "likelihood with a slight ridge; Elo scale, mean 1000) of battles: mean scores per dataset "
        "were compared, equal scores counted as half a win, and every dataset weighed the same.",
        "Two models met on the datasets that both had runs on.",
        _describe_intervals(elo, n_resamples, confidence_level),
    )
    results = join_sentences(
        _describe_first(elo, confidence_level),
        describe_no_interval(elo),
        _warn_of_parts(elo),
        _describe_winner(winrate, elo.set_index("model")["datasets"]),
        _warn_of_dominance(winrate),
        _warn_of_separation(elo, confidence_level),
        "Only differences of ratings mean something (400 points are odds of ten to one); they "
        "depend on which other models are present.",
    )
    return [methods, results]


def _describe_intervals(elo: pd.DataFrame, n_resamples: int, confidence_level: float) -> str:
    if not elo["ci_low"].notna().any():
        return ""
    return (
        f"The {format_percent(confidence_level)} intervals were percentiles of {n_resamples:,} "
        "bootstrap resamples of datasets (assumed exchangeable) and of runs within each, expanded "
        "for the number of datasets."
    )


def _describe_first(elo: pd.DataFrame, confidence_level: float) -> str:
    return describe_leader(
        elo,
        "elo",
        "the highest rating",
        total=elo["datasets"].max(),
        confidence_level=confidence_level,
        write="{:.0f}".format,
    )


def _warn_of_parts(elo: pd.DataFrame) -> str:
    parts = [own["model"] for _, own in elo.groupby("component")]
    if len(parts) < 2:
        return ""
    listed = "; ".join(join_names(names) for names in parts[:SHOWN_PARTS])
    rest = f"; {len(parts) - SHOWN_PARTS:,} more" if len(parts) > SHOWN_PARTS else ""
    return f"These groups of models never met ({listed}{rest}); ratings between them mean nothing."


def _describe_winner(winrate: pd.DataFrame, datasets: "pd.Series[int]") -> str:
    known = winrate.dropna(subset=["win_rate"])
    if known.empty:
        return "No two models had a dataset in common."
    mean = known.groupby("model")["win_rate"].mean()
    best = mean.index[mean >= mean.max()]
    verb = "shared" if len(best) > 1 else "had"
    names = join_some([name_covered(name, datasets[name], datasets.max()) for name in best])
    return (
        f"{names} {verb} the highest win rate, averaged over opponents: {format_share(mean.max())} "
        "of datasets."
    )


def _warn_of_dominance(winrate: pd.DataFrame) -> str:
    rates = winrate.dropna(subset=["win_rate"]).groupby("model")["win_rate"]
    is_extreme = (rates.min() == 1) | (rates.max() == 0)
    names = is_extreme.index[is_extreme].tolist()
    if not names:
        return ""
    return (
        f"{join_names(names)} won or lost on every dataset; distances there may rest on the ridge."
    )


def _warn_of_separation(elo: pd.DataFrame, confidence_level: float) -> str:
    share = elo["separated"].max()
    if not depends_on_ridge(share, confidence_level=confidence_level):
        return ""
    what = (
        "so ends of intervals there depend"
        if elo["ci_low"].notna().any()
        else "so there are no intervals, which would depend"
    )
    return (
        f"In {format_share(share)} of the resamples some models only won against the rest, only "
        f"lost to it or never met it, {what} on the ridge and not on the data."
    )
