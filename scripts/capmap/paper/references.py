"""The publications whose methods a study uses, from ``references.bib``."""

import re
from functools import cache
from pathlib import Path

CITED = re.compile(r"\\cite[pt]?\{([^}]*)\}")
ENTRY = re.compile(r"@\w+\{(\w+),\n.*?\n\}\n", re.DOTALL)


@cache
def read_references() -> dict[str, str]:
    """Read the entries by their keys."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    return {entry[1]: entry[0] for entry in ENTRY.finditer(text)}


def list_cited(text: str) -> list[str]:
    r"""List the keys that a text cites, sorted.

    Examples
    --------
    >>> list_cited(r"by \citep{holm1979,agarwal2021} and \citet{holm1979}")
    ['agarwal2021', 'holm1979']
    """
    return sorted({key.strip() for keys in CITED.findall(text) for key in keys.split(",")})


def render_references(text: str) -> str:
    """Write the entries of exactly the keys that a text cites, as BibTeX.

    Raises
    ------
    KeyError
        If it cites what is not known here.
    """
    return "\n".join(read_references()[key] for key in list_cited(text))


def name_reference(key: str) -> str:
    """Name a publication as in running text.

    Examples
    --------
    >>> name_reference("holm1979"), name_reference("dolan2002")
    ('Holm 1979', 'Dolan and More 2002')
    """
    fields = dict(re.findall(r"(\w+) = \{(.*)\},", read_references()[key]))
    authors = re.sub(r"\{?\\.\{?\\?(\w)\}+|[{}]", r"\1", fields["author"]).split(" and ")
    names = [author.partition(",")[0] for author in authors]
    first = " and ".join(names) if len(names) == 2 else names[0]
    if len(names) > 2 or names[-1] == "others":
        first = f"{names[0]} et al."
    return f"{first} {fields['year']}"
