"""Leaderboards of entries by dimension, and trainings with a chosen checkpoint each."""
