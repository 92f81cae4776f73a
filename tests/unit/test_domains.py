"""Leave one domain out: plain loops, ties, errors, and faults of configured domains."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.checkpoints.domains import check_domains, leave_domains_out
from tests.checkpoint_tables import make_values, plan

DATASETS = ("D", "own", "report", "G")
QUIET = settings(max_examples=6)


def make_study(seed, *, metric="accuracy", steps=3):
    """Two models with two trainings each, on four datasets and both splits."""
    rng = np.random.default_rng(seed)
    keys = product("AB", "xy", range(1, steps + 1), DATASETS, ("validation", "test"))
    return make_values(
        (model, f"{model}{run}", step, dataset, metric, split, rng.integers(0, 9) / 8)
        for model, run, step, dataset, split in keys
    )


def choose_by_hand(values, domains, *, is_max):
    """For each model and dataset, what the datasets of other domains choose, by plain loops."""
    cells = {
        (row.model, row.training, row.step, row.dataset, row.split): row.score
        for row in values.itertuples()
    }
    ends = {}
    for name in DATASETS:
        scores = [cells[key] for key in cells if key[3:] == (name, "validation")]
        ends[name] = (min(scores), max(scores))
    home = {name: domain for domain, names in domains.items() for name in names}
    found = {}
    for model, dataset in product("AB", DATASETS):
        domain = home.get(dataset, dataset)
        others = [name for name in DATASETS if home.get(name, name) != domain]
        candidates = sorted({key[1:3] for key in cells if key[0] == model}, key=lambda c: c[::-1])

        def average(candidate, model=model, others=others):
            shares = []
            for name in others:
                low, high = ends[name]
                share = (cells[(model, *candidate, name, "validation")] - low) / (high - low)
                shares.append(share if is_max else 1 - share)
            return round(sum(shares) / len(shares), 9)

        chosen = max(candidates, key=average)
        tests = [cells[(model, *candidate, dataset, "test")] for candidate in candidates]
        report = cells[(model, *chosen, dataset, "test")]
        oracle = max(tests) if is_max else min(tests)
        found[model, dataset] = (*chosen, report, oracle, abs(oracle - report))
    return found


@QUIET
@given(st.integers(0, 500), st.sampled_from([{}, {"first": ["D", "own"]}]), st.booleans())
def test_the_other_domains_choose(seed, domains, is_max):
    values = make_study(seed, metric="accuracy" if is_max else "rmse")
    table = leave_domains_out(values, plan(values), domains=domains)
    rows = {
        (row.model, row.dataset): (row.training, row.step, row.report, row.oracle, row.regret)
        for row in table.itertuples()
    }
    expected = choose_by_hand(values, domains, is_max=is_max)
    assert rows.keys() == expected.keys()
    for key, row in expected.items():
        assert rows[key] == pytest.approx(row, abs=1e-12) or rows[key][:2] == row[:2]
        assert rows[key][2:] == pytest.approx(row[2:], abs=1e-12)
    assert set(table["candidates"]) == {6}


@QUIET
@given(st.integers(0, 99))
def test_the_domain_left_out_has_no_say_and_rows_no_order(seed):
    values = make_study(seed)
    table = leave_domains_out(values, plan(values), domains={})
    is_out = (values["dataset"] == "D") & (values["split"] == "validation")
    other = values.assign(score=np.where(is_out, 1 - values["score"], values["score"]))
    columns = ["training", "step", "report", "oracle"]
    again = leave_domains_out(other, plan(other), domains={})
    rows = [one.loc[one["dataset"] == "D", columns] for one in (table, again)]
    pd.testing.assert_frame_equal(*rows)
    shuffled = values.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(
        leave_domains_out(shuffled, plan(shuffled), domains={}),
        leave_domains_out(values, plan(values), domains={}),
    )


def test_one_domain_or_one_checkpoint_leaves_nothing_to_choose():
    values = make_study(0)
    whole = leave_domains_out(values, plan(values), domains={"all": [*DATASETS]})
    assert whole.empty
    alone = values[(values["step"] == 1) & values["training"].isin(["Ax", "Bx"])]
    assert leave_domains_out(alone, plan(alone), domains={}).empty


def test_datasets_of_domains_are_there_and_in_one_of_them():
    problems = check_domains({"a": ["D", "Q"], "b": ["D"]}, make_study(0))
    assert [(problem.column, problem.value) for problem in problems] == [
        ("checkpoints.domains.a", "Q"),
        ("checkpoints.domains.b", "D"),
    ]
    assert "The datasets are 'D', 'G', 'own', 'report'." in problems[0].remedy
    assert problems[1].reason == "The dataset 'D' is in 'a' too."
