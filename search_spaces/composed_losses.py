"""What is searched of composed losses besides the hyperparameters of their terms."""

from podium.search_spaces.parameters import Int, Real

MEMORY_SPACE = {"memory_weight": Real(0.1, 10.0, log=True)}
WEIGHT_SPACE = {"weight": Real(0.01, 100.0, log=True)}
"""Of all terms of a sum but the first: only their ratios matter."""
PRETRAINING_SPACE = {"pretraining_epochs": Int(1, 5, unit="epochs")}
