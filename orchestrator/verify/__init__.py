"""Checks every file and every invariant of a results folder, and changes nothing."""
