"""What becomes of studies: one followed, on a page too, or all of a storage."""
