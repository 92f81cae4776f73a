"""Settings are checked whole, in plain words, and completed; each is declared and shown once."""

import re
import runpy
import subprocess
import sys
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from capmap.errors import ConfigError
from capmap.inputs import loading
from capmap.inputs.loading import check_configuration
from capmap.inputs.studies import list_faults
from capmap.settings.checking import check_settings, list_keys, read_schema
from capmap.settings.files import read_yaml
from capmap.settings.sections import Config
from tests.fuzz.studies import read_exports_of

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
MISTAKES = yaml.safe_load(Path(__file__).with_name("config_mistakes.yaml").read_text("utf-8"))
RUNS = "model,dataset,metric,seed,score\n" + "".join(
    f"{model},{dataset},accuracy,{seed},{score + seed / 100 + shift}\n"
    for model, score in (("ResNet", 0.7), ("ViT", 0.8), ("Random", 0.1))
    for dataset, shift in (("cifar", 0), ("eurosat", 0.05))
    for seed in range(3)
)
FILES = {
    "runs.csv": RUNS,
    "folder/a.csv": RUNS,
    "models.csv": "model,date\nResNet,2020-01-01\n",
    "kinds.csv": "dataset,dates\ncifar,2020\n",
    "labels.json": "{}",
    "dumps/ViT/V1.npy": "",
}
# What a remedy begins with, or an expectation.
REMEDY = re.compile(
    r"Did you mean|[Ee]xpected|Write|Name|Set|List|Add|Leave|Keep|Rename|Correct|Check|Give|Put|put"
    r"|name the|The models are|choose|copy|rename|There (is|are)|belongs at|Paths are relative"
    r"|must not be empty|listed twice|never closed|letters|hexadecimal|is missing|indent"
)
LINE = re.compile(r"^toy\.yaml, line \d+: ")
INTERNAL = re.compile(
    r"Traceback|<class|\bNone\b|\bFalse\b|\bTrue\b|\bdict\b|object at 0x|\bPosixPath\b|OrderedDict"
)


def check_study(text: str) -> Any:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    given = yaml.safe_load(f"studies:\n  toy:\n    exports: runs.csv\n{lines}")
    return check_settings(given, Config)["studies"]["toy"]


def refuse(settings: Any) -> list[str]:
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
        ("studies: {exports: a}", "studies.exports: expected a section"),
    ],
)
def test_a_fault_of_the_whole_file_is_told(text: str, fault: str) -> None:
    (found,) = refuse(yaml.safe_load(text))
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


def test_there_are_few_settings_and_each_is_described() -> None:
    # Keys that hold no section, those of each section once.
    schema = Config.model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    keys = [key for part in parts for key in part.get("properties", {}).values()]
    assert sum("$ref" not in str(key) for key in keys) <= 135
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
        "from capmap.inputs.loading import check_configuration;"
        "from capmap.settings.files import read_yaml;"
        "check_configuration(read_yaml('config.yaml'), files=['config.yaml']);"
        "print(*{'pandas', 'numpy', 'scipy', 'matplotlib'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_documented_options_agree_with_what_is_declared() -> None:
    script = runpy.run_path(str(ROOT / "docs/make_configuration.py"))
    page = script["PAGE"].read_text("utf-8")
    assert page == script["render_page"](), "run: python docs/make_configuration.py"


def test_documented_example_is_valid_and_shows_every_key_of_a_study() -> None:
    example = yaml.safe_load((ROOT / "docs/configuration.yaml").read_text("utf-8"))
    (study,) = check_settings(example, Config)["studies"].values()
    (written,) = example["studies"].values()
    assert written.keys() == study.keys()
    for key in ("columns", "select", "normalization", "capabilities", "attributes", "bootstrap"):
        assert written[key].keys() == study[key].keys()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with exports, in which the tests work."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_config(mistake: dict[str, Any]) -> str:
    """The text of the configuration file with a mistake."""
    if "config" in mistake:
        return str(mistake["config"])
    own = mistake["study"]
    if own.startswith("{"):
        return f"studies: {{toy: {own}}}"
    lines = own.split("\n") if "exports:" in own else ["exports: runs.csv", *own.split("\n")]
    return "studies:\n  toy:\n" + "".join(f"    {line}\n" for line in lines)


def list_messages(text: str) -> list[str]:
    """What the rules say of a configuration before any job."""
    Path("toy.yaml").write_text(text, "utf-8")
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError:
        # As `capmap run` does before it calls Snakemake, which tells no line.
        return list_faults(read_yaml, "toy.yaml")
    found = list_faults(partial(check_configuration, given, files=["toy.yaml"]))
    return [LINE.sub("", message) for message in found]


def list_problems(text: str) -> list[str]:
    """What the validation of exports says, which is the first job."""
    config = check_configuration(yaml.safe_load(text))
    _, result = read_exports_of(config, "toy")
    return [str(problem) for problem in result.errors if problem.code != "no_runs"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["name"])
def test_a_mistake_is_told_in_one_line_with_a_remedy(mistake: dict[str, Any]) -> None:
    text = write_config(mistake)
    found = list_problems(text) if mistake.get("from") == "exports" else list_messages(text)
    assert len(found) == 1, "\n".join(found)
    (message,) = found
    assert mistake["place"] in message
    if "from" not in mistake:
        assert message.startswith((f"{mistake['place']}:", f"{mistake['place']},"))
    assert [part for part in mistake["says"] if part not in message] == []
    assert REMEDY.search(message), message
    assert not INTERNAL.search(message), message


def test_umap_is_asked_for_only_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = write_config({"study": "analyses: [capabilities]\ncapabilities: {map: umap}"})
    assert list_messages(text) == []
    monkeypatch.setattr(loading, "find_spec", lambda _: None)
    (message,) = list_messages(text)
    assert message.startswith("studies.toy.capabilities.map: umap needs the package umap-learn")
    assert "-m pip install umap-learn" in message
    assert list_messages(text.replace("umap}", "mds}")) == []


def test_all_mistakes_are_told_at_once_those_of_files_once_the_settings_hold() -> None:
    Path("rules.yaml").write_text("datasets: {cifar: {metric: accuracy}}")
    text = """
run: [first, second, frist]
studies:
  first:
    exports: missing.csv
    bootstrap: {replicates: 100, confidence: 95}
    conditions: [secnd]
    benchmark: rules.yaml
    title: 3
  second:
    exports: [runs.csv, folder]
    normalization: {references: gone.csv}
  Second: {exports: runs.csv}
"""
    assert {line.partition(": ")[0] for line in list_messages(text)} == {
        "studies.first.title",
        "studies.first.bootstrap.confidence",
    }
    found = list_messages(text.replace("title: 3", "title: three").replace("95", "0.95"))
    assert [line.partition(": ")[0] for line in found] == [
        "studies.Second",
        "run",
        "studies.first.conditions",
        "studies.first.exports",
        "studies.first.benchmark",
        "studies.second.exports",
        "studies.second.normalization.references",
    ]


def test_the_line_of_a_mistake_is_told() -> None:
    def find_lines(text: str) -> list[tuple[str, str]]:
        Path("toy.yaml").write_text(text)
        given = yaml.safe_load(text)
        found = list_faults(partial(check_configuration, given, files=["toy.yaml"]))
        pattern = r"^toy.yaml, line (\d+): (studies.*?): "
        return sorted(pair for message in found for pair in re.findall(pattern, message))

    faulty = "studies:\n  a:\n    bootstrap:\n      sed: 1\n  c:\n    title: 3\n"
    assert find_lines(faulty) == [("4", "studies.a.bootstrap.sed"), ("6", "studies.c.title")]
    # A study without exports has the line of its name.
    assert find_lines("studies:\n  a:\n    title: x\n") == [("2", "studies.a.exports")]
    listed = "studies:\n  a:\n    exports: x.csv\n    analyses: [pairwise, rank]\n"
    assert find_lines(listed) == [("4", "studies.a.analyses item 2")]


def test_json_may_be_indented_by_tabs_and_merged_keys_stand_once() -> None:
    Path("a.json").write_text('{\n\t"studies": {"a": {}}\n}')
    assert read_yaml("a.json") == {"studies": {"a": {}}}
    Path("a.yaml").write_text("b: {c: &d {e: 1, f: 2}}\ng: {<<: &h {<<: *d, f: 3}, f: 4}\n")
    assert read_yaml("a.yaml")["g"] == {"e": 1, "f": 4}


def test_settings_that_could_be_meant_are_taken() -> None:
    # A list of analyses of one's own may leave some out; defaults and presets are no mistakes.
    check_configuration(
        {
            "studies": {
                "narrow": {
                    "exports": "runs.csv",
                    "analyses": ["pairwise"],
                    "groups": {"one": {"datasets": ["cifar"]}},
                    "columns": {"ignore": [], "step": ""},
                },
                "wide": {
                    "exports": "runs.csv",
                    "columns": {"score": "{dataset}_acc", "ignore": ["size"]},
                },
                "logged": {"exports": "runs.csv", "preset": "domainbed"},
                "other": {"exports": "runs.csv", "conditions": ["narrow", "wide"]},
            }
        }
    )


def test_a_named_analysis_without_what_it_needs_is_skipped_with_a_word() -> None:
    study = {"exports": "runs.csv", "analyses": ["pairwise", "published"]}
    said: list[str] = []
    check_configuration({"studies": {"a": study}}, announce=said.append)
    assert said == ["studies.a.analyses: published is skipped, as it needs published or claims."]
    check_configuration({"studies": {"a": study | {"analyses": "all"}}}, announce=said.append)
    assert len(said) == 1


def test_home_is_expanded_in_every_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    labels = {"labels": "~/l.json", "single": "~/s.csv", "images": "~/i.txt"}
    config = check_configuration(
        {
            "run": "table",
            "studies": {
                "table": {
                    "exports": ["~/runs.csv", "folder/~.csv"],
                    "checksums": {"~/runs.csv": "0" * 64},
                    "analyses": ["capabilities", "releases"],
                    "attributes": {
                        "models": {"file": "~/models.csv"},
                        "datasets": {"file": "~/models.csv"},
                    },
                    "normalization": {"references": "~/runs.csv"},
                    "leaderboard": {"releases": "~/folder/*.csv"},
                }
                if (folder / "folder/~.csv").write_text(RUNS)
                else {},
                "board": {
                    "format": "submission",
                    "benchmark": "~/b.yaml",
                },
                "dumps": {
                    "format": "predictions",
                    "exports": "~/dumps/{model}/{dataset}.npy",
                    "predictions": {"classes": "~/c.txt", "datasets": {"V1": labels}},
                    "patchml": {
                        "images": "~/images",
                        "annotations": "~/notes",
                        "classes": "~/c.txt",
                    },
                },
            },
        }
    )
    text = yaml.safe_dump(config)
    assert text.count("~") == text.count("folder/~.csv") == 1
    assert text.count(str(folder)) == 15
