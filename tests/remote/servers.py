"""Servers on this machine that hand out exports, or fail to in a known way."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from moto.server import ThreadedMotoServer

from tests.waiting import PATIENCE_FOR_ANSWERS

DAY = 86400


class ExportServer(ThreadingHTTPServer):
    """Files by path, faults by path (a status, ``cut`` or ``silent``), and what was asked.

    ``heads`` are faults of requests for the headers alone, ``moved`` are redirections, ``undated``
    are files without Last-Modified, and ``secrets`` what has to stand in the address or headers of
    each request.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, tuple[bytes, float]] = {}
        self.faults: dict[str, int | str] = {}
        self.heads: dict[str, int | str] = {}
        self.moved: dict[str, str] = {}
        self.secrets: tuple[str, ...] = ()
        self.undated: set[str] = set()
        self.asked: list[tuple[str, str]] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_port}"

    def count(self, verb: str, path: str) -> int:
        """How often a file was asked for."""
        return self.asked.count((verb, path))

    def handle_error(self, *_: object) -> None:
        """Keep quiet when a client hangs up."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: ExportServer

    def do_HEAD(self) -> None:
        """Answer without a body."""
        self._answer()

    def do_GET(self) -> None:
        """Answer with a body."""
        self._answer()

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _answer(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append((self.command, path))
        if path in self.server.moved:
            self.send_response(302)
            self.send_header("Location", self.server.moved[path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        shown = f"{self.path} {self.headers.get('Authorization', '')}"
        if not all(secret in shown for secret in self.server.secrets):
            self.send_error(403)
            return
        faults = self.server.faults | (self.server.heads if self.command == "HEAD" else {})
        fault = faults.get(path, 200 if path in self.server.files else 404)
        if fault == "silent":
            self.server.closing.wait(30)
            return
        if isinstance(fault, int) and fault != 200:
            self.send_error(fault)
            return
        content, changed = self.server.files[path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        if path not in self.server.undated:
            self.send_header("Last-Modified", formatdate(changed, usegmt=True))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[: len(content) // 2] if fault == "cut" else content)


@contextmanager
def serve_exports() -> Iterator[ExportServer]:
    """A server over HTTP in a thread."""
    server = ExportServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve_s3() -> Iterator[str]:
    """An S3 in memory; gives its address."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        # It remembers other servers' buckets.
        requests.post(f"{url}/moto-api/reset", timeout=PATIENCE_FOR_ANSWERS)
        yield url
    finally:
        server.stop()


@contextmanager
def require_keys(url: str) -> Iterator[None]:
    """Have an S3 answer 403 to keys that it did not hand out itself."""
    requests.post(f"{url}/moto-api/reset-auth", data="0", timeout=PATIENCE_FOR_ANSWERS)
    try:
        yield
    finally:
        requests.post(f"{url}/moto-api/reset-auth", data="inf", timeout=PATIENCE_FOR_ANSWERS)
