"""The names that a study gives to models and datasets in place of those of its exports."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from capmap.wording import find_nearest, quote_name

if TYPE_CHECKING:
    import pandas as pd

OPTION = "figures.names"
KINDS = ("model", "dataset")

Value = TypeVar("Value")


def find_bad_renames(
    names: Mapping[str, str], present: Mapping[str, Iterable[str]], *, fixed: Iterable[str] = ()
) -> Iterator[tuple[str, str, str]]:
    """Find names that cannot be given.

    Parameters
    ----------
    names : mapping of str to str
        New names by those of the exports; two may be exchanged.
    present : mapping of str to iterable of str
        The names of the exports by kind, "model" and "dataset".
    fixed : iterable of str
        Datasets that keep their names, as a benchmark defines them.

    Yields
    ------
    tuple of str
        A name that is not in the exports, that would become the name of another one, or that a
        benchmark defines; what is wrong with it, and what to do.
    """
    known = {kind: set(found) for kind, found in present.items()}
    everyone = set().union(*known.values())
    defined = known["dataset"] & set(fixed)
    for old, new in names.items():
        if old not in everyone:
            near = find_nearest(old, everyone)
            remedy = f"Did you mean {quote_name(near)}?" if near else "Correct the name."
            text = f"names the model or dataset {quote_name(old)}, which is not in the exports."
            yield old, text, remedy
        elif old in defined:
            text = f"names {quote_name(old)}, a dataset of the benchmark."
            yield old, text, "Leave it out: a benchmark defines the names of its datasets."
        elif new not in names and any({old, new} <= found for found in known.values()):
            text = f"would call {quote_name(old)} as another one is called, {quote_name(new)}."
            yield old, text, "Give it another name."


def rename_column(table: "pd.DataFrame", column: str, names: Mapping[str, str]) -> "pd.DataFrame":
    """Give the models or datasets of a table beside the exports their names.

    Notes
    -----
    The table may have the new names already; of two rows for one the first counts.
    """
    if not names:
        return table
    chosen = [_choose(name, names) for name in table[column]]
    return table.assign(**{column: chosen}).drop_duplicates(column, ignore_index=True)


def rename_keys(values: Mapping[str, Value], names: Mapping[str, str]) -> dict[str, Value]:
    """Give the datasets of a mapping their names, which it may have already."""
    return {_choose(name, names): value for name, value in values.items()}


def list_metrics(
    rules: Mapping[str, Mapping[str, Any]], names: Mapping[str, str]
) -> dict[str, str]:
    """List the metrics that rules of datasets name, by the names that exports have."""
    olds = {new: old for old, new in names.items()}
    return {
        olds.get(name, name): rule["metric"] for name, rule in rules.items() if "metric" in rule
    }


def _choose(name: str, names: Mapping[str, str]) -> str:
    return name if name in names.values() else names.get(name, name)
