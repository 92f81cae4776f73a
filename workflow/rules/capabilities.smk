"""Steps of capability maps that are several jobs, or have an environment of their own.

Reads: capabilities/gaps.csv, datasets.csv and fits.parquet.
Writes: capabilities/, with a file of folds per method and dimension.
"""


rule crossvalidate_embedding:
    """Gaps → predictions of hidden results by one method in one dimension."""
    input:
        **inputs_of_steps("crossvalidate_embedding")
        | {"factor_fits": of(analyses.find_factors, method=str)},
    output:
        outputs_of_steps("crossvalidate_embedding"),
    log:
        "results/logs/crossvalidate_embedding/{study}/{method}/{dimension}.log",
    benchmark:
        "results/benchmarks/crossvalidate_embedding/{study}/{method}/{dimension}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        study="{study}",
        folder=of(studies.find_folder),
        steps=["crossvalidate_embedding"],
        options=of(analyses.read_fold_options, method=str, dimension=int),
        library=code_of(analyses.find_step_code, "crossvalidate_embedding"),
    script:
        "../../scripts/analyse.py"


rule project_umap:
    """Positions → a map in two dimensions by UMAP."""
    input:
        **inputs_of_steps("project_umap"),
    output:
        outputs_of_steps("project_umap"),
    log:
        "results/logs/project_umap/{study}.log",
    benchmark:
        "results/benchmarks/project_umap/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        study="{study}",
        folder=of(studies.find_folder),
        steps=["project_umap"],
        options=of(analyses.read_step_options, "project_umap"),
        library=code_of(analyses.find_step_code, "project_umap"),
    script:
        "../../scripts/analyse.py"
