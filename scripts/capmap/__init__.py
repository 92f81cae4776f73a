"""Benchmark rankings with honest intervals: `load` finished results, or `Study` a table."""

from capmap.public import __getattr__ as __getattr__
