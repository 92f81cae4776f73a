"""The step of capability maps that has an environment of its own.

Reads: capabilities/fits.parquet.
Writes: capabilities/map/umap.parquet.
"""


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
