"""Ways in which a file gets damaged, each by its path, and a pickle that does harm."""


class Touches:
    """A pickle that makes a file when it is read."""

    def __init__(self, file):
        self._file = file

    def __reduce__(self):
        return type(self._file).touch, (self._file,)


def cut_off(path, num_bytes=200):
    """Without its last bytes."""
    path.write_bytes(path.read_bytes()[:-num_bytes])


def emptied(path):
    """Of no bytes."""
    path.write_bytes(b"")


def turned_into_text(path):
    """A page of HTML, as servers send in place of a file that they lack."""
    path.write_text("<html>Not found</html>")
