"""What is told of few results, of what to run next, of other times and of other datasets."""

import numpy as np
import pandas as pd

from capmap.prose import (
    describe_drift,
    describe_next_results,
    describe_placements,
    describe_transfer,
)
from tests.capability_prose_tables import change, make_table, tell

NAN = np.nan


def test_placements_name_the_best_and_the_unknown() -> None:
    placed, replay = tell(describe_placements)
    assert placed == (
        "2 models with too few results for the map were placed on it without moving what is there, "
        "by 1 to 3 results each. The lowest mean gap to expect over the datasets of the map was "
        "0.300 (90% interval 0.100 to 0.500), of 'C' (from 1 result). Of 'D' little is known: the "
        "interval of the mean gap is wider than 0.5."
    )
    assert (
        "With 1 to 2 results, the mean squared error (MSE) of hidden results was 0.1000" in replay
    )
    assert "That of placing was 17% lower than that of plain L2 (90% interval 9% to 25%)." in replay
    assert "88% of hidden results lay within their 90% prediction intervals, about as" in replay
    one = make_table("placements").head(1)
    placed = tell(describe_placements, placements=one)[0]
    assert placed.startswith("1 model with too few results for the map was placed on it without")
    assert "by 1 result. The mean gap to expect" in placed


def test_a_replay_without_gain_is_told_so() -> None:
    placed = {"method": "placed", "results_to": 4}
    changes = {"change": 0.1, "change_low": -0.05, "change_high": 0.25}
    table = change("placement_replay", placed, mse=0.15, coverage=0.7, **changes)
    replay = tell(describe_placements, placement_replay=table)[1]
    assert (
        "placing was 10% higher than that of plain L2 (90% interval -5% to 25%), so it may"
        in replay
    )
    assert "Additive effects did no worse than placing, so the map adds nothing here." in replay
    few = make_table("placement_replay").assign(models=9)
    assert (
        "intervals, of too few models to judge them by"
        in tell(describe_placements, placement_replay=few)[1]
    )
    assert (
        "70% of hidden results lay within their 90% prediction intervals, so they are too" in replay
    )


def test_savings_are_told_with_their_doubts() -> None:
    _, datasets, models = tell(describe_next_results)
    assert datasets.startswith(
        "In a replay, 30 models were taken as new in turn. The error of random choice with 8 "
        "results was reached by the advised choice with 4.8 (95% interval over models 3.6 to 5.9), "
        "40% fewer, a saving of at least 26% by the interval. For the errors of fewer it needed "
        "3.0 instead of 4 (95% interval over models 2.5 to 4.5). With 8 results the mean squared "
    )
    assert models.endswith(
        "Random choice had 0.200 after 3, so the advice is better. The best model on average had "
        "0.060 after 3, which could not be told from it."
    )
    last = {"results": 8}
    told = {
        (4.8, 3.6, 8.5): "models 3.6 to 8.5), 40% fewer, which could not be told from random",
        (4.8, 3.6, NAN): "models from 3.6 upward), 40% fewer, which could not be told from random",
        (4.8, 3.6, 7.99): "models 3.6 to 8.0), 40% fewer, which could not be told from random",
        (9.0, 8.5, 9.9): "12% more: it does worse than random choice.",
    }
    for (needed, low, high), words in told.items():
        table = change("dataset_savings", last, needed=needed, needed_low=low, needed_high=high)
        assert words in tell(describe_next_results, dataset_savings=table)[1]
    simple = change("dataset_savings", {"policy": "most_results"}, needed=4.0)
    assert (
        "Fewer still were needed by the dataset with the most results (4.0)."
        in tell(describe_next_results, dataset_savings=simple)[1]
    )
    none = make_table("dataset_savings").head(0)
    assert tell(describe_next_results, dataset_savings=none)[1].startswith(
        "Too few models had results enough to tell what the advised choice saves. With 8 results "
    )
    # Once all datasets have been run, all policies have the same error.
    ended = make_table("dataset_replay").replace({"results": {8: 6}})
    ended = pd.concat([ended, ended.assign(results=8, error=0.04)])
    told = tell(describe_next_results, dataset_replay=ended)[1]
    assert "With 6 results the mean squared error was, from 0.1000 without any, 0.0500" in told
    never = change("dataset_savings", last, needed=NAN)
    assert (
        "never reached the error of random choice with 8 results"
        in tell(describe_next_results, dataset_savings=never)[1]
    )
    replay = change("model_replay", {"policy": "random", "tried": 3}, regret=0.0, regret_high=0.01)
    models = tell(describe_next_results, model_replay=replay)[2]
    assert "Random choice had 0.000 after 3, so the advice is worse." in models


def test_drift_is_told_beside_what_other_starts_do() -> None:
    methods, results = tell(describe_drift)
    assert methods.startswith(
        "Models were added to the map in order of publication, in 3 steps from 2020-01-01 (8 "
        "models) to 2022-01-01 (30 models)"
    )
    # The median of 0.3 and 0.2 against one of 0.05.
    assert results.startswith(
        "From one step to the next, models moved by a median of 0.250; other random starts alone "
        "moved them by 0.050, so the map drifts by more than chance of the fit. The largest was "
        "0.300, up to 2021-01-01."
    )
    assert "0.0800 (90% interval over models 0.0600 to 0.1000), 0.0100 lower (90%" in results
    # 0.3 is more than 1.5 · 0.05, 0.2 is not more than 1.5 · 0.15: one of two steps is no majority.
    half = change("drift", {"date": "2022-01-01"}, shift_noise=0.15)
    assert "cannot be told from chance of the fit" in tell(describe_drift, drift=half)[1]
    more = pd.concat([half, half.iloc[[1]]], ignore_index=True)
    told = tell(describe_drift, drift=more)[1]
    assert "so the map drifts by more than chance of the fit in 2 of 3 steps" in told
    still = make_table("drift").assign(shift_noise=0.2)
    assert "cannot be told from chance of the fit" in tell(describe_drift, drift=still)[1]
    one = tell(describe_drift, drift=make_table("drift").head(1))
    assert one == [
        "All models with a date are of one step (2020-01-01, 8 models), so there was no order to "
        "replay."
    ]


def test_transfer_is_told_by_types_and_families() -> None:
    _, types, families = tell(describe_transfer)
    assert types.startswith(
        "Training on one type of datasets and testing on another (2 types, 180 predictions), the "
        "mean squared error (MSE) was 0.0950 (90% interval 0.0700 to 0.1200), 0.0050 lower (90% "
        "interval -0.0100 to 0.0200, which holds 0) than the 0.1000 without the other type: no "
        "clear help or harm. Of 2 pairs, 1 clearly helped ('land' for 'sea')."
    )
    assert "0.0900 with 5 families and 0.0700 with 9 families to train on." in families
    assert "0.0300 lower (90% interval 0.0200 to 0.0400) than without any: it helps." in families
    assert "trained on the same, had 0.0600, no more than the map" in families
    table = make_table("transfer")
    rest = table[table["trained_on"] == "all other datasets"]
    assert tell(describe_transfer, transfer=rest)[1].startswith(
        "No two types had datasets enough to train on one and test on the other. With all datasets "
        "of other types to train on (180 predictions), the mean squared error (MSE) was 0.0800 "
        "(90% interval 0.0600 to 0.1000), 0.0200 lower (90% interval 0.0100 to 0.0400) than the "
        "0.1000 without them: it helps."
    )
    # Whatever the order of the rows, pairs are told by their own.
    assert tell(describe_transfer, transfer=table.iloc[::-1])[1] == types
    last = table[table["trained_on"] == "9 families"]
    more = [last.assign(trained_on=f"{count} families", train_results=count) for count in (6, 7, 8)]
    told = tell(describe_transfer, transfer=pd.concat([table, *more], ignore_index=True))[2]
    assert "0.0700 with 6 families, 0.0700 with 5 families" not in told
    assert "and 2 more" not in told
    _, types, families = tell(describe_transfer, transfer=table[table["kind"] == "families"])
    assert types.startswith("There were no two types of datasets")
    worse = table.assign(difference=0.01, difference_low=0.005, difference_high=0.02)
    _, types, _ = tell(describe_transfer, transfer=worse)
    assert "it does harm. Of 2 pairs, 2 clearly did harm ('land' for 'sea' and 'sea' for" in types
