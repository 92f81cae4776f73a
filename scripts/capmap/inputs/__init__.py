"""What the rules read and are given, as far as it depends on the settings or on the files there.

The workflow asks this room while it is read, so it imports neither Snakemake (but to refuse a
configuration) nor numbers, and job scripts do not import it. What is wrong is a `ConfigError`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

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
from capmap.inputs.studies import TABLES, Study, find_dimensions, find_subgroups, rename
from capmap.settings.choices import find_alpha
from capmap.wording import list_names, suggest, write_key

# What no look of a figure has.
SHARED = {"formats", "names", "only"}

RESAMPLING = {
    "n_resamples": "bootstrap/of_comparisons",
    "confidence_level": "bootstrap/confidence",
    "seed": "bootstrap/seed",
}
# Options that are worked out from several settings.
WORKED_OUT: dict[str, Callable[[Study], Any]] = {
    "bootstrap/alpha": lambda study: find_alpha(study.read("bootstrap/confidence")),
    "bootstrap/of_comparisons": lambda study: min(2000, study.read("bootstrap/replicates")),
    "bootstrap/resampling": lambda study: _read_options(study, RESAMPLING),
    "bootstrap/of_images": lambda study: count_of_images(study),
    "leaderboard/dimensions": find_dimensions,
    # The datasets of predictions follow in their order.
    "multilabel/compare": lambda study: [
        *study.read("multilabel/compare"),
        *(rename(study, name) for name in study.read("predictions/datasets")),
    ],
    # As configured, each with its name for readers.
    "multilabel/counted": lambda study: [
        [name, rename(study, name)] for name in study.read("multilabel/labels")
    ],
    "multilabel/subgroups": find_subgroups,
}


def count_of_images(study: Study) -> int:
    """Count the bootstrap replicates over images."""
    return min(1000, int(study.read("bootstrap/replicates")))


def is_asked(study: Study, *names: str) -> bool:
    """Whether a study asks for one of some analyses."""
    return not {*names}.isdisjoint(list_analyses(study.settings))


def _read_options(study: Study, options: Mapping[str, str]) -> dict[str, Any]:
    return {
        parameter: WORKED_OUT[path](study) if path in WORKED_OUT else study.read(path)
        for parameter, path in options.items()
    }


def read_steps(study: Study, *names: str) -> dict[str, dict[str, Any]]:
    """Read what steps are given, or those that share a job, by step and parameter."""
    chosen = names or list_compared(study.settings)
    return {name: _read_options(study, INDEX[STEPS[name]]["steps"][name]) for name in chosen}


def list_groups(study: Study) -> list[str]:
    """List the names of the groups of datasets that are ranked."""
    return sorted(study.settings["groups"]) if is_asked(study, "groups") else []


def read_groups(study: Study) -> dict[str, Any]:
    """Read what chooses the runs of groups of datasets; empty where none are ranked."""
    names = {"definitions": "groups", "incomplete": "incomplete", "min_datasets": "min_datasets"}
    return _read_options(study, names) if is_asked(study, "groups") else {}


def read_facts(study: Study) -> dict[str, dict[str, Any]]:
    """Read what the words of a study's analyses are given, by analysis and parameter."""
    names = ["main", *list_analyses(study.settings)]
    return {name: _read_options(study, INDEX[name]["options"]) for name in names}


def read_figures(study: Study) -> dict[str, dict[str, Any]]:
    """Read what the figures of a study are given, and how they look, by figure."""
    return {
        name: {
            "options": _read_options(study, INDEX[FIGURES[name]]["figures"][name]),
            "look": _read_look(study, name),
        }
        for name in list_figures(study.settings)
    }


def _read_look(study: Study, name: str) -> dict[str, Any]:
    """Read what a study has chosen for the look of a figure."""
    look = {key: value for key, value in study.settings["figures"].items() if key not in SHARED}
    width = look.get("width")
    look["width"] = width.get(name) if isinstance(width, dict) else width
    return {key: value for key, value in look.items() if value}


def list_named(study: Study) -> list[dict[str, Any]]:
    """List the names in the settings of a study's analyses that its runs must have."""
    settings, figures = study.settings, study.settings["figures"]
    comparison, compared = settings["comparison"], settings["multilabel"]
    rope = comparison["rope"] if isinstance(comparison["rope"], dict) else {}
    named = [
        ("", "figures.colors", "model", figures["colors"]),
        ("", "figures.order", "model", figures["order"]),
        ("pairwise", "comparison.reference", "model", [comparison["reference"]]),
        ("pairwise", "comparison.rope", "metric", rope),
    ]
    for name, group in settings["groups"].items():
        named.append(("groups", f"groups.{write_key(name)}.datasets", "dataset", group["datasets"]))
    for name, members in settings["capabilities"]["groups"].items():
        option = f"capabilities.groups.{write_key(name)}"
        named.append(("capabilities", option, "mapped", members))
    if settings["format"] in TABLES:
        named += [
            ("multilabel", "multilabel.compare", "published", compared["compare"]),
            ("multilabel", "multilabel.images", "published", compared["images"]),
            ("multilabel", "multilabel.rank_by", "views", [compared["rank_by"]]),
        ]
    return [
        {"option": option, "kind": kind, "names": [*filter(None, names)]}
        for owner, option, kind, names in named
        if any(names) and (not owner or is_asked(study, owner))
    ]


def read_attributes(study: Study) -> dict[str, Any]:
    """Read where the attributes of models and datasets are, if an analysis needs them."""
    readers = ("frontier", "capabilities", "placements", "next_results", "drift", "transfer")
    return study.settings["attributes"] if is_asked(study, *readers) else {}


def check_looks(study: Study) -> Iterator[ConfigError]:
    """Check that figures are left to be drawn, and names of colors that no schema knows."""
    figures = study.settings["figures"]
    if figures["only"] and not list_figures(study.settings):
        text = f"none of {list_names(figures['only'])} is left to be drawn."
        remedy = "List their analyses under analyses."
        yield study.refuse("figures.only", f"{text} {remedy}")
    if figures.get("palette") or figures["colors"]:
        try:
            # Not above: it loads matplotlib.
            from capmap.figures.style import find_unknown_colors
        except ModuleNotFoundError:
            return  # Where only jobs have matplotlib, the one that draws reports it.
        for option, text in find_unknown_colors(figures):
            yield study.refuse(f"figures.{option}", text)


def list_printed(study: Study) -> list[str]:
    """List the files of published numbers of a study."""
    return [entry["file"] for entry in study.settings["published"].values() if entry["file"]]


def list_beside(study: Study) -> list[str]:
    """List what holds the tables beside published numbers and of claims, each once."""
    entries = [entry for entry in study.settings["published"].values() if entry["file"]]
    named = [entry["table"] for entry in [*entries, *study.settings["claims"].values()]]
    places = [FOLDER if name.startswith(f"{FOLDER}/") else f"{name}.csv" for name in named if name]
    return [study.place(place) for place in dict.fromkeys(places)]


def check_published(study: Study) -> Iterator[ConfigError]:
    """Look for the files, tables and figures that `published` and `claims` name."""
    own = {f"tables/{name}" for name in INDEX["published"]["tables"]}
    known = {
        "table": [name for name in list_tables(study.settings) if name not in own],
        "figure": list_figures(study.settings),
    }
    for section in ("published", "claims"):
        for name, entry in study.settings[section].items():
            option = f"{section}.{write_key(name)}"
            yield from study.look_for(f"{option}.file", entry.get("file", ""))
            for kind, names in known.items():
                if entry.get(kind) and entry[kind] not in names:
                    hint = suggest(entry[kind], names, f"There are {list_names(names)}.")
                    text = f"the study makes no {kind} {entry[kind]}. {hint}"
                    yield study.refuse(f"{option}.{kind}", text)
