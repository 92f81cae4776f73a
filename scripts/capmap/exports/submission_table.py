"""The results of a submission, ``results_and_parameters.csv``, as a sheet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from capmap.exports.cells import Cells, repeat_text, trim
from capmap.exports.columns import Wish, check_columns
from capmap.exports.documents import refuse
from capmap.exports.faults import UnreadableExportError
from capmap.exports.files import read_bounded
from capmap.exports.sheets import Sheet, open_sheet
from capmap.problems import Problem

RESULTS = "results_and_parameters.csv"
LARGEST = 1 << 27
NAME = "submission"
BACKBONE, METHOD, DATASET = "backbone", "frozen_or_full_ft", "dataset"
METRIC, SCORE, SEED = "Metric", "test metric", "Seed"
EXPERIMENT, DECODER, PARTITION = "experiment_name", "decoder", "partition name"
IDENTITY = (BACKBONE, METHOD, DATASET, METRIC, SCORE, SEED)
PARAMETERS = (
    *(EXPERIMENT, DECODER, "n_trials", "batch_size", "lr", "weight_decay", "data_percentages"),
    *("early_stop_patience", "batch_size_selection", PARTITION),
)
REQUIRED = (*IDENTITY, *PARAMETERS)
KEPT = {NAME: NAME, BACKBONE: BACKBONE, METHOD: "method", **{name: name for name in PARAMETERS}}
KEPT[PARTITION] = "partition_name"
SETTING = "a submission needs it"


@dataclass(frozen=True)
class SubmissionSheet:
    """A table of results with the submission's name as a further column.

    Parameters
    ----------
    sheet : Sheet
        The opened file.
    name : str
        The submission's name. A column of the file that is called ``submission`` is not read.
    """

    sheet: Sheet
    name: str

    @property
    def columns(self) -> list[str]:
        """The columns of the file, needed ones that it lacks, and the name of the submission."""
        own = [column for column in self.sheet.columns if column != NAME]
        return [*own, *(column for column in REQUIRED if column not in own), NAME]

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read the cells of some columns, trimmed except for scores; missing columns are empty.

        Raises
        ------
        UnreadableExportError
            When the file turns out to be damaged.
        """
        present = {*self.sheet.columns} - {NAME}
        cells = self.sheet.read_cells([name for name in names if name in present])
        count = len(cells.lines)
        columns = {}
        for name in names:
            if name in present:
                texts = cells.columns[name]
                columns[name] = texts if name == SCORE else trim(texts)
            else:
                columns[name] = repeat_text(self.name if name == NAME else "", count)
        return replace(cells, columns=columns)

    def read_rows(self) -> pd.DataFrame:
        """Read the needed columns as text, and the line of each row as ``line``."""
        cells = self.read_cells(REQUIRED)
        columns = {name: cells.columns[name].to_pylist() for name in REQUIRED}
        return pd.DataFrame({**columns, "line": cells.lines})


def open_submission(path: str, *, name: str) -> tuple[SubmissionSheet, list[Problem]]:
    """Open the results of a submission.

    Parameters
    ----------
    path : str
        The file.
    name : str
        The submission's name.

    Returns
    -------
    sheet : SubmissionSheet
        Its cells can be read.
    problems : list of Problem
        Columns of parameters that are missing.

    Raises
    ------
    UnreadableExportError
        When the file cannot be opened, is larger than 128 MiB, has a needed column twice, or lacks
        one of backbone, frozen_or_full_ft, dataset, Metric, test metric and Seed.
    """
    try:
        read_bounded(path, limit=LARGEST)
    except UnreadableExportError as error:
        if error.problems[0].code != "too_large":
            raise
        reason = f"The table has more than {LARGEST} bytes once unpacked."
        raise refuse("too_large", path, reason, "Keep the rows of this submission only.") from error
    sheet = open_sheet(path, wanted=REQUIRED)
    wishes = [Wish(SETTING, column) for column in REQUIRED]
    problems = check_columns(wishes, sheet.columns, path)
    fatal = {problem.column for problem in problems if problem.code == "duplicated_column"}
    if fatal | ({problem.column for problem in problems} & {*IDENTITY}):
        raise UnreadableExportError(*problems)
    return SubmissionSheet(sheet, name), problems
