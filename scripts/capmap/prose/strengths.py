"""Sentences on what each model is good at."""

import pandas as pd

from capmap.claims import BETTER, WORSE, claim_strengths
from capmap.prose.words import join_sentences
from capmap.wording import format_count, format_percent, join_words, quote_name

MOST_MODELS, MOST_DATASETS = 12, 3


def describe_strengths(strengths: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say on which datasets models do better or worse than expected.

    Parameters
    ----------
    strengths : pandas.DataFrame
        The columns of the table of that name.
    confidence_level : float
        Of all intervals at once, between 0 and 1.

    Returns
    -------
    list of str
        Methods, then results: a sentence per model of which something is claimed, at most 12.
    """
    tested = int(strengths["ci_low"].notna().sum())
    methods = (
        "Expected is what the overall levels of a model and of a dataset add up to, by least "
        "squares over the mean normalized scores of all cells."
    )
    if not tested:
        return [f"{methods} Without runs that vary, nothing separates a strength from chance."]
    methods = join_sentences(
        methods,
        "Intervals are over new runs on these datasets and hold for all "
        f"{format_count(tested, 'cell')} at once with {format_percent(confidence_level)} "
        "(Student's t with Bonferroni's correction); the variance of a cell's runs is drawn "
        "towards that of its dataset's other cells (Smyth 2004).",
    )
    claims = claim_strengths(strengths, confidence_level=confidence_level)
    found: dict[str, dict[str, list[str]]] = {}
    for claim in claims:
        found.setdefault(claim.subject, {}).setdefault(claim.relation, []).append(claim.object)
    sentences = [_describe_model(model, own) for model, own in list(found.items())[:MOST_MODELS]]
    models = strengths["model"].nunique()
    if len(found) > MOST_MODELS:
        more = format_count(len(found) - MOST_MODELS, "more model has", "more models have")
        sentences.append(f"{more} such datasets.")
    if models > len(found):
        word = "No other model" if found else "No model"
        sentences.append(f"{word} deviates significantly from its expected scores.")
    return [methods, join_sentences(*sentences)]


def _describe_model(model: str, found: dict[str, list[str]]) -> str:
    parts = [
        f"{word} on {_list_datasets(found[relation])}"
        for relation, word in ((BETTER, "better"), (WORSE, "worse"))
        if relation in found
    ]
    return f"{quote_name(model)} did {' and '.join(parts)} than its level leads one to expect."


def _list_datasets(names: list[str]) -> str:
    shown = [quote_name(name) for name in names[:MOST_DATASETS]]
    if len(names) > MOST_DATASETS:
        shown.append(f"{len(names) - MOST_DATASETS} more")
    return join_words(shown)
