"""Small words on errors of predicted gaps: names of methods, numbers and differences."""

import pandas as pd

from capmap.prose.words import format_interval

METHOD_NAMES = {
    "ensemble": "the ensemble method",
    "l2": "the L2 distance",
    "cosine": "the cosine distance",
    "poincare": "the Poincaré distance",
    "placed": "placing without a new fit",
    "bilinear": "a bilinear model",
    "additive": "additive effects of models and datasets",
    "model_mean": "the mean gap of the model",
    "dataset_mean": "the mean gap of the dataset",
    "mean": "the mean of all gaps",
}
PAPER = "Adorni et al. 2025, arXiv:2505.03299"
# Level of intervals over splits, models and datasets; that of prediction intervals is a setting.
LEVEL = 0.95


def format_error(value: float) -> str:
    """Say an error or a difference of errors with four decimals.

    Examples
    --------
    >>> format_error(0.06451), format_error(-0.00001), format_error(float("nan"))
    ('0.0645', '0.0000', 'not available')
    """
    return "not available" if pd.isna(value) else f"{value:z.4f}"


def tell_error(
    row: "pd.Series", name: str = "mse", *, over: str = "", confidence_level: float = LEVEL
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
        Of the interval.

    Examples
    --------
    >>> tell_error(pd.Series({"mse": 0.06, "mse_low": 0.05, "mse_high": 0.07}), over="splits")
    '0.0600 (95% interval over splits 0.0500 to 0.0700)'
    """
    ends = tell_ends(row, name, over=over, confidence_level=confidence_level)
    return format_error(row[name]) + ends


def tell_ends(
    row: "pd.Series", name: str, *, over: str = "", confidence_level: float = LEVEL
) -> str:
    """Say the interval of an estimate in brackets, or nothing where it has none."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return format_interval(
        low, high, confidence_level=confidence_level, over=over, write=format_error
    )


def judge(row: "pd.Series", name: str = "difference") -> str:
    """Say on which side of 0 an interval lies.

    Returns
    -------
    str
        "lower", "higher", "alike" for an interval that holds 0, and "" without one.

    Examples
    --------
    >>> judge(pd.Series({"difference_low": -0.2, "difference_high": -0.1}))
    'lower'
    """
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if pd.isna(low) or pd.isna(high):
        return ""
    if high < 0:
        return "lower"
    return "higher" if low > 0 else "alike"


def tell_difference(
    row: "pd.Series", name: str = "difference", *, confidence_level: float = LEVEL
) -> str:
    """Say how much lower or higher an error is, and whether that could be told from none.

    The ends of the interval are turned with the difference.

    Examples
    --------
    >>> row = pd.Series({"difference": -0.02, "difference_low": -0.05, "difference_high": 0.01})
    >>> tell_difference(row)
    '0.0200 lower (95% interval -0.0100 to 0.0500, which holds 0)'
    """
    side = -1 if row[name] < 0 else 1
    low, high = sorted([side * row[f"{name}_low"], side * row[f"{name}_high"]])
    ends = format_interval(low, high, confidence_level=confidence_level, write=format_error)
    if judge(row, name) == "alike":
        ends = f"{ends[:-1]}, which holds 0)"
    return f"{format_error(side * row[name])} {'lower' if side < 0 else 'higher'}{ends}"
