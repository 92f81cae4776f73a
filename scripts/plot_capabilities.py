"""Draw the maps of models and datasets."""

import logging

from capmap.artifacts import read_parquet, read_table
from capmap.figures.attribute_maps import draw_attribute_maps
from capmap.figures.capability_map import draw_map
from capmap.figures.centrality import draw_centrality
from capmap.figures.style import save_figure

logger = logging.getLogger(__name__)


def plot_capabilities(
    *,
    places: str,
    models: str,
    datasets: str,
    positions: str,
    centrality: str,
    capability_map_figure: list[str],
    capability_attributes_figure: list[str],
    centrality_figure: list[str],
) -> None:
    """Draw the map, the map by attributes, and how far models are from its center.

    Parameters
    ----------
    places : str
        Places in two dimensions, Parquet.
    models, datasets, positions, centrality : str
        Tables, CSV.
    capability_map_figure, capability_attributes_figure, centrality_figure : list of str
        Where to draw each, by format.
    """
    points = read_parquet(places)
    known, tasks = read_table(models), read_table(datasets)
    save_figure(draw_map(points, known, tasks), capability_map_figure)
    save_figure(draw_attribute_maps(points, known, tasks), capability_attributes_figure)
    figure = draw_centrality(read_table(positions), known, read_table(centrality))
    save_figure(figure, centrality_figure)
    logger.info("drew %d points", len(points))


if __name__ == "__main__":
    from job import run_job

    run_job(plot_capabilities, snakemake)  # type: ignore[name-defined]
