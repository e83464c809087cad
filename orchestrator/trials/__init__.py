"""One trial as the orchestrator knows it: its specification, history, failures, and its row."""
