"""Trials as Parquet, one row each: committed, read, gathered by search."""
