"""What settings say against what exports hold: names, metrics, directions, bounds and signs."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import pack_names
from capmap.exports.cells import SEPARATOR, Mask
from capmap.exports.doubts import average_others
from capmap.exports.reading import ROW
from capmap.metrics import Metric, canonical_name, find_metric
from capmap.normalization import Rules, Select, leave_out, select_runs
from capmap.patterns import Pattern
from capmap.problems import Problem, RowCheck, Severity, list_rows
from capmap.rng import make_stream
from capmap.settings.choices import Failed
from capmap.wording import (
    KINDS,
    OPTION,
    count_things,
    find_bad_renames,
    list_names,
    quote_name,
    suggest,
    write_key,
)

WORDS = {"published": "dataset", "mapped": "model or dataset"}

MOST = 0.9
HALF = 0.5
CONVERSIONS = "errors converted to 1 - error (none is above 1 and nearly all are at least 0.5)"


def rename_runs(
    runs: pd.DataFrame, names: Mapping[str, str], *, fixed: Iterable[str] = ()
) -> tuple[pd.DataFrame, list[Problem]]:
    """Give models and datasets their names, as `find_bad_renames` takes them, but for bad ones."""
    if not names or runs.empty:
        return runs, []
    present = {kind: set(runs[kind].unique()) for kind in KINDS}
    problems = [
        Problem(code="bad_rename", reason=f"{OPTION} {text}", remedy=remedy, value=old)
        for old, text, remedy in find_bad_renames(names, present, fixed=fixed)
    ]
    refused = {problem.value for problem in problems}
    given = {old: new for old, new in names.items() if old not in refused}
    renamed = {kind: runs[kind].map(lambda name: given.get(name, name)) for kind in KINDS}
    packed = {kind: pack_names(renamed[kind]) for kind in KINDS if runs[kind].dtype == "category"}
    return runs.assign(**{**renamed, **packed}), problems


def find_unknown_names(
    runs: pd.DataFrame,
    rules: Rules,
    select: Select,
    failed: Failed,
    *,
    named: Sequence[Mapping[str, Any]] = (),
    constant: Collection[str] = (),
) -> list[Problem]:
    """Find configured names that match nothing, and rules of one metric given twice.

    Metrics are compared without case and separators, other names exactly. Each of `named`, names in
    the settings of analyses, has the ``option``, such as ``comparison.reference``, the ``kind`` of
    its names ("model", "dataset", "metric", "published", a dataset of published metrics, "views",
    whose metrics of one dataset must not be ranked as several, or "mapped", patterns of models or
    datasets, of which one that matches nothing is a warning) and the ``names``. They must be
    analysed, so `constant` datasets are none.
    """
    items: list[Mapping[str, Any]] = [
        {"option": "metrics", "kind": "metric", "names": rules.metrics},
        {"option": "datasets", "kind": "dataset", "names": rules.datasets},
    ]
    for kind in KINDS:
        chosen = select.get(f"{kind}s", "all")
        if isinstance(chosen, Mapping):
            chosen = chosen["exclude"]
        chosen = [] if chosen == "all" else chosen
        items.append({"option": f"select.{kind}s", "kind": kind, "names": chosen})
    if isinstance(failed, Mapping):
        items.append({"option": "failed", "kind": "model", "names": [failed["model"]]})
    read = _list_kinds(runs)
    problems = _find_absent(items, read, read)
    spellings = [canonical_name(name) for name in rules.metrics]
    if twins := sorted(own for own in rules.metrics if spellings.count(canonical_name(own)) > 1):
        reason = f"metrics: {list_names(twins)} are one name without case and separators."
        problems += [Problem(code="ambiguous_rule", reason=reason, remedy="Keep one of them.")]
    kept, _ = select_runs(runs, **select)
    known = _list_kinds(leave_out(kept, "dataset", constant))
    problems += _find_absent([item for item in named if item["kind"] != "views"], known, read)
    views = [item["names"] for item in named if item["kind"] == "views"]
    return problems + [
        problem for names in views for problem in _find_views(sorted(known["dataset"]), *names)
    ]


def _find_absent(
    items: Sequence[Mapping[str, Any]], known: Mapping[str, set[str]], read: Mapping[str, set[str]]
) -> list[Problem]:
    """Find the names of settings that are not known, among those that were read."""
    problems: list[Problem] = []
    for item in items:
        kind, word = item["kind"], WORDS.get(item["kind"], item["kind"])
        spell = canonical_name if kind == "metric" else str
        spellings = set(map(spell, known[kind]))
        for name in item["names"]:
            if kind == "mapped":
                is_known = any(Pattern(name).match(own) == {} for own in known[kind])
            else:
                is_known = spell(name) in spellings
            if is_known:
                continue
            reason = f"{item['option']} names the {word} {quote_name(name)}, which is "
            if name in read[kind]:
                reason += "left out of the study."
                remedy = "Correct `select`, or name another one."
            else:
                reason += "not in the data."
                words = "models and datasets" if kind == "mapped" else f"{word}s"
                listed = f"The {words} are {list_names(sorted(known[kind]))}."
                remedy = suggest(name, known[kind], listed)
            severity: Severity = "warning" if kind == "mapped" else "error"
            about = {"reason": reason, "remedy": remedy, "value": name}
            problems.append(Problem(code="unknown_name", severity=severity, **about))
    return problems


def _find_views(names: Sequence[str], metric: str) -> list[Problem]:
    """Find a dataset of which several metrics would be ranked as if each were a dataset."""
    views: dict[str, list[str]] = {}
    for name in names:
        views.setdefault(name.rpartition(SEPARATOR)[0], []).append(name)
    several = [(name, own) for name, own in views.items() if name and len(own) > 1]
    if not several:
        return []
    dataset, own = several[0]
    kept = next((name for name in own if name.endswith(f"{SEPARATOR}{metric}")), own[0])
    return [
        Problem(
            code="views",
            reason=f"The ranking would count {quote_name(dataset)} {len(own)} times: "
            f"{list_names(own)} are metrics of one dataset.",
            remedy=f"Keep one metric of each dataset, such as select: {{datasets: [{kept}, …]}}. "
            "The tables of metrics and ranks have all of them.",
        )
    ]


def _list_kinds(runs: pd.DataFrame) -> dict[str, set[str]]:
    found = {kind: set(runs[kind].unique()) for kind in ("model", "dataset", "metric")}
    published = {name.rpartition(SEPARATOR)[0] for name in found["dataset"]}
    return {**found, "published": published, "mapped": found["model"] | found["dataset"]}


RESERVED = RowCheck(
    "reserved_dataset",
    "dataset",
    "A dataset cannot be called {dataset}, because the tables have a column of this name for the "
    "models.",
    "Rename the dataset in the export, or leave it out with select.",
)


MIXED = RowCheck(
    "mixed_metrics",
    "dataset",
    "The dataset {dataset} has several metrics: {_metrics}.",
    "Choose one, such as where: {{METRIC_COLUMN: {_metric}}}, or make a dataset of each: columns: "
    "{{dataset: [DATASET_COLUMN, METRIC_COLUMN]}}.",
)


def find_mixed_metrics(runs: pd.DataFrame) -> list[Problem]:
    """Find datasets with more than one metric, each at the first row of its second one."""
    firsts = runs.drop_duplicates(["dataset", "metric"])
    mixed = firsts[firsts.duplicated("dataset", keep=False)]
    problems = []
    for _, rows in mixed.groupby("dataset", observed=True):
        names = rows["metric"].tolist()
        said = rows.iloc[1:2].assign(_metrics=list_names(names), _metric=write_key(names[0]))
        problems += MIXED.report(said, column="")
    return problems


def find_doubtful_directions(runs: pd.DataFrame, rules: Rules) -> list[Problem]:
    """Find errors that do not look like errors, and directions that contradict the registry.

    Notes
    -----
    A metric that the registry knows as lower-is-better from 0 upwards (RMSE, log loss, …) is
    suspected on a dataset when its scores look

    - negated: at least half of them are below 0, where no such error can be; or
    - converted to 1 − error: none is above 1 and at least 90% are 0.5 or more. Errors start at
      0, so those of good models crowd near 0, and what is left of 1 crowds near 1.

    An ordinary column of errors, such as 0.02 to 0.4, or one with any error above 1, is not
    suspected. One that happens to lie between 0.5 and 1 is. That costs its owner one line of
    configuration; a direction that is silently wrong reverses the ranking. A dataset with a
    transform is not suspected, because the transform says what its raw scores are, nor is one
    whose direction is chosen.
    """
    score, dataset = runs["score"], runs["dataset"]
    shares = pd.DataFrame({"half": score >= HALF, "below": score < 0, "within": score <= 1})
    looks = shares.groupby(dataset, observed=True).mean().to_dict("index")
    largest = score.groupby(runs["metric"], observed=True).max()
    problems: list[Problem] = []
    overruled = set[tuple[str, Any]]()
    firsts = runs.drop_duplicates("dataset")
    for row in list_rows(firsts):
        known = find_metric(row.metric)
        if known is None or rules.of_dataset(row.dataset).get("transform"):
            continue
        direction, origin = rules.find_direction(row.dataset, row.metric)
        own = firsts[firsts["dataset"] == row.dataset].assign(_key=write_key(row.dataset))
        if direction != known.direction:
            usual = "lower" if direction == "max" else "higher"
            if (row.metric, direction) not in overruled:
                problems += OVERRULED.report(own.assign(_now=direction, _usual=usual), column="")
            overruled.add((row.metric, direction))
            continue
        look = _describe_errors(known, looks[row.dataset])
        if not look or origin != "natural":
            continue
        # Errors of the metric exceed 1 elsewhere, so those below are hardly converted.
        is_like_others = look != CONVERSIONS or largest[row.metric] <= 1
        severity: Severity = "error" if is_like_others else "warning"
        problems += SUSPICIOUS._replace(severity=severity).report(own.assign(_look=look), column="")
    return problems


SUSPICIOUS = RowCheck(
    "suspicious_direction",
    "dataset",
    "Lower is better by its name for the metric {metric} of the dataset {dataset}, but its scores "
    "look like {_look}, where higher is better.",
    "Write datasets: {{{_key}: {{direction: max}}}} if they were converted, or datasets: "
    "{{{_key}: {{direction: min}}}} if they are plain errors.",
)
OVERRULED = RowCheck(
    "overruled_direction",
    "metric",
    "The configuration says {_now} for the metric {metric}, of which {_usual} is better by its "
    "name, such as on {dataset}.",
    "The configuration is followed; correct it if the scores are what the name says.",
    "warning",
)


def _describe_errors(known: Metric, shares: Mapping[Any, Any]) -> str:
    """What scores of an error look like that can hardly be plain errors; "" where they can."""
    if known.direction != "min" or known.low != 0 or known.high is not None:
        return ""
    if shares["below"] >= HALF:
        return "negated errors (most are below 0)"
    if shares["within"] == 1 and shares["half"] >= MOST:
        return CONVERSIONS
    return ""


FRACTION = 1.5
PERCENT = 100.0
# A median in percent beside which a score of at most 1 is strange.
HIGH_PERCENT = 20.0
# Of the test of opposite datasets: models, datasets and permutations, and its level over all.
FEWEST_MODELS, FEWEST_DATASETS, PERMUTATIONS, LEVEL = 5, 3, 20_000, 0.05
# Models from which on the normal distribution will do.
MANY_MODELS = 20


def find_misfits(
    runs: pd.DataFrame, bounds: pd.DataFrame, *, converted: Collection[str] = ()
) -> list[Problem]:
    """Find scores outside their bounds, and fractions, percentages and signs that do not fit.

    Scores are those after transforms; datasets that one `converted` are not taken for percentages.

    - "percent" (a dataset), "mixed_percent" (a score): see below.
    - "out_of_bounds", a warning at the score that is farthest out; "all_out_of_bounds" where no
      score is within bounds that are natural, or stated of a known metric, or where the median is
      above 100 of a metric that cannot exceed 1.
    - "percent_sign": signs, which make scores fractions, beside a bound of 100, beside scores
      without a sign above 1.5, or on numbers of at most 1 beside fractions without a sign.
      "doubtful_sign", a warning: such numbers beside larger ones with a sign, or signs of one model
      alone.
    - "fractions", a warning: scores of at most 1 with bounds of 0 and 100, where all scores are, or
      the median is at least 20.

    Scores can be percentages where the bounds are [0, 1], or [−1, 1] when their sign is left aside.
    The sign is not left aside for a metric that has no natural lower bound, such as R²: there a
    score far below 0 is a bad model, and only scores above 1 are surely percentages.

    A dataset holds percentages when its median score is above 1.5 and none is above 100, or, of a
    metric that cannot exceed 1 by its nature, when the median itself is at most 100. A score above
    1.5 is mixed with fractions when the metric cannot exceed 1 by its nature and the dataset's
    median is at most 1.5.

    A metric that is not bounded by its nature, and whose own rule gives the bounds as numbers, is
    declared: its scores may be as large as they like (a human-normalized score of 30, say).
    """
    rows = runs[runs["dataset"].isin(bounds["dataset"])]
    if ROW in rows:
        # Runs that stand for a row are judged by its mean.
        rows = rows.assign(score=rows["score"].groupby(rows[ROW]).transform("mean").round(12))
    score = rows["score"].to_numpy(dtype=np.float64)
    signed = rows["raw"].str.contains("%", regex=False).to_numpy(dtype=bool)
    of_one_model = rows["model"][signed].nunique() == 1 < rows["model"].nunique()
    places: Mapping[Any, Any] = rows.groupby("dataset", observed=True).indices
    scales = [
        _describe_scale(
            row, score[places[row["dataset"]]], is_plain=row["dataset"] not in converted
        )
        for row in bounds.to_dict("records")
        if row["dataset"] in places
    ]
    small = {scale["metric"] for scale in scales if scale["median"] <= FRACTION}
    problems = []
    for scale in scales:
        own = "datasets: {" + scale["_key"]
        scale["_rule"] = own if scale["metric"] in small else "metrics: {" + scale["_metric"]
        place = places[scale["dataset"]]
        for check, mask in _judge_scores(score[place], signed[place], scale, of_one_model):
            faulty = place[mask] if check is MIXED_CHECK else place[mask][:1]
            problems += check.report(rows.iloc[faulty].assign(**scale))
    return problems


def _describe_scale(
    bound: Mapping[Any, Any], score: npt.NDArray[np.float64], *, is_plain: bool
) -> dict[str, Any]:
    """Say what bounds mean for the scores of a dataset, and how these compare with them."""
    known, low, high = find_metric(bound["metric"]), bound["low"], bound["high"]
    origins = (bound["low_origin"], bound["high_origin"])
    is_bounded = known is not None and known.high == 1
    is_declared = not is_bounded and {*origins} <= {"dataset", "metric"}
    is_natural = all("natural" in origin for origin in origins)
    is_measured = any(re.search("observed|model |reference", origin) for origin in origins)
    is_fractional = is_plain and low in (-1.0, 0.0) and high == 1
    # A metric without a lower bound, such as R², may be far below 0.
    is_endless = known is not None and known.low is None
    size = np.abs(score) if low < 0 and not is_endless else score
    median = float(np.median(size))
    is_large = is_fractional and median > FRACTION
    is_impossible = is_large and is_bounded
    highest = median if is_impossible else size.max()
    return {
        **bound,
        "_key": write_key(bound["dataset"]),
        "_metric": write_key(bound["metric"]),
        "low100": PERCENT * low,
        "is_plain": is_plain,
        "in_one": low in (-1.0, 0.0) and high == 1,
        "in_percent": low in (-PERCENT, 0.0) and high == PERCENT,
        "is_stated": not is_measured and (is_natural or known is not None),
        "is_impossible": is_impossible,
        "is_percent": is_large and not is_declared and highest <= PERCENT,
        "is_fraction": is_fractional and is_bounded and not is_large,
        "size": size,
        "median": median,
    }


def _judge_scores(
    score: npt.NDArray[np.float64], signed: Mask, scale: dict[str, Any], of_one_model: bool
) -> Iterator[tuple[RowCheck, Mask]]:
    """Find the scores of a dataset that do not fit its scale, the first of which is told."""
    size = scale.pop("size")
    mixed = scale["is_fraction"] & (size > FRACTION)
    yield MIXED_CHECK, mixed
    if scale["is_plain"]:
        yield from _find_wrong_signs(np.abs(score), signed, scale, of_one_model)
    are_fractions = size.max() <= 1 or scale["median"] >= HIGH_PERCENT
    if scale["is_plain"] and scale["in_percent"] and are_fractions and not signed.any():
        yield FRACTIONS, (size > 0) & (size <= 1)
    if scale["is_percent"]:
        yield PERCENT_CHECK, np.ones(len(score), dtype=np.bool_)
        return
    # A model that others are measured by is no limit to them.
    low, high = (
        sign * np.inf if ": model " in scale[f"{side}_origin"] else scale[side]
        for side, sign in (("low", -1), ("high", 1))
    )
    excess = np.where(mixed, 0, np.maximum(low - score, score - high))
    count = int((excess > 0).sum())
    if count:
        are_all = count == len(score)
        scale["_scores"] = "all scores" if are_all else count_things(count, "score")
        is_error = scale["is_impossible"] or (are_all and scale["is_stated"])
        yield ALL_OUTSIDE if is_error else OUTSIDE, excess == excess.max()


PERCENT_CHECK = RowCheck(
    "percent",
    "score",
    "The scores of the dataset {dataset} look like percentages (their median is {median:g}), but "
    "its bounds are [{low:g}, {high:g}].",
    'Write them with a percent sign ("91%"), or {_rule}: {{low: {low100:g}, high: 100}}}}. If they '
    "are no percentages, state the bounds of their metric there.",
)
MIXED_CHECK = RowCheck(
    "mixed_percent",
    "score",
    "The score is impossible among fractions of the dataset {dataset}.",
    'Write a percentage as a fraction, or with a percent sign ("{score:g}%"). If the score stands '
    "for no run, set values: {{{raw}: missing}}.",
)
OUTSIDE = RowCheck(
    "out_of_bounds",
    "score",
    "The dataset {dataset} has {_scores} outside its bounds [{low:g}, {high:g}]; this one is "
    "farthest out.",
    "It is kept and its normalized score leaves [0, 1]; check the score or the bounds.",
    "warning",
)
ALL_OUTSIDE = OUTSIDE._replace(
    code="all_out_of_bounds",
    remedy="Check that this column or metric is what it is taken for, and give its own bounds: "
    "metrics: {{{_metric}: {{low: …, high: …}}}}.",
    severity="error",
)


def _find_wrong_signs(
    size: npt.NDArray[np.float64], signed: Mask, scale: Mapping[str, Any], of_one_model: bool
) -> Iterator[tuple[RowCheck, Mask]]:
    """Find percent signs that do not fit the other scores of their dataset."""
    if not signed.any():
        return
    clashes = signed & scale["in_percent"] | ~signed & (size > FRACTION) & (not scale["in_one"])
    is_tiny = size * PERCENT <= 1 + 1e-9
    small = signed & (size > 0) & is_tiny
    if (~signed & (size > 0) & (size <= 1)).any():
        clashes |= small
    doubtful = small & ~clashes & (signed & ~is_tiny).any()
    if of_one_model and not signed.all() and not (clashes | doubtful).any():
        doubtful = signed
    yield WRONG_SIGN, clashes
    yield WRONG_SIGN._replace(**DOUBTFUL), doubtful


WRONG_SIGN = RowCheck(
    "percent_sign",
    "score",
    'Scores of the dataset {dataset} with a percent sign are fractions ("91%" is 0.91, "0.69%" is '
    "0.0069), but this one does not fit the scores or bounds beside it.",
    "Check the sign, and write all scores of the dataset in one way, with bounds of that scale.",
)
DOUBTFUL: Mapping[str, Any] = {
    "code": "doubtful_sign",
    "reason": 'Some scores of the dataset {dataset} alone have a percent sign ("0.69%" is 0.0069), '
    "or are below 1% with it; this one is of {model}.",
    "severity": "warning",
}
FRACTIONS = RowCheck(
    "fractions",
    "score",
    "Scores of the dataset {dataset} are at most 1, such as this one, where bounds are 0 and 100.",
    "If these are fractions, write them in percent, or give the dataset its own bounds: "
    "datasets: {{{_key}: {{low: 0, high: 1}}}}.",
    "warning",
)


def find_opposite(runs: pd.DataFrame, rules: Rules) -> list[Problem]:
    """Find datasets that order the models against all others, as a wrong direction does.

    The order is compared with the mean rank on the others (Spearman correlation; a permutation test
    at 5% over all datasets).
    """
    firsts = runs.drop_duplicates("dataset")
    signs = {
        row.dataset: -1.0 if rules.find_direction(row.dataset, row.metric)[0] == "min" else 1.0
        for row in list_rows(firsts)
    }
    cells = runs.groupby(["model", "dataset"], observed=True)["score"].mean().unstack()  # noqa: PD010
    count = cells.shape[1]
    if len(cells) < FEWEST_MODELS or not FEWEST_DATASETS <= count <= LEVEL * PERMUTATIONS:
        return []
    ranks = (cells * pd.Series(signs)).rank(pct=True)
    others = average_others(ranks)
    both = np.isfinite(others) & ranks.notna()
    own, rest = (table.where(both).rank() for table in (ranks, others))
    own, rest = ((table - table.mean()) / table.std(ddof=0) for table in (own, rest))
    correlations = (own * rest).mean()
    rng = make_stream(0, "validation", "opposite")
    problems: list[Problem] = []
    for name in correlations.index[correlations <= -0.5]:
        pair = np.column_stack([own[name].dropna(), rest[name].dropna()])
        # By the normal distribution of many, else by permutations.
        p = NormalDist().cdf(correlations[name] * math.sqrt(len(pair) - 1))
        if len(pair) < MANY_MODELS:
            shuffled = rng.permuted(np.tile(pair[:, 0], (PERMUTATIONS, 1)), axis=1) @ pair[:, 1]
            is_lower = shuffled / len(pair) <= correlations[name] + 1e-12
            p = float(1 + np.sum(is_lower)) / (1 + PERMUTATIONS)
        if len(pair) >= FEWEST_MODELS and p * count <= LEVEL:
            now, other = ("lower", "max") if signs[name] < 0 else ("higher", "min")
            said = firsts[firsts["dataset"] == name].assign(_correlation=correlations[name])
            said = said.assign(_now=now, _other=other, _key=write_key(name))
            problems += OPPOSITE.report(said, column="")
    return problems


OPPOSITE = RowCheck(
    "opposite_order",
    "dataset",
    "The dataset {dataset} orders the models opposite to the others (rank correlation "
    "{_correlation:.2f}), with {_now} scores taken as better.",
    "If that is wrong, write datasets: {{{_key}: {{direction: {_other}}}}}.",
    "warning",
)
