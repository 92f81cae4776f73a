"""What analyses are expected to need of a study, from its size."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.catalog import STEPS
from capmap.sizes import (
    BASE_MEMORY,
    MEMORY_VARIABLE,
    Size,
    estimate_need,
    find_limits,
    find_memory,
    measure_size,
)
from capmap.tables import write_table

COMPUTED = [name for name, step in STEPS.items() if step.reads]
NUMBERS = {"n_resamples": 2000, "n_samples": 50_000}
SIZES = st.builds(
    lambda models, datasets, seeds, evaluations: Size(
        models, datasets, models * datasets, models * datasets * seeds, seeds, evaluations
    ),
    *(st.integers(1, most) for most in (10_000, 1000, 100, 10_000)),
)


@pytest.mark.parametrize("name", COMPUTED)
def test_every_step_states_what_it_needs_by_what_the_study_has(name):
    cost = STEPS[name].cost
    assert cost.memory
    assert cost.seconds
    need = estimate_need(cost, Size(10, 5, 50, 150, 3, 600), NUMBERS)
    assert BASE_MEMORY < need.memory < 1 << 30
    assert 0 < need.seconds < 3600


@given(SIZES, SIZES)
def test_a_larger_study_needs_no_less(one, other):
    smaller, larger = Size(*map(min, one, other)), Size(*map(max, one, other))
    for name in COMPUTED:
        low, high = (estimate_need(STEPS[name].cost, size, NUMBERS) for size in (smaller, larger))
        assert low.memory <= high.memory
        assert low.seconds <= high.seconds


def test_size_counts_models_datasets_cells_and_runs():
    runs = pd.DataFrame({"model": [*"aaabb"], "dataset": [*"xxyyx"]})
    assert measure_size(runs) == Size(models=2, datasets=2, cells=4, runs=5, seeds=2)


def test_half_of_the_memory_of_the_machine_is_allowed_unless_said_otherwise(monkeypatch):
    monkeypatch.setenv(MEMORY_VARIABLE, str(8 << 30))
    assert find_limits({"memory": 0, "hours": 0}) == (4 << 30, math.inf)
    assert find_limits({"memory": 6, "hours": 2}) == (6 << 30, 7200)
    monkeypatch.delenv(MEMORY_VARIABLE)
    assert 1 << 28 < find_memory() < 1 << 45


def test_large_tables_are_in_csv_and_parquet_only(tmp_path):
    table = pd.DataFrame({"model": ["a"] * 20_001})
    paths = [tmp_path / f"pairwise.{suffix}" for suffix in ("csv", "parquet", "md", "tex")]
    write_table(table, paths)
    assert paths[0].read_text().count("\n") == 20_002
    assert len(pd.read_parquet(paths[1])) == 20_001
    for path in paths[2:]:
        text = path.read_text()
        assert "20,001 rows and 1 column, too large to print: see pairwise.csv" in text
        assert len(text) < 300
    write_table(table[:20_000], paths[2:])
    assert paths[2].read_text().count("\n") == 20_002
