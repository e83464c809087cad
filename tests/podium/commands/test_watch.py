"""``podium watch`` and ``podium run --web``, as a user gives them."""

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


def test_a_run_is_watched_from_its_first_trial_to_its_report(study_file, tmp_path):
    running = started("run", study_file, "--local", "--web", "--storage", tmp_path)
    try:
        url = address_in(running, running.stderr)
        states, done = [], []
        with asked(url, "/events") as answer:
            for record in records(answer):
                states += [record["study"]["state"]] if "study" in record else []
                done += [record["totals"]["done"]] if "totals" in record else []
        out, err = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 0, err
    assert states[-1] == "complete"
    assert "running" in states
    assert done == sorted(done)
    assert len(set(done)) > 1
    assert "Report: " in out


def test_ctrl_c_stops_a_watched_run_as_any_other(study_file, tmp_path):
    running = started("run", study_file, "--local", "--web", "--storage", tmp_path)
    try:
        with asked(address_in(running, running.stderr), "/events") as answer:
            stream = records(answer)
            while next(stream).get("study", {}).get("state") != "running":
                pass
            running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 3
    assert f"Stopped. To continue: podium run {study_file} --local" in err
    assert "--web" in err
    assert "Traceback" not in err


def test_watching_serves_a_finished_study_until_ctrl_c(tmp_path):
    run_here(STUDY, tmp_path)
    (tmp_path / STUDY.name / "report.html").write_text("<title>the report</title>")
    watching = started("watch", tmp_path / STUDY.name, "--web")
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
    said = output_of(capsys, "watch", folder)
    assert re.match(r"small is not running \(stopped\): \d+ of 44 trials done", said)
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--port", "8000"), "--port goes with --web"),
        (("--control",), "--control goes with --web"),
    ],
)
def test_options_of_the_page_need_the_page(capsys, tmp_path, study_file, given, told):
    for words in (("watch", tmp_path), ("run", study_file, "--local")):
        refused = call(capsys, *words, *given)
        assert refused.code == 2
        assert told in refused.err


def test_a_folder_without_a_study_is_refused_before_anything_is_served(capsys, tmp_path):
    refused = call(capsys, "watch", tmp_path, "--web")
    assert refused.code == 2
    assert "Watch: " not in refused.out
