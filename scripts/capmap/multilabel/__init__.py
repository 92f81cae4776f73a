"""Single-label classifiers against several valid labels per image."""
