"""What a results folder holds besides trial rows: paths, asks, attempts, runs, study snapshot."""
