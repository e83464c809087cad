"""Sections of the report, one a file: results in, what the template shows out."""
