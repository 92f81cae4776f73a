"""Exports that would mislead in silence: each is told by a code, or read as it should be."""

import json

import pytest

from capmap.inputs.configuration import check_configuration
from capmap.normalization import resolve_bounds
from tests.fuzz.studies import read_exports_of

LETTERS = "ABCDEF"
UNBOUNDED = {"metric": "mse", "metrics": {"mse": {"high": "observed"}}}
PERCENT = {"metric": "accuracy", "metrics": {"accuracy": {"low": 0, "high": 100}}}
MATRIX = {"format": "matrix", "metric": "accuracy"}


def write_long(score) -> str:
    """A long table of six models on five datasets, with scores of a function of their places."""
    rows = [f"{m},d{d},{score(place, d)}" for place, m in enumerate(LETTERS) for d in range(5)]
    return "\n".join(["model,dataset,score", *rows])


def fraction(place: int, dataset: int) -> float:
    return round(0.5 + place / 20 + dataset**2 / 100 + (place * dataset % 3) / 1000, 4)


def diverge(worst: float) -> str:
    return write_long(lambda m, d: worst if m == 5 and d == 0 else 1 + fraction(m, d))


FAILED = json.dumps({"model": "B", "dataset": "D", "status": "failed", "metrics": {}})
RUN = json.dumps({"model": "A", "dataset": "D", "status": "ok", "metrics": {"t": {"acc": 0.5}}})
NESTED = {"reading": {"records": "*.metrics.{split}.{metric}"}}
CELLS = "model,d1,d2\nA,{0},{1}\nB,{2},{3}\nC,{0},{3}"
TOLD = {
    "one diverged score": (diverge(1e9), UNBOUNDED, "diverged"),
    "a sentinel": (diverge(2147483647), UNBOUNDED, "diverged"),
    "only a bad model": (diverge(9.5), UNBOUNDED, ""),
    "an opposite dataset": (
        write_long(lambda m, d: 1 - fraction(m, d) if d == 2 else fraction(m, d)),
        {"metric": "accuracy"},
        "opposite_order",
    ),
    "datasets that agree": (write_long(fraction), {"metric": "accuracy"}, ""),
    "a percent sign on fractions": (
        write_long(lambda m, d: f"{fraction(m, d)}%" if m == 5 else fraction(m, d)),
        {"metric": "accuracy"},
        "percent_sign",
    ),
    "a percent sign on one fraction": (
        write_long(lambda m, d: f"{fraction(m, d)}%" if m == d == 4 else fraction(m, d)),
        {"metric": "accuracy"},
        "percent_sign",
    ),
    "a fraction among percent signs": (
        write_long(lambda m, d: f"{fraction(m, d) * (1 if m == d == 4 else 100):.2f}%"),
        {"metric": "accuracy"},
        "doubtful_sign",
    ),
    "percent signs of one model": (
        write_long(lambda m, d: f"{fraction(m, d):.2%}" if m == 5 else fraction(m, d)),
        {"metric": "accuracy"},
        "doubtful_sign",
    ),
    "all percent signs": (
        write_long(lambda m, d: f"{fraction(m, d):.2%}"),
        {"metric": "accuracy"},
        "",
    ),
    "best and mean": (
        CELLS.format("94.7 (94.3)", "91.2 (90.8)", "88.1 (87.5)", "90.2 (89.9)"),
        PERCENT | {"format": "matrix", "summary": {"runs": 3}},
        "doubtful_spread",
    ),
    "two spreads": (
        CELLS.format(*["50.8 ± 1.4 ± 7.1"] * 4),
        PERCENT | {"format": "matrix", "summary": {"runs": 3}},
        "no_numbers",
    ),
    "a second bracket": (
        CELLS.format("27 (±0.4) (+1.2%)", "26.1", "25.2", "24.3"),
        PERCENT | {"format": "matrix", "summary": {"runs": 3}},
        "not_a_number",
    ),
    "brackets of full width": (
        CELLS.format("59.6\uff080.7\uff09", "58.1\uff080.6)", "57.0\uff080.5)", "56.0 (0.4)"),
        PERCENT | {"format": "matrix", "summary": {"runs": 3}},
        "",
    ),
    "a turned matrix": (
        "dataset,A,B\nd1,0.1,0.2\nd2,0.3,0.4",
        MATRIX | {"columns": {"model": "dataset"}},
        "turned_table",
    ),
    "two header rows": (
        ",noise,noise\n,1,2\nA,0.7,0.8\nB,0.5,0.6",
        MATRIX | {"columns": {"model": "Unnamed: 0"}},
        "duplicated_column",
    ),
    "an average by its values alone": (
        "model,d1,d2,H\nA,0.9,0.7,0.8\nB,0.8,0.5,0.65\nC,0.6,0.9,0.75",
        MATRIX,
        "doubtful_dataset",
    ),
    "a run without results": (f"[{RUN}, {FAILED}]", NESTED, "no_results"),
    "a failed run without results": (
        f"[{RUN}, {FAILED}]",
        NESTED | {"where": {"status": "ok"}},
        "",
    ),
    "a title": ("Table 3: accuracy,,\nmodel,d1,d2\nA,0.5,0.6\nB,0.7,0.8", MATRIX, ""),
    "a title of one cell": ("Table 3\nmodel,d1,d2\nA,0.5,0.6\nB,0.7,0.8", MATRIX, ""),
    "rows to skip": (
        "by,us\nin,2026\nmodel,d1\nA,0.5\nB,0.7",
        MATRIX | {"reading": {"skip": 2}},
        "",
    ),
    "repeats and folds": (
        "model,dataset,r,f,score\nA,D,0,0,0.5\nA,D,0,1,0.6\nA,D,1,0,0.7\nB,D,0,0,0.4",
        {"metric": "accuracy", "columns": {"seed": ["r", "f"]}},
        "",
    ),
    "a model that bounds an error": (
        "model,dataset,score\nA,D,3\nB,D,9\nA,E,2\nB,E,8",
        {"metric": "mse", "metrics": {"mse": {"low": 0, "high": {"model": "B"}}}},
        "",
    ),
    "missing in R": ("model,d1,d2\nA,0.5,NA\nB,0.7,0.8\nC,-,0.6", MATRIX, ""),
}
HARMLESS = {
    *("one_seed", "out_of_bounds", "incomplete", "no_records", "fractions", "equal_scores"),
}


@pytest.mark.parametrize(("text", "settings", "code"), TOLD.values(), ids=TOLD)
def test_what_would_mislead_is_told(tmp_path, text, settings, code):
    file = tmp_path / ("runs.json" if text.startswith("[") else "runs.csv")
    file.write_text(text, encoding="utf-8")
    study = {"exports": str(file), "incomplete": "adjust", **settings}
    read, result = read_exports_of(check_configuration({"studies": {"toy": study}}), "toy")
    found = {problem.code for problem in result.problems} - HARMLESS
    assert (code in found) if code else not found, [str(problem) for problem in result.problems]
    if not code:
        assert len(result.runs) > 0
        assert read.rows >= 1


@pytest.mark.parametrize("sheet", [2, "2"])
def test_a_table_of_markdown_is_chosen_by_its_number(tmp_path, sheet):
    first = "| Part | What |\n|---|---|\n| a | b |\n"
    second = '| Model | D |\n|---|---|\n| <a href="x">A</a> | 70 |\n| [B](y) | 65 |\n'
    (tmp_path / "runs.md").write_text(f"{first}\nText\n\n{second}", encoding="utf-8")
    study = {
        "exports": str(tmp_path / "runs.md"),
        "format": "matrix",
        "columns": {"model": "Model"},
        "reading": {"sheet": sheet},
        **PERCENT,
    }
    _, result = read_exports_of(check_configuration({"studies": {"toy": study}}), "toy")
    assert set(result.runs["model"]) == {"A", "B"}


def test_a_diverged_score_sets_no_bound(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text(diverge(1e9), encoding="utf-8")
    study = {"exports": str(file), **UNBOUNDED}
    _, result = read_exports_of(check_configuration({"studies": {"toy": study}}), "toy")
    bounds, _ = resolve_bounds(
        result.runs,
        metrics={"mse": {"high": "observed"}},
        datasets={},
        normalization={},
        references={},
    )
    assert bounds["high"].max() < 3
