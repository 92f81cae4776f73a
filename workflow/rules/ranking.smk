"""Summarizes the runs per cell, per dataset and across datasets, and says how sure scores and ranks are.

Reads: runs.parquet and normalized/.
Writes: bootstrap/{shard}.parquet (estimates) and the main tables in tables/.
"""


rule aggregate:
    """Normalized runs → score matrix, summaries of seeds, and what runs have in common."""
    input:
        runs="results/{study}/runs.parquet",
        normalized="results/{study}/normalized/runs.parquet",
        scope="results/{study}/normalized/scope.json",
    output:
        scores=table("results/{study}/tables/scores", "csv tex"),
        seeds=table("results/{study}/tables/seeds"),
        dependence=table("results/{study}/tables/dependence"),
    log:
        "results/logs/aggregate/{study}.log",
    benchmark:
        "results/benchmarks/aggregate/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(2),
    params:
        cfg=cfg("datasets"),
        library=code("aggregate"),
    script:
        "../../scripts/aggregate.py"


rule bootstrap:
    """Normalized runs → estimates and intervals of the models of one shard."""
    input:
        runs="results/{study}/normalized/runs.parquet",
        item_scores="results/{study}/normalized/items.parquet",
        scope="results/{study}/normalized/scope.json",
    output:
        estimates="results/{study}/bootstrap/{shard}.parquet",
    log:
        "results/logs/bootstrap/{study}_{shard}.log",
    benchmark:
        "results/benchmarks/bootstrap/{study}_{shard}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(30),
    params:
        study="{study}",
        shard="{shard}",
        cfg=cfg(
            "bootstrap/replicates bootstrap/confidence bootstrap/interval bootstrap/seed "
            "bootstrap/shards",
            groups=inputs.read_groups,
            dimensions=studies.find_estimated,
        ),
        library=code("bootstrap"),
    script:
        "../../scripts/bootstrap.py"


rule rank:
    """Estimates of all models → ranking with intervals, sets of ranks and tie groups."""
    input:
        estimates=shards("results/{study}/bootstrap/{shard}.parquet"),
        scope="results/{study}/normalized/scope.json",
    output:
        ranking=table("results/{study}/tables/ranking"),
    log:
        "results/logs/rank/{study}.log",
    benchmark:
        "results/benchmarks/rank/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(2),
    params:
        cfg=cfg("bootstrap/confidence", groups=inputs.list_groups),
        library=code("rank"),
    script:
        "../../scripts/rank.py"
