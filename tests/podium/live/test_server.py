"""The server of the live page, asked by real clients on this machine."""

import http.client
import json
import socket
import threading
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from podium.errors import PodiumError
from podium.live.followed_study import FollowedStudy
from podium.live.server import LiveServer
from podium.orchestrator.results.records.store_paths import StudyPaths
from tests.orchestrator.small_study import STUDY
from tests.podium.live.running_study import LOG, RUNNING


class Client:
    """Asks a server as its own page does."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.port = parts.port
        self.token = parse_qs(parts.query)["token"][0]

    def ask(self, method, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", f"{path}?token={self.token}", **headers)

    def record(self):
        return json.loads(self.get("/study").text)


@contextmanager
def served(folder, **options):
    with LiveServer(folder, **options) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield Client(server.url)
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def client(folder, monkeypatch):
    monkeypatch.setattr("podium.live.server._READ_SECONDS", 0.0)
    monkeypatch.setattr("podium.live.server._REST", 0)
    with served(folder) as found:
        yield found


def test_everything_needs_the_token(client):
    assert client.get("/").status == 200
    wrong = client.token[:-1] + ("A" if client.token[-1] != "A" else "B")
    for path in ("/", "/study", "/report", f"/log/{RUNNING.trial_id}", "/elsewhere"):
        for query in ("", "?token=", f"?token={wrong}", "?token=%C3%A9", f"?Token={client.token}"):
            answer = client.ask("GET", path + query)
            assert (answer.status, client.token in answer.text) == (403, False)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::1]", ""])
def test_another_name_of_this_machine_is_refused(client, host):
    assert client.get("/", Host=host).status == 400
    assert client.get("/", Host="localhost:8700").status == 200  # forwarded by SSH


def test_the_page_runs_its_own_script_alone_and_no_other_site_may_read_it(client):
    answer = client.get("/", Origin="http://evil.example")
    policy = dict(
        part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["script-src"].startswith("'sha256-")
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert 'rel="noopener noreferrer"' in answer.text


def test_the_server_listens_on_this_machine_alone(client):
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    for address in others - {"127.0.0.1", "::1"}:
        with pytest.raises(OSError, match=r"refused|timed out|[Uu]nreachable"):
            socket.create_connection((address, client.port), timeout=1)


def test_nothing_can_be_written(client, folder):
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*"))
    for method in ("POST", "PUT", "DELETE"):
        assert client.ask(method, f"/study?token={client.token}").status == 501
    client.record()
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*")) == before


def test_logs_are_shown_without_secrets_and_nothing_else_is(client, folder, monkeypatch):
    monkeypatch.setenv("WANDB_API_KEY", "kq3v9x7w2m5b8n4c")
    logs = StudyPaths(folder).trial_logs
    logs.mkdir(parents=True, exist_ok=True)
    (logs / f"{RUNNING.trial_id}.log").write_text(LOG + "key kq3v9x7w2m5b8n4c\n")
    shown = client.get(f"/log/{RUNNING.trial_id}").text
    assert "epoch 2" in shown
    assert "kq3v9x7w2m5b8n4c" not in shown
    for path in ("/log/none", "/log/..%2F..%2Fstore.json", "/log/../../store.json", "/store.json"):
        answer = client.get(path)
        assert (answer.status, "sha256" in answer.text) == (404, False)
    (logs / "linked.log").symlink_to(folder / "store.json")
    assert client.get("/log/linked").status == 500


def test_what_is_wrong_with_the_folder_is_said_and_the_server_goes_on(client, folder, tmp_path):
    (folder / "control.yaml").write_text("max_concurrent: 0\n")
    assert "greater than or equal to 1; got 0" in client.record()["changes"]
    (folder / "control.yaml").unlink()
    folder.rename(tmp_path / "away")
    away = client.record()
    assert str(folder) in away["problem"]
    assert away["name"] == STUDY.name
    (tmp_path / "away").rename(folder)
    assert client.record()["problem"] == ""


def test_pages_share_one_reading_and_are_told_how_old_it_is(client, monkeypatch):
    client.record()
    goes_on, look = threading.Event(), FollowedStudy.view
    monkeypatch.setattr(FollowedStudy, "view", lambda it: goes_on.wait(20) and look(it))
    slow = threading.Thread(target=client.record)
    slow.start()
    threading.Event().wait(1.5)
    assert client.record()["age"] >= 1  # at once, while the other waits
    goes_on.set()
    slow.join()


def test_the_report_is_sent_in_a_sandbox(client, folder):
    assert client.get("/report").status == 404
    assert not client.record()["has_report"]
    (folder / "report.html").write_text("<title>the report</title>")
    assert client.record()["has_report"]
    answer = client.get("/report")
    assert answer.text == "<title>the report</title>"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox ")
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_port_that_is_taken_is_refused(folder, client):
    with pytest.raises(PodiumError, match=f"--port {client.port} "):
        LiveServer(folder, port=client.port)
