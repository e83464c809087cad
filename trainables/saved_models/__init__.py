"""What is left of a trained network and what can be done with it: models, embeddings, scores."""
