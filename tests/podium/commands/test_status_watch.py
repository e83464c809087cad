"""``podium status --watch`` and ``--web``, as a user gives them."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.small_study import STUDY, InterruptedAfter, run_here
from tests.podium.calling import output_of
from tests.podium.real_runs import TINY_STUDY, command
from tests.podium.warm_process import Started


def address_in(process, stream):
    """The address that a command prints, line by line on a stream of its process."""
    for line in stream:
        if found := re.match(r"Watch: (http://127\.0\.0\.1:\d+/\?token=\S+)", line):
            return found[1]
    raise AssertionError(f"no address: {process.wait()}")


def started(*arguments):
    return subprocess.Popen(
        command(*arguments),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def asked(url, path="/"):
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=60)) as connection:
        connection.request("GET", f"{path}?{parts.query}")
        return connection.getresponse().read()


@pytest.fixture
def study_file(tmp_path):
    (tmp_path / "study.yaml").write_text(TINY_STUDY)
    return tmp_path / "study.yaml"


def test_a_run_is_watched_from_its_first_trial_to_its_end(study_file, tmp_path):
    running = Started("run", study_file, "--local", "--storage", tmp_path, cwd=tmp_path)
    while not list(tmp_path.glob("*/store.json")):
        time.sleep(0.05)
    with started("status", study_file, "--web", "--storage", tmp_path) as watching:
        url = address_in(watching, watching.stdout)
        done = []
        while not done or done[-1]["state"] in ("running", "planned"):
            done.append(json.loads(asked(url, "/study")))
            time.sleep(0.2)
        watching.kill()
    assert running.end().returncode == 0
    assert done[-1]["state"] == "complete"
    counts = [it["progress"]["trials_done"] for it in done]
    assert counts == sorted(counts)


def test_the_page_is_served_until_ctrl_c(tmp_path):
    run_here(STUDY, tmp_path, InterruptedAfter(12))
    with started("status", tmp_path / STUDY.name, "--web") as watching:
        url = address_in(watching, watching.stdout)
        assert b"<!doctype html>" in asked(url)
        watching.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, err = watching.communicate(timeout=60)
    assert watching.returncode == 3
    assert err.startswith("Stopped.")
    assert time.monotonic() - began < 10


def test_without_a_page_it_says_how_far_a_study_is_that_does_not_run(capsys, tmp_path):
    run_here(STUDY, tmp_path, InterruptedAfter(12))
    folder = tmp_path / STUDY.name
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))
    said = output_of(capsys, "status", folder, "--watch")
    assert re.match(r"small is not running \(stopped\): \d+ of 45 trials done", said)
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("STUDY", "--port", "8000"), "--port goes with --web"),
        (("--web",), "--watch and --web need a study"),
    ],
)
def test_options_of_the_page_need_the_page_and_a_study(capsys, tmp_path, given, told):
    words = [tmp_path if word == "STUDY" else word for word in given]
    assert told in output_of(capsys, "status", *words, code=2)
