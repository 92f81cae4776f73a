"""Files that others publish: fetched over HTTP once, and checked."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capmap.errors import ConfigError
from capmap.wording import write_key

DOWNLOADS = "downloads"
# Seconds until a server has to accept a connection, and until it has to send something.
DEADLINES = (10.0, 60.0)
BLOCK = 1 << 20
REMEDY = (
    "Check the address and your login (--storage-http-auth), try again later, or download the file "
    "and name the copy."
)


def fetch_file(name: str, file: Mapping[str, str], announce: Callable[[str], object]) -> None:
    """Fetch a file that is not there yet."""
    # Not above: they would slow the start of runs without downloads.
    from capmap.artifacts import digest_file, replace_file

    option, place = f"downloads.{write_key(name)}", Path(DOWNLOADS, name)
    if place.is_file():
        if digest_file(place) != file["sha256"]:
            remedy = "Remove it to fetch it anew, or correct the sha256."
            raise ConfigError(f"{option}: {place} has another SHA-256. {remedy}")
        return
    announce(f"Fetching {file['address']}")
    try:
        with replace_file(place) as stream:
            with ask_server(file["address"]) as answer:
                stream.writelines(answer.iter_content(BLOCK))
            stream.flush()
            if digest_file(stream.name) != file["sha256"]:
                raise ConfigError("it has another SHA-256. Correct that or the address.")
    except ConfigError as error:
        text = f"{option}: {file['address']}: {error} Or copy the file to {place}."
        raise ConfigError(text) from error


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
                raise ConfigError(f"the server answers {status}. {REMEDY}")
            yield answer
    except requests.exceptions.SSLError as error:
        raise ConfigError(
            "the certificate of the server cannot be trusted. If it is your own, name its "
            "authority: export REQUESTS_CA_BUNDLE=/path/to/ca.pem"
        ) from error
    except (requests.RequestException, ValueError) as error:
        # Its text may name other addresses, to which the server has redirected.
        raise ConfigError(f"the request fails ({type(error).__name__}). {REMEDY}") from None
