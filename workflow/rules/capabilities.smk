"""Places models and datasets in one space, and predicts the results that are not there.

Reads: normalized/ and the user's tables of attributes.
Writes: capabilities/, tables and the files that later stages read.
"""

CAPABILITIES = [
    *(
        "gaps.csv",
        "models.csv",
        "datasets.csv",
        "positions.csv",
        "predictions.csv",
        "map.parquet",
    ),
    *("validation.csv", "summary.csv", "by_results.csv", "bend.csv", "centrality.csv"),
    "training.parquet",
]
PLACEMENTS = [
    *(
        "error_curve.csv",
        "placements.csv",
        "placement_predictions.csv",
    ),
]


rule embed:
    """Normalized runs → gaps, positions, the map, and predictions of all cells."""
    input:
        runs="results/{study}/normalized/runs.parquet",
        bounds="results/{study}/normalized/bounds.csv",
        model_file=files(exports.find_attributes, "models"),
        dataset_file=files(exports.find_attributes, "datasets"),
    output:
        table("results/{study}/capabilities/gaps"),
        table("results/{study}/capabilities/models"),
        table("results/{study}/capabilities/datasets"),
        table("results/{study}/capabilities/positions"),
        table("results/{study}/capabilities/predictions"),
        "results/{study}/capabilities/fits.parquet",
        "results/{study}/capabilities/map.parquet",
    log:
        "results/logs/embed/{study}.log",
    benchmark:
        "results/benchmarks/embed/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(30),
    params:
        cfg=steps(
            *("measure_gaps", "describe_results", "embed_models", "project_map"),
            "predict_scores",
        ),
        library=code(
            "analyse", "measure_gaps", "embed_models", "project_map", "predict_scores"
        ),
    script:
        "../../scripts/analyse.py"


rule crossvalidate:
    """Gaps → errors of hidden results by distance and dimension, and what the map explains."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        models="results/{study}/capabilities/models.csv",
        datasets="results/{study}/capabilities/datasets.csv",
        positions="results/{study}/capabilities/positions.csv",
    output:
        table("results/{study}/capabilities/validation"),
        table("results/{study}/capabilities/summary", "csv tex"),
        table("results/{study}/capabilities/by_results"),
        table("results/{study}/capabilities/bend"),
        table("results/{study}/capabilities/centrality"),
        training="results/{study}/capabilities/training.parquet",
    log:
        "results/logs/crossvalidate/{study}.log",
    benchmark:
        "results/benchmarks/crossvalidate/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(60),
    params:
        cfg=steps("crossvalidate", "describe_capabilities"),
        library=code("analyse", "crossvalidate", "describe_capabilities"),
    script:
        "../../scripts/analyse.py"


rule place:
    """Gaps → how well models with few results are placed, and predictions for such models."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        models="results/{study}/capabilities/models.csv",
        datasets="results/{study}/capabilities/datasets.csv",
        fits="results/{study}/capabilities/fits.parquet",
        bounds="results/{study}/normalized/bounds.csv",
    output:
        table("results/{study}/capabilities/error_curve"),
        table("results/{study}/capabilities/placements"),
        table("results/{study}/capabilities/placement_predictions"),
        few_results="results/{study}/capabilities/few_results.parquet",
    log:
        "results/logs/place/{study}.log",
    benchmark:
        "results/benchmarks/place/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=attempts(2000),
        runtime=attempts(60),
    params:
        cfg=steps("draw_error_curve", "place_models"),
        library=code("analyse", "draw_error_curve", "place_models"),
    script:
        "../../scripts/analyse.py"
