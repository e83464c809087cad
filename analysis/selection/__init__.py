"""What it is worth to choose by validation: regret, optimism, agreement with test."""
