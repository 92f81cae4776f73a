"""How far a ranking depends on how scores are bounded and aggregated, and on its datasets."""
