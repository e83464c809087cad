"""What a backbone is, its weights and facts, and the network of a trial around it."""
