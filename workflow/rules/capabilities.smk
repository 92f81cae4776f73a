"""Places models and datasets in one space, says how well that predicts, and what to run next.

Reads: normalized/{shard}.parquet, normalized/bounds.csv, the tables of attributes.
Writes: capabilities/, with a file of folds per method and dimension; paragraphs in text/.
"""


rule measure_gaps:
    """Normalized scores → gaps to the best model, of what has enough results."""
    input:
        shards=shards_in("normalized"),
        bounds="results/{study}/normalized/bounds.csv",
    output:
        gaps=table("gaps", "capabilities"),
    log:
        "results/logs/measure_gaps/{study}.log",
    benchmark:
        "results/benchmarks/measure_gaps/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        min_results=setting("capabilities/min_results"),
        library=digest_library("measure_gaps.py"),
    script:
        "../../scripts/measure_gaps.py"


rule describe_results:
    """Gaps and attributes → what is known of each model and of each dataset."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        bounds="results/{study}/normalized/bounds.csv",
        model_file=attributes_of("models"),
        dataset_file=attributes_of("datasets"),
    output:
        models=table("models", "capabilities"),
        datasets=table("datasets", "capabilities"),
    log:
        "results/logs/describe_results/{study}.log",
    benchmark:
        "results/benchmarks/describe_results/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        model_attributes=setting("attributes/models"),
        dataset_attributes=setting("attributes/datasets"),
        library=digest_library("describe_results.py"),
    script:
        "../../scripts/describe_results.py"


rule crossvalidate_embedding:
    """Gaps → predictions of hidden results by one method in one dimension."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        datasets="results/{study}/capabilities/datasets.csv",
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
        dimension=dimension_of,
        n_splits=setting("capabilities/splits"),
        held_out=setting("capabilities/held_out"),
        n_starts=setting("capabilities/starts"),
        seed=setting("bootstrap/seed"),
        library=digest_library("crossvalidate_embedding.py"),
    script:
        "../../scripts/crossvalidate_embedding.py"


rule crossvalidate_baselines:
    """Gaps → predictions of the same hidden results without an embedding."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        datasets="results/{study}/capabilities/datasets.csv",
    output:
        folds="results/{study}/capabilities/folds/baselines.parquet",
    log:
        "results/logs/crossvalidate_baselines/{study}.log",
    benchmark:
        "results/benchmarks/crossvalidate_baselines/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        n_splits=setting("capabilities/splits"),
        held_out=setting("capabilities/held_out"),
        seed=setting("bootstrap/seed"),
        library=digest_library("crossvalidate_baselines.py"),
    script:
        "../../scripts/crossvalidate_baselines.py"


rule summarize_crossvalidation:
    """Predictions of hidden results → errors per method and dimension, beside the baselines."""
    input:
        folds=folds_of,
        baselines="results/{study}/capabilities/folds/baselines.parquet",
    output:
        validation=table("validation", "capabilities"),
        summary=table("summary", "capabilities"),
        by_results=table("by_results", "capabilities"),
        training="results/{study}/capabilities/training.parquet",
    log:
        "results/logs/summarize_crossvalidation/{study}.log",
    benchmark:
        "results/benchmarks/summarize_crossvalidation/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        dimension=setting("capabilities/dimension"),
        confidence_level=setting("bootstrap/confidence"),
        library=digest_library("summarize_crossvalidation.py"),
    script:
        "../../scripts/summarize_crossvalidation.py"


rule embed_models:
    """Gaps → positions of models and datasets."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
    output:
        positions=table("positions", "capabilities"),
        fits="results/{study}/capabilities/fits.parquet",
    log:
        "results/logs/embed_models/{study}.log",
    benchmark:
        "results/benchmarks/embed_models/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        n_starts=setting("capabilities/starts"),
        seed=setting("bootstrap/seed"),
        library=digest_library("embed_models.py"),
    script:
        "../../scripts/embed_models.py"


rule project_map:
    """Positions → a map in two dimensions."""
    input:
        fits="results/{study}/capabilities/fits.parquet",
    output:
        places="results/{study}/capabilities/map/mds.parquet",
    log:
        "results/logs/project_map/{study}.log",
    benchmark:
        "results/benchmarks/project_map/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        library=digest_library("project_map.py"),
    script:
        "../../scripts/project_map.py"


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


rule predict_scores:
    """Gaps and positions → a prediction with an interval for every model and dataset."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        fits="results/{study}/capabilities/fits.parquet",
    output:
        predictions=table("predictions", "capabilities"),
    log:
        "results/logs/predict_scores/{study}.log",
    benchmark:
        "results/benchmarks/predict_scores/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        n_starts=setting("capabilities/starts"),
        seed=setting("bootstrap/seed"),
        confidence_level=setting("capabilities/confidence"),
        library=digest_library("predict_scores.py"),
    script:
        "../../scripts/predict_scores.py"


rule describe_capabilities:
    """Errors, predictions and positions → a paragraph."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        models="results/{study}/capabilities/models.csv",
        datasets="results/{study}/capabilities/datasets.csv",
        summary="results/{study}/capabilities/summary.csv",
        by_results="results/{study}/capabilities/by_results.csv",
        predictions="results/{study}/capabilities/predictions.csv",
        positions="results/{study}/capabilities/positions.csv",
    output:
        centrality=table("centrality", "capabilities"),
        text=text("capabilities"),
    log:
        "results/logs/describe_capabilities/{study}.log",
    benchmark:
        "results/benchmarks/describe_capabilities/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        confidence_level=setting("capabilities/confidence"),
        min_results=setting("capabilities/min_results"),
        library=digest_library("describe_capabilities.py"),
    script:
        "../../scripts/describe_capabilities.py"
