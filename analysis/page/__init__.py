"""A page as values, and those as HTML, CSV, LaTeX and plain records."""
