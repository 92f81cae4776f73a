"""Draw the figures of a study's ranking: intervals, and how ranks shift with the aggregation."""

from capmap.artifacts import read_table
from capmap.figures.intervals import draw_intervals
from capmap.figures.rank_shift import draw_rank_shift
from capmap.figures.style import save_figure


def plot_rankings(
    *, iqm: str, aggregate: str, intervals_figure: list[str], rank_shift_figure: list[str]
) -> None:
    """Draw tables/iqm.csv and tables/aggregate.csv."""
    ranking = read_table(iqm)
    save_figure(draw_intervals(ranking), intervals_figure)
    save_figure(draw_rank_shift(read_table(aggregate), ranking), rank_shift_figure)


if __name__ == "__main__":
    from job import run_job

    run_job(plot_rankings, snakemake)  # type: ignore[name-defined]
