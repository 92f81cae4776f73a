"""Which library code a job depends on, so that an edit of it runs the job again."""

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from capmap.analyses import INDEX, STEPS, name_module

SCRIPTS = Path(__file__).parents[1] / "scripts"
# It begins with a character, which is found faster than the start of a line.
IMPORT = re.compile(
    r"\n *(?:from (capmap[\w.]*) import (?:\(([^)]*)\)|(.*))|import (capmap[\w.]*))"
)
# What modules of these names read beside themselves: templates, and references.
READ = {"rendering": "*.j2", "__init__": "templates/*", "latex": "*.bib"}


class Module(NamedTuple):
    """A module: a digest of its text and templates, and what it names that may be a module."""

    digest: bytes
    names: set[str]


def code(script: str, *names: str) -> Callable[[Any], str]:
    """Give the digest of a script, and of steps and analyses, once the rule has a job."""
    return lambda _: digest_library("job", script, *_list_modules(*names))


def attempts(amount: int) -> Callable[[Any, int], int]:
    """Give a resource that grows with each attempt."""
    return lambda _, attempt: amount * attempt


def _list_modules(*names: str) -> list[str]:
    """The modules of the analyses of steps; of an analysis also what draws its figures."""
    steps = [name_module(STEPS[name]) for name in names if name in STEPS]
    analyses = [name_module(name) for name in names if name in INDEX]
    drawn = {module for name in names if name in INDEX for module in INDEX[name]["drawn"].values()}
    return [*steps, *analyses, *drawn]


@cache
def digest_library(*modules: str) -> str:
    """SHA-256 of modules and of all that they import."""
    library, found, todo = read_library(), set[str](), {*modules}
    while todo:
        found |= todo
        todo = {name for one in todo for name in library[one].names if name in library} - found
    digest = sha256()
    for name in sorted(found):
        digest.update(f"{name} ".encode() + library[name].digest)
    return digest.hexdigest()


@cache
def read_library() -> dict[str, Module]:
    """Read all modules, by their names."""
    library = {}
    for path in SCRIPTS.rglob("*.py"):
        is_package, place = path.stem == "__init__", path.relative_to(SCRIPTS).with_suffix("")
        name = ".".join(place.parts[:-1] if is_package else place.parts)
        content = path.read_bytes()
        # A module stands in its package.
        names = {name.rpartition(".")[0]}
        for package, several, one, module in IMPORT.findall("\n" + content.decode()):
            names |= {package or module}
            names |= {f"{package}.{own}" for own in re.findall(r"\w+", several or one)}
        digest = sha256(content)
        for file in sorted(path.parent.glob(READ[path.stem]) if path.stem in READ else ()):
            digest.update(file.read_bytes())
        library[name] = Module(digest.digest(), names)
    return library
