"""A study drafted from its files: what they say, what is likely, and what has to be decided."""

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

from capmap.drafting.draft import Certainty, Draft
from capmap.drafting.files import Paths, label_slot, list_files, name_file
from capmap.drafting.roles import (
    assign_roles,
    doubt_score,
    find_preset,
    find_spread,
    find_variants,
    is_part,
    list_scores,
    list_varying,
    name_split,
    rate_score,
    split_by_metric,
)
from capmap.drafting.scores import put_metric, put_score, put_summary, put_turned
from capmap.drafting.slots import Slot, find_records, write_pattern
from capmap.drafting.tables import Column, Table, choose_sample, read_table
from capmap.drafting.trial import try_draft
from capmap.drafting.wide import draft_wide
from capmap.drafting.words import (
    FINISHED,
    UNFINISHED,
    guess_direction,
    rate_role,
    split_words,
)
from capmap.errors import ConfigError
from capmap.exports.files import has_suffix
from capmap.exports.records import list_values
from capmap.exports.sheets import NESTED
from capmap.patterns import Pattern
from capmap.settings.presets import fill_preset, list_presets
from capmap.wording import count_things, list_names, quote_name

SEVERAL = 2
LOOKED_AT = 20


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
    table = _read(paths, "")
    preset = find_preset(table.columns)
    if preset:
        draft.put("preset", preset, "found", "The files are of this make.")
        _complete_preset(draft, paths, table, fill_preset({"preset": preset}))
    else:
        _draft_tables(draft, paths, table)
    try_draft(draft)
    return draft


def _read(paths: Paths, records: str, labels: Mapping[str, str] | None = None) -> Table:
    sample = choose_sample(paths.paths)
    fields = {path: paths.read_fields(paths.paths.index(path)) for path in sample}
    return read_table(fields, labels={**paths.labels, **(labels or {})}, records=records)


def _complete_preset(draft: Draft, paths: Paths, table: Table, given: Mapping[str, Any]) -> None:
    """Find what a preset leaves to the study."""
    columns: Mapping[str, Any] = given.get("columns", {})
    records = given.get("reading", {}).get("records", "")
    taken = {
        role
        for role in ("model", "dataset", "metric", "seed", "split", "step")
        if (role in columns or f"{{{role}}}" in records)
    }
    _put_one_of(draft, table, list_presets()[draft.settings["preset"]])
    if pattern := _match_paths(paths, list_presets()[draft.settings["preset"]]):
        draft.settings["exports"] = pattern
        return
    weak = {
        role: columns[role] for role in list_presets()[draft.settings["preset"]].get("weak", ())
    }
    taken -= {*weak}
    own = {*table.columns} if records else {*map(str, columns.values()), *given.get("where", {})}
    free = {
        name: column for name, column in table.columns.items() if column.is_field or name not in own
    }
    table = Table(free, {})
    found = assign_roles(table, taken={*taken, "split", "step"})
    taken |= {*weak} - {*found}
    table, renamed = _settle_names(table, found, [])
    _put_names(draft, found)
    if "score" not in columns and not records:
        scores = sorted(list_scores(table, found.values()), key=rate_score)
        if scores and rate_score(scores[-1]):
            put_score(draft, scores[-1].name, "guess", doubt=doubt_score(scores[-1], scores))
            if not given.get("metric"):
                put_metric(draft, [scores[-1].name], paths.paths)
    _put_constants(draft, paths, {*found, *taken})
    draft.settings["exports"] = paths.write(renamed)


def _put_one_of(draft: Draft, table: Table, preset: Mapping[str, Any]) -> None:
    """Choose one value of columns of which a study has one, such as the held-out environment."""
    for name in preset.get("one_of", ()):
        values = sorted(table.columns[name].texts) if name in table.columns else []
        if len({*values}) > 1:
            text = f"One of the values of {quote_name(name)}: {list_names(sorted({*values}))}."
            draft.put("where", {**preset.get("where", {}), name: values[0]}, "decide", text)


def _match_paths(paths: Paths, preset: Mapping[str, Any]) -> str:
    """Find the pattern of a tool's paths that all files match; "" where there is none."""
    for text in preset.get("paths", ()):
        pattern = Pattern(text, "/")
        try:
            if all(pattern.match(path) is not None for path in paths.paths):
                return str(text)
        except ConfigError:
            continue
    return ""


def _draft_tables(draft: Draft, paths: Paths, table: Table) -> None:
    """Draft settings of files that no preset is for."""
    keys: dict[str, str] = {}
    if has_suffix(paths.paths[0], NESTED):
        values, is_list = list_values(paths.paths[0], most=LOOKED_AT)
        if way := find_records(values, is_list=is_list):
            steps: list[Any] = [part for piece in way for part in (".", piece)][1:]
            keys = {
                f"key{place}": label_slot(steps, place)
                for place, piece in enumerate(steps)
                if isinstance(piece, Slot)
            }
            names = {int(name.removeprefix("key")): name for name in keys}
            table = _read(paths, write_pattern(steps, names), keys)
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
    is_long = {"model", "dataset"} <= {*roles} or _is_flat(table, roles, scores)
    if is_long and (best := _choose_long(scores)):
        own = [*best, *parts]
        _draft_long(draft, paths, table, roles, best)
    else:
        own = [*(column.name for column in scores), *parts]
        draft_wide(draft, paths.paths, table, roles, scores)
    _put_reading(draft, table)
    _put_names(draft, roles)
    _put_variants(draft, table, roles, parts)
    draft.unused = list_varying(table, roles, own)
    _put_constants(draft, paths, {*roles, *_list_fields(draft)})
    draft.settings["exports"] = paths.write(renamed)
    _put_rows(draft, table, roles)


def _leave_unfinished(draft: Draft, table: Table) -> Table:
    """Leave out runs that failed or still go on, where a column says so."""
    for name, column in table.columns.items():
        states = {text.casefold() for text in column.names}
        is_status = split_words(name)[-1:] in (["status"], ["state"]) and not column.is_field
        if not is_status or not states & UNFINISHED or not states <= FINISHED | UNFINISHED:
            continue
        rows = [text.casefold() in FINISHED for text in column.texts]
        kept = sorted({*compress(column.texts, rows)})
        if not kept:
            draft.note("exports", "decide", f"By {quote_name(name)} no run has finished.")
            return table
        left = count_things(len(rows) - sum(rows), "row")
        text = f"By {quote_name(name)}, {left} of {len(rows)} read for this draft are left out."
        draft.put("where", {name: kept[0] if len(kept) == 1 else kept}, "guess", text)
        return table.select(rows)
    return table


def _settle_names(
    table: Table, roles: dict[str, str], variants: Sequence[str]
) -> tuple[Table, dict[str, str]]:
    """Call columns whose names are free after their roles: of paths, keys, and without header."""
    invented = table.reading.get("names", ())
    free = [*(name for name in table.columns if table.columns[name].is_field), *invented]
    renamed = {name: role for role, name in roles.items() if name in free}
    parts = [name for name in variants if name in free]
    renamed |= {name: f"variant{place or ''}" for place, name in enumerate(parts)}
    if invented:
        scores = list_scores(table, renamed)
        renamed |= {scores[-1].name: "score"} if scores and scores[-1].name in invented else {}
        if len(scores) > 1 and scores[0].is_whole and "step" not in roles:
            renamed[scores[0].name] = "step"
            roles["step"] = "step"
    roles |= {role: role for role in roles if roles[role] in renamed}
    return table.rename(renamed), renamed


def _is_flat(table: Table, roles: Mapping[str, str], scores: Sequence[Column]) -> bool:
    """Whether a table without datasets, or models, still has one column of scores."""
    return len(scores) == 1 or ("score" in table.columns and bool({"model", "dataset"} & {*roles}))


def _choose_long(scores: Sequence[Column]) -> list[str]:
    """Choose the column, or the columns, of scores of a row per run."""
    if several := split_by_metric(scores):
        return several
    best = max(scores, key=rate_score)
    if rate_score(best):
        return [best.name]
    return [scores[0].name] if len(scores) == 1 else []


def _draft_long(
    draft: Draft, paths: Paths, table: Table, roles: dict[str, str], best: Sequence[str]
) -> None:
    if len(best) > 1:
        text = "Each row fills one of these columns: the metric of its dataset."
        draft.put("columns", {"score": list(best)}, "found", text)
        return
    certainty: Certainty = "found" if rate_score(table.columns[best[0]]) >= SEVERAL else "guess"
    column, scores = table.columns[best[0]], list_scores(table, [*roles.values(), best[0]])
    others = [own.name for own in scores if rate_score(own)]
    put_score(draft, best[0], certainty, others=others, doubt=doubt_score(column, scores))
    if "metric" not in roles:
        put_metric(draft, best, paths.paths)
    elif guess_direction(best[0]) == "min":
        put_turned(draft, table.columns[roles["metric"]].names, best[0])
    beside = find_spread(table, best[0])
    if beside:
        draft.put("columns", beside, "found", "Each row is a mean, with its spread beside it.")
    if beside or table.columns[best[0]].kinds[1]:
        put_summary(draft, counted="count" in beside)


def _list_fields(draft: Draft) -> set[str]:
    """Roles that names of columns fill, or a constant."""
    score = draft.settings.get("columns", {}).get("score", "")
    pattern = score if isinstance(score, str) else ""
    kind = draft.settings.get("format")
    found = {role for role in ("model", "dataset", "metric", "seed") if f"{{{role}}}" in pattern}
    if kind == "matrix" and not pattern:
        found.add("model" if "dataset" in draft.settings.get("columns", {}) else "dataset")
    return found | set(draft.settings.get("fields", {}))


def _put_reading(draft: Draft, table: Table) -> None:
    """Put how the files are read."""
    if "names" in table.reading:
        draft.note("reading", "guess", "The tables have no header.")
    if table.reading:
        draft.settings["reading"] = table.reading
    if table.header_rows > 1:
        text = "Names of columns stand in several rows."
        draft.put("header_rows", table.header_rows, "found", text)


def _put_names(draft: Draft, roles: Mapping[str, str]) -> None:
    """Put the columns of names that are not called after their roles."""
    columns = {
        role: name
        for role, name in roles.items()
        if role in ("model", "dataset", "metric", "seed")
        and name != role
        and draft.settings.get("columns", {}).get(role) != name
    }
    if columns:
        draft.settings["columns"] = {**columns, **draft.settings.get("columns", {})}


def _choose_variants(draft: Draft, table: Table, roles: dict[str, str]) -> list[str]:
    """Find what distinguishes rows of the same names: a seed, or parts of the names of models."""
    steps = {name for name in table.columns if rate_role(name, "step") >= SEVERAL}
    is_log = "step" in roles or bool(table.reading.get("names")) or bool(steps)
    if "model" not in roles:
        return []
    variants = find_variants(table, roles, only_fields=is_log)
    for name in variants:
        column = table.columns[name]
        label = column.label if column.is_field else name
        is_number = column.is_field and column.is_whole and "seed" not in roles
        if rate_role(label, "seed") == 3 or is_number:
            roles["seed"] = name
            draft.note("columns", "guess", "Runs are distinguished by what is taken as seeds.")
            return [other for other in variants if other != name]
    return variants


def _put_variants(
    draft: Draft, table: Table, roles: Mapping[str, str], variants: Sequence[str]
) -> None:
    """Join columns that distinguish rows into the names of models, or of datasets."""
    parts = [name for name in variants if is_part(table, name, roles)]
    rest = [name for name in variants if name not in parts]
    for role, own in (("dataset", parts), ("model", rest)):
        if own:
            text = (
                f"Rows are distinguished by {list_names(own)}, which is taken as part of {role}s."
            )
            is_number = any(table.columns[name].is_number for name in own)
            if is_number:
                text += " Is it, or does a number say which run it is (columns: seed)?"
            certainty: Certainty = "decide" if is_number else "guess"
            draft.put("columns", {role: [roles[role], *own]}, certainty, text)
    columns = draft.settings.get("columns", {})
    if "ignore" in columns:
        columns["ignore"] = [name for name in columns["ignore"] if name not in variants]


def _put_constants(draft: Draft, paths: Paths, known: set[str]) -> None:
    """Put the name of the one model, or dataset, that all files are of."""
    stem = name_file(paths.paths[0]) if len(paths.paths) == 1 else "all"
    for role in ("model", "dataset"):
        if role not in known:
            text = f"No column or path names the {role}s, so all is of one."
            draft.put("fields", {role: stem}, "decide", text)


def _put_rows(draft: Draft, table: Table, roles: Mapping[str, str]) -> None:
    """Put which rows count: those of a split, and the last step of a log."""
    split = roles.get("split")
    if split and (chosen := name_split(table.columns[split].names)):
        names = sorted(table.columns[split].names)
        tests = [name for name in names if "test" in split_words(name)]
        text = f"Of the splits {list_names(names)} one is reported."
        draft.put("where", {split: chosen}, "decide" if len(tests) > 1 else "guess", text)
    if "step" in roles and _repeats(table, roles):
        draft.put("columns", {"step": roles["step"]}, "guess", "A run has several steps.")
        draft.put("take", "last", "guess", "The row of the highest step counts.")


def _repeats(table: Table, roles: Mapping[str, str]) -> bool:
    """Whether several rows have the same names."""
    names = {name for role, name in roles.items() if role != "step"}
    names |= {column.name for column in table.columns.values() if column.is_field}
    rows = zip(*(table.columns[name].texts for name in sorted(names)), strict=True)
    return len(set(rows)) < table.size
