"""Reads a study's exports, says all that is wrong with them, and puts them on one scale, 0 to 1.

Reads: the tables of the user, and perhaps a file of frozen bounds and the definition of the benchmark.
Writes: runs.parquet, items.parquet (scores of single items, if any), validation.json; normalized/ with runs.parquet, items.parquet, bounds.csv,
dropped.csv and scope.json (what intervals generalize to). rejected.csv lists the faults of refused exports.
"""

# What every kind of exports is checked by.
CHECKED = "format checksums metrics datasets normalization select incomplete duplicates invalid"


rule validate:
    """Exports → runs, or every problem that they have."""
    input:
        exports=files(studies.list_exports),
        references=files(studies.find_references),
        benchmark=files(studies.find_benchmark_rules),
    output:
        runs="results/{study}/runs.parquet",
        item_scores="results/{study}/items.parquet",
        validation="results/{study}/validation.json",
    log:
        "results/logs/validate/{study}.log",
        rejected="results/{study}/rejected.csv",
    benchmark:
        "results/benchmarks/validate/{study}.tsv"
    wildcard_constraints:
        study=studies.match_studies(config, "long", "matrix"),
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(10),
    params:
        cfg=cfg(
            CHECKED,
            "failed header_rows reading fields values summary take columns where metric "
            "decimal",
            names=studies.list_exports,
            patterns="exports",
            renamed="figures/names",
        ),
        checked=unwatched(named=inputs.list_named, attributes=inputs.read_attributes),
        library=code("validate"),
    script:
        "../../scripts/validate.py"


rule normalize:
    """Runs → normalized runs, and the bounds that made them."""
    input:
        runs="results/{study}/runs.parquet",
        item_scores=files(studies.find_items),
        references=files(studies.find_references),
        benchmark=files(studies.find_benchmark_rules),
    output:
        normalized="results/{study}/normalized/runs.parquet",
        normalized_items="results/{study}/normalized/items.parquet",
        bounds="results/{study}/normalized/bounds.csv",
        dropped="results/{study}/normalized/dropped.csv",
        scope="results/{study}/normalized/scope.json",
    log:
        "results/logs/normalize/{study}.log",
    benchmark:
        "results/benchmarks/normalize/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(5),
    params:
        cfg=cfg(
            "metrics datasets normalization select incomplete min_datasets rank_by iqm "
            "bootstrap/unit bootstrap/interval",
            renamed="figures/names",
        ),
        library=code("normalize"),
    script:
        "../../scripts/normalize.py"
