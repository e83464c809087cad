"""Tools on results folders: progress, spending, merges, and the journal for Optuna."""
