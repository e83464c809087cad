"""``podium status --watch`` and ``--web``, as a user gives them."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest

from tests.orchestrator.ray_cluster import ROOT
from tests.orchestrator.small_study import STUDY, InterruptedAfter, run_here
from tests.podium.calling import call, output_of
from tests.podium.real_runs import TINY_STUDY, command


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


@contextmanager
def asked(url, path="/"):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    with closing(connection):
        connection.request("GET", f"{path}?{parts.query}")
        with connection.getresponse() as answer:
            yield answer


def records(answer):
    """The records of the page's stream, one after the other."""
    for line in iter(answer.readline, b""):
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


@pytest.fixture
def study_file(tmp_path):
    (tmp_path / "study.yaml").write_text(TINY_STUDY)
    return tmp_path / "study.yaml"


def test_a_run_is_watched_from_its_first_trial_to_its_end(study_file, tmp_path):
    running = started("run", study_file, "--local", "--storage", tmp_path)
    watching = None
    try:
        while not list(tmp_path.glob("*/store.json")):
            assert running.poll() is None
            time.sleep(0.05)
        watching = started("status", study_file, "--web", "--storage", tmp_path)
        states, done = [], []
        with asked(address_in(watching, watching.stdout), "/events") as answer:
            for record in records(answer):
                states += [record["study"]["state"]] if "study" in record else []
                done += [record["totals"]["done"]] if "totals" in record else []
        _, err = running.communicate(timeout=120)
    finally:
        running.kill()
        if watching is not None:
            watching.kill()
    assert running.returncode == 0, err
    assert states[-1] == "complete"
    assert done == sorted(done)


def test_watching_serves_a_finished_study_until_ctrl_c(tmp_path):
    run_here(STUDY, tmp_path)
    (tmp_path / STUDY.name / "report.html").write_text("<title>the report</title>")
    watching = started("status", tmp_path / STUDY.name, "--web")
    try:
        url = address_in(watching, watching.stdout)
        with asked(url) as answer:
            assert answer.read() == b"<title>the report</title>"
        watching.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, err = watching.communicate(timeout=60)
    finally:
        watching.kill()
    assert watching.returncode == 3
    assert err.startswith("Stopped.")
    assert time.monotonic() - began < 10


def test_without_a_page_it_says_how_far_a_study_is_that_does_not_run(capsys, tmp_path):
    run_here(STUDY, tmp_path, InterruptedAfter(12))
    folder = tmp_path / STUDY.name
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))
    said = output_of(capsys, "status", folder, "--watch")
    assert re.match(r"small is not running \(stopped\): \d+ of 44 trials done", said)
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


def test_a_folder_without_a_study_is_refused_before_anything_is_served(capsys, tmp_path):
    refused = call(capsys, "status", tmp_path, "--web")
    assert refused.code == 2
    assert "Watch: " not in refused.out
