"""What a study says of its validation protocols: whose picks are best, and at what cost."""
