"""Settings without effect: what the study's format or analyses do not read."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from capmap.analyses import INDEX, list_analyses, read_setting
from capmap.settings.checking import find_faults
from capmap.settings.choices import TableFormat
from capmap.settings.study import Study
from capmap.wording import join_words

TABLES = get_args(TableFormat)
ROWS = (*TABLES, "checkpoints")
# The formats that read an option, where not all do.
FORMATS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(["header_rows", "multilabel/images", "multilabel/labels"], TABLES),
    **{f"columns/{name}": TABLES for name in ("step", "selection", "spread", "count")},
    **dict.fromkeys(["where", "metric"], ROWS),
    **{f"columns/{name}": ROWS for name in ("dataset", "metric", "score", "seed")},
    **dict.fromkeys(["columns/model", "decimal"], (*ROWS, "submission")),
    **{f"columns/{name}": ("checkpoints",) for name in ("training", "checkpoint", "split")},
    **dict.fromkeys(["predictions", "patchml"], ("predictions",)),
    "submission": ("submission",),
    "checkpoints": ("checkpoints",),
}
PLACED = tuple(name for name, made in INDEX.items() if made["folder"] == "capabilities")
# The analyses that read an option, where none but these do.
READERS: dict[str, tuple[str, ...]] = {
    "capabilities": PLACED,
    "attributes": (*PLACED, "frontier"),
    "frontier": ("frontier",),
    "multilabel": ("multilabel",),
    "leaderboard/releases": ("releases",),
    "checkpoints/rankings": ("checkpoints",),
    "published": ("published",),
    "claims": ("published",),
}
DEFAULTS = find_faults({}, Study)[0]


def find_ineffective(
    settings: Mapping[str, Any], written: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Find settings that change nothing, and those without which others cannot be followed.

    Parameters
    ----------
    settings : mapping
        Of a study, checked and with defaults.
    written : mapping
        What the user wrote of them. What a preset says, and what is as by default, is no mistake.

    Yields
    ------
    option : str
        Such as ``columns.ignore``.
    message : str
        Why it has no effect, and what to do.

    Notes
    -----
    Settings of an analysis that is not asked for are reported only where `analyses` is left out: a
    list of one's own may leave some out for a while.
    """
    given = [path for path in [*FORMATS, *READERS] if _is_given(path, settings, written)]
    kind = settings["format"]
    for path in given:
        known = FORMATS.get(path, (kind,))
        section = path.partition("/")[0]
        if section != path and kind not in FORMATS.get(section, (kind,)):
            continue  # the whole section is reported
        if kind not in known:
            yield (
                path.replace("/", "."),
                f"it has no effect with format: {kind}, only with {join_words(known)}. "
                "Leave it out, or set the format that you mean.",
            )
    if kind in TABLES:
        yield from _find_unread_columns(settings, written)
    if "analyses" not in written:
        yield from _find_unasked([path for path in given if path in READERS], settings)


def _is_given(path: str, settings: Mapping[str, Any], written: Mapping[str, Any]) -> bool:
    """Whether the user wrote a setting, and other than it is by default."""
    section: Any = written
    for key in path.split("/"):
        if not isinstance(section, Mapping) or key not in section:
            return False
        section = section[key]
    return bool(read_setting(settings, path) != read_setting(DEFAULTS, path))


def _find_unasked(given: list[str], settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find settings of analyses that are not made by default."""
    asked = set(list_analyses(settings))
    for path in given:
        # The metrics of predictions are their scores.
        is_scored = path == "multilabel" and settings["format"] == "predictions"
        is_read = settings["format"] in FORMATS.get(path.partition("/")[0], (settings["format"],))
        if asked.isdisjoint(READERS[path]) and is_read and not is_scored:
            yield (
                path.replace("/", "."),
                f"no analysis that is made by default reads it. List {READERS[path][0]} under "
                "analyses, with the others that you want, or leave it out.",
            )


def _find_unread_columns(
    settings: Mapping[str, Any], written: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Find columns of tables that are not read, and those that are needed and not named."""
    columns, take, summary = settings["columns"], settings["take"], settings["summary"]
    is_wide = settings["format"] == "matrix" or "{" in str(columns["score"])
    is_summarized = summary["runs"] > 1 or bool(columns["count"])
    needs = "Set summary.runs to the number of runs behind a row, or name their column in count."
    rules = {
        "columns/ignore": (is_wide, "format: long with a column of scores", "Set format: matrix"),
        "columns/datasets": (is_wide, "format: long with a column of scores", "Set format: matrix"),
        "columns/step": (take == "last", f"take: {take}", "Set take: last"),
        "columns/selection": (take in ("best", "lowest"), f"take: {take}", "Set take: best"),
    }
    for path, (is_read, reason, remedy) in rules.items():
        if not is_read and _is_given(path, settings, written):
            option = path.replace("/", ".")
            yield option, f"it has no effect with {reason}. {remedy}, or leave it out."
    for path in ("columns/spread", "summary/spread"):
        if not is_summarized and _is_given(path, settings, written):
            yield path.replace("/", "."), f"it has no effect on rows that are one run. {needs}"
    if take in ("best", "lowest") and not columns["selection"]:
        yield "columns.selection", f"take: {take} needs it. Name the column."
