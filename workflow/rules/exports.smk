"""Reads a study's exports, says all that is wrong with them, and puts them on one scale, 0 to 1.

Reads: the exports as they left their owners (tables, folders of submissions, tables of evaluations of
checkpoints), the file of frozen bounds and the definition of the
benchmark if there are any.
Writes: runs.parquet, validation.json, and rejected.csv (kept when the exports are refused); of
submissions also submissions.json, of checkpoints leaderboard/evaluations.parquet;
normalized/bounds.csv, manifest.csv and dropped.csv.
Beside them stand normalized/{shard}.parquet, and scope.json, which are replaced only when their
bytes change and therefore are not declared: what depends on them runs again only when it must.
"""


rule validate_exports:
    """Exports → runs, or every problem that they have."""
    input:
        exports=of(exports.list_exports),
        references=of(exports.find_references),
        benchmark=of(leaderboards.find_benchmark_rules),
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
        rejected=place_beside("rejected.csv"),
        checksums=setting("checksums"),
        names=of(exports.list_names),
        format=setting("format"),
        header_rows=setting("header_rows"),
        reading=setting("reading"),
        patterns=setting("exports"),
        fields=setting("fields"),
        values=setting("values"),
        summary=setting("summary"),
        take=setting("take"),
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
        failed=setting("failed"),
        named=unwatched(analyses.list_named),
        renamed=setting("figures/names"),
        attributes=unwatched(analyses.read_attributes),
        library=digest_library("validate_exports.py"),
    script:
        "../../scripts/validate_exports.py"


rule validate_submissions:
    """Submissions → runs, or every problem that they have."""
    input:
        benchmark=of(leaderboards.find_benchmark),
        files=of(leaderboards.list_submission_files),
        references=of(exports.find_references),
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
        folders=of(leaderboards.list_submissions),
        rejected=place_beside("rejected.csv"),
        checksums=setting("checksums"),
        names=of(exports.list_names),
        submission=setting("submission"),
        columns=setting("columns"),
        decimal=setting("decimal"),
        metrics=setting("metrics"),
        datasets=setting("datasets"),
        normalization=setting("normalization"),
        select=setting("select"),
        incomplete=setting("incomplete"),
        duplicates=setting("duplicates"),
        invalid=setting("invalid"),
        named=unwatched(analyses.list_named),
        renamed=setting("figures/names"),
        library=digest_library("validate_submissions.py"),
    script:
        "../../scripts/validate_submissions.py"


rule validate_checkpoints:
    """Evaluations of checkpoints → runs of the chosen ones, or every problem that they have."""
    input:
        exports=of(exports.list_exports),
        references=of(exports.find_references),
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
        rejected=place_beside("rejected.csv"),
        checksums=setting("checksums"),
        names=of(exports.list_names),
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
        checkpoints=of(leaderboards.read_choice),
        named=unwatched(analyses.list_named),
        renamed=setting("figures/names"),
        rankings=unwatched(analyses.list_checkpoint_rankings),
        library=digest_library("validate_checkpoints.py"),
    script:
        "../../scripts/validate_checkpoints.py"


checkpoint normalize_runs:
    """Runs → normalized scores of each model, in shards."""
    input:
        runs="results/{study}/runs.parquet",
        references=of(exports.find_references),
        benchmark=of(leaderboards.find_benchmark_rules),
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
        folder=place_beside("normalized"),
        shards=setting("bootstrap/shards"),
        metrics=setting("metrics"),
        datasets=setting("datasets"),
        normalization=setting("normalization"),
        select=setting("select"),
        incomplete=setting("incomplete"),
        min_datasets=setting("min_datasets"),
        unit=setting("bootstrap/unit"),
        rank_by=setting("rank_by"),
        interval=setting("bootstrap/interval"),
        renamed=setting("figures/names"),
        library=digest_library("normalize_runs.py"),
    script:
        "../../scripts/normalize_runs.py"
