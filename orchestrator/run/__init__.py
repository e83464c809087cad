"""A study from where its results folder stands to its end: start, snapshot, resume."""
