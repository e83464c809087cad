"""Data sets by name, one module each; numpy only, so that plans need no torch."""
