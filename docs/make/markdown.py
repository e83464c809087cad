"""What all made pages share: the line that says so, and tables."""

from collections.abc import Iterable, Iterator

TOLD = "<!-- Made by `python -m docs.generate`: edit that file, not this one. -->"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    return "\n".join(_lines(tuple(head), rows))


def _lines(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
