"""Which library code a job depends on, so that an edit of it runs the job again."""

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from capmap.analyses import FIGURES, INDEX, STEPS

SCRIPTS = Path(__file__).parents[1] / "scripts"
IMPORT = re.compile(
    r"^ *(?:from (capmap[\w.]*) import (?:\(([^)]*)\)|(.*))|import (capmap[\w.]*))", re.MULTILINE
)


def code(script: str, *names: str) -> Callable[[Any], str]:
    """Give the digest of a script, and of steps and figures, once the rule has a job."""
    return lambda _: digest_library("job", script, *_list_modules(*names))


def attempts(amount: int) -> Callable[[Any, int], int]:
    """Give a resource that grows with each attempt."""
    return lambda _, attempt: amount * attempt


def _list_modules(*names: str) -> list[str]:
    """The modules of the analyses of steps, and of what draws figures."""
    steps = [f"capmap.analyses.{STEPS[name]}" for name in names if name in STEPS]
    drawn = [INDEX[FIGURES[name]]["drawn"][name] for name in names if name in FIGURES]
    return [*steps, *drawn]


@cache
def digest_library(*modules: str) -> str:
    """SHA-256 of the files of modules and of all that they import."""
    todo = {file for module in modules for file in _find_files(module)}
    files = set[Path]()
    while todo:
        files |= todo
        todo = {found for path in todo for found in _find_imported(path)} - files
    digest = sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SCRIPTS).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def _find_imported(path: Path) -> frozenset[Path]:
    modules: set[str] = set()
    if path.suffix == ".py":
        for package, several, one, module in IMPORT.findall(path.read_text(encoding="utf-8")):
            modules.add(package or module)
            modules.update(f"{package}.{name}" for name in re.findall(r"\w+", several or one))
    return frozenset(file for module in modules for file in _find_files(module))


@cache
def _find_files(module: str) -> list[Path]:
    path = SCRIPTS.joinpath(*module.split("."))
    package = path if path.is_dir() else path.parent
    files = [
        path.with_suffix(".py"),
        package / "__init__.py",
        *package.glob("templates/*"),
        *package.glob("*.j2"),
    ]
    return [file for file in files if file.is_file()]
