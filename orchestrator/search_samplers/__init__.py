"""What searches draw their configs with."""
