"""What `podium plan` says beside counts: training, budget, power, the cost of an epoch."""
