"""Aggregate scores and ranks of models, with their uncertainty by a stratified bootstrap.

`aggregation` makes one number per model. `resampling` draws runs within datasets, and datasets, and
computes statistics of what was drawn; `estimates` does all of it for the models of a study and of
its groups of datasets; `rank_sets` ranks models, and `pairs` compares them two by two.
"""
