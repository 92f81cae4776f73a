"""Benchmark rankings with honest intervals: pure functions on arrays and tables."""
