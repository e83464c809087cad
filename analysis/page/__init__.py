"""A page as values, and its rendering as HTML, CSV, LaTeX and plain records."""
