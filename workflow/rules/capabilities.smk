"""Places models and datasets in one space, says how well that predicts, and what to run next.

Reads: normalized/{shard}.parquet, normalized/bounds.csv, the tables of attributes.
Writes: capabilities/, with a file of folds per method and dimension; paragraphs in text/.
"""


rule crossvalidate_embedding:
    """Gaps → predictions of hidden results by one method in one dimension."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        datasets="results/{study}/capabilities/datasets.csv",
        factors=of(analyses.find_factors, method=str),
    output:
        folds="results/{study}/capabilities/folds/{method}/{dimension}.parquet",
    log:
        "results/logs/crossvalidate_embedding/{study}/{method}/{dimension}.log",
    benchmark:
        "results/benchmarks/crossvalidate_embedding/{study}/{method}/{dimension}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method="{method}",
        dimension=number("dimension"),
        n_splits=setting("capabilities/splits"),
        held_out=setting("capabilities/held_out"),
        n_starts=setting("capabilities/starts"),
        seed=setting("bootstrap/seed"),
        library=digest_library("crossvalidate_embedding.py"),
    script:
        "../../scripts/crossvalidate_embedding.py"


rule project_umap:
    """Positions → a map in two dimensions by UMAP."""
    input:
        fits="results/{study}/capabilities/fits.parquet",
    output:
        places="results/{study}/capabilities/map/umap.parquet",
    log:
        "results/logs/project_umap/{study}.log",
    benchmark:
        "results/benchmarks/project_umap/{study}.tsv"
    conda:
        "../../envs/umap.yaml"
    params:
        study="{study}",
        seed=setting("bootstrap/seed"),
        library=digest_library("project_umap.py"),
    script:
        "../../scripts/project_umap.py"
