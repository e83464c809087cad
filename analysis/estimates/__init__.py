"""Estimators and their intervals: arrays in, numbers out."""
