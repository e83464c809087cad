"""Stored trials of studies, checked and reduced to one score a cell."""
