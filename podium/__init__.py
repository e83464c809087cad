"""The command line: one file a command, each imported when it is called."""

from podium.own_packages import find_first

__version__ = "0.1.0"

find_first()
