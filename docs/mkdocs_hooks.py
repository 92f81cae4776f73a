"""Hooks of MkDocs: files outside ``docs/`` that its pages link to become part of the site."""

import posixpath
import re
import runpy
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Places in the site by places in the repository. A README would be the first page of its folder.
PLACES = {
    "CITATION.cff": "CITATION.cff",
    "CONTRIBUTING.md": "contributing.md",
    "LICENSE": "LICENSE",
    "README.md": "index.md",
    "data/README.md": "examples.md",
}
ORIGINS = {place: origin for origin, place in PLACES.items()}
LINK = re.compile(r'(\]\(|src=")([^)"#\s:]+)(?=[)"#])')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files from outside, and the JSON schema of the settings."""
    for origin, place in PLACES.items():
        files.append(File.generated(config, place, content=(ROOT / origin).read_bytes()))
    schema = runpy.run_path(str(ROOT / "docs/make_configuration.py"))["render_schema"]()
    files.append(File.generated(config, "configuration.schema.json", content=schema))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Turn links that are right in the repository into links that are right in the site.

    Links to what is not in the site stay as they are, which MkDocs then complains of.
    """
    place = page.file.src_uri
    folder = posixpath.dirname(ORIGINS.get(place, f"docs/{place}"))

    def turn(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        there = PLACES.get(target, target.removeprefix("docs/"))
        if not files.get_file_from_path(there):
            return link[0]
        return link[1] + posixpath.relpath(there, posixpath.dirname(place) or ".")

    return LINK.sub(turn, markdown)
