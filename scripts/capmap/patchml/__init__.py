"""PatchML: images with several labels, composed of annotated objects on a black canvas."""
