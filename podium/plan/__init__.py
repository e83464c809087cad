"""What `podium plan` shows besides counts: training, budget, power, the cost of an epoch."""
