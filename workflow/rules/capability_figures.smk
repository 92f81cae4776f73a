"""Draws the capability embedding and its checks; a figure computes no statistic.

Reads: the tables in capabilities/ and the map.
Writes: figures/ of these analyses, each as PDF, PNG and SVG.
"""


rule plot_capabilities:
    """Positions, attributes and predictions → maps."""
    input:
        places=map_of,
        models="results/{study}/capabilities/models.csv",
        datasets="results/{study}/capabilities/datasets.csv",
        positions="results/{study}/capabilities/positions.csv",
        centrality="results/{study}/capabilities/centrality.csv",
    output:
        capability_map_figure=figure("capability_map"),
        capability_attributes_figure=figure("capability_attributes"),
        centrality_figure=figure("centrality"),
    log:
        "results/logs/plot_capabilities/{study}.log",
    benchmark:
        "results/benchmarks/plot_capabilities/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_capabilities.py"),
    script:
        "../../scripts/plot_capabilities.py"


rule plot_predictions:
    """Errors of predictions → curves, and a heat map."""
    input:
        summary="results/{study}/capabilities/summary.csv",
        validation="results/{study}/capabilities/validation.csv",
        training="results/{study}/capabilities/training.parquet",
        by_results="results/{study}/capabilities/by_results.csv",
        predictions="results/{study}/capabilities/predictions.csv",
    output:
        prediction_fit_figure=figure("prediction_fit"),
        prediction_dimensions_figure=figure("prediction_dimensions"),
        error_by_results_figure=figure("error_by_results"),
        prediction_errors_figure=figure("prediction_errors"),
    log:
        "results/logs/plot_predictions/{study}.log",
    benchmark:
        "results/benchmarks/plot_predictions/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        library=digest_library("plot_predictions.py"),
    script:
        "../../scripts/plot_predictions.py"


rule plot_placements:
    """Few results → errors and coverage."""
    input:
        placement_replay="results/{study}/capabilities/placement_replay.csv",
    output:
        placement_replay_figure=figure("placement_replay"),
    log:
        "results/logs/plot_placements/{study}.log",
    benchmark:
        "results/benchmarks/plot_placements/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        confidence_level=setting("capabilities/confidence"),
        library=digest_library("plot_placements.py"),
    script:
        "../../scripts/plot_placements.py"


rule plot_choices:
    """Policies of running results → curves."""
    input:
        dataset_replay="results/{study}/capabilities/dataset_replay.csv",
        model_replay="results/{study}/capabilities/model_replay.csv",
    output:
        dataset_replay_figure=figure("dataset_replay"),
        model_replay_figure=figure("model_replay"),
    log:
        "results/logs/plot_choices/{study}.log",
    benchmark:
        "results/benchmarks/plot_choices/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_choices.py"),
    script:
        "../../scripts/plot_choices.py"


rule plot_drift:
    """Drift → curves over time."""
    input:
        drift="results/{study}/capabilities/drift.csv",
    output:
        drift_figure=figure("drift"),
    log:
        "results/logs/plot_drift/{study}.log",
    benchmark:
        "results/benchmarks/plot_drift/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_drift.py"),
    script:
        "../../scripts/plot_drift.py"


rule plot_transfer:
    """Transfer → errors per type and per number of families."""
    input:
        transfer="results/{study}/capabilities/transfer.csv",
    output:
        transfer_figure=figure("transfer"),
    log:
        "results/logs/plot_transfer/{study}.log",
    benchmark:
        "results/benchmarks/plot_transfer/{study}.tsv"
    conda:
        "../../envs/figures.yaml"
    params:
        library=digest_library("plot_transfer.py"),
    script:
        "../../scripts/plot_transfer.py"
