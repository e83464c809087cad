"""One module a loss: its named search spaces."""
