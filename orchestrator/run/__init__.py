"""Runs a study from the state of its results folder to its end: start, snapshot, resume."""
