"""Reads submissions to a leaderboard and says all that is wrong with them.

Reads: the table of results and the description of each submission, the definition of the benchmark,
the file of frozen bounds; or a tracking store from which a submission is collected.
Writes: runs.parquet, validation.json and rejected.csv, as validation does, and submissions.json;
collected/ (a submission, and what it lacks).
"""


rule validate_submissions:
    """Submissions → runs, or every problem that they have."""
    input:
        benchmark=benchmark_of,
        files=submissions_of,
        references=references_of,
    output:
        runs="results/{study}/runs.parquet",
        validation="results/{study}/validation.json",
        submissions="results/{study}/submissions.json",
    log:
        "results/logs/validate_submissions/{study}.log",
    benchmark:
        "results/benchmarks/validate_submissions/{study}.tsv"
    wildcard_constraints:
        study=match_studies("submission"),
    conda:
        "../../envs/analysis.yaml"
    params:
        folders=folders_of,
        rejected="results/{study}/rejected.csv",
        checksums=setting("checksums"),
        names=names_of,
        seeds_per_cell=setting("submission/seeds_per_cell"),
        columns=setting("columns"),
        decimal=setting("decimal"),
        metrics=setting("metrics"),
        datasets=setting("datasets"),
        normalization=setting("normalization"),
        select=setting("select"),
        incomplete=setting("incomplete"),
        duplicates=setting("duplicates"),
        invalid=setting("invalid"),
        library=digest_library("validate_submissions.py"),
    script:
        "../../scripts/validate_submissions.py"


rule collect_submission:
    """Runs of a tracking store → a submission, and what it lacks."""
    input:
        benchmark=benchmark_of,
        information=information_of,
    output:
        results="results/{study}/collected/{study}/results_and_parameters.csv",
        description="results/{study}/collected/{study}/additional_info.json",
    log:
        "results/logs/collect_submission/{study}.log",
    benchmark:
        "results/benchmarks/collect_submission/{study}.tsv"
    conda:
        "../../envs/tracking.yaml"
    params:
        state=state_of_store,
        incomplete="results/{study}/collected/incomplete.csv",
        account="results/{study}/collected/account.json",
        store=setting("tracking/store"),
        experiments=setting("tracking/experiments"),
        status=setting("tracking/status"),
        seeds_per_cell=setting("submission/seeds_per_cell"),
        library=digest_library("collect_submission.py"),
    script:
        "../../scripts/collect_submission.py"
