"""Sentences on multi-label evaluation, from small finished tables."""

from io import StringIO
from typing import Any

import pandas as pd
import pytest

from capmap.prose import describe_multilabel

METRICS = """
model,dataset,seed,metric,subgroup,value,ci_low,ci_high,images
A,V1,,top1,,0.8,0.78,0.82,100
A,V1,,real,,0.85,0.83,0.87,90
A,V1,,asma,,0.6,0.5,0.7,90
B,V1,,top1,,0.7,0.68,0.72,100
B,V1,,real,,0.86,0.84,0.88,90
B,V1,,asma,,0.6,0.5,0.7,90
A,ML,0,asma,,0.5,0.4,0.6,50
A,ML,1,asma,,0.7,0.6,0.8,50
B,ML,0,asma,,0.4,0.3,0.5,50
"""
SUMMARY = """
model,dataset,top1,real,asma,top1_rank,real_rank,asma_rank,seeds
A,ML,,,0.6,,,1,2
B,ML,,,0.4,,,2,1
A,V1,0.8,0.85,0.6,1,2,1,1
B,V1,0.7,0.86,0.6,2,1,1,1
"""
SHIFTS = """
model,metric_a,dataset_a,metric_b,dataset_b,rank_a,rank_b,shift
A,top1,V1,asma,ML,1,1,0
B,top1,V1,asma,ML,2,2,0
A,top1,V1,asma,V1,1,1,0
B,top1,V1,asma,V1,2,1,1
A,top1,V1,real,V1,1,2,-1
B,top1,V1,real,V1,2,1,1
"""
DEGRADATION = """
model,metric,subgroup,dataset_a,dataset_b,value_a,value_b,difference,ci_low,ci_high,paired,images
A,top1,,V1,V2,0.8,0.7,0.1,0.08,0.12,False,200
,top1,,V1,V2,0.75,0.65,0.1,0.09,0.11,False,200
,real,,V1,V2,0.85,0.8,0.05,0.04,0.06,False,200
,subgroup,1,V1,V2,0.6,0.61,-0.02,-0.03,0.01,False,200
A,real,,V1,V2,0.8,0.7,0.1,0.08,0.12,False,200
B,real,,V1,V2,0.8,0.7,0.1,0.08,0.12,False,200
,asma,,V1,V2,0.6,0.61,-0.02,-0.03,0.01,False,200
"""
COUNTS = """
dataset,labels,images,share
V1,0,10,
V1,1,60,0.6
V1,2,30,0.3
V1,more,0,0
"""
SAME = "V2,1,60,0.7\nV2,2,30,0.3\n"


def read(text: str) -> pd.DataFrame:
    names = dict.fromkeys(("model", "dataset", "seed", "labels"), "str")
    return pd.read_csv(StringIO(text), dtype=names)  # type: ignore[arg-type]


def describe(
    *,
    metrics: str = METRICS,
    summary: str = SUMMARY,
    shifts: str = SHIFTS,
    degradation: str = DEGRADATION,
    counts: str = COUNTS + SAME,
    **options: Any,
) -> list[str]:
    return describe_multilabel(
        read(metrics),
        read(summary),
        read(shifts),
        read(degradation),
        read(counts),
        **{
            "rank_by": "asma",
            "subgroups": {name: [1, 2, 3] for name in ("V1", "V2", "ML")},
            "n_resamples": 1000,
            "confidence_level": 0.95,
            **options,
        },
    )


def cut(text: str, rows: int = 1) -> str:
    """The header and the first rows."""
    return "\n".join(text.strip().splitlines()[:rows]) + "\n"


def change(metric: str, difference: float, low: float = 0.01) -> str:
    """The degradation with another mean difference of a metric."""
    lines = DEGRADATION.strip().splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith(f",{metric},"))
    lines[place] = f",{metric},,V1,V2,0.5,0.5,{difference},{low},0.2,False,200"
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("degradation", "sentence"),
    [
        (
            change("real", 0.1),
            "drop is smaller with ASMA and is not clearly another with ReaL accuracy.",
        ),
        (
            change("real", 0.18, low=0.15),
            "the drop is smaller with ASMA and is larger with ReaL accuracy.",
        ),
        (
            DEGRADATION.replace(",0.04,0.06,", ",,,"),
            "The drop of top-1 accuracy compares with 50% of that with ReaL accuracy and -20% of "
            "that with ASMA, without a test.",
        ),
        (change("top1", -0.1), "So there is no drop of top-1 accuracy"),
        (change("top1", 0.1, low=-0.1), "The drop of top-1 accuracy itself is not certain"),
        (
            DEGRADATION.replace(",top1,", ",lrap,"),
            "Without single labels there is no top-1 accuracy",
        ),
        (change("asma", 0.0), "ASMA did not change"),
    ],
)
def test_what_becomes_of_the_drop_depends_on_the_differences(
    degradation: str, sentence: str
) -> None:
    assert sentence in describe(degradation=degradation)[2]


def test_asma_over_other_subgroups_is_no_drop() -> None:
    warning = "The two values of ASMA are over different subgroups, so their difference is no drop."
    other = "V2,1,5,0.5\nV2,2,{},0.5\n"
    assert warning not in describe(counts=COUNTS + other.format(5))[2]
    drop = describe(counts=COUNTS + other.format(0))[2]
    assert warning in drop
    assert drop.endswith("Compared with top-1 accuracy, the drop is smaller with ReaL accuracy.")


def test_one_model_stands_for_itself() -> None:
    drop = describe(degradation=cut(DEGRADATION, 3))[2]
    assert drop.startswith(
        "From 'V1' to 'V2', for 'A' as the only model with both, top-1 accuracy fell by 10.00"
    )
    alone = describe(
        degradation=cut(DEGRADATION, 3),
        summary=cut(SUMMARY, 2),
    )[2]
    assert alone.startswith("From 'V1' to 'V2', top-1 accuracy fell by 10.00")


def test_what_is_not_there_is_not_told() -> None:
    published = METRICS.replace("0.78,0.82", ",").replace("0.83,0.87", ",")
    lines = [
        ",".join([*line.split(",")[:6], "", "", ""]) for line in published.strip().split("\n")[1:]
    ]
    text = describe(
        metrics=cut(METRICS) + "\n".join(lines),
        shifts=cut(SHIFTS),
        degradation=cut(DEGRADATION),
        counts=cut(COUNTS),
    )
    assert len(text) == 2
    assert text[0].endswith("The metrics are taken as published, without intervals.")
    assert "interval" not in text[1]


def test_nothing_evaluated_is_one_sentence() -> None:
    assert describe(summary=cut(SUMMARY)) == [
        "No model was evaluated on images with several labels."
    ]
