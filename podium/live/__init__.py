"""A study as it runs, on a page of this machine."""
