"""From raw scores to normalized scores: transforms, directions, bounds, selection."""
