"""Sentences on how a map changes as models are published."""

import pandas as pd

from capmap.prose.gap_errors import describe_error, format_error
from capmap.prose.words import format_value, join_sentences
from capmap.wording import format_count


def describe_drift(drift: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say whether the map stays put, and how well it predicts models that come later.

    Parameters
    ----------
    drift : pandas.DataFrame
        The columns of ``comparisons/drift.csv``, a row per step by date; may be empty.
    confidence_level : float
        Of the intervals of errors, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results; one sentence without dates.
    """
    if drift.empty:
        return ["No model on the map has a date of publication, so there was no order to replay."]
    first, last = drift.iloc[0], drift.iloc[-1]
    if len(drift) == 1:
        return [
            f"All models with a date are of one step ({first['date']}, "
            f"{format_count(first['models'], 'model')}), so there was no order to replay."
        ]
    methods = join_sentences(
        f"Models were added to the map in order of publication, in "
        f"{format_count(len(drift), 'step')} from {first['date']} "
        f"({format_count(first['models'], 'model')}) to {last['date']} "
        f"({format_count(last['models'], 'model')}); models without a date were there from the "
        "start.",
        "A shift is the root mean square distance that models move, after the maps were laid over "
        "each other, where 1 is the radius of the final map. Gaps are those to the best and worst "
        "model of all times.",
    )
    newcomers = _describe_newcomers(drift, confidence_level)
    return [methods, join_sentences(_describe_shifts(drift), newcomers)]


def _describe_shifts(drift: pd.DataFrame) -> str:
    known = drift.dropna(subset=["shift", "shift_noise"])
    if known.empty:
        return "There was no earlier map to compare with."
    shift, noise = known["shift"].median(), known["shift_noise"].median()
    median = "a median of " if len(known) > 1 else ""
    largest = known.sort_values("shift", ascending=False, kind="stable").iloc[0]
    most = ""
    if len(known) > 1:
        most = f"The largest was {format_value(largest['shift'])}, up to {largest['date']}."
    return join_sentences(
        f"From one step to the next, models moved by {median}"
        f"{format_value(shift)}; other random starts alone moved them by {format_value(noise)}. "
        "Models added in any order would move them, so that is no evidence of drift.",
        most,
        _describe_way(drift),
    )


def _describe_way(drift: pd.DataFrame) -> str:
    """Say how far positions were from the final ones at the start and before the last step."""
    known = drift.iloc[:-1].dropna(subset="shift_to_final")
    if known.empty:
        return ""
    first, last = known.iloc[0], known.iloc[-1]
    before = ""
    if len(known) > 1:
        before = f", and {format_value(last['shift_to_final'])} before the last step"
    return (
        f"After the first step they were {format_value(first['shift_to_final'])} from where they "
        f"end{before}."
    )


def _describe_newcomers(drift: pd.DataFrame, confidence_level: float) -> str:
    """Say how well the newcomers of the last step that has some are predicted."""
    known = drift.dropna(subset="mse")
    if known.empty:
        return "No newcomer had results enough to predict one half from the other."
    row = known.iloc[-1]
    return (
        f"With one half of their results known, the other half of those of the newcomers up to "
        f"{row['date']} ({format_count(row['predictions'], 'result')}) was predicted with a mean "
        f"squared error of {describe_error(row, over='models', confidence_level=confidence_level)}"
        f", where additive effects of models and datasets had {format_error(row['mse_additive'])}."
    )
