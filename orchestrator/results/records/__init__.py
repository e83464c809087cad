"""What a results folder holds beside trial rows: paths, asks, attempts, runs, frozen facts."""
