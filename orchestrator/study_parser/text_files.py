"""Reads the text files of a study whole, and no more of them than any study needs."""

from pathlib import Path

MAX_STUDY_BYTES = 10**6
"""Of a study file; those that lie beside podium have 2 kB."""
MAX_TABLE_BYTES = 4 * 10**6
"""Of a published table or a list of classes."""


class UnreadableError(Exception):
    """A file is missing, too large or no text; the message is the reason, without the path."""


def read_text(path: str | Path, max_bytes: int) -> str:
    """The text of a file, without a byte-order mark; also of a pipe, and of devices without end.

    Raises:
        UnreadableError: the file cannot be read, is not UTF-8, or has more than ``max_bytes``.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise UnreadableError(f"it has more than {max_bytes} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UnreadableError(str(error.strerror)) from None
    except UnicodeDecodeError as error:
        raise UnreadableError(f"it is not UTF-8 at byte {error.start}") from None
    except ValueError:  # a path with a zero byte
        raise UnreadableError("there is no such path") from None
