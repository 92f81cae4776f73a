"""Exports whose every value is known: each is read as it is, or told; none is read as another."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.attributes import read_model_attributes
from capmap.exports import read_exports
from capmap.exports.numbers import Kind, parse_summaries

# The decimal mark and what divides thousands.
LOCALES = [(".", ","), (".", ""), (",", "."), (",", ""), (".", "\u202f"), (",", "\u00a0")]
HUNDREDTHS = st.integers(-(10**9), 10**9)
# Numbers of three decimals are those that a decimal comma elsewhere could make thousands.
NUMBERS = st.integers(-(10**6), 10**6).map(lambda number: number / 1000)


def write(value: int, decimal: str, thousands: str) -> str:
    """A number of hundredths as people of a place write it."""
    text = f"{value / 100:,.2f}"
    return text.translate({ord(","): thousands, ord("."): decimal})


CELLS = st.lists(st.one_of(NUMBERS, HUNDREDTHS), min_size=1, max_size=8)


@given(CELLS, st.sampled_from(LOCALES), st.booleans(), st.booleans())
@settings(max_examples=80)
def test_numbers_of_json_stay_beside_texts_of_any_place(tmp_path_factory, cells, place, auto, wide):
    # Whole numbers of the list are hundredths that stand as text, the others numbers of JSON.
    folder = tmp_path_factory.mktemp("json")
    expected = [cell / 100 if isinstance(cell, int) else cell for cell in cells]
    scores = [write(cell, *place) if isinstance(cell, int) else cell for cell in cells]
    rows = [
        {"model": f"m{row}", **({"d": score} if wide else {"dataset": "d", "score": score})}
        for row, score in enumerate(scores)
    ]
    (folder / "runs.json").write_text(json.dumps(rows), "utf-8")
    read = read_exports(
        [str(folder / "runs.json")],
        layout="matrix" if wide else "long",
        metric="gain",
        decimal="auto" if auto else place[0],
    )
    told = {problem.value for problem in read.problems if problem.severity == "error"}
    found = dict(zip(read.runs["model"], read.runs["score"], strict=True))
    for row, (score, value) in enumerate(zip(scores, expected, strict=True)):
        if isinstance(score, float) or score not in told:
            assert found[f"m{row}"] == value


def test_numbers_of_attributes_stay_beside_texts_with_commas(tmp_path):
    rows = [{"model": "a", "size": 1.234}, {"model": "b", "size": "1.234,5"}]
    (tmp_path / "models.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = read_model_attributes(
        str(tmp_path / "models.jsonl"),
        name="model",
        parameters="size",
        architecture="",
        date="",
    )
    assert table["parameters"].tolist() == [1.234, 1234.5]


@pytest.mark.parametrize("split", [False, True])
def test_numbers_beside_scores_stay_beside_texts_with_commas(tmp_path, split):
    rows = [
        {"model": "a", "dataset": "d", "score": 1.5, "std": 1.234, "n": 3},
        {"model": "b", "dataset": "d", "score": 1.5, "std": "1.234,5", "n": "3,0"},
    ]
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    parts = [rows[:1], rows[1:]] if split else [rows, []]
    for path, part in zip(paths, parts, strict=True):
        path.write_text("\n".join(map(json.dumps, part)))
    read = read_exports(
        [str(path) for path, part in zip(paths, parts, strict=True) if part],
        metric="gain",
        columns={"spread": "std", "count": "n"},
        summary={"runs": 1, "spread": "std"},
    )
    assert [problem for problem in read.problems if problem.severity == "error"] == []
    found = read.runs.groupby("model", observed=True)["score"].std()
    assert found.to_numpy() == pytest.approx([1.234, 1234.5])
    assert read.runs.groupby("model", observed=True).size().tolist() == [3, 3]


@pytest.mark.parametrize(("take", "taken"), [("last", 0.2), ("best", 0.2)])
def test_steps_that_are_numbers_stay_beside_texts_with_commas(tmp_path, take, taken):
    rows = [
        {"model": "a", "dataset": "d", "score": 0.1, "step": 2.5, "val": 2.5},
        {"model": "a", "dataset": "d", "score": 0.2, "step": "1.234,5", "val": "1.234,5"},
    ]
    (tmp_path / "log.json").write_text(json.dumps(rows))
    columns = {"step": "step", "selection": "val"}
    read = read_exports([str(tmp_path / "log.json")], metric="accuracy", columns=columns, take=take)
    assert read.runs["score"].tolist() == [taken]


@pytest.mark.parametrize("texts", [["1", "01", "1.0", "+1"], ["-7", "-07"]])
def test_a_seed_is_one_however_it_is_written(tmp_path, texts):
    rows = [f'A,d,"{text}",0.5' for text in texts]
    (tmp_path / "runs.csv").write_text("\n".join(["model,dataset,seed,score", *rows]))
    runs = read_exports([str(tmp_path / "runs.csv")], metric="accuracy").runs
    assert runs["seed"].nunique() == 1
    assert runs["seed"].iloc[0] in texts


def test_seeds_that_differ_stay_apart(tmp_path):
    texts = ["1", "10", "1.5", "1,000", "1e2", "0x1", "a1", "1_0", "٣", "12345678901234567890"]
    rows = [f'A,d,"{text}",0.5' for text in texts]
    (tmp_path / "runs.csv").write_text("\n".join(["model,dataset,seed,score", *rows]))
    runs = read_exports([str(tmp_path / "runs.csv")], metric="accuracy").runs
    assert runs["seed"].nunique() == len(texts)


def test_a_seed_that_is_nan_is_none_and_told(tmp_path):
    table = {
        "model": ["A", "A", "B"],
        "dataset": ["d"] * 3,
        "score": [0.1, 0.2, 0.3],
        "seed": pa.array(np.array([1, np.nan, np.nan]), from_pandas=False),
    }
    pq.write_table(pa.table(table), tmp_path / "runs.parquet")
    read = read_exports([str(tmp_path / "runs.parquet")], metric="accuracy")
    assert read.runs["seed"].tolist() == ["1", "", ""]
    assert [problem.code for problem in read.problems] == ["empty_seed"]


@pytest.mark.parametrize(
    "text",
    [
        'note,model,dataset,score\n5" nails,A,d,0.1\n5,B,d,"0.2',
        'model,dataset,score,note\nA,d,0.1,5" nails\nB,d,0.2,"abc',
        'model,dataset,score,note\nA,d,0.1,5" nails\nB,d,0.2,"abc\n\n',
    ],
)
def test_a_file_that_ends_within_quotes_is_told_beside_odd_quotes(tmp_path, text):
    (tmp_path / "runs.csv").write_text(text)
    read = read_exports([str(tmp_path / "runs.csv")], metric="accuracy")
    assert [(problem.code, problem.line) for problem in read.problems] == [("unclosed_quote", 3)]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('A,d,"0.5"9', True),
        ('A,d,""9', True),
        ('A,d,"0""5"9', True),
        ('"A\\"x",d,0.5', True),
        ('"A,\n"x,d,0.5', True),
        ('"A" ,d,"0.5"', True),
        ('A 5" x,d,0.5', False),
        ('"a,"",\n""b","d\n","0.5"', False),
    ],
)
@pytest.mark.parametrize("divider", [",", "\t"])
def test_text_behind_a_closing_quote_is_told(tmp_path, row, told, divider):
    text = f"model,dataset,score\nB,d,0.25\n{row}\n".replace(",", divider)
    (tmp_path / "runs.csv").write_text(text)
    read = read_exports([str(tmp_path / "runs.csv")], metric="accuracy")
    found = [(problem.code, problem.line) for problem in read.problems]
    assert found == ([("text_behind_quote", 3)] if told else [])
    assert read.runs["score"].tolist() == ([0.25] if told else [0.25, 0.5])


@pytest.mark.parametrize("text", ["0.912(3)", "0.91 (5)", "91.2(3)%", "91,2 (12 %)"])
def test_a_spread_in_units_of_the_last_digit_is_ambiguous(text):
    for other, kind in {text: Kind.UNCLEAR, "0.91 (0)": Kind.NUMBER, "91 (2)": 0}.items():
        assert parse_summaries(pa.array([other], pa.large_string())).kinds.tolist() == [kind]


@pytest.mark.slow
def test_damaged_parquet_is_read_or_refused(tmp_path: Path):
    table = pa.table({"model": ["A", "B"] * 4, "dataset": ["é"] * 8, "score": [0.5] * 8})
    sound, runs = tmp_path / "sound.parquet", tmp_path / "runs.parquet"
    pq.write_table(table, sound, compression="none", store_schema=False, write_statistics=False)
    content, outcomes = sound.read_bytes(), set()
    for place in range(4, len(content), 3):
        damaged = bytearray(content)
        damaged[place] ^= 0x80 if place % 2 else 0x01
        runs.write_bytes(damaged)
        problems = read_exports([str(runs)], metric="accuracy").problems
        codes = {problem.code for problem in problems} & {"damaged_parquet"}
        outcomes |= codes or {"read"}
    assert outcomes == {"read", "damaged_parquet"}
