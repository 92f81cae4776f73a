"""What a study says of its models, one row per claim, with the test that it rests on.

Sentences are written from these rows, and ``claims.csv`` keeps them. Not listed are numbers
that are stated without a judgement, and that models could not be separated, which claims nothing.
"""

from collections.abc import Mapping
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from capmap.ranking import choose, choose_of_groups
from capmap.settings.choices import DECIDED, find_alpha
from capmap.wording import format_count, have_common_letter

SCOPES = dict.fromkeys(("runs", "seeds", "items"), "these datasets")
ANY_DATASETS = "datasets like these"
FEWEST_RANKED = 3
BETTER, WORSE = "does better than expected on", "does worse than expected on"
BAYESIAN = ("is better than", "is worse than", "is practically equivalent to")
OMNIBUS = {
    "friedman": "Friedman's test",
    "skillings_mack": "the test of Skillings and Mack",
}


class Claim(NamedTuple):
    """A statement about models.

    Parameters
    ----------
    scope : str
        Where it holds: "these datasets" (over new runs) or "datasets like these".
    relation : str
        What is said of the subject.
    subject, object : str
        Models; the object may be empty.
    level : float
        With what probability all claims of the family are true, at least; NaN if not stated.
    method, multiplicity : str
        The test, and how it allows for the number of tests.
    family : str
        The claims that are tested together.
    """

    scope: str
    relation: str
    subject: str
    object: str
    level: float
    method: str
    multiplicity: str
    family: str


COLUMNS = ["section", *Claim._fields]


def claim_ranking(
    ranking: pd.DataFrame,
    *,
    unit: str = "",
    confidence_level: float = nan,
    within: str = "",
) -> list[Claim]:
    """Say which model is best, which may be, and from which the leader is separated.

    A model is separated from the leader if it is from all that share the first rank with an
    interval. One is called best only if all others are separated from it, allowing for all pairs
    (of two equal models one would else be called best in a tenth of studies), all have intervals,
    and none has more datasets. Without ``rank_high_all`` nothing is said of the best; `within` is
    what is ranked on its own, such as a group of datasets.
    """
    ranking = ranking[ranking["rank"].notna()]
    if ranking.empty:
        return []
    family = f"pairs of {format_count(len(ranking), 'model')}" + (f", {within}" if within else "")
    about = confidence_level, "t test of differences", "Holm, all pairs", family
    scope = SCOPES.get(unit, ANY_DATASETS)
    is_first = ranking["rank"] == ranking["rank"].min()
    is_sure = ranking["tie_group"].map(has_letters)
    firsts, others = ranking[is_first & is_sure], ranking[~is_first & is_sure]
    shared = {*firsts["tie_group"]}
    claims = [
        Claim(scope, "is separated from", firsts["model"].iloc[0], other, *about)
        for other, letters in others[["model", "tie_group"]].to_numpy()
        if shared and not any(have_common_letter(ties, letters) for ties in shared)
    ]
    if "rank_high_all" not in ranking:
        return claims
    leader, candidates = ranking["model"].iloc[0], find_candidates(ranking)
    if (
        len(ranking) > 1
        and candidates == [leader]
        and ranking["rank_high_all"].iloc[0] == 1
        and ranking["datasets"].iloc[0] == ranking["datasets"].max()
        and not ranking["ci_low"].isna().any()
    ):
        return [Claim(scope, "is best", leader, "", *about), *claims]
    about = confidence_level, "t tests of differences", "Holm, pairs of the model", family
    return [*claims, *(Claim(scope, "may be best", name, "", *about) for name in candidates)]


def claim_pairs(pairwise: pd.DataFrame, *, alpha: float) -> list[Claim]:
    """Say which pairs differ by Wilcoxon's signed-rank test."""
    found = pairwise[pairwise["wilcoxon_p_holm"] < alpha]
    about = 1 - alpha, "Wilcoxon's signed-rank test", "Holm, all pairs", _name_pairs(len(pairwise))
    return _claim_differences(found, "differs from", about)


def claim_decisions(
    pairwise: pd.DataFrame, *, reference: str, probability: float, alpha: float
) -> list[Claim]:
    """Say what the Bayesian signed-rank test decided, allowing for all pairs."""
    pairs = len(pairwise)
    if not pairs:
        return []
    own = pairwise[(pairwise["model_a"] == reference) | (pairwise["model_b"] == reference)]
    chances = own[["p_a_better", "p_equivalent", "p_b_better"]].max(axis=1)
    is_equivalent = own["decision"] == "equivalent"
    is_testable = 2.0 ** (1 - own["datasets"]) * pairs < 1 - probability
    confirmed = is_testable.where(is_equivalent, own["wilcoxon_p_holm"] < alpha)
    decided = (own["decision"] != "undecided") & (1 - chances <= (1 - probability) / pairs)
    about = probability, "Bayesian signed-rank test", "Bonferroni, all pairs", _name_pairs(pairs)
    better, worse, equivalent = BAYESIAN
    claims = []
    for one, other, decision in own.loc[
        decided & confirmed, ["model_a", "model_b", "decision"]
    ].to_numpy():
        leads = (decision == "a better") == (one == reference)
        relation = equivalent if decision == "equivalent" else better if leads else worse
        rival = other if one == reference else one
        claims.append(Claim(ANY_DATASETS, relation, reference, rival, *about))
    return claims


def claim_mean_ranks(friedman: pd.DataFrame, *, alpha: float) -> list[Claim]:
    """Say that mean ranks differ where the test of all models together finds so.

    Of two models nothing is said: chi-squared is far from a sign test of few datasets, and found a
    difference between equal ones in 7% of studies of 8 datasets.
    """
    said = ANY_DATASETS, "differ in mean rank", "all models", "", 1 - alpha
    return [
        Claim(*said, OMNIBUS[name], "none: one test", "all models")
        for name, p, models in friedman[["test", "p_dependent", "models"]].to_numpy()
        if models >= FEWEST_RANKED and p < alpha
    ]


def claim_nemenyi(nemenyi: pd.DataFrame, *, alpha: float) -> list[Claim]:
    """Say which pairs of three models or more Nemenyi's test separates."""
    found = nemenyi[nemenyi["separated"].astype(bool) & (len(nemenyi) > 1)]
    about = 1 - alpha, "Nemenyi's test", "studentized range", _name_pairs(len(nemenyi))
    return _claim_differences(found, "differs in mean rank from", about)


def claim_strengths(strengths: pd.DataFrame, *, confidence_level: float) -> list[Claim]:
    """Say on which datasets a model does better or worse than expected."""
    cells = format_count(int(strengths["ci_low"].notna().sum()), "cell")
    about = confidence_level, "t test of the residual", "Bonferroni, all cells", cells
    columns = ["model", "dataset", "ci_low", "ci_high"]
    return [
        Claim(SCOPES["runs"], BETTER if low > 0 else WORSE, model, dataset, *about)
        for model, dataset, low, high in strengths[columns].to_numpy()
        if low > 0 or high < 0
    ]


def find_rivals(ranking: pd.DataFrame) -> list[str]:
    """Names of the models with an interval that are not separated from all the first with one.

    Examples
    --------
    >>> columns = {"model": ["A", "B", "C", "D"], "rank": range(1, 5)}
    >>> find_rivals(pd.DataFrame({**columns, "tie_group": ["a", "ab", "b", ""]}))
    ['B']
    """
    if ranking.empty:
        return []
    separated = {claim.object for claim in claim_ranking(ranking)}
    is_first = ranking["rank"] == ranking["rank"].min()
    is_sure = ranking["tie_group"].map(has_letters)
    is_close = ~is_first & is_sure & ~ranking["model"].isin(separated)
    names: list[str] = ranking.loc[is_close, "model"].tolist()
    return names if (is_first & is_sure).any() else []


def find_candidates(ranking: pd.DataFrame) -> list[str]:
    """Names of the models that may be best: rank 1 is in their set; none without intervals."""
    holds_first = (ranking["rank_low"] == 1).fillna(value=False).to_numpy(dtype=bool)
    names: list[str] = ranking.loc[holds_first, "model"].tolist()
    return names


def ranks_apart(tables: Mapping[str, pd.DataFrame]) -> bool:
    """Whether a study is a leaderboard that does not rank all its entries together."""
    entries = tables.get("leaderboard/entries")
    if entries is None:
        return False
    return bool(len(set(entries["method"])) > 1 or not entries["complete"].all())


def label_entries(entries: pd.DataFrame) -> list[str]:
    """Names of entries, with their submission where several have the same, or else their model.

    Examples
    --------
    >>> table = {"model": ["c / a", "c / b", "d / b"], "name": ["C", "C", "D"]}
    >>> label_entries(pd.DataFrame({**table, "submission": ["a", "b", "b"]}))
    ['C (a)', 'C (b)', 'D']
    """
    named = entries[["model", "name", "submission"]].fillna("").astype("str")
    apart = named["submission"].where(named["submission"] != "", named["model"])
    twice = named["name"].duplicated(keep=False)
    shown = named["name"].where(~twice, named["name"] + " (" + apart + ")")
    return shown.where(~shown.duplicated(keep=False), named["model"]).tolist()


def has_letters(ties: object) -> bool:
    """Whether a model has tie letters, which those without an interval lack."""
    return isinstance(ties, str) and bool(ties)


def list_claims(tables: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]) -> pd.DataFrame:
    """List all claims of a study."""
    confidence = settings["bootstrap"]["confidence"]
    alpha = find_alpha(confidence)
    ranking, claims = tables["ranking"], list[tuple[str, list[Claim]]]()
    reference = settings["comparison"]["reference"] or next(iter(ranking["model"]), "")
    unit = str(ranking["unit"].iloc[0]) if len(ranking) else ""
    scopes = choose(ranking, unit=None)
    for own_unit, own in () if ranks_apart(tables) else scopes.groupby("unit", sort=False):
        found = claim_ranking(own, unit=str(own_unit), confidence_level=confidence)
        claims.append(("main", found))
    if "pairwise" in tables:
        pairs = tables["pairwise"]
        chosen: dict[str, Any] = {"reference": reference, "probability": DECIDED, "alpha": alpha}
        claims.append(("pairwise", claim_pairs(pairs, alpha=alpha)))
        claims.append(("pairwise", claim_decisions(pairs, **chosen)))
    if "friedman" in tables:
        claims.append(("ranks", claim_mean_ranks(tables["friedman"], alpha=alpha)))
    if "nemenyi" in tables:
        claims.append(("ranks", claim_nemenyi(tables["nemenyi"], alpha=alpha)))
    if "strengths" in tables:
        found = claim_strengths(tables["strengths"], confidence_level=confidence)
        claims.append(("strengths", found))
    parts = [("groups", choose_of_groups(ranking), ["group"])]
    if "leaderboard/dimensions" in tables:
        parts.append(("leaderboard", tables["leaderboard/dimensions"], ["method", "dimension"]))
    for section, part, keys in parts:
        for names, own in part.fillna(dict.fromkeys(keys, "")).groupby(keys, sort=False):
            compared = own[["model", "rank", "tie_group"]].sort_values(["rank", "model"])
            within = ", ".join(filter(None, map(str, names)))
            found = claim_ranking(compared, unit=unit, confidence_level=confidence, within=within)
            claims.append((section, found))
    rows = [(section, *claim) for section, found in claims for claim in found]
    return pd.DataFrame(rows, columns=COLUMNS)


def _claim_differences(found: pd.DataFrame, relation: str, about: tuple[Any, ...]) -> list[Claim]:
    return [
        Claim(ANY_DATASETS, relation, one, other, *about)
        for one, other in zip(found["model_a"], found["model_b"], strict=True)
    ]


def _name_pairs(count: int) -> str:
    return format_count(count, "pair") + " of models"
