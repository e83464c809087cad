"""A growing text of which the beginning and the end are kept, without secrets."""

import io

from podium.orchestrator.redaction import redacted

# A secret whose beginning was cut off is not known for one: more is searched than is kept.
_SEARCHED_BEYOND = 64 * 1024
_LEFT_OUT = "\n[... left out ...]\n"


class BoundedText(io.TextIOBase):
    """A stream that remembers so many characters of its beginning, and as many of its end."""

    def __init__(self, num_kept: int) -> None:
        self._num_kept = num_kept
        self._num_searched = num_kept + _SEARCHED_BEYOND
        self._beginning = ""
        self._rest: list[str] = []
        self._rest_size = 0

    def write(self, text: str) -> int:
        """Take in more of the text."""
        room = self._num_searched - len(self._beginning)
        self._beginning += text[:room]
        if rest := text[room:]:
            self._rest.append(rest)
            self._rest_size += len(rest)
        if self._rest_size > 2 * self._num_searched:
            self._rest = ["".join(self._rest)[-self._num_searched :]]
            self._rest_size = self._num_searched
        return len(text)

    def end(self) -> str:
        """The end of the text, secrets removed, or all of a short one."""
        return redacted("".join([self._beginning, *self._rest])[-self._num_searched :])

    def text(self) -> str:
        """The text, secrets removed; of a long one the beginning and the end."""
        end = self.end()
        if not self._rest and len(end) <= 2 * self._num_kept:
            return end
        return redacted(self._beginning)[: self._num_kept] + _LEFT_OUT + end[-self._num_kept :]
