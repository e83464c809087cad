import json
import os
from urllib.parse import quote

import pytest

from podium.orchestrator.redaction import redacted
from podium.orchestrator.trials.provenance import provenance

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG",
    "AWS_SESSION_TOKEN": "session-0123456789",
    "WANDB_API_KEY": "wandb-0123456789",
    "RAY_AUTH_TOKEN": "f" * 64,
    "HF_TOKEN": "hf_0123456789",
    "MY_PASSWORD": "correct horse",
}


RAY_TOKEN = "0123456789abcdef" * 4


SECRET_VARIABLES = {
    "GITHUB_PAT": "abcd1",
    "DATABASE_PASS": "okapi",
    "MYSQL_PWD": "okapi",
    "SSHPASS": "okapi",
    "dbPassword": "okapi",
    "AZURE_STORAGE_CONNECTION_STRING": "AccountName=a;AccountKey=gnu+1/2=",
    "NETRC_AUTH": "somebody:ibex77",
    "SENTRY_DSN": "https://ibex77@sentry.example/1",
    "SLACK_WEBHOOK_URL": "https://hooks.example/T0/B0/xyz1",
    "DEPLOY_KEY": "-----BEGIN KEY-----\nMIIE\n-----END KEY-----",
    "MAIL_PASSWORD": "918273",
    "SSH_PRIVATE": "b3BlbnNzaA==",
    "DB_PW": "okapi",
    "SESSION": "ibex77",
    "LOGIN": "hunter2-password",
    "X": "glpat_Token",
}


@pytest.mark.parametrize("name", SECRET_VARIABLES)
def test_every_kind_of_secret_variable_is_known_by_its_name(name):
    secret = SECRET_VARIABLES[name]
    shown = redacted(f"told '{secret}', again\n{secret}.", {name: secret})
    assert shown == "told '***', again\n***."


def test_a_secret_is_masked_in_the_spellings_of_python_json_and_urls():
    value = 'a"b\nc/d e'
    told = f"{value} {value!r} {json.dumps(value)} {quote(value, safe='')}"
    assert redacted(told, {"X_SECRET": value}) == "*** '***' \"***\" ***"


@pytest.mark.parametrize("name", ["RAY_AUTH_TOKEN_PATH", "DB_PASSWORD_FILE", "X_CREDENTIALS"])
def test_what_a_file_of_secrets_holds_is_masked(name, tmp_path):
    file = tmp_path / "place"
    file.write_text(f"{RAY_TOKEN}\n")
    shown = redacted(f"{RAY_TOKEN} of {file}", {name: str(file)})
    assert shown == f"*** of {file}"


@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a large file"])
def test_a_variable_may_name_what_is_no_file_of_a_secret(kind, tmp_path):
    place = tmp_path / "place"
    if kind == "a folder":
        place.mkdir()
    elif kind == "a pipe":
        os.mkfifo(place)
    else:
        place.write_bytes(b"\xff" * 100_000)
    assert redacted(f"in {place}", {"X_TOKEN": str(place)}) == f"in {place}"


def test_ordinary_values_of_secret_variables_stay():
    environment = {
        "RAY_AUTH_MODE": "token",
        "SSH_AUTH_SOCK": "/tmp",
        "PWD": "/work",
        "DESKTOP_SESSION": "gnome",
        "XDG_SESSION_TYPE": "wayland",
        "MODE": "refresh token",
        "VAULT_HELP": "/usr/share/vault-token",
        "TOKENIZERS_PARALLELISM": "fast",
        "KEYBOARD": "qwertz",
        "USE_TOKEN": "true",
        "SHORT_KEY": "abc",
        "EMPTY_SECRET": "",
        "BLANK_SECRET": "   ",
    }
    text = (
        "gnome wayland refresh token /usr/share/vault-token /work /tmp fast qwertz token true abc"
    )
    assert redacted(text, environment) == text
    assert redacted(text, {}) == text


def test_short_values_and_numbers_are_masked_as_whole_words_only():
    environment = {"X_TOKEN": "glyph", "PIN_KEY": "123456", "LONG_TOKEN": "glyphglyph"}
    text = "glyph glyphs 'glyph' x\\nglyph 123456 0.123456 1234567 123456.7 xglyphglyphx"
    shown = "*** glyphs '***' x\\n*** *** 0.123456 1234567 123456.7 x***x"
    assert redacted(text, environment) == shown


def test_of_two_secrets_that_begin_alike_both_are_masked():
    environment = {"A_TOKEN": "zebra-0123456789", "B_TOKEN": "zebra-01"}
    assert redacted("zebra-01 zebra-0123456789", environment) == "*** ***"


def test_provenance_holds_no_secret(monkeypatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    words = ["run", "x.yaml", "--set", *SECRETS.values()]
    monkeypatch.setattr("sys.argv", ["/bin/podium", *words])
    kept = json.dumps(provenance())
    assert "podium run x.yaml --set ***" in kept
    assert [value for value in SECRETS.values() if value in kept] == []
