"""Folders of images, composed to multi-label images (PatchML)."""
