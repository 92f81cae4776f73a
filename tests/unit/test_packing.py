"""Packed names sort, group and are written as the texts they stand for."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap import artifacts
from capmap.artifacts import (
    number_rows,
    pack_names,
    read_parquet,
    render_parquet,
    unpack_columns,
    write_parquet,
)
from capmap.exports import read_exports

ROLES = ("model", "dataset")
texts = st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3), st.text(max_size=3)))


def make_table(rows):
    table = pd.DataFrame(rows, columns=["model", "dataset", "seed"], dtype="str")
    return table.assign(score=np.arange(len(table)) / 7)


def pack(table):
    return table.assign(**{name: pack_names(table[name]) for name in ("model", "dataset", "seed")})


@pytest.mark.parametrize("most", [artifacts.MOST, 1])
@given(rows=texts)
def test_rows_are_numbered_in_the_order_of_their_names(rows, most):
    names = ["model", "dataset", "seed"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(artifacts, "MOST", most)
        numbers = number_rows(make_table(rows), names)
    assert [rows[place] for place in np.argsort(numbers, kind="stable")] == sorted(rows)
    assert len(set(numbers.tolist())) == len(set(rows))


@given(rows=texts.filter(bool), group=st.integers(1, 4))
def test_what_is_packed_and_read_in_groups_changes_no_byte(rows, group, tmp_path_factory):
    table = make_table([[name.replace("\0", "0") for name in row] for row in rows])
    path = tmp_path_factory.mktemp("packed") / "runs.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(artifacts, "GROUP_ROWS", group)
        write_parquet(path, pack(table))
        assert path.read_bytes() == render_parquet(table)
    pd.testing.assert_frame_equal(read_parquet(path), table)
    pd.testing.assert_frame_equal(read_parquet(path, packed=True), pack(table))
    pd.testing.assert_frame_equal(unpack_columns(pack(table)), table)


def test_a_column_that_begins_without_values_keeps_its_kind(tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "GROUP_ROWS", 2)
    table = pd.DataFrame({"note": pd.Series([None, None, None, "late"], dtype="str")})
    write_parquet(tmp_path / "table.parquet", table)
    assert read_parquet(tmp_path / "table.parquet")["note"].tolist()[3] == "late"


def test_a_run_takes_few_bytes_beside_the_text_of_its_score(tmp_path):
    places = np.arange(100_000)
    names = {name: [f"a long name of a {name} {place % 200}" for place in places] for name in ROLES}
    path = tmp_path / "runs.parquet"
    pd.DataFrame({**names, "seed": places // 200, "score": places / 1e5}).to_parquet(path)
    runs = read_exports([str(path)], metric="accuracy").runs
    assert len(runs) == len(places)
    used = runs.drop(columns="raw").memory_usage(index=False, deep=True).sum()
    assert used < 32 * len(runs)
