"""What the steps of analyses and the figures of a study are given, as the catalog declares."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

from capmap.catalog import (
    FIGURES,
    STEPS,
    list_analyses,
    list_compared,
    list_figures,
)
from capmap.inputs.leaderboards import find_dimensions
from capmap.inputs.looks import list_looked_for, read_look
from capmap.inputs.predictions import find_subgroups, list_counted_datasets, list_datasets
from capmap.inputs.studies import Study, count_of_images, count_resamples
from capmap.settings.choices import TableFormat, find_alpha
from capmap.wording import write_key

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
    return {name: _read_options(study, STEPS[name].options) for name in chosen}


def read_figures(study: Study) -> dict[str, dict[str, Any]]:
    """Read what the figures of a study are given, and how they look, by figure."""
    return {
        name: {
            "options": _read_options(study, FIGURES[name].options),
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


def list_checkpoint_rankings(study: Study) -> list[dict[str, Any]]:
    """List the rankings of checkpoints, if a study asks for them."""
    return study.read("checkpoints/rankings") if is_asked(study, "checkpoints") else []


def _read_options(study: Study, options: Mapping[str, str]) -> dict[str, Any]:
    return {
        parameter: WORKED_OUT[path](study) if path in WORKED_OUT else study.read(path)
        for parameter, path in options.items()
    }
