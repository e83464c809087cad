"""What commands print: text, tables, JSON and CSV, and the progress of a run."""
