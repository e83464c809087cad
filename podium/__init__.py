"""The command line: one file a command, each imported when it is called."""

__all__ = ["__version__"]

__version__ = "0.1.0"
