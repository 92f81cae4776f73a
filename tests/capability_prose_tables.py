"""Small finished tables of a map of models and datasets, and what is told of them."""

from io import StringIO

import numpy as np
import pandas as pd

from capmap.prose import (
    describe_capabilities,
    describe_drift,
    describe_next_results,
    describe_placements,
    describe_transfer,
)

ENDS = "mse,mse_low,mse_high,difference,difference_low,difference_high"
TABLES = {
    "gaps": """
model,dataset,score,normalized,absolute_gap,gap,dropped
A,d,80,1,0,0,
B,d,60,0,20,1,
A,e,70,0,10,1,
B,e,80,1,0,0,
C,d,70,0.5,,,few results of the model
""",
    "models": """
model,results,kept,component,mean_gap,architecture,parameters,date,dropped
A,2,2,1,0.2,,,,
B,2,2,1,0.5,,,,
C,1,0,,,,,,few results
""",
    "datasets": """
dataset,results,kept,component,duplicate_of,best_model,best_score,worst_score,std,saturation,\
headroom,type,family,dropped
d,4,4,1,,A,80,60,10,0.5,20,,d,
e,2,2,1,,B,80,70,5,0.4,20,,d,
""",
    "summary": f"""
distance,dimension,protocol,folds,predictions,train_mse,{ENDS}
ensemble,5,random,10,100,0.02,0.06,0.05,0.07,-0.01,-0.015,-0.005
ensemble,5,strict,10,100,,0.08,0.06,0.1,-0.01,-0.03,0.01
ensemble,5,family,10,100,,0.09,0.07,0.11,0.01,0.005,0.015
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
    "by_results": """
source,distance,results_from,results_to,models,predictions,mse,mse_low,mse_high,mae
cross-validation,ensemble,5,9,7,10,0.12,0.1,0.14,0.2
cross-validation,ensemble,10,19,9,30,0.06,0.04,0.08,0.2
cross-validation,ensemble,20,39,9,10,0.04,0.02,0.06,0.2
cross-validation,l2,5,9,7,10,0.02,0.01,0.03,0.2
""",
    "centrality": """
statistic,estimate,low,high,confidence,models
spearman_rho,0.7,0.4,0.9,0.95,45
""",
    "predictions": """
model,dataset,observed,predicted,low,high,predicted_score,score_low,score_high,held_out
A,d,0,0.1,0,0.3,78,74,80,True
A,e,1,0.5,0.2,0.8,75,72,78,True
B,d,1,0.8,0.5,1,64,60,70,True
B,e,0,0.2,0,0.4,78,76,80,True
A,f,,0.4,0,0.8,78,76,80,False
""",
    "placements": """
model,results,mean_gap,mean_gap_low,mean_gap_high,radius,x1
C,1,0.3,0.1,0.5,0.4,0
D,3,0.5,0.2,0.8,0.4,0
""",
    "placement_replay": """
method,results,results_to,models,predictions,mse,mse_low,mse_high,change,change_low,change_high,\
coverage,width
l2,1,1,20,600,0.16,0.1,0.2,,,,,
l2,2,2,20,600,0.12,0.1,0.15,,,,,
l2,1,4,40,2400,0.12,0.1,0.14,,,,,
ensemble,1,1,20,600,0.12,0.1,0.15,-0.25,-0.4,-0.1,0.89,0.8
ensemble,2,2,20,600,0.1,0.08,0.12,-0.17,-0.3,-0.05,0.9,0.7
ensemble,1,4,40,2400,0.1,0.09,0.11,-0.17,-0.25,-0.09,0.88,0.75
placed,1,1,20,600,0.12,0.1,0.15,-0.25,-0.4,-0.1,0.89,0.8
placed,2,2,20,600,0.1,0.08,0.12,-0.17,-0.3,-0.05,0.9,0.7
placed,1,4,40,2400,0.1,0.09,0.11,-0.17,-0.25,-0.09,0.88,0.75
additive,1,4,40,2400,0.11,0.1,0.12,-0.08,-0.2,0.04,,
""",
    "next_table": """
model,rank,dataset,reduction,share,predicted,low,high
A,1,f,0.5,0.3,0.4,0.1,0.7
A,2,g,0.2,0.1,0.4,0.1,0.7
B,1,f,0.4,0.2,0.4,0.1,0.7
C,1,d,0.4,0.1,0.4,0.1,0.7
""",
    "next_models": """
dataset,rank,model,predicted,low,high
d,1,C,0.2,0.0,0.5
d,2,D,0.3,0.0,0.6
e,1,C,0.2,0.0,0.5
""",
    "dataset_replay": """
policy,results,error,error_low,error_high,models
random,0,0.1,0.08,0.12,30
random,8,0.06,0.05,0.07,30
a_optimal,0,0.1,0.08,0.12,30
a_optimal,8,0.05,0.04,0.06,30
most_results,8,0.065,0.05,0.07,30
""",
    "dataset_savings": """
policy,results,needed,needed_low,needed_high,saving,models
a_optimal,4,3,2.5,4.5,0.25,30
a_optimal,8,4.8,3.6,5.9,0.4,30
most_results,8,9,6,12,-0.1,30
""",
    "model_replay": """
policy,tried,regret,regret_low,regret_high,datasets
random,1,0.5,0.4,0.6,20
random,3,0.2,0.15,0.25,20
lower_bound,1,0.1,0.05,0.15,20
lower_bound,3,0.05,0.02,0.08,20
best_on_average,1,0.09,0.05,0.15,20
best_on_average,3,0.06,0.03,0.09,20
""",
    "drift": """
date,models,results,newcomers,shift,shift_to_final,shift_noise,predictions,mse,mse_low,mse_high,\
mse_additive
2020-01-01,8,100,0,,0.9,0.05,0,,,,
2021-01-01,20,300,12,0.3,0.4,0.05,90,0.08,0.06,0.1,0.09
2022-01-01,30,500,10,0.2,0,0.05,90,0.08,0.06,0.1,0.09
""",
    "newcomers": f"""
models,predictions,mse_additive,{ENDS}
22,180,0.09,0.08,0.06,0.1,-0.01,-0.02,-0.005
""",
    "transfer": f"""
kind,trained_on,tested_on,models,datasets,train_results,predictions,mse_alone,mse_additive,\
mse_all,pearson,{ENDS}
type,land,sea,9,9,99,90,0.1,0.11,0.08,0.5,0.09,0.07,0.11,-0.01,-0.02,-0.005
type,sea,land,9,9,99,90,0.1,0.11,0.08,0.5,0.1,0.07,0.13,0,-0.02,0.02
types,one other type,each type,9,18,99,180,0.1,0.11,0.08,0.5,0.095,0.07,0.12,-0.005,-0.02,0.01
types,all other datasets,each type,9,18,180,180,0.1,0.11,0.08,0.5,0.08,0.06,0.1,-0.02,-0.04,-0.01
families,5 families,other families,9,9,50,90,0.1,0.11,0.07,0.5,0.09,0.07,0.11,-0.01,-0.02,-0.005
families,9 families,other families,9,9,90,90,0.1,0.06,0.07,0.5,0.07,0.05,0.09,-0.03,-0.04,-0.02
""",
}

# What may be missing from a table that is not empty.
MAY_BE_EMPTY = {
    "datasets": ["saturation", "headroom", "std", "duplicate_of"],
    "predictions": ["low", "high", "observed"],
    "placements": ["mean_gap", "mean_gap_low", "mean_gap_high", "radius"],
    "placement_replay": ["change", "change_low", "change_high", "coverage", "width"],
    "dataset_savings": ["needed", "needed_low", "needed_high", "saving"],
    "drift": ["shift", "shift_to_final", "shift_noise", "mse"],
}

DESCRIBE = {
    describe_capabilities: (
        ["gaps", "models", "datasets", "summary", "by_results", "predictions", "centrality"],
        {"method": "ensemble", "dimension": 5, "min_results": 2, "confidence_level": 0.9},
    ),
    describe_placements: (
        ["placements", "placement_replay"],
        {"confidence_level": 0.9, "method": "ensemble"},
    ),
    describe_next_results: (
        ["next_table", "next_models", "dataset_replay", "dataset_savings", "model_replay"],
        {},
    ),
    describe_drift: (["drift", "newcomers"], {"confidence_level": 0.9}),
    describe_transfer: (["transfer"], {"confidence_level": 0.9}),
}


def make_table(name):
    """Make one of the finished tables, as it is read from CSV."""
    return pd.read_csv(StringIO(TABLES[name]))


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
    names, options = DESCRIBE[describe]
    tables = {name: changes.pop(name) if name in changes else make_table(name) for name in names}
    return describe(*(tables[name] for name in names), **options | changes)
