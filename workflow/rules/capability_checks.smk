"""Checks what an embedding promises: few results, what to run next, other times, other datasets.

Reads: capabilities/gaps, models, datasets and fits.
Writes: a table per check in capabilities/, paragraphs in text/.
"""


rule replay_placements:
    """Gaps → errors and coverage when models are left with few results."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
    output:
        placement_replay=table("placement_replay", "capabilities"),
    log:
        "results/logs/replay_placements/{study}.log",
    benchmark:
        "results/benchmarks/replay_placements/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        n_starts=setting("capabilities/starts"),
        seed=setting("bootstrap/seed"),
        confidence_level=setting("capabilities/confidence"),
        library=digest_library("replay_placements.py"),
    script:
        "../../scripts/replay_placements.py"


rule place_models:
    """Positions and few results → where further models stand."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        fits="results/{study}/capabilities/fits.parquet",
        placement_replay="results/{study}/capabilities/placement_replay.csv",
    output:
        placements=table("placements", "capabilities"),
        placement_predictions=table("placement_predictions", "capabilities"),
        text=text("placements"),
    log:
        "results/logs/place_models/{study}.log",
    benchmark:
        "results/benchmarks/place_models/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        n_starts=setting("capabilities/starts"),
        seed=setting("bootstrap/seed"),
        confidence_level=setting("capabilities/confidence"),
        library=digest_library("place_models.py"),
    script:
        "../../scripts/place_models.py"


rule replay_choices:
    """Gaps → how soon each policy of running results gets there."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
    output:
        dataset_replay=table("dataset_replay", "capabilities"),
        dataset_savings=table("dataset_savings", "capabilities"),
        model_replay=table("model_replay", "capabilities"),
    log:
        "results/logs/replay_choices/{study}.log",
    benchmark:
        "results/benchmarks/replay_choices/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        n_starts=setting("capabilities/starts"),
        confidence_level=setting("bootstrap/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("replay_choices.py"),
    script:
        "../../scripts/replay_choices.py"


rule choose_results:
    """Positions → the results that would tell most."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        fits="results/{study}/capabilities/fits.parquet",
        predictions="results/{study}/capabilities/predictions.csv",
        placement_predictions="results/{study}/capabilities/placement_predictions.csv",
        datasets="results/{study}/capabilities/datasets.csv",
        dataset_replay="results/{study}/capabilities/dataset_replay.csv",
        dataset_savings="results/{study}/capabilities/dataset_savings.csv",
        model_replay="results/{study}/capabilities/model_replay.csv",
    output:
        next=table("next", "capabilities"),
        next_models=table("next_models", "capabilities"),
        dataset_information=table("dataset_information", "capabilities"),
        text=text("next_results"),
    log:
        "results/logs/choose_results/{study}.log",
    benchmark:
        "results/benchmarks/choose_results/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        library=digest_library("choose_results.py"),
    script:
        "../../scripts/choose_results.py"


rule track_drift:
    """Models in order of publication → how positions move, and errors on newcomers."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        models="results/{study}/capabilities/models.csv",
        datasets="results/{study}/capabilities/datasets.csv",
    output:
        drift=table("drift", "capabilities"),
        newcomers=table("newcomers", "capabilities"),
        text=text("drift"),
    log:
        "results/logs/track_drift/{study}.log",
    benchmark:
        "results/benchmarks/track_drift/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        n_starts=setting("capabilities/starts"),
        confidence_level=setting("bootstrap/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("track_drift.py"),
    script:
        "../../scripts/track_drift.py"


rule check_transfer:
    """Some types or families of datasets → errors on the others."""
    input:
        gaps="results/{study}/capabilities/gaps.csv",
        datasets="results/{study}/capabilities/datasets.csv",
    output:
        transfer=table("transfer", "capabilities"),
        text=text("transfer"),
    log:
        "results/logs/check_transfer/{study}.log",
    benchmark:
        "results/benchmarks/check_transfer/{study}.tsv"
    conda:
        "../../envs/analysis.yaml"
    params:
        study="{study}",
        method=setting("capabilities/method"),
        dimension=setting("capabilities/dimension"),
        n_starts=setting("capabilities/starts"),
        confidence_level=setting("bootstrap/confidence"),
        seed=setting("bootstrap/seed"),
        library=digest_library("check_transfer.py"),
    script:
        "../../scripts/check_transfer.py"
