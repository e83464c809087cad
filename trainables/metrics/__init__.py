"""Retrieval metrics, one module each."""
