"""Small finished tables of every comparison, and what is told of them."""

from io import StringIO

import pandas as pd

from capmap.prose import (
    describe_conditions,
    describe_groups,
    describe_improvability,
    describe_pairwise,
    describe_profiles,
    describe_rank_tests,
    describe_ratings,
    describe_robustness,
    describe_sample_size,
)

TABLES = {
    "pairwise": """
model_a,model_b,datasets,cells_unused,mean_difference,ci_low,ci_high,wins,ties,losses,\
wilcoxon_p,wilcoxon_p_holm,effect_size,p_improvement,p_improvement_low,p_improvement_high,\
p_a_better,p_equivalent,p_b_better,decision
A,B,8,0,0.1,0.05,0.15,7,0,1,0.01,0.03,0.9,0.8,0.7,0.9,0.99,0.01,0,a better
A,C,7,1,0.02,-0.02,0.06,5,0,2,0.3,0.6,0.2,0.55,0.5,0.6,0.6,0.3,0.1,undecided
B,C,6,3,-0.19,-0.3,-0.1,1,0,5,0.0001,0.0003,-0.8,0.2,0.1,0.3,0,0.1,0.9,undecided
""",
    "rope": """
reference,model,factor,rope,p_reference_better,p_equivalent,p_model_better,decision
A,B,0,0.0,0.99,0.0,0.01,reference better
A,B,1,0.01,0.99,0.01,0.0,reference better
A,C,0,0.0,0.6,0.0,0.4,undecided
A,C,1,0.01,0.02,0.97,0.01,equivalent
""",
    "friedman": """
test,statistic,df1,df2,p,models,datasets,cells_used,cells_unused
friedman,9.2834,3,,0.0258,4,14,56,2
iman_davenport,3.69,3,39,0.0197,4,14,56,2
""",
    "nemenyi": """
model_a,model_b,rank_difference,critical_difference,p,separated,datasets
A,B,1.1,1.25,0.06,False,14
A,C,1.3,1.25,0.04,True,14
""",
    "mean_ranks": """
model,mean_rank,datasets,nemenyi_group,wilcoxon_group
A,1.9,14,a,a
B,2.1,14,ab,ab
C,3.0,14,b,b
""",
    "profile_area": """
model,area_raw,share_raw,rank_raw,datasets_raw,\
area_normalized,share_normalized,rank_normalized,datasets_normalized
A,1.2,0.9,1,8,1.0,0.8,2,8
B,1.0,0.7,2,7,1.1,0.85,1,8
""",
    "elo": """
model,elo,ci_low,ci_high,rank,rank_low,rank_high,datasets,separated,component
A,1100.2,1050.0,1200.0,1,1,2,8,0.01,1
B,900.0,,,2,,,1,0.01,1
""",
    "winrate": """
model,opponent,win_rate,wins,ties,losses,datasets
A,B,0.75,6,0,2,8
B,A,0.25,2,0,6,8
""",
    "improvability": """
model,improvability,ci_low,ci_high,rank,rank_low,rank_high,datasets
A,3.21,1.0,6.0,1,1,1,8
B,20.0,,,2,,,8
""",
    "improvability_datasets": """
model,dataset,error,best_error,improvability,ci_low,ci_high
A,d,0.1,0.1,0.0,0.0,3.0
B,d,0.2,0.1,50.0,40.0,60.0
""",
    "robustness": """
aggregation,bounds,left_out,kendall_tau,flips,best,models
mean,configured,,1.0,0,A,3
median,ranks,d,0.3,1,A,3
""",
    "flips": """
model_a,model_b,rank_a,rank_b,flips,variations,share,aggregations,bounds,left_out
A,B,1,2,1,2,0.5,median,ranks,d
""",
    "rank_stability": """
model,rank,p_best,p_top,top,rank_mean,rank_low,rank_high
A,1,0.8,1.0,3,1.2,1,2
B,2,0.2,1.0,3,1.8,1,2
""",
    "groups": """
group,model,iqm,ci_low,ci_high,rank,rank_low,rank_high,ties,mean,rank_mean,runs,datasets
sea,A,0.8,0.7,0.9,1,1,1,a,0.8,1,9,3
sea,B,0.7,0.6,0.8,2,1,2,a,0.7,2,9,3
land,A,0.8,,,1,,,,0.8,1,3,3
""",
    "group_coverage": """
group,incomplete,datasets,models,datasets_dropped,models_dropped,cells_unused
land,drop_models,3,1,0,1,2
sea,keep,3,2,0,0,0
""",
    "conditions": """
condition,statistic,estimate,ci_low,ci_high,models,datasets,cells_unused
full,kendall_tau,0.8,0.5,1.0,5,8,2
full,spearman_rho,0.9,0.6,1.0,5,8,2
""",
    "condition_ranks": """
condition,model,score,rank,score_other,rank_other,change
full,A,0.8,1,0.7,2,1
full,B,0.7,2,0.8,1,-1
""",
    "seed_widths": """
model,seeds,width,width_now
A,3,0.06,0.05
A,5,0.04,0.05
A,10,0.025,0.05
A,20,0.015,0.05
B,3,0.06,0.05
B,5,0.04,0.05
B,10,0.025,0.05
B,20,0.015,0.05
""",
    "next_seeds": """
model,dataset,runs,std,gain,share
A,d,3,0.05,0.2,0.4
B,d,1,0.05,0.1,0.2
""",
}


def make_table(name):
    """Make one of the finished tables, as it is read from CSV."""
    return pd.read_csv(StringIO(TABLES[name]))


DESCRIBE = {
    describe_pairwise: (
        ["pairwise", "rope"],
        {"missing": "pairwise", "unit": "runs", "alpha": 0.05, "probability": 0.95}
        | {"n_samples": 50_000, "n_resamples": 2000, "confidence_level": 0.95}
        | {"rope_setting": 0.01},
    ),
    describe_rank_tests: (
        ["friedman", "nemenyi", "mean_ranks"],
        {"missing": "pairwise", "alpha": 0.05},
    ),
    describe_profiles: (
        ["profile_area"],
        {"missing": "pairwise", "datasets_total": 8, "nonpositive": 0, "n_resamples": 2000}
        | {"confidence_level": 0.95, "cells_unused": 0},
    ),
    describe_ratings: (
        ["elo", "winrate"],
        {"missing": "pairwise", "battles": "means", "tie_threshold": 0.0, "calibration": ""}
        | {"n_resamples": 1000, "confidence_level": 0.95, "cells_unused": 0},
    ),
    describe_improvability: (
        ["improvability", "improvability_datasets"],
        {"missing": "pairwise", "without_optimum": [], "clipped": 0, "n_resamples": 1000}
        | {"confidence_level": 0.95, "cells_unused": 0},
    ),
    describe_robustness: (
        ["robustness", "flips", "rank_stability"],
        {"missing": "pairwise", "n_resamples": 2000, "confidence_level": 0.95}
        | {"cells_unused": 0},
    ),
    describe_groups: (
        ["groups", "group_coverage"],
        {"interval": "bca", "unit": "runs", "confidence_level": 0.95, "n_resamples": 10_000},
    ),
    describe_conditions: (
        ["conditions", "condition_ranks"],
        {"aggregation": "iqm", "n_resamples": 2000, "confidence_level": 0.95},
    ),
    describe_sample_size: (
        ["seed_widths", "next_seeds"],
        {"interval": "calibrated", "confidence_level": 0.95, "missing": "pairwise"}
        | {"cells_unused": 0},
    ),
}


def tell(describe, **changes):
    """Describe the tables above, with some of them or of the settings changed."""
    names, options = DESCRIBE[describe]
    tables = {name: changes.pop(name) if name in changes else make_table(name) for name in names}
    return describe(**tables, **options | changes)
