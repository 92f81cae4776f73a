"""The registry of metrics: names, directions and natural bounds."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap import benchmarks, metrics, wording
from capmap.errors import ConfigError, ValidationError
from capmap.validation.contradictions import rename_runs
from tests.unit.test_checkpoints import HEADER
from tests.unit.test_checkpoints import run as run_checkpoints
from tests.unit.test_multilabel import make_study
from tests.unit.test_validate import run, write

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "data/benchmarks/geobench2.yaml"
SHARED = ROOT.parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared files are not here")
SMALL = "datasets: {a: {metric: accuracy, direction: max}}\n"
TABLE = "model,dataset,seed,score\na,D,0,0.1\na,E,0,0.2\nb,D,0,0.3\nb,E,0,0.4\n"
METRICS = {"metric": "", "metrics": {}, "decimal": "."}
NAMES = st.dictionaries(st.sampled_from("abcxyz"), st.sampled_from("abcxyz"), max_size=4)


def find(name):
    metric = metrics.find_metric(name)
    assert metric is not None, name
    return metric


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Overall_Accuracy", "accuracy"),
        ("OA", "accuracy"),
        ("Top-1", "accuracy"),
        ("Balanced-Accuracy", "balanced accuracy"),
        ("Multilabel_F1_Score", "F1"),
        ("macro_f1", "F1"),
        ("Multiclass_Jaccard_Index", "IoU"),
        ("mIoU", "IoU"),
        ("average_precision", "AP"),
        ("ROC AUC", "AUROC"),
        ("R²", "R2"),
        ("r2_score", "R2"),
        ("Cohen's Kappa", "kappa"),
        ("root_mean_squared_error", "RMSE"),
        ("rouge-L", "ROUGE"),
        ("NDCG@10", "NDCG"),
        ("recall_at_5", "recall"),
        ("val/acc", "accuracy"),
        ("eval_loss_cross_entropy", None),
        ("quality", None),
        ("raw_score", None),
        ("1 - RMSE", None),
        ("1-AUC", None),
        ("100-accuracy", None),
        ("accuracy drop", None),
        ("test", None),
        ("", None),
        ("±", None),
    ],
)
def test_names_are_found_without_case_and_separators(name, known):
    metric = metrics.find_metric(name)
    assert (metric.name if metric else None) == known


@pytest.mark.parametrize(
    ("name", "direction", "low", "high"),
    [
        ("accuracy", "max", 0, 1),
        ("R2", "max", None, 1),
        ("MCC", "max", -1, 1),
        ("RMSE", "min", 0, None),
        ("ECE", "min", 0, 1),
        ("perplexity", "min", 1, None),
        ("NLL", "min", None, None),
        ("PSNR", "max", None, None),
        ("BLEU", "max", None, None),
        ("ROUGE-2", "max", None, None),
        ("WER", "min", 0, None),
    ],
)
def test_direction_and_bounds_are_those_of_the_definition(name, direction, low, high):
    metric = find(name)
    assert (metric.direction, metric.low, metric.high) == (direction, low, high)


@pytest.mark.parametrize(
    "name", ["-RMSE", "\u2212rmse", "neg_root_mean_squared_error", "test_neg_rmse"]
)
def test_a_minus_turns_the_metric_around(name):
    metric = find(name)
    assert (metric.direction, metric.low, metric.high) == ("max", None, 0.0)


def test_a_negative_that_belongs_to_the_name_does_not_turn_it_around():
    assert find("test_negative_log_likelihood").direction == "min"
    assert find("negative predictive value").direction == "max"
    assert find("-log_likelihood").direction == "min"


def test_no_name_stands_for_two_metrics():
    names = [
        metrics.canonical_name(n)
        for metric in metrics.METRICS
        for n in (metric.name, *metric.aliases)
    ]
    assert sorted(names) == sorted(set(names))


def test_a_misspelt_name_is_answered_with_the_nearest_known_one():
    assert metrics.suggest("acuracy") == "accuracy"
    assert metrics.suggest("Jacard_Index") == "jaccard index"
    assert metrics.suggest("wholly different") is None


@settings(max_examples=100)
@given(st.sampled_from([n for m in metrics.METRICS for n in (m.name, *m.aliases)]), st.randoms())
def test_every_alias_is_found_whatever_its_case_and_separators(alias, random):
    noisy = "".join(random.choice([c.upper(), c.lower()]) for c in alias)
    noisy = f" {noisy.replace(' ', random.choice(['_', '-', '/', '  ']))}\t"
    assert find(noisy) == find(alias)


def read(folder, text):
    path = folder / "benchmark.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return benchmarks.read_benchmark(str(path))


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


def make_runs(models: str) -> pd.DataFrame:
    return pd.DataFrame({"model": [*models], "dataset": "D"})


@given(NAMES, st.text("abcxyz", max_size=8))
def test_different_models_stay_different_and_the_others_keep_their_names(
    names: dict[str, str], models: str
) -> None:
    if len({*names.values()}) < len(names):
        return  # refused before anything is read
    renamed, problems = rename_runs(make_runs(models), names)
    refused = {problem.value for problem in problems}
    if not refused:
        assert renamed["model"].nunique() == len({*models})
    for old, new in zip(models, renamed["model"], strict=True):
        assert new == (names.get(old, old) if old not in refused else old)


def test_rules_of_datasets_use_the_new_names_and_bounds_either(tmp_path: Path) -> None:
    bounds = tmp_path / "bounds.json"
    bounds.write_text('{"D": [0, 1]}')
    runs, summary = run(
        tmp_path,
        exports=write(tmp_path, TABLE),
        datasets={"new": {"metric": "accuracy"}, "E": {"metric": "f1"}},
        normalization={"references": str(bounds)},
        renamed={"D": "new", "a": "Model A"},
        **METRICS,
    )
    assert set(runs["model"]) == {"Model A", "b"}
    assert runs.groupby("dataset")["metric"].first().to_dict() == {"new": "accuracy", "E": "f1"}
    assert summary["counts"]["runs"] == 4
    assert wording.rename_keys({"D": 1, "E": 2}, {"D": "new"}) == {"new": 1, "E": 2}
    assert wording.rename_keys({"new": 1}, {"D": "new"}) == {"new": 1}
    assert wording.list_metrics({"new": {"metric": "rmse"}, "E": {}}, {"D": "new"}) == {"D": "rmse"}


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        ({"D": "E"}, {}, "figures.names would call 'D' as another one is called, 'E'"),
        ({"Dd": "x"}, {}, "'Dd', which is not in the exports. Did you mean 'D'?"),
        (
            {"a": "A"},
            {"select": {"models": ["a"]}},
            "select.models names the model 'a', which is not in the data",
        ),
    ],
)
def test_a_name_that_cannot_be_given_or_used_is_told(
    tmp_path: Path, names: dict[str, str], settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ValidationError, match=message.replace("?", r"\?")):
        run(
            tmp_path,
            exports=write(tmp_path, TABLE),
            renamed=names,
            **{**METRICS, "metric": "accuracy", **settings},
        )


def test_checkpoints_have_the_new_names_in_values_and_runs(tmp_path: Path) -> None:
    splits = zip(("validation", "test"), (0.1, 0.2), strict=True)
    lines = "".join(f"m,t,step=1,D,accuracy,{split},{value}\n" for split, value in splits)
    path = write(tmp_path, HEADER + lines)
    values, runs, _ = run_checkpoints(tmp_path, path, renamed={"m": "Mine", "D": "New"})
    for table in (values, runs):
        assert set(table["model"]) == {"Mine"}
        assert set(table["dataset"]) == {"New"}


def test_predictions_have_the_new_names_in_outcomes_metrics_and_facts(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    facts = study.evaluate(
        renamed={"good": "Good", "V1": "ImageNet"},
        subgroups={"ImageNet": [1, 2], "ML": [1, 2]},
    )
    cells = {(fact["model"], fact["dataset"]) for fact in facts["dumps"]}
    assert cells == {(model, name) for model in ("Good", "poor") for name in ("ImageNet", "ML")}
    for folder in ("outcomes", "scores"):
        table = pd.concat(map(pd.read_parquet, study.list_files(folder)))
        assert set(zip(table["model"], table["dataset"], strict=True)) == cells
