"""Folders that are put in place when they are whole."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replace_folder(path: str | Path) -> Iterator[Path]:
    """Make an empty folder that takes the place of `path` once all went well."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        yield fresh
        if path.exists():
            shutil.rmtree(path)
        fresh.replace(path)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
