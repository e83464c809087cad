"""The study as values, and what follows from them alone: blocks, configs, facts, fairness."""
