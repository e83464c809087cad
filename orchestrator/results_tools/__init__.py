"""Tools on results folders: lists, progress, merges, Optuna's journal."""
