"""Aggregate scores and ranks of models, with their uncertainty by a stratified bootstrap.

`aggregation` makes one number per model. `resampling` draws runs within datasets, and datasets;
`statistics` computes what was drawn, `models` does all of it for one model, and `ranks` compares
models. `groups` ranks them on named groups of datasets.
"""
