"""Files that others publish: fetched over HTTP or from a mirror, once, and checked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from capmap.addresses import hide
from capmap.errors import ConfigError
from capmap.settings.study import DOWNLOADS
from capmap.wording import write_key

# Seconds until a server has to accept a connection, and until it has to send something.
DEADLINES = (10.0, 60.0)
BLOCK = 1 << 20
LATER = "Try again later, or download the file and name the copy."
ADDRESS = "Check the address."
REMEDIES = {
    401: "It asks for a login: see --storage-http-auth.",
    403: "Ask its owner for access, or check your login (--storage-http-auth).",
    404: ADDRESS,
    410: ADDRESS,
}


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


def fetch_file(
    name: str, file: Mapping[str, str], mirror: str, announce: Callable[[str], object]
) -> None:
    """Fetch a file that is not there yet."""
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
            if "://" not in source:
                stream.write(Path(source).read_bytes())
            else:
                with ask_server(source) as answer:
                    stream.writelines(answer.iter_content(BLOCK))
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


@contextmanager
def ask_server(address: str, verb: str = "GET", **options: Any) -> Iterator[Any]:
    """Ask a server for a file, and give its answer; a refusal or fault is a `ConfigError`."""
    # Not above: it would slow the start of runs without files on servers.
    import requests

    # Compressed on the way, a file would be of unknown size.
    options |= {"headers": {"Accept-Encoding": "identity"}, "stream": True}
    try:
        with requests.request(verb, address, timeout=DEADLINES, **options) as answer:
            if answer.status_code != requests.codes.ok:
                status = f"{answer.status_code} {answer.reason}"
                remedy = REMEDIES.get(answer.status_code, LATER)
                raise ConfigError(f"the server answers {status}. {remedy}")
            yield answer
    except (requests.RequestException, ValueError) as error:
        raise ConfigError(_explain_request(error)) from None


def _explain_request(error: Exception) -> str:
    """Say what went wrong with a request over HTTP, and what to do."""
    from requests import exceptions

    if isinstance(error, exceptions.SSLError):
        return (
            "the certificate of the server cannot be trusted. If it is your own, name its "
            "authority: export REQUESTS_CA_BUNDLE=/path/to/ca.pem"
        )
    if isinstance(error, exceptions.Timeout) or "Read timed out" in str(error):
        return f"the server does not answer in time. {LATER}"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return f"the server stopped in the middle of the file. {LATER}"
    if isinstance(error, exceptions.ConnectionError):
        return f"the server cannot be reached. {ADDRESS} {LATER}"
    return f"the request fails ({type(error).__name__}). {ADDRESS}"
