"""The paragraph of results, of sentences that are claims."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from capmap.claims import ANY_DATASETS, BAYESIAN, BETTER, COLUMNS, SCOPES, WORSE
from capmap.paper.latex import write_name
from capmap.paper.rankings import (
    OVER,
    STAR,
    Ranking,
    describe_size,
    find_names,
    name_within,
    write_percent,
    write_score,
)
from capmap.tables import escape_latex
from capmap.wording import ALL, join_words, name_first

KINDS = [name for name in COLUMNS if name not in ("subject", "object")]
MOST_NAMES, MOST_PAIRS = 5, 3
ALLOWING = {
    "Holm, all pairs": "Holm's correction over all pairs",
    "Bonferroni, all others": "Bonferroni's correction over all others",
    "Bonferroni, all pairs": "Bonferroni's correction over all pairs",
    "Bonferroni, all cells": "Bonferroni's correction over all cells",
    "studentized range": "studentized range of all models",
    "none: all have to agree": "all have to agree",
}
# Said of many pairs at once, and what follows the verb.
PAIRS = {"differs from": "", "differs in mean rank from": " in mean rank"}
WAS = {relation: relation.replace("is ", "was ", 1) for relation in BAYESIAN}


def describe_results(rankings: Sequence[Ranking], claims: pd.DataFrame) -> list[str]:
    r"""Write the results as paragraphs of LaTeX, which say no more than the claims.

    Parameters
    ----------
    rankings : sequence of Ranking
        Those of the study, or none.
    claims : pandas.DataFrame
        The rows of ``claims.csv``.

    Returns
    -------
    list of str
        A paragraph per ranking, with what is claimed of it, and one with what the analyses claim.
        Every number stands in a table of the paper. Models that could not be separated are not
        called equal.
    """
    if not rankings:
        return ["No entry is complete enough to be ranked."]
    names = find_names(list(rankings))
    paragraphs = []
    for ranking in rankings:
        own = _choose_claims(ranking, claims)
        sentences = [_describe_first(ranking), *_word_claims(own, names, ranking)]
        if ranking.is_sure and own.empty and len(ranking.models) > 1:
            sentences.append(_describe_unseparated(ranking))
        paragraphs.append(" ".join([*sentences, *_warn(ranking)]))
    beyond = claims[~claims["section"].isin(["main", "leaderboard"])]
    sentences = list(_word_claims(beyond, names, None))
    return [*paragraphs, " ".join(sentences)] if sentences else paragraphs


def _describe_unseparated(ranking: Ranking) -> str:
    first = ranking.models.sort_values("rank").iloc[0]
    if pd.isna(first["ci_low"]):
        return "The first has no interval, so no model was compared with it."
    return "No model could be separated from the first."


def _choose_claims(ranking: Ranking, claims: pd.DataFrame) -> pd.DataFrame:
    """The claims of a ranking; of a method those of all its datasets."""
    if not ranking.within:
        return claims[claims["section"] == "main"]
    models = set(ranking.models["model"])
    is_own = claims["subject"].isin(models) & claims["family"].str.endswith(f", {ALL}")
    return claims[claims["section"].eq("leaderboard") & is_own]


def _describe_first(ranking: Ranking) -> str:
    models = ranking.models
    first = models[models["rank"] == models["rank"].min()]
    place = "On datasets like these" if ranking.unit == "runs_and_datasets" else "On these datasets"
    start = f"{place}{name_within(ranking)} ({describe_size(ranking)})"
    table = rf"Table~\ref{{{ranking.label}}}"
    if len(models) == 1:
        return f"{start}, {_list_names(first['name'])} was the only one ({table})."
    what = name_first(ranking.statistic)
    score = write_score(first.iloc[0])
    if len(first) > 1:
        names = _list_names(first["name"])
        return f"{start}, {names} shared {what}, {score.partition(' ')[0]} ({table})."
    over = f", interval over {OVER[ranking.unit]}" if "[" in score else ""
    return f"{start}, {_list_names(first['name'])} had {what}, {score} ({table}{over})."


def _word_claims(
    claims: pd.DataFrame, names: Mapping[str, str], ranking: Ranking | None
) -> Iterator[str]:
    """A sentence for claims of a kind, with scope, test and level."""
    kinds = claims.groupby(KINDS, sort=False, dropna=False)
    best = {kind[1] for kind, _ in kinds if kind[2] == "is best"}
    before = ""
    for _, own in kinds:
        row = own.iloc[0]
        if row["relation"] == "is separated from" and row["scope"] in best and ranking:
            continue
        if found := _word(own.fillna(""), names, ranking):
            place = _describe_place(row)
            yield f"{'There' if place == before else place} {found} ({_describe_test(row)})."
            before = place


def _describe_place(row: "pd.Series[str]") -> str:
    is_own = row["scope"] == "these datasets"
    place = "On these datasets" if is_own else "On other datasets like these"
    within = row["family"].partition(", ")[2] if row["section"] == "groups" else ""
    return f"{place}, in the group {write_name(within)}," if within else place


def _word(own: pd.DataFrame, names: Mapping[str, str], ranking: Ranking | None) -> str:
    relation = own["relation"].iloc[0]
    subjects = [names.get(name, name) for name in own["subject"]]
    objects = [names.get(name, name) for name in own["object"]]
    count = f"{len(own):,}"
    if relation == "is best":
        return f"{_list_names(subjects)} was best: all others were separated from it"
    if relation == "may be best":
        if len(own) < 2:
            return ""
        marked = rf"marked {STAR} in Table~\ref{{{ranking.label}}}" if ranking else ""
        few = len(own) <= MOST_NAMES
        who = _list_names(subjects) if few else f"{count} models ({marked})"
        return f"{who} may be the best"
    if relation == "differ in mean rank":
        return "the models differed in mean rank"
    if relation in PAIRS:
        both = zip(subjects, objects, strict=True)
        pairs = [f"{write_name(one)} from {write_name(other)}" for one, other in both]
        if len(pairs) > MOST_PAIRS:
            return f"{count} pairs of models differed{PAIRS[relation]}"
        return f"models differed{PAIRS[relation]}: {join_words(pairs)}"
    if relation in (BETTER, WORSE):
        how = "better" if relation == BETTER else "worse"
        if len(own) > MOST_PAIRS:
            return f"in {count} cells models did {how} than their level leads one to expect"
        cells = [
            f"{write_name(one)} on {write_name(other)}"
            for one, other in zip(subjects, own["object"], strict=True)
        ]
        return f"models did {how} than their level leads one to expect: {join_words(cells)}"
    by = " by mean rank" if own["section"].iloc[0] == "ranks" else ""
    verb = WAS.get(relation, "was separated from")
    return f"{write_name(subjects[0])} {verb} {_list_others(objects, own, ranking)}{by}"


def _list_others(objects: list[str], own: pd.DataFrame, ranking: Ranking | None) -> str:
    if len(objects) <= MOST_NAMES:
        return _list_names(objects)
    where = ""
    if ranking and own["scope"].iloc[0] == SCOPES.get(ranking.unit, ANY_DATASETS):
        where = rf", those without a mark in Table~\ref{{{ranking.results_label}}}"
    return f"{len(objects):,} other models{where}"


def _describe_test(row: "pd.Series[str]") -> str:
    level = "" if pd.isna(row["level"]) else f"; {write_percent(float(row['level']))}"
    allowing = ALLOWING.get(row["multiplicity"], row["multiplicity"])
    return f"{escape_latex(row['method'])}; {escape_latex(allowing)}{level}"


def _warn(ranking: Ranking) -> Iterator[str]:
    """What a reader has to know of the order, without numbers."""
    models = ranking.models
    first = models[models["rank"] == models["rank"].min()]
    if not ranking.is_sure:
        yield (
            "The ranking has no measure of uncertainty, so nothing separates a real difference "
            "from chance."
        )
    elif models["ci_low"].isna().any():
        yield "Models without an interval cannot be compared with the others."
    if first["filled"].any():
        yield (
            "The first lacks some datasets, on which its score is expected from the other models."
        )


def _list_names(names: Sequence[str] | pd.Series) -> str:
    written = [write_name(name) for name in names]
    return join_words(written) if len(written) <= MOST_NAMES else "several models"
