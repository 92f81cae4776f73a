"""Folders of images: run through classifiers, or composed to multi-label images (PatchML)."""
