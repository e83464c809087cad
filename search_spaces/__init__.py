"""Search spaces: bounds, scale, unit and source of every hyperparameter. No torch, no ray."""
