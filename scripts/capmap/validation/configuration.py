"""Names, metrics and directions of the configuration that contradict the data or what is known."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from capmap.artifacts import pack_names
from capmap.metrics import Metric, canonical_name, find_metric
from capmap.normalization.precedence import (
    DatasetRule,
    MetricRule,
    Rules,
    Select,
    Selection,
    leave_out,
    select_runs,
)
from capmap.problems import Problem, RowCheck, Severity, ask_nearest, list_rows
from capmap.settings.choices import Failed
from capmap.wording import (
    KINDS,
    OPTION,
    count_things,
    find_bad_renames,
    list_names,
    quote_name,
    write_key,
)

MOST_SUGGESTIONS = 20
WORDS = {"published": "dataset"}
# Between the dataset and the metric of a column of published metrics.
SEPARATOR = " / "

MOST = 0.9
HALF = 0.5
CONVERSIONS = "errors converted to 1 - error (none is above 1 and nearly all are at least 0.5)"


def rename_runs(
    runs: pd.DataFrame, names: Mapping[str, str], *, fixed: Iterable[str] = ()
) -> tuple[pd.DataFrame, list[Problem]]:
    """Give models and datasets their names.

    Parameters
    ----------
    runs : DataFrame
        With the columns model and dataset, as read.
    names, fixed : mapping of str to str, iterable of str
        As `find_bad_renames` takes them.

    Returns
    -------
    DataFrame
        The runs, in their order; those of a problem keep the name.
    list of Problem
        An error per name that cannot be given.
    """
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
    *,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    select: Select,
    failed: Failed = "invalid",
) -> list[Problem]:
    """Find configured names that match nothing, and rules of one metric given twice.

    Parameters
    ----------
    runs : DataFrame
        All rows as read, with the columns model, dataset and metric.
    metrics, datasets, select, failed : mapping
        What is configured; `failed` may name a model. Metrics are compared without case and
        separators, other names exactly.

    Returns
    -------
    list of Problem
        An error per name, with the most similar name of the data as suggestion where there is one
        (for the first 20, because each takes a search through all names).
    """
    models = _list_selected(select.get("models", "all"))
    chosen = _list_selected(select.get("datasets", "all"))
    items: list[Mapping[str, Any]] = [
        {"option": "metrics", "kind": "metric", "names": metrics},
        {"option": "datasets", "kind": "dataset", "names": datasets},
        {"option": "select.models", "kind": "model", "names": models},
        {"option": "select.datasets", "kind": "dataset", "names": chosen},
    ]
    if isinstance(failed, Mapping):
        items.append({"option": "failed", "kind": "model", "names": [failed["model"]]})
    known = _list_kinds(runs)
    spellings = Counter(map(canonical_name, metrics))
    if twins := [name for name in sorted(metrics) if spellings[canonical_name(name)] > 1]:
        reason = f"metrics: {list_names(twins)} are one name without case and separators."
        problem = Problem(code="ambiguous_rule", reason=reason, remedy="Keep one of them.")
        return [problem, *_find_absent(items, known, known)]
    return _find_absent(items, known, known)


def _find_absent(
    items: Sequence[Mapping[str, Any]],
    known: Mapping[str, set[str]],
    read: Mapping[str, set[str]],
) -> list[Problem]:
    """Find the names of settings that are not known, among those that were read."""
    problems: list[Problem] = []
    for item in items:
        kind, word = item["kind"], WORDS.get(item["kind"], item["kind"])
        spell = canonical_name if kind == "metric" else str
        spellings = set(map(spell, known[kind]))
        for name in item["names"]:
            if spell(name) in spellings:
                continue
            reason = f"{item['option']} names the {word} {quote_name(name)}, which is "
            if name in read[kind]:
                reason += "left out of the study."
                remedy = "Correct `select`, or name another one."
            else:
                reason += "not in the data."
                # Each takes a search through all names.
                is_early = len(problems) < MOST_SUGGESTIONS
                near = ask_nearest(name, known[kind]).rstrip() if is_early else ""
                remedy = near or f"The {word}s are {list_names(sorted(known[kind]))}."
            problems.append(Problem(code="unknown_name", reason=reason, remedy=remedy, value=name))
    return problems


def find_unanalysed_names(
    runs: pd.DataFrame,
    *,
    select: Select,
    constant: Collection[str] = (),
    named: Sequence[Mapping[str, Any]],
) -> list[Problem]:
    """Find names in the settings of analyses that no run is analysed of.

    Parameters
    ----------
    runs : DataFrame
        All rows as read, with the columns model, dataset and metric.
    select : mapping
        What is analysed.
    constant : collection of str
        Datasets that are left out, as all their scores are equal.
    named : sequence of mapping
        The ``option``, such as ``comparison.reference``, the ``kind`` of its names ("model",
        "dataset", "metric", "published", a dataset of published metrics, or "views", whose metrics
        of one dataset must not be ranked as several) and the ``names``.

    Returns
    -------
    list of Problem
        An error per name, with the most similar name as suggestion where there is one.
    """
    kept, _ = select_runs(
        runs, datasets=select.get("datasets", "all"), models=select.get("models", "all")
    )
    kept = leave_out(kept, "dataset", constant)
    known = _list_kinds(kept)
    views = [item["names"] for item in named if item["kind"] == "views"]
    others = [item for item in named if item["kind"] != "views"]
    problems = _find_absent(others, known, _list_kinds(runs))
    return problems + [
        problem for names in views for problem in _find_views(sorted(known["dataset"]), *names)
    ]


def _find_views(names: Sequence[str], metric: str) -> list[Problem]:
    """Find a dataset of which several metrics would be ranked as if each were a dataset."""
    views: dict[str, list[str]] = {}
    for name in names:
        views.setdefault(name.rpartition(SEPARATOR)[0], []).append(name)
    several = [dataset for dataset, own in views.items() if dataset and len(own) > 1]
    if not several:
        return []
    chosen = [
        next((name for name in own if name.endswith(f"{SEPARATOR}{metric}")), own[0])
        for own in views.values()
    ]
    first = quote_name(several[0])
    listed = ", ".join(chosen[:MOST_SUGGESTIONS]) + (", …" * (len(chosen) > MOST_SUGGESTIONS))
    return [
        Problem(
            code="views",
            reason=f"The ranking would count {first} {len(views[several[0]])} times: "
            f"{list_names(views[several[0]])} are metrics of one dataset.",
            remedy=f"Keep one of each, such as select: {{datasets: [{listed}]}}. The tables of "
            "metrics and ranks have all of them.",
        )
    ]


def _list_kinds(runs: pd.DataFrame) -> dict[str, set[str]]:
    found = {kind: set(runs[kind].unique()) for kind in ("model", "dataset", "metric")}
    published = {name.rpartition(SEPARATOR)[0] for name in found["dataset"]}
    return {**found, "published": published}


RESERVED = RowCheck(
    "reserved_dataset",
    "dataset",
    "A dataset cannot be called {dataset}, because the tables have a column of this name for the "
    "models.",
    "Rename the dataset in the export, or leave it out with select.",
)


def find_reserved_names(runs: pd.DataFrame) -> list[Problem]:
    """Find a dataset that is called like the column of models in the table of scores."""
    return RESERVED.report(runs[runs["dataset"] == "model"].head(1), column="")


def _list_selected(selection: Selection) -> Sequence[str]:
    if isinstance(selection, Mapping):
        return selection["exclude"]
    return () if selection == "all" else selection


MIXED = RowCheck(
    "mixed_metrics",
    "dataset",
    "The dataset {dataset} has {_count} metrics: {_places}.",
    "Choose one, such as where: {{METRIC_COLUMN: {_metric}}}, or make a dataset of each: columns: "
    "{{dataset: [DATASET_COLUMN, METRIC_COLUMN]}}.",
)


def find_mixed_metrics(runs: pd.DataFrame) -> list[Problem]:
    """Find datasets with more than one metric, each at the first row of its second one."""
    firsts = runs.drop_duplicates(["dataset", "metric"])
    mixed = firsts[firsts.duplicated("dataset", keep=False)]
    problems = []
    for _, rows in mixed.groupby("dataset", observed=True):
        places = "; ".join(
            f"{quote_name(row.metric)} at line {row.line} of {row.source}"
            for row in list_rows(rows.head(5))
        )
        first = write_key(rows["metric"].iloc[0])
        said = rows.iloc[1:2].assign(_count=len(rows), _places=places, _metric=first)
        problems += MIXED.report(said, column="")
    return problems


def find_doubtful_directions(runs: pd.DataFrame, rules: Rules) -> list[Problem]:
    """Find errors that do not look like errors, and directions that contradict the registry.

    Parameters
    ----------
    runs : DataFrame
        With raw scores; one metric per dataset.
    rules : Rules
        What is configured.

    Returns
    -------
    list of Problem
        "suspicious_direction", an error, or a warning where scores look converted on some datasets
        of the metric and exceed 1 on others; and "overruled_direction", a warning.

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
    overruled: dict[tuple[str, str], list[str]] = {}
    firsts = runs.drop_duplicates("dataset")
    for row in list_rows(firsts):
        known = find_metric(row.metric)
        if known is None or rules.of_dataset(row.dataset).get("transform"):
            continue
        direction, origin = rules.find_direction(row.dataset, row.metric)
        if direction != known.direction:
            overruled.setdefault((row.metric, str(direction)), []).append(row.dataset)
            continue
        look = _describe_errors(known, looks[row.dataset])
        if not look or origin != "natural":
            continue
        # Errors of the metric exceed 1 elsewhere, so those below are hardly converted.
        is_like_others = look != CONVERSIONS or largest[row.metric] <= 1
        severity: Severity = "error" if is_like_others else "warning"
        own = firsts[firsts["dataset"] == row.dataset]
        said = own.assign(_look=look, _key=write_key(row.dataset))
        problems += SUSPICIOUS._replace(severity=severity).report(said, column="")
    for (metric, chosen), names in overruled.items():
        own = firsts[firsts["dataset"] == names[0]].assign(
            _direction=chosen,
            _usual="lower" if chosen == "max" else "higher",
            _names=f"{count_things(len(names), 'dataset')}: {list_names(names)}",
        )
        problems += OVERRULED.report(own.assign(metric=metric), column="")
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
    "The configuration says {_direction} for the metric {metric}, of which {_usual} is better by "
    "its name ({_names}).",
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
