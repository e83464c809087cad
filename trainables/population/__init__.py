"""Many trials trained as one: heads on frozen features that differ in real numbers only."""
