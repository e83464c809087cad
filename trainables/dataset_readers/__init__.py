"""Readers of image data sets on disk: lists of files, and image checks. No torch."""
