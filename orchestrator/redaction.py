"""Removes secrets from text that is stored or printed: commands, messages, tracebacks, logs.

The one place for it. `_secret_forms` finds secrets by how they look and what they are assigned to,
`_secret_variables` knows which values of the environment are secret.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from orchestrator._secret_forms import Span, secret_spans
from orchestrator._secret_variables import secret_values

_HIDDEN = "***"
_WHOLE_WORD_BELOW = 8  # characters; a shorter value is found as a whole word only


def redacted(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with ``***`` in place of secrets.

    These are private keys, users and passwords in URIs, HTTP credentials, tokens of well-known
    services, what is assigned to a password, a token or a key, and secrets of the environment:
    values of variables whose name or content says that they are secret, what is in the files that
    such variables name, and Ray's token. Values of 4 to 7 characters, and numbers, are masked
    where they are whole words, shorter ones not at all.

    Time grows linearly with the text: about 20 ms for 100 kB.

    Args:
        text: any text.
        environment: environment variables; None means those of this process.
    """
    return next(redacted_texts([text], environment))


def redacted_texts(
    texts: Iterable[str], environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Each text as `redacted` gives it; the environment is looked through once for all of them."""
    values = secret_values(os.environ if environment is None else environment)
    return (_without(values, text) for text in texts)


def _without(values: Iterable[str], text: str) -> str:
    """The text with ``***`` in place of these values and of what looks like a secret."""
    spans = [*secret_spans(text), *_spans_of(values, text)]
    parts, shown_from = [], 0
    for start, end in _merged(spans):
        parts += [text[shown_from:start], _HIDDEN]
        shown_from = end
    return "".join([*parts, text[shown_from:]])


def _spans_of(values: Iterable[str], text: str) -> Iterator[Span]:
    """Where the values are."""
    for value in values:
        pattern = re.escape(value)
        if value.isdecimal():
            pattern = rf"(?<![\w.]){pattern}(?!\w|\.\d)"
        elif len(value) < _WHOLE_WORD_BELOW:
            # A line break that is spelt out ends a word, too.
            pattern = rf"(?:(?<!\w)|(?<=\\[nrt])){pattern}(?!\w)"
        for match in re.finditer(pattern, text):
            yield match.span()


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in their order, those that overlap or touch as one; empty ones are left out."""
    start = end = 0
    for next_start, next_end in sorted(spans):
        if next_start <= end and end > start:
            end = max(end, next_end)
            continue
        if end > start:
            yield start, end
        start, end = next_start, next_end
    if end > start:
        yield start, end
