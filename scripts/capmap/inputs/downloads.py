"""Files that others publish, fetched once from their address or a mirror, by their SHA-256."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from capmap.addresses import hide
from capmap.errors import ConfigError
from capmap.inputs.studies import list_faults
from capmap.settings.data import DOWNLOADS
from capmap.wording import write_key

# Seconds until a server has to accept a connection, and until it has to send something.
DEADLINES = (10.0, 60.0)
BLOCK = 1 << 20
LATER = "Try again later, or download the file and name the copy."
CUT = "the server stopped in the middle of the file."
ADDRESS = "Check the address."
REMEDIES = {
    401: "It asks for a login: see --storage-http-auth.",
    403: "Ask its owner for access, or check your login (--storage-http-auth).",
    404: ADDRESS,
    410: ADDRESS,
}


def fetch_files(
    downloads: Mapping[str, Mapping[str, str]], mirror: str, announce: Callable[[str], object]
) -> Iterator[str]:
    """Fetch the files that are not there yet."""
    for name, file in downloads.items():
        yield from list_faults(_fetch_file, name, file, mirror, announce)


def list_texts(settings: Any) -> list[str]:
    """List all texts in some settings."""
    if isinstance(settings, str):
        return [settings]
    if not isinstance(settings, Mapping | list):
        return []
    parts = settings.values() if isinstance(settings, Mapping) else settings
    return [text for part in parts for text in list_texts(part)]


def is_named(name: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts is the path of a download, its folder, or a glob of it."""
    path = PurePosixPath(DOWNLOADS, name)
    places = {str(place) for place in (path, *path.parents)}
    return any(text.rstrip("/") in places or fnmatch(str(path), text) for text in texts)


def _fetch_file(
    name: str, file: Mapping[str, str], mirror: str, announce: Callable[[str], object]
) -> None:
    # Not above: they would slow the start of runs without downloads.
    from capmap.artifacts import digest_file, replace_file

    option, place = f"downloads.{write_key(name)}", Path(DOWNLOADS, name)
    if place.is_file():
        if digest_file(place) != file["sha256"]:
            remedy = "Remove it to fetch it anew, or correct the sha256."
            raise ConfigError(f"{option}: {place} has another SHA-256. {remedy}")
        return
    source, other = file["address"], "Or name a folder or server that has it in `mirror`."
    if mirror:
        source, other = f"{mirror.rstrip('/')}/{quote(name) if '://' in mirror else name}", ""
    shown = hide(source)
    announce(f"Fetching {shown}")
    try:
        with replace_file(place) as stream:
            for block in _read_blocks(source):
                stream.write(block)
            stream.flush()
            if digest_file(stream.name) != file["sha256"]:
                raise ConfigError(
                    "it has another SHA-256, so it is not the file that was meant. Correct the "
                    "sha256, or where the file is from."
                )
    except ConfigError as error:
        raise ConfigError(f"{option}: {shown}: {error} {other}".rstrip()) from error
    except OSError as error:
        text = f"{error.strerror}. Check the path of the mirror, and the folder {place.parent}."
        raise ConfigError(f"{option}: {shown}: {text}") from error


def _read_blocks(source: str) -> Iterator[bytes]:
    """Read a file, on this machine or from a server."""
    if "://" not in source:
        with open(source, "rb") as stream:
            while block := stream.read(BLOCK):
                yield block
        return
    # Not above: it would slow the start of runs without downloads.
    import requests

    headers = {"Accept-Encoding": "identity"}
    try:
        with requests.get(source, stream=True, timeout=DEADLINES, headers=headers) as answer:
            if answer.status_code != requests.codes.ok:
                remedy = REMEDIES.get(answer.status_code, LATER)
                status = f"{answer.status_code} {answer.reason}"
                raise ConfigError(f"the server answers {status}. {remedy}")
            yield from answer.iter_content(BLOCK)
    except requests.RequestException as error:
        raise ConfigError(" ".join(explain_request(error))) from error


def explain_request(error: OSError) -> tuple[str, str]:
    """What went wrong with a request over HTTP, and what to do."""
    import requests

    if isinstance(error, requests.exceptions.SSLError):
        remedy = "If it is your own, name its authority: export REQUESTS_CA_BUNDLE=/path/to/ca.pem"
        return "the certificate of the server cannot be trusted.", remedy
    if isinstance(error, requests.Timeout) or "Read timed out" in str(error):
        return "the server does not answer in time.", LATER
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return CUT, LATER
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached.", f"{ADDRESS} {LATER}"
    return f"the request fails ({type(error).__name__}).", ADDRESS
