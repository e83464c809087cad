"""From the text of a study file to values: one module a section, every problem with its line."""
