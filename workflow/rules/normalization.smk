"""Puts every dataset on one scale, 0 to 1, and spreads the models over shards.

Reads: runs.parquet, and the file of frozen bounds if there is one.
Writes: normalized/bounds.csv, manifest.csv and dropped.csv; beside them normalized/{shard}.parquet,
shape.csv and datasets.csv, which are replaced only when their bytes change and therefore are not
declared: what depends on them runs again only when it must.
"""


checkpoint normalize_runs:
    """Runs → normalized scores of each model, in shards."""
    input:
        runs="results/{study}/runs.parquet",
        references=references_of,
        benchmark=benchmark_rules_of,
    output:
        bounds="results/{study}/normalized/bounds.csv",
        manifest="results/{study}/normalized/manifest.csv",
        dropped="results/{study}/normalized/dropped.csv",
    log:
        "results/logs/normalize_runs/{study}.log",
    benchmark:
        "results/benchmarks/normalize_runs/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        folder="results/{study}/normalized",
        shards=setting("bootstrap/shards"),
        metrics=setting("metrics"),
        datasets=setting("datasets"),
        normalization=setting("normalization"),
        select=setting("select"),
        incomplete=setting("incomplete"),
        library=digest_library("normalize_runs.py"),
    script:
        "../../scripts/normalize_runs.py"
