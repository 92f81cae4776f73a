"""Sentences on the best expected model of each dataset and budget."""

import pandas as pd

from capmap.prose.words import join_sentences
from capmap.wording import format_count, format_percent


def describe_budgets(best_models: pd.DataFrame, *, confidence_level: float) -> str:
    """Say how far the best model of each dataset and budget is known.

    Parameters
    ----------
    best_models : pandas.DataFrame
        The columns of the table of that name.
    confidence_level : float
        Of the sets of candidates, between 0 and 1.

    Returns
    -------
    str
        "" where no model can be chosen. No model is called the best: the table has the candidates.
    """
    if best_models.empty:
        return ""
    budgets = best_models["budget"].nunique()
    last = best_models.groupby("dataset").tail(1)
    alone = int((best_models["candidates"] == 1).sum())
    return join_sentences(
        "The best expected model of each dataset"
        + (f" at each of {format_count(budgets, 'budget')}" if budgets else "")
        + " is the one with the smallest gap, known or predicted; candidates are the models that "
        "may still be the best. Of the models that results connect with a dataset, they hold the "
        f"best with a probability of {format_percent(confidence_level)}"
        + (", at all budgets at once" if budgets else "")
        + ", if new results are like those that are there.",
        f"On average a dataset has {last['candidates'].mean():.1f} candidates of "
        f"{last['models'].mean():.3g} models{' at the largest budget' if budgets else ''}; in "
        f"{alone:,} of {format_count(len(best_models), 'case')} there is one candidate only.",
    )
