"""The server of the live page, asked by real clients on this machine."""

import http.client
import json
import shutil
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from podium.errors import PodiumError
from podium.live import feed, serving
from podium.live.followed_study import FollowedStudy
from podium.live.serving import LiveServer
from tests.orchestrator.small_study import STUDY, run_here
from tests.podium.live.running_study import LOG, RUNNING, SEARCH, running, stopped_study


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    return stopped_study(tmp_path_factory.mktemp("stopped"))


@pytest.fixture
def folder(tmp_path, stopped):
    return shutil.copytree(stopped, tmp_path / STUDY.name)


class Client:
    """Asks a server; unless told otherwise as its own page does."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.port = parts.port
        self.token = parse_qs(parts.query)["token"][0]

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", f"{path}?token={self.token}", **headers)

    def post(self, wanted, **changed):
        headers = {"Origin": f"http://127.0.0.1:{self.port}", "X_Podium_Token": self.token}
        headers = {name: value for name, value in (headers | changed).items() if value}
        return self.ask("POST", "/control", json.dumps(wanted), **headers)

    @contextmanager
    def stream(self):
        """The records of the stream of events, parsed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", f"/events?token={self.token}")
        answer = connection.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = (line.decode() for line in iter(answer.readline, b""))
        try:
            found = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
            yield (record for record in found if record != {"age": None})
        finally:
            answer.close()
            connection.close()


@contextmanager
def served(folder, **options):
    with LiveServer(folder, **options) as server:
        yield Client(server.url)


@pytest.fixture
def client(folder):
    with served(folder) as found:
        yield found


def test_the_page_needs_the_token(client):
    assert client.get("/").status == 200
    wrong = client.token[:-1] + ("A" if client.token[-1] != "A" else "B")
    for path in ("/", "/events", f"/log/{RUNNING.trial_id}", "/control", "/elsewhere"):
        for query in ("", "?token=", f"?token={wrong}", "?token=%C3%A9", f"?Token={client.token}"):
            answer = client.ask("GET", path + query)
            assert (answer.status, client.token in answer.text) == (403, False)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::1]", ""])
def test_another_name_of_this_machine_is_refused(client, host):
    assert client.get("/", Host=host).status == 400
    assert client.get("/", Host=f"localhost:{client.port}").status == 200


def test_the_page_runs_its_own_scripts_alone_and_no_other_site_may_read_it(client):
    answer = client.get("/", Origin="http://evil.example")
    policy = dict(
        part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; ")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert all(source.startswith("'sha256-") for source in policy["script-src"].split())
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_the_server_listens_on_this_machine_alone(client):
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    for address in others - {"127.0.0.1", "::1"}:
        with pytest.raises(OSError, match=r"refused|timed out|[Uu]nreachable"):
            socket.create_connection((address, client.port), timeout=1)


def test_without_control_nothing_is_written(client, folder):
    answer = client.post({"pause": True})
    assert (answer.status, "only reads" in answer.text) == (403, True)
    assert not (folder / "control.yaml").exists()
    assert client.ask("DELETE", f"/?token={client.token}").status == 403
    origin = {"Origin": f"http://127.0.0.1:{client.port}", "X_Podium_Token": client.token}
    assert client.ask("PUT", "/control", "{}", **origin).status == 405


def test_the_page_controls_a_study_as_commands_do(folder):
    with served(folder, may_control=True) as client:
        assert client.post({"pause": True}).text == "paused\n"
        assert client.post({"max_concurrent": 3}).status == 200
        assert "cancelled" in client.post({"cancel": SEARCH}).text
        cancelled = "cancel:\n- glyphs-greek/conv_small/8 contrastive\n"
        written = f"max_concurrent: 3\n{cancelled}pause: true\n"
        assert (folder / "control.yaml").read_text() == written
        for change in ({"undo_cancel": SEARCH}, {"pause": False}, {"max_concurrent": None}):
            assert client.post(change).status == 200
        assert (folder / "control.yaml").read_text() == "{}\n"


@pytest.mark.parametrize(
    "wanted",
    [
        *(
            {"pause": "yes"},
            {"max_concurrent": 0},
            {"max_concurrent": True},
            {"cancel": "nothing"},
        ),
        *({"cancel": 3}, {"budget": {}}, {}, {"pause": True, "cancel": SEARCH}, [1], "x" * 5000),
    ],
)
def test_a_wrong_change_is_refused_and_nothing_is_written(folder, wanted):
    with served(folder, may_control=True) as client:
        assert client.post(wanted).status == 400
        assert not (folder / "control.yaml").exists()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"X_Podium_Token": None},
        {"X_Podium_Token": "guess"},
    ],
)
def test_other_pages_cannot_control_a_study(folder, headers):
    with served(folder, may_control=True) as client:
        assert client.post({"pause": True}, **headers).status == 403
        assert not (folder / "control.yaml").exists()


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


def test_the_stream_brings_everything_and_then_what_changes(client, folder, tmp_path):
    with client.stream() as records:
        whole = next(records)
        assert whole["study"]["state"] == "stopped"
        assert set(whole) > {"totals", "searches", "curves", "spent", "failures", "control"}
        with running(folder):
            changed = next(records)
            assert changed["totals"]["running"] == 1
            assert list(changed["searches"]) == [SEARCH]
            assert "spent" not in changed
        run_here(STUDY, tmp_path)
        done = whole["totals"]["done"]
        while done < whole["totals"]["planned"] and not changed.get("study", {}).get("is_over"):
            changed = next(records)
            done = changed.get("totals", {"done": done})["done"]
        assert done > whole["totals"]["done"]


def test_what_is_wrong_with_the_folder_is_said_and_the_server_goes_on(client, folder):
    text = (folder / "study.yaml").read_text()
    (folder / "control.yaml").write_text("max_concurrent: 0\n")
    with client.stream() as records:
        whole = next(records)
        assert "at least 1; got 0" in whole["problem"]
        assert whole["study"]["name"] == STUDY.name
        (folder / "control.yaml").unlink()
        assert next(records) == {"problem": None, "age": None}
    assert (folder / "study.yaml").read_text() == text


def test_a_folder_that_is_away_for_a_while_is_told_and_followed_again(client, folder, tmp_path):
    with client.stream() as records:
        next(records)
        folder.rename(tmp_path / "away")
        assert str(folder) in next(records)["problem"]
        (tmp_path / "away").rename(folder)
        assert next(records)["problem"] is None
        with running(folder):
            assert next(records)["totals"]["running"] == 1


def test_a_fault_of_podium_is_told_and_reading_goes_on(client, folder, monkeypatch):
    monkeypatch.setattr(feed, "view_record", lambda view: {}["lost"])
    with client.stream() as records:
        assert "KeyError('lost')" in next(records)["problem"]
        monkeypatch.undo()
        changed = next(records)
        assert (changed["problem"], changed["study"]["name"]) == (None, STUDY.name)


def test_pages_are_told_how_old_what_they_show_is_while_reading_takes_long(folder, monkeypatch):
    monkeypatch.setattr(feed, "_OLD_SECONDS", -2.5)  # half a second, as local folders are read
    monkeypatch.setattr(feed, "_KEEP_ALIVE_SECONDS", 0.2)
    goes_on = threading.Event()
    with served(folder) as client, client.stream() as records:
        next(records)
        look = FollowedStudy.view
        monkeypatch.setattr(FollowedStudy, "view", lambda it: goes_on.wait(20) and look(it))
        old = next(record for record in records if record["age"])
        assert old.keys() == {"age"}
        goes_on.set()
        time.sleep(1.0)
        with running(folder):
            assert any(record["age"] is None for record in records)


def test_several_pages_are_served_at_once_and_share_one_reading(folder, monkeypatch):
    num_views = []
    look = FollowedStudy.view
    monkeypatch.setattr(FollowedStudy, "view", lambda it: num_views.append(it) or look(it))
    with served(folder) as client, ExitStack() as stack:
        pages = [stack.enter_context(client.stream()) for _ in range(8)]
        firsts = [next(records) for records in pages]
        assert all(first == firsts[0] for first in firsts)
        before = len(num_views)
        with running(folder):
            assert all(next(records)["totals"]["running"] == 1 for records in pages)
        assert len(num_views) - before < len(pages)


def test_the_page_of_a_study_that_has_ended_is_its_report_in_a_sandbox(folder, tmp_path):
    run_here(STUDY, tmp_path)
    with served(folder) as client:
        assert "live.js" not in client.get("/").text
        (folder / "report.html").write_text("<title>the report</title>")
        answer = client.get("/")
        assert answer.text == "<title>the report</title>"
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox ")
        assert "allow-same-origin" not in policy
        assert "default-src 'none'" in policy
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_open_pages_get_the_last_record_before_the_server_ends(folder, tmp_path):
    with served(folder) as client, client.stream() as records:
        next(records)
        run_here(STUDY, tmp_path)
        began = time.monotonic()
    assert time.monotonic() - began < 5.0


def test_ctrl_c_ends_the_server_at_once_with_pages_open(folder):
    with ExitStack() as pages:
        with suppress(KeyboardInterrupt), served(folder) as client:
            for _ in range(3):
                next(pages.enter_context(client.stream()))
            began = time.monotonic()
            raise KeyboardInterrupt
        assert time.monotonic() - began < 6.0


def test_storage_that_hangs_does_not_hold_who_ends_the_server(folder, monkeypatch):
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 0.5)
    goes_on = threading.Event()
    with ExitStack() as pages:
        with served(folder) as client:
            records = pages.enter_context(client.stream())
            next(records)
            look = FollowedStudy.view
            monkeypatch.setattr(FollowedStudy, "view", lambda it: goes_on.wait(60) and look(it))
            time.sleep(2.0)
            began = time.monotonic()
        assert time.monotonic() - began < 6.0
        goes_on.set()


def test_nothing_is_read_while_no_page_is_open_and_a_study_may_begin_later(tmp_path):
    with served(tmp_path / STUDY.name) as client:
        assert client.get("/").status == 200
        run_here(STUDY, tmp_path)
        with client.stream() as records:
            assert next(records)["study"]["state"] == "complete"


def test_a_port_that_is_taken_is_refused(folder):
    with served(folder) as client, pytest.raises(PodiumError, match=f"--port {client.port} "):
        LiveServer(folder, port=client.port)
