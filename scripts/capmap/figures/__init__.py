"""Figures: finished tidy tables in, Matplotlib figures out; no statistic is computed here."""
