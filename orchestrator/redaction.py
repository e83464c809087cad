"""Removes secrets of the environment from text that is stored or printed.

Secret are the values of environment variables whose names look secret, what is in the files that
such variables name, and values such as ``my-token``. Nothing else is masked.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

_HIDDEN = "***"
_NAME = re.compile(
    r"SECRET|TOKEN(?!I[SZ])|PASSW|PASSPHRASE|SSHPASS|CREDENTIAL|CONN(?:ECTION)?_?STR|WEBHOOK"
    r"|(?:API|ACCESS|PRIVATE|ACCOUNT|AUTH)_?KEY"
    r"|(?<![A-Z])(?:PASS|PWD?|PAT|KEYS?|AUTH|DSN|JWT|SAS|COOKIE|PRIVATE|SESSION$)(?![A-Z])",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[^\s/]*[^\s/a-z](?:password|token|secret)", re.IGNORECASE)
_PUBLIC = ("PWD", "OLDPWD", "DESKTOP_SESSION")  # working folders, and a desktop
_ORDINARY = frozenset({"true", "false", "none", "null", "auto", "default", "token", "disabled"})
_SHORTEST = 4  # characters of a value that is masked: shorter ones are in any text
_WHOLE_WORD_BELOW = 8  # characters; a shorter value is masked as a whole word only
_MAX_FILE_BYTES = 64 * 2**10


def redacted(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with ``***`` in place of secrets of the environment.

    Args:
        text: any text.
        environment: environment variables; None means those of this process.
    """
    secrets = _secrets(os.environ if environment is None else environment)
    spellings = {form for it in secrets for form in _spellings(it)}
    # The longest first: one secret may begin with another.
    patterns = map(_pattern, sorted(spellings, key=lambda it: (-len(it), it)))
    found = re.compile("|".join(patterns) or r"(?!)")
    return found.sub(_HIDDEN, text)


def _spellings(secret: str) -> tuple[str, ...]:
    """How a secret looks in a text, in Python, in JSON and in a URL."""
    return secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe="")


def _pattern(value: str) -> str:
    pattern = re.escape(value)
    if value.isdecimal():
        return rf"(?<![\w.]){pattern}(?!\w|\.\d)"
    if len(value) < _WHOLE_WORD_BELOW:  # a line break that is spelt out ends a word, too
        return rf"(?:(?<!\w)|(?<=\\[nrt])){pattern}(?!\w)"
    return pattern


def _secrets(environment: Mapping[str, str]) -> set[str]:
    values = {
        _held(value).strip()
        for name, value in environment.items()
        if (_NAME.search(name) or _VALUE.fullmatch(value)) and name not in _PUBLIC
    }
    return {it for it in values if len(it) >= _SHORTEST and it.lower() not in _ORDINARY}


def _held(value: str) -> str:
    """The value, or what is in the small file that it names; nothing of other paths."""
    path = Path(value)
    try:
        if not path.is_absolute() or not path.exists():
            return value
        if path.is_file() and path.stat().st_size <= _MAX_FILE_BYTES:
            return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):  # it cannot be a path, or this process cannot read it
        return value
    return ""
