"""A submission from the runs that terratorch-iterate leaves in a tracking store."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from capmap.tracking.locations import locate_store
from capmap.tracking.store import RunTree, TrackedRun, Tracking, read_store
from capmap.wording import LISTED_NAMES

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

REPEATED = "_repeated_exp"
SEED_RUN = re.compile(r"(?P<dataset>.+)_(?P<seed>[0-9]{1,18})", re.DOTALL)
# Before the name of a metric, the surest first. The first is what terratorch-iterate logs itself.
TEST_PREFIXES = ("test_test/", "test_test_", "test/", "test_")
LOSS = re.compile(r"loss", re.IGNORECASE)
RESULTS = (
    *("dataset", "Metric", "test metric", "Seed", "experiment_name", "batch_size", "lr"),
    *("decoder", "backbone", "early_stop_patience", "n_trials", "data_percentages"),
    *("batch_size_selection", "weight_decay", "partition name", "frozen_or_full_ft"),
)
INCOMPLETE = {
    "experiment": "str",
    "backbone": "str",
    "dataset": "str",
    "seeds_found": "int64",
    "seeds_missing": "int64",
    "reason": "str",
}


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


@dataclass(frozen=True)
class Submission:
    """What `collect_runs` finds.

    Parameters
    ----------
    results, incomplete : pandas.DataFrame
        The tables that it describes.
    rows : sequence of mapping
        For each row of the results, in their order, ``experiment``, ``run_id`` and ``run_name``.
    not_found : sequence of mapping
        Columns that no run says: ``experiment``, ``dataset``, ``column``, ``rows``.
    other_runs : sequence of mapping
        Runs that are neither seeds nor above one: ``experiment``, ``status``, ``runs``, ``names``
        (the first ten).
    """

    results: pd.DataFrame
    incomplete: pd.DataFrame
    rows: Sequence[Mapping[str, str]]
    not_found: Sequence[Mapping[str, Any]]
    other_runs: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class _SeedRun:
    run: TrackedRun
    experiment: str
    task: str
    dataset: str
    seed: int
    settings: Settings
    metric: str
    score: float | None
    fault: str

    @property
    def entry(self) -> tuple[str, str]:
        return self.settings["backbone"], self.settings["frozen_or_full_ft"]

    @property
    def cell(self) -> tuple[str, str, str, str]:
        return *self.entry, self.experiment, self.dataset


def read_submission_store(store: str, *, experiments: Collection[str] = ()) -> Tracking:
    """Read the stores that terratorch-iterate makes: of the search, and of the repeated runs.

    Parameters
    ----------
    store : str
        As in `read_store`. Where it is a folder and ``STORE_repeated_exp`` stands beside it, both
        are read.
    experiments : collection of str, optional
        Names of the experiments to read, each with the one that has ``_repeated_exp`` behind its
        name where there is one; all by default.

    Returns
    -------
    Tracking
        The runs of both, without histories of metrics.

    Raises
    ------
    ValidationError
        As `read_store`.
    """
    repeated = {f"{name}{REPEATED}" for name in experiments}
    parts = [read_store(store, experiments=experiments, optional=repeated)]
    path = locate_store(store)
    beside = path.absolute().with_name(f"{path.absolute().name}{REPEATED}") if path else None
    if beside and beside.is_dir():
        parts.append(read_store(str(beside)))
    runs = [
        run
        for position, part in enumerate(parts)
        for run in part.runs
        if position == 0 or not experiments or run.experiment in repeated
    ]
    return Tracking(
        sorted(runs, key=lambda run: (run.experiment, run.name, run.run_id)),
        sum(part.deleted for part in parts),
        [name for part in parts for name in part.unreadable],
    )


def collect_runs(
    runs: Collection[TrackedRun],
    *,
    status: Collection[str],
    metrics: Mapping[str, str],
    seeds_per_cell: int,
) -> Submission:
    """Collect the results and hyper-parameters of a submission.

    Parameters
    ----------
    runs : collection of TrackedRun
        All runs of the store, of whatever status.
    status : collection of str
        Statuses of the seed runs that count.
    metrics : mapping of str to str
        The metric of each dataset of the benchmark; empty without a benchmark.
    seeds_per_cell : int
        Seeds that a backbone should have on each dataset.

    Returns
    -------
    Submission
        ``results``: a row per seed run that counts and has a test score, with the columns that a
        submission needs, by backbone, experiment, dataset and seed. Numbers are numbers where all
        cells of a column are.

        ``incomplete``: cells with too few seeds, or with a run that was left out or is doubtful:
        ``experiment``, ``backbone``, ``dataset``, ``seeds_found`` (different ones), and
        ``seeds_missing`` to `seeds_per_cell`, ``reason``. With a benchmark, its datasets without
        any run too, for each backbone.

    Notes
    -----
    A seed run is called ``dataset_seed`` and has no runs nested in it. The dataset is a tag or
    parameter ``dataset`` of the run or of those above it, else what stands before the last ``_``.
    Where an experiment ``NAME_repeated_exp`` exists, as terratorch-iterate makes it, the seed runs
    are there, and the runs of ``NAME`` are those of the search, with the hyper-parameters. A run on
    a dataset that the benchmark does not have is no seed run.

    The score is the metric of the benchmark, with ``test_test/``, ``test_test_``, ``test/`` or
    ``test_`` in front, or as it stands; without a benchmark the only metric with the first of these
    prefixes that any metric but a loss has. 0 is a score; NaN is kept, and listed. A seed that
    several runs have is kept with all of them, and listed. Hyper-parameters are those of
    `gather_settings`.
    """
    tree = RunTree(runs)
    seeds = _find_seed_runs(tree, status=status, metrics=metrics)
    kept = [one for one in seeds if one.score is not None]
    kept.sort(key=lambda one: (*one.cell, one.seed, one.run.run_id))
    return Submission(
        _tabulate_results(kept),
        _list_incomplete(seeds, metrics, seeds_per_cell),
        [
            {
                "experiment": one.run.experiment,
                "run_id": one.run.run_id,
                "run_name": one.run.name,
            }
            for one in kept
        ],
        _list_not_found(kept),
        _list_others(tree, seeds),
    )


def _find_seed_runs(
    tree: RunTree, *, status: Collection[str], metrics: Mapping[str, str]
) -> list[_SeedRun]:
    parents = {run.parent_id for run in tree.runs.values()}
    experiments = {run.experiment for run in tree.runs.values()}
    searches = {name.removesuffix(REPEATED) for name in experiments if name.endswith(REPEATED)}
    found = []
    for run in tree.runs.values():
        match = SEED_RUN.fullmatch(run.name)
        if match is None or run.run_id in parents or run.experiment in searches - {""}:
            continue
        note = tree.find_note(run, ["dataset"])
        dataset = note if note and (not metrics or note in metrics) else match["dataset"]
        if metrics and (dataset not in metrics or run.name in metrics):
            continue
        fault = "" if run.status in status else f"status {run.status}"
        metric, score = "", None
        if not fault:
            metric, score, fault = _find_score(run, metrics.get(dataset, ""))
        experiment = run.experiment.removesuffix(REPEATED) or run.experiment
        found.append(
            _SeedRun(
                run=run,
                experiment=experiment,
                task=match["dataset"],
                dataset=dataset,
                seed=int(match["seed"]),
                settings=gather_settings(tree, run, task=match["dataset"], experiment=experiment),
                metric=metric,
                score=score,
                fault=fault,
            )
        )
    return found


def _find_score(run: TrackedRun, metric: str) -> tuple[str, float | None, str]:
    """Find the test metric of a run, its last value, and what is wrong with it."""
    if metric:
        for key in [*(prefix + metric for prefix in TEST_PREFIXES), metric]:
            if key in run.metrics:
                return metric, run.metrics[key], _explain_nan(run.metrics[key])
        return metric, None, f"no test metric {metric!r}"
    for prefix in TEST_PREFIXES:
        keys = [key for key in run.metrics if key.startswith(prefix) and not LOSS.search(key)]
        if len(keys) > 1:
            return "", None, f"several test metrics ({', '.join(keys)})"
        if keys:
            return (
                keys[0].rpartition("/")[2],
                run.metrics[keys[0]],
                _explain_nan(run.metrics[keys[0]]),
            )
    return "", None, "no test metric"


def _explain_nan(score: float) -> str:
    return "score is NaN" if score != score else ""


def _tabulate_results(kept: Sequence[_SeedRun]) -> pd.DataFrame:
    rows = [
        {
            **one.settings,
            "dataset": one.dataset,
            "Metric": one.metric,
            "test metric": one.score,
            "Seed": one.seed,
            "experiment_name": one.experiment,
        }
        for one in kept
    ]
    table = pd.DataFrame(rows, columns=list(RESULTS))
    table = table.astype({"test metric": "float64", "Seed": "int64"})
    for column in PARAMETERS:
        table[column] = _read_numbers(table[column].astype("str"))
    return table


def _read_numbers(texts: pd.Series) -> pd.Series:
    """Read a column as numbers where all its cells are, so that nothing is taken for a formula."""
    filled = texts[texts != ""]
    numbers = pd.to_numeric(filled, errors="coerce")
    if filled.empty or numbers.isna().any():
        return texts
    whole = filled.str.fullmatch(r"[+-]?[0-9]{1,18}").all()
    return numbers.astype("Int64" if whole else "float64").reindex(texts.index)


def _list_incomplete(
    seeds: Sequence[_SeedRun], metrics: Mapping[str, str], seeds_per_cell: int
) -> pd.DataFrame:
    cells: dict[tuple[str, str, str, str], list[_SeedRun]] = {}
    for one in seeds:
        cells.setdefault(one.cell, []).append(one)
    rows = []
    for (backbone, _, experiment, dataset), own in cells.items():
        found = {one.seed for one in own if one.score is not None}
        missing = max(seeds_per_cell - len(found), 0)
        reason = _explain_cell(own)
        if missing or reason:
            reason = reason or "too few seeds"
            rows.append([experiment, backbone, dataset, len(found), missing, reason])
    have = {(*one.entry, one.dataset) for one in seeds}
    for entry in sorted({one.entry for one in seeds}):
        experiment = min(one.experiment for one in seeds if one.entry == entry)
        rows += [
            [experiment, entry[0], dataset, 0, seeds_per_cell, "no runs"]
            for dataset in metrics
            if (*entry, dataset) not in have
        ]
    table = pd.DataFrame(rows, columns=list(INCOMPLETE)).astype(INCOMPLETE)
    return table.sort_values(["backbone", "experiment", "dataset", "reason"], ignore_index=True)


def _explain_cell(own: Sequence[_SeedRun]) -> str:
    faults: dict[str, list[str]] = {}
    for one in own:
        if one.fault:
            faults.setdefault(one.fault, []).append(one.run.name)
    for seed, count in Counter(one.seed for one in own if one.score is not None).items():
        if count > 1:
            faults.setdefault(f"seed {seed} in {count} runs", []).append(f"{own[0].dataset}_{seed}")
    return "; ".join(f"{fault}: {', '.join(sorted(faults[fault]))}" for fault in sorted(faults))


def _list_not_found(kept: Iterable[_SeedRun]) -> list[dict[str, Any]]:
    counts = Counter(
        (one.experiment, one.dataset, column)
        for one in kept
        for column in PARAMETERS
        if not one.settings[column] or column in one.settings.guessed
    )
    return [
        {"experiment": experiment, "dataset": dataset, "column": column, "rows": rows}
        for (experiment, dataset, column), rows in sorted(counts.items())
    ]


def _list_others(tree: RunTree, seeds: Iterable[_SeedRun]) -> list[dict[str, Any]]:
    used = set()
    for one in seeds:
        search = find_search(tree, one.task, one.experiment)
        for run in [one.run, search] if search else [one.run]:
            used |= {member.run_id for member in tree.list_lineage(run)}
    names: dict[tuple[str, str], list[str]] = {}
    for run in tree.runs.values():
        if run.run_id not in used:
            names.setdefault((run.experiment, run.status), []).append(run.name)
    return [
        {
            "experiment": experiment,
            "status": status,
            "runs": len(own),
            "names": sorted(own)[:LISTED_NAMES],
        }
        for (experiment, status), own in sorted(names.items())
    ]
