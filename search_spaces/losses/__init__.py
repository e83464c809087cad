"""One module a loss: its parameters and its named search spaces."""
