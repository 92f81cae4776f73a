"""Nested files as rows: what real tools write, patterns of keys, faults, and any JSON at all."""

import gzip
import json
import string

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from capmap.errors import ConfigError
from capmap.exports import documents
from capmap.exports.flat_rows import FlatRows
from capmap.exports.records import open_records
from capmap.problems import UnreadableExportError
from tests.found_problems import place
from tests.unit.test_presets import LM_EVAL

ATARI = {"Pong": [1.5, 2], "Boxing": [3]}
HELM = [
    {"name": {"name": "exact_match", "split": "test"}, "mean": 0.5},
    {"name": {"name": "f1", "split": "test", "perturbation": {"name": "typos"}}, "mean": 0.25},
]
DOMAINBED = [{"args": {"dataset": "PACS", "test_envs": [0, 1]}, "env0_out_acc": 0.9, "step": 300}]
ENTRIES = [
    {"model": "A", "results": {"d1": {"acc": 0.1}, "d2": {"acc": 0.2}}},
    {"model": "B", "results": {"d1": {"acc": 0.3}, "note": "x"}},
]
NEAR = {"x": "far", "r": {"x": "near", "d": {"y": {"x": "own"}}, "e": {"y": {"z": 1}}}}


def read_rows(sheet: FlatRows, names: str = "") -> list[str]:
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


def test_records_below_the_pattern_have_the_line_of_what_encloses_them(write):
    text = json.dumps({"m": 1, "scores": {"test": [{"a": 1}, {"a": 2}]}}, indent=1)
    assert open_records(write(text, "a.json"), records="scores.test.*").lines == [5, 8]


def test_cells_of_lists_and_objects(write):
    record = {"empty": {}, "none": [], "short": [[1, "a"], 2], "long": [{"a": 0.50}] * 101}
    sheet = open_records(write(json.dumps(record), "a.json"))
    cells = sheet.read_cells(sheet.columns)
    assert sheet.columns == ["empty", "none", "short.0.0", "short.0.1", "short.1", "long"]
    assert read_rows(sheet)[0].startswith('{}|[]|1|a|2|[{"a": 0.5}, ')
    assert set(cells.nested) == {"empty", "none", "long"}
    assert cells.numeric == {"short.0.0", "short.1"}
    rows = open_records(write({"a": [1] * 101}, "a.json"), records="*")
    assert rows.read_cells(["score"]).nested == {"score": [0]}


def test_a_name_that_is_a_plain_value_elsewhere_stays_one_cell(write):
    lines = ['{"model": {"a": 1}}', '{"model": "B"}', '{"model": ["C", true]}', '{"x": null}']
    sheet = open_records(write("\n".join(lines), "a.jsonl"))
    assert sheet.columns == ["model.a", "model", "model.0", "model.1", "x"]
    assert read_rows(sheet, "model|model.0|model.1|x") == [
        *('{"a": 1}|||', "B|||", '["C", true]|C|true|', "|||"),
    ]
    assert sheet.read_cells(["model", "x"]).nested == {"model": [0, 2]}
    assert sheet.read_cells(["x", "model"]).numeric == {"x"}


YAML_VALUES = """\
int: 7
float: -1.50
exponent: 1e-05
infinite: -.inf
nan: .NaN
octal: 0o17
old_octal: 017
hex: 0x1F
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
        "7 -1.50 1e-05 -inf nan 0o17 017 0x1F 1_000 1:30 2024-01-01 yes true 7 1 1"
    )
    numbers = {"int", "float", "exponent", "infinite", "nan", "none", "empty"}
    assert sheet.read_cells(sheet.columns).numeric == numbers | {
        *("seventh.a", "same.a"),
    }


DEEP = '{"a": ' * 150 + "1" + "}" * 150
FAULTS = {
    "twice.jsonl": ('{"a": {"b": 1, "b": 2}}', "duplicated_key", 1, "'b' stands twice"),
    "twice.json": ('{\n"a": 1,\n"c": {"b": 1,\n"b": 2}}', "duplicated_key", 4, "'b' stands twice"),
    "twice.yaml": ("a: 1\nb: 2\n'a': 3", "duplicated_key", 3, "'a' stands twice"),
    "comma.json": ('{\n"a": 1,\n"b": [1 2]}', "invalid_json", 3, "character 9"),
    "cut.json": ('{"a":\n {"b": 1', "invalid_json", 2, "character 9"),
    "two.json": ('{"a":\n1}\n{"b":\n2}', "invalid_json", 3, "does not end here"),
    "half.json": ('{\n"a": "\\ud800"}', "invalid_json", 2, "half of a surrogate pair"),
    "half.jsonl": ('\n{"\\udc00": 1}', "invalid_json", 2, "half of a surrogate pair"),
    "scalar.json": ("7", "invalid_json", 1, "not a JSON object"),
    "scalar.yaml": ("\n7", "invalid_yaml", 2, "neither an object nor a list"),
    "entry.yaml": ("-\n - a", "invalid_yaml", 2, "not an object"),
    "broken.yaml": ("a: 1\nb: [", "invalid_yaml", 3, "column 1"),
    "control.yaml": ("a: \x01", "invalid_yaml", 0, "control characters"),
    "tag.yaml": ("a: 1\nb: !!python/object/apply:os.system [ls]", "invalid_yaml", 2, "plain data"),
    "key.yaml": ("? [a]\n: 1", "invalid_yaml", 1, "not text"),
    "self.yaml": ("a: &a [*a]", "deep_nesting", 1, "too deeply"),
    "blank.yaml": ("# nothing", "no_records", 0, "no record"),
    "list.yaml": ("[]", "no_records", 0, "no record"),
    "deep.json": (DEEP.replace("}", "}\n"), "deep_nesting", 1, "too deeply"),
    "deep.jsonl": (DEEP, "deep_nesting", 1, "too deeply"),
    "deep.yaml": ("[" * 150 + "]" * 150, "deep_nesting", 1, "too deeply"),
    "deeper.json": ('{"a":\n' * 5000, "invalid_json", 1, "too deeply"),
    "same.json": ('{"a.b": 1, "a": {"b": 2}}', "duplicated_name", 1, "'a.b'"),
    "inner.json": ('{"a": {"b": {"c": 1}}, "a.b": {"d": 2}}', "duplicated_name", 1, "'a.b'"),
    "list.json": ('{"a": [1], "a.0": 2}', "duplicated_name", 1, "'a.0'"),
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


@pytest.mark.parametrize(
    ("text", "character"),
    [
        *[('"a": 1 "b": 2}', 7), ('"a" 1}', 1), ("a: 1}", 1), ('"a": 1,}', 8), ('"a', 1)],
        *[('"a": [1 2]}', 8), ('"a": [1}', 8), ('"a": {"b": }}', 12), ('"a": {"b": 1} "c"}', 14)],
        *[('"a": ', 6), ('"a": "\t"}', 7), ('"a": 1} 2', 9)],
    ],
)
def test_faults_on_the_way_to_the_records_have_their_place(write, text, character):
    with pytest.raises(UnreadableExportError, match=rf"character {character} of") as caught:
        open_records(write("{\n" + text, "a.json"), records="*.*")
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.value) == ("invalid_json", 2, text.strip())


def test_a_fault_of_one_record_leaves_the_others(write):
    text = '[{"a": 1},\n{"a.b": 1, "a": {"b": 2}},\n{"a": "\\ud800"},\n{"a": 2}]'
    sheet = open_records(write(text, "a.json"))
    assert (read_rows(sheet), sheet.lines) == (["1", "2"], [1, 4])
    assert [place(problem)[:2] for problem in sheet.problems] == [
        ("duplicated_name", 2),
        ("invalid_json", 3),
    ]
    text = '{"m": {"x": 1},\n"n": {"d": "else"},\n"o": {"x": 2}}'
    sheet = open_records(write(text, "a.json"), records="{d}")
    assert read_rows(sheet, "d|x") == ["m|1", "o|2"]
    assert [place(problem)[:2] for problem in sheet.problems] == [("duplicated_name", 2)]


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


def test_a_key_that_can_be_read_in_several_ways_is_told(write):
    with pytest.raises(UnreadableExportError, match="may be 'x_y' or 'x'"):
        open_records(write({"x_y_z": {"a": 1}}, "a.json"), records="{d}_{s}")


@pytest.mark.parametrize("records", ["{d", "a.{1}", "{d,(}"])
def test_a_pattern_that_is_none_is_a_fault_of_the_configuration(write, records):
    with pytest.raises(ConfigError):
        open_records(write(ATARI, "a.json"), records=records)


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_documents_that_are_read_as_a_whole_have_a_limit(write, monkeypatch, name):
    monkeypatch.setattr(documents, "LONGEST", 10)
    with pytest.raises(UnreadableExportError, match="more than 10 characters"):
        open_records(write('{\n"abcdefghij": 1}', name))
    assert read_rows(open_records(write('{"abcdefghij": 1}', "a.jsonl"))) == ["1"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
KEYS = st.one_of(st.sampled_from(["a", "b", "a.b", "a.0", "", " a", "score", "x"]), TEXTS)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda child: st.one_of(st.lists(child, max_size=3), st.dictionaries(KEYS, child, max_size=3)),
    max_leaves=12,
)
NAMES = st.sampled_from(["a.json", "a.jsonl", "a.yaml", "a.json.gz"])
PATTERNS = st.sampled_from(
    ["", "*", "{x}", "a.*", "*.{x}", "{x}.{x}", "{score}.{b}", "0.*", "*.*.*"]
)


def open_anyhow(folder, name: str, text: str, records: str = "") -> FlatRows | None:
    path = folder.mktemp("records") / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        sheet = open_records(str(path), records=records)
    except UnreadableExportError:
        return None
    cells = sheet.read_cells(sheet.columns)
    assert len(cells.lines) == len(sheet.lines) > 0
    assert all(len(column) == len(cells.lines) for column in cells.columns.values())
    assert min(cells.lines) >= 1
    return sheet


@given(
    st.one_of(st.text(max_size=30), st.text("{}[]:,\"'-&*!<#?|>%@`=.\\u\nab01 \t", max_size=30)),
    NAMES,
    PATTERNS,
)
def test_any_text_is_read_or_refused(tmp_path_factory, text, name, records):
    open_anyhow(tmp_path_factory, name, text, records)


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=3), min_size=1, max_size=3), PATTERNS)
def test_lines_are_read_like_the_entries_of_a_list(tmp_path_factory, values, records):
    below = f"*.{records}" if records else ""
    lines = open_anyhow(tmp_path_factory, "a.jsonl", "\n".join(map(json.dumps, values)), records)
    array = open_anyhow(tmp_path_factory, "a.json", json.dumps(values, indent=1), below)
    assert (lines is None) == (array is None)
    if lines and array:
        assert lines.columns == array.columns
        assert read_rows(lines) == read_rows(array)


WORDS = st.text(string.ascii_letters + string.digits + " .:-#~'\"{}[]<=*&!|", max_size=6)
# PyYAML writes others with an exponent of another form.
SHORT_FLOATS = st.integers(-999, 999).map(lambda number: number / 1000)
TWINS = st.dictionaries(
    WORDS,
    st.recursive(
        st.one_of(st.booleans(), st.integers(-99, 99), SHORT_FLOATS, WORDS),
        lambda child: st.one_of(
            st.lists(child, max_size=3), st.dictionaries(WORDS, child, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=3,
)


@given(TWINS, st.sampled_from(["", "*", "{x}.*"]))
def test_yaml_is_read_like_json(tmp_path_factory, value, records):
    texts = {
        "a.json": json.dumps(value),
        "a.yaml": yaml.safe_dump(value, sort_keys=False),
    }
    sheets = [open_anyhow(tmp_path_factory, *item, records) for item in texts.items()]
    columns = [sheet and sheet.columns for sheet in sheets]
    rows = [sheet and read_rows(sheet) for sheet in sheets]
    assert columns[1:] == columns[:1]
    assert rows[1:] == rows[:1]
