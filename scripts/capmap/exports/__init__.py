"""Exports as they left somebody's experiment tracker, leaderboard or paper, read as runs.

`files` and the modules named after a file format (`delimited`, `records`, `parquet`, `workbooks`,
`markdown`) read a file as cells of text with line numbers (`cells`); `layouts` makes runs of them;
`repeats` says which rows of a run count, `doubts` what is probably no model or dataset; `reading`
puts the files of a study together.
"""

from capmap.exports.layouts import LAYOUTS
from capmap.exports.reading import ExportFile, Exports, read_exports

__all__ = ["LAYOUTS", "ExportFile", "Exports", "read_exports"]
