"""The words of an analysis: its blocks in the templates, as HTML, plain text or LaTeX.

A text is rendered once, as HTML with two elements: ``<bdi>`` around names and ``<cite>`` around
keys of ``references.bib``. Plain text and LaTeX are made of that.
"""

import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from capmap.analyses import list_parameters, load_analysis, place_read
from capmap.latex import name_reference, write_name
from capmap.tables import call_with, escape_latex
from capmap.wording import (
    LONGEST_NAME,
    format_count,
    format_p,
    format_percent,
    join_words,
    name_first,
    name_statistic,
    spell_statistic,
)

SHOWN_NAMES = 3
# What an analysis may say; its block for methods is ``<analysis>_methods``, and so on.
BLOCKS = ("headline", "note", "aggregation", "answer", "methods")
AN = ("iqm", "optimality_gap")
NAME = Markup('<bdi class="name">{}</bdi>')
SPACED = re.compile(r"(<bdi.*?</bdi>)| ([.,;:)])")
ELEMENT = re.compile(r'<bdi class="name">(.*?)</bdi>|<cite>(.*?)</cite>')


def write_page(text: Markup) -> Markup:
    """The text for a page, with citations in brackets."""
    return Markup(ELEMENT.sub(lambda found: _cite(found[2]) if found[2] else found[0], text))  # noqa: S704


def write_plain(text: Markup) -> str:
    """The text without markup; names are in quotes."""
    return html.unescape(
        ELEMENT.sub(lambda found: _cite(found[2]) if found[2] else f"'{found[1]}'", text)
    )


def write_latex(text: Markup) -> str:
    r"""The text in LaTeX, with ``\citep``."""
    plain, *others = ELEMENT.split(text)
    written = escape_latex(html.unescape(plain))
    for name, keys, plain in zip(others[::3], others[1::3], others[2::3], strict=True):
        written += rf"\citep{{{keys}}}" if keys else write_name(html.unescape(name))
        written += escape_latex(html.unescape(plain))
    return written


def _cite(keys: str) -> str:
    return f"({'; '.join(map(name_reference, keys.split(',')))})"


@cache
def _make_environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= FILTERS
    environment.globals |= {"cite": cite, "interval": format_interval}
    return environment


def _load_template(name: str) -> jinja2.Template:
    """Load the template that has the blocks of an analysis."""
    files = Path(__file__).parent.glob("*.j2")
    found = next(file for file in files if f" {name}_methods " in file.read_text("utf-8"))
    return _make_environment().get_template(found.name)


def cite(*keys: str) -> Markup:
    """Cite publications by their keys in ``references.bib``."""
    return Markup("<cite>{}</cite>").format(",".join(keys))


def format_name(name: object) -> Markup:
    """Write a name, shortened to what a sentence has room for."""
    text = " ".join(str(name).split())
    short = text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
    return NAME.format(short)


def format_names(names: Iterable[object], shown: int = SHOWN_NAMES) -> Markup:
    """Write names as a list in a sentence, and only count those beyond the first few.

    Examples
    --------
    >>> format_names("abcde").striptags()
    'a, b, c and 2 more'
    """
    written = [format_name(name) for name in names]
    if len(written) > shown + 1:
        written = [*written[:shown], Markup("{:,} more").format(len(written) - shown)]
    front, end = Markup(", ").join(written[:-1]), Markup("").join(written[-1:])
    return front + Markup(" and ") + end if front else end


def format_value(value: float, decimals: int = 3) -> str:
    """Write a number with three decimals, or others.

    Examples
    --------
    >>> format_value(0.12345), format_value(-0.0001), format_value(float("nan"))
    ('0.123', '0.000', 'not available')
    """
    if pd.isna(value):
        return "not available"
    return f"{value:z.{decimals}f}" if math.isfinite(value) else "infinite"


def format_error(value: float) -> str:
    """Write an error of predictions, or a difference of two, with four decimals."""
    return format_value(value, 4)


def format_share(share: float) -> str:
    """Write a share in whole percent.

    Examples
    --------
    >>> [format_share(share) for share in (0, 0.001, 0.128, 0.999, 1)]
    ['0%', 'less than 1%', '13%', 'more than 99%', '100%']
    """
    if 0 < share < 0.005:
        return "less than 1%"
    return "more than 99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def format_interval(ends: Sequence[float], level: float, decimals: int = 3) -> str:
    """Write an interval in brackets behind its estimate, or nothing where there is none.

    Examples
    --------
    >>> format_interval([0.1, 0.25], 0.95)
    ' (95% interval 0.100 to 0.250)'
    """
    low, high = ends
    if pd.isna(low) or pd.isna(high):
        return ""
    written = f"{format_value(low, decimals)} to {format_value(high, decimals)}"
    return f" ({format_percent(level)} interval {written})"


# What templates may do with numbers and names, also those of pages.
FILTERS: dict[str, Callable[..., Any]] = {
    "name": format_name,
    "names": format_names,
    "value": format_value,
    "error": format_error,
    "percent": format_percent,
    "share": format_share,
    "p": format_p,
    "count": format_count,
    "words": join_words,
    "first": name_first,
    "article": lambda name: f"{'an' if name in AN else 'a'} {name_statistic(name)}",
    "thousands": "{:,}".format,
    "spelled": spell_statistic,
}


def describe_analysis(
    name: str, tables: Mapping[str, pd.DataFrame], options: Mapping[str, Any], reason: str = ""
) -> dict[str, Markup]:
    """Render the blocks of an analysis: ``methods``, ``answer`` and others, each on one line.

    Tables are by their place, such as ``comparisons/elo``; `options` are what `find_facts` is
    given. A reason why its tables are empty is all that it says then.
    """
    if reason:
        return {"methods": Markup(""), "answer": Markup.escape(reason)}
    known, declared = dict(options), load_analysis(name)
    for parameter in list_parameters(declared.find_facts, behind_star=False):
        place = place_read(parameter, name).removesuffix(".csv")
        if place in tables:
            known[parameter] = tables[place]
    facts = {**options, **call_with(declared.find_facts, known)}
    template = _load_template(name)
    context = template.new_context(facts)
    blocks = {block: template.blocks.get(f"{name}_{block}") for block in BLOCKS}
    return {block: _tidy("".join(own(context))) for block, own in blocks.items() if own}


def tell_words(words: Mapping[str, Markup]) -> dict[str, str]:
    """What an analysis says, and its methods, as plain text."""
    said = words.get("headline", words.get("answer", Markup("")))
    return {"text": write_plain(said), "methods": write_plain(words.get("methods", Markup("")))}


def _tidy(text: str) -> Markup:
    """A text on one line, without the spaces before signs that lines of a template leave."""
    line = " ".join(text.split())
    return Markup(SPACED.sub(lambda found: found[1] or found[2], line))  # noqa: S704
