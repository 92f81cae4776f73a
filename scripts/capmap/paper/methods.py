r"""The paragraph of methods: what a study did, by its settings, with ``\citep`` of each method."""

from collections.abc import Mapping, Sequence
from typing import Any

from capmap.paper.rankings import OVER, Ranking, write_percent
from capmap.settings.choices import DECIDED, Incomplete, find_alpha
from capmap.wording import MOST_LETTERED, join_words, spell_statistic

Setting = Mapping[str, Any]

TRIMMED = "with the standard error of a trimmed mean \\citep{tukey1963}, degrees of freedom after "
DEGREES = {
    "runs": "\\citet{satterthwaite1946}",
    "seeds": "the number of seeds",
    "runs_and_datasets": "\\citet{yuen1974}",
}
RESAMPLED = {
    "runs": "runs within datasets",
    "runs_and_datasets": "datasets, and runs within them",
}
# What each analysis did; those with settings of their own are functions below.
ANALYSES = {
    "strengths": "Where models do better than expected is judged by the residuals of an additive "
    "model of models and datasets, with moderated variances \\citep{smyth2004} and Bonferroni's "
    "correction over all cells.",
    "profiles": "Performance profiles \\citep{dolan2002} are the share of datasets on which a "
    "model is within a factor of the best; score distributions follow \\citet{agarwal2021}.",
    "ratings": "Ratings are those of a Bradley-Terry model \\citep{bradley1952} on the Elo scale.",
    "improvability": "Improvability \\citep{erickson2025} is the share of a model's error that the "
    "best model of a dataset does not make.",
    "frontier": "A model is on the front of score against cost if no other one scores as high at "
    "the same cost or less; shares are of bootstrap resamples.",
    "robustness": "The ranking was compared by Kendall's tau \\citep{kendall1945} with those by "
    "other aggregations, by other bounds and without single datasets.",
    "reliability": "Reliability is the generalizability coefficient \\citep{brennan2001}, with the "
    "interval of an intraclass correlation \\citep{mcgraw1996}.",
    "groups": "Groups of datasets were ranked in the same way, each on its own.",
    "conditions": "Conditions were compared by Kendall's tau \\citep{kendall1945} and Spearman's "
    "rho of the models' ranks.",
    "sample_size": "Where further runs help most follows from Neyman allocation "
    "\\citep{neyman1934}.",
    "capabilities": "Models and datasets were placed on a map by their results "
    "\\citep{adorni2025}, with conformal intervals of predictions "
    "\\citep{papadopoulos2002,lei2018}.",
    "placements": "Models with few results were placed on the map of the others "
    "\\citep{adorni2025}.",
    "next_results": "The results to run next are those with the widest prediction intervals, of "
    "models that may be near the best.",
    "drift": "The map was made anew in order of publication \\citep{adorni2025}.",
    "transfer": "Predictions for datasets that were not trained on are those of the map "
    "\\citep{adorni2025}.",
    "multilabel": "Predictions were judged by all valid labels of an image \\citep{anzaku2024}.",
}

FRIEDMAN = "Friedman's test \\citep{friedman1937}"
SKILLINGS = "the test of \\citet{skillings1981}"
NEMENYI = "Nemenyi's test \\citep{nemenyi1963}"
WILCOXON = (
    "Wilcoxon's signed-rank test \\citep{wilcoxon1945} with Holm's correction \\citep{holm1979}"
)

FILLED = {
    "adjust": "On datasets that a model lacks, its score is expected from an additive model of "
    "models and datasets \\citep{yates1933}.",
}


def describe_methods(
    rankings: Sequence[Ranking],
    *,
    analyses: Sequence[str],
    bootstrap: Setting,
    comparison: Setting,
    failed: object,
    incomplete: Incomplete,
    filled: Sequence[float],
) -> list[str]:
    r"""Write what was done as paragraphs of LaTeX.

    Parameters
    ----------
    rankings : sequence of Ranking
        Those of the study, or none.
    analyses : sequence of str
        The analyses of the study.
    bootstrap, comparison : mapping
        The settings of these names.
    failed : object
        The setting of failed runs.
    incomplete : str
        The setting of empty cells.
    filled : sequence of float
        Share of the models that have runs on each dataset, 0 to 1.

    Returns
    -------
    list of str
        One on the ranking, and one on the analyses where there are any. Only methods that were
        used are cited.
    """
    ranking = " ".join(_describe_ranking(rankings, bootstrap, failed, incomplete))
    models = max((len(own.models) for own in rankings), default=0)
    tests = {**comparison, "alpha": find_alpha(bootstrap["confidence"])}
    sentences = [_describe_analysis(name, tests, filled, models) for name in analyses]
    beyond = " ".join(filter(None, sentences))
    return [text for text in (ranking, beyond) if text]


def _describe_ranking(
    rankings: Sequence[Ranking], bootstrap: Setting, failed: object, incomplete: Incomplete
) -> list[str]:
    sentences = ["Scores were normalized on each dataset, so that 1 is best, whatever the metric."]
    if failed not in ("invalid", "drop"):
        sentences.append("Failed runs have a score in their place \\citep{gijsbers2024}.")
    if not rankings:
        return sentences
    first, level = rankings[0], bootstrap["confidence"]
    within = ", within each method," if first.within else ""
    cite = " \\citep{agarwal2021}" if first.statistic == "iqm" else ""
    sentences.append(
        f"Models were ranked{within} by the {spell_statistic(first.statistic)} of their normalized "
        f"scores{cite}; each dataset weighed the same."
    )
    if first.models["filled"].any():
        sentences.append(FILLED[incomplete])
    if any(ranking.is_sure for ranking in rankings):
        sentences += _describe_intervals(first, bootstrap)
    if any(ranking.is_sure and len(ranking.models) > 1 for ranking in rankings):
        sentences.append(
            f"Sets of ranks are {write_percent(level)} confidence sets \\citep{{mogstad2024}}. "
            "Models are separated by $t$ tests of their differences with Holm's correction "
            "\\citep{holm1979} over all pairs; letters mark those that are not "
            "\\citep{piepho2004}."
        )
    return sentences


def _describe_intervals(ranking: Ranking, bootstrap: Setting) -> list[str]:
    kind, unit = bootstrap["interval"], ranking.unit
    level = write_percent(bootstrap["confidence"])
    scope = f"They hold for {OVER[unit]}."
    if kind == "calibrated":
        is_trimmed = ranking.statistic == "iqm"
        how = f" {TRIMMED}{DEGREES[unit]}," if is_trimmed and unit != "seeds" else ""
        how = (
            " with the standard error of a trimmed mean \\citep{tukey1963},"
            * (is_trimmed and unit == "seeds")
            or how
        )
        skew = " and a shift for skewness \\citep{johnson1978}"
        return [f"Intervals ({level}) are Student's $t$ intervals{how}{skew}. {scope}"]
    return [
        f"Intervals ({level}) are percentile intervals \\citep{{agarwal2021}} of "
        f"{bootstrap['replicates']:,} bootstrap resamples of {RESAMPLED.get(unit, 'runs')}. {scope}"
    ]


def _describe_analysis(name: str, comparison: Setting, filled: Sequence[float], models: int) -> str:
    if name in ("pairwise", "ranks") and models < 2:
        return ""
    if name == "pairwise":
        return _describe_pairs(comparison)
    if name == "ranks":
        return _describe_ranks(comparison, filled, models)
    return ANALYSES.get(name, "")


def _describe_pairs(comparison: Setting) -> str:
    rope = comparison["rope"]
    width = (
        f"of half-width {rope:g} in normalized score"
        if isinstance(rope, int | float)
        else "given for each metric"
    )
    return (
        "Pairs of models were compared over datasets by Wilcoxon's signed-rank test "
        "\\citep{wilcoxon1945} with Holm's correction \\citep{holm1979} over all pairs, at the "
        f"{write_percent(comparison['alpha'])} level, with the rank-biserial correlation as effect "
        "size \\citep{kerby2014} and the probability of improvement \\citep{agarwal2021}, and by "
        "the Bayesian signed-rank test \\citep{benavoli2017} with a region of practical "
        f"equivalence {width}; a model is called better or worse from a posterior probability of "
        f"{write_percent(DECIDED)}, allowing for all pairs, and only where "
        "Wilcoxon's test agrees."
    )


def _describe_ranks(comparison: Setting, filled: Sequence[float], models: int) -> str:
    has_complete, has_holes = max(filled) == 1, min(filled) < 1
    tests = [
        *([FRIEDMAN] if has_complete else []),
        *([SKILLINGS] if has_holes else []),
    ]
    pairs = [
        *([NEMENYI] if has_complete else []),
        *([WILCOXON] if models <= MOST_LETTERED else []),
    ]
    together = f" by {join_words(tests)}" if tests else ""
    apart = f"{', and pairs of them' if tests else ' in pairs'} by {join_words(pairs)}"
    return (
        f"Mean ranks over datasets \\citep{{demsar2006}} were compared{together}"
        f"{apart if pairs else ''}, at the {write_percent(comparison['alpha'])} level."
    )
