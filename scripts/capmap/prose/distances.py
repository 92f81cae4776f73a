"""Sentences on distances and dimensions of a map, beside what the paper found."""

from collections.abc import Mapping

import pandas as pd

from capmap.prose.gap_errors import (
    METHOD_NAMES,
    classify_difference,
    describe_difference,
    describe_ends,
    describe_error,
    format_error,
)
from capmap.prose.words import format_value, join_sentences
from capmap.wording import format_count

DISTANCES = ("l2", "poincare", "cosine")
PAPER_DIMENSION = 5
FEW = 10
AGREES = {True: "as in Adorni et al. (2025)", False: "unlike in Adorni et al. (2025)"}
# What the paper found of the errors of other distances against that of L2.
FOUND = {"poincare": "they are alike", "cosine": "it is higher"}
OPEN = "which leaves open whether {} as in Adorni et al. (2025)"


def describe_distances(
    summary: pd.DataFrame,
    by_results: pd.DataFrame,
    centrality: pd.DataFrame,
    *,
    dimension: int,
) -> str:
    """Say which distance and dimension predict best, and where that agrees with the paper.

    Parameters
    ----------
    summary, by_results, centrality : pandas.DataFrame
        The columns of the tables of these names in ``capabilities/``.
    dimension : int
        Number of coordinates.

    Returns
    -------
    str
        A paragraph; "" where nothing was compared.

    References
    ----------
    Adorni et al. (2025), arXiv:2505.03299: validation errors of L2 and Poincaré distances are alike
    and lower than that of the cosine distance, which overfits; five dimensions are enough; the
    error falls once a model has 10 to 20 results; and models in the center are good at many
    datasets.
    """
    rows = summary[(summary["protocol"] == "random") & summary["mse"].notna()]
    fitted = rows[rows["distance"].isin(DISTANCES)]
    same = fitted[fitted["dimension"] == dimension]
    own = {str(row["distance"]): row for _, row in same.iterrows()}
    return join_sentences(
        _describe_lowest(fitted, dimension),
        _describe_order(own),
        _describe_overfit(own),
        _describe_dimensions(fitted[fitted["distance"] == "l2"], dimension),
        _describe_results(by_results[by_results["distance"] == "l2"]),
        _describe_center(centrality),
    )


def _describe_lowest(fitted: pd.DataFrame, dimension: int) -> str:
    if len(fitted) < 2:
        return ""
    best = fitted.sort_values("mse", kind="stable").iloc[0]
    where = f"{METHOD_NAMES[best['distance']]} in {format_count(best['dimension'], 'dimension')}"
    doubt = ""
    is_plain = best["distance"] == "l2" and best["dimension"] == dimension
    if not is_plain and classify_difference(best) == "alike":
        doubt = f", which could not be separated from L2 in {dimension}"
    return (
        f"Of the distances alone, {where} had the lowest MSE of hidden results, "
        f"{describe_error(best)}{doubt}."
    )


def _describe_order(own: "Mapping[str, pd.Series]") -> str:
    """Compare the other distances with L2 in the same dimension."""
    if "l2" not in own:
        return ""
    parts = [
        _describe_against_plain(own[distance], distance)
        for distance in FOUND
        if distance in own and classify_difference(own[distance])
    ]
    if not parts:
        return ""
    dimension = format_count(own["l2"]["dimension"], "dimension")
    return f"With {dimension}, {'; '.join(parts)}."


def _describe_against_plain(row: "pd.Series", distance: str) -> str:
    found = classify_difference(row)
    if found != "alike":
        agrees = AGREES[distance == "cosine" and found == "higher"]
        return (
            f"the error of {METHOD_NAMES[distance]} was {describe_difference(row, 'that of L2')}, "
            f"{agrees}"
        )
    ends = describe_ends(row, "difference").strip(" ()")
    return (
        f"the error of {METHOD_NAMES[distance]} could not be separated from that of L2 (difference "
        f"{format_error(row['difference'])}, {ends}), {OPEN.format(FOUND[distance])}"
    )


def _describe_overfit(own: "Mapping[str, pd.Series]") -> str:
    if not {"l2", "cosine"} <= own.keys():
        return ""
    cosine, plain = own["cosine"], own["l2"]
    if pd.isna(cosine["train_mse"]) or pd.isna(plain["train_mse"]):
        return ""
    errors = [format_error(row["train_mse"]) for row in (cosine, plain)]
    if errors[0] == errors[1]:
        return ""
    known = " against ".join(errors)
    if cosine["train_mse"] >= plain["train_mse"]:
        return (
            f"The cosine distance did not fit known results more closely than L2 ({known}), unlike "
            "in Adorni et al. (2025), where it overfits."
        )
    hidden = f"{format_error(cosine['mse'])} against {format_error(plain['mse'])}"
    found = classify_difference(cosine)
    if found == "lower":
        return (
            f"The cosine distance fitted known results more closely than L2 ({known}) and "
            f"predicted hidden ones better ({hidden}), unlike in Adorni et al. (2025), where it "
            f"overfits."
        )
    text = f"The cosine distance fitted known results more closely than L2 ({known}) "
    if found != "higher":
        return f"{text}and hidden ones not clearly otherwise, {OPEN.format('it overfits')}."
    return f"{text}and predicted hidden ones worse ({hidden}): it overfits, {AGREES[True]}."


def _describe_dimensions(plain: pd.DataFrame, dimension: int) -> str:
    """Say whether more dimensions help plain L2, and whether fewer would do."""
    known = plain.dropna(subset=["difference_low", "difference_high"])
    more = known[known["dimension"] > dimension].sort_values("difference", kind="stable")
    fewer = known[known["dimension"] < dimension].sort_values("dimension", kind="stable")
    parts = []
    if len(more):
        better = more[more["difference_high"] < 0]
        paper = AGREES[False] if len(better) else OPEN.format("five are enough")
        paper = f", {paper}" if dimension == PAPER_DIMENSION else ""
        said = "More dimensions did not clearly lower the error of L2"
        if len(better):
            best = format_count(better["dimension"].iloc[0], "dimension")
            found = describe_difference(better.iloc[0], f"that with {dimension}")
            said = f"With {best} the error of L2 was {found}"
        parts.append(f"{said}{paper}.")
    enough = fewer[fewer["difference_low"] <= 0]
    if len(enough):
        least = format_count(enough["dimension"].iloc[0], "dimension")
        parts.append(f"Already with {least} it was not clearly higher than with {dimension}.")
    elif len(fewer):
        parts.append(f"With fewer than {dimension} dimensions the error of L2 was higher.")
    return " ".join(parts)


def _describe_results(by_results: pd.DataFrame) -> str:
    """Say whether errors fall with the number of results that a model has.

    They do where intervals of a class of fewer and of one of more results lie apart.
    """
    known = by_results.dropna(subset="mse")
    few, many = (known[own] for own in (known["results_from"] < FEW, known["results_from"] >= FEW))
    if few.empty or many.empty:
        return ""
    means = [
        (own["mse"] * own["predictions"]).sum() / own["predictions"].sum() for own in (few, many)
    ]
    falls = few["mse_low"].max() > many["mse_high"].min()
    rises = many["mse_low"].max() > few["mse_high"].min()
    agrees = AGREES[bool(falls)]
    if falls == rises:
        agrees = OPEN.format("errors fall with 10 to 20 results")
    return (
        f"Models with fewer than {FEW} known results had an MSE of {format_error(means[0])} "
        f"({format_count(few['predictions'].sum(), 'prediction')}), those with {FEW} or "
        f"more {format_error(means[1])} ({format_count(many['predictions'].sum(), 'prediction')}), "
        f"{agrees}."
    )


def _describe_center(centrality: pd.DataFrame) -> str:
    """Say how well the distance to the center stands for the mean gap, to which it is fitted."""
    found = centrality.dropna(subset="estimate")
    if found.empty:
        return ""
    return (
        "Spearman's correlation of a model's distance to the center with its mean gap was "
        f"{format_value(found['estimate'].iloc[0])}; as distances are fitted to gaps, it is high "
        "for scores without any structure too, so it is no finding about generalists."
    )
