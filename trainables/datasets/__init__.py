"""Data sets and class-disjoint splits; numpy only, so a plan can read their facts without torch."""
