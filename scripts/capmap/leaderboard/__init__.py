"""Leaderboards: entries ranked over all datasets and by dimension, from release to release."""
