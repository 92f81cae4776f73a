"""Sentences on checkpoints: how they were chosen, what the choice is worth, and who leads."""

from collections.abc import Hashable, Mapping

import pandas as pd

from capmap.prose.words import format_span, format_value, join_sentences, join_some
from capmap.wording import format_count, quote_name


def describe_checkpoints(
    selected: pd.DataFrame,
    checkpoint_rankings: pd.DataFrame,
    ranking_agreement: pd.DataFrame,
    *,
    split: str,
    report: str,
) -> list[str]:
    """Say how the checkpoints of a study were chosen, and which ones lead its rankings.

    Parameters
    ----------
    selected, checkpoint_rankings, ranking_agreement : pandas.DataFrame
        The tables of these names in ``leaderboard/``; at least one training, the others may be
        empty.
    split, report : str
        Where checkpoints were chosen and where they were compared; empty without splits.

    Returns
    -------
    list of str
        Methods, what the choice is worth, and a paragraph of rankings, if there are any.
    """
    rankings = [
        _describe_ranking(str(name), rows)
        for name, rows in checkpoint_rankings.groupby("ranking", sort=False)
    ]
    paragraphs = [
        _describe_choice(selected, split, report),
        _describe_worth(selected, split, report),
        join_sentences(*rankings, _describe_agreement(ranking_agreement)),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def _describe_choice(selected: pd.DataFrame, split: str, report: str) -> str:
    trainings = format_count(len(selected), "training")
    models = format_count(selected["model"].nunique(), "model")
    spans = format_span(selected["checkpoints"], "checkpoint")
    chosen = (
        f"Of each of {trainings} of {models}, the best of its checkpoints ({spans}) was chosen by "
        f"its value{_name_split(split)}, the earliest where several were equal."
    )
    if report == split:
        compared = "They were compared by the values that they were chosen by, which flatter them."
    else:
        compared = f"The chosen checkpoints were compared{_name_split(report)}."
    stamp = selected["stamp"].iloc[0]
    warning = f"Caution: they were {stamp}, so no split is left to judge them by." if stamp else ""
    return join_sentences(chosen, compared, warning)


def _name_split(split: str) -> str:
    return f" on the split {quote_name(split)}" if split else ""


def _describe_worth(selected: pd.DataFrame, split: str, report: str) -> str:
    several = selected[selected["checkpoints"] > 1]
    if several.empty:
        return "No training had a choice between checkpoints."
    mean, last = (several[f"optimism_{name}"].mean() for name in ("mean", "last"))
    worth = (
        f"Averaged over {format_count(len(several), 'training')}, the chosen checkpoint was "
        f"{format_value(mean)} better than the mean and {format_value(last)} better than the last "
        f"that could be chosen of its training{_name_split(split)}."
    )
    noise = "The best of several is above their mean even where they differ by noise only."
    gains = several["gain_report"].dropna()
    if report == split or gains.empty:
        return join_sentences(worth, noise)
    return join_sentences(worth, noise, _describe_gains(gains, report))


def _describe_gains(gains: "pd.Series[float]", report: str) -> str:
    """Say how much better than the last the chosen checkpoints are where they are compared."""
    gain = gains.mean()
    change = "better" if gain >= 0 else "worse"
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    return (
        f"On the split {quote_name(report)}, it was {format_value(abs(gain))} {change} than the "
        f"last (better in {better} and worse in {worse} of "
        f"{format_count(len(gains), 'training')}), which the choice does not flatter."
    )


def _describe_agreement(agreement: pd.DataFrame) -> str:
    """Say which two rankings are least and most alike."""
    known = agreement.dropna(subset="kendall_tau").sort_values("kendall_tau", kind="stable")
    if known.empty:
        return ""
    least, most = (
        f"{row['kendall_tau']:.2f} ({quote_name(row['ranking_a'])} and "
        f"{quote_name(row['ranking_b'])})"
        for _, row in known.iloc[[0, -1]].iterrows()
    )
    if len(known) == 1:
        return f"Kendall's tau of the two rankings is {least}."
    return f"Kendall's tau of two rankings, also by each metric alone, is from {least} to {most}."


def _describe_ranking(name: str, rows: pd.DataFrame) -> str:
    ranked = rows[rows["rank"].notna()]
    unranked = len(rows) - len(ranked)
    left = f"{format_count(unranked, 'checkpoint')} could not be ranked." if unranked else ""
    if ranked.empty:
        return join_sentences(f"In the ranking {quote_name(name)}, nothing has a score.", left)
    first = ranked[ranked["rank"] == 1]
    names = join_some([_name_row(row) for row in first.to_dict("records")])
    verb = "led" if len(first) == 1 else "shared the lead"
    score = format_value(first["score"].iloc[0])
    return join_sentences(
        f"In the ranking {quote_name(name)} of {format_count(len(ranked), 'checkpoint')}, {names} "
        f"{verb} ({score}).",
        left,
    )


def _name_row(row: Mapping[Hashable, object]) -> str:
    model, training = str(row["model"]), str(row["training"])
    place = f"checkpoint {quote_name(str(row['checkpoint']))}"
    if training != model:
        place += f" of the training {quote_name(training)}"
    return f"{quote_name(model)} ({place})"
