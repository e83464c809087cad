"""Removes secrets from text that is stored or printed: commands, messages, tracebacks, logs."""

import os
import re
from collections.abc import Mapping

__all__ = ["redacted"]

_HIDDEN = "***"
_SHORTEST = 8  # a shorter value may be a common word

# Variables that hold a secret; those that say where one lies may be shown.
_SECRET_VARIABLE = re.compile(
    r"(SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|CREDENTIAL)(?!.*(PATH|FILE|DIR|URL)$)|_KEY$",
    re.IGNORECASE,
)
# s3://key:secret@bucket: a secret may hold slashes, a name alone does not.
_USER = re.compile(r"(?P<before>\b[A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/@:]*:[^\s@]*|[^\s/@]+)@")
_ASSIGNED = re.compile(
    r"(?P<before>(?:secret|token|password|passwd|api_?key|access_?key|secret_?key|signature)=)"
    r"[^\s&'\"]+",
    re.IGNORECASE,
)


def redacted(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with ``***`` in place of secrets.

    These are values of environment variables whose name says that they are secret, users and
    passwords in URIs, and what is assigned to a token, a password or a key.

    Args:
        text: any text.
        environment: environment variables; None means those of this process.
    """
    known = os.environ if environment is None else environment
    secrets = {
        value
        for name, value in known.items()
        if len(value) >= _SHORTEST and _SECRET_VARIABLE.search(name)
    }
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    text = _USER.sub(rf"\g<before>{_HIDDEN}@", text)
    return _ASSIGNED.sub(rf"\g<before>{_HIDDEN}", text)
