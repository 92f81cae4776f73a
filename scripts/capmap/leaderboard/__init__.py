"""Leaderboards: entries ranked over all datasets and by dimension, and checkpoints of trainings."""
