"""The command line: one file a command, each imported when it is called."""

__version__ = "0.1.0"
