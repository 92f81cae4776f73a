"""Draws finished tables; a figure computes no statistic.

Reads: tables/iqm, aggregate, scores, seeds.
Writes: figures/intervals, rank_shift, scores, runs_per_cell, seed_spread, each as PDF, PNG and SVG.
"""


rule plot_rankings:
    """Rankings → interval plot and rank shift between aggregations."""
    input:
        iqm="results/{study}/tables/iqm.csv",
        aggregate="results/{study}/tables/aggregate.csv",
    output:
        intervals_figure=figure("intervals"),
        rank_shift_figure=figure("rank_shift"),
    log:
        "results/logs/plot_rankings/{study}.log",
    benchmark:
        "results/benchmarks/plot_rankings/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_rankings.py"),
    script:
        "../../scripts/plot_rankings.py"


rule plot_datasets:
    """Scores and seeds → scores per dataset, runs per cell, seed spread."""
    input:
        scores="results/{study}/tables/scores.csv",
        seeds="results/{study}/tables/seeds.csv",
        aggregate="results/{study}/tables/aggregate.csv",
    output:
        scores_figure=figure("scores"),
        runs_per_cell_figure=figure("runs_per_cell"),
        seed_spread_figure=figure("seed_spread"),
    log:
        "results/logs/plot_datasets/{study}.log",
    benchmark:
        "results/benchmarks/plot_datasets/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_datasets.py"),
    script:
        "../../scripts/plot_datasets.py"
