"""Exports as they left somebody's experiment tracker, leaderboard or paper, read as runs.

`sheets` opens a file of any format (nested ones by `records`) as cells of text with line numbers
(`cells`); `layouts` makes `runs` of them; `doubts` says what is probably no model or dataset;
`reading` puts the files of a study together.
"""

from capmap.exports.layouts import SEED_REMEDIES
from capmap.exports.reading import Exports, read_exports

__all__ = ["SEED_REMEDIES", "Exports", "read_exports"]
