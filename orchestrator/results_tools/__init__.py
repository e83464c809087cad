"""Tools on results folders: lists, progress, merges, archives, removal, Optuna's journal."""
