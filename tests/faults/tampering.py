"""Twelve ways to tamper with a file of a study, and what can be tampered with."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

DAY = 86_400 * 10**9
YESTERDAY = -DAY
OTHER = "other"


def flip(place: float) -> Callable[[Path], None]:
    """Flip a bit; 0 is in the first byte, 1 in the last."""

    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 1
        path.write_bytes(content)

    return change


def rewrite(change: Callable[[bytes], bytes], age: int = 0) -> Callable[[Path], None]:
    """Change the bytes, and the time stamp by some nanoseconds."""

    def write(path: Path) -> None:
        stamp = path.stat().st_mtime_ns
        path.write_bytes(change(path.read_bytes()))
        os.utime(path, ns=(stamp + age, stamp + age))

    return write


def put_folder(path: Path) -> None:
    """Put a folder in the place of a file."""
    path.unlink()
    path.mkdir()


def link_elsewhere(path: Path) -> None:
    """Put a link to another file in its place."""
    path.unlink()
    path.symlink_to(__file__)


def link_to_copy(path: Path) -> None:
    """Put a link to the same bytes in its place."""
    copy = shutil.copy2(path, path.parents[2] / f"{path.name}.copy")
    path.unlink()
    path.symlink_to(Path(copy).absolute())


def take_other(path: Path) -> None:
    """Put the file of another study in its place, or a table where that has none."""
    study = next(parent for parent in path.parents if parent.parent.name == "results")
    other = study.with_name(OTHER) / path.relative_to(study)
    content = other.read_bytes() if other.is_file() else b""
    path.write_bytes(content if content != path.read_bytes() else b"model,iqm\nA,0.9\n")


def swap(path: Path) -> None:
    """Swap the bytes of a file with those of another one of its kind, or lengthen an only one."""
    content = path.read_bytes()
    others = [
        file
        for file in sorted(path.parent.glob(f"*{path.suffix}"))
        if file.is_file() and not file.is_symlink() and file.read_bytes() != content
    ]
    path.write_bytes(others[-1].read_bytes() if others else content + b"\n")
    if others:
        others[-1].write_bytes(content)


TAMPERINGS: dict[str, Callable[[Path], None]] = {
    "swapped": swap,
    "first bit": flip(0),
    "middle bit": flip(0.5),
    "last bit": flip(1),
    "emptied, old": rewrite(lambda _: b"", YESTERDAY),
    "cut": rewrite(lambda content: content[:-1]),
    "longer, new": rewrite(lambda content: content + b"\n", DAY),
    "other text, old": rewrite(lambda _: b"model,iqm\nA,0.9\n", YESTERDAY),
    "another study's": take_other,
    "folder": put_folder,
    "link to another file": link_elsewhere,
    "link to a copy": link_to_copy,
}


def list_artifacts(folder: Path) -> list[Path]:
    """One artifact of each kind: what stands in one folder and has one suffix; nothing hidden."""
    kinds: dict[tuple[Path, str], Path] = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.is_file() and not inner.parts[0].startswith("."):
            kinds.setdefault((inner.parent, "".join(path.suffixes)), path)
    return list(kinds.values())
