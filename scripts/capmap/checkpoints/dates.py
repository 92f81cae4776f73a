"""Checkpoints over calendar time: what validation would have chosen at each date."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.checkpoints.plan import Plan
from capmap.checkpoints.selection import CHECKPOINT, MIDDLE, read_report
from capmap.problems import Problem
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.wording import count_things

DATES = {
    "date": "str",
    "model": "str",
    "training": "str",
    "checkpoint": "str",
    "step": "int64",
    "selection": "float64",
    "report": "float64",
    "chosen": "bool",
    "record": "bool",
    "stamp": "str",
}
# A number alone may be seconds of training, so a date has to look like one.
DATE = r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?"


def read_dates(times: "pd.Series[str]") -> "pd.Series[pd.Timestamp]":
    """Read times that begin with a date, in UTC; others are missing.

    Examples
    --------
    >>> times = pd.Series(["2026-03-01T23:30:00-02:00", "2026-03-01", "1200"])
    >>> [str(time) for time in read_dates(times)]
    ['2026-03-02 01:30:00+00:00', '2026-03-01 00:00:00+00:00', 'NaT']
    """
    is_date = times.str.fullmatch(DATE)
    found = pd.to_datetime(
        times.where(is_date).str.strip(), format="ISO8601", utc=True, errors="coerce"
    )
    return found.astype("datetime64[us, UTC]")


def find_undated(values: pd.DataFrame) -> list[Problem]:
    """Warn of times that are no dates; there is none where no time is given."""
    lost = values[(values["time"] != "") & read_dates(values["time"]).isna()]
    if lost.empty:
        return []
    row = lost.iloc[0]
    return [
        Problem(
            severity="warning",
            code="no_date",
            source=row["source"],
            line=int(row["line"]),
            value=row["time"],
            reason=f"{count_things(len(lost), 'row')} whose time is no date.",
            remedy="Write it like 2026-03-01 or 2026-03-01T12:00:00Z; without, the checkpoints are "
            "not shown over dates.",
        )
    ]


def trace_dates(values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Order checkpoints by date, and mark which of them validation would have chosen then.

    Parameters
    ----------
    values : pandas.DataFrame
        As `capmap.checkpoints.selection.average_values` takes them, with ``time`` as text.
    checkpoints : pandas.DataFrame
        Of `capmap.checkpoints.selection.choose_checkpoints`.
    plan : Plan
        By what they were chosen, and where they are compared.

    Returns
    -------
    pandas.DataFrame
        The columns of `DATES`, by date, model, training and step, of the checkpoints with a date
        and a value to be chosen by: ``date`` (UTC, the earliest of its values), ``selection`` and
        ``report`` (the values on both splits as in `measure_optimism`, the latter empty where it
        lacks a dataset), whether it is ``chosen`` of its training, and whether it is a ``record``:
        the best of its date and better than all of earlier dates on the selection split.

    Notes
    -----
    The report values of the records are what somebody had who, at a date, took the best checkpoint
    by validation until then. They may fall, since the choice does not see them. With several
    datasets, values are normalized by the checkpoints until then, so that later ones change no
    record, whereas ``selection`` is that of all. Equal values, to 12 digits, are no record; on one
    date the first by name is.
    """
    dates = values.assign(date=read_dates(values["time"])).dropna(subset="date")
    first = dates.groupby(CHECKPOINT)["date"].min().dt.strftime("%Y-%m-%d")
    listed = checkpoints.dropna(subset="selection").merge(
        first.rename("date").reset_index(), on=CHECKPOINT
    )
    report = read_report(values, plan).rename("report").reset_index()
    listed = listed.merge(report, on=CHECKPOINT, how="left")
    listed = listed.sort_values(["date", *CHECKPOINT], ignore_index=True)
    listed["record"] = _find_records(_arrange(values, listed, plan), listed["date"].to_numpy())
    return listed.assign(stamp=plan.stamp)[list(DATES)].astype(DATES)


def _arrange(values: pd.DataFrame, listed: pd.DataFrame, plan: Plan) -> FloatArray:
    """Values on the selection split, checkpoints × datasets, higher is better."""
    wanted = values["dataset"].map(plan.metrics) == values["metric"]
    rows = values[wanted & (values["split"] == plan.split)]
    table = rows.pivot_table(index=CHECKPOINT, columns="dataset", values="score", observed=True)
    names = [str(name) for name in table.columns]
    is_error = [plan.directions.get((name, plan.metrics[name])) == "min" for name in names]
    table = table.reindex(pd.MultiIndex.from_frame(listed[CHECKPOINT]))
    return np.asarray(np.where(is_error, -1.0, 1.0) * table.to_numpy(np.float64))


def _find_records(scores: FloatArray, dates: npt.NDArray[np.object_]) -> npt.NDArray[np.bool_]:
    """Which checkpoints, in the order of dates, are better than all until then."""
    records = np.zeros(len(scores), dtype=bool)
    for start in np.flatnonzero(np.r_[True, dates[1:] != dates[:-1]][: len(dates)]):
        known = scores[: np.searchsorted(dates, dates[start], side="right")]
        if known.shape[1] > 1:
            low, width = known.min(axis=0), np.ptp(known, axis=0)
            shares = np.full(known.shape, MIDDLE)
            known = np.divide(known - low, width, out=shares, where=width > 0)
        means = round_significant(known.mean(axis=1))
        best = start + int(means[start:].argmax())
        records[best] = not start or bool(means[best] > means[:start].max())
    return records
