"""What a guarded file on a server does that takes too long for a whole run."""

import datetime
import logging
import ssl
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import snakemake_storage_plugin_http as http
import snakemake_storage_plugin_s3 as s3
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from capmap import downloads
from tests.remote.servers import ExportServer, serve_exports

sys.path.append(str(Path(__file__).parents[2] / "workflow"))
import remote

Open = Callable[[str], Any]


def open_by(plugin: ModuleType, kind: type, folder: Path, **settings: Any) -> Open:
    """Guarded files of a plugin's storage that are kept in a folder."""
    provider = plugin.StorageProvider(
        local_prefix=folder / "kept",
        logger=logging.getLogger("snakemake"),
        settings=plugin.StorageProviderSettings(**settings),
    )
    remote.KNOWN.clear()
    return lambda url: kind(query=url, keep_local=False, retrieve=True, provider=provider)


@pytest.fixture
def open_http(tmp_path: Path) -> Open:
    """Guarded files over HTTP."""
    return open_by(http, remote.HttpExport, tmp_path)


@pytest.fixture
def open_s3(tmp_path: Path, server: ExportServer) -> Open:
    """Guarded objects of an S3 that has the files and the faults of the server over HTTP."""
    keys = {"access_key": "testing", "secret_key": "testing"}
    return open_by(s3, remote.S3Export, tmp_path, endpoint_url=server.url, retries=2, **keys)


def test_a_server_that_says_nothing_is_given_up_on(open_http, server, monkeypatch):
    monkeypatch.setattr(downloads, "DEADLINES", (0.3, 0.3))
    server.files = {"/a.csv": (b"x", 0.0)}
    server.faults = {"/a.csv": "silent"}
    with pytest.raises(remote.RemoteError) as fault:
        open_http(f"{server.url}/a.csv").exists()
    assert str(fault.value).startswith(f"{server.url}/a.csv: the request fails (ReadTimeout).")


def test_a_certificate_of_nobody_known_is_said_so(open_http, server, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(write_certificate(tmp_path / "own.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with pytest.raises(remote.RemoteError, match=r"certificate .* cannot be trusted.*ca\.pem"):
        open_http(f"{server.url.replace('http', 'https')}/a.csv").exists()


@pytest.mark.parametrize("code", [401, 403, 404, 410, 429, 500, 503])
def test_every_status_is_said_with_what_to_do(open_http, server, code):
    server.faults = {"/a.csv": code}
    with pytest.raises(remote.RemoteError, match=rf"answers {code} .*\. [A-Z].*\."):
        open_http(f"{server.url}/a.csv").exists()


def test_an_object_that_ends_early_is_not_kept(open_s3, server):
    server.files = {"/runs/a.csv": (b"x" * 1000, 1e9)}
    server.faults = {"/runs/a.csv": "cut"}
    file = open_s3("s3://runs/a.csv")
    place = Path(file.local_path())
    place.parent.mkdir(parents=True)
    with pytest.raises(remote.RemoteError, match=r"\. Check the address"):
        file.retrieve_object()
    assert list(place.parent.iterdir()) == []


@pytest.mark.parametrize("refusal", [403, 405, 501])
def test_a_server_that_tells_of_no_file_alone_is_asked_for_the_file(open_http, server, refusal):
    server.files = {"/a.csv": (b"abc", 1_000_000_000.0)}
    server.heads = {"/a.csv": refusal}
    assert open_http(f"{server.url}/a.csv").size() == 3
    assert [verb for verb, _ in server.asked] == ["HEAD", "GET"]


def test_facts_are_those_of_the_server_and_asked_for_once(open_http, server):
    server.files = {"/a.csv": (b"abc", 1_000_000_000.0)}
    file = open_http(f"{server.url}/a.csv")
    assert (file.exists(), file.mtime(), file.size()) == (True, 1_000_000_000.0, 3)
    assert server.asked == [("HEAD", "/a.csv")]


def test_an_interrupted_load_leaves_the_former_file_alone(open_http, monkeypatch):
    file = open_http("http://127.0.0.1:9/a.csv")
    place = Path(file.local_path())
    place.parent.mkdir(parents=True)
    place.write_bytes(b"former")

    def interrupt(path: Path) -> None:
        path.write_bytes(b"ha")
        raise KeyboardInterrupt

    monkeypatch.setattr(file, "load", interrupt)
    with pytest.raises(KeyboardInterrupt):
        file.retrieve_object()
    assert [path.name for path in place.parent.iterdir()] == ["a.csv"]
    assert place.read_bytes() == b"former"


def test_addresses_that_differ_after_the_question_mark_are_different_files(open_http):
    places = {
        Path(open_http(f"http://127.0.0.1/a.csv{query}").local_path())
        for query in ("", "?id=1", "?id=2")
    }
    assert len(places) == 3
    assert {place.name for place in places} == {"a.csv"}


def write_certificate(path: Path) -> Path:
    """A key and a certificate for this machine that nobody has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(secret + certificate.public_bytes(pem))
    return path


def test_an_address_without_a_port_is_said_so(open_http):
    with pytest.raises(
        remote.RemoteError, match=r"^http://127\.0\.0\.1:x/a\.csv: .* Check the address"
    ):
        open_http("http://127.0.0.1:x/a.csv").exists()


@pytest.mark.parametrize("verb", ["exists", "retrieve_object"])
def test_redirections_are_followed_to_files_on_servers(open_http, server, verb):
    with serve_exports() as other:
        other.files = {"/b.csv": (b"abc", 1e9)}
        server.files = {"/c.csv": (b"abc", 1e9)}
        server.moved = {
            "/a.csv": f"{other.url}/b.csv?token=SECRET",
            "/own.csv": "/c.csv",
            "/circle.csv": "/circle.csv",
            "/file.csv": "file:///etc/hostname",
            "/odd.csv": "http://[/a.csv?token=SECRET",
        }

        def ask(path: str) -> None:
            file = open_http(f"{server.url}{path}")
            Path(file.local_path()).parent.mkdir(parents=True, exist_ok=True)
            getattr(file, verb)()

        for path, reason in {
            "/circle.csv": "TooManyRedirects",
            "/file.csv": "InvalidSchema",
            "/odd.csv": "the request fails",
        }.items():
            with pytest.raises(remote.RemoteError, match=reason) as fault:
                ask(path)
            assert "SECRET" not in str(fault.value)
        ask("/own.csv")
        ask("/a.csv")
        assert other.asked
