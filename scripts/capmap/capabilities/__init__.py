"""Capability embedding: points for models and datasets whose distances come near the gaps."""
