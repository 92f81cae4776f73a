"""What results were made from and with, packed with them into one archive."""

import json
import platform
import re
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import pandas as pd
import yaml
from pandas.api.types import infer_dtype

from capmap.addresses import hide, hide_everywhere
from capmap.catalog import TABLES
from capmap.catalog.meanings import explain_column

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
# Imported names of packages that are called otherwise.
MODULES = {"pillow": "PIL"}
PACKAGES = ["matplotlib", "numpy", "pandas", "pillow", "pyarrow", "scipy", "seaborn", "snakemake"]
# What pandas finds in a column, as Table Schema calls it; all else is text.
TYPES = {
    "boolean": "boolean",
    "integer": "integer",
    "floating": "number",
    "mixed-integer-float": "number",
    "empty": "any",
}
# Zip archives know no earlier time.
NO_TIME = (1980, 1, 1, 0, 0, 0)


def list_versions(own: str) -> dict[str, str]:
    """Versions of capmap, which is given, of Python and of the packages that compute and draw."""
    found = {name: version(name) for name in PACKAGES if find_spec(MODULES.get(name, name))}
    return {"capmap": own, "python": platform.python_version(), **found}


def pack_study(
    name: str,
    *,
    title: str,
    headline: str,
    tables: Mapping[str, pd.DataFrame],
    files: Mapping[str, bytes],
    settings: Mapping[str, Any],
    sources: Sequence[Mapping[str, Any]],
    versions: Mapping[str, str],
) -> bytes:
    """Pack all that a reader needs to check a paper on a study, described as a data package.

    Parameters
    ----------
    name, title, headline : str
        The study, its title, and what was found.
    tables : mapping of str to DataFrame
        Tables as they are read from those of `files` that hold them, by their paths.
    files : mapping of str to bytes
        What is packed, by its path in the archive.
    settings : mapping
        The study's settings. Secrets in addresses are left out.
    sources : sequence of mapping
        The exports: ``path``, ``sha256`` and ``bytes``. Their content is not packed.
    versions : mapping of str to str
        As `list_versions` gives them.

    Returns
    -------
    bytes
        A zip archive, the same for the same content: ``datapackage.json``, ``settings.yaml`` and
        `files`.

    References
    ----------
    Data Package 2.0 and Table Schema, Frictionless Data (2024): https://datapackage.org/standard
    """
    text = yaml.safe_dump(
        {"studies": {name: hide_everywhere(settings)}}, sort_keys=False, allow_unicode=True
    )
    content = dict(sorted({**files, "settings.yaml": text.encode()}.items()))
    package = {
        "$schema": PROFILE,
        "name": re.sub(r"[^a-z0-9._-]", "-", name.lower()),
        "title": title,
        "description": headline,
        "sources": [
            {
                "title": hide(source["path"]),
                "hash": f"sha256:{source['sha256']}",
                "bytes": source["bytes"],
            }
            for source in sources
        ],
        "resources": [
            _describe_file(path, data) | _describe_table(path, tables.get(path))
            for path, data in content.items()
        ],
        "madeWith": dict(versions),
    }
    described = json.dumps(package, indent=2, ensure_ascii=False) + "\n"
    return _zip({"datapackage.json": described.encode(), **content})


def _describe_file(path: str, data: bytes) -> dict[str, Any]:
    return {
        "name": re.sub(r"[^a-z0-9._-]", "-", path.lower()),
        "path": path,
        "bytes": len(data),
        "hash": f"sha256:{sha256(data).hexdigest()}",
    }


def _describe_table(path: str, table: pd.DataFrame | None) -> dict[str, Any]:
    """Caption and columns of a table, and what they mean where the catalog knows it."""
    if table is None:
        return {}
    declared = path.removesuffix(".csv")
    caption = TABLES[declared].caption if declared in TABLES else ""
    fields = [
        {
            "name": column,
            "type": TYPES.get(infer_dtype(table[column], skipna=True), "string"),
            "description": explain_column(declared, column),
        }
        for column in table.columns
    ]
    return {
        "type": "table",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        **({"description": caption} if caption else {}),
        "schema": {
            "fields": [{key: text for key, text in field.items() if text} for field in fields],
            "missingValues": [""],
        },
    }


def _zip(content: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in content.items():
            archive.writestr(zipfile.ZipInfo(path, NO_TIME), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
