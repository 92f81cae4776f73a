"""Every setting reaches the stages that use it, as plain values that Snakemake compares."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

from capmap.analyses import ANALYSES
from tests.toy_settings import make_settings
from tests.workflow.checkouts import PROJECT, Checkout

BENCHMARK = "title: B\ndatasets: {d: {metric: accuracy, direction: max}}\ndimensions: {one: [d]}\n"
VALIDATED = "validate validate_predictions validate_submissions validate_checkpoints"
# The rules that a change of settings runs because of their params or inputs, and the settings; the
# page shows all settings, so `report` is left out. What follows these rules runs after them.
DIRECT = {
    "": "preset",
    "board": "title leaderboard.about",
    "validate": "format header_rows fields reading values summary take failed",
    "validate validate_checkpoints": "where",
    "validate validate_submissions validate_checkpoints": "columns decimal",
    "validate validate_checkpoints compare": "metric",
    VALIDATED: "checksums duplicates invalid",
    f"{VALIDATED} normalize": "select.models select.datasets normalization",
    f"{VALIDATED} normalize aggregate compare": "datasets",
    f"{VALIDATED} normalize compare": "metrics",
    "normalize compare": "iqm",
    f"{VALIDATED} normalize bootstrap": "incomplete",
    f"{VALIDATED} evaluate": "exports",
    f"{VALIDATED} normalize evaluate embed compare": "figures.names",
    "validate validate_submissions normalize bootstrap lead board": "benchmark",
    "normalize": "rank_by bootstrap.unit",
    "normalize bootstrap": "min_datasets bootstrap.interval",
    "bootstrap": "bootstrap.replicates",
    "bootstrap rank lead compare": "bootstrap.shards",
    "bootstrap evaluate embed crossvalidate place compare_labels compare": "bootstrap.seed",
    "bootstrap rank compare plot board": "analyses",
    "bootstrap lead board": "groups",
    "embed": "attributes.datasets capabilities.min_results capabilities.groups",
    "embed compare": "attributes.models",
    "embed plot": "capabilities.map",
    "embed place": "capabilities.method",
    "embed crossvalidate plot": "capabilities.dimension",
    "crossvalidate": "capabilities.dimensions capabilities.splits",
    "compare": "comparison.rope checkpoints.rankings conditions leaderboard.releases",
    "compare plot": "comparison.reference frontier",
    "plot": "figures.only figures.formats figures.colors figures.order",
    "validate_submissions": "submission",
    "validate_checkpoints compare": "checkpoints.select.split "
    "checkpoints.allow_test_selection checkpoints.report",
    "validate_checkpoints compare plot": "checkpoints.select.metric",
    "validate_predictions evaluate compare_labels": "multilabel.subgroups",
    "evaluate": "predictions",
    "compare_labels": "multilabel.compare multilabel.images multilabel.labels",
    "validate_predictions compare_labels plot": "multilabel.rank_by",
    "crop": "patchml.images patchml.annotations patchml.classes",
    "compose": "patchml.counts patchml.sizes patchml.side",
    "validate_predictions": "patchml.seeds",
    "check_published": "published claims",
    "evaluate bootstrap rank crossvalidate compare_labels lead board compare plot": "bootstrap."
    "confidence",
}
# Where another value has to be one that can be used.
OTHER: dict[str, Any] = {
    **dict.fromkeys(["attributes.models.file", "attributes.datasets.file"], "new.csv"),
    **{"normalization.references": "new.csv", "benchmark": "new.yaml"},
    **{"figures.names": {"m": "M"}, "figures.only": ["intervals"]},
    **{"format": "matrix", "analyses": ["ranks"]},
    "groups": {"g": {"datasets": ["e"], "incomplete": "adjust"}},
    "published": {"p": {"file": "new.csv", "table": "tables/ranking"}},
    "claims": {"c": {"table": "tables/ranking"}},
    "multilabel.labels": {"V1": "new.csv"},
    "predictions.datasets": {"V1": {"labels": "new.json", "images": "", "single": ""}},
    **{"leaderboard.releases": "new.*", "conditions": ["s"], "frontier.against": "parameters"},
    "patchml.seeds": [7],
}
# Of each format, and the same of other files.
EXPORTS = {
    "long": ("my.csv", "new.csv"),
    "predictions": ("dumps/{model}/{dataset}.npy", "more/{model}/{dataset}.npy"),
    "submission": ("dumps", "more"),
    "checkpoints": ("my.csv", "new.csv"),
}
# What a format cannot have.
UNUSABLE = {("format", "predictions"), ("format", "submission"), ("format", "checkpoints")}
UNUSABLE |= {("bootstrap.shards", "predictions")}
TABLES = "normalize aggregate bootstrap rank embed crossvalidate place compare_labels lead board "
TABLES += "compare plot check_published report"
# The rules that studies of each format have, of which some are looked at.
RULES = {
    "long": f"validate {TABLES}",
    "predictions": "crop compose evaluate validate_predictions compare_labels",
    "submission": "validate_submissions",
    "checkpoints": "validate_checkpoints compare",
}


class Wildcards(dict[str, str]):
    """Wildcards of a job."""

    __getattr__ = dict.__getitem__


def list_leaves(settings: dict[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """The settings by their paths, such as ``bootstrap.seed``, and their values."""
    for name, value in settings.items():
        if isinstance(value, dict) and value and f"{place}{name}" not in OTHER:
            yield from list_leaves(value, f"{place}{name}.")
        else:
            yield f"{place}{name}", value


def change(path: str, value: Any, kind: str) -> Any:
    """Another value of a setting of a study of some format."""
    if path == "exports":
        return EXPORTS[kind][1]
    if path in OTHER:
        return {**deepcopy(OTHER[path])} if isinstance(OTHER[path], dict) else OTHER[path]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [*value, "new"]
    return {"new": {}} if isinstance(value, dict) else f"{value}new"


def swap(settings: dict[str, Any], path: str, value: Any) -> Any:
    """Put a value of a setting in its place, and return the one that was there."""
    *sections, name = path.split(".")
    for section in sections:
        settings = settings[section]
    old, settings[name] = settings[name], value
    return old


def make_studies() -> dict[str, dict[str, Any]]:
    """A study of each format that asks for everything."""
    whole = make_settings(
        exports="my.csv",
        analyses=[*ANALYSES],
        groups={"g": {"datasets": ["d"]}},
        conditions=["other"],
        columns={"item": "question", "cluster": "passage"},
        frontier={"against": "cost"},
        attributes={"models": {"file": "my.csv", "cost": "c", "parameters": "p", "date": "d"}},
        leaderboard={"releases": "my.*"},
        patchml={"images": "images", "annotations": "my.csv", "seeds": [0, 1]},
        predictions={"datasets": {"V1": {"labels": "my.json"}}},
        bootstrap={"shards": 1},
    )
    return {
        kind: deepcopy(whole) | {"format": kind, "exports": paths[0]}
        for kind, paths in EXPORTS.items()
    }


def look_at(rules: list[Any], study: str) -> dict[str, str]:
    """What Snakemake compares of each rule: the params that are no digest of code, and the inputs.

    Params whose functions take the input are left out, as Snakemake leaves them out.
    """
    wildcards = Wildcards(study=study, shard="0", number="0")
    found = {}
    for rule in rules:
        params = [
            param(wildcards)
            for name, param in rule.params.items()
            if callable(param) and name != "library" and len(signature(param).parameters) == 1
        ]
        inputs = [file(wildcards) for file in rule.input if callable(file)]
        # Not without a `default`: what is no plain value would never be compared.
        found[rule.name] = json.dumps([params, inputs], sort_keys=True)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the studies name."""
    monkeypatch.chdir(tmp_path)
    for name in ("my.csv", "new.csv", "dumps/m/V1.npy", "more/m/V1.npy"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    Path("new.yaml").write_text(BENCHMARK)
    Path("my.yaml").write_text("studies: {s: {exports: my.csv}}")
    return tmp_path


def test_a_setting_runs_the_stages_that_use_it_and_none_before(folder: Path) -> None:
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        read = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[folder / "my.yaml"]),
            snakefile=PROJECT / "Snakefile",
        )
        workflow = read._workflow
        known = {rule.name: rule for rule in workflow.rules}
        studies = workflow.globals["config"]["studies"]
    studies |= make_studies()
    rules = {kind: [known[name] for name in names.split()] for kind, names in RULES.items()}
    before = {kind: look_at(rules[kind], kind) for kind in RULES}
    leaves = dict(list_leaves(deepcopy(studies["long"])))
    found: dict[str, set[str]] = {}
    for path, value in leaves.items():
        found[path] = set()
        for kind in RULES:
            if (path, kind) in UNUSABLE:
                continue
            old = swap(studies[kind], path, change(path, value, kind))
            after = look_at(rules[kind], kind)
            swap(studies[kind], path, old)
            found[path] |= {name for name in after if after[name] != before[kind][name]}
    assert {path for path in found if "report" not in found[path]} == set()
    for names, paths in DIRECT.items():
        for path in paths.split():
            own = [name for name in found if re.match(rf"{re.escape(path)}(\.|$)", name)]
            assert own, path
            for name in own:
                assert found.pop(name) == {*names.split(), "report"}, name
    assert found == {}, "say in the table above which rules use these settings"


def test_faulty_configuration_is_refused(checkout: Checkout) -> None:
    settings = "studies: {a: {exports: x.csv}, b: {exports: y.csv, conditions: [c]}}"
    (checkout.folder / "my.yaml").write_text(settings)
    run = checkout.snakemake("--configfile", "my.yaml")
    assert run.status != 0
    assert not run.jobs
    assert "Traceback" not in run.output
    for place in ("studies.a.exports", "studies.b.conditions", "studies.b.exports"):
        assert place in run.output
    assert not (checkout.folder / "results").exists()


def test_studies_of_a_configfile_replace_the_shipped_ones(checkout: Checkout) -> None:
    (checkout.folder / "my.csv").write_text("model,dataset,metric,score\nm,d,acc,0.5\n")
    (checkout.folder / "my.yaml").write_text("studies: {mine: {exports: my.csv}}")
    run = checkout.snakemake("--configfile", "my.yaml", "-n")
    assert run.status == 0, run.output
    studies = {job.split("study=")[1] for job in run.jobs if "study=" in job}
    assert {study.partition(",")[0] for study in studies} == {"mine"}
