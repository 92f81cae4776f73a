"""What goes wrong when a server is asked for a file, and what to do."""

import requests

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


def explain_request(error: requests.RequestException) -> tuple[str, str]:
    """What went wrong with a request over HTTP, and what to do."""
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
