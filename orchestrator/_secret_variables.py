"""Which values of environment variables are secret, and in which spellings they may be shown."""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, quote_plus

from orchestrator._secret_forms import secret_spans

_SHORTEST = 4  # characters of a value that is masked: shorter ones are in any text

_NUMBER = re.compile(r"[-+]?[\d.,_]+(?:e[-+]?\d+)?", re.IGNORECASE)
_SHORTEST_NUMBER = 6  # a shorter one counts or measures something

_MAX_FILE_BYTES = 64 * 2**10

# Within a name, whatever stands around it; TOKENIZERS_PARALLELISM is none.
_IN_NAME = re.compile(
    r"SECRET|TOKEN(?!I[SZ])|PASSW|PASSPHRASE|PASSCODE|SSHPASS|(?:API|ACCESS|PRIVATE|ACCOUNT)_?KEY"
    r"|CREDENTIAL|CONN(?:ECTION)?_?STR|WEBHOOK|AUTH_?KEY",
    re.IGNORECASE,
)
# A whole word of a name: KEY, and not KEYBOARD.
_WORDS = frozenset(
    {
        *("PASS", "PWD", "PAT", "KEY", "KEYS", "AUTH", "DSN", "JWT", "SAS", "BEARER", "COOKIE"),
        *("SIGNATURE", "CRED", "CREDS"),
    }
)
# A last word that says: not the secret, but something about it.
_ABOUT = re.compile(
    r"(?:PATH|FILE|DIR|FOLDER|HOME|SOCK|SOCKET|HOST|PORT|NAME|USER|TYPE|MODE|METHOD|SCHEME"
    r"|PROVIDER|ENDPOINT|ISSUER|AUDIENCE|SCOPES?|EXPIRY|EXPIRES|TTL|TIMEOUT|LIMIT|LENGTH|SIZE"
    r"|COUNT|ENABLED|DISABLED|REGION|ALGORITHM|FORMAT|COMMAND|HELPER|VERSION|BACKEND)$"
    r"|(?<!WEBHOOK_)(?<!WEBHOOK)UR[IL]$",
    re.IGNORECASE,
)
# Folders, names of people and machines: not secret, and in every traceback.
_PUBLIC = ("HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "USERNAME", "HOSTNAME", "SHELL", "TMPDIR")
_ORDINARY = frozenset(
    {
        *("true", "false", "yes", "none", "null", "auto", "default", "enabled", "disabled"),
        *("basic", "bearer", "token", "password", "secret", "root", "admin", "user", "podium"),
    }
)


def secret_values(environment: Mapping[str, str]) -> frozenset[str]:
    """The secrets of an environment, each with how it looks in Python, JSON and a URL.

    These are the values of variables whose name says that they are secret, what the files hold
    that such variables name, secrets within any value (the password of a URI), and Ray's token.
    Left out are values that are in any text: shorter than 4 characters, flags, small numbers,
    existing paths, and names of the user and of the machine.

    Args:
        environment: environment variables.
    """
    public = {environment[name] for name in _PUBLIC if name in environment}
    found = {value.strip() for value in _values(environment)}
    return frozenset(
        spelling
        for value in found - public
        if _is_rare(value)
        for spelling in (
            value,
            repr(value)[1:-1],
            json.dumps(value)[1:-1],
            quote(value, safe=""),
            quote(value),
            quote_plus(value),
        )
    )


def _values(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        yield from _within(value)
        if _is_secret_name(name):
            yield from _held(name, value)
    home = environment.get("HOME")
    if home:
        yield from _in_file(Path(home, ".ray", "auth_token"))


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool:
    words = re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", name)
    return bool(_IN_NAME.search(name)) or not _WORDS.isdisjoint(map(str.upper, words))


def _held(name: str, value: str) -> Iterator[str]:
    """The value of a variable with a secret name, or what is in the file that it names."""
    path = Path(value)
    if path.is_absolute() and _status(path) is not None:
        yield from _in_file(path)
    elif not _ABOUT.search(name):
        yield from _with_password(value)


def _in_file(path: Path) -> Iterator[str]:
    """A small file's content, and the secrets within; nothing of what cannot be read."""
    status = _status(path)
    if status is None or not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILE_BYTES:
        return
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # this process cannot show what it cannot read
        return
    yield text
    yield from _within(text)


def _status(path: Path) -> os.stat_result | None:
    """None if there is no such path, or it cannot be one."""
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1024)  # an environment is looked through again for every line of a log
def _within(text: str) -> tuple[str, ...]:
    """The secrets in a text."""
    return tuple(
        spelling
        for start, end in secret_spans(text)
        for spelling in _with_password(text[start:end])
    )


def _with_password(secret: str) -> Iterator[str]:
    """The secret and, of ``user:password``, the password alone."""
    yield secret
    _, _, password = secret.partition(":")
    if not password.startswith("//"):
        yield password


def _is_rare(value: str) -> bool:
    """Whether a value is unlikely to be in a text for another reason."""
    if len(value) < _SHORTEST or value.lower() in _ORDINARY:
        return False
    return len(value) >= _SHORTEST_NUMBER or not _NUMBER.fullmatch(value)
