"""One score per model, dataset and seed, for the rankings and maps of the rest of capmap."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from capmap.artifacts import read_json, read_parquet, read_table
from capmap.errors import ValidationError
from capmap.exports import Exports
from capmap.exports.files import check_digests
from capmap.exports.label_files import read_labels
from capmap.exports.reading import ExportFile
from capmap.metrics import canonical_name
from capmap.multilabel.metrics import BY_SUBGROUP, ORDER
from capmap.normalization import Rules
from capmap.problems import Problem
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.settings.choices import SUBGROUPS, Subgroups
from capmap.validation import Policies, Validation, validate_runs
from capmap.wording import count_things, find_nearest, list_names, quote_name

SEPARATOR = " / "
SUBGROUP = re.compile(r"(.*?\D)\s*([0-9]{1,9})", re.DOTALL)
SPELLINGS = {
    "top1": ("top1", "top1 accuracy", "top1 acc", "accuracy", "acc"),
    "real": ("real", "real accuracy", "real acc", "real labels"),
    "asma": ("asma", "average subgroup multi-label accuracy"),
    "labelwise": ("labelwise", "label-wise accuracy"),
    "subgroup": ("subgroup", "subgroup accuracy"),
    "real_subgroup": ("real subgroup", "real subgroup accuracy"),
}
KNOWN = {canonical_name(name): metric for metric, names in SPELLINGS.items() for name in names}
PUBLISHED = {
    "model": "str",
    "dataset": "str",
    "seed": "str",
    "metric": "str",
    "subgroup": "Int64",
    "value": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "images": "Int64",
}
KEY = ["model", "dataset", "seed", "metric", "subgroup"]
NAMES = ("model", "dataset", "seed")
UNMATCHED = "unmatched_labels"
# A subgroup of fewer images is said: the standard error of its accuracy may be above 0.11.
FEW = 20
RUNS = {
    **dict.fromkeys(("model", "dataset", "metric", "seed"), "str"),
    "score": "float64",
    "raw": "str",
    "source": "str",
    "line": "int64",
    "column": "str",
}


def read_metrics(exported: pd.DataFrame, scores: Sequence[str]) -> pd.DataFrame:
    """Read the metrics of all dumps, or those that were published, which a study has as runs."""
    if not scores:
        return split_published(exported)
    return pd.concat([read_parquet(path) for path in scores], ignore_index=True)


def count_labels(labels: Sequence[str], datasets: Sequence[str]) -> list[dict[str, Any]]:
    """Count in files of labels how many images have how many valid labels."""
    counted = []
    for path, dataset in zip(labels, datasets, strict=True):
        counts = Counter(len({*image}) for image in read_labels(path).sets)
        images = {str(count): counts[count] for count in sorted(counts)}
        counted.append({"dataset": dataset, "seed": "", "labels": images})
    return counted


def split_published(runs: pd.DataFrame) -> pd.DataFrame:
    """Turn a study of published metrics into the table of metrics.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` (named ``dataset / metric``, such as ``ImageNetV1 / top-1``),
        ``score`` (from 0 to 1, or in percent) and perhaps ``seed``; rows in any order.

    Returns
    -------
    pandas.DataFrame
        By model, dataset, seed, metric and subgroup: ``model``, ``dataset``, ``seed`` (empty where
        there is none), ``metric``, ``subgroup`` (missing for metrics of a whole dataset), ``value``
        (from 0 to 1), ``ci_low``, ``ci_high`` and ``images``, which are not known.

    Raises
    ------
    ValidationError
        If a name has no metric, or one that is not known; if two columns of a dataset mean one
        metric; or if values are not from 0 to 1 or to 100, or on both scales.

    Notes
    -----
    Names are split at the last `` / ``. Metrics are known by their usual names, whatever their case
    and separators: ``top-1``, ``Top1 accuracy``, ``ReaL``. The accuracy of a subgroup has its
    number of labels at the end: ``PatchML / subgroup 3``, ``ImageNetV1 / ReaL subgroup 2``.

    All values are taken as percent when one is above 1, since a table has one scale. A column whose
    values all lie between 0 and 1 while others do not is refused, unless they are all 0. Missing
    scores are left out.

    Examples
    --------
    >>> rows = [("A", "V1 / Top-1", 80.5), ("A", "V1 / subgroup 2", 66.0)]
    >>> found = split_published(pd.DataFrame(rows, columns=["model", "dataset", "score"]))
    >>> found[["dataset", "metric", "subgroup", "value"]]
      dataset    metric  subgroup  value
    0      V1  subgroup         2  0.660
    1      V1      top1      <NA>  0.805
    """
    known = runs.dropna(subset="score")
    names = sorted(known["dataset"].unique())
    parts = _split_names(names)
    _require_one_column(names, parts)
    codes = pd.Categorical(known["dataset"], categories=names).codes
    rows = [parts[code] for code in codes]
    table = pd.DataFrame(
        {
            "model": known["model"].to_numpy(),
            "dataset": [dataset for dataset, _, _ in rows],
            "seed": known["seed"].to_numpy() if "seed" in known else "",
            "metric": [metric for _, metric, _ in rows],
            "subgroup": pd.array([subgroup for _, _, subgroup in rows], dtype="Int64"),
            "value": _take_fractions(known),
            "ci_low": np.nan,
            "ci_high": np.nan,
            "images": pd.array([pd.NA] * len(rows), dtype="Int64"),
        }
    ).astype(PUBLISHED)
    return table.sort_values(KEY, kind="stable", ignore_index=True)


def share_images(label_counts: pd.DataFrame) -> pd.DataFrame:
    """Add to counts of images per number of labels their share of the dataset.

    Parameters
    ----------
    label_counts : pandas.DataFrame
        Columns ``dataset``, ``labels`` (the number as text, or ``more``) and ``images``.

    Returns
    -------
    pandas.DataFrame
        The same rows with ``share``: of the dataset's images that have labels, so it is NaN for 0
        labels, and where no image has any.

    Examples
    --------
    >>> counts = pd.DataFrame({"dataset": "a", "labels": ["0", "1", "more"], "images": [2, 3, 1]})
    >>> share_images(counts)["share"].tolist()
    [nan, 0.75, 0.25]
    """
    is_labeled = label_counts["labels"].astype("str") != "0"
    labeled = label_counts["images"].where(is_labeled)
    totals = labeled.groupby(label_counts["dataset"]).transform("sum")
    return label_counts.assign(share=labeled / totals.where(totals > 0))


def _split_names(names: Sequence[str]) -> list[tuple[str, str, int | None]]:
    """Dataset, metric and subgroup of each name; all names with a fault are reported at once."""
    plain = [name for name in names if not all(map(str.strip, _part(name)))]
    found = [(_part(name)[0].strip(), *_read_metric(_part(name)[1])) for name in names]
    unknown = sorted({_part(name)[1] for name, row in zip(names, found, strict=True) if not row[1]})
    if plain:
        raise ValidationError(
            f"{count_things(len(plain), 'column')} without dataset and metric: "
            f"{list_names(plain)}. Published metrics are read from columns named 'dataset / "
            "metric': set header_rows: 2, or write the names like 'ImageNetV1 / top1'."
        )
    if unknown:
        near = find_nearest(unknown[0], [name for own in SPELLINGS.values() for name in own])
        hint = f" Did you mean {quote_name(near)}?" if near else ""
        raise ValidationError(
            f"{count_things(len(unknown), 'unknown metric')} of published tables: "
            f"{list_names(unknown)}.{hint} There are {', '.join(ORDER)}; subgroup and "
            "real_subgroup end in their number of labels, such as 'subgroup 3'."
        )
    return found


def _part(name: str) -> tuple[str, str]:
    dataset, _, metric = name.rpartition(SEPARATOR)
    return dataset, metric


def _read_metric(text: str) -> tuple[str, int | None]:
    """The metric that a text names, empty if none, and its number of labels."""
    numbered = SUBGROUP.fullmatch(text.strip())
    ending = KNOWN.get(canonical_name(numbered[1]), "") if numbered else ""
    if numbered and ending in BY_SUBGROUP:
        return (ending, int(numbered[2])) if int(numbered[2]) else ("", None)
    metric = KNOWN.get(canonical_name(text), "")
    return ("" if metric in BY_SUBGROUP else metric), None


def _require_one_column(names: Sequence[str], parts: list[tuple[str, str, int | None]]) -> None:
    first: dict[tuple[str, str, int | None], str] = {}
    for name, part in zip(names, parts, strict=True):
        other = first.setdefault(part, name)
        if other != name:
            raise ValidationError(
                f"The columns {quote_name(other)} and {quote_name(name)} are the same metric of "
                "the same dataset. Leave one of them out."
            )


def _take_fractions(known: pd.DataFrame) -> FloatArray:
    """Values from 0 to 1, divided by 100 where the table is in percent."""
    values = known["score"].to_numpy(dtype=np.float64)
    if not ((values >= 0) & (values <= 100)).all():
        place = int(np.flatnonzero(~((values >= 0) & (values <= 100)))[0])
        row = known.iloc[place]
        raise ValidationError(
            f"{quote_name(row['dataset'])} of {quote_name(row['model'])} is {values[place]:g}. "
            "Published metrics are from 0 to 1, or from 0 to 100 in percent."
        )
    if not (values > 1).any():
        return values
    highest = known.groupby("dataset", observed=True)["score"].max()
    mixed = sorted(highest[(highest > 0) & (highest <= 1)].index)
    if mixed:
        raise ValidationError(
            f"{list_names(mixed)}: no value above 1, while other columns are in percent. Write all "
            "values in percent, or, if these are right, all from 0 to 1."
        )
    return round_significant(values / 100)


class Fact(TypedDict):
    """What is known of a dump, as `evaluate` writes it.

    Parameters
    ----------
    model, dataset, seed : str
        Whose predictions it has.
    path, sha256 : str
        The file and its digest.
    bytes, images : int
        Its size and its number of images.
    digest : str
        Of the ids and numbers of labels of the images.
    labels : dict of str to int
        How many images have how many labels.
    """

    model: str
    dataset: str
    seed: str
    path: str
    sha256: str
    bytes: int
    images: int
    digest: str
    labels: dict[str, int]


def check_predictions(
    *,
    scores: Sequence[str],
    facts: Sequence[str],
    objects: Sequence[str],
    names: Sequence[str],
    **settings: Any,
) -> tuple[Exports, Validation, dict[str, Any]]:
    """Gather one score per model, dataset and seed, and find everything that is wrong with them."""
    if not facts:
        raise ValidationError(
            "there are no score dumps yet. Score the images that were composed, in patchml/, and "
            "write a dump for each seed where `exports` finds it."
        )
    contents = [read_json(path) for path in facts]
    known: list[Fact] = [fact for content in contents for fact in content["dumps"]]
    tables = pd.concat([read_parquet(path) for path in scores], ignore_index=True)
    gathered = gather_runs(tables, known, metric=settings["rank_by"])
    found = [
        *check_digests(names, settings["checksums"]),
        *read_problems([problem for content in contents for problem in content["problems"]]),
        *find_unscored(gathered, known, metric=settings["rank_by"]),
        *find_other_images(known),
        *find_thin_subgroups(known, subgroups=settings["subgroups"]),
        *find_unused_objects(*map(read_table, objects)),
    ]
    result = validate_runs(
        gathered,
        found,
        rules=Rules.choose(settings, settings["references"]),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=settings["renamed"],
    )
    broken = [cell for content in contents for cell in content["broken"]]
    result = replace(result, problems=drop_explained_gaps(result.problems, broken, gathered, known))
    images = sum(fact["images"] for fact in known)
    files: list[ExportFile] = [
        {
            "path": fact["path"],
            "sha256": fact["sha256"],
            "bytes": fact["bytes"],
            "rows": fact["images"],
        }
        for fact in known
    ]
    read = Exports(gathered, found, files, images, 0, 0, percent_signs=0, decimal_commas=0)
    return read, result, {}


def gather_runs(scores: pd.DataFrame, facts: Sequence[Fact], *, metric: str) -> pd.DataFrame:
    """Gather one metric of all dumps as runs.

    Parameters
    ----------
    scores : pandas.DataFrame
        ``model``, ``dataset``, ``seed``, ``metric``, ``subgroup`` and ``value``, among others.
    facts : sequence of Fact
        The dumps.
    metric : str
        Which metric of the whole dataset.

    Returns
    -------
    pandas.DataFrame
        The columns that `capmap.validation.validate_runs` takes, by model, dataset and seed. The
        source is the dump; it has no line.
    """
    own = scores[(scores["metric"] == metric) & scores["subgroup"].isna()]
    paths = {(fact["model"], fact["dataset"], fact["seed"]): fact["path"] for fact in facts}
    runs = own[[*NAMES, "metric"]].copy()
    runs["score"] = own["value"].to_numpy(dtype=np.float64)
    runs["raw"] = [repr(value) for value in runs["score"].tolist()]
    runs["source"] = [paths[key] for key in runs[list(NAMES)].itertuples(index=False, name=None)]
    runs["line"], runs["column"] = 0, ""
    return runs[list(RUNS)].astype(RUNS).sort_values(list(NAMES), ignore_index=True)


def find_unscored(runs: pd.DataFrame, facts: Sequence[Fact], *, metric: str) -> list[Problem]:
    """Find datasets of which the metric cannot be estimated, as no image counts."""
    known = set(runs["source"])
    lost = (fact for fact in facts if fact["path"] not in known)
    return list(dict.fromkeys(_explain_empty(fact, metric) for fact in lost))


def _explain_empty(fact: Fact, metric: str) -> Problem:
    lack = "has one of the numbers of labels of multilabel.subgroups"
    return Problem(
        code="unscored_dataset",
        value=fact["dataset"],
        reason=f"The metric {quote_name(metric)} cannot be estimated for the dataset "
        f"{quote_name(fact['dataset'])}{_name_seed(fact)}: no image "
        f"{lack if metric == 'asma' else 'has a valid label'}.",
        remedy="Check its labels, or leave the dataset out"
        f"{', or set multilabel.subgroups' if metric == 'asma' else ''}.",
    )


def drop_explained_gaps(
    problems: Sequence[Problem],
    cells: Sequence[Sequence[str]],
    runs: pd.DataFrame,
    facts: Sequence[Fact],
) -> list[Problem]:
    """Drop gaps that a faulty dump explains, as that has a problem of its own.

    Parameters
    ----------
    problems : sequence of Problem
        All that was found.
    cells : sequence of (model, dataset, seed)
        The dumps that cannot be read.
    runs, facts : pandas.DataFrame, sequence of Fact
        The runs of all others, and what is known of these; some may have no score.

    Returns
    -------
    list of Problem
        Without ``incomplete`` of the models and datasets of these dumps, and ``nothing_left``.
    """
    scored = set(runs["source"])
    silent = [fact for fact in facts if fact["path"] not in scored]
    cells = [*cells, *((fact["model"], fact["dataset"], fact["seed"]) for fact in silent)]
    if not cells:
        return list(problems)
    names = {name for model, dataset, _ in cells for name in (model, dataset)}
    return [
        problem
        for problem in problems
        if not (problem.code == "incomplete" and problem.value in names)
        and problem.code != "nothing_left"
    ]


def find_other_images(facts: Sequence[Fact]) -> list[Problem]:
    """Find dumps that are not of the same images as the others of their dataset and seed.

    Notes
    -----
    Right is what most dumps have, and of equally frequent ones what the first by name has. Images
    are told apart by their ids, and by their numbers of labels where they have none.
    """
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: tuple(fact[name] for name in NAMES)):  # type: ignore[literal-required]
        groups.setdefault((fact["dataset"], fact["seed"]), []).append(fact)
    problems = []
    for group in groups.values():
        digests = [fact["digest"] for fact in group]
        usual = group[digests.index(max(digests, key=digests.count))]
        problems += [_explain_others(fact, usual) for fact in group if _differs(fact, usual)]
    return problems


def find_thin_subgroups(facts: Sequence[Fact], *, subgroups: Subgroups) -> list[Problem]:
    """Find datasets with no or few images of some number of labels, all of which ASMA weighs alike.

    Those that have no image of any subgroup have no ASMA, and `find_unscored` reports them.
    """
    firsts = {(fact["dataset"], fact["seed"]): fact for fact in reversed(facts)}
    problems = []
    for _, fact in sorted(firsts.items()):
        images = {group: fact["labels"].get(str(group), 0) for group in subgroups[fact["dataset"]]}
        if not any(images.values()):
            continue
        name = f"the dataset {quote_name(fact['dataset'])}{_name_seed(fact)}"
        thin = Problem(
            severity="warning",
            code="empty_subgroups",
            value=fact["dataset"],
            reason=f"No image of {name} has so many labels: {_list_groups(images, 0, 0)}.",
            remedy="ASMA averages the other subgroups; compare it with datasets that have the "
            "same, or set multilabel.subgroups.",
        )
        if not all(images.values()):
            problems.append(thin)
        if few := _list_groups(images, 1, FEW - 1):
            text = f"Fewer than {FEW} images of {name} have so many labels: {few}."
            remedy = "ASMA weighs them as much as all images of another number of labels."
            few_images = replace(thin, code="small_subgroups", reason=text, remedy=remedy)
            problems.append(few_images)
    return problems


def find_unused_objects(
    skipped: pd.DataFrame | None = None, composed: pd.DataFrame | None = None
) -> list[Problem]:
    """Count the annotated objects that are in no composed image.

    Parameters
    ----------
    skipped : pandas.DataFrame, optional
        A row per fault of annotations or images; by default no images are composed.
    composed : pandas.DataFrame, optional
        Of one seed, as `capmap.images.composition.tabulate_pairs` makes it.

    Returns
    -------
    list of Problem
        Warnings with the codes "skipped_objects" and "unused_objects".
    """
    if skipped is None or composed is None:
        return []
    problems = []
    if len(skipped):
        problems.append(
            Problem(
                severity="warning",
                code="skipped_objects",
                value=str(len(skipped)),
                reason="Faults of annotations or images keep objects out of the composed images.",
                remedy="patchml/skipped.csv lists them; correct them, or leave the images out.",
            )
        )
    rows = composed.loc[composed["unused"] > 0, ["unused", "objects", "count", "size"]]
    each = ["{} of {} ({} x {})".format(*row) for row in rows.to_numpy().tolist()]
    if each:
        problems.append(
            Problem(
                severity="warning",
                code="unused_objects",
                reason="Objects in no composed image, by number of objects x size in pixels: "
                f"{', '.join(each)}.",
                remedy="Fewer than an image needs are left over, each seed leaves out others; all "
                "are left out where the grid has no room.",
            )
        )
    return problems


def _list_groups(images: Mapping[int, int], least: int, most: int) -> str:
    return ", ".join(str(group) for group, n in sorted(images.items()) if least <= n <= most)


def pool_label_counts(facts: Sequence[Fact], *, subgroups: Subgroups) -> pd.DataFrame:
    """Count the images of each dataset by their number of labels, over all seeds.

    Parameters
    ----------
    facts : sequence of Fact
        The dumps; all of one dataset and seed have the same images.
    subgroups : mapping of str to sequence of int
        Numbers of labels over which the ASMA of each dataset averages, by default those of the
        paper. Images with more labels than the largest are counted together.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``labels`` (0 to the largest and ``more``, as text), ``images`` and ``share``
        (of the images with labels; missing for 0), by dataset.
    """
    firsts = {(fact["dataset"], fact["seed"]): fact["labels"] for fact in facts}
    rows = []
    for dataset in sorted({name for name, _ in firsts}):
        largest = max(subgroups.get(dataset, SUBGROUPS))
        images = dict.fromkeys([*map(str, range(largest + 1)), "more"], 0)
        for (name, _), labels in firsts.items():
            for count, number in labels.items() if name == dataset else ():
                images[count if int(count) <= largest else "more"] += number
        rows += [(dataset, count, number) for count, number in images.items()]
    table = pd.DataFrame(rows, columns=["dataset", "labels", "images"])
    table = table.astype({"dataset": "str", "labels": "str", "images": "int64"})
    return share_images(table).astype({"share": "float64"})


def read_problems(rows: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """Read problems back from JSON, each once.

    Notes
    -----
    Labels that fit several dumps in the same way badly are reported at the first of them.
    """
    groups: dict[Problem, list[str]] = {}
    for problem in dict.fromkeys(Problem(**row) for row in rows):
        is_shared = problem.code == UNMATCHED
        key = replace(problem, source="") if is_shared else problem
        groups.setdefault(key, []).append(problem.source)
    return [_unite(problem, sorted(sources)) for problem, sources in groups.items()]


def _unite(problem: Problem, sources: Sequence[str]) -> Problem:
    first, *others = sources
    more = f" The same holds for {count_things(len(others), 'other dump')}: {list_names(others)}."
    return replace(problem, source=first, reason=problem.reason + (more if others else ""))


def _differs(fact: Fact, usual: Fact) -> bool:
    return fact["digest"] != usual["digest"]


def _name_seed(fact: Fact) -> str:
    return f" with seed {quote_name(fact['seed'])}" if fact["seed"] else ""


def _explain_others(fact: Fact, usual: Fact) -> Problem:
    extent = f"({fact['images']} and {count_things(usual['images'], 'image')})"
    return Problem(
        code="other_images",
        source=fact["path"],
        reason=f"The images are not those of {usual['path']}, which is of the same dataset "
        f"{extent}.",
        remedy="Score the same images with every model, and give their ids in the same spelling.",
    )
