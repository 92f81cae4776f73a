"""Tests, and the tables, servers and clusters that they and the benchmarks share."""
