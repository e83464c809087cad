import json
import os
from dataclasses import replace
from urllib.parse import quote

import polars as pl
import pytest

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.redaction import redacted
from orchestrator.trials.provenance import provenance
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import rows, run_here, with_search
from tests.podium.calling import podium

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG",
    "AWS_SESSION_TOKEN": "session-0123456789",
    "WANDB_API_KEY": "wandb-0123456789",
    "RAY_AUTH_TOKEN": "f" * 64,
    "HF_TOKEN": "hf_0123456789",
    "MY_PASSWORD": "correct horse",
}


RAY_TOKEN = "0123456789abcdef" * 4


@pytest.mark.parametrize("value", SECRETS.values())
def test_values_of_secret_variables_are_masked(value):
    assert redacted(f"before {value} after", SECRETS) == "before *** after"


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
        "TOKENIZERS_PARALLELISM": "fast",
        "KEYBOARD": "qwertz",
        "USE_TOKEN": "true",
        "SHORT_KEY": "abc",
        "EMPTY_SECRET": "",
        "BLANK_SECRET": "   ",
    }
    text = "/work /tmp fast qwertz token true abc"
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


class _Leaks:
    """Prints a secret in every trial, and tells one in the error of the fourth."""

    def __init__(self):
        self._num_trials = 0

    def __call__(self, settings, *, resume, save, keep):
        self._num_trials += 1
        print(f"logged in with {SECRETS['WANDB_API_KEY']}")
        if self._num_trials == 4:
            raise ValueError(f"refused: {SECRETS['AWS_SECRET_ACCESS_KEY']}")
        yield from simulated_trial(settings, resume=resume, save=save)


def test_a_trial_that_tells_a_secret_leaves_none_in_its_folder(tmp_path, monkeypatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    study = replace(with_search(trials=3), embedding_dims=(8,))
    run_here(study, tmp_path, InProcessExecutor(_Leaks()))
    found = rows(tmp_path, study)
    told = found.filter(pl.col("state") == "FAILED").row(0, named=True)
    assert told["message"] == "refused: ***"
    assert told["traceback"].endswith("refused: ***\n")
    assert told["log"] == "logged in with ***\n"
    files = [path for path in (tmp_path / study.name).rglob("*") if path.is_file()]
    kept = found.write_ndjson() + "".join(path.read_bytes().decode("latin") for path in files)
    assert [value for value in SECRETS.values() if value in kept] == []


def test_a_refused_address_is_not_repeated(tmp_path):
    (tmp_path / "x.yaml").write_text("study: x\nlosses: [contrastive]\n")
    hidden = "storage=s3://AKIA0123:verysecret@bucket/x"
    done = podium("run", "x.yaml", "--local", "--set", hidden, cwd=tmp_path)
    assert done.returncode == 2
    assert "s3" in done.stderr
    assert "verysecret" not in done.stdout + done.stderr
