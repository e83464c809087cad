"""Loads a study file, and judges whether what it says goes together."""
