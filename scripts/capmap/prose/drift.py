"""Sentences on how a map changes as models are published."""

import pandas as pd

from capmap.prose.words import describe_error, format_error, format_value, join_sentences
from capmap.wording import format_count


def describe_drift(drift: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say whether the map stays put, and how well it predicts models that come later."""
    if len(drift) < 2:
        return ["Models on the map need two dates of publication or more to be replayed."]
    first, last = drift.iloc[0], drift.iloc[-1]
    methods = (
        f"Models are added to the map in order of publication, in "
        f"{format_count(len(drift), 'step')} from {first['date']} to {last['date']}. A shift is "
        "the root mean square distance that models move after alignment, in radii of the final "
        "map. Half of the newcomers' results is predicted from the other half."
    )
    return [
        methods,
        join_sentences(_describe_shift(drift), _describe_newcomers(drift, confidence_level)),
    ]


def _describe_shift(drift: pd.DataFrame) -> str:
    known = drift.dropna(subset=["shift", "shift_noise"])
    if known.empty:
        return "There is no earlier map to compare with."
    row = known.sort_values("shift", ascending=False, kind="stable").iloc[0]
    return (
        f"From one step to the next, models move by at most {format_value(row['shift'])} (to "
        f"{row['date']}); random starts alone move them by {format_value(row['shift_noise'])}. "
        "Any added model moves others, so this is no evidence of drift."
    )


def _describe_newcomers(drift: pd.DataFrame, confidence_level: float) -> str:
    """Say how well the newcomers of the last step that has some are predicted."""
    known = drift.dropna(subset="mse")
    if known.empty:
        return "No newcomer has enough results to be predicted."
    row = known.iloc[-1]
    return (
        f"The mean squared error on the newcomers up to {row['date']} is "
        f"{describe_error(row, 'mse', confidence_level=confidence_level)}, against "
        f"{format_error(row['mse_additive'])} of additive effects."
    )
