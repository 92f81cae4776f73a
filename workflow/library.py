"""Which library code a script depends on, so that an edit reruns the jobs that use it."""

import ast
from functools import cache
from hashlib import sha256
from pathlib import Path

SCRIPTS = Path(__file__).parents[1] / "scripts"
PACKAGE = "capmap"


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
        modules of ``capmap`` and of the other files in imported packages (templates, styles).
    """
    todo, files = [SCRIPTS / script, SCRIPTS / "job.py"], set()
    while todo:
        path = todo.pop()
        if path not in files:
            files.add(path)
            todo.extend(_imported_files(path))
    files.discard(SCRIPTS / script)
    digest = sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SCRIPTS).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def _imported_files(path: Path) -> frozenset[Path]:
    if path.suffix != ".py":
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(SCRIPTS).parts[: -node.level] if node.level else ()
            module = ".".join((*package, *filter(None, [node.module])))
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return frozenset(file for name in names for file in _files_of_module(name))


def _files_of_module(name: str) -> list[Path]:
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return []
    packages = [SCRIPTS.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    files = [folder / "__init__.py" for folder in packages]
    files.append(packages[-1].with_suffix(".py"))
    for folder in packages[1:]:
        files += [path for path in folder.rglob("*") if path.suffix not in {".py", ".pyc"}]
    return [path for path in files if path.is_file()]
