"""Training on some types or families of datasets, and predicting the others."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capmap.capabilities import transfer as transfers
from capmap.capabilities.baselines import fit_additive
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.gaps import Results, arrange_results
from capmap.capabilities.halves import Fitting
from capmap.capabilities.transfer import choose_types, list_sizes, measure_transfer
from capmap.rng import make_stream
from tests.capability_tables import list_cells, make_gaps, simulate_results, write_inputs
from tests.steps import read_step, run_step


def measure(
    results: Results,
    *,
    types: list[str] | None = None,
    families: list[str] | None = None,
    method: str = "l2",
    starts: int = 1,
) -> pd.DataFrame:
    drawn = draw_starts(results, dimension=2, starts=starts, seed=0, study="toy")
    return measure_transfer(
        results,
        types=types or [""] * len(results.datasets),
        families=families or results.datasets,
        fitting=Fitting(METHODS[method], drawn),
        confidence_level=0.9,
        make_rng=partial(make_stream, 0, "toy"),
    )


def simulate_space(*, shared: bool, seed: int = 0) -> Results:
    """Six datasets of a space in the plane, and six of the same or of another one.

    Gaps are differences from effects, so that additive effects tell nothing: the means of models
    and datasets are 0 apart from noise.
    """
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 25, 2))
    angles = np.linspace(0, np.pi, 6, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    blocks = [first @ directions.T, (first if shared else second) @ (directions[::-1]).T]
    return arrange_results(list_cells(np.hstack(blocks) + 0.1 * rng.normal(size=(25, 12))))


def test_types_with_enough_datasets_are_chosen_the_largest_first() -> None:
    types = [name for place, name in enumerate("hgfedcba") for _ in range(4 + place)]
    # h has four datasets; of the seven others the six with the most are a to f.
    assert choose_types([*types, *[""] * 30]) == list("abcdef")
    assert choose_types(["b"] * 5 + ["a"] * 5 + ["c"] * 4) == ["a", "b"]
    assert choose_types([]) == []


def test_numbers_of_families_double_up_to_all() -> None:
    assert [list_sizes(number) for number in (1, 5, 6)] == [[1], [5], [5, 6]]
    assert list_sizes(100) == [5, 10, 20, 40, 80, 100]


@pytest.mark.slow
def test_training_on_another_type_helps_when_its_space_is_shared() -> None:
    types = ["one"] * 6 + ["two"] * 6
    for shared in (True, False):
        table = measure(simulate_space(shared=shared), types=types)
        table = table[table["kind"] == "types"].set_index("trained_on")
        row = table.loc["one other type"]
        # There is only one other type, so that training on it is training on all.
        assert row["mse"] == table.loc["all other datasets", "mse"] == row["mse_all"]
        if shared:
            assert row["difference_high"] < 0
            assert row["mse"] < 0.8 * row["mse_alone"]
        else:
            assert row["difference"] > -0.1 * row["mse_alone"]


@pytest.mark.slow
def test_more_families_predict_the_others_better() -> None:
    cells = simulate_results(30, 32, dimension=2, share=0.5, noise=0.02).cells
    table = measure(arrange_results(cells), method="bilinear")
    assert table["kind"].unique().tolist() == ["families"]
    assert table["trained_on"].tolist() == [f"{n} families" for n in (5, 10, 20, 24)]
    assert table["mse"].is_monotonic_decreasing
    assert table["mse"].iloc[-1] == table["mse_all"].iloc[-1]
    # All sizes are tested on the same results, so what they are compared with is the same.
    for name in ("predictions", "mse_alone", "mse_all", "models", "datasets"):
        assert len(set(table[name])) == 1
    assert table["train_results"].is_monotonic_increasing
    np.testing.assert_allclose(table["difference"], table["mse"] - table["mse_alone"])


@pytest.mark.slow
def test_types_are_listed_by_name_and_counted() -> None:
    # 4 models on 18 datasets: 5 of type b, 6 of a, 5 of c, and 2 of a type with too few.
    scores = np.random.default_rng(0).normal(size=(4, 18))
    types = ["b"] * 5 + ["a"] * 6 + ["c"] * 5 + ["d"] * 2
    table = measure(arrange_results(list_cells(scores)), types=types)
    pairs = table[table["kind"] == "type"]
    expected = [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c"), ("c", "a"), ("c", "b")]
    assert list(zip(pairs["trained_on"], pairs["tested_on"], strict=True)) == expected
    # Without empty cells each result of the tested type is predicted.
    assert pairs["predictions"].tolist() == [20, 20, 24, 20, 24, 20]
    assert pairs["datasets"].tolist() == [5, 5, 6, 5, 6, 5]
    assert pairs["train_results"].tolist() == [24, 24, 20, 20, 20, 20]
    both = table[table["kind"] == "types"]
    assert both["trained_on"].tolist() == ["one other type", "all other datasets"]
    assert both["predictions"].tolist() == [64, 64]
    # Pairs: (24 + 4 · 20 + 24) / 6. The rest also has the two datasets of d: (48 + 52 + 52) / 3.
    assert both["train_results"].tolist() == [round(128 / 6), round(152 / 3)]
    # Each result is predicted from two other types, and counts once.
    weighted = (pairs["mse"] * pairs["predictions"]).sum() / 128
    assert both["mse"].iloc[0] == pytest.approx(weighted)


def record_masks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, np.ndarray]]:
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    def record(_, known: np.ndarray, hidden: np.ndarray, **__) -> np.ndarray:
        seen.append((known, hidden))
        return np.zeros(int(hidden.sum()))

    monkeypatch.setattr(transfers, "predict_hidden", record)
    return seen


def test_a_family_is_never_known_of_a_model_where_it_is_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = record_masks(monkeypatch)
    results = arrange_results(simulate_results(12, 20, share=0.6).cells)
    # The families 0 to 3 have datasets of all three types.
    families = [str(place % 6 if place % 6 < 4 else place) for place in range(20)]
    types = ["one"] * 6 + ["two"] * 6 + ["z"] * 8
    table = measure(results, types=types, families=families)
    family = np.array(families)[results.columns]
    for known, hidden in seen:
        assert not (known & hidden).any()
        pairs = [set(zip(results.rows[m], family[m], strict=True)) for m in (known, hidden)]
        assert not pairs[0] & pairs[1]
    # Type one comes first, each half alone and with all others, two and z.
    tested = np.any([hidden for _, hidden in seen[: 8 * transfers.HALVINGS]], axis=0)
    row = table[(table["trained_on"] == "two") & (table["tested_on"] == "one")].iloc[0]
    assert row["mse"] == pytest.approx((results.gaps[tested] ** 2).mean())


def test_families_are_trained_on_beside_the_tested_quarter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = record_masks(monkeypatch)
    results = arrange_results(list_cells(np.random.default_rng(0).normal(size=(4, 24))))
    families = [f"family {place // 2}" for place in range(24)]
    measure(results, families=families)
    family = np.array(families)[results.columns]
    draws = []
    # Of 12 families 3 are tested and 9 trained on: per half alone, all and 5; all is also 9.
    for alone, every, five in zip(seen[::3], seen[1::3], seen[2::3], strict=True):
        tested = set(family[alone[1]])
        counts = [len(set(family[known]) - tested) for known, _ in (alone, five, every)]
        assert (len(tested), counts) == (3, [0, 5, 9])
        draws.append(frozenset(tested))
    assert len(draws) == 2 * transfers.DRAWS
    assert len(set(draws)) > 1


def test_all_predictions_of_a_pair_are_of_the_same_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = record_masks(monkeypatch)
    scores = np.random.default_rng(0).normal(size=(6, 10))
    results = arrange_results(list_cells(scores))
    table = measure(results, types=["one"] * 5 + ["two"] * 5)
    row = table[(table["trained_on"] == "two") & (table["tested_on"] == "one")].iloc[0]
    # With predictions of 0, all maps err alike; the baseline sees the same as the map of both.
    assert row["mse"] == row["mse_alone"] == row["mse_all"]
    assert row["difference"] == 0
    errors = []
    first = seen[: 4 * transfers.HALVINGS]
    for (alone, hidden), (every, again) in zip(first[::2], first[1::2], strict=True):
        assert (hidden == again).all()
        assert not (alone & (results.columns >= 5)).any()
        assert (every == alone | (results.columns >= 5)).all()
        test = results.choose(hidden)
        predicted = fit_additive(results.choose(every)).predict(test.rows, test.columns)
        errors.append((predicted - test.gaps) ** 2)
    assert row["mse_additive"] == pytest.approx(np.concatenate(errors).mean())


@pytest.mark.slow
def test_models_without_results_on_the_type_trained_on_are_not_tested() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 10))
    scores[:2, :5] = np.nan
    table = measure(arrange_results(list_cells(scores)), types=["one"] * 5 + ["two"] * 5)
    tested = table[(table["kind"] == "type") & (table["tested_on"] == "two")].iloc[0]
    assert (tested["models"], tested["predictions"]) == (4, 20)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 6), (3, 10)])
@pytest.mark.parametrize("is_typed", [True, False])
def test_tiny_studies_are_measured(method: str, shape: tuple[int, int], is_typed: bool) -> None:
    scores = np.arange(shape[0] * shape[1]).reshape(shape) % 4
    types = ["one" if place < 5 else "two" for place in range(shape[1])] if is_typed else None
    table = measure(arrange_results(list_cells(scores)), types=types, method=method)
    assert table.columns.tolist() == transfers.TRANSFER
    assert (table["predictions"] > 0).all()
    assert table[["mse", "mse_alone", "mse_additive", "mse_all"]].notna().all(axis=None)
    if shape[0] == 1:
        assert table.empty  # a half of one model leaves nothing to predict from


def test_one_family_cannot_be_tested_on_others() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 5))
    table = measure(arrange_results(list_cells(scores)), families=["one"] * 5, types=["t"] * 5)
    assert table.empty


@pytest.mark.slow
def test_the_step_writes_the_same_bytes_for_any_order_of_rows(tmp_path: Path) -> None:
    cells = simulate_results(9, 12, dimension=2, share=0.9, noise=0.05).cells
    cells["dataset"] = cells["dataset"].map(lambda name: f'=<b>"{name}", $x$ / v')
    datasets = pd.DataFrame({"dataset": sorted(cells["dataset"].unique())})
    datasets["type"] = ["7"] * 5 + ["=1|2"] * 5 + [None] * 2
    datasets["family"] = [*"aabbccddee", "7", "8"]
    tables = {"gaps": make_gaps(cells), "datasets": datasets}
    mixed = {name: table.sample(frac=1, random_state=6) for name, table in tables.items()}
    options = {"method": "l2", "dimension": 3, "n_starts": 1, "confidence_level": 0.9}
    written = []
    for place, own in enumerate((tables, mixed)):
        folder = tmp_path / str(place)
        run_step("check_transfer", folder, write_inputs(folder, **own), **options, seed=1)
        places = [f"capabilities/transfer.{suffix}" for suffix in ("csv", "md", "tex")]
        written.append([(folder / path).read_bytes() for path in (*places, "text/transfer.txt")])
    assert written[0] == written[1]
    table = read_step("check_transfer", tmp_path / "0")["transfer"]
    assert table["kind"].tolist() == ["type", "type", "types", "types", "families"]
    assert table["trained_on"].tolist()[:2] == ["7", "=1|2"]
    assert table["trained_on"].iloc[-1] == "5 families"
