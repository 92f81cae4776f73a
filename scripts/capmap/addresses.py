"""Addresses of files on servers, shown without what may be a secret in them."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

# With one slash or without a colon it is a mistake, which is reported with what else stands there.
START = r"(?:[A-Za-z][A-Za-z0-9+.-]+:/|[A-Za-z]:(?=//)|https?/(?=/))"
ADDRESS = re.compile(START + r"[^\s\"'<>`\\]+")
MISTAKE = re.compile(rf"({START})[^?]*[@?]", re.DOTALL)
# Of an address such as https://me:a#b@example.org: a password that is cut at what ends a host.
CUT = re.compile(r"[?#][^=]*@")
NO_PORT = re.compile(r":\d*[^\d\]][^\]]*$")
HIDDEN = "…"
# What is new whenever an address is signed again, and says nothing of which file it is.
SIGNATURE = re.compile(
    r"token|key|sig|secret|pass|pwd|credential|auth|expire|policy|^x-(?:amz|goog|ms)-"
    r"|^(?:se|st|sp|sv|sr|spr|ske|skt|skoid|sktid|sks|skv)$",
    re.IGNORECASE,
)

_known: dict[str, str] = {}


def hide(address: str) -> str:
    """Take user, password, fragment and all values behind ``?`` out of an address.

    Addresses of different files stay different: what is not called like a part of a signature goes
    into 8 digits of a digest. Hidden once more, an address is the same.

    Examples
    --------
    >>> hide("https://me:pw@example.org/a.csv?token=T#part"), hide("runs/a.csv")
    ('https://example.org/a.csv?…', 'runs/a.csv')
    >>> hide("https://example.org/get?id=7")
    'https://example.org/get?…f422c82d'
    """
    if "://" not in address:
        mistake = MISTAKE.match(address)
        return f"{mistake[1]}{HIDDEN}" if mistake else address
    try:
        parts = urlsplit(address)
        host, query = parts.netloc.rpartition("@")[2], parts.query
        is_cut = CUT.search(address) or ("@" in parts.path and NO_PORT.search(parts.netloc))
        if is_cut and "@" not in parts.netloc:
            raise ValueError("The password is cut.")
    except ValueError:
        return address.partition("://")[0] + f"://{HIDDEN}"
    plain = f"{parts.scheme}://{host}{parts.path}"
    if not query:
        return plain
    if query.startswith(HIDDEN):
        return f"{plain}?{query}"
    given = parse_qsl(query, keep_blank_values=True)
    naming = sorted(pair for pair in given if not SIGNATURE.search(pair[0]))
    digest = sha256(urlencode(naming).encode()).hexdigest()[:8] if naming else ""
    return f"{plain}?{HIDDEN}{digest}"


def hide_in_text(text: str) -> str:
    """Hide in a text what `hide` takes out of each address."""
    return ADDRESS.sub(lambda found: hide(found[0]), text)


def hide_everywhere(value: Any) -> Any:
    """Hide in all texts of a nested value, keys included."""
    if isinstance(value, str):
        return hide_in_text(value)
    if isinstance(value, Mapping):
        return {hide_everywhere(key): hide_everywhere(child) for key, child in value.items()}
    return [hide_everywhere(child) for child in value] if isinstance(value, list) else value


def keep_secrets(config: Mapping[str, Any]) -> dict[str, Any]:
    """Hide the addresses of what studies read, so that nothing which they write can have them.

    Parameters
    ----------
    config : mapping
        Checked settings. What is published as it stands, such as links of a leaderboard, stays.

    Returns
    -------
    dict
        The same with addresses that `reveal` makes whole again in this process.
    """
    studies = {}
    for name, study in config["studies"].items():
        exports = study["exports"]
        listed = _keep(exports) if isinstance(exports, str) else [*map(_keep, exports)]
        bounds = study["normalization"]
        studies[name] = {
            **study,
            "exports": listed,
            "checksums": {_keep(path): digest for path, digest in study["checksums"].items()},
            "normalization": {**bounds, "references": _keep(bounds["references"])},
        }
    return {**config, "studies": studies}


def reveal(address: str) -> str:
    """The whole address of one that `keep_secrets` has hidden; others as they are."""
    return _known.get(address, address)


def _keep(address: str) -> str:
    hidden = hide(address)
    if hidden != address:
        _known[hidden] = address
    return hidden
