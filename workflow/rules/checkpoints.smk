"""Chooses a checkpoint of each training, and ranks checkpoints.

Reads: tables of evaluations, or a tracking store.
Writes: tracking/, runs.parquet and validation.json as validation does, leaderboard/evaluations.parquet,
and the tables, figures and paragraph of the analysis `checkpoints`.
"""


rule read_tracking:
    """Runs of a tracking store → a table of evaluations."""
    output:
        evaluations="results/{study}/tracking/evaluations.parquet",
    log:
        "results/logs/read_tracking/{study}.log",
    benchmark:
        "results/benchmarks/read_tracking/{study}.tsv"
    conda:
        "../../envs/tracking.yaml"
    params:
        state=state_of_store,
        account="results/{study}/tracking/account.json",
        store=setting("tracking/store"),
        experiments=setting("tracking/experiments"),
        status=setting("tracking/status"),
        metric_keys=setting("tracking/keys"),
        datasets=setting("tracking/datasets"),
        library=digest_library("read_tracking.py"),
    script:
        "../../scripts/read_tracking.py"


rule validate_checkpoints:
    """Evaluations of checkpoints → runs of the chosen ones, or every problem that they have."""
    input:
        exports=evaluations_of,
        references=references_of,
    output:
        runs="results/{study}/runs.parquet",
        validation="results/{study}/validation.json",
        evaluations="results/{study}/leaderboard/evaluations.parquet",
    log:
        "results/logs/validate_checkpoints/{study}.log",
    benchmark:
        "results/benchmarks/validate_checkpoints/{study}.tsv"
    wildcard_constraints:
        study=match_studies("checkpoints"),
    conda:
        "../../envs/analysis.yaml"
    params:
        rejected="results/{study}/rejected.csv",
        checksums=setting("checksums"),
        names=names_of,
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
        checkpoints=choice_of,
        library=digest_library("validate_checkpoints.py"),
    script:
        "../../scripts/validate_checkpoints.py"
