"""Sentences on classifiers with one label per image where several are valid."""

from collections.abc import Mapping, Sequence

import pandas as pd

from capmap.prose.words import format_interval, join_names, join_sentences
from capmap.settings.choices import SUBGROUPS, LabelMetric, Subgroups
from capmap.wording import LABEL_METRICS as TITLES
from capmap.wording import format_count, format_percent, join_words, quote_name

MEANINGS = {
    "top1": "top-1 accuracy asks for the single label of an image",
    "real": "ReaL accuracy accepts any valid label",
    "asma": "ASMA (average subgroup multi-label accuracy) takes as many classes as an image has "
    "labels and averages the share of labels among them over subgroups of images {subgroups}",
}
SUMMARIZED = tuple(MEANINGS)
UP, DOWN = "up", "down"


def describe_multilabel(
    metrics: pd.DataFrame,
    summary: pd.DataFrame,
    rank_shift: pd.DataFrame,
    degradation: pd.DataFrame,
    label_counts: pd.DataFrame,
    *,
    rank_by: LabelMetric,
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say who leads by which metric, and what becomes of the drop between two datasets.

    Parameters
    ----------
    metrics, summary, rank_shift, degradation, label_counts : pandas.DataFrame
        The tables of these names in ``multilabel/``; each may be empty.
    rank_by : str
        The metric whose ranks are set against those by top-1 accuracy.
    subgroups : mapping of str to sequence of int
        Numbers of labels over which the ASMA of each dataset averages; none where published.
    n_resamples : int
        Number of bootstrap resamples over images.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    list of str
        Methods, the best models of each dataset, the difference between the two compared datasets,
        and shifts of ranks, as far as there are any.
    """
    if summary.empty:
        return ["No model was evaluated on images with several labels."]
    results = [
        _describe_best(str(name), own, metrics[metrics["dataset"] == name], confidence_level)
        for name, own in summary.groupby("dataset", sort=True)
    ]
    n_models = summary["model"].nunique()
    drop = _describe_drop(degradation, label_counts, subgroups, confidence_level, n_models)
    return [
        _describe_methods(metrics, summary, label_counts, subgroups, n_resamples, confidence_level),
        join_sentences(*results),
        *filter(None, [drop]),
        *filter(None, [_describe_shifts(rank_shift, rank_by)]),
    ]


def _describe_methods(
    metrics: pd.DataFrame,
    summary: pd.DataFrame,
    label_counts: pd.DataFrame,
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
) -> str:
    models, datasets = summary["model"].nunique(), summary["dataset"].nunique()
    used = [name for name in SUMMARIZED if summary[name].notna().any()]
    groups = _name_subgroups(subgroups)
    meanings = join_words([MEANINGS[name].format(subgroups=groups) for name in used])
    intervals = "The metrics are taken as published, without intervals."
    if metrics["ci_low"].notna().any():
        intervals = (
            f"The {format_percent(confidence_level)} percentile intervals are over images, from "
            f"{n_resamples:,} bootstrap resamples."
        )
    return join_sentences(
        f"{format_count(models, 'classifier')} {'was' if models == 1 else 'were'} evaluated on "
        f"{format_count(datasets, 'dataset')}.",
        *(
            _describe_images(str(name), own, subgroups.get(str(name), SUBGROUPS))
            for name, own in label_counts.groupby("dataset", sort=True)
        ),
        f"Of the metrics, {meanings}." if used else "",
        intervals,
    )


def _name_subgroups(subgroups: Subgroups) -> str:
    """Name the numbers of labels of the subgroups, of all datasets or of each."""
    words = {
        name: join_words([str(group) for group in sorted(groups)])
        for name, groups in subgroups.items()
    }
    if len({*words.values()}) == 1:
        return f"with {next(iter(words.values()))} labels"
    each = "; ".join(f"{quote_name(name)}: {groups}" for name, groups in sorted(words.items()))
    return "with the same number of labels" + (f" ({each})" if each else "")


def _describe_images(name: str, counts: pd.DataFrame, subgroups: Sequence[int]) -> str:
    images = counts.set_index("labels")["images"].to_dict()
    empty = images.pop("0", 0)
    labeled, several = sum(images.values()), sum(images.values()) - images.get("1", 0)
    share = f", {format_count(several, 'image')} of them with several labels" if labeled else ""
    left_out = (
        f"; {format_count(empty, 'image')} without a valid label counted for top-1 accuracy only"
        if empty
        else ""
    )
    groups = list(map(str, sorted(subgroups)))
    lacking = [group for group in groups if not images.get(group)]
    uncounted = labeled - sum(images.get(group, 0) for group in groups)
    others = (
        f"; {format_count(uncounted, 'image')} with other numbers of labels "
        f"{'counts' if uncounted == 1 else 'count'} for no ASMA"
        if uncounted
        else ""
    )
    gap = f"; its ASMA leaves out {join_words(lacking)}, as no image has so many" if lacking else ""
    labels = f"{quote_name(name)} has {format_count(labeled, 'labeled image')}{share}"
    return f"{labels}{left_out}{others}{gap}."


def _describe_best(
    name: str, own: pd.DataFrame, metrics: pd.DataFrame, confidence_level: float
) -> str:
    parts = []
    for metric in SUMMARIZED:
        first = own[own[f"{metric}_rank"] == 1]
        if first.empty:
            continue
        row = first.iloc[0]
        interval = ""
        if len(first) == 1:
            known = metrics[(metrics["metric"] == metric) & (metrics["model"] == row["model"])]
            if len(known) == 1:
                interval = _describe_interval(known.iloc[0], confidence_level)
            elif len(known) > 1:
                interval = f" (mean of {format_count(len(known), 'seed')})"
        parts.append(
            f"{join_names(first['model'])} by {TITLES[metric]}, {_write(row[metric])}{interval}"
        )
    if not parts:
        return ""
    return f"Highest on {quote_name(name)}: {'; '.join(parts)}."


def _describe_drop(
    degradation: pd.DataFrame,
    label_counts: pd.DataFrame,
    subgroups: Subgroups,
    confidence_level: float,
    n_models: int,
) -> str:
    """Say whether the difference of top-1 accuracy shrinks where all valid labels count."""
    whole = degradation[degradation["subgroup"].isna()]
    is_mean = whole["model"].isna() | (whole["model"] == "")
    rows = {str(row["metric"]): row for _, row in whole[is_mean].iterrows()}
    known = [metric for metric in SUMMARIZED if metric in rows]
    if not known:
        return ""
    first = rows[known[0]]
    changes = [
        f"{TITLES[metric]} {_describe_change(rows[metric], confidence_level)}" for metric in known
    ]
    models = sorted(set(whole.loc[~is_mean, "model"]))
    who = f", on average over {format_count(len(models), 'model')}" if len(models) > 1 else ""
    if len(models) == 1 < n_models:
        who = f", for {quote_name(models[0])} as the only model with both"
    warning = _describe_other_subgroups(first, label_counts, subgroups) if "asma" in known else ""
    judged = [metric for metric in known if metric != "asma" or not warning]
    return join_sentences(
        f"From {quote_name(first['dataset_a'])} to {quote_name(first['dataset_b'])}{who}, "
        f"{join_words(changes)}.",
        warning,
        _judge_drop({name: rows[name] for name in judged if name != "top1"}, rows.get("top1")),
    )


def _describe_other_subgroups(
    row: "pd.Series", label_counts: pd.DataFrame, subgroups: Subgroups
) -> str:
    """Warn where the ASMAs of both datasets do not average the same subgroups."""
    names = [row["dataset_a"], row["dataset_b"]]
    if not all(name in subgroups for name in names):
        return ""
    known = label_counts[label_counts["images"] > 0]
    first, second = (
        {*known.loc[known["dataset"] == name, "labels"]} & {*map(str, subgroups[name])}
        for name in names
    )
    if first == second:
        return ""
    return "The two values of ASMA are over different subgroups, so their difference is no drop."


def _judge_drop(drops: "Mapping[str, pd.Series]", top1: "pd.Series | None") -> str:
    """Say with which metrics the drop is smaller or larger than that of top-1 accuracy.

    Intervals have to lie apart, which is stricter than a test of the difference of both drops.
    """
    if top1 is None:
        return "Without single labels there is no top-1 accuracy to compare this with."
    if top1["difference"] <= 0:
        return "So there is no drop of top-1 accuracy that several labels could explain."
    if not drops:
        return ""
    if any(pd.isna(row["ci_low"]) for row in (top1, *drops.values())):
        shares = [
            f"{format_percent(round(row['difference'] / top1['difference'], 2))} of that with "
            f"{TITLES[metric]}"
            for metric, row in drops.items()
        ]
        return f"The drop of top-1 accuracy compares with {join_words(shares)}, without a test."
    if top1["ci_low"] <= 0:
        return "The drop of top-1 accuracy itself is not certain, as its interval includes 0."
    verdicts = {
        "is smaller with": [name for name, row in drops.items() if row["ci_high"] < top1["ci_low"]],
        "is larger with": [name for name, row in drops.items() if row["ci_low"] > top1["ci_high"]],
    }
    sure = {*verdicts["is smaller with"], *verdicts["is larger with"]}
    verdicts["is not clearly another with"] = [name for name in drops if name not in sure]
    parts = [
        f"{verdict} {join_words([TITLES[name] for name in names])}"
        for verdict, names in verdicts.items()
        if names
    ]
    return f"Compared with top-1 accuracy, the drop {join_words(parts)}."


def _describe_shifts(rank_shift: pd.DataFrame, rank_by: LabelMetric) -> str:
    """Say how ranks by top-1 accuracy change, on the same dataset where it has both metrics."""
    asked = rank_shift[(rank_shift["metric_a"] == "top1") & (rank_shift["metric_b"] == rank_by)]
    sentences = []
    for dataset, own in asked.groupby("dataset_b", sort=True):
        is_same = own["dataset_a"] == dataset
        origin = dataset if is_same.any() else own["dataset_a"].min()
        rows = own[own["dataset_a"] == origin].sort_values("model")
        if len(rows) < 2:
            continue
        moved = int((rows["shift"] != 0).sum())
        who = f"{moved:,} of {format_count(len(rows), 'model')}" if moved else "no model"
        of = "" if origin == dataset else f" on {quote_name(str(origin))}"
        sentences.append(
            f"For {who} the rank by {TITLES[rank_by]} on {quote_name(str(dataset))} differs from "
            f"that by {TITLES['top1']}{of}{_describe_extremes(rows)}."
        )
    return join_sentences(*sentences)


def _describe_extremes(rows: pd.DataFrame) -> str:
    parts = []
    for word, shift in ((UP, rows["shift"].max()), (DOWN, rows["shift"].min())):
        if (shift > 0) if word == UP else (shift < 0):
            names = join_names(rows.loc[rows["shift"] == shift, "model"])
            parts.append(f"{names} moved {word} by {format_count(abs(shift), 'rank')}")
    return f"; {' and '.join(parts)}" if parts else ""


def _describe_interval(row: "pd.Series", confidence_level: float) -> str:
    return format_interval(
        row["ci_low"], row["ci_high"], confidence_level=confidence_level, write=_write
    )


def _describe_change(row: "pd.Series", confidence_level: float) -> str:
    """Say by how much a metric fell or rose; the interval has the direction of the words."""
    drop, low, high = float(row["difference"]), row["ci_low"], row["ci_high"]
    if drop < 0:
        low, high = -high, -low
    ends = format_interval(low, high, confidence_level=confidence_level, write=_write_points)
    if round(100 * drop, 2) == 0:
        return f"did not change{ends}"
    verb = "fell" if drop > 0 else "rose"
    return f"{verb} by {_write_points(abs(drop))} percentage points{ends}"


def _write(value: float) -> str:
    return f"{100 * value:.2f}%"


def _write_points(value: float) -> str:
    return f"{100 * value:z.2f}"
