"""Small finished tables of comparisons and of a map of models, and what is told of them."""

import re
from io import StringIO

import numpy as np
import pandas as pd

from capmap.catalog import TABLES as CATALOG
from capmap.prose import (
    describe_capabilities,
    describe_conditions,
    describe_drift,
    describe_groups,
    describe_improvability,
    describe_next_results,
    describe_pairwise,
    describe_placements,
    describe_profiles,
    describe_rank_tests,
    describe_ratings,
    describe_robustness,
    describe_sample_size,
    describe_transfer,
)

NOT_A_NUMBER = re.compile(r"\b(nan|NaN|NA|None|inf)\b")
# Rows by table; its columns are those of the catalog but for some, which are below.
TABLES = {
    "pairwise": """
A,B,8,0,0.1,0.05,0.15,7,0,1,0.01,0.03,0.9,0.8,0.7,0.9,0.99,0.01,0,a better
A,C,7,1,0.02,-0.02,0.06,5,0,2,0.3,0.6,0.2,0.55,0.5,0.6,0.6,0.3,0.1,undecided
B,C,6,3,-0.19,-0.3,-0.1,1,0,5,0.0001,0.0003,-0.8,0.2,0.1,0.3,0,0.1,0.9,undecided
""",
    "friedman": """
friedman,9.2834,3,0.0258,4,14,56,2
""",
    "nemenyi": """
A,B,1.1,1.25,0.06,False,14
A,C,1.3,1.25,0.04,True,14
""",
    "mean_ranks": """
A,1.9,14,a,a
B,2.1,14,ab,ab
C,3.0,14,b,b
""",
    "profile_area": """
A,1.2,0.9,1,8,1.0,0.8,2,8
B,1.0,0.7,2,7,1.1,0.85,1,8
""",
    "elo": """
A,1100.2,1050.0,1200.0,1,1,2,8,0.01,1
B,900.0,,,2,,,1,0.01,1
""",
    "winrate": """
A,B,0.75,6,0,2,8
B,A,0.25,2,0,6,8
""",
    "improvability": """
A,3.21,1.0,6.0,1,1,1,8
B,20.0,,,2,,,8
""",
    "improvability_datasets": """
A,d,0.1,0.1,0.0,0.0,3.0
B,d,0.2,0.1,50.0,40.0,60.0
""",
    "robustness": """
mean,configured,,1.0,0,A,2
median,ranks,d,0.3,1,A,2
""",
    "flips": """
A,B,1,2,1,2,0.5,d
""",
    "dethroning": """
A,B,8,3,"'d1' 'd2' 'd3'"
A,C,8,6,"'d1' 'd2' 'd3' 'd4' 'd5' 'd6'"
""",
    "groups": """
sea,A,0.8,0.7,0.9,1,1,1,a,0.8,1,9,3,0
sea,B,0.7,0.6,0.8,2,1,2,a,0.7,2,9,3,0
land,A,0.8,,,1,,,,0.8,1,3,3,0
""",
    "group_coverage": """
land,drop_models,3,1,0,1,2
sea,keep,3,2,0,0,0
""",
    "conditions": """
full,kendall_tau,0.8,0.5,1.0,5,8,2
full,spearman_rho,0.9,0.6,1.0,5,8,2
""",
    "condition_ranks": """
full,A,0.8,1,0.7,2,1
full,B,0.7,2,0.8,1,-1
""",
    "seed_widths": """
A,3,0.06,0.048,0.078,0.05
A,5,0.04,0.032,0.052,0.05
A,10,0.025,0.02,0.0325,0.05
A,20,0.015,0.012,0.0195,0.05
B,3,0.06,0.048,0.078,0.05
B,5,0.04,0.032,0.052,0.05
B,10,0.025,0.02,0.0325,0.05
B,20,0.015,0.012,0.0195,0.05
""",
    "next_seeds": """
A,d,3,0.4
B,d,1,0.2
""",
    "detectable": """
3,0.06,0.09
5,0.04,0.07
10,0.03,0.05
20,0.02,0.03
""",
    "gaps": """
A,d,80,1,0,0,
B,d,60,0,20,1,
A,e,70,0,10,1,
B,e,80,1,0,0,
C,d,70,0.5,,,few results of the model
""",
    "models": """
A,2,2,1,,0.2,,,,
B,2,2,1,,0.5,,,,
C,1,0,,,,,,,few results
""",
    "datasets": """
d,4,4,1,,A,80,60,10,0.5,20,,d,
e,2,2,1,,B,80,70,5,0.4,20,,d,
""",
    "summary": """
factors,,random,10,100,0.02,0.06,0.05,0.07,-0.01,-0.015,-0.005
factors,,strict,10,100,,0.08,0.06,0.1,-0.01,-0.03,0.01
factors,,family,10,100,,0.09,0.07,0.11,0.01,0.005,0.015
l2,2,random,10,100,0.03,0.072,0.06,0.08,0.002,-0.002,0.006
l2,5,random,10,100,0.027,0.07,0.06,0.08,0,0,0
l2,10,random,10,100,0.026,0.071,0.06,0.08,0.001,-0.001,0.003
cosine,5,random,10,100,0.006,0.09,0.07,0.11,0.02,0.01,0.03
poincare,5,random,10,100,0.027,0.071,0.06,0.08,0.001,-0.002,0.004
additive,,random,10,100,0.05,0.1,0.08,0.12,0.03,0.02,0.04
additive,,strict,10,100,,0.1,0.08,0.12,0.01,-0.01,0.03
additive,,family,10,100,,0.08,0.06,0.1,0,-0.005,0.005
mean,,random,10,100,0.1,0.12,0.1,0.14,0.05,0.04,0.06
""",
    "predictions": """
A,d,0,0.1,0,0.3,78,74,80,True
A,e,1,0.5,0.2,0.8,75,72,78,True
B,d,1,0.8,0.5,1,64,60,70,True
B,e,0,0.2,0,0.4,78,76,80,True
A,f,,0.4,0,0.8,78,76,80,False
""",
    "placements": """
C,1,0.3,0.1,0.5,0
D,3,0.5,0.2,0.8,0
""",
    "error_curve": """
1,40,600,0.12,0.1,0.15,0.14,-0.02,-0.03,-0.01,0.89,0.8
4,40,500,0.1,0.08,0.12,0.13,-0.03,-0.04,-0.02,0.9,0.7
20,20,200,0.06,0.05,0.07,0.12,-0.06,-0.08,-0.04,0.91,0.5
""",
    "next": """
1,A,f,0.4,0.1,0.9,0.8
2,A,g,0.4,0.1,0.7,0.6
3,B,f,0.3,0.0,0.5,0.5
""",
    "drift": """
2020-01-01,8,100,0,,0.9,0.05,0,,,,
2021-01-01,20,300,12,0.3,0.4,0.05,90,0.08,0.06,0.1,0.09
2022-01-01,30,500,10,0.2,0,0.05,90,0.08,0.06,0.1,0.09
""",
    "transfer": """
land,9,9,90,0.09,0.07,0.11,0.1,0.11,-0.01,-0.02,-0.005
sea,9,9,90,0.1,0.07,0.13,0.1,0.11,0,-0.02,0.02
all types,18,9,180,0.095,0.07,0.12,0.1,0.11,-0.005,-0.02,0.01
""",
}
FOLDERS = ("tables", "comparisons", "capabilities")
OWN_COLUMNS = {
    "elo": "model elo ci_low ci_high rank rank_low rank_high datasets separated component",
    "groups": "group model iqm ci_low ci_high rank rank_low rank_high tie_group mean rank_mean "
    "runs datasets missing",
    "summary": "distance dimension protocol folds predictions train_mse mse mse_low mse_high "
    "difference difference_low difference_high",
    "placements": "model results mean_gap mean_gap_low mean_gap_high x1",
}

# What may be missing from a table that is not empty, beside the ends of intervals.
MAY_BE_EMPTY = {
    "friedman": ["test_statistic", "df", "p"],
    "nemenyi": ["p"],
    "mean_ranks": ["mean_rank", "nemenyi_group", "wilcoxon_group"],
    "profile_area": [
        f"{kind}_{way}" for kind in ("area", "share", "rank") for way in ("raw", "normalized")
    ],
    "winrate": ["win_rate"],
    "robustness": ["left_out", "kendall_tau"],
    "flips": ["left_out"],
    "groups": ["tie_group"],
    "conditions": ["estimate"],
    "seed_widths": ["width", "width_now"],
    "datasets": ["saturation", "headroom", "std", "duplicate_of"],
    "predictions": ["observed"],
    "placements": ["mean_gap"],
    "error_curve": ["coverage", "width"],
    "drift": ["shift", "shift_to_final", "shift_noise", "mse"],
}

COMPARISONS = {
    describe_pairwise: (
        ["pairwise"],
        {"reference": "A", "unit": "runs", "alpha": 0.05}
        | {"n_resamples": 2000, "confidence_level": 0.95}
        | {"rope_setting": 0.01},
    ),
    describe_rank_tests: (
        ["friedman", "nemenyi", "mean_ranks"],
        {"alpha": 0.05},
    ),
    describe_profiles: (
        ["profile_area"],
        {"datasets_total": 8, "nonpositive": 0, "n_resamples": 2000} | {"confidence_level": 0.95},
    ),
    describe_ratings: (
        ["elo", "winrate"],
        {"n_resamples": 1000, "confidence_level": 0.95},
    ),
    describe_improvability: (
        ["improvability", "improvability_datasets"],
        {"without_optimum": [], "clipped": 0, "n_resamples": 1000} | {"confidence_level": 0.95},
    ),
    describe_robustness: (
        ["robustness", "flips", "dethroning"],
        {},
    ),
    describe_groups: (
        ["groups", "group_coverage"],
        {"interval": "percentile", "unit": "runs", "confidence_level": 0.95, "n_resamples": 10_000},
    ),
    describe_conditions: (
        ["conditions", "condition_ranks"],
        {"n_resamples": 2000, "confidence_level": 0.95},
    ),
    describe_sample_size: (
        ["seed_widths", "next_seeds", "detectable"],
        {"interval": "calibrated", "confidence_level": 0.95} | {"misordered": 0.5},
    ),
}
CAPABILITIES = {
    describe_capabilities: (
        [
            *("gaps", "models", "datasets", "summary", "predictions"),
        ],
        {"method": "l2_ridge", "dimension": 5, "min_results": 2, "confidence_level": 0.9},
    ),
    describe_placements: (
        ["placements", "error_curve"],
        {"confidence_level": 0.9},
    ),
    describe_next_results: (
        ["next"],
        {"confidence_level": 0.9},
    ),
    describe_drift: (["drift"], {"confidence_level": 0.9}),
    describe_transfer: (["transfer"], {"confidence_level": 0.9}),
}
DESCRIBE = COMPARISONS | CAPABILITIES


def list_columns(name):
    """Columns of one of the tables."""
    if name in OWN_COLUMNS:
        return OWN_COLUMNS[name].split()
    (place,) = {f"{folder}/{name}" for folder in FOLDERS} & CATALOG.keys()
    return CATALOG[place].columns.split()


def make_tables(describe):
    """Make the tables of some paragraphs."""
    return {name: make_table(name) for name in DESCRIBE[describe][0]}


def make_table(name):
    """Make one of the finished tables, as it is read from CSV."""
    return pd.read_csv(StringIO(TABLES[name]), names=list_columns(name))


def drop_intervals(table):
    """Leave out the ends of all intervals, as with one fold."""
    ends = [name for name in table if name in ("low", "high") or name.endswith(("_low", "_high"))]
    return table.assign(**dict.fromkeys(ends, np.nan))


def change(name, where, **values):
    """Change some columns of a table in the rows of some values."""
    table = make_table(name)
    chosen = np.logical_and.reduce([table[column] == value for column, value in where.items()])
    for column, value in values.items():
        table[column] = table[column].where(~chosen, value)
    return table


def tell(describe, **changes):
    """Describe the tables above, with some of them or of the settings changed."""
    return describe(**{**make_tables(describe), **DESCRIBE[describe][1], **changes})
