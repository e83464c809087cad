"""Search spaces: what is tried of every hyperparameter, its scale and source. No torch, no ray."""
