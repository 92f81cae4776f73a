"""Small finished tables of every analysis, and what is told of them."""

import re
from inspect import signature
from io import StringIO

import numpy as np
import pandas as pd

from capmap.steps import load_function

DESCRIBED = [name for name, step in STEPS.items() if step.describe]
NOT_A_NUMBER = re.compile(r"\b(nan|NaN|NA|None|inf)\b")
# Rows by table; its columns are those of the catalog but for some, which are below.
TABLES = {
    "comparisons/pairwise": """
A,B,8,0,0.1,0.05,0.15,7,0,1,0.01,0.03,0.9,0.8,0.7,0.9,0.99,0.01,0,a better
A,C,7,1,0.02,-0.02,0.06,5,0,2,0.3,0.6,0.2,0.55,0.5,0.6,0.6,0.3,0.1,undecided
B,C,6,3,-0.19,-0.3,-0.1,1,0,5,0.0001,0.0003,-0.8,0.2,0.1,0.3,0,0.1,0.9,undecided
""",
    "comparisons/friedman": """
friedman,9.2834,3,0.0258,4,14,56,2
""",
    "comparisons/nemenyi": """
A,B,1.1,1.25,0.06,False,14
A,C,1.3,1.25,0.04,True,14
""",
    "comparisons/mean_ranks": """
A,1.9,14,a,a
B,2.1,14,ab,ab
C,3.0,14,b,b
""",
    "comparisons/profile_area": """
A,1.2,0.9,1,8,1.0,0.8,2,8
B,1.0,0.7,2,7,1.1,0.85,1,8
""",
    "comparisons/elo": """
A,1100.2,1050.0,1200.0,1,1,2,8,0.01,1
B,900.0,,,2,,,1,0.01,1
""",
    "comparisons/winrate": """
A,B,0.75,6,0,2,8
B,A,0.25,2,0,6,8
""",
    "comparisons/improvability": """
A,3.21,1.0,6.0,1,1,1,8
B,20.0,,,2,,,8
""",
    "comparisons/improvability_datasets": """
A,d,0.1,0.1,0.0
B,d,0.2,0.1,50.0
""",
    "comparisons/robustness": """
mean,configured,,1.0,0,A,2
median,ranks,d,0.3,1,A,2
""",
    "comparisons/flips": """
A,B,1,2,1,2,0.5,d
""",
    "comparisons/dethroning": """
A,B,8,3,"'d1' 'd2' 'd3'"
A,C,8,6,"'d1' 'd2' 'd3' 'd4' 'd5' 'd6'"
""",
    "comparisons/groups": """
sea,A,0.8,0.7,0.9,1,1,1,a,0.8,1,9,3,0
sea,B,0.7,0.6,0.8,2,1,2,a,0.7,2,9,3,0
land,A,0.8,,,1,,,,0.8,1,3,3,0
""",
    "comparisons/conditions": """
full,kendall_tau,0.8,0.5,1.0,5,8,2
full,spearman_rho,0.9,0.6,1.0,5,8,2
""",
    "comparisons/condition_ranks": """
full,A,0.8,1,0.7,2,1
full,B,0.7,2,0.8,1,-1
""",
    "comparisons/seed_widths": """
A,3,0.06,0.048,0.078,0.05
A,5,0.04,0.032,0.052,0.05
A,10,0.025,0.02,0.0325,0.05
A,20,0.015,0.012,0.0195,0.05
B,3,0.06,0.048,0.078,0.05
B,5,0.04,0.032,0.052,0.05
B,10,0.025,0.02,0.0325,0.05
B,20,0.015,0.012,0.0195,0.05
""",
    "comparisons/next_seeds": """
A,d,3,0.4
B,d,1,0.2
""",
    "comparisons/detectable": """
3,0.06,0.09
5,0.04,0.07
10,0.03,0.05
20,0.02,0.03
""",
    "capabilities/models": """
A,2,2,1,,0.2,,,,
B,2,2,1,,0.5,,,,
C,1,0,,,,,,,few results
""",
    "capabilities/datasets": """
d,4,4,1,,A,80,60,10,0.5,20,,d,
e,2,2,1,,B,80,70,5,0.4,20,,d,
""",
    "capabilities/summary": """
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
    "capabilities/predictions": """
A,d,0,0.1,0,0.3,78,74,80,True
A,e,1,0.5,0.2,0.8,75,72,78,True
B,d,1,0.8,0.5,1,64,60,70,True
B,e,0,0.2,0,0.4,78,76,80,True
A,f,,0.4,0,0.8,78,76,80,False
""",
    "capabilities/placements": """
A,1,0.3,0.1,0.5,0
D,3,0.5,0.2,0.8,0
""",
    "capabilities/error_curve": """
1,40,600,0.12,0.1,0.15,0.14,-0.02,-0.03,-0.01,0.89,0.8
4,40,500,0.1,0.08,0.12,0.13,-0.03,-0.04,-0.02,0.9,0.7
20,20,200,0.06,0.05,0.07,0.12,-0.06,-0.08,-0.04,0.91,0.5
""",
    "comparisons/next": """
1,A,f,0.4,0.1,0.9,0.8
2,A,g,0.4,0.1,0.7,0.6
3,B,f,0.3,0.0,0.5,0.5
""",
    "comparisons/drift": """
2020-01-01,8,100,0,,0.9,0.05,0,,,,
2021-01-01,20,300,12,0.3,0.4,0.05,90,0.08,0.06,0.1,0.09
2022-01-01,30,500,10,0.2,0,0.05,90,0.08,0.06,0.1,0.09
""",
    "comparisons/transfer": """
sea,9,9,90,0.09,0.07,0.11,0.1,0.11,-0.01,-0.02,-0.005
land,9,9,90,0.1,0.07,0.13,0.1,0.11,0,-0.02,0.02
all types,18,9,180,0.095,0.07,0.12,0.1,0.11,-0.005,-0.02,0.01
""",
    "comparisons/strengths": """
A,d,0.8,0.7,0.1,0.05,0.15
A,e,0.5,0.6,-0.1,-0.15,-0.05
B,d,0.5,0.48,0.02,-0.03,0.07
""",
    "comparisons/frontier": """
A,100,0.8,0.7,0.9,True,0.95,8
B,50,0.7,0.6,0.8,True,0.5,8
C,200,0.6,0.5,0.7,False,0,8
""",
    "comparisons/generalizability": """
8,3,0.85,0.7,0.95
13,3,0.902,,
""",
    "comparisons/effective_datasets": """
8,12,4.2,7.5,0
""",
    "multilabel/metrics": """
A,d,,top1,,0.8,0.78,0.82,100
B,d,,top1,,0.7,0.68,0.72,100
""",
    "multilabel/summary": """
A,d,0.8,0.85,0.6,1,2,1,1
B,d,0.7,0.86,0.6,2,1,1,1
""",
    "multilabel/rank_shift": """
A,top1,d,asma,d,0.8,0.6,1,1,0,1,1,0
B,top1,d,asma,d,0.7,0.6,2,1,1,2,1,1
""",
    "multilabel/degradation": """
,top1,,d,e,0.75,0.65,0.1,0.09,0.11,False,200
,asma,,d,e,0.6,0.61,-0.02,-0.03,0.01,False,200
""",
    "multilabel/label_counts": """
d,1,60,0.6
e,1,70,0.7
""",
    "leaderboard/entries": """
frozen,1,a,A,b,,s,0.8,0.7,0.9,1,2,a,0.8,12,4,4,True
frozen,2,b,B,b,,s,0.7,0.6,0.8,1,2,a,0.7,12,4,4,True
tuned,1,c,C,b,,s,0.9,,,,,,0.9,4,4,4,True
tuned,,d,D,b,,s,0.6,,,,,,0.6,2,2,4,False
""",
    "comparisons/rank_history": """
R1,frozen,a,A,2,0.7
R1,frozen,b,B,1,0.8
R2,frozen,a,A,1,0.8
R2,frozen,c,C,2,0.7
""",
    "comparisons/selected": """
A,t1,step=3,3,0.8,0.7,5,0.7,0.75,0.1,0.05,0.02,
B,t2,step=4,4,0.7,0.6,6,0.6,0.65,0.1,0.05,-0.01,
""",
    "comparisons/checkpoint_rankings": """
full,mean,1,A,t1,step=3,0.8,
full,mean,2,B,t2,step=4,0.7,
""",
    "comparisons/ranking_agreement": """
full,best,0.5,2,0,0,1,
""",
    "tables/published": """
A,tables/iqm,56,50,3,2,1,Because.
""",
    "tables/published_claims": """
A,tables/iqm,0,1,0.5,0.4,0.6,holds,
d,tables/iqm,0,1,2.5,2.4,2.6,fails,
""",
}
OWN_COLUMNS = {
    "comparisons/elo": "model elo ci_low ci_high rank rank_low rank_high datasets separated "
    "component",
    "comparisons/groups": "group model iqm ci_low ci_high rank rank_low rank_high tie_group mean "
    "rank_mean runs datasets missing",
    "capabilities/summary": "distance dimension protocol folds predictions train_mse mse mse_low "
    "mse_high difference difference_low difference_high",
    "capabilities/placements": "model results mean_gap mean_gap_low mean_gap_high x1",
}
# What may be missing from a table that is not empty, besides the ends of intervals.
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
    "frontier": ["p_front"],
    "effective_datasets": ["effective"],
    "selected": ["gain_report"],
    "ranking_agreement": ["kendall_tau"],
}
OPTIONS = {
    "unit": "runs",
    "alpha": 0.05,
    "n_resamples": 2000,
    "confidence_level": 0.95,
    "rope_setting": 0.01,
    "reference": "A",
    "without_optimum": [],
    "against": "cost",
    "interval": "calibrated",
    "method": "l2_ridge",
    "dimension": 5,
    "min_results": 2,
    "rank_by": "asma",
    "subgroups": {"d": [1], "e": [1]},
    "split": "validation",
    "report": "test",
}


def load_describe(step):
    """The function that writes the paragraphs of a step's analysis."""
    return load_function(STEPS[step].describe)


def make_tables(step):
    """Make the tables that the paragraphs of a step are written from."""
    folder = find_owner(step, "steps").folder
    names = [name for name in signature(load_describe(step)).parameters if name not in OPTIONS]
    return {name: make_table(f"{folder}/{name}") for name in names}


def list_columns(place):
    """Columns of one of the tables."""
    return OWN_COLUMNS.get(place, CATALOG[place].columns).split()


def make_table(place):
    """Make one of the finished tables, as it is read from CSV."""
    table = pd.read_csv(StringIO(TABLES[place]), names=list_columns(place))
    for name in ("labels", "stamp"):
        if name in table:
            table[name] = ["" if value != value else str(value) for value in table[name]]
    return table


def drop_intervals(table):
    """Leave out the ends of all intervals, as with one fold."""
    ends = [name for name in table if name in ("low", "high") or name.endswith(("_low", "_high"))]
    return table.assign(**dict.fromkeys(ends, np.nan))


def tell(step, **changes):
    """Describe the tables above, with some of them or of the settings changed."""
    describe = load_describe(step)
    options = {name: OPTIONS[name] for name in signature(describe).parameters if name in OPTIONS}
    return describe(**{**make_tables(step), **options, **changes})
