"""Outcomes of all images of all dumps, written and read one dump at a time."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from capmap.multilabel.dumps import Cell
from capmap.multilabel.outcomes import OUTCOMES, ImageValues, evaluate_images

KINDS = {"str": "string", "int64": "int64", "Int64": "int64", "boolean": "bool"}
SCHEMA = pa.schema(
    [(name, pa.string()) for name in Cell._fields]
    + [(name, pa.type_for_alias(KINDS.get(kind, kind))) for name, kind in OUTCOMES.items()]
)


class OutcomeWriter:
    """Writes the outcomes of one dump after the other to a Parquet file, a row group each.

    Parameters
    ----------
    stream : binary file
        Where to write.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._writer = pq.ParquetWriter(stream, SCHEMA, compression="zstd")

    def write(self, cell: Cell, outcomes: pd.DataFrame) -> None:
        """Write the outcomes of a dump, from `capmap.multilabel.outcomes.score_images`."""
        columns: dict[str, Any] = {
            name: pa.array([value] * len(outcomes), pa.string())
            for name, value in cell._asdict().items()
        }
        for name in OUTCOMES:
            columns[name] = pa.array(outcomes[name], SCHEMA.field(name).type, from_pandas=True)
        self._writer.write_table(
            pa.table(columns, schema=SCHEMA), row_group_size=max(len(outcomes), 1)
        )

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()


class OutcomeFiles:
    """The outcomes of a study.

    Parameters
    ----------
    paths : iterable of path-like
        Files that `OutcomeWriter` wrote.
    """

    def __init__(self, paths: Iterable[str | Path]) -> None:
        self._places: dict[Cell, tuple[str, int]] = {}
        self._seeds: dict[tuple[str, str], set[str]] = {}
        for path in sorted(map(str, paths)):
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    head = file.read_row_group(group, columns=list(Cell._fields)).slice(0, 1)
                    for row in head.to_pylist():
                        cell = Cell(**row)
                        self._places[cell] = (path, group)
                        self._seeds.setdefault((cell.model, cell.dataset), set()).add(cell.seed)

    @property
    def datasets(self) -> list[str]:
        """The datasets that any model has, by name."""
        return sorted({cell.dataset for cell in self._places})

    def list_models(self, dataset: str) -> list[str]:
        """List the models that have a dataset, by name."""
        return sorted({cell.model for cell in self._places if cell.dataset == dataset})

    def list_seeds(self, models: Iterable[str], dataset: str) -> list[str]:
        """List the seeds of a dataset that all of some models have."""
        own = [self._seeds.get((model, dataset), set()) for model in models]
        return sorted(set.intersection(*own)) if own else []

    def read(self, model: str, dataset: str, seeds: Sequence[str]) -> tuple[ImageValues, list[str]]:
        """Read a model's values on the images of a dataset, and the ids of the images.

        Parameters
        ----------
        model, dataset : str
            Whose outcomes.
        seeds : sequence of str
            The seeds, whose images are put one after the other; one or more.

        Returns
        -------
        ImageValues, list of str
            An id has the seed in front where there is one, since each seed has images of its own.
        """
        tables = []
        for seed in seeds:
            path, group = self._places[Cell(model, dataset, seed)]
            with pq.ParquetFile(path) as file:
                tables.append(file.read_row_group(group))
        table = pa.concat_tables(tables).to_pandas(types_mapper=_choose_type)
        ids = [
            f"{seed}/{name}" if name and seed else name
            for seed, name in zip(table["seed"].tolist(), table["id"].tolist(), strict=True)
        ]
        return evaluate_images(table), ids


def _choose_type(kind: pa.DataType) -> Any:
    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    return pd.Int64Dtype() if pa.types.is_integer(kind) else None
