"""Names and files that somebody wrote in bad faith, or that are simply enormous."""

import gzip
import io
import re
from pathlib import Path

import pandas as pd
import pytest

from capmap.artifacts import read_table, render_csv
from capmap.exports import read_exports, records
from capmap.tables import render_latex
from tests.hostile_names import NAMES

LIMIT = 100_000


def write(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers whose limit is 100 kB instead of 1 GiB."""
    defaults = {"limit": LIMIT, "encoding": "utf-8"}
    monkeypatch.setattr(records, "LARGEST", LIMIT)
    monkeypatch.setattr(records.load_text, "__kwdefaults__", defaults)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_hostile_names_are_read_as_they_stand(tmp_path: Path, suffix: str) -> None:
    table = pd.DataFrame(
        {"model": NAMES, "dataset": NAMES[::-1], "metric": "accuracy", "score": 0.5}
    )
    path = tmp_path / f"runs.{suffix}"
    table.to_csv(path, index=False, quoting=1) if suffix == "csv" else table.to_parquet(path)
    runs = read_exports([str(path)]).runs
    assert runs["model"].tolist() == [name.strip() for name in NAMES]
    assert runs["dataset"].tolist() == [name.strip() for name in NAMES[::-1]]


def test_hostile_names_survive_a_table_and_are_no_formulas() -> None:
    table = pd.DataFrame({"model": NAMES, "score": 0.5})
    text = render_csv(table)
    cells = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)["model"]
    assert not cells.str.startswith(("=", "+", "-", "@", "\uff1d", "\t", "\r")).any()


def test_hostile_names_come_back_from_a_table(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", render_csv(pd.DataFrame({"model": NAMES})).encode())
    assert read_table(path)["model"].tolist() == NAMES


def test_hostile_names_are_not_latex() -> None:
    table = pd.DataFrame({"model": NAMES, "score": 0.5})
    latex = render_latex(table)
    body = latex.partition("midrule")[2].partition("bottomrule")[0]
    assert not re.search(r"(?<!\\)[$#%_]|\\(input|write)", body)
    assert len(re.findall(r"(?<!\\)&", body)) == len(NAMES)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_name_with_a_nul_has_another_sign_for_it(tmp_path: Path, suffix: str) -> None:
    table = pd.DataFrame({"model": ["A", "B\0"], "dataset": "D", "metric": "f1", "score": 0.5})
    path = str(tmp_path / f"a.{suffix}")
    if suffix == "parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=True)
    assert read_exports([path]).runs["model"].tolist() == ["A", "B\ufffd"]


def test_pickle_is_refused_and_never_loaded(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    program = f"cposix\nsystem\n(S'touch {trace}'\ntR.".encode()
    path = write(tmp_path, "a.csv", b"\x80\x04" + program)
    assert [problem.code for problem in read_exports([path]).problems] == ["wrong_encoding"]
    assert not trace.exists()


@pytest.mark.parametrize("suffix", ["csv.gz", "jsonl.gz"])
@pytest.mark.usefixtures("bounded")
def test_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, suffix: str) -> None:
    rows = b"model,dataset,metric,score\n" + b"A,D,f1,0.5\n" * 100_000
    path = write(tmp_path, f"a.{suffix}", gzip.compress(rows, mtime=0))
    assert Path(path).stat().st_size < LIMIT
    assert [problem.code for problem in read_exports([path]).problems] == ["too_large"]
