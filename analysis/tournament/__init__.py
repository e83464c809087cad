"""Competitors ranked within blocks, and how far the ranks can be trusted."""
