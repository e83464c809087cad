"""Ways in which a file gets damaged; each takes its path."""


def cut_off(path, num_bytes=200):
    """Without its last bytes."""
    path.write_bytes(path.read_bytes()[:-num_bytes])


def emptied(path):
    """Of no bytes."""
    path.write_bytes(b"")


def turned_into_text(path):
    """A page of HTML, as servers send in place of a file that they lack."""
    path.write_text("<html>Not found</html>")
