"""Downloads: from an address, once, and never with another digest."""

from hashlib import sha256
from pathlib import Path

import pytest

from capmap.errors import ConfigError
from capmap.inputs.configuration import check_configuration

TOY = Path(__file__).parents[2] / "data/tutorial/toy.csv"
PLACE = Path("downloads/a folder/toy.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fetch(address):
    """Check a study of a downloaded export; what was fetched."""
    told = []
    file = {"address": address, "sha256": sha256(TOY.read_bytes()).hexdigest()}
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
    server.files["/toy.csv"] = (TOY.read_bytes(), 0.0)
    address = f"{server.url}/toy.csv"
    assert fetch(address) == [f"Fetching {address}"]
    assert PLACE.read_bytes() == TOY.read_bytes()
    assert fetch(address) == []
    assert server.count("GET", "/toy.csv") == 1


def test_another_digest_is_refused_wherever_the_file_is_from(server):
    server.files["/toy.csv"] = (TOY.read_bytes() + b"\n", 0.0)
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
    server.files["/toy.csv"] = (TOY.read_bytes(), 0.0)
    server.faults["/toy.csv"] = "cut"
    assert "the request fails (ChunkedEncodingError)." in refuse(address)


def test_what_no_study_of_the_run_names_is_not_fetched(server):
    server.files["/toy.csv"] = (TOY.read_bytes(), 0.0)
    digest = sha256(TOY.read_bytes()).hexdigest()
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
    config = {"downloads": {name: file}, "studies": {"toy": {"exports": str(TOY)}}}
    with pytest.raises(ConfigError, match="A path below downloads/"):
        check_configuration(config)
