"""Where a tracking store is, and a copy or view of it that MLflow may write to."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlparse

from capmap.errors import ValidationError
from capmap.wording import quote_name

SQLITE = "sqlite:///"
WEB = ("http://", "https://")
SIDE_FILES = ("", "-wal", "-journal")
TABLES = {"experiments", "runs", "metrics"}
TRASH = ".trash"
ATTEMPTS = 3


def locate_store(store: str) -> Path | None:
    """Find the file or folder of a store.

    Parameters
    ----------
    store : str
        ``sqlite:///FILE``, a folder, ``file:///FOLDER``, or ``http://…`` or ``https://…``.

    Returns
    -------
    pathlib.Path or None
        The database file or the folder; None for a server.

    Raises
    ------
    ValidationError
        When the address is of another kind, or there is no such file or folder.

    Examples
    --------
    >>> locate_store("https://tracking.example.org") is None
    True
    """
    if store.startswith(WEB):
        return None
    is_database = store.startswith(SQLITE)
    if is_database:
        path = Path(store.removeprefix(SQLITE))
    elif store.startswith("file:"):
        path = Path(unquote(urlparse(store).path))
    elif "://" in store or not store:
        raise _refuse(
            store, "This is no address of a store.", f"Give a folder, {SQLITE}FILE, or https://…"
        )
    else:
        path = Path(store)
    if is_database and not path.is_file():
        raise _refuse(store, "There is no such file.", "Check the path after sqlite:///.")
    if not is_database and not path.is_dir():
        is_file = path.is_file()
        reason = "This is a file, not a folder." if is_file else "There is no such folder."
        remedy = f"A database is written {SQLITE}{path}." if is_file else "Check the path."
        raise _refuse(store, reason, remedy)
    return path


def mirror_store(store: str, folder: Path) -> str:
    """Make a store that MLflow may open and write to, with the content of another.

    Parameters
    ----------
    store : str
        As in `locate_store`.
    folder : pathlib.Path
        Empty folder for the copy.

    Returns
    -------
    str
        Address for MLflow.

    Raises
    ------
    ValidationError
        When the store is not there, is not one of MLflow, or changes all the time.

    Notes
    -----
    MLflow writes to what it opens: it migrates the tables of a database and makes folders. A
    database is therefore copied, with what its log has not yet merged. A folder is shown through
    links to its experiments, so that nothing large is copied. A server is asked as it is.
    """
    path = locate_store(store)
    if path is None:
        return store
    if path.is_file():
        copy = folder / "store.db"
        _copy_database(store, path, copy)
        _require_tables(store, copy)
        return f"{SQLITE}{copy}"
    if not any(path.glob("*/meta.yaml")):
        raise _refuse(store, "The folder has no experiment of MLflow.", "Give the folder mlruns.")
    view = folder / "mlruns"
    view.mkdir()
    for child in path.iterdir():
        if child.name != TRASH:
            (view / child.name).symlink_to(child.absolute())
    return str(view)


def _copy_database(store: str, path: Path, copy: Path) -> None:
    """Copy a database and its logs, none of which may change meanwhile."""
    for _ in range(ATTEMPTS):
        before = _list_states(path)
        for suffix in SIDE_FILES:
            target = copy.with_name(copy.name + suffix)
            target.unlink(missing_ok=True)
            if suffix in before:
                shutil.copyfile(f"{path}{suffix}", target)
        if _list_states(path) == before:
            return
    raise _refuse(store, "It is being written to.", "Read it when the trainings rest.")


def _list_states(path: Path) -> dict[str, tuple[int, int]]:
    states = {}
    for suffix in SIDE_FILES:
        file = Path(f"{path}{suffix}")
        if file.is_file():
            state = file.stat()
            states[suffix] = (state.st_size, state.st_mtime_ns)
    return states


def _require_tables(store: str, copy: Path) -> None:
    try:
        with closing(sqlite3.connect(copy)) as database:
            rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            found = {name for (name,) in rows}
    except sqlite3.DatabaseError as error:
        raise _refuse(store, f"The database is damaged ({error}).", "Copy it again.") from error
    if not found >= TABLES:
        raise _refuse(store, "The database has no runs of MLflow.", "Check the path.")


def _refuse(store: str, reason: str, remedy: str) -> ValidationError:
    return ValidationError(f"tracking.store: {quote_name(store)}: {reason} {remedy}")
