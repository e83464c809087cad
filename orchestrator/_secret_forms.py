"""Where secrets stand in a text, by their form or by the name they are assigned to."""

import re
from collections.abc import Iterator
from functools import cache

Span = tuple[int, int]
"""Start and end of a piece of text, as in a slice."""

# Every repetition below is bounded or possessive, so that time grows linearly with the text.

# -----BEGIN ... PRIVATE KEY----- to its end, or, of a text that was cut, to the last of its
# letters; line breaks may be spelt out.
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----)[\s\S]){0,32768}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:\\[nr]|\s)*+[A-Za-z0-9+/=]{16,}+)*+)"
)

# s3://key:secret@bucket: a secret may hold slashes, a name alone does not.
_URI = re.compile(r"(?<=://)(?P<secret>[^\s/@:]{0,128}:[^\s@]{0,512}|[^\s/@]{1,512})@")

# What follows names of schemes in HTTP; elsewhere these words are English.
_HEADER = re.compile(
    r"\b(?:Proxy-)?Authorization\\?[\"']?\s{0,9}[:=,]\s{0,9}(?:[bruf]{0,2}\\?[\"'])?"
    r"(?:(?:Basic|Bearer|Digest|Token|ApiKey|Negotiate|AWS4-HMAC-SHA256)\s{1,9})?"
    r"(?P<secret>[^\s\"'\\]{1,4096})",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"\b(?:Bearer|BEARER|bearer(?=\s{1,9}[\w.~+/-]{0,256}[0-9A-Z]))\s{1,9}"
    r"(?!(?:tokens?|auth\w*|schemes?|headers?|is|was|of|or|and)\b)"
    r"(?P<secret>[A-Za-z0-9._~+/=-]{1,4096})"
)
# Of ~/.netrc.
_LOGIN = re.compile(r"\blogin\s{1,9}\S{1,256}\s{1,9}password\s{1,9}(?P<secret>\S{1,1024})")
# ("x-api-key", "value"), as in a list of headers.
_PAIR = re.compile(
    r"\(b?[\"'][\w-]{0,40}?(?:secret|token|passw(?:or)?d|api-?key|cookie)[\"'],\s{0,9}"
    r"b?[\"'](?P<secret>[^\"'\n]{1,4096})[\"']\)",
    re.IGNORECASE,
)
# Formats that `detect-secrets` 1.5 does not know, or searches in more than linear time.
_FORMATS = re.compile(
    r"\b(?:github_pat_\w{22,255}|gh[pousr]_\w{20,255}|hf_[A-Za-z0-9]{20,255}"
    r"|npm_[A-Za-z0-9]{36}|AIza[\w-]{35}|sk-[\w-]{32,255}|ya29\.[\w-]{20,512})"
    r"|(?<![\w-])eyJ[\w-]{4,8192}+=*\.[\w-]{2,8192}+=*(?:\.[\w-]{0,8192})?"  # JSON web token
)

# Names of what is always secret, and names that other things have as well (cls_token: a tensor).
_ALWAYS = (
    r"secret|passw(?:or)?d|passphrase|(?:api|access|secret|private|account|auth|client)[_ -]?key"
    r"|connection[_ -]?string"
)
_OFTEN = (
    r"token|signature|credentials?|jwt|cookie|(?<=_)pass|(?<=_)auth|(?<![a-z])pwd|(?<=_)pat"
    r"|(?<=[\"'])pass(?=[\"'])"
)
_ASSIGNED = re.compile(
    rf"(?:(?P<always>{_ALWAYS})|(?P<often>{_OFTEN}))"
    r"(?P<sign>\\?[\"']?\]?(?P<before>\s{0,9})(?:=>|:=|={1,3}|:)\s{0,9}|\(\s{0,9}(?=[\"'])"
    r"|(?<=--password)\s{1,9}|(?<=--token)\s{1,9}|(?<=--api-key)\s{1,9}|(?<=--secret)\s{1,9})"
    r"(?:[bruf]{0,2}(?P<quote>\\?[\"'])(?P<quoted>[^\n]{0,4096}?)(?:(?P=quote)|(?=\n)|\Z)"
    r"|(?P<bare>[^\s&;\"']{0,4096}[^\s&;\"',)\]}]))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?%?", re.IGNORECASE)
_ORDINARY = frozenset(
    {
        *("***", "none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off"),
        *("str", "int", "bool", "bytes", "float", "text", "object", "any", "optional"),
    }
)
# What is code in a traceback: `password=self.password`, `token=get_token()`, f"{token}".
_CODE = re.compile(
    r"(?:self|cls|os|sys|args|kwargs|config|settings|options|env|environ|getpass|str|bytes|open"
    r"|input|repr|Optional|SecretStr)\s?[.(\[]"
    r"|[a-z_][\w.]{0,80}(?:secret|passw(?:or)?d|token|key|credentials?)(?:[.(\[]|\Z)"
    r"|(?:secret|passw(?:or)?d|token|credentials?)(?:[.(\[]|\Z)"
    r"|\{[A-Za-z_]"
)


def secret_spans(text: str) -> Iterator[Span]:
    """Every secret that is known by its form or place; spans may overlap."""
    for match in _PRIVATE_KEY.finditer(text):
        yield match.span()
    for pattern in (_URI, _HEADER, _BEARER, _LOGIN, _PAIR):
        for match in pattern.finditer(text):
            yield match.span("secret")
    for pattern in (_FORMATS, *_known_formats()):
        for match in pattern.finditer(text):
            yield match.span()
    for match in _ASSIGNED.finditer(text):
        if match["quoted"] is not None:
            if _is_secret_quoted(match["quoted"]):
                yield match.span("quoted")
        elif _is_secret_bare(match):
            yield match.span("bare")


def _is_secret_quoted(value: str) -> bool:
    return bool(value) and value.lower() not in _ORDINARY and not _CODE.match(value)


def _is_secret_bare(match: re.Match[str]) -> bool:
    """Whether an assigned value without quotes is a secret, and not code, a flag or a number."""
    value = match["bare"]
    if value.rstrip(",").lower() in _ORDINARY or _CODE.match(value):
        return False
    if match["always"]:
        return True
    if _NUMBER.fullmatch(value) or value[0] in "/~(<[{*":
        return False
    sign = match["sign"]
    if sign.isspace() or (
        sign.endswith(("=", "=>")) and not match["before"]
    ):  # --token x, token=x
        return True
    has_digit = any(map(str.isdigit, value))
    return len(value) >= 8 and has_digit and any(map(str.isalpha, value))


@cache
def _known_formats() -> tuple[re.Pattern[str], ...]:
    """Formats of keys and tokens of well-known services, as detect-secrets maintains them.

    Only those that identify a secret by itself, in linear time: its rules for names, URIs, npm,
    OpenAI and JSON web tokens take seconds to hours for a long line, and its entropy would take
    trial ids and hashes for secrets. Loaded at the first text, since it costs a tenth of a second.
    """
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    detectors = (
        *(AWSKeyDetector, AzureStorageKeyDetector, DiscordBotTokenDetector, GitHubTokenDetector),
        *(GitLabTokenDetector, MailchimpDetector, PypiTokenDetector, SendGridDetector),
        *(SlackDetector, SquareOAuthDetector, StripeDetector, TelegramBotTokenDetector),
        TwilioKeyDetector,
    )
    return tuple(pattern for detector in detectors for pattern in detector.denylist)
