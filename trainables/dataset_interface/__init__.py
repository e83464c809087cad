"""What every data set and batch sampler offers, and how classes are split. No torch."""
