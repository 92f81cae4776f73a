"""Tracking stores of MLflow, read without changing them.

`locations` finds a store and makes what MLflow may open in its place, `store` reads its runs,
`lineage` knows which are nested in which, and `account` counts them. `evaluations` (with `keys`)
turns runs into the table of a study of checkpoints, `terratorch` (with `hyperparameters`) into a
submission.
"""
