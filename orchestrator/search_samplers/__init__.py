"""Samplers of hyperparameter configs, behind one ask-and-tell interface (`suggester`)."""
