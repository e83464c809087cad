"""Functions that raise an error for some calls, then work again."""

import os


def fail_calls(monkeypatch, owner, name, error, times):
    """Make the next ``times`` calls of a function raise ``error``.

    Returns:
        A list of one number: the calls that will still fail.
    """
    real, left = getattr(owner, name), [times]

    def function(*arguments, **options):
        if left[0] > 0:
            left[0] -= 1
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, function)
    return left


def system_error(number):
    """The error of the operating system with a number of `errno`."""
    return OSError(number, os.strerror(number))
