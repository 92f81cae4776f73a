"""Places models and datasets in one space, and predicts the results that are not there.

Reads: normalized/ and the user's tables of attributes.
Writes: capabilities/, tables and the files that later stages read.
"""

CAPABILITIES = (
    "gaps.csv models.csv datasets.csv positions.csv predictions.csv nearest.csv map.parquet "
    "validation.csv summary.csv centrality.csv groups.csv"
)
PLACEMENTS = "error_curve.csv placements.csv placement_predictions.csv"


rule embed:
    """Normalized runs → gaps, positions, the map, and predictions of all cells."""
    input:
        runs="results/{study}/normalized/runs.parquet",
        bounds="results/{study}/normalized/bounds.csv",
        model_file=files("attributes/models/file"),
        dataset_file=files("attributes/datasets/file"),
    output:
        table("results/{study}/capabilities/gaps"),
        table("results/{study}/capabilities/models"),
        table("results/{study}/capabilities/datasets"),
        table("results/{study}/capabilities/positions"),
        table("results/{study}/capabilities/groups"),
        table("results/{study}/capabilities/predictions"),
        table("results/{study}/capabilities/nearest"),
        table("results/{study}/capabilities/centrality"),
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
        cfg=steps("describe_results", "embed_models", "predict_cells"),
        library=code("analyse", "describe_results", "embed_models", "predict_cells"),
    script:
        "../../scripts/analyse.py"


rule crossvalidate:
    """Gaps → errors of hidden results by method and dimension."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        models="results/{study}/capabilities/models.csv",
        datasets="results/{study}/capabilities/datasets.csv",
    output:
        table("results/{study}/capabilities/validation"),
        table("results/{study}/capabilities/summary", "csv tex"),
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
        cfg=steps("crossvalidate", "summarize_validation"),
        library=code("analyse", "crossvalidate", "summarize_validation"),
    script:
        "../../scripts/analyse.py"


rule place:
    """Gaps → how well models with few results are placed, and predictions for such models."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        models="results/{study}/capabilities/models.csv",
        datasets="results/{study}/capabilities/datasets.csv",
        positions="results/{study}/capabilities/positions.csv",
        bounds="results/{study}/normalized/bounds.csv",
    output:
        table("results/{study}/capabilities/error_curve"),
        table("results/{study}/capabilities/placements"),
        table("results/{study}/capabilities/placement_predictions"),
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
        cfg=steps("place_models"),
        library=code("analyse", "place_models"),
    script:
        "../../scripts/analyse.py"
