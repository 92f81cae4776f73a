"""Hyper-parameters of a run, wherever terratorch-iterate or its user noted them."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from capmap.exports.tracking.lineage import RunTree
from capmap.exports.tracking.store import TrackedRun

# In this order they stand in a submission.
PARAMETERS = (
    *("batch_size", "lr", "decoder", "backbone", "early_stop_patience", "n_trials"),
    *("data_percentages", "batch_size_selection", "weight_decay", "partition name"),
    "frozen_or_full_ft",
)
OTHER_NAMES = {
    "lr": ("learning_rate",),
    "decoder": ("framework",),
}
PARTITION = re.compile(r"([01]\.[0-9]+)x_train")
FROZEN = {"true": "frozen", "false": "full_ft"}
NOTHING = {"", "None", "none", "null"}
LONGEST_LITERAL = 10_000


class Settings(dict[str, str]):
    """The `PARAMETERS` of a run as text; empty where nothing says them.

    Parameters
    ----------
    values : mapping of str to str
        All parameters.
    guessed : tuple of str
        Those that were not noted but concluded from something unsure.
    """

    def __init__(self, values: Mapping[str, str], guessed: tuple[str, ...]) -> None:
        super().__init__(values)
        self.guessed = guessed


def gather_settings(tree: RunTree, run: TrackedRun, *, task: str, experiment: str) -> Settings:
    """Gather the hyper-parameters of a seed run.

    Parameters
    ----------
    tree : RunTree
        All runs.
    run : TrackedRun
        The seed run.
    task, experiment : str
        What stands before the seed in its name, and the experiment with the search of
        hyper-parameters.

    Returns
    -------
    Settings
        As text.

    Notes
    -----
    A parameter is looked for in the run, then in those that it is nested in, then in the run of
    the experiment that is called like the task and those that it is nested in; in each among
    parameters, then among tags. It may stand alone, within a dictionary (``optimizer_hparams``,
    ``model_args``) or behind a dot (``model_args.decoder``). ``None`` says nothing.

    What is said nowhere is concluded where that is safe: the share of the training data from the
    partition (``default`` is all, ``0.50x_train`` half), ``partition name`` from the share,
    ``frozen_or_full_ft`` from ``freeze_backbone``, and ``batch_size_selection`` is ``HPO`` where
    the run of the search has the batch size among its chosen parameters, and ``Fixed`` where it
    stands elsewhere. A backbone that nobody noted is called like the experiment.
    """
    search = find_search(tree, task, experiment)
    places = [*tree.list_lineage(run), *(tree.list_lineage(search) if search else [])]
    notes = [_flatten(notes) for member in places for notes in (member.params, member.tags)]
    found = {name: _find_first(notes, name, *OTHER_NAMES.get(name, ())) for name in PARAMETERS}
    partition = _find_first(notes, "partition_name")
    share = found["data_percentages"] or _read_share(partition)
    found["data_percentages"] = share
    found["partition name"] = found["partition name"] or (f"{share}%" if share else partition)
    if not found["frozen_or_full_ft"]:
        frozen = _find_first(notes, "freeze_backbone").lower()
        found["frozen_or_full_ft"] = FROZEN.get(frozen, "")
    if not found["batch_size_selection"] and found["batch_size"]:
        above = [search] if search else places[1:]
        chosen = any("batch_size" in _flatten(member.params) for member in above)
        found["batch_size_selection"] = "HPO" if chosen else "Fixed"
    guessed = () if found["backbone"] else ("backbone",)
    found["backbone"] = found["backbone"] or experiment
    return Settings(found, guessed)


def find_search(tree: RunTree, task: str, experiment: str) -> TrackedRun | None:
    """Find the run with the chosen hyper-parameters of a task: a finished one, else a fuller."""
    found = tree.list_named(experiment, task)
    found.sort(key=lambda run: (run.status != "FINISHED", -len(run.params), run.run_id))
    return found[0] if found else None


def _find_first(notes: Sequence[Mapping[str, str]], *names: str) -> str:
    return next((own[name] for own in notes for name in names if name in own), "")


def _read_share(partition: str) -> str:
    """Read the share of the training data, in percent, off the name of a partition."""
    if partition == "default":
        return "100"
    match = PARTITION.fullmatch(partition)
    return f"{100 * float(match[1]):g}" if match else ""


def _flatten(notes: Mapping[str, str]) -> dict[str, str]:
    """Write notes without nesting; one that stands alone goes before one within others."""
    alone = {name: text for name, text in notes.items() if text not in NOTHING}
    nested = {
        name.rpartition(".")[2]: text
        for key, value in alone.items()
        for name, text in _list_leaves(key, value)
        if text not in NOTHING
    }
    return nested | alone


def _list_leaves(name: str, text: str) -> Iterator[tuple[str, str]]:
    content: Any = text
    if text.startswith("{") and len(text) <= LONGEST_LITERAL:
        try:
            content = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            content = text
    todo = [(name, content)]
    while todo:
        key, value = todo.pop()
        if isinstance(value, dict):
            todo += [(str(inner), one) for inner, one in value.items()]
        else:
            yield key, str(value)
