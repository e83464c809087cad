"""Tools on results folders: lists, progress, Optuna's journal."""
