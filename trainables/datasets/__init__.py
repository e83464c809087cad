"""Data sets and class-disjoint splits; numpy only, so that plans need no torch."""
