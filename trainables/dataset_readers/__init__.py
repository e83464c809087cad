"""Readers of image data sets as they lie on disk: lists of files, and image checks. No torch."""
