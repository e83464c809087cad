"""Readers of image data sets as they lie on disk: lists of files, and a look at all. No torch."""
