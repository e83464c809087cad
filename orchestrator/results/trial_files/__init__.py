"""Trials as Parquet, one file and one row each: written, read, compacted."""
