"""What a study's tables say, in sentences."""

import pandas as pd
from markupsafe import Markup

from capmap.claims import (
    claim_ranking,
    find_candidates,
    find_rivals,
    label_entries,
)
from capmap.pages.wording import NAME, format_ordinal, join_names, join_words
from capmap.wording import (
    AGGREGATION_NAMES,
    LABEL_METRICS,
    find_statistic,
    format_count,
    format_percent,
    name_first,
    name_most,
    name_statistic,
)

MOVERS = 3


def describe_ranking(scopes: pd.DataFrame, *, confidence_level: float) -> Markup:
    """Say which models may be best on these datasets, and which on others like these.

    Parameters
    ----------
    scopes : pandas.DataFrame
        The rankings, ordered by rank, with the columns of ``tables/scopes.csv``.
    confidence_level : float
        Level of intervals and of the confidence set of the best, in (0, 1).

    Returns
    -------
    markupsafe.Markup
        A few sentences; names are escaped.

    Notes
    -----
    What is said of the best is what `capmap.claims.claim_ranking` claims.
    """
    if scopes.empty:
        return Markup("No model has a score.")
    unranked = scopes.loc[scopes["rank"].isna(), "model"].nunique()
    ranked = scopes[scopes["rank"].notna()]
    warning = _warn_of_unranked(unranked)
    if ranked.empty:
        return Markup("No model is ranked.") + warning
    first, *others = [own for _, own in ranked.groupby("unit", sort=False)]
    too = " too" if _find_best(first) else ""
    beside = [_describe_others(scope, too) for scope in others]
    return _describe_first(first, confidence_level) + warning + Markup("").join(beside)


def describe_metrics(rank_shift: pd.DataFrame, *, rank_by: str) -> Markup:
    """Say what changes between top-1 accuracy and the metric that ranks classifiers.

    Parameters
    ----------
    rank_shift : pandas.DataFrame
        The columns of ``multilabel/rank_shift.csv``; of it the first dataset that has both metrics
        is described.
    rank_by : {"asma", "real", "labelwise"}
        The metric.

    Returns
    -------
    markupsafe.Markup
        A sentence with a space before it; empty where no dataset has both.
    """
    asked = rank_shift[(rank_shift["metric_a"] == "top1") & (rank_shift["metric_b"] == rank_by)]
    own = asked[asked["dataset_a"] == asked["dataset_b"]]
    rows = own[own["dataset_a"] == own["dataset_a"].min()].sort_values("model")
    if rows.empty:
        return Markup("")
    first, others = (rows.loc[rows[rank] == 1, "model"] for rank in ("rank_a", "rank_b"))
    moved = int((rows["rank_a"] != rows["rank_b"]).sum())
    both = join_names(others) + " " if list(first) != list(others) else ""
    changes = "no model changes its rank"
    if moved:
        changes = f"{moved:,} of {format_count(len(rows), 'model changes', 'models change')} rank"
    text = Markup(" On {}, {} {} first by top-1 accuracy and {}by {}; {}.")
    return text.format(
        NAME.format(rows["dataset_a"].iloc[0]),
        join_names(first),
        "is" if len(first) == 1 else "are",
        both,
        LABEL_METRICS[rank_by],
        changes,
    )


def _describe_first(ranking: pd.DataFrame, confidence_level: float) -> Markup:
    leader, unit, statistic = ranking.iloc[0], ranking["unit"].iloc[0], ranking["statistic"].iloc[0]
    best = ranking.loc[ranking["rank"] == leader["rank"], "model"].tolist()
    scope = _describe_scope(ranking, unit)
    if len(best) > 1:
        text = Markup("{} {} share {}, {:.3f}.").format(
            scope, join_names(best), name_first(statistic), leader["score"]
        )
    else:
        interval = _describe_interval(leader, confidence_level, len(ranking))
        text = Markup("{} {} {} {:.3f}{}.").format(
            scope,
            NAME.format(leader["model"]),
            _describe_best(ranking, statistic),
            leader["score"],
            interval,
        )
    text += _warn_of_few_datasets(ranking, best)
    candidates = find_candidates(ranking)
    at = f" ({format_percent(confidence_level)} confidence)"
    if _find_best(ranking):
        text += Markup(" Every other model can be separated from it{}.").format(at)
    elif len(candidates) > 1:
        text += Markup(" {}.").format(
            _name_candidates(candidates, len(ranking), at, any_word="Any")
        )
    return text + _warn_of_no_interval(ranking, unit)


def _describe_others(scope: pd.DataFrame, too: str) -> Markup:
    """Say which models may be best on other datasets like these."""
    if best := _find_best(scope):
        return Markup(" On other datasets like these {} is best{}.").format(NAME.format(best), too)
    candidates = find_candidates(scope)
    if len(candidates) > 1:
        return Markup(" On other datasets like these {}.").format(
            _name_candidates(candidates, len(scope))
        )
    return Markup("")


def _name_candidates(
    candidates: list[str], total: int, at: str = "", *, any_word: str = "any"
) -> Markup:
    if len(candidates) == total:
        return Markup("{} of the {:,} models may be the best{}").format(any_word, total, at)
    return Markup("{:,} models may be the best{}: {}").format(
        len(candidates), at, join_names(candidates)
    )


def describe_board(entries: pd.DataFrame) -> Markup:
    """Say who leads a leaderboard that ranks its entries apart.

    Parameters
    ----------
    entries : pandas.DataFrame
        The columns of ``leaderboard/entries.csv``.

    Returns
    -------
    markupsafe.Markup
        A sentence per method, of complete entries; names are escaped.
    """
    ranked = entries[entries["complete"]].fillna({"method": ""})
    statistic = find_statistic(entries.columns)
    sentences = []
    for method, own in ranked.groupby("method", sort=True):
        own = own.assign(name=label_entries(own))
        first, rivals = own[own["rank"] == 1].sort_values("model"), find_rivals(own)
        among = Markup(" with the method {}").format(NAME.format(method)) if method else ""
        others = ""
        if rivals:
            others = f"; {format_count(len(rivals), 'other')} cannot be separated from the first"
        elif claim_ranking(own.sort_values(["rank", "model"])):
            others = ", separated from all others with an interval"
        sentences.append(
            Markup("Of {}{}, {} {} {}, {:.3f}{}.").format(
                format_count(len(own), "complete entry", "complete entries"),
                among,
                join_names(first["name"].tolist()),
                "share" if len(first) > 1 else "has",
                name_first(statistic),
                first[statistic].iloc[0],
                others,
            )
        )
    return Markup(" ").join(sentences or [Markup("No entry is complete enough to be ranked.")])


def describe_statistic(scopes: pd.DataFrame, *, rank_by: str) -> Markup:
    """Say why models are not ranked by interquartile mean, where the scores decided that.

    Parameters
    ----------
    scopes : pandas.DataFrame
        The columns of ``tables/scopes.csv``.
    rank_by : str
        The setting.
    """
    if rank_by != "auto" or scopes.empty or scopes["statistic"].iloc[0] == "iqm":
        return Markup("")
    return Markup(
        "The scores are outcomes of a few values, so the mean ranks the models: the interquartile "
        "mean looks at the middle half of the runs, which are mostly alike."
    )


def describe_aggregations(aggregate: pd.DataFrame, iqm: pd.DataFrame) -> Markup:
    """Say how much the order of the models depends on how the datasets are combined.

    Parameters
    ----------
    aggregate, iqm : pandas.DataFrame
        The columns of ``tables/aggregate.csv`` and ``tables/iqm.csv``.

    Returns
    -------
    markupsafe.Markup
        The leaders by each aggregation, and the models whose rank moves most.
    """
    columns = [name for name in aggregate.columns if name.startswith("rank_")]
    ranks = aggregate.set_index("model")[columns].rename(columns=lambda name: name[5:])
    ranks["iqm"] = iqm.set_index("model")["rank"].reindex(ranks.index)
    ranks = ranks.dropna()
    if len(ranks) < 2:
        return Markup("With fewer than two ranked models there is no order.")
    return Markup(" ").join([_describe_leaders(ranks), _describe_movers(ranks)])


def _describe_interval(row: "pd.Series[float]", level: float, models: int) -> str:
    """The leader's interval, and the wider one that allows for having chosen the leader."""
    if pd.isna(row["ci_low"]):
        return ""
    text = f"{format_percent(level)} interval {row['ci_low']:.3f} to {row['ci_high']:.3f}"
    if models > 1:
        text += f", or {row['ci_low_all']:.3f} to {row['ci_high_all']:.3f} "
        text += f"as the {name_most(str(row['statistic']))} of {models:,}"
    return f" ({text})"


def _describe_best(ranking: pd.DataFrame, statistic: str) -> str:
    article = "an" if statistic in ("iqm", "optimality_gap") else "a"
    score = f"with {article} {name_statistic(statistic)} of"
    if len(ranking) == 1:
        return f"is the only model, {score}"
    return f"is best, {score}" if _find_best(ranking) else f"has {name_first(statistic)},"


def _find_best(ranking: pd.DataFrame) -> str:
    """The model that is claimed to be best, if any is."""
    claims = claim_ranking(ranking, unit=ranking["unit"].iloc[0])
    return next((claim.subject for claim in claims if claim.relation == "is best"), "")


def _describe_scope(ranking: pd.DataFrame, unit: str) -> str:
    datasets = _count_datasets(ranking)
    if unit == "runs_and_datasets":
        return f"On datasets like these {datasets:,}"
    return f"On these {datasets:,} datasets" if datasets > 1 else "On this dataset"


def _count_datasets(ranking: pd.DataFrame) -> int:
    """How many datasets the study has."""
    return int(ranking[["datasets", "filled", "missing"]].iloc[0].sum())


def _warn_of_few_datasets(ranking: pd.DataFrame, best: list[str]) -> Markup:
    """Say when the first does not have runs on all datasets."""
    first = ranking[ranking["model"].isin(best)]
    if not first["filled"].any():
        return Markup("")
    return Markup(
        " {} runs on {:,.0f} of {:,.0f} datasets; on the others the score is expected from the "
        "other models."
    ).format(
        "They have" if len(best) > 1 else "It has",
        first["datasets"].min(),
        _count_datasets(ranking),
    )


def _warn_of_unranked(unranked: int) -> Markup:
    """Say how many models have too few datasets to be ranked."""
    if not unranked:
        return Markup("")
    have = format_count(unranked, "model has", "models have")
    return Markup(" {} results on too few datasets and no rank.").format(have)


def _warn_of_no_interval(ranking: pd.DataFrame, unit: str) -> Markup:
    without = ranking["ci_low"].isna()
    if not without.any():
        return Markup("")
    reason = _explain_no_interval(ranking[without], unit)
    if without.all():
        return Markup(
            " This ranking has no measure of uncertainty: {}, so nothing separates a real "
            "difference from chance."
        ).format(reason)
    return Markup(" {} no interval ({}) and cannot be compared: {}.").format(
        format_count(int(without.sum()), "model has", "models have"),
        reason,
        join_names(ranking.loc[without, "model"]),
    )


def _explain_no_interval(models: pd.DataFrame, unit: str) -> str:
    is_single = (models["runs"] <= models["datasets"]).all()
    if models["filled"].all() and not (is_single and unit != "runs_and_datasets"):
        return "too few cells have runs to estimate how far they lie from what is expected"
    if unit == "runs_and_datasets":
        return "there are scores on fewer than four datasets only"
    return f"on {'each dataset' if is_single else 'most datasets'} there is one run only"


def _describe_leaders(ranks: pd.DataFrame) -> Markup:
    leaders: dict[tuple[str, ...], list[str]] = {}
    for kind in ranks.columns:
        first = ranks.index[ranks[kind] == ranks[kind].min()]
        leaders.setdefault(tuple(sorted(first)), []).append(f"the {AGGREGATION_NAMES[kind]}")
    parts = [
        Markup("{} {} by {}").format(
            join_names(names), "come first" if len(names) > 1 else "comes first", join_words(kinds)
        )
        for names, kinds in leaders.items()
    ]
    return Markup("; ").join(parts) + Markup(".")


def _describe_movers(ranks: pd.DataFrame) -> Markup:
    span = (ranks.max(axis=1) - ranks.min(axis=1)).sort_index()
    span = span[span > 0].sort_values(ascending=False, kind="stable")
    if span.empty:
        return Markup("No model changes its rank from one aggregation to another.")
    moves = []
    for name in span.index[:MOVERS]:
        row = ranks.loc[name].dropna()
        high, low = row.idxmin(), row.idxmax()
        moves.append(
            Markup("{} ({} by the {}, {} by the {})").format(
                NAME.format(name),
                format_ordinal(int(row[high])),
                AGGREGATION_NAMES[str(high)],
                format_ordinal(int(row[low])),
                AGGREGATION_NAMES[str(low)],
            )
        )
    changing = format_count(len(span), "model changes", "models change")
    most = ", most of all" if len(span) > MOVERS else ""
    return Markup("{} rank with the aggregation{}: {}.").format(changing, most, join_words(moves))
