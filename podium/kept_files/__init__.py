"""Files that trials leave: written by trainables, read without torch by all above it."""
