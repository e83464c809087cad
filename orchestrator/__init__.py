"""Who runs what, when, where, and what survives."""
