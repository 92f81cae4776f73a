"""Classifiers run over folders of images: from pictures to score dumps."""
