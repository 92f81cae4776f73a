"""Checkpoints of trainings: chosen by a metric, ranked, and followed over steps."""
