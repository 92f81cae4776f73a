"""The names that a study gives to models and datasets hold in all that is made of its exports."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap import wording
from capmap.errors import ValidationError
from capmap.validation.configuration import rename_runs
from tests.unit.test_checkpoints import HEADER
from tests.unit.test_checkpoints import run as run_checkpoints
from tests.unit.test_multilabel import make_study
from tests.unit.test_validate import run, write

TABLE = "model,dataset,seed,score\na,D,0,0.1\na,E,0,0.2\nb,D,0,0.3\nb,E,0,0.4\n"
METRICS = {"metric": "", "metrics": {}, "decimal": "."}
NAMES = st.dictionaries(st.sampled_from("abcxyz"), st.sampled_from("abcxyz"), max_size=4)


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
