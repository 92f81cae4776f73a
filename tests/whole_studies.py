"""Whole studies without Snakemake: scripts in this process, with what the rules would give them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

from capmap.analyses import list_analyses
from capmap.analyses.rendering import describe_analysis
from capmap.claims import list_claims
from capmap.inputs import read_facts
from capmap.inputs.studies import Study
from capmap.pages.report import read_sheets

# A wildcard of an output, with what may stand there.
CONSTRAINT = re.compile(r"\{(\w+)[^{}]*\}")
PROJECT = Path(__file__).parents[1]
RANKED = "normalize aggregate bootstrap rank"
# The rules of a study by what its exports are, up to its tables.
RULES = {
    "long": f"validate {RANKED}",
    "matrix": f"validate {RANKED}",
    "submission": f"validate_submissions {RANKED} lead",
    "checkpoints": f"validate_checkpoints {RANKED}",
}
# The rules of analyses that have a job of their own.
OWN = {
    "capabilities": "embed crossvalidate",
    "placements": "place",
    "multilabel": "compare_labels",
}

SMALL = [f"{kind}-{size}" for kind in ("Conv", "Mixer", "Hybrid") for size in ("S1", "S2", "M1")]
TASKS = [
    *("Aircraft / val", "Biomass / rmse 10 %", "Buildings / 10 %", "Buildings / 100 %"),
    *("Burn scars / 20 shots", "Burn scars / 5 shots", "Clouds / new region", "Crops / 1 %"),
    *("Floods / 10 %", "Forests / 100 %", "Land cover / 10 %", "Land cover / 100 %"),
    *("Landslides / 20 shots", "New roads / 20 shots", "New roads / 5 shots", "Ships / test"),
    *("Ships / val", "Snow / 10 %", "Vehicles / test"),
]
# A part of the study of literature, which as a whole takes a minute.
FEW_RESULTS: dict[str, Any] = {
    "select": {"models": SMALL, "datasets": TASKS},
    "capabilities": {"dimensions": [2], "splits": 2, "min_results": 3},
}


@dataclass(frozen=True)
class Told:
    """The tables of a study, its settings, what its analyses say, and its claims."""

    tables: dict[str, pd.DataFrame]
    settings: dict[str, Any]
    options: dict[str, dict[str, Any]]
    words: dict[str, dict[str, Markup]]
    claims: pd.DataFrame


class Wildcards(dict[str, str]):
    """Wildcards of a job."""

    __getattr__ = dict.__getitem__


@contextmanager
def open_workflow(config: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The rules of the project by name, and the checked studies of a configuration."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        read = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[config]),
            snakefile=PROJECT / "Snakefile",
        )
        workflow = read._workflow
        rules = {rule.name: rule for rule in workflow.rules}
        yield rules, workflow.globals["config"]["studies"]


def run_rule(rule: Any, study: str) -> None:
    """Call the script of a rule as its job does."""
    wildcards = Wildcards(study=study, shard="0", number="0")
    given: dict[str, Any] = {}
    for named in (rule.input, rule.output, rule.params, rule.log):
        given |= {name: _expand(value, wildcards) for name, value in named.items()}
    for spread in ("cfg", "checked"):
        given |= given.pop(spread, {})
    del given["library"]
    for path in rule.output:
        Path(_expand(path, wildcards)).parent.mkdir(parents=True, exist_ok=True)
    script = Path(rule.script).stem
    getattr(import_module(script), script)(**given)


def _expand(value: Any, wildcards: Wildcards) -> Any:
    if callable(value):
        given = [wildcards, None][: len(signature(value).parameters)]
        return _expand(value(*given), wildcards)
    if isinstance(value, str):
        return CONSTRAINT.sub(lambda found: wildcards[found[1]], str(value))
    is_listed = isinstance(value, list) or type(value).__name__ == "Namedlist"
    return [_expand(item, wildcards) for item in value] if is_listed else value


def run_study(rules: dict[str, Any], study: str, settings: dict[str, Any]) -> None:
    """Make all tables of a study."""
    asked = list_analyses(settings)
    names = RULES[settings["format"]].split()
    names += [name for own in asked for name in OWN.get(own, "").split()]
    for name in [*names, "compare"]:
        run_rule(rules[name], study)
    if "published" in asked:
        run_rule(rules["check_published"], study)


def tell(study: str, settings: dict[str, Any]) -> Told:
    """Render the words of a study, as its report does."""
    folder = Path("results", study)
    files = [file for file in folder.rglob("*.csv") if file.name != "index.csv"]
    tables, _ = read_sheets(sorted(files), folder)
    options = read_facts(Study(study, settings))
    words = {name: describe_analysis(name, tables, own) for name, own in options.items()}
    return Told(tables, settings, options, words, list_claims(tables, settings))
