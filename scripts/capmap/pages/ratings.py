"""When pages warn of ratings that hang on the ridge."""


def depends_on_ridge(separated: float, *, confidence_level: float) -> bool:
    """Whether separated resamples are so many that ends of percentile intervals hang on the ridge.

    Parameters
    ----------
    separated : float
        Share of resamples that `capmap.comparison.bradley_terry.find_separated` finds, 0 to 1.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    bool
        Whether the share exceeds half of what lies beyond an end of the intervals; close to that
        share, chance decides where the end is.
    """
    return separated > (1 - confidence_level) / 4
