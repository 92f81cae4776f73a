"""Secrets in addresses, and where they must not be found."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from zipfile import ZipFile

from capmap.artifacts import read_parquet

# Each under the name of its part of the address.
QUERY = {"query": "tok-Q1z", "signed": "sig-S2y", "other": "id-O3x", "bare": "bare-B4w"}
USER, PASSWORD, PART = "user-U5v", "pw-P6u", "part-F7t"
LOGIN = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
PLANTED = [*QUERY.values(), USER, PASSWORD, PART, LOGIN]


def plant(address: str) -> str:
    """Put user, password, query and fragment into an address."""
    query = "token={query}&X-Amz-Signature={signed}&id={other}&{bare}".format(**QUERY)
    return f"{address.replace('://', f'://{USER}:{PASSWORD}@')}?{query}#{PART}"


def find_planted(*texts: str) -> list[str]:
    """The secrets that stand in texts, as they are, percent-encoded or in base 64."""
    return [secret for secret in PLANTED for text in texts if any(map(text.count, _spell(secret)))]


def _spell(secret: str) -> Iterator[str]:
    """All ways in which a secret may be written down; base 64 depends on what stands before."""
    yield from (secret, quote(secret, safe=""), "".join(f"%{ord(letter):02X}" for letter in secret))
    for before in range(3):
        coded = b64encode(b"\0" * before + secret.encode()).decode().rstrip("=")
        # The first and the last letters depend on what is beside it.
        yield coded[-(-before * 4 // 3) : -1]


def read_everything(folder: Path) -> Iterator[str]:
    """Every byte below results/ and .snakemake/, unpacked, and names of files, as text."""
    for path in sorted([*folder.glob("results/**/*"), *folder.glob(".snakemake/**/*")]):
        yield str(path)
        if path.is_file():
            data = path.read_bytes()
            yield data.decode("utf-8", "replace")
            if path.suffix == ".parquet":
                yield read_parquet(path).to_csv()
            elif path.suffix == ".zip":
                with ZipFile(path) as archive:
                    yield from (
                        archive.read(name).decode("utf-8", "replace") for name in archive.namelist()
                    )
