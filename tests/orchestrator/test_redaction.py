import json
import os
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, quote_plus

import polars as pl
import pytest

from orchestrator import redaction
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


_LINES = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PRIVATE_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{_LINES}\n-----END RSA PRIVATE KEY-----"
RAY_TOKEN = "0123456789abcdef" * 4


@pytest.mark.parametrize("value", SECRETS.values())
def test_values_of_secret_variables_are_masked(value):
    assert redacted(f"before {value} after", SECRETS) == "before *** after"


# Variable -> its value and what of it is masked.
SECRET_VARIABLES = {
    "GITHUB_PAT": ("abcd1", "abcd1"),
    "DATABASE_PASS": ("okapi", "okapi"),
    "MYSQL_PWD": ("okapi", "okapi"),
    "SSHPASS": ("okapi", "okapi"),
    "dbPassword": ("okapi", "okapi"),
    "AZURE_STORAGE_CONNECTION_STRING": ("AccountName=a;AccountKey=gnu+1/2=", "gnu+1/2="),
    "NETRC_AUTH": ("somebody:ibex77", "ibex77"),
    "SENTRY_DSN": ("https://ibex77@sentry.example/1", "ibex77"),
    "DATABASE_URL": ("postgresql://me:pw12345@db.example/x", "pw12345"),
    "https_proxy": ("http://me:pw12345@proxy.example:3128", "pw12345"),
    "SLACK_WEBHOOK_URL": ("https://hooks.example/T0/B0/xyz1", "https://hooks.example/T0/B0/xyz1"),
    "DEPLOY_KEY": (PRIVATE_KEY, PRIVATE_KEY),
    "ANYTHING": ('{"client_secret": "ibex77"}', "ibex77"),
    "MAIL_PASSWORD": ("918273", "918273"),
}


@pytest.mark.parametrize("name", SECRET_VARIABLES)
def test_every_kind_of_secret_variable_is_known_by_its_name_or_its_content(name):
    value, secret = SECRET_VARIABLES[name]
    shown = redacted(f"told '{secret}', again\n{secret}.", {name: value})
    assert shown == "told '***', again\n***."


def test_a_secret_is_masked_in_the_spellings_of_python_json_and_urls():
    value = 'a"b\nc/d e'
    told = f"{value} {value!r} {json.dumps(value)} {quote_plus(value)} {quote(value, safe='')}"
    assert redacted(told, {"X_SECRET": value}) == "*** '***' \"***\" *** ***"


@pytest.mark.parametrize("name", ["RAY_AUTH_TOKEN_PATH", "DB_PASSWORD_FILE", "X_CREDENTIALS"])
def test_what_a_file_of_secrets_holds_is_masked(name, tmp_path):
    file = tmp_path / "place"
    file.write_text(f"{RAY_TOKEN}\n")
    shown = redacted(f"{RAY_TOKEN} of {file}", {name: str(file)})
    assert shown == f"*** of {file}"


def test_the_token_of_a_joined_ray_is_masked(tmp_path):
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text(RAY_TOKEN)
    assert redacted(f"refused {RAY_TOKEN}", {"HOME": str(tmp_path)}) == "refused ***"


def test_of_a_file_of_credentials_only_the_secrets_are_masked(tmp_path):
    file = tmp_path / "service.json"
    file.write_text(json.dumps({"private_key": PRIVATE_KEY, "client_email": "me@example.com"}))
    environment = {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}
    shown = redacted(f"{PRIVATE_KEY} me@example.com {file}", environment)
    assert shown == f"*** me@example.com {file}"


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
        "RAY_AUTH_TOKEN_PATH": "/tmp/podium-token-x/token",
        "RAY_AUTH_MODE": "token",
        "SSH_AUTH_SOCK": "/tmp/agent.1",
        "AWS_SECRET_NAME": "production",
        "HOME": "/home/somebody",
        "USER": "somebody",
        "ADMIN_PASSWORD": "somebody",
        "PWD": "/work",
        "TOKENIZER": "word",
        "TOKENIZERS_PARALLELISM": "false",
        "KEYBOARD": "qwertz",
        "USE_TOKEN": "true",
        "MAX_TOKENS": "4096",
        "SORT_KEY": "1",
        "SHORT_KEY": "abc",
        "EMPTY_SECRET": "",
        "BLANK_SECRET": "   ",
        "X_SECRET_FOLDER": "somewhere",
    }
    text = (
        "podium run study.yaml --storage s3://bucket/a@b --set search.trials=8 of qwertz in "
        "/home/somebody and /tmp/podium-token-x/token; word; true false 1 4096 abc production"
        " tokenizer=word; key=3; a:b@c somewhere /work /tmp/agent.1"
    )
    assert redacted(text, environment) == text


def test_short_values_and_numbers_are_masked_as_whole_words_only():
    environment = {"X_TOKEN": "glyph", "PIN_KEY": "123456", "LONG_TOKEN": "glyphglyph"}
    text = "glyph glyphs 'glyph' x\\nglyph 123456 0.123456 1234567 123456.7 xglyphglyphx"
    shown = "*** glyphs '***' x\\n*** *** 0.123456 1234567 123456.7 x***x"
    assert redacted(text, environment) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://key:secret@bucket/x", "s3://***@bucket/x"),
        ("s3://key:se/cr+et@bucket/x", "s3://***@bucket/x"),
        ("https://ghp_token@github.com/x", "https://***@github.com/x"),
        ("https://h/x?X-Amz-Signature=abc&y=1", "https://h/x?X-Amz-Signature=***&y=1"),
        ("--set x.api_key=abc --local", "--set x.api_key=*** --local"),
        ("PASSWORD=abc", "PASSWORD=***"),
        ("--password abc --local", "--password *** --local"),
        ("--token abc", "--token ***"),
        ("Bearer x", "Bearer ***"),
        ("Authorization: Basic bWU6eA==", "Authorization: Basic ***"),
        ("{'authorization': 'token x'}", "{'authorization': 'token ***'}"),
        ("(b'x-api-key', b'x')", "(b'x-api-key', b'***')"),
        ("{'password': 'x'}", "{'password': '***'}"),
        ('{"password": "x", "user": "me"}', '{"password": "***", "user": "me"}'),
        ('{\\"password\\": \\"x\\"}', '{\\"password\\": \\"***\\"}'),
        ("{b'password': b'x'}", "{b'password': b'***'}"),
        ("password: x", "password: ***"),
        ("db_password = 'correct horse'", "db_password = '***'"),
        ("connect(user='me', password='x', port=3)", "connect(user='me', password='***', port=3)"),
        ("os.environ['API_KEY'] = 'x'", "os.environ['API_KEY'] = '***'"),
        ("DATABASE_PASS=x", "DATABASE_PASS=***"),
        ("client-secret: x", "client-secret: ***"),
        ("'token': 'x'", "'token': '***'"),
        ("token: 9f8e7d6c5b4a", "token: ***"),
        ("Server=h;Password=x;Port=3", "Server=h;Password=***;Port=3"),
        ("AccountKey=x;EndpointSuffix=y", "AccountKey=***;EndpointSuffix=y"),
        ("machine h login me password x", "machine h login me password ***"),
        ("//registry/:_authToken=x1", "//registry/:_authToken=***"),
        (f"a {PRIVATE_KEY} b", "a *** b"),
        (f"a {PRIVATE_KEY!r} b", "a '***' b"),
        (f"cut: {PRIVATE_KEY[:60]}", "cut: ***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        (f"ghp_{'a1B2' * 9}", "***"),
        (f"github_pat_{'a1B2' * 9}", "***"),
        (f"glpat-{'a1B2' * 6}", "***"),
        (f"hf_{'a1B2' * 9}", "***"),
        (f"sk-proj-{'a1B2' * 9}", "***"),
        (f"AIza{'a1B2' * 8}abc", "***"),
        ("xoxb-12-34-ab", "***"),
        (f"sk_live_{'a1B2' * 6}", "***"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_", "***"),
    ],
)
def test_secrets_are_known_by_their_form_and_place(text, shown):
    assert redacted(text, {}) == shown
    assert redacted(shown, {}) == shown


@pytest.mark.parametrize(
    "text",
    [
        "num_tokens=5, tokens: 7, max_token: 5, token_budget=3, 'token': 5",
        "key: margin; key=margin; KeyError: 'password'; keys ['token', 'x']",
        "the token budget; a bearer of news; basic training; Bearer token missing",
        "the password is wrong; password: None; secrets = []; auth: off; bypass=1; compass: 3",
        "size mismatch for cls_token: copying a param with shape torch.Size([1, 1, 192])",
        'Missing key(s) in state_dict: "cls_token", "pos_embed".',
        "    connect(user, password=self.password, token=token, api_key=get_api_key())",
        '    connect(password=os.environ["DB_PASS"], secret=config.secret)',
        "    def login(user, password: str, token: str | None = None):",
        '    raise ValueError(f"password: {password}, token={self._token}")',
        "    token = next(tokens)",
        "    token, rest = text.split()",
        '  File "/home/me/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1',
        "trial 3f2a9c0d1e4b5a69 of search 0123456789abcdef0123456789abcdef",
        f"sha256 {'0123456789abcdef' * 4}, sha256={'fedcba9876543210' * 4}",
        "http://127.0.0.1:8080/x, s3://bucket/a@b, me@example.com",
        "lr=1e-3, weight_decay: 0.0001, multi_similarity+softmax, search.trials=8",
        "signature: (x: int) -> y; forward pass: ok; PWD=/home/me; tokenizer=word",
        "RAY_AUTH_MODE=disabled RAY_AUTH_TOKEN_PATH=/tmp/podium-token-x/token",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redacted(text, {}) == text


def test_the_source_of_podium_in_a_traceback_stays():
    source = Path(redaction.__file__).with_name("worker").joinpath("worker.py").read_text()
    assert redacted(source, {}) == source


# Were the rest of the line searched again from each of its characters, this would take hours.
@pytest.mark.parametrize(
    "piece",
    [
        *("a", " ", "0", "\n", "\\n", "-", "=", "'", "a.", "://", "://a:", "://a"),
        *("token", "token: ", "password=", 'password:"', "password=a,", "secret(", "--token "),
        *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "Bearer ", "bearer a", "Authorization:"),
        *("login a password ", '("a', "aws key ", "eyJ", "eyJaaaa.", "eyJaaaaa-", "sk-", "sk-a"),
        *("xoxb-1-", "glpat-", "gh", "hf_a", "M", "SG.", "us1-", "0:", "pypi-AgEIcHlwaS5vcmc"),
    ],
)
def test_a_long_line_is_searched_in_linear_time(piece):
    redacted(piece * (300_000 // len(piece)), {})


def test_provenance_holds_no_secret(monkeypatch):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    words = ["run", "x.yaml", "--set", "storage=s3://key:secret@bucket", *SECRETS.values()]
    monkeypatch.setattr("sys.argv", ["/bin/podium", *words])
    kept = json.dumps(provenance())
    assert "podium run x.yaml --set storage=s3://***@bucket ***" in kept
    assert [value for value in ("key:secret", *SECRETS.values()) if value in kept] == []


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
