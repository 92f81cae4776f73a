"""Predicting datasets of one type with and without those of others."""

import numpy as np
import pandas as pd
import pytest

from capmap.analyses import transfer
from capmap.capabilities import factors
from capmap.capabilities.gaps import arrange_results, split_halves
from capmap.rng import make_stream
from tests.capability_tables import list_cells, make_gaps, simulate_results


def measure(scores: np.ndarray, types: list[str]) -> pd.DataFrame:
    cells = list_cells(scores)
    datasets = pd.DataFrame({"dataset": sorted(cells["dataset"].unique()), "type": types})
    return transfer.measure_transfer(
        make_gaps(cells, min_results=1),
        pd.DataFrame({"model": sorted(cells["model"].unique())}),
        datasets.assign(family=datasets["dataset"]),
        study="toy",
        confidence_level=0.9,
        seed=0,
    )


def simulate_space(*, shared: bool, seed: int = 0) -> np.ndarray:
    """Eight datasets of a space of four dimensions, and eight of the same or of another one."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 40, 4))
    one, two = rng.normal(size=(2, 4, 8))
    blocks = [first @ one, (first if shared else second) @ two]
    return np.hstack(blocks) + 0.1 * rng.normal(size=(40, 16))


def test_types_with_enough_datasets_are_chosen_the_largest_first() -> None:
    types = [name for place, name in enumerate("hgfedcba") for _ in range(4 + place)]
    # h has four datasets; of the seven others the six with the most are a to f.
    assert transfer.choose_types([*types, *[""] * 30]) == list("abcdef")
    assert transfer.choose_types(["b"] * 5 + ["a"] * 5 + ["c"] * 4) == ["a", "b"]
    assert transfer.choose_types([]) == []


@pytest.mark.slow
def test_another_type_helps_when_its_space_is_shared() -> None:
    types = ["one"] * 8 + ["two"] * 8
    for shared in (True, False):
        table = measure(simulate_space(shared=shared), types).set_index("tested_on")
        row = table.loc["all types"]
        assert row["predictions"] == table["predictions"].iloc[:-1].sum() == 40 * 16
        assert row["mse"] == pytest.approx(table["mse"].iloc[:-1].mean())
        np.testing.assert_allclose(table["difference"], table["mse"] - table["mse_alone"])
        if shared:
            assert row["difference_high"] < 0
        else:
            assert row["difference"] > -0.1 * row["mse_alone"]


def test_a_family_is_never_known_of_a_model_where_it_is_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def record(parts, _, pairs, **__) -> list[factors.Moments]:
        seen.append((parts[0], pairs[0]))
        return [factors.Moments(np.zeros(len(pairs[0].rows)), np.zeros(len(pairs[0].rows)))]

    monkeypatch.setattr(transfer, "predict_gaps", record)
    results = arrange_results(simulate_results(12, 20, share=0.6).cells)
    # The families 0 to 3 have datasets of all three types.
    families = [str(place % 6 if place % 6 < 4 else place) for place in range(20)]
    tested = results.columns < 6
    half = split_halves(results, families, make_stream(0, "toy"))
    attributes = factors.gather_attributes(results)
    found = transfer.predict_type(
        results, tested, half, families, attributes, make_stream(0, "toy")
    )
    family = np.array(families)
    for part, pairs in seen:
        assert (pairs.columns < 6).all()
        known, hidden = (
            set(zip(own.rows, family[own.columns], strict=True)) for own in (part, pairs)
        )
        assert not known & hidden
    # With and without other types, for each half.
    assert [(part.columns >= 6).any() for part, _ in seen] == [True, False] * 2
    truth = results.choose(tested).gaps
    assert len(found) <= len(truth)
    assert (found["mse"] == found["mse_alone"]).all()


def test_models_without_results_elsewhere_are_not_tested() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 10))
    scores[:2, :5] = np.nan
    table = measure(scores, ["one"] * 5 + ["two"] * 5).set_index("tested_on")
    assert table.loc["two", "models"] == 4


@pytest.mark.parametrize("types", [[""] * 6, ["t"] * 6])
def test_without_another_type_there_is_nothing_to_tell(types: list[str]) -> None:
    table = measure(np.random.default_rng(0).normal(size=(6, 6)), types)
    assert table.empty
