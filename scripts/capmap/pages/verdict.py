"""What a study's ranking says, in sentences."""

import pandas as pd
from markupsafe import Markup

from capmap.claims import claim_ranking, find_candidates, find_rivals, label_entries
from capmap.pages.wording import NAME, join_names, join_words
from capmap.wording import (
    AGGREGATION_NAMES,
    find_statistic,
    format_count,
    format_percent,
    name_first,
    name_statistic,
)

SHOWN_METHODS = 3


def describe_ranking(scopes: pd.DataFrame, *, confidence_level: float) -> Markup:
    """Say which models may be best on these datasets, and which on others like these.

    What is said of the best is what `capmap.claims.claim_ranking` claims.
    """
    if scopes.empty:
        return Markup("No model has a score.")
    ranked = scopes[scopes["rank"].notna()]
    sentences = [Markup("No model is ranked.")] if ranked.empty else []
    for number, (_, own) in enumerate(ranked.groupby("unit", sort=False)):
        if number:
            sentences += [_describe_others(own, confidence_level)]
        else:
            sentences += _describe_first(own, confidence_level)
    if unranked := scopes.loc[scopes["rank"].isna(), "model"].nunique():
        have = format_count(unranked, "model has", "models have")
        sentences += [Markup("{} results on too few datasets and no rank.").format(have)]
    return Markup(" ").join(filter(None, sentences))


def describe_board(entries: pd.DataFrame) -> Markup:
    """Say who leads a leaderboard that ranks its entries apart: a sentence per method."""
    ranked = entries[entries["complete"]].fillna({"method": ""})
    statistic = find_statistic(entries.columns)
    sentences = []
    for method, own in ranked.groupby("method", sort=True):
        own = own.assign(name=label_entries(own))
        first, rivals = own[own["rank"] == 1].sort_values("model"), find_rivals(own)
        others = ""
        if rivals:
            others = f"; {format_count(len(rivals), 'other')} cannot be separated from the first"
        elif claim_ranking(own.sort_values(["rank", "model"])):
            others = ", separated from all others with an interval"
        among = Markup(" with the method {}").format(NAME.format(method)) if method else ""
        verb = "share" if len(first) > 1 else "has"
        sentences.append(
            Markup("Of {}{}, {} {} {}, {:.3f}{}.").format(
                format_count(len(own), "complete entry", "complete entries"),
                among,
                join_names(first["name"]),
                verb,
                name_first(statistic),
                first[statistic].iloc[0],
                others,
            )
        )
    rest = len(sentences) - SHOWN_METHODS
    more = [f"{format_count(rest, 'more method')} are on the board."] if rest > 0 else []
    nothing = Markup("No entry is complete enough to be ranked.")
    return Markup(" ").join([*sentences[:SHOWN_METHODS], *more] or [nothing])


def describe_statistic(scopes: pd.DataFrame, *, rank_by: str) -> str:
    """Say why models are not ranked by interquartile mean, where the scores decided that."""
    if rank_by != "auto" or scopes.empty or scopes["statistic"].iloc[0] == "iqm":
        return ""
    return (
        "Models are ranked by the mean, as scores are outcomes of a few values, whose middle half "
        "is mostly alike."
    )


def describe_aggregations(aggregate: pd.DataFrame, iqm: pd.DataFrame) -> Markup:
    """Say who is first by each aggregation, and how many models change their rank."""
    columns = [name for name in aggregate.columns if name.startswith("rank_")]
    ranks = aggregate.set_index("model")[columns].rename(columns=lambda name: name[5:])
    ranks["iqm"] = iqm.set_index("model")["rank"].reindex(ranks.index)
    ranks = ranks.dropna()
    if len(ranks) < 2:
        return Markup("With fewer than two ranked models there is no order.")
    leaders: dict[tuple[str, ...], list[str]] = {}
    for kind in ranks.columns:
        first = ranks.index[ranks[kind] == ranks[kind].min()]
        leaders.setdefault(tuple(sorted(first)), []).append(AGGREGATION_NAMES[kind])
    firsts = [
        Markup("{} {} first by {}").format(
            join_names(names), "are" if len(names) > 1 else "is", join_words(kinds)
        )
        for names, kinds in leaders.items()
    ]
    span = (ranks.max(axis=1) - ranks.min(axis=1)).sort_index()
    if not span.any():
        return Markup("{}. No model changes its rank.").format(Markup("; ").join(firsts))
    mover = str(span.idxmax())
    own = ranks[ranks.index == mover].to_numpy()
    return Markup("{}. {} rank, most of all {} (ranks {:.0f} to {:.0f}).").format(
        Markup("; ").join(firsts),
        format_count(int((span > 0).sum()), "model changes its", "models change their"),
        NAME.format(mover),
        own.min(),
        own.max(),
    )


def _describe_first(ranking: pd.DataFrame, confidence_level: float) -> list[Markup]:
    """Say who is first in the ranking of the headline, and how sure that is."""
    leader, statistic = ranking.iloc[0], str(ranking["statistic"].iloc[0])
    best = ranking[ranking["rank"] == leader["rank"]]
    datasets = int(leader[["datasets", "filled", "missing"]].sum())
    scope = f"On these {datasets:,} datasets" if datasets > 1 else "On this dataset"
    if leader["unit"] == "runs_and_datasets":
        scope = f"On datasets like these {datasets:,}"
    article = "an" if statistic in ("iqm", "optimality_gap") else "a"
    verb = f"{'has' if len(best) == 1 else 'share'} {name_first(statistic)},"
    if len(best) == 1 and (len(ranking) == 1 or _find_best(ranking)):
        verb = "is the only model" if len(ranking) == 1 else "is best"
        verb += f", with {article} {name_statistic(statistic)} of"
    interval = "" if len(best) > 1 else _describe_interval(leader, confidence_level, len(ranking))
    sentences = [
        Markup("{} {} {} {:.3f}{}.").format(
            scope, join_names(best["model"]), verb, leader["score"], interval
        )
    ]
    if best["filled"].any():
        runs = f"Runs are on {best['datasets'].min():,.0f} of {datasets:,} datasets"
        sentences.append(Markup("{}; other scores are expected from other models.").format(runs))
    if not _find_best(ranking):
        sentences.append(_name_candidates(ranking, confidence_level))
    return [*sentences, _warn_of_no_interval(ranking)]


def _describe_others(ranking: pd.DataFrame, confidence_level: float) -> Markup:
    """Say which models may be best on other datasets like these."""
    if best := _find_best(ranking):
        return Markup("On other datasets like these {} is best.").format(NAME.format(best))
    named = _name_candidates(ranking, confidence_level)
    return Markup("On other datasets like these, {}").format(named) if named else named


def _name_candidates(ranking: pd.DataFrame, confidence_level: float) -> Markup:
    """Name the models that may be the best, where there are several."""
    candidates, at = find_candidates(ranking), format_percent(confidence_level)
    if len(candidates) < 2:
        return Markup("")
    if len(candidates) == len(ranking):
        return Markup("{:,} of {:,} models may be the best ({} confidence).").format(
            len(candidates), len(ranking), at
        )
    return Markup("{:,} models may be the best ({} confidence): {}.").format(
        len(candidates), at, join_names(candidates)
    )


def _describe_interval(row: "pd.Series[float]", level: float, models: int) -> str:
    """The leader's interval, and the wider one that allows for having chosen the leader."""
    if pd.isna(row["ci_low"]):
        return ""
    text = f"{format_percent(level)} interval {row['ci_low']:.3f} to {row['ci_high']:.3f}"
    if models > 1:
        text += f"; {row['ci_low_all']:.3f} to {row['ci_high_all']:.3f} "
        text += f"allowing for the choice among {models:,}"
    return f" ({text})"


def _find_best(ranking: pd.DataFrame) -> str:
    """The model that is claimed to be best, if any is."""
    claims = claim_ranking(ranking, unit=ranking["unit"].iloc[0])
    return next((claim.subject for claim in claims if claim.relation == "is best"), "")


def _warn_of_no_interval(ranking: pd.DataFrame) -> Markup:
    without = ranking["ci_low"].isna()
    if not without.any():
        return Markup("")
    if without.all():
        few = "Datasets" if ranking["unit"].iloc[0] == "runs_and_datasets" else "Repeated runs"
        return Markup("{} are too few for intervals, so differences may be chance.").format(few)
    return Markup("{} no interval and cannot be compared: {}.").format(
        format_count(int(without.sum()), "model has", "models have"),
        join_names(ranking.loc[without, "model"]),
    )
