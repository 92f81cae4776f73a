"""Exports of structures that people have, read by configuration alone."""

import io
import json

import pytest
import yaml

from capmap.artifacts import unpack_columns
from capmap.inputs.studies import Study, check_config, list_exports
from capmap.validation.study import check_exports
from tests.workbooks import make_xlsx


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
    settings = check_config({"studies": {"s": yaml.safe_load(text)}})["studies"]["s"]
    found = list_exports(Study("s", settings))
    read, result = check_exports(
        found, names=found, patterns=settings["exports"], settings=settings
    )
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
    settings = check_config({"studies": {"s": {"exports": exports}}})["studies"]["s"]
    with pytest.raises(Exception, match=r"^studies\.s\.exports: ") as caught:
        list_exports(Study("s", settings))
    assert message in str(caught.value)
