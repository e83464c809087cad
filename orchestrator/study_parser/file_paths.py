"""The paths of a study file, and the text files at them.

A relative path begins at the folder of the study file, so that a study runs from anywhere and
moves together with its files. One that is given on the command line (``--set``) begins at the
current folder, and so does one of a study that is read from a pipe. ``~`` is the home folder; URIs
and absolute paths are what they are.
"""

import pathlib

from podium.errors import StoreError
from podium.orchestrator.results.storage.locations import has_scheme, parse_place
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.yaml_tree import Path, SourcePosition


def read_path(given: str, path: Path, problems: Problems) -> str:
    """The absolute path that a text names, since workers run in other folders; a URI as it is.

    Nothing need be there.
    """
    if has_scheme(given):
        return given
    try:
        expanded = pathlib.Path(given).expanduser()
    except RuntimeError:  # ~name, where there is no such user
        problems.at(path, "begins at a home folder that does not exist", got=given)
        return given
    return str(base_folder(problems.position(path)) / expanded)


def read_storage(given: str, path: Path, problems: Problems) -> str:
    """As `read_path`, of a place of results.

    What is wrong with a URI is noted without it, since it may hold a password.
    """
    place = read_path(given, path, problems)
    if problems.concern(path):
        return place
    try:
        parse_place(place)
    except StoreError as error:
        problems.add(path, f"{label(path)}: {error}")
    return place


def base_folder(given_at: SourcePosition) -> pathlib.Path:
    """Where a relative path begins that is given there."""
    file = pathlib.Path(given_at.source)
    is_in_file = given_at.line is not None and file.is_file()
    return pathlib.Path.cwd() / file.parent if is_in_file else pathlib.Path.cwd()


MAX_STUDY_BYTES = 10**6
"""Of a study file; those that lie beside podium have 2 kB."""
MAX_TABLE_BYTES = 4 * 10**6
"""Of a published table or a list of classes."""


class UnreadableError(Exception):
    """A file is missing, too large or no text; the message is the reason, without the path."""


def read_text(path: str | pathlib.Path, max_bytes: int) -> str:
    """The text of a file, without a byte-order mark; also of a pipe, and of devices without end.

    Raises:
        UnreadableError: the file cannot be read, is not UTF-8, or has more than ``max_bytes``.
    """
    try:
        with pathlib.Path(path).open("rb") as file:
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
