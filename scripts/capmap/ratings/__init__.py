"""Ratings from battles of models on datasets: Bradley–Terry strengths and win rates."""
