"""What the steps of analyses and the figures of a study are given, as the catalog declares."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, get_args

from capmap.analyses import (
    FIGURES,
    FOLDER,
    INDEX,
    STEPS,
    list_analyses,
    list_compared,
    list_figures,
    list_tables,
)
from capmap.errors import ConfigError
from capmap.inputs.exports import find_dimensions
from capmap.inputs.predictions import find_subgroups, list_counted_datasets, list_datasets
from capmap.inputs.studies import Study, count_of_images, count_resamples, list_faults
from capmap.looks import find_faults
from capmap.settings.choices import TableFormat, find_alpha
from capmap.wording import find_nearest, list_names, quote_name, write_key

# What no look of a figure has.
SHARED = {"formats", "names", "only", "skip"}

# Options that are worked out from several settings.
WORKED_OUT: dict[str, Callable[[Study], Any]] = {
    "bootstrap/alpha": lambda study: find_alpha(study.read("bootstrap/confidence")),
    "bootstrap/of_comparisons": partial(count_resamples, most=2000),
    "bootstrap/of_images": count_of_images,
    "leaderboard/dimensions": find_dimensions,
    "multilabel/counted": list_counted_datasets,
    "multilabel/subgroups": find_subgroups,
    "predictions/order": list_datasets,
}


def is_asked(study: Study, *names: str) -> bool:
    """Whether a study asks for one of some analyses."""
    return not {*names}.isdisjoint(list_analyses(study.settings))


def read_steps(study: Study, *names: str) -> dict[str, dict[str, Any]]:
    """Read what steps are given, or those that share a job, by step and parameter."""
    chosen = names or list_compared(study.settings)
    return {name: _read_options(study, INDEX[STEPS[name]]["steps"][name]) for name in chosen}


def list_groups(study: Study) -> list[str]:
    """List the names of the groups of datasets that are ranked."""
    return sorted(study.settings["groups"]) if is_asked(study, "groups") else []


def read_groups(study: Study) -> dict[str, Any]:
    """Read what chooses the runs of groups of datasets; empty where none are ranked."""
    if not is_asked(study, "groups"):
        return {}
    names = {"definitions": "groups", "incomplete": "incomplete", "min_datasets": "min_datasets"}
    return _read_options(study, names)


def read_facts(study: Study) -> dict[str, dict[str, Any]]:
    """Read what the words of a study's analyses are given, by analysis and parameter."""
    return {
        name: _read_options(study, INDEX[name]["options"])
        for name in ["main", *list_analyses(study.settings)]
    }


def read_figures(study: Study) -> dict[str, dict[str, Any]]:
    """Read what the figures of a study are given, and how they look, by figure."""
    return {
        name: {
            "options": _read_options(study, INDEX[FIGURES[name]]["figures"][name]),
            "look": read_look(study, name),
        }
        for name in list_figures(study.settings)
    }


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
    readers = ("frontier", "capabilities", "placements", "next_results", "drift", "transfer")
    if not is_asked(study, *readers):
        return {}
    return {kind: dict(own) for kind, own in study.settings["attributes"].items()}


def _read_options(study: Study, options: Mapping[str, str]) -> dict[str, Any]:
    return {
        parameter: WORKED_OUT[path](study) if path in WORKED_OUT else study.read(path)
        for parameter, path in options.items()
    }


def check_looks(study: Study) -> None:
    """Check the names in how figures look that no schema knows, and what depends on others."""
    faults = [study.refuse(f"figures.{option}", text) for option, text in _find_faults(study)]
    if faults:
        raise ConfigError("\n".join(map(str, faults)))


def list_looked_for(study: Study) -> list[tuple[str, str, list[str]]]:
    """List the names of models there: option, kind and names."""
    figures = study.settings["figures"]
    return [(f"figures.{option}", "model", [*figures[option]]) for option in ("colors", "order")]


def read_look(study: Study, name: str) -> dict[str, Any]:
    """Read what a study has chosen for the look of a figure."""
    look = {key: value for key, value in study.settings["figures"].items() if key not in SHARED}
    width = look.pop("width", None)
    if isinstance(width, dict):
        width = width.get(name)
    chosen = look if width is None else {**look, "width": width}
    return {key: value for key, value in chosen.items() if value}


def _find_faults(study: Study) -> Iterator[tuple[str, str]]:
    figures = study.settings["figures"]
    yield from _find_bad_names(figures)
    yield from _find_useless(study)
    try:
        yield from find_faults(figures)
    except ModuleNotFoundError:
        return  # Where only jobs have matplotlib, the one that draws reports it.


def _find_bad_names(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find figures that there are not, and a name that several would have."""
    widths = figures.get("width")
    by_figure = widths if isinstance(widths, dict) else {}
    for option, names in (
        ("only", figures["only"]),
        ("skip", figures["skip"]),
        ("width", by_figure),
    ):
        for name in names:
            if name not in FIGURES:
                near = find_nearest(name, FIGURES)
                meant = f"Did you mean {quote_name(near)}?" if near else "See docs/results.md."
                yield option, f"there is no figure {quote_name(name)}. {meant}"
    firsts: dict[str, str] = {}
    for old, new in figures["names"].items():
        first = firsts.setdefault(new, old)
        if first != old:
            both = f"{quote_name(first)} and {quote_name(old)}"
            yield "names", f"{both} would both be called {quote_name(new)}. Give each its own."


def _find_useless(study: Study) -> Iterator[tuple[str, str]]:
    """Find a choice of figures that leaves none."""
    figures = study.settings["figures"]
    if {*figures["only"]} & {*FIGURES} and not list_figures(study.settings):
        listed = list_names(figures["only"])
        yield (
            "only",
            f"none of {listed} is left to be drawn. List their analyses under analyses, and "
            "name no figure here and in `skip`.",
        )


def list_printed(study: Study) -> list[str]:
    """List the files of published numbers of a study."""
    return [entry["file"] for entry in study.settings["published"].values() if entry["file"]]


def list_beside(study: Study) -> list[str]:
    """List what holds the tables beside published numbers and of claims, each once."""
    entries = [entry for entry in study.settings["published"].values() if entry["file"]]
    named = [entry["table"] for entry in [*entries, *study.settings["claims"].values()]]
    places = [FOLDER if name.startswith(f"{FOLDER}/") else f"{name}.csv" for name in named if name]
    return [study.place(place) for place in dict.fromkeys(places)]


def check_published(study: Study) -> None:
    """Look for the files, tables and figures that `published` and `claims` name."""
    own = {f"tables/{name}" for name in INDEX["published"]["tables"]}
    known = {
        "table": [name for name in list_tables(study.settings) if name not in own],
        "figure": list_figures(study.settings),
    }
    named = {f"published.{write_key(name)}": entry for name, entry in _list(study, "published")}
    faults = [
        fault
        for option, entry in named.items()
        if entry["file"]
        for fault in list_faults(study.find_file, f"{option}.file", entry["file"])
    ]
    named |= {f"claims.{write_key(name)}": claim for name, claim in _list(study, "claims")}
    for option, entry in named.items():
        for kind, names in known.items():
            if entry.get(kind) and entry[kind] not in names:
                near = find_nearest(entry[kind], names)
                hint = f"Did you mean {near}?" if near else f"There are {list_names(names)}."
                text = f"the study makes no {kind} {entry[kind]}. {hint}"
                faults.append(str(study.refuse(f"{option}.{kind}", text)))
    if faults:
        raise ConfigError("\n".join(faults))


def _list(study: Study, key: str) -> list[tuple[str, dict[str, Any]]]:
    return list(study.settings[key].items())
