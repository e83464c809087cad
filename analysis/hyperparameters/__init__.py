"""What was searched, which hyperparameters decide, and where the best configs lie."""
