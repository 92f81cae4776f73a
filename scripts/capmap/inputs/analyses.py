"""What the steps of analyses and the figures read, make and are given, as the catalog declares."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias, get_args

from capmap.catalog import (
    ANALYSES,
    FIGURES,
    STEPS,
    Analysis,
    find_owner,
    list_analyses,
    list_figures,
    list_tables,
    place_table,
)
from capmap.inputs.exports import find_attributes
from capmap.inputs.leaderboards import (
    find_benchmark,
    find_dimensions,
    find_releases,
    list_descriptions,
)
from capmap.inputs.looks import list_looked_for
from capmap.inputs.predictions import find_subgroups, list_datasets, list_parts
from capmap.inputs.published import list_claimed, list_computed, list_printed
from capmap.inputs.studies import Study, list_shards, list_shards_of_conditions
from capmap.settings.choices import TableFormat
from capmap.wording import write_key

# Where something is: in the study's folder, or what a function of the study finds.
Place: TypeAlias = str | Callable[[Study], str | list[str]]

# Steps that share a job, and those with a rule of their own.
SHARED = {name for name in STEPS if find_owner(name, "steps").shared}
SINGLE = {"project_umap"}


class Code(NamedTuple):
    """What makes files: the modules of functions, and what is declared of the files."""

    modules: list[str]
    declared: str


def find_map(study: Study) -> str:
    """Name the map of a study, by the projection that it asks for."""
    return study.place(f"capabilities/map/{study.read('capabilities/map')}.parquet")


# What is no table, of a study: the files of steps, of other rules, and what depends on it.
ARTIFACTS: dict[str, Place] = {
    **{file: path for step in STEPS.values() for file, path in step.files.items()},
    "bounds": "normalized/bounds.csv",
    "exported": "runs.parquet",
    "evaluations": "leaderboard/evaluations.parquet",
    "runs": partial(list_shards, folder="normalized"),
    "others": list_shards_of_conditions,
    "model_file": partial(find_attributes, kind="models"),
    "dataset_file": partial(find_attributes, kind="datasets"),
    "places": find_map,
    "evaluated": partial(list_parts, name="scores.parquet"),
    "outcomes": partial(list_parts, name="outcomes.parquet"),
    "facts": partial(list_parts, name="facts.json"),
    "replicates": partial(list_shards, folder="bootstrap"),
    "descriptions": list_descriptions,
    "benchmark": find_benchmark,
    "releases": find_releases,
    "printed": list_printed,
    "computed": list_computed,
    "claimed": list_claimed,
}
# Options that are worked out from several settings.
WORKED_OUT: dict[str, Callable[[Study], Any]] = {
    "leaderboard/dimensions": find_dimensions,
    "multilabel/subgroups": find_subgroups,
    "predictions/order": list_datasets,
}


def list_shared_steps(study: Study) -> list[str]:
    """List the steps of the analyses of a study that share a job."""
    steps = [name for made in list_analyses(study.settings) for name in ANALYSES[made].steps]
    return [name for name in steps if name in SHARED]


def list_drawn(study: Study) -> list[str]:
    """List the figures of a study."""
    return list_figures(study.settings)


def place_tables(study: Study, *suffixes: str) -> list[str]:
    """Say where all tables of a study are in some formats."""
    names = list_tables(study.settings)
    return [study.place(f"{name}.{suffix}") for name in names for suffix in suffixes]


def place_texts(study: Study, *suffixes: str) -> list[str]:
    """Say where the paragraphs of all analyses of a study are in some formats."""
    names = list_analyses(study.settings)
    return [study.place(f"text/{name}.{suffix}") for name in names for suffix in suffixes]


def list_asked(study: Study) -> list[str]:
    """List the analyses of a study."""
    return list_analyses(study.settings)


def list_named(study: Study) -> list[dict[str, Any]]:
    """List the names in the settings of a study's analyses that its runs must have."""
    settings, asked = study.settings, list_analyses(study.settings)
    comparison, compared = settings["comparison"], settings["multilabel"]
    rope = comparison["rope"] if isinstance(comparison["rope"], dict) else {}
    is_table = settings["format"] in get_args(TableFormat)
    named = [
        *(("", *item) for item in list_looked_for(study)),
        ("pairwise", "comparison.reference", "model", [comparison["reference"]]),
        ("pairwise", "comparison.rope", "metric", [*rope]),
        ("ranks", "comparison.highlight", "model", comparison["highlight"]),
        *(
            ("groups", f"groups.{write_key(name)}.datasets", "dataset", group["datasets"])
            for name, group in settings["groups"].items()
        ),
        *(
            ("multilabel", f"multilabel.{key}", "published", [*compared[key]])
            for key in ("compare", "images")
            if is_table
        ),
        *([("multilabel", "multilabel.rank_by", "views", [compared["rank_by"]])] * is_table),
    ]
    return [
        {"option": option, "kind": kind, "names": [*filter(None, names)]}
        for owner, option, kind, names in named
        if (owner in asked or not owner) and any(names)
    ]


def read_attributes(study: Study) -> dict[str, Any]:
    """Read where the attributes of models and datasets are, if an analysis needs them."""
    is_read = any(
        name == "frontier" or ANALYSES[name].folder == "capabilities" for name in list_asked(study)
    )
    if not is_read:
        return {}
    return {kind: dict(own) for kind, own in study.settings["attributes"].items()}


def list_checkpoint_rankings(study: Study) -> list[dict[str, Any]]:
    """List the rankings of checkpoints, if a study asks for them."""
    return study.read("checkpoints/rankings") if "checkpoints" in list_asked(study) else []


def place_step_inputs(*names: str) -> dict[str, Place]:
    """Say what steps read, by name."""
    return {
        read: _place_artifact(read, find_owner(name, "steps"))
        for name in names
        for read in [*STEPS[name].reads, *STEPS[name].paths]
    }


def find_figure_inputs(study: Study, *names: str) -> dict[str, dict[str, str | list[str]]]:
    """Find where each figure's tables are; ``order`` orders the models."""
    return {
        name: {
            read: f"{study.prefix}{found}"
            if isinstance(found, str)
            else [f"{study.prefix}{path}" for path in found]
            for read, found in _find_reads(study, name)
        }
        for name in names
    }


def list_figure_inputs(study: Study, *names: str) -> list[str]:
    """List the files that figures are made of, each once."""
    reads = [found for name in names for _, found in _find_reads(study, name)]
    return list(dict.fromkeys(_join(reads)))


def read_step_options(study: Study, *names: str) -> dict[str, dict[str, Any]]:
    """Read what steps are given, by parameter."""
    return {name: _read_options(study, STEPS[name].options) for name in names}


def read_figure_options(study: Study, *names: str) -> dict[str, dict[str, Any]]:
    """Read what the functions of figures are given, by parameter."""
    return {name: _read_options(study, FIGURES[name].options) for name in names}


def find_step_code(name: str) -> Code:
    """Find what the files of a step depend on: not on captions."""
    step, tables = STEPS[name], find_owner(name, "steps").tables
    made = [tables[table] for table in step.tables]
    forms = [(table.columns, table.best, table.formats) for table in made]
    functions = [step.run, *filter(None, [step.describe])]
    modules = [function.partition(":")[0] for function in functions]
    return Code(["job", *modules, "capmap.tables"], repr([step, *forms]))


def find_figure_code(name: str) -> Code:
    """Find what the files of a figure depend on beside its tables."""
    figure = FIGURES[name]
    module = figure.draw.partition(":")[0]
    others = ("job", "capmap.figures.look", "capmap.figures.style", "capmap.tables")
    return Code([module, *others], repr(figure.options))


def _place_artifact(name: str, owner: Analysis) -> Place:
    place = place_table(name, owner)
    return f"{place}.csv" if place else ARTIFACTS[name]


def _join(found: Iterable[str | list[str]]) -> list[str]:
    """Join paths and lists of paths."""
    return [path for some in found for path in ([some] if isinstance(some, str) else some)]


def _find_reads(study: Study, name: str) -> Iterator[tuple[str, str | list[str]]]:
    figure, owner = FIGURES[name], find_owner(name, "figures")
    reads = {read: read for read in figure.reads}
    for read, made in (reads | ({"order": figure.order} if figure.order else {})).items():
        place = _place_artifact(made, owner)
        yield read, place(study) if callable(place) else study.place(place)


def _read_options(study: Study, options: Mapping[str, str]) -> dict[str, Any]:
    return {
        parameter: WORKED_OUT[path](study) if path in WORKED_OUT else study.read(path)
        for parameter, path in options.items()
    }
