"""Which trial runs next, what became of it, and which are stopped early."""
