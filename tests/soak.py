"""Parameters of tests that repeat what others find, and so are left to long runs."""

import pytest


def soak(*values) -> list:
    """The values as parameters marked ``soak``."""
    return [pytest.param(value, marks=pytest.mark.soak) for value in values]
