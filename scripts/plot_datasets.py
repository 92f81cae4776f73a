"""Draw the figures of a study's datasets: scores, runs per cell, and the spread over seeds."""

from capmap.artifacts import read_table
from capmap.figures.runs_per_cell import draw_runs_per_cell
from capmap.figures.scores import draw_scores
from capmap.figures.seed_spread import draw_seed_spread
from capmap.figures.style import save_figure


def plot_datasets(
    *,
    scores: str,
    seeds: str,
    aggregate: str,
    scores_figure: list[str],
    runs_per_cell_figure: list[str],
    seed_spread_figure: list[str],
) -> None:
    """Draw tables/scores.csv and tables/seeds.csv, models in the order of tables/aggregate.csv."""
    order = list(read_table(aggregate)["model"])
    cells = read_table(seeds)
    save_figure(draw_scores(read_table(scores), order=order), scores_figure)
    save_figure(draw_runs_per_cell(cells, order=order), runs_per_cell_figure)
    save_figure(draw_seed_spread(cells), seed_spread_figure)


if __name__ == "__main__":
    from job import run_job

    run_job(plot_datasets, snakemake)  # type: ignore[name-defined]
