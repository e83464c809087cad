"""Tools on results folders: how far a study is, what it spent, merges, Optuna's journal."""
