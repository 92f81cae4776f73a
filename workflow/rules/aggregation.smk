"""Summarizes the runs: per cell, per dataset, and across datasets.

Reads: normalized/{shard}.parquet, runs.parquet.
Writes: tables/scores, tables/seeds, tables/aggregate.
"""


rule aggregate_scores:
    """Normalized scores → seed summaries, score matrix and aggregate ranking."""
    input:
        shards=shards_in("normalized"),
        runs="results/{study}/runs.parquet",
    output:
        scores=table("scores"),
        seeds=table("seeds"),
        aggregate=table("aggregate"),
    log:
        "results/logs/aggregate_scores/{study}.log",
    benchmark:
        "results/benchmarks/aggregate_scores/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        aggregations=setting("aggregate"),
        datasets=setting("datasets"),
        library=digest_library("aggregate_scores.py"),
    script:
        "../../scripts/aggregate_scores.py"
