"""Tables of scores that a person typed or exported: read, checked, reduced to one score a cell."""
