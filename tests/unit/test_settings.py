"""Settings are checked whole, in plain words, and completed; each is declared and shown once."""

import runpy
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from capmap.errors import ConfigError
from capmap.settings.checking import check_settings, list_keys, read_schema
from capmap.settings.study import Config

ROOT = Path(__file__).parents[2]
KEYS = dict(list_keys(read_schema(Config)))
# Settings of a study, and what the one fault that they have begins with.
FAULTS = {
    "select: {zzz: 1}": "select.zzz: unknown key. Known here: models, datasets.",
    "comparison: {rope: 1e-7}": "comparison.rope: expected a number of at least 0 or a section, "
    'found "1e-7". A number has no quotes,',
    "normalization: {low: .nan}": "normalization.low: expected a number",
    "datasets: {x: {low: }}": "datasets.x: must not be empty.",
    "datasets: {x: {}}": 'datasets.x: must not be empty. Expected a section with "direction"',
    "datasets: {2024-05-01: {low: 0}}": "datasets: the key 2024-05-01 is not text.",
    "select: [a]": 'select: expected a section with "models" or "datasets", found a list of 1.',
    "capabilities: {dimensions: [99]}": "capabilities.dimensions item 1: expected a whole number",
    "min_datasets: 0": 'min_datasets: expected "all", a whole number of at least 1 or a number',
    "checkpoints: {rankings: []}": "checkpoints.rankings: must not be empty. Expected a list",
    "conditions: {}": "conditions: expected a list of texts, found nothing.",
}


def check_study(text: str) -> Any:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    given = yaml.safe_load(f"studies:\n  toy:\n    exports: runs.csv\n{lines}")
    return check_settings(given, Config)["studies"]["toy"]


def list_faults(settings: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        check_settings(settings, Config)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_told_in_plain_words(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_study(text)
    (fault,) = str(caught.value).splitlines()
    assert fault.startswith(f"studies.toy.{FAULTS[text]}")


def test_given_values_stand_beside_defaults_in_the_order_of_the_declaration() -> None:
    plain = check_study("")
    study = check_study("bootstrap: {seed: 7}\nselect: {models: {exclude: [A]}}\ntitle: x")
    assert study["bootstrap"] == {**plain["bootstrap"], "seed": 7}
    assert study["select"] == {"models": {"exclude": ["A"]}, "datasets": "all"}
    assert [*study] == [*plain]
    # Names of one's own keep their order.
    groups = check_study("groups: {b: {datasets: [x]}, a: {datasets: [y]}}")["groups"]
    assert [*groups] == ["b", "a"]


def test_checked_settings_are_a_copy_that_passes_as_it_is() -> None:
    given = {"studies": {"toy": {"exports": ["a.csv"], "datasets": {"x": {"low": 0}}}}}
    before = deepcopy(given)
    checked = check_settings(given, Config)
    assert check_settings(checked, Config) == checked
    checked["studies"]["toy"]["exports"].append("b.csv")
    checked["studies"]["toy"]["analyses"].append("x")
    assert given == before
    assert "x" not in check_study("")["analyses"]


@pytest.mark.parametrize("section", ["select", "columns", "where", "metrics", "title"])
def test_a_key_that_is_left_empty_counts_as_not_given(section: str) -> None:
    assert check_study(f"{section}:") == check_study("")


def test_numbers_are_as_they_are_written() -> None:
    study = check_study("bootstrap: {replicates: 1.0e+4}\nnormalization: {low: 0, high: 1.0}")
    assert repr(study["bootstrap"]["replicates"]) == "10000"
    assert repr([*study["normalization"].values()][:2]) == "[0, 1.0]"
    assert repr(
        check_study("capabilities: {dimensions: [2.0, 3]}")["capabilities"]["dimensions"]
    ) == ("[2, 3]")


def test_a_dataset_may_be_called_like_a_rule() -> None:
    assert check_study("datasets: {low: {low: 0}}")["datasets"] == {"low": {"low": 0}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *((text, "studies: is missing.") for text in ("{}", "studies:", "run: all")),
        ("studies: {}", "studies: must not be empty."),
        *((text, "config: expected a section") for text in ("[a]", "text", "3")),
        *(
            (
                f"studies: {{{name}: {{}}}}",
                f"studies.{name.split('!')[0]}: this name cannot be used.",
            )
            for name in ("-x", "logs", "benchmarks")
        ),
        ('studies: {"a\\n": {}}', 'studies."a\\n": this name cannot be used.'),
        ('studies: {"../up": {}}', 'studies."../up": this name cannot be used.'),
        ("{format: long, studies: {a: {}}}", "format: unknown key. Did you mean studies.<name>.fo"),
        ("studies: {exports: a, format: long}", "studies.exports: a level is missing above this"),
    ],
)
def test_a_fault_of_the_whole_file_is_told(text: str, fault: str) -> None:
    (found,) = list_faults(yaml.safe_load(text))
    assert found.startswith(fault)


def test_all_faults_are_told_at_once() -> None:
    text = "formt: long\nheader_rows: 0\nbootstrap: {replicats: 9, confidence: 2}\ntitle: [1]"
    with pytest.raises(ConfigError) as caught:
        check_study(text + "\nnormalization: {high: {modle: A}}")
    told = {fault.partition(":")[0] for fault in str(caught.value).splitlines()}
    assert {place.removeprefix("studies.toy.") for place in told} == {
        *("formt", "header_rows", "bootstrap.replicats", "bootstrap.confidence", "title"),
        *("normalization.high.modle", "normalization.high.model"),
    }


def test_hostile_names_stay_on_one_line_without_control_characters() -> None:
    name = "=cmd\n\x1b[31m<script>$x$"
    (fault,) = list_faults({"studies": {"toy": {"datasets": {name: {"low": name}}}}})
    assert "\x1b" not in fault


def test_there_are_few_settings_and_each_is_described() -> None:
    # Keys that hold no section, those of each section once.
    schema = Config.model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    keys = [key for part in parts for key in part.get("properties", {}).values()]
    assert sum("$ref" not in str(key) for key in keys) <= 133
    for path, part in KEYS.items():
        assert part.get("description", "").endswith("."), path
        for limit in ("ge", "gt", "le", "lt"):
            assert limit not in part, path


def test_defaults_fit_the_schema_for_editors() -> None:
    schema = Config.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(check_settings({"studies": {"toy": {}}}, Config), schema)


def test_import_loads_nothing_slow() -> None:
    # What the Snakefile imports, and asks of it; names of colors and palettes need matplotlib.
    code = (
        "import sys; sys.path.insert(0, 'scripts');"
        "from capmap.inputs.configuration import check_configuration;"
        "from capmap.settings.files import read_yaml;"
        "check_configuration(read_yaml('config.yaml'), files=['config.yaml']);"
        "print(*{'pandas', 'numpy', 'scipy', 'matplotlib'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", ["make_configuration.py", "make_results.py"])
def test_documented_options_and_tables_agree_with_what_is_declared(name: str) -> None:
    script = runpy.run_path(str(ROOT / "docs" / name))
    assert script["PAGE"].read_text("utf-8") == script["render_page"](), f"run: python docs/{name}"


def test_documented_example_is_valid_and_shows_every_key_of_a_study() -> None:
    example = yaml.safe_load((ROOT / "docs/configuration.yaml").read_text("utf-8"))
    (study,) = check_settings(example, Config)["studies"].values()
    (written,) = example["studies"].values()
    assert written.keys() == study.keys()
    for key in ("columns", "select", "normalization", "capabilities", "attributes", "bootstrap"):
        assert written[key].keys() == study[key].keys()
