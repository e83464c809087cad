"""Whether this process is a notebook's, where cells show HTML."""

import sys


def is_notebook() -> bool:
    """Whether code runs in the kernel of a notebook; loads nothing to find out."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")
