"""Draw how well hidden results are predicted."""

import logging

from capmap.artifacts import read_parquet, read_table
from capmap.figures.dimensions import draw_dimensions
from capmap.figures.few_results import draw_error_by_results
from capmap.figures.prediction_errors import draw_prediction_errors
from capmap.figures.prediction_fit import draw_fit
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_predictions(
    *,
    summary: str,
    validation: str,
    training: str,
    by_results: str,
    predictions: str,
    prediction_fit_figure: list[str],
    prediction_dimensions_figure: list[str],
    error_by_results_figure: list[str],
    prediction_errors_figure: list[str],
    dimension: int,
    method: str,
) -> None:
    """Draw the cross-validation in capabilities/.

    Parameters
    ----------
    summary, validation, by_results, predictions : str
        Tables, CSV.
    training : str
        Predictions of known results, Parquet.
    prediction_fit_figure, prediction_dimensions_figure : list of str
        Where to draw each, by format.
    error_by_results_figure, prediction_errors_figure : list of str
        Where to draw each, by format.
    dimension : int
        Number of dimensions of the fits that are drawn.
    method : str
        The study's own.
    """
    errors = read_table(summary)
    known, hidden = read_parquet(training), read_table(validation)
    save_figure(draw_fit(known, hidden, errors, dimension=dimension), prediction_fit_figure)
    save_figure(draw_dimensions(errors), prediction_dimensions_figure)
    by_number = draw_error_by_results(read_table(by_results), method=method)
    save_figure(by_number, error_by_results_figure)
    save_figure(draw_prediction_errors(read_table(predictions)), prediction_errors_figure)
    logger.info("drew %d predictions of hidden results", len(hidden))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_predictions, snakemake)  # type: ignore[name-defined]
