"""How many words pages have: python packaging/words.py results/*/report.html.

In sight is what stands outside folds, tables, figures and navigation; all is every text.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path

UNREAD = {"script", "style", "head", "template"}
FOLDED = {"details", "table", "figure", "svg", "nav", "dialog"}
# Elements without an end.
EMPTY = {"br", "hr", "img", "input", "link", "meta", "col", "source", "wbr"}


class Words(HTMLParser):
    """The words of a page, and where they stand."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside: list[tuple[str, str]] = []
        self.sight = self.all = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element; what is hidden counts as a fold."""
        if tag not in EMPTY:
            self.inside.append((tag, "details" if "hidden" in dict(attrs) else tag))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and those in it whose end is left out."""
        while tag not in EMPTY and self.inside and self.inside.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Count a text."""
        kinds = {kind for _, kind in self.inside}
        if not UNREAD & kinds:
            number = len(data.split())
            self.all += number
            self.sight += number * (not FOLDED & kinds)


if __name__ == "__main__":
    print(f"{'in sight':>8} {'all':>8}  page")
    for path in sys.argv[1:]:
        words = Words(Path(path).read_text("utf-8"))
        print(f"{words.sight:8} {words.all:8}  {path}")
