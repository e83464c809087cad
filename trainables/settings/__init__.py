"""What defines a trial, as frozen plain values, and which values are legal. No torch."""
