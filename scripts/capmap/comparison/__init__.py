"""Comparisons of models: pair by pair, by ranks and by ratings, and how robust a ranking is."""
