"""Comparisons of models: pair by pair, against a reference, and by their ranks."""
