"""Benchmarks as data."""

import json
from pathlib import Path

import pytest

from capmap import benchmarks
from capmap.errors import ConfigError

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "data/benchmarks/geobench2.yaml"
SHARED = ROOT.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared files are not here")
SMALL = "datasets: {a: {metric: accuracy, direction: max}}\n"


def read(folder, text):
    path = folder / "benchmark.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return benchmarks.read_benchmark(str(path))


def test_a_definition_needs_datasets_only(tmp_path):
    benchmark = read(tmp_path, SMALL)
    assert benchmark == benchmarks.Benchmark(
        datasets={"a": {"metric": "accuracy", "direction": "max"}}
    )


def test_the_shipped_definition_is_described_throughout():
    benchmark = benchmarks.read_benchmark(str(SHIPPED))
    assert benchmark.title == "GEO-Bench-2"
    assert all(dataset.description.endswith(".") for dataset in benchmark.datasets.values())
    assert next(iter(benchmark.dimensions)) == "Core"
    # 1 − RMSE · 0.2538 is how the leaderboard stores the errors of its only regression.
    assert benchmark.datasets["biomassters"].model_dump()["transform"] == {
        "scale_rmse": {"std": 0.2537951171398163}
    }


@needs_shared
def test_the_shipped_definition_holds_the_published_lists():
    benchmark = benchmarks.read_benchmark(str(SHIPPED))
    lists = json.loads((SHARED / "reference/geobench/benchmark.json").read_text("utf-8"))
    models = json.loads((SHARED / "data/geobench/model_info.json").read_text("utf-8"))
    placeholders = {"TBD", ""}
    assert {
        name: {"metric": dataset.metric, "direction": dataset.direction}
        for name, dataset in benchmark.datasets.items()
    } == lists["datasets"]
    assert benchmark.dimensions == lists["dimensions"]
    for key, field in (("BACKBONE_NAMES", "name"), ("MODEL_SIZE", "size")):
        shown = {name: getattr(model, field) for name, model in benchmark.models.items()}
        published = {name: text for name, text in models[key].items() if name not in placeholders}
        assert shown == published


def test_all_faults_of_the_keys_are_told_at_once_with_file_and_key(tmp_path):
    text = """\
titel: x
datasets: {a: {metric: accuracy, direction: up}, b: {direction: max}}
models: {m: {nmae: M}}
"""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{tmp_path / 'benchmark.yaml'}: ") for line in lines)
    for part in ('titel: unknown key. Did you mean "title"?', "a.direction", "b.metric", "m.nmae"):
        assert any(part in line for line in lines), part


def test_all_faults_of_dimensions_are_told_at_once(tmp_path):
    text = SMALL + "dimensions: {All: [a], 'Near by': [aa, zzz]}\n"
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    first, second, third = str(caught.value).splitlines()
    assert "dimensions.All: all datasets together are called so" in first
    assert "dimensions.\"Near by\": there is no dataset 'aa'. Did you mean 'a'?" in second
    assert "there is no dataset 'zzz'. Known are 'a'." in third


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "expected a section"),
        ("- a\n", "expected a section"),
        ("datasets: {a: [", "did not find expected node content"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        ("!!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
        (SMALL + "dimensions: {Core: [a, a]}\n", '"a" is listed twice'),
        (SMALL + SMALL, "the key 'datasets' stands twice, first at line 1"),
        ("datasets: {}\n", "must not be empty"),
        ("datasets: {1: {metric: a, direction: max}}\n", "datasets"),
    ],
)
def test_what_is_no_definition_is_refused_in_words(tmp_path, text, part):
    with pytest.raises(ConfigError, match=r"benchmark\.yaml[,:] ") as caught:
        read(tmp_path, text)
    assert part in str(caught.value)


def test_an_absent_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        benchmarks.read_benchmark(str(tmp_path / "none.yaml"))


def test_rules_of_the_study_win_over_those_of_the_benchmark():
    metrics = {"a": "accuracy", "b": "RMSE", "c": "accuracy"}
    datasets = {name: {"metric": metric, "direction": "max"} for name, metric in metrics.items()}
    benchmark = benchmarks.Benchmark(datasets=datasets)
    transform = {"scale_rmse": {"std": 0.25}}
    own = {"a": {"metric": "F1"}, "b": {"transform": transform}, "z": {"low": 0}}
    assert benchmarks.complete_rules(own, benchmark, ["b", "a", "other"]) == {
        "a": {"metric": "F1", "direction": "max"},
        # The transform says which converted score is better.
        "b": {"metric": "RMSE", "transform": transform},
        "z": {"low": 0},
    }
    assert benchmarks.complete_rules(own, None, ["a"]) == own
