"""A study drafted from its files: what they say, what is likely, and what has to be decided."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from capmap.drafting.draft import Draft
from capmap.drafting.files import Paths, list_files, name_file
from capmap.drafting.roles import (
    assign_roles,
    find_known,
    find_spread,
    find_variants,
    is_part,
    list_scores,
    name_split,
    rate_score,
    split_by_metric,
)
from capmap.drafting.rules import put_errors, put_metric, put_score, put_summary, settle
from capmap.drafting.slots import Piece, find_slots, label_slot, write_pattern
from capmap.drafting.tables import Column, Table, read_table
from capmap.drafting.words import (
    SPLITS,
    WORDS,
    guess_direction,
    has_word,
    is_label,
    rate_role,
    rate_values,
    split_words,
)
from capmap.errors import ConfigError
from capmap.exports.cells import SEPARATOR
from capmap.exports.files import PLAIN
from capmap.metrics import find_metric
from capmap.patterns import Pattern
from capmap.settings.presets import list_presets
from capmap.wording import count_things, list_names, quote_name

NUMBERED = re.compile(r"(\D*)(\d+)(\D*)")
# Words beside metrics that name no dataset.
PARTS = frozenset({*SPLITS, "train", "training", "pred", "prediction", "mean", "avg"})
# From this on, what the names of rows and columns look like is no guess.
SURE = 0.3
NAMES = ("model", "dataset", "metric", "seed")


def draft_study(exports: Sequence[str]) -> Draft:
    """Draft the settings of a study from its files.

    Parameters
    ----------
    exports : sequence of str
        Paths, globs or folders.

    Returns
    -------
    Draft
        Settings that were tried on the files, with notes.

    Raises
    ------
    ConfigError
        When there are no files, or they hold no scores.
    UnreadableExportError
        When a file cannot be read in any way that is tried.
    """
    chosen, others = list_files(exports)
    paths, draft = Paths(chosen), Draft()
    if others:
        draft.note("exports", "guess", f"Not read: {list_names(others)}.")
    table = read_table(paths)
    for name, preset in list_presets().items():
        wanted = [Pattern(text) for text in preset.get("known_by", ())]
        if wanted and all(_matches_any(pattern, table.columns) for pattern in wanted):
            draft.put("preset", name, "found", "The files are of this make.")
            _complete_preset(draft, paths, table, preset)
            break
    else:
        _draft_table(draft, paths, table)
    settle(draft)
    return draft


def _complete_preset(draft: Draft, paths: Paths, table: Table, preset: Mapping[str, Any]) -> None:
    """Find what a preset leaves to the study."""
    columns, weak = preset.get("columns", {}), preset.get("weak", ())
    records = preset.get("reading", {}).get("records", "")
    for text in preset.get("paths", ()):
        if all(_matches_any(Pattern(text, "/"), [path]) for path in paths.paths):
            draft.settings["exports"] = text
            return
    own = {*columns.values(), *preset.get("where", {})} if not records else {*table.columns}
    table = Table(
        {
            name: column
            for name, column in table.columns.items()
            if column.is_field or name not in own
        }
    )
    taken = {role for role in NAMES if role in columns or f"{{{role}}}" in records}
    found = assign_roles(table, taken={*taken, "split", "step"} - {*weak})
    table, renamed = _settle_names(table, found, [])
    _put_names(draft, found)
    scores = [] if "score" in columns or records else list_scores(table, found.values())
    if best := max(scores, key=rate_score, default=None):
        put_score(draft, best, scores)
        put_metric(draft, [best.name], paths.paths)
    _put_constants(draft, paths, {*found, *taken})
    draft.settings["exports"] = paths.write(renamed)


def _matches_any(pattern: Pattern, names: Iterable[str]) -> bool:
    return any(pattern.match(name) is not None for name in names)


def _draft_table(draft: Draft, paths: Paths, table: Table) -> None:
    """Draft settings of files that no preset is for."""
    table = _leave_unfinished(draft, table)
    roles = assign_roles(table)
    variants = _choose_variants(draft, table, roles)
    table, renamed = _settle_names(table, roles, variants)
    parts = [renamed.get(name, name) for name in variants]
    scores = list_scores(table, [*roles.values(), *parts])
    if not scores:
        raise ConfigError(
            f"{paths.paths[0]}: no column holds scores; its columns are "
            f"{list_names(list(table.columns))}."
        )
    best = _choose_score(table, roles, scores)
    if len(best) > 1:
        text = "Each row fills one of these columns: the metric of its dataset."
        draft.put("columns", {"score": best}, "found", text)
    elif best:
        _draft_long(draft, paths, table, roles, best[0])
    else:
        _draft_wide(draft, paths.paths, table, roles, scores)
    _put_reading(draft, table)
    _put_names(draft, roles)
    _put_variants(draft, table, roles, parts)
    _put_constants(draft, paths, {*roles})
    draft.settings["exports"] = paths.write(renamed)
    _put_rows(draft, table, roles)


def _leave_unfinished(draft: Draft, table: Table) -> Table:
    """Leave out runs that failed or still go on, where a column says so."""
    for name, column in table.columns.items():
        states = {text.casefold() for text in column.names}
        is_status = split_words(name)[-1:] in (["status"], ["state"]) and not column.is_field
        left = states - WORDS["finished"]
        if not is_status or not left or not left <= WORDS["unfinished"] or left == states:
            continue
        rows = [text.casefold() in WORDS["finished"] for text in column.texts]
        kept = sorted({*compress(column.texts, rows)})
        count = count_things(len(rows) - sum(rows), "row")
        text = f"By {quote_name(name)}, {count} of {len(rows)} read for this draft are left out."
        draft.put("where", {name: kept[0] if len(kept) == 1 else kept}, "guess", text)
        return table.select(rows)
    return table


def _choose_variants(draft: Draft, table: Table, roles: dict[str, str]) -> list[str]:
    """Find what distinguishes rows of the same names: a seed, or parts of the names of models."""
    if "model" not in roles:
        return []
    is_log = "step" in roles or bool(table.options.names)
    is_log |= any(rate_role(name, "step") >= 2 for name in table.columns)
    variants = find_variants(table, roles, only_fields=is_log)
    for name in variants:
        column = table.columns[name]
        is_number = column.is_field and column.is_whole and "seed" not in roles
        if rate_role(column.label if column.is_field else name, "seed") == 3 or is_number:
            roles["seed"] = name
            draft.note("columns", "guess", "Runs are distinguished by what is taken as seeds.")
            return [other for other in variants if other != name]
    return variants


def _settle_names(
    table: Table, roles: dict[str, str], variants: Sequence[str]
) -> tuple[Table, dict[str, str]]:
    """Call columns whose names are free after their roles: of paths, keys, and without header."""
    invented = table.options.names
    free = {name for name in table.columns if table.columns[name].is_field} | {*invented}
    renamed = {name: role for role, name in roles.items() if name in free}
    parts = [name for name in variants if name in free]
    renamed |= {name: f"variant{place or ''}" for place, name in enumerate(parts)}
    scores = list_scores(table, renamed) if invented else []
    if scores:
        renamed[scores[-1].name] = "score"
    if len(scores) > 1 and scores[0].is_whole and "step" not in roles:
        renamed[scores[0].name] = roles["step"] = "step"
    roles |= {role: role for role, name in roles.items() if name in renamed}
    return table.rename(renamed), renamed


def _choose_score(table: Table, roles: Mapping[str, str], scores: Sequence[Column]) -> list[str]:
    """Choose the column, or the columns, of scores of a row per run; none of a wide table."""
    named = {"model", "dataset"} & {*roles}
    if len(named) < 2 and len(scores) > 1 and not (named and "score" in table.columns):
        return []
    if several := split_by_metric(scores):
        return several
    best = max(scores, key=rate_score)
    return [best.name] if rate_score(best) or len(scores) == 1 else []


def _draft_long(
    draft: Draft, paths: Paths, table: Table, roles: Mapping[str, str], best: str
) -> None:
    """Draft a table with a row per run."""
    put_score(draft, table.columns[best], list_scores(table, roles.values()))
    if "metric" not in roles:
        put_metric(draft, [best], paths.paths)
    if beside := find_spread(table, best):
        draft.put("columns", beside, "found", "Each row is a mean, with its spread beside it.")
    if beside or table.columns[best].kinds[1]:
        put_summary(draft, counted="count" in beside)


def _draft_wide(
    draft: Draft,
    paths: Sequence[str],
    table: Table,
    roles: dict[str, str],
    scores: Sequence[Column],
) -> None:
    """Draft a table with several columns of scores; `roles` gets what its rows are."""
    scores = _choose_numbered(scores)
    names = [column.name for column in scores]
    _name_rows(draft, table, roles, names)
    pattern, kinds = _read_heads(names, roles)
    if _are_measures(names, roles, kinds):
        best = max(scores, key=_rate_measure)
        if "metric" in roles and len(table.columns[roles["metric"]].names) == 1:
            del roles["metric"]
        put_score(draft, best, scores)
        put_metric(draft, [best.name], paths)
        return
    if pattern == "{dataset}":
        draft.put("format", "matrix", "found", "Columns are datasets.")
    else:
        text = f"Columns such as {quote_name(names[0])} hold scores."
        draft.put("columns", {"score": pattern}, "found", text)
    unused = [
        name
        for name, column in table.columns.items()
        if not column.is_field and name not in {*roles.values(), *names}
    ]
    if unused:
        draft.put("columns", {"ignore": unused}, "guess", "What is ignored holds no scores.")
    if "metric" not in kinds | {*roles}:
        corners = [roles[role] for role in ("dataset", "model") if role in roles]
        corner = next((name for name in corners if not table.columns[name].is_field), "")
        put_metric(draft, names, paths, corner=corner)
        if pattern == "{dataset}":
            put_errors(draft, names)
    if any(column.kinds[1] for column in scores):
        put_summary(draft)


def _choose_numbered(scores: Sequence[Column]) -> list[Column]:
    """Choose the columns of numbered runs, where there are some, or else all."""
    numbered: dict[str, list[Column]] = {}
    for column in scores:
        found = NUMBERED.fullmatch(column.name)
        if found and is_label(found[1]):
            numbered.setdefault(f"{found[1]}#{found[3]}", []).append(column)
    runs = max(numbered.values(), key=len, default=[])
    return runs if 2 * len(runs) >= len(scores) and len(runs) > 1 else list(scores)


def _name_rows(draft: Draft, table: Table, roles: dict[str, str], names: Sequence[str]) -> None:
    """Take the first column of text as that of models, or datasets, where none is known."""
    columns = table.columns.values()
    texts = [column for column in columns if not column.is_number and column.names]
    if {"model", "dataset"} & {*roles} or not texts or any(column.is_field for column in columns):
        return
    as_models = rate_values(texts[0].names, "model") - rate_values(texts[0].names, "dataset")
    as_models += rate_values(names, "dataset") - rate_values(names, "model")
    kind = "dataset" if as_models < 0 else "model"
    roles[kind] = texts[0].name
    if abs(as_models) < SURE:
        text = f"Are the rows {kind}s? No name says so."
        draft.note("columns", "decide" if as_models else "guess", text)


def _read_heads(names: Sequence[str], roles: Mapping[str, str]) -> tuple[str, set[str]]:
    """Read the names of columns of scores as a pattern, and list the roles of its fields."""
    pieces: list[Piece] = find_slots(names) if len(names) > 1 else [(names[0],)]
    missing = [role for role in ("dataset", "model") if role not in roles]
    slots = [place for place, piece in enumerate(pieces) if not isinstance(piece, str)]
    alone = len(slots) == 1
    kinds: dict[int, str] = {}
    for place in slots:
        left = [role for role in missing if role not in kinds.values()]
        kinds[place] = _name_slot(pieces, place, left or missing, alone=alone)
    fixed = [word for piece in pieces if isinstance(piece, str) for word in split_words(piece)]
    # What columns have in common is no part of names, as in acc_{seed}.
    is_said = bool(fixed) and all(
        find_known(word) or is_label(word) or rate_role(word, "score") for word in fixed
    )
    is_said |= not alone or len(pieces) == 1 or [*kinds.values()] == ["seed"]
    if len({*kinds.values()}) < len(kinds) or not is_said:
        kinds = {0: kinds[slots[0]] if alone else (missing or ["dataset"])[0]}
        pieces = [tuple(names)]
    return write_pattern(pieces, kinds), {*kinds.values()}


def _name_slot(pieces: Sequence[Piece], place: int, missing: Sequence[str], *, alone: bool) -> str:
    names = {*pieces[place]}
    if rate_values(names, "metric") > 0.5 and not alone:
        return "metric"
    is_below = pieces[place - 1 : place] in ([SEPARATOR], ["."])
    is_free = bool(label_slot(pieces, place)) or is_below or not missing
    is_seed = rate_values(names, "seed") == 1 and is_free
    return "seed" if is_seed else (missing or ["dataset"])[0]


def _are_measures(names: Sequence[str], roles: Mapping[str, str], kinds: set[str]) -> bool:
    """Whether columns are metrics: others name the datasets, or they vary in metrics alone."""
    if "model" not in roles or rate_values(names, "dataset") >= SURE:
        return False
    if rate_values(names, "metric") > 0.5 or ("dataset" in roles and "dataset" in kinds):
        return True
    found = [(split_words(name), [*filter(find_metric, split_words(name))]) for name in names]
    metrics = {own[-1] for _, own in found if own}
    rests = {frozenset(words) - {*own} - PARTS for words, own in found if own}
    return len(metrics) > max(len(rests), 1)


def _rate_measure(column: Column) -> tuple[float, bool, bool, int]:
    is_merit = guess_direction(column.name) == "max" and not has_word(column.name, {"train"})
    has_metric = any(map(find_metric, split_words(column.name)))
    return rate_score(column), has_metric, is_merit, sum(map(bool, column.texts))


def _put_reading(draft: Draft, table: Table) -> None:
    """Put how the files are read."""
    reading = {
        name: list(value) if name == "names" else value
        for name, value in vars(table.options).items()
        if value and value != getattr(PLAIN, name)
    }
    if count := reading.pop("header_rows", 0):
        draft.put("header_rows", count, "found", "Names of columns stand in several rows.")
    if reading:
        draft.settings["reading"] = reading
    if "names" in reading:
        draft.note("reading", "guess", "The tables have no header.")


def _put_names(draft: Draft, roles: Mapping[str, str]) -> None:
    """Put the columns of names that are not called after their roles."""
    columns = {role: roles[role] for role in NAMES if roles.get(role, role) != role}
    if columns:
        draft.settings["columns"] = {**columns, **draft.settings.get("columns", {})}


def _put_variants(
    draft: Draft, table: Table, roles: Mapping[str, str], variants: Sequence[str]
) -> None:
    """Join columns that distinguish rows into the names of models, or of datasets."""
    parts = [name for name in variants if is_part(table, name, roles)]
    for role, own in (("dataset", parts), ("model", [n for n in variants if n not in parts])):
        if own:
            text = (
                f"Rows are distinguished by {list_names(own)}, which is taken as part of {role}s."
            )
            is_number = any(table.columns[name].is_number for name in own)
            if is_number:
                text += " Is it, or does a number say which run it is (columns: seed)?"
            value = {role: [roles[role], *own]}
            draft.put("columns", value, "decide" if is_number else "guess", text)
    columns = draft.settings.get("columns", {})
    if "ignore" in columns:
        columns["ignore"] = [name for name in columns["ignore"] if name not in variants]


def _put_constants(draft: Draft, paths: Paths, known: set[str]) -> None:
    """Put the name of the one model, or dataset, that all files are of."""
    score = str(draft.settings.get("columns", {}).get("score", ""))
    heads = score or {"matrix": "{dataset}"}.get(draft.settings.get("format", ""), "")
    for role in ("model", "dataset"):
        if role not in known and f"{{{role}}}" not in heads:
            text = f"No column or path names the {role}s, so all is of one."
            name = name_file(paths.paths[0]) if len(paths.paths) == 1 else "all"
            draft.put("fields", {role: name}, "decide", text)


def _put_rows(draft: Draft, table: Table, roles: Mapping[str, str]) -> None:
    """Put which rows count: those of a split, and the last step of a log."""
    split = roles.get("split")
    if split and (chosen := name_split(table.columns[split].names)):
        names = sorted(table.columns[split].names)
        text = f"Of the splits {list_names(names)} one is reported."
        several = sum("test" in split_words(name) for name in names) > 1
        draft.put("where", {split: chosen}, "decide" if several else "guess", text)
    fields = [name for name, column in table.columns.items() if column.is_field]
    named = {*fields, *(name for role, name in roles.items() if role != "step")}
    if "step" in roles and table.count([*named]) < table.size:
        draft.put("columns", {"step": roles["step"]}, "guess", "A run has several steps.")
        draft.put("take", "last", "guess", "The row of the highest step counts.")
