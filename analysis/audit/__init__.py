"""Whether a published table can be right: scores, ranks, totals, folds, deviations."""
