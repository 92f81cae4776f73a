"""Stratified bootstrap: how sure the aggregate scores and ranks are.

``resampling`` draws runs within datasets and ``datasets`` draws datasets, ``statistics`` computes
what was drawn, ``intervals`` turns replicates into confidence intervals, ``models`` does all of it
for one model, and ``ranks`` compares models.
"""
