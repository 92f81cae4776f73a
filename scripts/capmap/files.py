"""Files written atomically.

Every write goes to a temporary file in the same folder and is moved into place, so a reader sees
the old bytes or the new ones and never half of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO


@contextmanager
def replace_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file, to be written piece by piece, that takes the place of `path` at the end.

    Nothing is put in place, and nothing left over, when an error ends the block.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    try:
        with open(fresh, "wb") as stream:
            yield stream
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically, making its folder where needed."""
    with replace_file(path) as stream:
        stream.write(content)


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text atomically; line ends stay as they are."""
    write_bytes(path, text.encode())


def digest_file(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    digest = sha256()
    with open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
