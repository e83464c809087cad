"""What may be tried: bounds, scale, unit and source of every hyperparameter. No torch, no ray."""
