"""Loads a study file, and checks whether its settings fit together."""
