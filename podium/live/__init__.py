"""What becomes of studies: one followed, on a page or by other tools, or all of a storage."""
