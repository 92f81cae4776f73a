"""Small files that would become large: each is refused within a second and 200 MiB."""

import gzip
import json
import os
import resource
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capmap.attributes import read_model_attributes
from capmap.benchmarks import read_benchmark
from capmap.errors import CapmapError
from capmap.exports import read_exports
from capmap.exports.checkpoints import read_evaluations
from capmap.exports.classes import read_classes
from capmap.exports.dumps import open_scores, read_parquet_scores
from capmap.exports.files import FileOptions
from capmap.exports.labels import read_label_sets
from capmap.exports.parquet import open_parquet
from capmap.exports.submission_information import read_information
from capmap.exports.submission_results import open_submission
from capmap.normalization import read_references
from capmap.problems import UnreadableExportError
from capmap.settings.files import read_config, read_yaml

# Bombs took 23 s or more; a busy processor may need some for the refusal.
SECONDS, BYTES = 5.0, 200 << 20
SETTINGS = ("configuration", "settings", "benchmark")
ROW = b"a,b,c,0.5\n"
HEADER = b"model,dataset,metric,score\n"


def nest(alias: str, *, levels: int = 9) -> str:
    """Lists of nine aliases each, or sections of nine merged ones."""
    lines = ["a0: &a0 {x: 1, y: 2}"]
    for level in range(1, levels + 1):
        listed = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {alias.format(listed)}")
    return "\n".join(lines)


def write_texts(path: Path) -> None:
    texts = pa.array(["A" * 1_000_000] * 2_000).dictionary_encode()
    pq.write_table(pa.table(dict.fromkeys(("model", "dataset", "score"), texts)), path)


def write_cells(path: Path) -> None:
    ones = pa.DictionaryArray.from_arrays(pa.nulls(140_000_000, pa.int8()), pa.array(["A"]))
    pq.write_table(pa.table(dict.fromkeys(("model", "dataset", "score"), ones)), path)


def write_varint(value: int) -> bytes:
    """A number as the footer of a Parquet file has it, which doubles those that may be negative."""
    value *= 2
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def forge_footer(*said: int) -> Callable[[Path], None]:
    """Two hundred rows whose footer says other numbers: of the file, of columns, of a group."""

    def write(path: Path) -> None:
        columns = {"model": ["A", "B"] * 100, "dataset": ["D"] * 200, "score": [0.5] * 200}
        options = {"write_statistics": False, "store_schema": False, "compression": "none"}
        pq.write_table(pa.table({**columns, "1": [0.5] * 200}), path, **options)
        content = path.read_bytes()
        length = int.from_bytes(content[-8:-4], "little")
        start, *middle, end = content[-8 - length : -8].split(write_varint(200))
        whole, inner, group = map(write_varint, said)
        footer = start + whole + inner.join(middle) + group + end
        path.write_bytes(
            content[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"
        )

    return write


def write_zip(path: Path) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("runs.csv", HEADER + ROW * 15_000_000)


def write_gzip(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(gzip.compress(content, 1))


BOMBS: dict[str, str | Callable[[Path], None]] = {
    "aliases.yaml": nest("[{}]"),
    "merged.yaml": nest("{{<<: [{}]}}"),
    "long.yaml": 'a: &a "' + "x" * 100_000 + '"\nb: [' + "*a, " * 200_000 + "]",
    "deep.yaml": "[" * 100_000,
    "sections.yaml": "{a: " * 100_000,
    "keys.yaml": "".join(f"a{number}: 1\n" for number in range(51_000)),
    "deep.json": "[" * 1_000_000,
    "objects.json": '{"a":' * 1_000_000,
    "closed.json": "[" * 100_000 + "]" * 100_000,
    "lines.jsonl": '{"model":' + "[" * 1_000_000,
    "number.json": "[" + "9" * 5_000_000 + "]",
    "entries.json": "[" + "[1]," * 20_000 + "[1]]",
    "rows.csv.gz": write_gzip(HEADER + ROW * 15_000_000),
    "entries.json.gz": write_gzip(b"[" + b"[1]," * 40_000_000 + b"[1]]"),
    "zeros.csv.gz": write_gzip(bytes(1 << 28)),
    "archive.zip": write_zip,
    "texts.parquet": write_texts,
    "cells.parquet": write_cells,
    "some.parquet": forge_footer(400, 400, 400),
    "rows.parquet": forge_footer(1 << 24, 1 << 24, 1 << 24),
    "more.parquet": forge_footer(1 << 60, 200, 1 << 60),
    "file.parquet": forge_footer(1 << 32, 200, 200),
    "group.parquet": forge_footer(200, 200, 1 << 32),
}
READERS: dict[str, Callable[[str], object]] = {
    "configuration": read_config,
    "settings": read_yaml,
    "benchmark": read_benchmark,
    "long": lambda path: read_exports([path], metric="accuracy"),
    "matrix": lambda path: read_exports([path], metric="accuracy", layout="matrix"),
    "records": lambda path: read_exports([path], options=FileOptions(records="{model}.{dataset}")),
    "checkpoints": lambda path: read_evaluations([path]),
    "attributes": lambda path: read_model_attributes(
        path, name="model", parameters="", architecture="", date="", date_format="%Y"
    ),
    "bounds": read_references,
    "labels": read_label_sets,
    "classes": read_classes,
    "scores": open_scores,
    "description": read_information,
    "submission": lambda path: open_submission(path, name="a", strict=False, method=""),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_by_every_reader_before_it_hurts(name, tmp_path):
    bomb, path = BOMBS[name], tmp_path / name
    if isinstance(bomb, str):
        path.write_text(bomb)
    else:
        bomb(path)
    place = f"{path}/runs.csv" if path.suffix == ".zip" else str(path)
    readers = {
        reader: partial(read, place)
        for reader, read in READERS.items()
        if (path.suffix == ".yaml" or reader not in SETTINGS)
        # As an export it is a table with many columns.
        and (name != "keys.yaml" or reader in SETTINGS)
    }
    found = measure(readers)
    # What is a bomb as JSON or YAML may be a short list of texts.
    refused = {reader for reader, (outcome, *_) in found.items() if outcome == "refused"}
    read = {reader for reader, (outcome, *_) in found.items() if outcome == "read"}
    assert refused | read == set(readers), found
    assert refused >= {"long", *SETTINGS} & set(readers)
    assert [told for told in found.items() if told[1][1] > SECONDS or told[1][2] > BYTES] == []


def measure(readers: dict[str, Callable[[], object]]) -> dict[str, tuple[str, float, int]]:
    """What becomes of a file in a process of its own: the outcome, processor time and memory."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
        before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        for reader, call in readers.items():
            start = time.process_time()
            outcome = take(call)
            seconds = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            told = json.dumps([reader, outcome, seconds, peak - before])
            os.write(writing, f"{told}\n".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        lines = stream.read().decode().splitlines()
    os.waitpid(child, 0)
    return {reader: (*told,) for reader, *told in map(json.loads, lines)}


def take(call: Callable[[], object]) -> str:
    try:
        return "refused" if is_refused(call()) else "read"
    except CapmapError:
        return "refused"
    except BaseException:
        return traceback.format_exc()[-1000:]


def is_refused(found: object) -> bool:
    """Whether the problems of a reader of several files are what became of this one."""
    exports = getattr(found, "exports", found)
    if isinstance(found, tuple):
        return any(problem.severity == "error" for problem in found[1])
    return any(problem.severity == "error" for problem in getattr(exports, "problems", ()))


def test_scores_have_the_rows_that_their_footer_says(tmp_path):
    path = tmp_path / "scores.parquet"
    forge_footer(400, 400, 400)(path)
    assert pq.ParquetFile(path).metadata.num_rows == 400
    with pytest.raises(UnreadableExportError, match="damaged"):
        read_parquet_scores(open_parquet(str(path), b"PAR1"), ["score", "1"])


def test_a_table_that_packs_well_is_read(tmp_path):
    rows = b"".join(b"m%d,d%d,acc,0.%d\n" % (n % 999, n // 999, n % 7) for n in range(300_000))
    (tmp_path / "runs.csv.gz").write_bytes(gzip.compress(HEADER + rows))
    assert len(read_exports([str(tmp_path / "runs.csv.gz")]).runs) == 300_000
