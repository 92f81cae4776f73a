"""Summarizes the runs per cell, per dataset and across datasets, and says how sure scores and ranks are.

Reads: runs.parquet, normalized/{shard}.parquet and normalized/scope.json.
Writes: bootstrap/{shard}.parquet (estimates), tables/scores, tables/seeds, tables/shared_seeds,
tables/aggregate, tables/iqm, tables/scopes, tables/intervals.
"""


rule aggregate_scores:
    """Normalized scores → summaries of seeds and of what they share, score matrix, ranking."""
    input:
        shards=of(studies.list_shards, "normalized"),
        scope=of(studies.find_scope),
        runs="results/{study}/runs.parquet",
    output:
        scores=table("scores"),
        seeds=table("seeds"),
        shared_seeds=table("shared_seeds"),
        aggregate=table("aggregate"),
    log:
        "results/logs/aggregate_scores/{study}.log",
    benchmark:
        "results/benchmarks/aggregate_scores/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        datasets=setting("datasets"),
        library=digest_library("aggregate_scores.py"),
    script:
        "../../scripts/aggregate_scores.py"


rule bootstrap_shard:
    """Normalized scores of a shard's models → estimates and intervals.

    A leaderboard has those of each dimension and each dataset as well.
    """
    input:
        shard="results/{study}/normalized/{shard}.parquet",
        scope=of(studies.find_scope),
    output:
        estimates="results/{study}/bootstrap/{shard}.parquet",
    log:
        "results/logs/bootstrap_shard/{study}_{shard}.log",
    benchmark:
        "results/benchmarks/bootstrap_shard/{study}_{shard}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        replicates=setting("bootstrap/replicates"),
        confidence=setting("bootstrap/confidence"),
        interval=setting("bootstrap/interval"),
        dimensions=of(leaderboards.find_estimated),
        seed=setting("bootstrap/seed"),
        library=digest_library("bootstrap_shard.py"),
    script:
        "../../scripts/bootstrap_shard.py"


rule rank_models:
    """Estimates of all models → ranking with intervals, sets of ranks and tie groups."""
    input:
        shards=of(studies.list_shards, "bootstrap"),
        scope=of(studies.find_scope),
    output:
        iqm=table("iqm"),
        scopes=table("scopes"),
        intervals=table("intervals"),
    log:
        "results/logs/rank_models/{study}.log",
    benchmark:
        "results/benchmarks/rank_models/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        confidence_level=setting("bootstrap/confidence"),
        library=digest_library("rank_models.py"),
    script:
        "../../scripts/rank_models.py"
