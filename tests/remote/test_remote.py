"""Exports by http:// and s3://, with real servers on this machine."""

import datetime
import logging
import ssl
import sys
import time
from collections.abc import Callable
from hashlib import sha256
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

from capmap.errors import ConfigError
from capmap.inputs import loading
from capmap.inputs.loading import check_configuration
from tests.remote.conftest import KEYS
from tests.remote.servers import DAY, ExportServer, require_keys, serve_exports
from tests.workflow.checkouts import Checkout, copy_project

sys.path.append(str(Path(__file__).parents[2] / "workflow"))
import remote

TOY = (Path(__file__).parents[2] / "data/tutorial/toy.csv").read_bytes()
METRICS = {"rmse": {"low": 0, "high": 100}}
TARGETS = ["results/first/runs.parquet", "results/second/runs.parquet"]
PAST = time.time() - 30 * DAY

Open = Callable[[str], Any]
TOY_FILE = Path(__file__).parents[2] / "data/tutorial/toy.csv"
PLACE = Path("downloads/a folder/toy.csv")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh copy of the project without results."""
    return copy_project(tmp_path / "project")


def write_studies(checkout: Checkout, **exports: str) -> None:
    checkout.write_studies(
        {name: {"exports": url, "metrics": METRICS} for name, url in exports.items()}
    )


def test_an_export_over_http_is_loaded_once_and_again_only_when_it_changes(checkout, server):
    server.files = {"/a.csv": (TOY, PAST), "/b.csv": (TOY, PAST)}
    server.undated = {"/b.csv"}
    write_studies(checkout, first=f"{server.url}/a.csv", second=f"{server.url}/b.csv")
    run = checkout.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert run.jobs == {"validate study=first": 1, "validate study=second": 1}
    assert server.count("GET", "/a.csv") == server.count("GET", "/b.csv") == 1
    before = checkout.digests()

    again = checkout.snakemake(*TARGETS)
    assert (again.status, again.rules) == (0, set()), again.output
    assert server.count("GET", "/a.csv") == 1

    for path in ("/a.csv", "/b.csv"):
        server.files[path] = (TOY.replace(b"0.8", b"0.7"), time.time())
    changed = checkout.snakemake(*TARGETS)
    assert changed.jobs == {"validate study=first": 1}, changed.output
    after = checkout.digests()
    assert before["second/runs.parquet"] == after["second/runs.parquet"]
    assert before["first/runs.parquet"] != after["first/runs.parquet"]

    # Of a file without a date nobody can tell; docs/limits.md says what to do.
    (checkout.folder / "results/second/runs.parquet").unlink()
    reloaded = checkout.snakemake(*TARGETS)
    assert reloaded.jobs == {"validate study=second": 1}, reloaded.output
    last = checkout.digests()
    assert last["second/runs.parquet"] != before["second/runs.parquet"]
    assert last["first/runs.parquet"] == after["first/runs.parquet"]


def test_an_export_on_s3_is_loaded_once_and_again_only_when_it_changes(checkout, s3):
    for key in ("a.csv", "b.csv"):
        s3.put_object(Bucket="runs", Key=key, Body=TOY)
    write_studies(checkout, first="s3://runs/a.csv", second="s3://runs/b.csv")
    arguments = [*TARGETS, "--storage-s3-endpoint-url", s3.meta.endpoint_url]
    run = checkout.snakemake(*arguments)
    assert run.jobs == {"validate study=first": 1, "validate study=second": 1}
    assert checkout.snakemake(*arguments).rules == set()

    time.sleep(1.1)  # S3 counts whole seconds
    s3.put_object(Bucket="runs", Key="b.csv", Body=TOY.replace(b"0.8", b"0.7"))
    changed = checkout.snakemake(*arguments)
    assert changed.jobs == {"validate study=second": 1}, changed.output


def test_a_fault_of_a_server_is_one_message_and_leaves_nothing(checkout, server):
    server.files = {"/a.csv": (TOY, PAST)}
    server.faults = {"/a.csv": 404}
    write_studies(checkout, first=f"{server.url}/a.csv")
    run = checkout.snakemake(TARGETS[0])
    answer = "the server answers 404 Not Found. Check the address"
    require_one_message(run, f"{server.url}/a.csv: {answer}")
    require_nothing_left(checkout)


def test_a_file_that_was_cut_is_loaded_whole_by_the_next_run(checkout, server):
    server.files = {"/a.csv": (TOY, PAST)}
    server.faults = {"/a.csv": "cut"}
    write_studies(checkout, first=f"{server.url}/a.csv")
    run = checkout.snakemake(TARGETS[0])
    require_one_message(run, f"{server.url}/a.csv: the request fails (ChunkedEncodingError). Check")
    require_nothing_left(checkout)

    server.faults = {}
    assert checkout.snakemake(TARGETS[0]).status == 0


def test_a_missing_object_and_a_missing_bucket_are_one_message(checkout, s3):
    arguments = [TARGETS[0], "--storage-s3-endpoint-url", s3.meta.endpoint_url]
    for url in ("s3://runs/a.csv", "s3://absent/a.csv"):
        write_studies(checkout, first=url)
        run = checkout.snakemake(*arguments)
        require_one_message(run, f"{url}: An error occurred (404) ")
        assert "Check the address, --storage-s3-endpoint-url" in run.output
    require_nothing_left(checkout)


def test_keys_that_are_refused_or_absent_are_one_message(checkout, s3, monkeypatch):
    s3.put_object(Bucket="runs", Key="a.csv", Body=TOY)
    url = "s3://runs/a.csv"
    write_studies(checkout, first=url)
    arguments = [TARGETS[0], "--storage-s3-endpoint-url", s3.meta.endpoint_url]
    with require_keys(s3.meta.endpoint_url):
        run = checkout.snakemake(*arguments)
    require_one_message(run, f"{url}: An error occurred (403) ")
    for key in KEYS:
        monkeypatch.delenv(f"SNAKEMAKE_STORAGE_S3_{key}")
    run = checkout.snakemake(*arguments)
    require_one_message(run, f"{url}: Unable to locate credentials. Check the address")
    require_nothing_left(checkout)


def require_one_message(run, message: str) -> None:
    """The run fails, says so once, and shows no line of code."""
    assert run.status != 0
    assert run.output.count(message) == 1, run.output
    assert 'File "' not in run.output
    assert "Traceback" not in run.output


def require_nothing_left(checkout: Checkout) -> None:
    """Neither a result nor part of a file is left."""
    for folder in ("results", ".snakemake/storage"):
        files = [path for path in checkout.folder.glob(f"{folder}/**/*") if path.is_file()]
        assert [path for path in files if "logs" not in path.parts] == []


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
    monkeypatch.setattr(loading, "DEADLINES", (0.3, 0.3))
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


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fetch(address):
    """Check a study of a downloaded export; what was fetched."""
    told = []
    file = {"address": address, "sha256": sha256(TOY_FILE.read_bytes()).hexdigest()}
    study = {"exports": str(PLACE), "metrics": {"rmse": {"low": 0, "high": 100}}}
    config = {"downloads": {"a folder/toy.csv": file}, "studies": {"toy": study}}
    check_configuration(config, announce=told.append)
    return told


def refuse(address):
    """The message; nothing was put in place."""
    with pytest.raises(ConfigError) as fault:
        fetch(address)
    assert not [*Path("downloads").rglob("*.*")]
    (line,) = str(fault.value).splitlines()
    assert line.startswith('downloads."a folder/toy.csv": ')
    return line


def test_a_file_is_fetched_once_and_then_needs_no_server(server):
    server.files["/toy.csv"] = (TOY_FILE.read_bytes(), 0.0)
    address = f"{server.url}/toy.csv"
    assert fetch(address) == [f"Fetching {address}"]
    assert PLACE.read_bytes() == TOY_FILE.read_bytes()
    assert fetch(address) == []
    assert server.count("GET", "/toy.csv") == 1


def test_another_digest_is_refused_wherever_the_file_is_from(server):
    server.files["/toy.csv"] = (TOY_FILE.read_bytes() + b"\n", 0.0)
    assert "has another SHA-256" in refuse(f"{server.url}/toy.csv")
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    PLACE.write_bytes(b"edited")
    with pytest.raises(ConfigError, match=r"toy\.csv has another SHA-256\. Remove"):
        fetch("https://example.invalid/toy.csv")


def test_what_cannot_be_fetched_is_told_in_one_line(server):
    address = f"{server.url}/toy.csv"
    told = refuse(address)
    assert "the server answers 404 Not Found. Check the address" in told
    assert f"Or copy the file to {PLACE}." in told
    server.files["/toy.csv"] = (TOY_FILE.read_bytes(), 0.0)
    server.faults["/toy.csv"] = "cut"
    assert "the request fails (ChunkedEncodingError)." in refuse(address)


def test_what_no_study_of_the_run_names_is_not_fetched(server):
    server.files["/toy.csv"] = (TOY_FILE.read_bytes(), 0.0)
    digest = sha256(TOY_FILE.read_bytes()).hexdigest()
    files = {
        name: {"address": f"{server.url}/{address}.csv", "sha256": digest}
        for name, address in {"a/one.csv": "toy", "a/two.csv": "toy", "b/c.csv": "none"}.items()
    }
    toy = {"metrics": {"rmse": {"low": 0, "high": 100}}}
    studies = {
        "glob": {**toy, "exports": ["downloads/a/*.csv"]},
        "other": {**toy, "exports": "downloads/b/c.csv"},
    }
    check_configuration({"downloads": files, "studies": studies, "run": "glob"})
    assert sorted(map(str, Path("downloads").rglob("*.csv"))) == [
        *("downloads/a/one.csv", "downloads/a/two.csv")
    ]


@pytest.mark.parametrize("name", ["/etc/passwd", "../up.csv", "a/../../up.csv", ".hidden", "a/"])
def test_downloads_stay_below_their_folder(name):
    file = {"address": "https://example.invalid/x", "sha256": "0" * 64}
    config = {"downloads": {name: file}, "studies": {"toy": {"exports": str(TOY_FILE)}}}
    with pytest.raises(ConfigError, match="A path below downloads/"):
        check_configuration(config)
