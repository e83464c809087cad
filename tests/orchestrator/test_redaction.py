import json
from dataclasses import replace

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


@pytest.mark.parametrize("value", SECRETS.values())
def test_values_of_secret_variables_are_hidden(value):
    assert redacted(f"before {value} after", SECRETS) == "before *** after"


def test_what_is_no_secret_stays():
    environment = {
        "RAY_AUTH_TOKEN_PATH": "/tmp/podium-token-x/token",
        "HOME": "/home/somebody",
        "TOKENIZER": "word",
        "SHORT_TOKEN": "glyphs",
    }
    text = (
        "podium run study.yaml --storage s3://bucket/a@b --set search.trials=8 of glyphs in "
        "/home/somebody and /tmp/podium-token-x/token; word; tokenizer=word; key=3; a:b@c"
    )
    assert redacted(text, environment) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://key:secret@bucket/x", "s3://***@bucket/x"),
        ("s3://key:se/cr+et@bucket/x", "s3://***@bucket/x"),
        ("https://ghp_token@github.com/x", "https://***@github.com/x"),
        ("https://h/x?X-Amz-Signature=abc&y=1", "https://h/x?X-Amz-Signature=***&y=1"),
        ("--set x.api_key=abc --local", "--set x.api_key=*** --local"),
        ("PASSWORD=abc", "PASSWORD=***"),
    ],
)
def test_secrets_are_known_by_their_place(text, shown):
    assert redacted(text, {}) == shown


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
