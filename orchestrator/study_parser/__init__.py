"""Parses study files: one module per section; every problem is reported with its line."""
