"""What a results folder holds beside trial rows: paths, asks, attempts, runs, study snapshot."""
