"""Exports from servers: asked about once, loaded whole or not at all, faults in one line."""

import email.utils
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlparse

import snakemake_storage_plugin_http as http
import snakemake_storage_plugin_s3 as s3
from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_storage_plugins.io import Mtime

from capmap.errors import ConfigError
from capmap.inputs.loading import BLOCK, ask_server

S3_REMEDY = (
    "Check the address, --storage-s3-endpoint-url, and the credentials: "
    "SNAKEMAKE_STORAGE_S3_ACCESS_KEY and _SECRET_KEY."
)


class RemoteError(WorkflowError):
    """A fault of a server. It has no traceback, which Snakemake would print."""

    __traceback__ = None


class Facts(NamedTuple):
    """What a server says of a file: when it changed, in s since 1970, and its size in bytes."""

    mtime: float
    size: int


KNOWN: dict[str, Facts] = {}


def open_remote(storage: Any, url: str) -> Any:
    """Name a file on a server as the input of a rule.

    Notes
    -----
    The server is asked once per process. A file is loaded beside its place and moved there when it
    is whole, so a run that is killed meanwhile leaves no half that the next would take for the
    file. A file whose server sends no time of change counts as never changed. Addresses that differ
    in what follows ``?`` are different files.
    """
    kind = {"http": HttpExport, "https": HttpExport, "s3": S3Export}.get(urlparse(url).scheme)
    file = storage(url)
    if kind is None:
        return file
    plain = file.flags["storage_object"]
    file.flags["storage_object"] = kind(
        query=plain.query,
        keep_local=plain.keep_local,
        retrieve=plain.retrieve,
        provider=plain.provider,
    )
    return file


class Guarded:
    """What both kinds of storage share; `ask` and `load` are theirs."""

    query: str

    def ask(self) -> Facts:
        """Ask the server for the facts."""
        raise NotImplementedError

    def load(self, path: Path) -> None:
        """Load the whole file."""
        raise NotImplementedError

    def look(self) -> Facts:
        """The facts, asked for once."""
        if self.query not in KNOWN:
            KNOWN[self.query] = self.ask()
        return KNOWN[self.query]

    async def inventory(self, cache: Any) -> None:
        """Hand Snakemake the facts."""
        name = self.local_path()  # type: ignore[attr-defined]
        facts = self.look()
        for key in {name, str(name)}:
            cache.mtime[key] = Mtime(storage=facts.mtime)
            cache.size[key] = facts.size
            cache.exists_in_storage[key] = True

    def exists(self) -> bool:
        """Whether the file is there; a server without it raises."""
        return bool(self.look())

    def mtime(self) -> float:
        """When the file changed."""
        return self.look().mtime

    def size(self) -> int:
        """Size in bytes."""
        return self.look().size

    def retrieve_object(self) -> None:
        """Load the file beside its place and move it there."""
        place = Path(self.local_path())  # type: ignore[attr-defined]
        fresh = place.with_name(f".{place.name}.{os.getpid()}.tmp")
        try:
            self.load(fresh)
            fresh.replace(place)
        finally:
            fresh.unlink(missing_ok=True)

    def fail(self, reason: str) -> RemoteError:
        """The one message of a fault."""
        return RemoteError(f"{self.query}: {reason}")


class HttpExport(Guarded, http.StorageObject):  # type: ignore[misc]
    """A file behind ``http://`` or ``https://``."""

    def local_suffix(self) -> str:
        """Where the file is kept; Snakemake's plugin leaves out what follows ``?``."""
        plain = PurePosixPath(super().local_suffix())
        if not urlparse(self.query).query:
            return str(plain)
        return str(plain.parent / sha256(self.query.encode()).hexdigest()[:16] / plain.name)

    def ask(self) -> Facts:
        """Ask the server for the facts; some say nothing of a file that they hand out."""
        with suppress(RemoteError), self._request("HEAD") as answer:
            return read_headers(answer)
        with self._request("GET") as answer:
            return read_headers(answer)

    def load(self, path: Path) -> None:
        """Load the whole file."""
        with self._request("GET") as answer, open(path, "wb") as stream:
            for block in answer.iter_content(BLOCK):
                stream.write(block)

    @contextmanager
    def _request(self, verb: str) -> Iterator[Any]:
        """Ask, and follow redirections; credentials stay with the host of the address."""
        settings = self.provider.settings
        options = {"auth": settings.auth, "allow_redirects": settings.allow_redirects}
        try:
            with ask_server(self.query, verb, **options) as answer:
                yield answer
        except ConfigError as error:
            raise self.fail(str(error)) from None


def read_headers(answer: Any) -> Facts:
    """What the headers of an answer say of the file; 0 for what they do not say."""
    changed = email.utils.parsedate_tz(answer.headers.get("Last-Modified", ""))
    size = answer.headers.get("Content-Length", "")
    mtime = email.utils.mktime_tz(changed) if changed else 0.0
    return Facts(mtime, int(size) if size.isdecimal() else 0)


class S3Export(Guarded, s3.StorageObject):  # type: ignore[misc]
    """A file in a bucket, ``s3://bucket/key``."""

    def ask(self) -> Facts:
        """Ask the server for the facts."""
        with self._explain():
            item = self.s3obj()
            return Facts(item.last_modified.timestamp(), item.content_length)

    def load(self, path: Path) -> None:
        """Load the whole file."""
        with self._explain():
            self.s3obj().download_file(str(path))

    @contextmanager
    def _explain(self) -> Iterator[None]:
        try:
            yield
        except (BotoCoreError, Boto3Error, ClientError) as error:
            raise self.fail(f"{error}. {S3_REMEDY}") from None
