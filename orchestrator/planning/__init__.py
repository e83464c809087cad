"""What a study will do and cost, counted before anything runs."""
