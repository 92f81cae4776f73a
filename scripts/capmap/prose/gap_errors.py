"""Small words on errors of predicted gaps: names of methods, numbers and differences."""

import pandas as pd

from capmap.prose.words import format_interval

METHOD_NAMES = {
    "factors": "the Bayesian factors",
    "l2": "the L2 distance",
    "cosine": "the cosine distance",
    "poincare": "the Poincaré distance",
    "additive": "additive effects of models and datasets",
    "model_mean": "the mean gap of the model",
    "dataset_mean": "the mean gap of the dataset",
    "mean": "the mean of all gaps",
}
PAPER = "Adorni et al. 2025, arXiv:2505.03299"
# Level of intervals over splits, models and datasets; that of prediction intervals is a setting.
LEVEL = 0.95
NOTHING = "0.0000"


def format_error(value: float) -> str:
    """Say an error or a difference of errors with four decimals.

    Examples
    --------
    >>> format_error(0.06451), format_error(-0.00001), format_error(float("nan"))
    ('0.0645', '0.0000', 'not available')
    """
    return "not available" if pd.isna(value) else f"{value:z.4f}"


def describe_error(
    row: "pd.Series", name: str = "mse", *, over: str = "", confidence_level: float | None = None
) -> str:
    """Say an estimate with its interval, if it has one.

    Parameters
    ----------
    row : pandas.Series
        With `name`, and its ends ``{name}_low`` and ``{name}_high``.
    name : str
        Of the estimate.
    over : str, optional
        What the interval generalizes to.
    confidence_level : float, optional
        Of the interval; by default what the row states.

    Examples
    --------
    >>> describe_error(pd.Series({"mse": 0.06, "mse_low": 0.05, "mse_high": 0.07}), over="splits")
    '0.0600 (95% interval over splits 0.0500 to 0.0700)'
    """
    ends = describe_ends(row, name, over=over, confidence_level=confidence_level)
    return format_error(row[name]) + ends


def describe_ends(
    row: "pd.Series", name: str, *, over: str = "", confidence_level: float | None = None
) -> str:
    """Say the interval of an estimate in brackets, or nothing where it has none."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    level = find_level(row) if confidence_level is None else confidence_level
    return format_interval(low, high, confidence_level=level, over=over, write=format_error)


def find_level(row: "pd.Series") -> float:
    """The confidence level that a row of a table states, or else 0.95."""
    return float(row.get("confidence", LEVEL))


def classify_difference(row: "pd.Series", name: str = "difference") -> str:
    """Side of 0 on which an interval of differences lies.

    Returns
    -------
    str
        "lower", "higher", "alike" for an interval that holds 0, and "" without one.

    Examples
    --------
    >>> classify_difference(pd.Series({"difference_low": -0.2, "difference_high": -0.1}))
    'lower'
    """
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if pd.isna(low) or pd.isna(high):
        return ""
    if high < 0:
        return "lower"
    return "higher" if low > 0 else "alike"


def describe_difference(
    row: "pd.Series", other: str, *, confidence_level: float | None = None
) -> str:
    """Say how much lower or higher an error is than another, and whether that could be chance.

    Parameters
    ----------
    row : pandas.Series
        With ``difference``, ``difference_low`` and ``difference_high``.
    other : str
        The other error, such as ``that of plain L2``.
    confidence_level : float, optional
        Of the interval (by default what the row states), whose ends are turned with the difference.

    Examples
    --------
    >>> row = pd.Series({"difference": -0.02, "difference_low": -0.05, "difference_high": 0.01})
    >>> describe_difference(row, "that of L2")
    '0.0200 lower (95% interval -0.0100 to 0.0500, which holds 0) than that of L2'
    >>> describe_difference(row * 0, "that of L2")
    'the same as that of L2'
    """
    side = -1 if row["difference"] < 0 else 1
    size = format_error(side * row["difference"])
    low, high = sorted(side * row[f"difference_{end}"] for end in ("low", "high"))
    level = find_level(row) if confidence_level is None else confidence_level
    ends = format_interval(low, high, confidence_level=level, write=format_error)
    if classify_difference(row) == "alike":
        ends = f"{ends[:-1]}, which holds 0)"
    if size != NOTHING:
        return f"{size} {'lower' if side < 0 else 'higher'}{ends} than {other}"
    is_exact = {format_error(low), format_error(high)} == {NOTHING}
    return f"the same as {other}{'' if is_exact else ends}"
