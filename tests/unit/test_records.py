"""Nested files as rows: what real tools write, patterns of keys, faults, and any JSON at all."""

import gzip
import json

import pytest

from capmap.exports.records import RecordSheet, open_records
from capmap.problems import UnreadableExportError
from tests.found_problems import place
from tests.unit.test_presets import LM_EVAL

ATARI = {"Pong": [1.5, 2], "Boxing": [3]}


def read_rows(sheet: RecordSheet, names: str = "") -> list[str]:
    """The cells of some columns, or of all, with a bar between."""
    wanted = names.split("|") if names else sheet.columns
    cells = sheet.read_cells(wanted).columns
    return [
        "|".join(row) for row in zip(*(cells[name].to_pylist() for name in wanted), strict=True)
    ]


def test_json_lines_are_walked_line_by_line(write):
    lines = [
        {"model": "A", "r": {"d1": 1, "d2": 2}},
        {"model": "B", "r": {"d1": 3}},
        {"model": "C"},
    ]
    for name in ("runs.jsonl", "runs.json", "runs.ndjson.gz"):
        text = "\n\n".join(map(json.dumps, lines)).encode()
        path = write(gzip.compress(text) if name.endswith("gz") else text, name)
        sheet = open_records(path, records="r.{dataset}")
        assert read_rows(sheet, "model|dataset|score") == ["A|d1|1", "A|d2|2", "B|d1|3"]
        assert sheet.lines == [1, 1, 3]
        (problem,) = sheet.problems
        assert (problem.code, problem.severity, problem.line) == ("no_records", "warning", 5)


@pytest.mark.parametrize(
    ("records", "lines"),
    [
        ("{dataset}.{seed}", [3, 4, 7]),
        ("{dataset}", [2, 6]),
        ("", [1]),
    ],
)
@pytest.mark.parametrize("name", ["runs.json", "runs.yaml"])
def test_records_have_the_line_where_they_begin(write, name, records, lines):
    text = json.dumps(ATARI, indent=1)
    assert open_records(write(text, name), records=records).lines == lines


YAML_VALUES = """\
int: 7
float: -1.50
exponent: 1e-05
infinite: -.inf
nan: .NaN
underscore: 1_000
time: 1:30
date: 2024-01-01
yes: yes
truth: True
none: ~
empty:
quoted: "7"
seventh: &seventh {a: 1}
same: *seventh
"""


def test_yaml_values(write):
    sheet = open_records(write(YAML_VALUES, "a.yml"))
    (cells,) = [dict(zip(sheet.columns, row.split("|"), strict=True)) for row in read_rows(sheet)]
    assert " ".join(filter(None, cells.values())) == (
        "7 -1.50 1e-05 -inf nan 1_000 1:30 2024-01-01 yes True 7 1 1"
    )
    numeric = sheet.read_cells(sheet.columns).numerals.keys()
    assert {"int", "float", "infinite", "seventh.a", "same.a"} <= numeric
    assert not {"date", "yes", "quoted"} & numeric


DEEP = '{"a": ' * 150 + "1" + "}" * 150
FAULTS = {
    "twice.jsonl": ('{"a": {"b": 1, "b": 2}}', "duplicated_key", 1, "'b' stands twice"),
    "twice.json": ('{\n"a": 1,\n"a": 2}', "duplicated_key", 3, "'a' stands twice"),
    "twice.yaml": ("a: 1\nb: 2\n'a': 3", "duplicated_key", 3, "'a' stands twice"),
    "comma.json": ('{\n"a": 1,\n"b": [1 2]}', "invalid_json", 3, "character 9"),
    "cut.json": ('{"a":\n {"b": 1', "invalid_json", 2, "character 9"),
    "two.json": ('{"a":\n1}\n{"b":\n2}', "invalid_json", 2, "does not end here"),
    "scalar.json": ("7", "invalid_record", 1, "not an object"),
    "scalar.yaml": ("\n7", "invalid_record", 2, "not an object"),
    "entry.yaml": ("-\n - a", "invalid_record", 2, "not an object"),
    "broken.yaml": ("a: 1\nb: [", "invalid_yaml", 3, "not YAML"),
    "self.yaml": ("a: &a [*a]", "invalid_yaml", 0, "recursion"),
    "blank.yaml": ("# nothing", "no_records", 0, "no record"),
    "list.yaml": ("[]", "no_records", 0, "no record"),
    "deep.jsonl": (DEEP, "deep_nesting", 1, "too deeply"),
    "deeper.json": ('{"a":\n' * 5000, "deep_nesting", 1, "too deeply"),
    "empty.json": (" \n", "empty_file", 0, "empty"),
}


@pytest.mark.parametrize(
    ("name", "content", "code", "line", "reason"),
    [(name, *fault) for name, fault in FAULTS.items()],
    ids=list(FAULTS),
)
def test_a_fault_is_one_problem_with_its_place(write, name, content, code, line, reason):
    with pytest.raises(UnreadableExportError) as caught:
        open_records(write(content, name))
    (problem,) = caught.value.problems
    assert (problem.code, problem.line) == (code, line)
    assert reason in problem.reason
    assert problem.remedy


def test_a_fault_of_one_record_leaves_the_others(write):
    sheet = open_records(write('[{"a": 1},\n7,\n{"a": 2}]', "a.json"))
    assert (read_rows(sheet), sheet.lines) == (["1", "2"], [1, 3])
    assert [place(problem)[:2] for problem in sheet.problems] == [("invalid_record", 2)]


def test_half_a_surrogate_pair_is_replaced(write):
    sheet = open_records(write('{"a\\ud83d\\ude00": "\\ud800b"}', "a.json"))
    assert (sheet.columns, read_rows(sheet)) == (["a\U0001f600"], ["\ufffdb"])


def test_a_field_of_the_pattern_hides_a_name_of_the_record(write):
    sheet = open_records(write('{"m": {"x": 1},\n"n": {"d": "else"}}', "a.json"), records="{d}")
    assert read_rows(sheet, "d|x") == ["m|1", "n|"]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ("result.*", "at the top, no key that matches 'result' leads.*Did you mean 'results'?"),
        (
            "results.arc.acc",
            "under 'results', no key.*'arc'.*The keys there are 'arc_easy', 'mmlu'",
        ),
        ("results.*.acc,none.x", "under 'results.arc_easy.acc,none'.*too many steps"),
        ("{a}.{a}", "under 'results', no key that matches '{a}'"),
        ("results.{a}_{b}_{c}", "no key"),
    ],
)
def test_a_pattern_that_matches_nothing_is_told_where_it_ends(write, records, message):
    with pytest.raises(UnreadableExportError, match=message) as caught:
        open_records(write(json.dumps(LM_EVAL), "a.json"), records=records)
    (problem,) = caught.value.problems
    assert (problem.code, problem.line) == ("no_records", 1)
    assert records in problem.reason
