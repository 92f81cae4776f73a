"""Which library code a script depends on, so that an edit reruns the jobs that use it."""

import re
from collections.abc import Collection
from functools import cache
from hashlib import sha256
from pathlib import Path

SCRIPTS = Path(__file__).parents[1] / "scripts"
IMPORT = re.compile(
    r"^ *(?:from (capmap[\w.]*) import (?:\(([^)]*)\)|(.*))|import (capmap[\w.]*))", re.MULTILINE
)


@cache
def digest_library(script: str) -> str:
    """Digest of every library file that a script imports, directly or through others.

    Parameters
    ----------
    script : str
        File name of the script in ``scripts/``.

    Returns
    -------
    str
        SHA-256 in hexadecimal over the names and bytes of ``scripts/job.py``, of the imported
        modules of ``capmap`` and of the templates in imported packages.
    """
    return _digest({SCRIPTS / script, SCRIPTS / "job.py"}, without={SCRIPTS / script})


@cache
def digest_functions(*references: str, declared: str) -> str:
    """Digest of every library file that functions use, and of what is declared of their results.

    Parameters
    ----------
    *references : str
        The functions, ``module:function``; empty ones are passed over.
    declared : str
        The declaration of the results, as text.

    Returns
    -------
    str
        SHA-256 in hexadecimal.
    """
    modules = {reference.partition(":")[0] for reference in references if reference}
    files = {file for module in modules for file in _files_of_module(module)}
    return sha256(f"{_digest(files)} {declared}".encode()).hexdigest()


def _digest(todo: set[Path], without: Collection[Path] = ()) -> str:
    files = set[Path]()
    while todo:
        files |= todo
        todo = {found for path in todo for found in _imported_files(path)} - files
    digest = sha256()
    for path in sorted(files.difference(without)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SCRIPTS).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def _imported_files(path: Path) -> frozenset[Path]:
    modules: set[str] = set()
    if path.suffix == ".py":
        for package, several, one, module in IMPORT.findall(path.read_text(encoding="utf-8")):
            modules.add(package or module)
            modules.update(f"{package}.{name}" for name in re.findall(r"\w+", several or one))
    return frozenset(file for module in modules for file in _files_of_module(module))


@cache
def _files_of_module(module: str) -> list[Path]:
    path = SCRIPTS.joinpath(*module.split("."))
    package = path if path.is_dir() else path.parent
    files = [path.with_suffix(".py"), package / "__init__.py", *package.glob("templates/*")]
    return [file for file in files if file.is_file()]
