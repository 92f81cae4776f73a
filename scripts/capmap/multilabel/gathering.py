"""One score per model, dataset and seed from evaluated dumps, and everything wrong with them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from capmap.artifacts import read_json, read_parquet
from capmap.errors import ValidationError
from capmap.exports import Exports
from capmap.exports.reading import check_digests
from capmap.normalization import Rules
from capmap.patterns import Cell
from capmap.problems import Problem
from capmap.settings.choices import Subgroups
from capmap.validation import Policies, Validation, validate_runs
from capmap.wording import count_things, quote_name

# A subgroup of fewer images is said: the standard error of its accuracy may be above 0.11.
FEW = 20
# What is missing as a dump cannot be used, which has a problem of its own.
GAPS = ("incomplete", "nothing_left")

# What `evaluate` writes of a dump: whose it is, its file, and its images by number of labels.
Fact = Mapping[str, Any]


def check_predictions(
    *,
    scores: Sequence[str],
    facts: Sequence[str],
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
    unscored = list(find_unscored(gathered, known, metric=settings["rank_by"]))
    found = [
        *check_digests(names, settings["checksums"]),
        *dict.fromkeys(Problem(**own) for content in contents for own in content["problems"]),
        *dict.fromkeys(unscored),
        *find_other_images(known),
        *find_thin_subgroups(known, subgroups=settings["subgroups"]),
    ]
    result = validate_runs(
        gathered,
        found,
        rules=Rules.choose(settings, settings["references"]),
        policies=Policies.choose(settings),
        named=settings["named"],
    )
    if unscored or any(content["broken"] for content in contents):
        kept = [problem for problem in result.problems if problem.code not in GAPS]
        result = replace(result, problems=kept)
    images = sum(fact["images"] for fact in known)
    files: list[Any] = [
        {**{key: fact[key] for key in ("path", "sha256", "bytes")}, "rows": fact["images"]}
        for fact in known
    ]
    read = Exports(gathered, found, files, Counter(rows=images))
    return read, result, {}


def gather_runs(scores: pd.DataFrame, facts: Sequence[Fact], *, metric: str) -> pd.DataFrame:
    """Gather one metric of all dumps as runs."""
    own = scores[(scores["metric"] == metric) & scores["subgroup"].isna()]
    cells = list(Cell._fields)
    paths = {tuple(fact[name] for name in cells): fact["path"] for fact in facts}
    runs = own[["model", "dataset", "metric", "seed"]].assign(
        score=own["value"],
        raw=[repr(value) for value in own["value"].tolist()],
        source=[paths[key] for key in own[cells].itertuples(index=False, name=None)],
        line=0,
        column="",
    )
    return runs.astype({"raw": "str", "source": "str"}).sort_values(cells, ignore_index=True)


def find_unscored(runs: pd.DataFrame, facts: Sequence[Fact], *, metric: str) -> Iterator[Problem]:
    """Find datasets of which the metric cannot be estimated, as no image counts."""
    known = set(runs["source"])
    for fact in facts:
        if fact["path"] not in known:
            yield Problem(
                code="unscored_dataset",
                value=fact["dataset"],
                reason=f"The metric {quote_name(metric)} cannot be estimated for the dataset "
                f"{quote_name(fact['dataset'])}{_name_seed(fact)}: no image has labels for it.",
                remedy="Check its labels and multilabel.subgroups, or leave the dataset out.",
            )


def find_other_images(facts: Sequence[Fact]) -> list[Problem]:
    """Find dumps that are not of the same images as the others of their dataset and seed.

    Right is what most dumps have, and of equally frequent ones what the first by name has. Images
    are told apart by their ids, and by their numbers of labels where they have none.
    """
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: [fact[name] for name in Cell._fields]):
        groups.setdefault((fact["dataset"], fact["seed"]), []).append(fact)
    problems = []
    for group in groups.values():
        digests = [fact["digest"] for fact in group]
        usual = group[digests.index(max(digests, key=digests.count))]
        problems += [
            Problem(
                code="other_images",
                source=fact["path"],
                reason=f"The images are not those of {usual['path']}, which is of the same dataset "
                f"({fact['images']} and {count_things(usual['images'], 'image')}).",
                remedy="Score the same images with every model, and give their ids in the same "
                "spelling.",
            )
            for fact in group
            if fact["digest"] != usual["digest"]
        ]
    return problems


def find_thin_subgroups(facts: Sequence[Fact], *, subgroups: Subgroups) -> list[Problem]:
    """Find datasets with no or few images of some number of labels, all of which ASMA weighs alike.

    Those that have no image of any subgroup have no ASMA, and `find_unscored` reports them.
    """
    firsts = {(fact["dataset"], fact["seed"]): fact for fact in reversed(facts)}
    problems = []
    for _, fact in sorted(firsts.items()):
        images = {group: fact["labels"].get(str(group), 0) for group in subgroups[fact["dataset"]]}
        few = [f"{group} ({n})" for group, n in sorted(images.items()) if n < FEW]
        if few and any(images.values()):
            name = f"the dataset {quote_name(fact['dataset'])}{_name_seed(fact)}"
            problem = Problem(
                severity="warning",
                code="small_subgroups",
                value=fact["dataset"],
                reason=f"Fewer than {FEW} images of {name} have so many labels: {', '.join(few)}.",
                remedy="ASMA leaves out numbers of labels without an image and weighs the others "
                "alike; compare it with datasets that have the same, or set multilabel.subgroups.",
            )
            problems.append(problem)
    return problems


def _name_seed(fact: Fact) -> str:
    return f" with seed {quote_name(fact['seed'])}" if fact["seed"] else ""
