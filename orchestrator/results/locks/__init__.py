"""One run of a study at a time, and a dead run never blocks the next."""
