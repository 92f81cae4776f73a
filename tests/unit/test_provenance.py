"""The archive of a study says what is in it, where it is from and how it was made."""

import json
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import yaml

from capmap.artifacts import render_csv
from capmap.catalog import TABLES
from capmap.catalog.meanings import MEANINGS, explain_column
from capmap.provenance import pack_study

TABLE = pd.DataFrame(
    {
        "model": ["007", 'ä,\n"b"'],
        "rank": [1, 2],
        "iqm": [0.5, np.nan],
        "may_be_best": [True, False],
        "tie_group": ["a", None],
        "rank_low": [np.nan, np.nan],
        "own": ["x", "y"],
    }
)
HIDDEN = "s3cret"
SETTINGS = {
    "exports": f"https://me:{HIDDEN}@tracking.example/api?X-Amz-Signature={HIDDEN}&page=2",
    "seeds": [1, 2],
}


def pack(**changes: Any) -> bytes:
    known: Mapping[str, Any] = {
        "title": "A study",
        "headline": "None is best.",
        "tables": {"tables/iqm.csv": TABLE},
        "files": {
            "tables/iqm.csv": render_csv(TABLE).encode(),
            "paper/main.tex": b"\\documentclass",
        },
        "settings": SETTINGS,
        "sources": [{"path": "runs.csv", "sha256": "ab" * 32, "bytes": 12, "rows": 3}],
        "versions": {"capmap": "0.1.0"},
    }
    return pack_study("My Study", **{**known, **changes})


def unpack(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(archive)) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


def test_everything_is_listed_with_its_digest() -> None:
    content = unpack(pack())
    package = json.loads(content.pop("datapackage.json"))
    assert package["name"] == "my-study"
    assert package["madeWith"] == {"capmap": "0.1.0"}
    assert package["sources"] == [{"title": "runs.csv", "hash": f"sha256:{'ab' * 32}", "bytes": 12}]
    listed = {one["path"]: (one["hash"], one["bytes"]) for one in package["resources"]}
    assert listed == {
        path: (f"sha256:{sha256(data).hexdigest()}", len(data)) for path, data in content.items()
    }
    assert len({one["name"] for one in package["resources"]}) == len(listed)


def test_columns_have_types_and_meanings() -> None:
    content = unpack(pack())
    package = json.loads(content["datapackage.json"])
    [table] = [one for one in package["resources"] if "schema" in one]
    fields = table["schema"]["fields"]
    assert [(one["name"], one["type"]) for one in fields] == [
        ("model", "string"),
        ("rank", "integer"),
        ("iqm", "number"),
        ("may_be_best", "boolean"),
        ("tie_group", "string"),
        ("rank_low", "number"),
        ("own", "string"),
    ]
    assert [bool(one.get("description")) for one in fields] == [True] * 6 + [False]
    assert table["description"] == TABLES["tables/iqm"].caption


def test_the_settings_run_the_study_and_hold_no_password() -> None:
    archive = pack(sources=[{"path": SETTINGS["exports"], "sha256": "ab" * 32, "bytes": 1}])
    content = unpack(archive)
    assert yaml.safe_load(content["settings.yaml"]) == {
        "studies": {
            "My Study": {"exports": "https://tracking.example/api?…bc7c7eb0", "seeds": [1, 2]}
        }
    }
    assert not any(HIDDEN.encode() in data for data in content.values())


def test_the_same_content_gives_the_same_bytes() -> None:
    files = {"b.txt": b"b", "a.txt": b"a"}
    assert pack(files=files) == pack(files=dict(reversed(files.items())))
    assert pack(files=files) != pack(files=files | {"a.txt": b"c"})


def test_every_declared_column_has_a_meaning_and_every_meaning_a_column() -> None:
    declared = {(place, name) for place, table in TABLES.items() for name in table.columns.split()}
    assert not [pair for pair in sorted(declared) if not explain_column(*pair)]
    known = {f"{place}.{name}" for place, name in declared} | {name for _, name in declared}
    assert not set(MEANINGS) - known
    assert all(meaning.endswith(".") for meaning in MEANINGS.values())
