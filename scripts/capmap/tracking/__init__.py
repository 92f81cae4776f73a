"""Tracking stores of MLflow, read without changing them.

`locations` finds a store and makes what MLflow may open in its place, and `store` reads its runs.
`evaluations` (with `keys`) turns runs into the table of a study of checkpoints, `terratorch` into a
submission.
"""
