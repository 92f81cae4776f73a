"""Draw the performance profiles and the distributions of scores of a study's models."""

import logging

from capmap.artifacts import read_table
from capmap.figures.profiles import draw_profiles, draw_score_profiles
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_profiles(
    *,
    profiles: str,
    profile_area: str,
    iqm: str,
    profiles_figure: list[str],
    score_profiles_figure: list[str],
) -> None:
    """Draw tables/profiles.csv, models in the order of tables/iqm.csv.

    Parameters
    ----------
    profiles, profile_area, iqm : str
        Tables, CSV.
    profiles_figure, score_profiles_figure : list of str
        Where to draw each, by format.
    """
    order = list(read_table(iqm)["model"])
    curves = read_table(profiles)
    areas = read_table(profile_area)
    save_figure(draw_profiles(curves, areas, order=order), profiles_figure)
    save_figure(draw_score_profiles(curves, order=order), score_profiles_figure)
    logger.info("drew the profiles of %d models", len(areas))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_profiles, snakemake)  # type: ignore[name-defined]
