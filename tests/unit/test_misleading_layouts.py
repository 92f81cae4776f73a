"""Tables that are easily taken for what they are not: each is told, none is ranked in silence."""

import json

import pytest

from capmap.exports import read_exports
from capmap.inputs.loading import check_configuration
from capmap.normalization import Rules
from capmap.validation import Policies, validate_runs
from tests.fuzz.studies import read_exports_of

MATRIX = {"layout": "matrix"}
LONG = "model,dataset,score\n"
SCORES = "A,0.9,0.7,{}\nB,0.8,0.5,{}\nC,0.6,0.9,{}\n"


def add(name, *cells):
    """A matrix of three models and two datasets, with a third column."""
    return f"model,d1,d2,{name}\n" + SCORES.format(*cells)


AVERAGES = ("0.80", "0.65", "0.75")
# Name, text, settings, and the code of the problem that tells it.
CASES = [
    # Columns that are averages, by their values or their names.
    ("unnamed average", add("x", *AVERAGES), MATRIX, "doubtful_dataset"),
    ("rounded average", add("Final", "0.8", "0.65", "0.75"), MATRIX, "doubtful_dataset"),
    (
        "average of scores that are rounded themselves",
        "model,d1,d2,x\nA,0.9,0.7,0.84\nB,0.2,0.1,0.19\nC,0.5,0.6,0.51\n",
        MATRIX,
        "doubtful_dataset",
    ),
    # 2 · 0.9 · 0.7 / 1.6, 2 · 0.8 · 0.5 / 1.3 and 2 · 0.6 · 0.9 / 1.5.
    ("harmonic mean", add("H", "0.7875", "0.6154", "0.72"), MATRIX, "doubtful_dataset"),
    ("ranks", add("Place", "1", "2", "3"), MATRIX, "percent"),
    ("average in percent", add("x", "80.0%", "65.0%", "75.0%"), MATRIX, "doubtful_dataset"),
    *(
        (name, add(name, "0.71", "0.62", "0.63"), MATRIX, "doubtful_dataset")
        for name in (
            *("Average", "AVG", "avg.", "Mean", "mean acc", "Overall", "Total", "macro avg"),
            *("Average perf. on 38 datasets", "Avg (without d2)"),
        )
    ),
    *(
        (name, add(name, "1", "2", "3"), MATRIX, "doubtful_dataset")
        for name in ("Rank", "Mean rank", "avg_rank", "Overall Ranking")
    ),
    (
        "average beside the metric of all",
        "model,Avg. WER,AMI WER,LS Clean WER\nA,0.41,0.5,0.3\nB,0.48,0.6,0.5\n",
        MATRIX,
        "doubtful_dataset",
    ),
    *(
        (repr(name), add(name, "0.01", "0.02", "0.01"), MATRIX, "doubtful_dataset")
        for name in (
            *("d2_sd", "d1_SE", "d1_p_value", "d2 pvalue"),
            *("d2_std", "d1 (SD)", "d2 rank", "d1-stderr", "d2 ±", "d2±", "d1_ci", "d1_ci95"),
            *(
                "d2_err",
                "d2 error",
                "std_d2",
                "Std(d2)",
                "\u03c3(d1)",
                "± d1",
                "std of d1",
                "d1 +/-",
            ),
        )
    ),
    (
        "spreads before names of means",
        "model,mean_d1,std_d1,mean_d2\nA,0.9,0.01,0.7\nB,0.8,0.02,0.5\nC,0.6,0.01,0.9\n",
        MATRIX,
        "doubtful_dataset",
    ),
    *(
        (
            f"{word} behind means",
            f"model,d1_mean,d1_{word},d2_mean\nA,0.9,0.01,0.7\nB,0.8,0.02,0.5\nC,0.6,0.01,0.9\n",
            MATRIX,
            "doubtful_dataset",
        )
        for word in ("sd", "se", "p")
    ),
    # Columns that number rows or describe models.
    *(
        (repr(name), add(name, "0", "1", "2"), MATRIX, "doubtful_dataset")
        for name in ("", "Unnamed: 0", "index", "idx", "id", "Nr", "#", "row")
    ),
    *(
        (repr(name), add(name, "4", "0", "7"), MATRIX, "doubtful_dataset")
        for name in ("__index_level_0__", "level_0")
    ),
    *(
        (name, add(name, "86", "22", "5"), MATRIX, "doubtful_dataset")
        for name in (
            *("params", "Params (M)", "#params", "num_params", "n_parameters", "FLOPs", "GMACs"),
            *("year", "Epochs", "Latency (ms)", "model size", "batch_size", "resolution", "size"),
            *("fold", "split", "run", "RTFx"),
        )
    ),
    # A column that nothing tells but its scale.
    ("another scale", add("d3", "86.1", "220", "305"), MATRIX, "all_out_of_bounds"),
    # Rows that are averages.
    (
        "average row",
        add("d3", "1", "1", "0.5") + "Average,0.77,0.7,0.8\n",
        MATRIX,
        "doubtful_model",
    ),
    *(
        (
            f"{name} row",
            add("d3", "1", "1", "0.5") + f"{name},0.01,0.02,0.03\n",
            MATRIX,
            "doubtful_model",
        )
        for name in (
            *("std", "± std", "SEM", "StdErr", "(std)", "±", "max", "Average†", "Avg. ↑"),
            *("Mittelwert", "平均"),
        )
    ),
    (
        "row that is the mean by its values",
        "model,d1,d2,d3\nA,0.9,0.81,0.7\nB,0.72,0.6,0.91\nC,0.66,0.75,0.58\nAll,0.76,0.72,0.73\n",
        MATRIX,
        "doubtful_model",
    ),
    ("average of tasks", LONG + "A,d,0.5\nA,average,0.5\nB,d,0.6\n", {}, "doubtful_dataset"),
    ("mean model", LONG + "A,d,0.5\nMean,d,0.55\nB,d,0.6\n", {}, "doubtful_model"),
    (
        "summaries among seeds",
        "model,dataset,seed,score\nA,d,0,0.5\nA,d,1,0.6\nA,d,mean,0.55\nA,d,std,0.07\n",
        {},
        "summary_seed",
    ),
    # Names written in two ways.
    ("case", LONG + "ViT,d,0.5\nvit,d,0.6\n", {}, "alike_names"),
    ("white space", LONG + "ViT B,d,0.5\nViT  B,d,0.6\n", {}, "alike_names"),
    ("separators", LONG + "ViT-B,d,0.5\nViT_B,d,0.6\n", {}, "alike_names"),
    ("Unicode form", LONG + "Caf\u00e9,d,0.5\nCafe\u0301,d,0.6\n", {}, "alike_names"),
    *(
        (
            f"invisible {ord(mark):x}",
            LONG + f"A,d,0.5\n{mark}A{mark}B,d,0.6\nAB,d,0.7\n",
            {},
            "alike_names",
        )
        for mark in "\u00ad\u200b\u200e\ufeff"
    ),
    ("no separator", LONG + "ResNet-50,d,0.5\nresnet50,d,0.6\n", {}, "alike_names"),
    ("dash", LONG + "A,d\u2013x,0.5\nA,d-x,0.6\n", {}, "alike_names"),
    ("datasets", LONG + "A,CIFAR,0.5\nA,cifar,0.6\n", {}, "alike_names"),
    # Tables in the other layout.
    ("long as matrix", LONG + "A,d,0.5\n", MATRIX, "long_table"),
    ("matrix as long", add("d3", "0.1", "0.2", "0.3"), {}, "missing_column"),
    ("words", add("license", "MIT", "BSD", "MIT"), MATRIX, "no_numbers"),
    ("means with spreads", add("d3", "0.5 ± 0.1", "0.4 ± 0.1", "0.6 ± 0.1"), MATRIX, "no_numbers"),
    ("percentages", add("d3", "50", "40", "60"), MATRIX, "percent"),
    ("repeated column", "model,d1,d1\nA,0.5,0.6\n", MATRIX, "duplicated_column"),
    ("seeds unread", "model,dataset,Seed,score\nA,d,0,0.5\nA,d,1,0.6\n", {}, "unread_seed"),
]


@pytest.mark.parametrize(
    ("text", "options", "code"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_no_table_is_ranked_in_silence(write, text, options, code):
    read = read_exports([write(text)], metric="accuracy", **options)
    checked = validate_runs(
        read.runs, read.problems, rules=Rules({}, {}, {}, {}), policies=Policies({})
    )
    assert code in [problem.code for problem in checked.problems]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "mean IoU of roads",
            "size-bias",
            "rankings2k",
            "Indexing",
            "totally",
            "d2 high",
            "d3_std",
        ),
        *("std_d3", "± d3", "errd1", "ci95", "standard d1", "d1 variants", "errors d1"),
        *("level_1", "no", "d1-P", "d3_sd"),
    ],
)
def test_datasets_that_are_called_a_little_like_it_are_ranked(write, name):
    read = read_exports([write(add(name, "0.71", "0.62", "0.63"))], metric="acc", **MATRIX)
    assert read.problems == []


@pytest.mark.parametrize("model", ["SD", "VAR", "SE", "stdnet", "max-ViT"])
def test_models_that_are_called_a_little_like_spreads_are_ranked(write, model):
    text = add("d3", "1", "1", "0.5") + f"{model},0.01,0.02,0.03\n"
    assert read_exports([write(text)], metric="acc", **MATRIX).problems == []


def test_means_without_runs_beside_them_are_ranked(write):
    text = "model,dataset,seed,score\nA,d,mean,0.5\nB,d,mean,0.6\n"
    read = read_exports([write(text)], metric="accuracy")
    assert read.problems == []


def test_versions_are_no_spellings_of_one_name(write):
    read = read_exports([write(LONG + "m 3.1,d,0.5\nm 31,d,0.6\nm 3 1b,d,0.7\n")], metric="acc")
    assert read.problems == []


def test_listed_columns_are_meant(write):
    columns = {"datasets": ["d1", "d2", "size"]}
    read = read_exports(
        [write(add("size", "0.71", "0.62", "0.63"))], metric="acc", columns=columns, **MATRIX
    )
    assert [problem.severity for problem in read.problems] == ["warning"]


LETTERS = "ABCDEF"
UNBOUNDED = {"metric": "mse", "metrics": {"mse": {"high": "observed"}}}
PERCENT = {"metric": "accuracy", "metrics": {"accuracy": {"low": 0, "high": 100}}}
TABLE = {"format": "matrix", "metric": "accuracy"}


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
        TABLE | {"columns": {"model": "dataset"}},
        "turned_table",
    ),
    "two header rows": (
        ",noise,noise\n,1,2\nA,0.7,0.8\nB,0.5,0.6",
        TABLE | {"columns": {"model": "Unnamed: 0"}},
        "duplicated_column",
    ),
    "an average by its values alone": (
        "model,d1,d2,H\nA,0.9,0.7,0.8\nB,0.8,0.5,0.65\nC,0.6,0.9,0.75",
        TABLE,
        "doubtful_dataset",
    ),
    "a run without results": (f"[{RUN}, {FAILED}]", NESTED, "no_results"),
    "a failed run without results": (
        f"[{RUN}, {FAILED}]",
        NESTED | {"where": {"status": "ok"}},
        "",
    ),
    "a title": ("Table 3: accuracy,,\nmodel,d1,d2\nA,0.5,0.6\nB,0.7,0.8", TABLE, ""),
    "a title of one cell": ("Table 3\nmodel,d1,d2\nA,0.5,0.6\nB,0.7,0.8", TABLE, ""),
    "rows to skip": (
        "by,us\nin,2026\nmodel,d1\nA,0.5\nB,0.7",
        TABLE | {"reading": {"skip": 2}},
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
    "missing in R": ("model,d1,d2\nA,0.5,NA\nB,0.7,0.8\nC,-,0.6", TABLE, ""),
}
HARMLESS = {
    *("one_seed", "out_of_bounds", "incomplete", "no_records", "fractions"),
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
        assert read.counts["rows"] >= 1


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
