"""One module a loss, found by its file name."""
