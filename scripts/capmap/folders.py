"""The index of a folder that the workflow declares as a whole.

Snakemake does not see that a file in such a folder is missing or was altered.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from capmap.artifacts import digest_file, read_table, render_csv, write_text
from capmap.errors import CapmapError

INDEX = "index.csv"
COLUMNS = ["file", "sha256", "reason"]


def write_index(folder: str | Path, absent: Mapping[str, str] | None = None) -> None:
    """List the files of a folder with their SHA-256; of what is not there or empty, the reason."""
    files = sorted(path for path in Path(folder).glob("*") if path.name != INDEX)
    reasons = dict(absent or {})
    rows = [(path.name, digest_file(path), reasons.pop(path.name, "")) for path in files]
    rows += [(name, "", reason) for name, reason in reasons.items()]
    write_text(Path(folder, INDEX), render_csv(pd.DataFrame(rows, columns=COLUMNS)))


def read_index(folder: str | Path) -> pd.DataFrame:
    """Read what a folder holds, and why other things are not there.

    Raises
    ------
    CapmapError
        When a file is no longer there, or is no longer as it was written.
    """
    index = read_table(Path(folder, INDEX), names=COLUMNS).fillna("")
    for name, digest in index.loc[index["sha256"] != "", ["file", "sha256"]].to_numpy():
        path = Path(folder, name)
        if not path.is_file() or digest_file(path) != digest:
            fault = "was edited" if path.is_file() else "is no longer there"
            raise CapmapError(
                f"{path} {fault}. Make the folder again: remove {folder}, and run the same command."
            )
    return index


def read_reasons(folder: str | Path) -> dict[str, str]:
    """Read why things of a folder are not there or empty, by file or name."""
    index = read_table(Path(folder, INDEX), names=COLUMNS).fillna("")
    told = index[index["reason"] != ""]
    return dict(zip(told["file"], told["reason"], strict=True))
