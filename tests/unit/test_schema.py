"""The configuration is checked whole, in plain words, and completed."""

import copy
import json

import pytest
import yaml

from capmap.errors import ConfigError
from capmap.settings import checking
from capmap.settings.checking import check_settings, find_faults
from capmap.settings.removed import REMOVED
from capmap.settings.sections import write_schema
from capmap.settings.study import Config
from tests.every_default import EVERY_DEFAULT

SCHEMA = write_schema(Config)
STUDY = SCHEMA["properties"]["studies"]["additionalProperties"]


def check(text):
    return check_settings(yaml.safe_load(text), SCHEMA)


def check_study(text):
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return check(f"studies:\n  toy:\n    exports: runs.csv\n{lines}")["studies"]["toy"]


def list_faults(text, checker=check_study):
    with pytest.raises(ConfigError) as caught:
        checker(text)
    return str(caught.value).splitlines()


def test_defaults_are_filled_in_at_every_depth():
    assert check("studies: {toy: {exports: runs.csv}}") == {
        "run": "all",
        "downloads": {},
        "mirror": "",
        "studies": {"toy": EVERY_DEFAULT},
    }


def test_given_values_stay_beside_defaults():
    study = check_study("bootstrap: {seed: 7}\nselect: {models: {exclude: [A]}}")
    assert study["bootstrap"] == {**EVERY_DEFAULT["bootstrap"], "seed": 7}
    assert study["select"] == {"models": {"exclude": ["A"]}, "datasets": "all"}


def test_input_is_neither_changed_nor_shared():
    given_settings = {"studies": {"toy": {"exports": ["a.csv"], "bootstrap": {"seed": 1}}}}
    before, schema_before = copy.deepcopy(given_settings), copy.deepcopy(SCHEMA)
    checked = check_settings(given_settings, SCHEMA)
    checked["studies"]["toy"]["exports"].append("b.csv")
    checked["studies"]["toy"]["analyses"].append("x")
    checked["studies"]["toy"]["where"]["x"] = 1
    assert given_settings == before
    assert before["studies"]["toy"]["exports"] == ["a.csv"]
    assert schema_before == SCHEMA


def test_checking_twice_changes_nothing():
    once = check("studies: {toy: {exports: runs.csv, datasets: {x: {low: 0}}}}")
    assert check_settings(once, SCHEMA) == once


@pytest.mark.parametrize("section", ["select", "columns", "where", "metrics", "bootstrap"])
def test_section_left_empty_counts_as_not_given(section):
    assert check_study(f"{section}:") == EVERY_DEFAULT


def test_value_left_empty_is_refused_with_its_default():
    assert list_faults("min_seeds:") == [
        "studies.toy.min_seeds: has no value. Expected a whole number of at least 1. "
        "Without the line it is the number 1."
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("formt: long", 'studies.toy.formt: unknown key. Did you mean "format"?'),
        ("Format: long", 'studies.toy.Format: unknown key. Did you mean "format"?'),
        ("min-seeds: 3", 'studies.toy.min-seeds: unknown key. Did you mean "min_seeds"?'),
        (
            "bootstrap: {replicats: 100}",
            'studies.toy.bootstrap.replicats: unknown key. Did you mean "replicates"?',
        ),
        (
            "select: {zzz: 1}",
            "studies.toy.select.zzz: unknown key. Known here: models, datasets.",
        ),
    ],
)
def test_misspelt_key_names_the_nearest_one(text, fault):
    assert list_faults(text) == [fault]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "replicates: 1000",
            "studies.toy.replicates: unknown key. Did you mean studies.toy.bootstrap.replicates, "
            "studies.toy.comparison.replicates or studies.toy.multilabel.replicates?",
        ),
        (
            "dataset: x",
            "studies.toy.dataset: unknown key. "
            'Did you mean studies.toy.columns.dataset or "datasets"?',
        ),
        (
            "normalization: {direction: min}",
            "studies.toy.normalization.direction: unknown key. Did you mean "
            "studies.toy.checkpoints.select.direction, studies.toy.datasets.<name>.direction or "
            "studies.toy.metrics.<name>.direction?",
        ),
    ],
)
def test_key_at_the_wrong_level_is_sent_to_its_place(text, fault):
    assert list_faults(text) == [fault]


def test_study_settings_at_the_top_are_sent_into_a_study():
    assert list_faults("{exports: a.csv, studies: {toy: {exports: a.csv}}}", check) == [
        "exports: unknown key. Did you mean studies.<name>.exports?"
    ]


def test_forgotten_level_is_named():
    assert list_faults("metrics: {direction: min}") == [
        "studies.toy.metrics.direction: a level is missing above this key. "
        "It belongs at studies.toy.metrics.<name>.direction."
    ]
    assert list_faults("studies: {exports: a.csv, format: long}", check) == [
        "studies.exports: a level is missing above this key. It belongs at studies.<name>.exports."
    ]


def test_dataset_may_be_called_like_a_rule():
    assert check_study("datasets: {low: {low: 0}}")["datasets"] == {"low": {"low": 0}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "format: lng",
            'format: expected "long", "matrix", "predictions", "submission" or "checkpoints", '
            'found "lng". Did you mean "long"?',
        ),
        (
            "bootstrap: {interval: Percentile}",
            'bootstrap.interval: expected "percentile" or "calibrated", '
            'found "Percentile". Did you mean "percentile"?',
        ),
        (
            "capabilities: {distances: [l2, cosin]}",
            'capabilities.distances item 2: expected "l2", "cosine" or "poincare", '
            'found "cosin". Did you mean "cosine"?',
        ),
        (
            "capabilities: {distances: l2}",
            'capabilities.distances: expected a list of "l2", "cosine" or "poincare", '
            'found "l2". Write [l2].',
        ),
        ("capabilities: {distances: [l2, l2]}", 'capabilities.distances: "l2" is listed twice.'),
        ("checkpoints: {rankings: []}", "checkpoints.rankings: the list must not be empty."),
        (
            "min_seeds: 0",
            "min_seeds: expected a whole number of at least 1, found the number 0.",
        ),
        (
            "min_seeds: 2.5",
            "min_seeds: expected a whole number of at least 1, found the number 2.5.",
        ),
        ("min_seeds: yes", "min_seeds: expected a whole number of at least 1, found true."),
        (
            "bootstrap: {confidence: 95}",
            "bootstrap.confidence: expected a number above 0 and below 1, found the number 95.",
        ),
        (
            "bootstrap:\n  confidence: 0,95",
            'bootstrap.confidence: expected a number above 0 and below 1, found "0,95". '
            "Write 0.95.",
        ),
        ("title: 2019", "title: expected text, found the number 2019. Put it in quotes."),
        ("columns: {keep: {}}", "columns.keep: expected a list of texts, found nothing."),
        (
            "select: [a, b]",
            'select: expected a section with "models" or "datasets", found a list of 2.',
        ),
        ("datasets: {x: {}}", 'datasets.x: must not be empty. Expected a section with "direction"'),
    ],
)
def test_value_that_does_not_fit_says_what_would(text, fault):
    if text.startswith("exports"):
        found = list_faults(f"studies: {{toy: {{{text}}}}}", check)
    else:
        found = list_faults(text)
    assert len(found) == 1
    assert found[0].startswith(f"studies.toy.{fault}")


@pytest.mark.parametrize(
    ("written", "remedy"),
    [("1e-3", "0.001"), ("1e-7", "1.0e-07"), ("25,5", "25.5"), ("1e3", "1000")],
)
def test_number_that_yaml_reads_as_text_is_respelt(written, remedy):
    text = f"datasets:\n  x:\n    transform:\n      scale_rmse:\n        std: {written}"
    (fault,) = list_faults(text)
    assert fault.endswith(f'found "{written}". Write {remedy}.')
    assert isinstance(yaml.safe_load(remedy), int | float)


@pytest.mark.parametrize("value", [".nan", ".inf", "-.inf"])
def test_numbers_are_finite(value):
    (fault,) = list_faults(f"normalization: {{low: {value}}}")
    assert "expected a number" in fault


def test_whole_number_written_with_a_point_becomes_an_integer():
    replicates = check_study("bootstrap: {replicates: 1.0e+4}")["bootstrap"]["replicates"]
    assert replicates == 10000
    assert isinstance(replicates, int)


def test_whole_numbers_in_a_list_become_integers():
    dimensions = check_study("capabilities: {dimensions: [2.0, 3]}")["capabilities"]["dimensions"]
    assert list(map(repr, dimensions)) == ["2", "3"]


@pytest.mark.parametrize(
    ("key", "shown"), [("no", "false"), ("2019", "2019"), ("2024-05-01", "2024-05-01")]
)
def test_name_that_yaml_does_not_read_as_text_must_be_quoted(key, shown):
    (fault,) = list_faults(f"datasets: {{{key}: {{low: 0}}}}")
    assert fault.startswith(f"studies.toy.datasets: the key {shown}")
    assert "in quotes" in fault
    assert check_study(f"datasets: {{'{key}': {{low: 0}}}}")["datasets"] == {key: {"low": 0}}


def test_keys_that_are_whole_numbers_need_no_quotes():
    assert check_study("patchml: {sizes: {4: 112}}")["patchml"]["sizes"] == {"4": 112}
    (fault,) = list_faults("patchml: {sizes: {0: 56}}")
    assert fault.endswith("this name cannot be used. A number of patches per image, such as 4.")
    assert "true" in list_faults("patchml: {sizes: {yes: 56}}")[0]


def test_names_in_lists_must_be_text():
    assert list_faults("select: {models: [A, no]}") == [
        "studies.toy.select.models item 2: expected text, found false. "
        "YAML reads no, off and false as a truth value; put a name in quotes."
    ]


def test_alternatives_are_told_in_plain_words():
    assert list_faults("normalization: {low: lowest}") == [
        'studies.toy.normalization.low: expected a number, "observed", "natural" or a section '
        'with "model", found "lowest". '
        + STUDY["properties"]["normalization"]["properties"]["low"]["description"]
    ]


def test_fault_inside_the_obvious_alternative_is_told_there():
    assert list_faults("normalization: {high: {modle: A}}") == [
        'studies.toy.normalization.high.modle: unknown key. Did you mean "model"?',
        "studies.toy.normalization.high.model: is missing. Name of the reference model.",
    ]


@pytest.mark.parametrize("text", ["{}", "studies:", "run: all"])
def test_missing_studies_are_named(text):
    (fault,) = list_faults(text, check)
    assert fault.startswith("studies: is missing.")


def test_empty_studies_are_refused():
    (fault,) = list_faults("studies: {}", check)
    assert fault.startswith("studies: must not be empty.")


@pytest.mark.parametrize("text", ["", "[a]", "text"])
def test_config_that_is_no_section_is_refused(text):
    assert list_faults(text, check)


@pytest.mark.parametrize("name", ["my study", "../up", "é", "-x", "a/b", "a\n", ""])
def test_study_name_that_cannot_be_a_folder_is_refused(name):
    with pytest.raises(ConfigError, match="this name cannot be used"):
        check_settings({"studies": {name: {"exports": "a.csv"}}}, SCHEMA)


@pytest.mark.parametrize("name", ["logs", "benchmarks"])
def test_study_may_not_be_called_like_a_folder_of_capmap(name):
    (fault,) = list_faults(f"studies: {{{name}: {{exports: a.csv}}}}", check)
    assert fault.startswith(f"studies.{name}: this name cannot be used.")
    assert fault.endswith('"logs" and "benchmarks" are folders of capmap itself.')
    assert check(f"studies: {{{name}2: {{exports: a.csv}}}}")


def test_all_faults_are_told_at_once_in_the_order_of_the_file():
    text = "formt: long\nmin_seeds: 0\nbootstrap: {replicats: 9, confidence: 2}\ntitle: [1]"
    assert [fault.partition(":")[0] for fault in list_faults(text)] == [
        "studies.toy.formt",
        "studies.toy.min_seeds",
        "studies.toy.bootstrap.replicats",
        "studies.toy.bootstrap.confidence",
        "studies.toy.title",
    ]


def test_hostile_names_stay_on_one_line_without_control_characters():
    name = "=cmd\n\x1b[31m<script>$x$"
    with pytest.raises(ConfigError) as caught:
        check_settings(
            {"studies": {"toy": {"exports": "a", "datasets": {name: {"low": name}}}}}, SCHEMA
        )
    message = str(caught.value)
    assert "\n" not in message
    assert "\x1b" not in message


def test_the_order_of_known_keys_is_that_of_the_schema() -> None:
    one = {"exports": "runs.csv", "normalization": {"low": 0, "high": "observed"}}
    other = {"normalization": {"high": "observed", "low": 0}, "exports": "runs.csv"}
    texts = [yaml.safe_dump({"studies": {"toy": own}}, sort_keys=False) for own in (one, other)]
    first, second = map(check, texts)
    assert json.dumps(first) == json.dumps(second)
    # Names of one's own keep their order.
    groups = {"b": {"datasets": ["x"]}, "a": {"datasets": ["y"]}}
    text = yaml.safe_dump({"studies": {"toy": {**one, "groups": groups}}}, sort_keys=False)
    assert [*check(text)["studies"]["toy"]["groups"]] == ["b", "a"]


def test_many_faults_are_left_out_in_few_rounds(monkeypatch):
    rounds = []

    def count_rounds(*arguments):
        rounds.append(arguments)
        return find_faults(*arguments)

    monkeypatch.setattr(checking, "find_faults", count_rounds)
    study = {"exports": ["a.csv", 1, 2], "min_seeds": 2, "hihg": 1, "bootstrap": {"replicates": -1}}
    given = {"studies": {f"s{place}": study for place in range(20)}}
    left = checking.drop_faulty(given, SCHEMA)
    assert left["studies"]["s7"] == {"min_seeds": 2, "bootstrap": {}}
    assert len(rounds) < 5


@pytest.mark.parametrize("entry", REMOVED)
def test_what_was_removed_is_refused_with_what_replaces_it(entry):
    path, _, value = entry.partition("=")
    keys = path.replace("<name>", "some").split(".")
    study = value or 1
    for key in reversed(keys):
        study = {key: [study] if key == "rankings" else study}
    settings = {"studies": {"toy": {"exports": "runs.csv", **study}}}
    told = list_faults(settings, lambda given: check_settings(given, SCHEMA))
    place = ".".join(keys).replace("rankings.", "rankings item 1.")
    assert f"studies.toy.{place}: was removed. Instead: {REMOVED[entry]}" in told
