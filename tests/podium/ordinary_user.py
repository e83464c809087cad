"""Commands as a user whom permissions bind: the superuser of a test machine reads everything."""

import os
import sys

__all__ = ["as_ordinary_user"]

_POWERS = "-dac_override,-dac_read_search,-fowner"


def as_ordinary_user(*arguments) -> list[str]:
    """The words of ``podium ARGUMENTS``, without the powers of the superuser."""
    dropped = ["setpriv", f"--bounding-set={_POWERS}", f"--inh-caps={_POWERS}"]
    words = [sys.executable, "-m", "podium", *map(str, arguments)]
    return words if os.getuid() else [*dropped, *words]
