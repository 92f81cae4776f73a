"""Sentences on Elo ratings and win rates."""

import pandas as pd

from capmap.prose.words import (
    PER_PAIR,
    format_count,
    format_percent,
    join_names,
    join_sentences,
    tell_no_interval,
    tell_policy,
    tell_unused,
)
from capmap.wording import quote_name

BATTLES = {
    "means": "mean scores per dataset were compared",
    "runs": "every run of the one was compared with every run of the other on the same dataset",
    "seeds": "runs with the same seed on the same dataset were compared",
}


def describe_ratings(
    elo: pd.DataFrame,
    winrate: pd.DataFrame,
    *,
    missing: str,
    battles: str,
    tie_threshold: float,
    calibration: str,
    n_resamples: int,
    confidence_level: float,
    cells_unused: int,
) -> list[str]:
    """Say how models were rated, and which lead.

    Parameters
    ----------
    elo, winrate : pandas.DataFrame
        The columns of ``tables/elo.csv`` and ``tables/winrate.csv``.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    battles : {"means", "runs", "seeds"}
        What makes a battle.
    tie_threshold : float
        Differences of normalized score up to which a battle is a tie.
    calibration : str
        The model that gets 1000, or "" where the mean does.
    n_resamples : int
        Number of bootstrap resamples.
    confidence_level : float
        Of the intervals, between 0 and 1.
    cells_unused : int
        Cells with runs that were left out.

    Returns
    -------
    list of str
        Methods, then results.
    """
    if len(elo) < 2:
        return ["With a single model there was no opponent to be rated against."]
    level = format_percent(confidence_level)
    anchor = f"{quote_name(calibration)} at 1000" if calibration else "mean 1000"
    ties = f"differences of up to {tie_threshold:g}" if tie_threshold else "equal scores"
    methods = join_sentences(
        f"The {format_count(len(elo), 'model')} were rated by a Bradley-Terry model fitted by "
        f"maximum likelihood with a slight ridge penalty (Elo scale, {anchor}). In a battle of two "
        f"models, {BATTLES.get(battles, battles)}; {ties} counted as half a win for each, and "
        "every dataset weighed the same.",
        tell_policy(missing, subject="Two models met", own=PER_PAIR),
        tell_unused(cells_unused),
        f"The {level} intervals were percentiles of {n_resamples:,} bootstrap resamples of "
        "datasets and of runs within each, per model; datasets were assumed exchangeable.",
    )
    results = join_sentences(
        _tell_leader(elo, confidence_level),
        tell_no_interval(elo),
        _tell_winner(winrate),
        _warn_of_dominance(winrate),
        "A rating depends on which other models are present, and only differences of ratings mean "
        "something: 400 points are odds of ten to one.",
    )
    return [methods, results]


def _tell_leader(elo: pd.DataFrame, confidence_level: float) -> str:
    known = elo.dropna(subset=["elo"]).sort_values("rank", kind="stable")
    if known.empty:
        return "No model could be rated."
    leader = known.iloc[0]
    first = known.loc[known["rank"] == leader["rank"], "model"]
    rating = f"{leader['elo']:.0f}"
    if len(first) > 1:
        return f"{join_names(first)} shared the highest rating, {rating}."
    interval = ""
    if pd.notna(leader["ci_low"]):
        level = format_percent(confidence_level)
        interval = f" ({level} interval {leader['ci_low']:.0f} to {leader['ci_high']:.0f})"
    text = f"{quote_name(leader['model'])} had the highest rating, {rating}{interval}."
    if pd.notna(leader["rank_high"]) and leader["rank_high"] > leader["rank_low"]:
        low, high = leader["rank_low"], leader["rank_high"]
        text += f" Its rank interval was {low:.0f} to {high:.0f}."
    return text


def _tell_winner(winrate: pd.DataFrame) -> str:
    known = winrate.dropna(subset=["win_rate"])
    if known.empty:
        return "No two models had a dataset in common."
    mean = known.groupby("model")["win_rate"].mean()
    best = mean[mean >= mean.max()].index
    verb = "shared" if len(best) > 1 else "had"
    return (
        f"{join_names(best)} {verb} the highest win rate, averaged over opponents: "
        f"{format_percent(round(mean.max(), 3))} of datasets."
    )


def _warn_of_dominance(winrate: pd.DataFrame) -> str:
    rates = winrate.dropna(subset=["win_rate"]).groupby("model")["win_rate"]
    is_extreme = (rates.min() == 1) | (rates.max() == 0)
    names = is_extreme.index[is_extreme].tolist()
    if not names:
        return ""
    return (
        f"{join_names(names)} won or lost on every dataset; how far from the others such a model "
        "is rated may rest on the ridge penalty alone."
    )
