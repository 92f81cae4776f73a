"""Write ``capmap.cdx.json``, what the lock pins: ``python packaging/make_sbom.py``."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
SBOM = ROOT / "packaging/capmap.cdx.json"
PAGE = ROOT / "docs/dependencies.md"
HEAD = """\
# Dependencies

<!-- Generated from requirements.lock by packaging/make_sbom.py. -->

The versions of `requirements.lock`, with the licenses that they declare; "not known" is also that
of a package for another system than the one on which this list was made. The same list as
[CycloneDX](https://cyclonedx.org), with what needs what, lies in the wheel below
`capmap-*.dist-info/sboms/` and in the checkout as `packaging/capmap.cdx.json`. Of a package with
two versions the newer one is for newer versions of Python.

| package | version | license |
|---|---|---|
"""


def render_sbom() -> dict[str, Any]:
    """List the packages of the lock, with the licenses and needs of what is installed."""
    pinned = _run("requirements", LOCK)["components"]
    found = _run("environment", sys.prefix, "--pyproject", ROOT / "pyproject.toml")
    root = found["metadata"]["component"]
    installed = {part["bom-ref"]: part for part in found["components"]}
    licenses = {_name(part): part.get("licenses", []) for part in installed.values()}
    # A package that is pinned once per version of Python has several lines.
    refs = {
        _name(part): [other["purl"] for other in pinned if _name(other) == _name(part)]
        for part in pinned
    }
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in found["dependencies"]}

    def list_needs(ref: str) -> list[str]:
        return sorted(purl for need in needs[ref] for purl in refs.get(_name(installed[need]), []))

    return {
        **{key: found[key] for key in ("$schema", "bomFormat", "specVersion", "version")},
        "metadata": {"component": root},
        "components": [
            {key: part[key] for key in ("type", "name", "version", "purl")}
            | {"bom-ref": part["purl"], "licenses": licenses.get(_name(part), [])}
            for part in pinned
        ],
        "dependencies": [{"ref": root["bom-ref"], "dependsOn": list_needs(root["bom-ref"])}]
        + [
            {"ref": purl, "dependsOn": list_needs(ref)}
            for ref, part in sorted(installed.items())
            for purl in refs.get(_name(part), [])
        ],
    }


def render_page(sbom: dict[str, Any]) -> str:
    """Render the list of licenses."""
    rows = [
        f"| {part['name']} | {part['version']} | {_name_license(part)} |\n"
        for part in sbom["components"]
    ]
    return HEAD + "".join(rows)


def _run(*arguments: object) -> Any:
    # Apart from the environment: with it there, each import of jsonschema takes two seconds more.
    tool = [
        sys.executable,
        "-m",
        "uv",
        "tool",
        "run",
        "--from",
        "cyclonedx-bom==7.5.0",
        "cyclonedx-py",
    ]
    command = [*tool, *map(str, arguments), "--output-reproducible"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def _name(part: dict[str, Any]) -> str:
    return str(part["purl"]).partition("@")[0]


def _name_license(part: dict[str, Any]) -> str:
    found = [entry.get("license", entry) for entry in part["licenses"]]
    standard = [entry.get("expression") or entry.get("id") for entry in found]
    declared = [entry["name"].split(" :: ")[-1] for entry in found if "name" in entry]
    return ", ".join(filter(None, standard)) or ", ".join(declared) or "not known"


if __name__ == "__main__":
    made = render_sbom()
    SBOM.write_text(json.dumps(made, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(render_page(made), "utf-8")
