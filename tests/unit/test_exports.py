"""Exports read as runs, whatever their structure, and broken ones told with a code and a place."""

import csv
import io
import json
from hashlib import sha256

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from capmap.artifacts import unpack_columns
from capmap.exports import read_exports
from capmap.inputs.loading import check_configuration
from tests.found_problems import only_problem, place
from tests.fuzz.studies import read_exports_of
from tests.workbooks import make_xlsx


def rows(exports, *columns):
    return list(exports.runs[list(columns)].itertuples(index=False, name=None))


LONG = "model,dataset,metric,seed,score\nA,d1,acc,1,0.5\nB,d1,acc,2,0.25\n"
EXPECTED = [("A", "d1", "acc", "1", 0.5, "0.5", 2), ("B", "d1", "acc", "2", 0.25, "0.25", 3)]
SHOWN = ("model", "dataset", "metric", "seed", "score", "raw", "line")


def test_a_long_table_is_read_with_its_places(write):
    path = write(LONG)
    exports = read_exports([path])
    assert rows(exports, *SHOWN) == EXPECTED
    assert set(exports.runs["source"]) == {path}
    assert set(exports.runs["column"]) == {"score"}
    assert exports.problems == []
    digest = sha256(LONG.encode()).hexdigest()
    assert exports.files == [{"path": path, "sha256": digest, "bytes": len(LONG), "rows": 2}]
    assert +exports.counts == {"rows": 2}


@pytest.mark.parametrize("kind", ["float64", "category", "str"])
def test_parquet_gives_the_same_runs(tmp_path, kind):
    table = pd.DataFrame(EXPECTED, columns=list(SHOWN)).drop(columns=["raw", "line"])
    path = str(tmp_path / "runs.parquet")
    table.assign(score=table["score"].astype(kind), seed=[1.0, 2.0]).to_parquet(path)
    exports = read_exports([path])
    assert rows(exports, *SHOWN) == EXPECTED
    assert exports.problems == []


def test_columns_are_mapped_joined_and_kept(write):
    path = write(
        "name,pretrained,data,Metric,test metric,Seed,lr\nViT,openai,d,acc,0.5,205.0,1e-3\n"
        "ViT,,d,acc,0.6,7,\n"
    )
    columns = {
        "model": ["name", "pretrained"],
        "dataset": "data",
        "metric": "Metric",
        "score": "test metric",
        "seed": "Seed",
        "keep": ["lr"],
    }
    exports = read_exports([path], columns=columns)
    assert rows(exports, "model", "seed", "lr") == [
        ("ViT / openai", "205", "1e-3"),
        ("ViT", "7", ""),
    ]
    assert list(exports.runs.columns) == [
        *("model", "dataset", "metric", "seed", "score", "raw", "source", "line", "column"),
        "lr",
    ]


@pytest.mark.parametrize(
    ("where", "models"),
    [
        ({"track": "full"}, ["A", "B"]),
        ({"track": ["full", "frozen"]}, ["A", "B", "C"]),
        ({"seed": 1}, ["A", "B"]),
        ({"seed": "1"}, ["A"]),
        ({"seed": [1, 2]}, ["A", "B", "C"]),
        ({"final": True}, ["A", "B"]),
        ({"track": "full", "seed": 1.0}, ["A", "B"]),
    ],
)
def test_filters_compare_text_numbers_and_truth_values(write, where, models):
    path = write(
        "model,dataset,metric,seed,score,track,final\n"
        "A,d,acc,1,0.5,full,true\nB,d,acc,1.0,0.5,full ,TRUE\nC,d,acc,2,0.5,frozen,False\n"
    )
    exports = read_exports([path], where=where)
    assert exports.runs["model"].tolist() == models
    assert exports.counts["rows_filtered"] == 3 - len(models)
    assert exports.problems == []


def test_lines_count_line_breaks_in_cells_and_blank_lines(write):
    path = write(
        '\nmodel,dataset,metric,"seed",score\n\nA,"d\n1\n",acc,1,0.5\n\n\nB,"d\r\n2",acc,1,0.5\n'
    )
    exports = read_exports([path])
    assert rows(exports, "model", "dataset", "line") == [("A", "d\n1", 4), ("B", "d\r\n2", 9)]


def test_the_metric_of_a_dataset_wins_over_that_of_the_study_and_that_over_the_file(write):
    path = write(LONG + "A,d2,acc,1,0.5\n")
    assert set(read_exports([path]).runs["metric"]) == {"acc"}
    assert set(read_exports([path], metric="F1").runs["metric"]) == {"F1"}
    exports = read_exports([path], metric="F1", dataset_metrics={"d2": "RMSE"})
    assert rows(exports, "dataset", "metric") == [("d1", "F1"), ("d1", "F1"), ("d2", "RMSE")]


def test_a_configured_metric_that_the_file_says_otherwise_of_is_a_warning(write):
    path = write(LONG + "A,d2,RMSE,1,0.5\nB,d2,RMSE,1,0.5\n")
    (problem,) = read_exports([path], metric="Accuracy").problems
    assert (problem.code, problem.severity) == ("overruled_metric", "warning")
    assert (problem.line, problem.column, problem.value) == (4, "metric", "RMSE")
    assert problem.reason == (
        "The configuration says that the metric is 'Accuracy', the file says 'RMSE'."
    )
    (problem,) = read_exports([path], dataset_metrics={"d1": "F1"}).problems
    assert (problem.line, problem.value) == (2, "acc")


MATRIX = "name,pretrained,size,d1,d2\nViT,openai,86,0.5,\nViT,laion,86,60%,0.25\n"
WIDE = {"model": ["name", "pretrained"], "ignore": ["size"]}


def test_a_matrix_has_a_run_per_filled_cell(write):
    exports = read_exports([write(MATRIX)], layout="matrix", columns=WIDE, metric="acc")
    assert rows(exports, *SHOWN, "column") == [
        ("ViT / openai", "d1", "acc", "", 0.5, "0.5", 2, "d1"),
        ("ViT / laion", "d1", "acc", "", 0.6, "60%", 3, "d1"),
        ("ViT / laion", "d2", "acc", "", 0.25, "0.25", 3, "d2"),
    ]
    assert +exports.counts == {"rows": 2, "rows_empty_score": 1}
    assert exports.problems == []


LONG = "model,dataset,metric,seed,score\nA,d1,acc,1,0.5\nB,d1,acc,2,0.25\n"


def append(row):
    return LONG + row + "\n"


def test_all_problems_of_all_files_are_told_at_once(write):
    first = write(append("C,d1,acc,3,abc\nD,d1,acc,4\n,d1,acc,5,inf"), "first.csv")
    second = write(LONG.replace("score", "scor"), "second.csv")
    absent = str(write(LONG, "absent.csv")) + ".gone"
    exports = read_exports([first, second, absent])
    assert sorted((problem.source, problem.code) for problem in exports.problems) == sorted(
        [
            (first, "wrong_width"),
            (first, "empty_model"),
            (first, "not_a_number"),
            (first, "nan_score"),
            (second, "missing_column"),
            (absent, "unreadable_file"),
        ]
    )
    assert [file["path"] for file in exports.files] == [first, second]
    assert [file["rows"] for file in exports.files] == [5, 0]


def test_an_empty_seed_among_seeds_is_a_warning(write):
    exports = read_exports([write(append("C,d1,acc,,0.5"))])
    problem = only_problem(exports)
    assert place(problem) == ("empty_seed", 4, "", "")
    assert problem.severity == "warning"
    assert exports.runs["seed"].tolist() == ["1", "2", ""]


def test_a_seed_column_that_is_not_read_is_a_warning(write):
    problem = only_problem(read_exports([write(LONG.replace("seed", "Seed"))]))
    assert (problem.code, problem.column, problem.severity) == ("unread_seed", "Seed", "warning")


def test_a_quote_that_swallows_a_large_file_is_found_where_it_opens(write):
    exports = read_exports([write(append('C,d1,acc,"3,0.5') + "D,d1,acc,4,0.5\n" * 100_000)])
    assert place(only_problem(exports)) == ("unclosed_quote", 4, "", "")


def test_another_encoding_far_into_the_file_is_told(write):
    # After an odd number of bytes, every block of 4 MiB ends within one of the two-byte letters.
    odd = LONG.encode() + b"\n" * (1 - len(LONG) % 2)
    content = odd + "Ü".encode() * 5_000_000 + b"\xff"
    problem = only_problem(read_exports([write(content)]))
    assert (problem.code, problem.value) == ("wrong_encoding", "0xff")
    assert f"byte {len(content)} " in problem.reason


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("model,P,Q,R\nA,.1,,\nB,.2,,\n", {}, []),
        ("model,P,Q\nA,.1,\n", {"datasets": ["P", "Q"]}, ["Q"]),
        ("model,dataset,f1,acc\nA,P,.1,\n", {"score": ["f1", "acc"]}, ["acc"]),
        ("model,dataset,f1,acc\nA,P,.1,\nA,Q,,.2\n", {"score": ["f1", "acc"]}, []),
    ],
)
def test_a_listed_column_without_scores_is_told(write, text, columns, expected):
    layout = "long" if "score" in columns else "matrix"
    options = {} if "score" in columns else {"metric": "acc"}
    exports = read_exports([write(text)], layout=layout, columns=columns, **options)
    assert [problem.column for problem in exports.problems] == expected
    assert {problem.code for problem in exports.problems} <= {"empty_column"}


def test_a_filter_may_match_in_another_file_only(write):
    first, second = write(LONG, "1.csv"), write(LONG.replace("A", "C"), "2.csv")
    exports = read_exports([first, second], where={"model": ["A", "C"]})
    assert exports.problems == []
    assert exports.runs["model"].tolist() == ["A", "C"]


def test_a_column_to_ignore_that_no_file_has_is_told(write):
    path = write("model,cost,d1\nA,86,0.5\n")
    columns = {"ignore": ["csot"]}
    problem = only_problem(read_exports([path], layout="matrix", columns=columns, metric="acc"))
    assert (problem.code, problem.column) == ("missing_column", "csot")
    assert "'cost'" in problem.remedy


@pytest.mark.parametrize("name", ["\u200b", " \u200b\ufeff ", "\u2060\u00ad"])
def test_a_name_of_invisible_characters_is_empty(write, name):
    read = read_exports([write(f"model,dataset,metric,score\n{name},D,f1,0.5\nA\u200b,D,f1,1\n")])
    assert [(item.code, item.line) for item in read.problems] == [("empty_model", 2)]
    assert read.runs["model"].to_list() == ["A\u200b"]


def test_nested_names_and_scores_are_empty(write):
    run = {"model": "A", "dataset": "D", "metric": "f1", "seed": 1, "score": 0.5}
    records = [run, run | {"model": ["a"]}, run | {"score": {"x": 0.5}}, run | {"score": [0] * 101}]
    read = read_exports([write("\n".join(map(json.dumps, records)), "runs.jsonl")])
    codes = [("empty_model", 2), ("empty_score", 3), ("empty_score", 4)]
    assert sorted((problem.code, problem.line) for problem in read.problems) == codes


def make_book(*rows):
    """Make the content of a workbook of some rows."""
    cells = {
        f"{letter}{number}": cell
        for number, row in enumerate(rows, 1)
        for letter, cell in zip("ABCDEFGH", row, strict=False)
        if cell != ""
    }
    content = io.BytesIO()
    make_xlsx(content, {"Results": cells})
    return content.getvalue()


TSC = "dataset,ROCKET,TSF\nACSF1,0.891(0.031),0.633(0.040)\nAdiac,0.783(0.009),0.723(0.011)\n"
TURNED = "task;A;B;C\nd1;0,91;0,89;0,5\nd2;0,7;0,6;0,8\nAverage;0,805;0,745;0,65\n"
DOMAINBED = [
    {
        "args": {"algorithm": name, "dataset": "PACS", "trial_seed": 0},
        "env0_in_acc": acc,
        "env1_out_acc": chosen,
        "step": step,
    }
    for name in ("ERM", "IRM")
    for step, acc, chosen in ((0, 0.5, 0.6), (300, 0.7, 0.9), (600, 0.8, 0.85))
]
# What a study says, its files, and model, dataset, seed and score of its first and last run.
CASES = {
    "Atari scores per game": (
        """
        exports: scores/{model}_atari.json
        reading: {records: "{dataset}.{seed}"}
        metric: return
        metrics: {return: {direction: max, low: 0, high: 1000}}
        """,
        {
            "scores/DQN_atari.json": json.dumps({"Alien": [100.5, 200], "Pong": [3, 4]}),
            "scores/PPO_atari.json": json.dumps({"Alien": [90, 80.25], "Pong": [5, 6]}),
        },
        8,
        [("DQN", "Alien", "0", 100.5), ("PPO", "Pong", "1", 6)],
    ),
    "reports in folders": (
        """
        exports: exp/{model}/{dataset}/*-evaluation/{seed}/report.json
        columns: {score: metrics.test.accuracy}
        metric: accuracy
        """,
        {
            f"exp/{model}/{dataset}/0-evaluation/{seed}/report.json": json.dumps(
                {"config": {"lr": 0.1}, "metrics": {"test": {"accuracy": 0.5 + seed / 10}}}
            )
            for model in ("mlp", "xgb")
            for dataset in ("adult", "house")
            for seed in range(2)
        },
        8,
        [("mlp", "adult", "0", 0.5), ("xgb", "house", "1", 0.6)],
    ),
    "mean and deviation in brackets": (
        """
        exports: tsc.csv
        format: matrix
        columns: {dataset: dataset, score: "{model}"}
        summary: {runs: 3}
        metric: accuracy
        """,
        {"tsc.csv": TSC},
        12,
        [("ROCKET", "ACSF1", "1", 0.86), ("TSF", "Adiac", "3", 0.734)],
    ),
    "datasets in rows with an average": (
        """
        exports: turned.csv
        format: matrix
        columns: {dataset: task}
        select: {datasets: {exclude: [Average]}}
        metric: accuracy
        """,
        {"turned.csv": TURNED},
        9,
        [("A", "Average", "", 0.805), ("C", "d2", "", 0.8)],
    ),
    "scores of algorithms without header": (
        """
        exports: cd/{model}.dat
        reading: {names: [dataset, score], comment: "%"}
        metric: accuracy
        """,
        {
            "cd/nb.dat": "% made by hand\niris 0.9\nglass  0.5\n",
            "cd/svm.dat": "iris 1.0\nglass 0.6\n",
        },
        4,
        [("nb", "glass", "", 0.5), ("svm", "iris", "", 1.0)],
    ),
    "logs of training": (
        """
        exports: logs/{dataset}/{model}-s{seed}.tsv
        reading: {names: [step, score]}
        columns: {step: step}
        take: last
        metric: return
        metrics: {return: {direction: max, low: 0, high: 100}}
        """,
        {
            f"logs/{game}/{model}-s{seed}.tsv": f"200\t30\n100\t20\n300\t4{seed}.5\n"
            for game in ("Ant", "Hopper")
            for model in ("SAC", "TD3")
            for seed in range(2)
        },
        8,
        [("SAC", "Ant", "0", 40.5), ("TD3", "Hopper", "1", 41.5)],
    ),
    "seeds in columns": (
        """
        exports: seeds.csv
        columns: {score: "acc_seed{seed}"}
        fields: {dataset: cifar10}
        metric: accuracy
        """,
        {"seeds.csv": "model,acc_seed0,acc_seed1\nA,91.2%,90.9%\nB,80%,\n"},
        3,
        [("A", "cifar10", "0", 0.912), ("B", "cifar10", "0", 0.8)],
    ),
    "workbook with two header rows": (
        """
        exports: table.xlsx
        header_rows: 2
        columns: {model: Method, score: "{dataset} / {metric}"}
        where: {metric: accuracy}
        """,
        {
            "table.xlsx": make_book(
                ["Method", "PASTIS", "", "OSCD", ""],
                ["", "accuracy", "f1", "accuracy", "f1"],
                ["A", 0.5, 0.4, 0.6, 0.3],
                ["B", 0.25, 0.4, 0.75, 0.3],
            )
        },
        4,
        [("A", "OSCD", "", 0.6), ("B", "PASTIS", "", 0.25)],
    ),
    "steps chosen on validation data": (
        """
        exports: sweep/*/results.jsonl
        preset: domainbed
        """,
        {"sweep/1/results.jsonl": "\n".join(map(json.dumps, DOMAINBED))},
        2,
        [("ERM", "PACS", "0", 0.7), ("IRM", "PACS", "0", 0.7)],
    ),
}


def check_study(text):
    """Read and validate the exports of a study from its settings, without any error."""
    config = check_configuration({"studies": {"s": yaml.safe_load(text)}})
    read, result = read_exports_of(config, "s")
    assert result.errors == []
    return read, result


def read_study(text):
    """Read the runs of a study."""
    return unpack_columns(check_study(text)[1].runs)


def write_files(files, folder):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("case", CASES)
def test_exports_are_read_by_configuration_alone(case, tmp_path, monkeypatch):
    text, files, count, ends = CASES[case]
    monkeypatch.chdir(tmp_path)
    settings = yaml.safe_load(text)
    settings["incomplete"] = "adjust"
    write_files(files, tmp_path)
    runs = read_study(yaml.safe_dump(settings))
    assert len(runs) == count
    found = runs[["model", "dataset", "seed", "score"]].iloc[[0, -1]]
    for row, expected in zip(found.itertuples(index=False, name=None), ends, strict=True):
        assert row[:3] == expected[:3]
        assert row[3] == pytest.approx(expected[3], abs=1e-12)


@pytest.mark.parametrize(
    ("exports", "message"),
    [
        ("runs/{model}/{seed}.csv", "runs/a/x-y.txt"),
        ("runs/{model}/{seed,[0-9]+}.txt", "runs/a/x-y.txt lies where"),
        ("runs/a/{model}-{model}.txt", "runs/a/x-y.txt lies where"),
        ("runs/{model}/{x y}.txt", "no field"),
    ],
)
def test_a_file_that_does_not_match_is_told(exports, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files({"runs/a/x-y.txt": ""}, tmp_path)
    with pytest.raises(Exception, match=r"studies\.s\.exports: ") as caught:
        check_configuration({"studies": {"s": {"exports": exports}}})
    assert message in str(caught.value)


def read_scores(path, *cells, **options):
    """Read cells as the scores of models on one dataset."""
    text = io.StringIO()
    rows = [(f"m{number}", "d", "acc", cell) for number, cell in enumerate(cells)]
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("model", "dataset", "metric", "score"), *rows])
    path.write_text(text.getvalue())
    return read_exports([str(path)], **options)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_score"),
        (" \u00a0", "empty_score"),
        ('""', "empty_score"),
        ("NaN", "nan_score"),
        ("-nan", "nan_score"),
        ("N/A", "empty_score"),
        ("None", "empty_score"),
        ("Infinity", "nan_score"),
        ("-inf", "nan_score"),
        ("1e400", "nan_score"),
        ("abc", "not_a_number"),
        ("0.9 ± 0.1", "not_a_number"),
        ("1_000", "not_a_number"),
        ("\uff11", "not_a_number"),
        ("0x1F", "not_a_number"),
        ("1.2.3", "not_a_number"),
        ("1,2,3", "not_a_number"),
        ("12 34", "not_a_number"),
        ("9e1%", "not_a_number"),
        ("%", "not_a_number"),
        (".", "not_a_number"),
        ("=1+1", "not_a_number"),
        ("1,234", "ambiguous_number"),
    ],
)
def test_what_is_no_finite_number_has_its_own_code(text, code, tmp_path):
    for others in (["1"], ["0.5"]):
        found = read_scores(tmp_path / "runs.csv", text, *others)
        assert [problem.code for problem in found.problems] == [code]


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FLOATS, min_size=1))
def test_every_float_comes_back_exactly(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("floats") / "runs.csv"
    assert read_scores(path, *map(repr, values)).runs["score"].tolist() == values


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
def test_a_spread_in_units_of_the_last_digit_is_ambiguous(tmp_path, text):
    summary = {"runs": 3, "spread": "std"}
    for other, codes in {text: ["ambiguous_spread"], "0.91 (0)": [], "91 (2)": []}.items():
        found = read_scores(tmp_path / "runs.csv", other, "1", summary=summary)
        assert [problem.code for problem in found.problems] == codes
