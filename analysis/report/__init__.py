"""The report of a study, of several, and of a typed table: results in, sections of a page out."""
