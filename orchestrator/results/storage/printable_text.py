"""Escapes control characters in text from files, for terminals and for pages."""

import re

# What moves the cursor, changes the title, hides text or turns its direction round: control
# characters but tab and line feed, halves of surrogate pairs, separators of lines, and the
# controls of bidirectional text. Joiners stay: words of many languages need them.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def visible(text: str) -> str:
    r"""The text with control characters spelt out: ``\x1b`` in place of an escape."""
    return _CONTROLS.sub(_spelt, text)


def one_line(text: str) -> str:
    r"""As `visible`, with ``\n`` for line feeds, so that no text can forge a line of podium."""
    return visible(text).replace("\n", "\\n")


def json_visible(text: str) -> str:
    """JSON text with control characters escaped; parsing gives the same value."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _spelt(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
