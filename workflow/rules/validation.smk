"""Reads a study's exports and says all that is wrong with them.

Reads: the exports as they left their owners, and the file of frozen bounds and the definition of the
benchmark if there are any.
Writes: runs.parquet, validation.json, and rejected.csv (kept when the exports are refused).
"""


rule validate_exports:
    """Exports → runs, or every problem that they have."""
    input:
        exports=exports_of,
        references=references_of,
        benchmark=benchmark_rules_of,
    output:
        runs="results/{study}/runs.parquet",
        validation="results/{study}/validation.json",
    log:
        "results/logs/validate_exports/{study}.log",
    benchmark:
        "results/benchmarks/validate_exports/{study}.tsv"
    wildcard_constraints:
        study=match_studies("long", "matrix"),
    conda:
        "../../envs/analysis.yaml"
    params:
        rejected="results/{study}/rejected.csv",
        checksums=setting("checksums"),
        names=names_of,
        format=setting("format"),
        header_rows=setting("header_rows"),
        columns=setting("columns"),
        where=setting("where"),
        metric=setting("metric"),
        decimal=setting("decimal"),
        metrics=setting("metrics"),
        datasets=setting("datasets"),
        normalization=setting("normalization"),
        select=setting("select"),
        min_seeds=setting("min_seeds"),
        incomplete=setting("incomplete"),
        duplicates=setting("duplicates"),
        invalid=setting("invalid"),
        library=digest_library("validate_exports.py"),
    script:
        "../../scripts/validate_exports.py"
