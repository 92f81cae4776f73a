"""Secrets in addresses, in some fifty runs that end well or in every way that servers fail.

User, password, query and fragment of the addresses are planted, and searched (as they are,
percent-encoded and in base 64) on the terminal and in every byte below results/ and .snakemake/
after each run. Prints a row per run; a secret that is found, a run that ends otherwise than it
should, or lines of code in its message end the script with an error.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
from attacks import record_attack

from capmap.tables import render_markdown
from tests.remote.planted import PASSWORD, find_planted, plant, read_everything
from tests.remote.servers import ExportServer, serve_exports
from tests.workflow.checkouts import Checkout, copy_project

PROJECT = Path(__file__).parents[1]
TOY = (PROJECT / "data/tutorial/toy.csv").read_bytes()
STUDY = {
    "metrics": {"rmse": {"low": 0, "high": 100}},
    "analyses": [],
    "figures": {"only": ["intervals"]},
}
RUNS = "results/first/runs.parquet"
PAGES = ["results/first/report.html", "results/first/data.zip"]
STATUSES = [400, 401, 403, 404, 405, 407, 410, 418, 429, 500, 501, 502, 503, 504]


class Variant(NamedTuple):
    """A run: how it should end, the study's settings, what the server does, and the command."""

    name: str
    ends_well: bool
    settings: dict[str, Any]
    server: Mapping[str, Any] = MappingProxyType({})
    arguments: Sequence[str] = (RUNS,)


def list_variants(url: str, elsewhere: str) -> Iterator[Variant]:
    """All runs, with the addresses of two servers."""
    yield from _list_answers(url, elsewhere)
    yield from _list_contents(url)
    yield from _list_mistakes(url)
    own = {"exports": plant(f"{url}/a.csv")}
    quoted = own["exports"].replace(PASSWORD, f"x'{PASSWORD}")
    yield Variant("a quote in the password", True, {"exports": quoted})
    yield Variant(
        "a quote in the password, 404", False, {"exports": quoted}, {"faults": {"/a.csv": 404}}
    )
    for option in ("--dry-run", "--summary", "--detailed-summary"):
        yield Variant(option, True, own, {}, [RUNS, option])
    for option in ("--dag", "--rulegraph"):
        yield Variant(option, True, own, {}, [RUNS, option, "dot"])
    yield Variant("--verbose", True, own, {}, [RUNS, "--verbose", "--printshellcmds"])
    yield Variant("pages", True, own, {}, PAGES)


def _list_answers(url: str, elsewhere: str) -> Iterator[Variant]:
    """Servers that refuse, move the file, or are not there."""
    address = plant(f"{url}/a.csv")
    own = {"exports": address}
    for status in STATUSES:
        yield Variant(f"status {status}", False, own, {"faults": {"/a.csv": status}})
    yield Variant("no headers alone", True, own, {"heads": {"/a.csv": 405}})
    yield Variant("cut", False, own, {"faults": {"/a.csv": "cut"}})
    yield Variant("silent", False, own, {"faults": {"/a.csv": "silent"}})
    for name, place in {
        "another host": plant(f"{elsewhere.replace('127.0.0.1', 'localhost')}/a.csv"),
        "itself": address,
        "a file": plant("file:///etc/passwd"),
        "no server": plant("http://127.0.0.1:9/a.csv"),
        "no address": plant("http://[/a.csv"),
    }.items():
        yield Variant(f"moved to {name}", False, own, {"moved": {"/a.csv": place}})
    moved = {"moved": {"/a.csv": plant(f"{url}/b.csv")}}
    yield Variant("moved on the same host", True, own, moved)
    for name, place in {
        "no server": "http://127.0.0.1:9/a.csv",
        "no host": "http://example.invalid/a.csv",
        "no port": "http://127.0.0.1:x/a.csv",
        "no certificate": f"{url.replace('http', 'https')}/a.csv",
        "FTP": "ftp://127.0.0.1:9/a.csv",
        "Google": "gs://bucket/a.csv",
        "a bucket": "s3://bucket/a.csv",
    }.items():
        yield Variant(name, False, {"exports": plant(place)})


def _list_contents(url: str) -> Iterator[Variant]:
    """Files that cannot be used, of which a message or a table says where they are from."""
    address = plant(f"{url}/a.csv")
    own = {"exports": address}
    for name, content in {
        "a page": b"<!DOCTYPE html><html>Sign in</html>",
        "nothing": b"",
        "no column": TOY.replace(b"model", b"nodel"),
        "no numbers": TOY.replace(b"0.8", b"x.8"),
        "binary": bytes(99),
    }.items():
        yield Variant(f"file: {name}", False, own, {"files": {"/a.csv": (content, 0.0)}})
    files = {"files": {"/a.csv": (TOY.replace(b"0.8", b"x.8", 1), 0.0)}}
    kept = own | {"invalid": "quarantine", "incomplete": "keep"}
    yield Variant("file: a row in quarantine", True, kept, files)
    yield Variant("other bytes", False, own | {"checksums": {address: "0" * 64}})
    yield Variant("a name that is not there", False, own | {"where": {"model": "none"}})


def _list_mistakes(url: str) -> Iterator[Variant]:
    """Addresses in the wrong place of a configuration, which its message shows."""
    address = plant(f"{url}/a.csv")
    own = {"exports": address}
    mistakes: dict[str, dict[str, Any]] = {
        "key": {"exprots": address},
        "section": {"exports": {"path": address}},
        "pattern": {"exports": address.replace("a.csv", "{model}.csv")},
        "glob": {"exports": address.replace("a.csv", "*.csv")},
        "twice": {"exports": [address, address]},
        "format": own | {"format": address},
        "preset": own | {"preset": address},
        "benchmark": own | {"benchmark": address},
        "conditions": own | {"conditions": [address]},
        "attributes": own | {"attributes": {"models": {"file": address}}},
        "checksums": own | {"checksums": {f"{address}2": "0" * 64}},
        "redirects": own | {"redirects": [address]},
        "references": own | {"normalization": {"references": plant(f"{url}/none.csv")}},
        "store": own | {"tracking": {"store": plant(f"{url}/none")}},
    }
    for name, settings in mistakes.items():
        yield Variant(f"mistake: {name}", False, settings)


def try_variant(checkout: Checkout, server: ExportServer, variant: Variant) -> tuple[int, int]:
    """Run; tell whether it ended otherwise than it should, and how many secrets are found."""
    server.files = {"/a.csv": (TOY, time.time()), "/b.csv": (TOY, time.time())}
    server.faults, server.heads, server.moved = {}, {}, {}
    for name, value in variant.server.items():
        setattr(server, name, value)
    checkout.write_studies({"first": STUDY | variant.settings})
    run = checkout.snakemake(*variant.arguments, "--forcerun", "validate_exports", cores=1)
    found = find_planted(run.output, *read_everything(checkout.folder))
    is_lost = (run.status == 0) != variant.ends_well or "Traceback" in run.output
    if found or is_lost:
        print(variant.name, found, run.output[-1500:], sep="\n", file=sys.stderr)
    return int(is_lost), len(found)


def main() -> None:
    """Run all, search after each; print the table and record the counts."""
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_exports() as server,
        serve_exports() as elsewhere,
    ):
        checkout = copy_project(Path(folder) / "project")
        for variant in list_variants(server.url, elsewhere.url):
            lost, found = try_variant(checkout, server, variant)
            end = "well" if variant.ends_well else "with a message"
            rows.append({"run": variant.name, "ends": end, "lost": lost, "found": found})
    table = pd.DataFrame(rows)
    print(render_markdown(table), end="")
    lost, found = int(table["lost"].sum()), int((table["found"] > 0).sum())
    record_attack("runs with secrets in addresses", tries=len(table), lost=lost, misread=found)
    if lost or found:
        sys.exit("A run has given a secret away, or did not end as it should.")


if __name__ == "__main__":
    main()
