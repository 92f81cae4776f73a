"""Templates made into pages that fetch nothing and run no script but their own."""

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2

TEMPLATES = Path(__file__).parent / "templates"


def render_page(
    template: str,
    *,
    scripts: Sequence[str] = (),
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **content: object,
) -> str:
    """Make a page of a template, which extends ``base.html.j2``, and of what it shows, escaped.

    `scripts` are JavaScript files that come after the one that all pages have and may use it. Style
    and script are named in the page's content security policy by their digests.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {**(filters or {}), "fingerprint": _fingerprint}
    environment.globals["zip"] = zip
    style = (TEMPLATES / "page.css").read_text("utf-8")
    script = "\n".join((TEMPLATES / name).read_text("utf-8") for name in ("page.js", *scripts))
    return environment.get_template(template).render(
        style=style, script=f'"use strict";\n{{\n{script}}}\n', **content
    )


def render_index(studies: Sequence[Mapping[str, Any]]) -> str:
    """Link the pages of studies: name, title, verdict, folder, and whether there is a board."""
    return render_page("index.html.j2", title="Benchmark studies", studies=studies)


def relate_path(path: str | Path, page: str | Path) -> str:
    """The address of a file relative to the page that links it."""
    return Path(os.path.relpath(path, Path(page).parent)).as_posix()


def _fingerprint(text: str) -> str:
    """Name a style or script in a content security policy."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
