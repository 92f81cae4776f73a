"""What the rules read and are given, as far as it depends on the settings or on the files there.

The workflow asks these modules while it is read, so they import neither Snakemake nor numbers, and
job scripts do not import them. What is wrong is a `capmap.errors.ConfigError`.
"""
