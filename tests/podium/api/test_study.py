"""Studies from Python: loaded from anything, run, stopped and continued, event by event."""

import asyncio
import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
import yaml

import podium
from tests.podium.calling import output_of
from tests.podium.commands.test_run import STUDY as TEXT

KEYS = yaml.safe_load(TEXT)
NUMBERS = ["trial_id", "objective", "test_recall_at_1", "hp.margin"]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The results folder of a whole run where an event loop runs, and the events of it."""
    events = []
    study = podium.load(KEYS, storage=tmp_path_factory.mktemp("told"))

    async def cell():  # as in a notebook
        study.run(local=True, on_event=events.append, progress=False)

    with ThreadPoolExecutor(1) as thread:  # a test that drives a browser leaves a loop in this one
        thread.submit(asyncio.run, cell()).result()
    return study.folder, events


def numbers_in(folder):
    return pl.read_parquet(f"{folder}/**/*.parquet").select(NUMBERS).sort("trial_id")


def problems_of(*args, **keys):
    with pytest.raises(podium.PodiumError) as raised:
        podium.load(*args, **keys)
    return str(raised.value)


def test_a_file_a_mapping_keywords_and_overrides_give_one_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(TEXT)
    of_file = podium.load("tiny.yaml", storage="x")
    assert podium.load(Path("tiny.yaml"), storage=Path("x")) == of_file
    assert podium.load(KEYS, storage="x") == of_file
    assert podium.load(**KEYS | {"storage": "x"}).folder == of_file.folder
    more = {**KEYS, "search": {"trials": 5, "early_stopping": "none"}}
    overridden = podium.load("tiny.yaml", storage="x", overrides=["search.trials=5"])
    assert podium.load(more, storage="x") == overridden
    by_mapping = podium.load("tiny.yaml", storage="x", overrides={"search.trials": 5})
    assert by_mapping == overridden != of_file
    assert repr(of_file) == "Study('tiny', folder='x/tiny')"


def test_problems_of_values_name_their_key_in_place_of_a_line():
    wrong = {
        **KEYS,
        "losses": ["contrastive", {"loss": "proxy_ancor"}],
        "search": {"trials": "many"},
        "serach": {},
    }
    text = problems_of(wrong)
    assert text.startswith("3 problems with the study:")
    assert '\nserach: unknown key; got "serach"; did you mean search?' in text
    assert "\nsearch.trials: search.trials must be a whole number" in text
    assert "\nlosses.1.loss: " in text
    assert "proxy_anchor" in text
    assert "study: losses must be given" in problems_of(study="x")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"losses": object()}, "study: values must be mappings, lists, texts, numbers"),
        ({"losses": [{3: 4}]}, "losses.0.3: unknown key in losses[0]; got"),
        ({"study": "a\0"}, "a key or value must have no zero byte"),
    ],
)
def test_what_no_study_file_can_hold_is_refused(keys, problem):
    assert problem in problems_of({**KEYS, **keys})


@pytest.mark.parametrize(("args", "keys"), [((), {}), (("quickstart",), {"losses": ["triplet"]})])
def test_a_source_and_keywords_do_not_go_together(args, keys):
    assert "overrides={...}" in problems_of(*args, **keys)


def test_paths_of_values_begin_at_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert podium.load({**KEYS, "storage": "mine"}).folder == tmp_path / "mine" / "tiny"


def test_every_trial_is_told_with_the_scores_of_its_row(told):
    folder, events = told
    rows = {row["trial_id"]: row for row in pl.read_parquet(f"{folder}/**/*.parquet").to_dicts()}
    ended = [event for event in events if event.kind == "trial ended"]
    assert {event.trial_id for event in ended} == rows.keys()
    for event in ended:
        row = rows[event.trial_id]
        assert (event.stage, event.state) == (row["stage"], row["state"])
        assert event.seconds == pytest.approx(row["seconds"])
        assert ("test_recall_at_1" in event.scores) == (event.stage != "search")
        in_list = {f"{it['role']}_{it['metric']}": it["value"] for it in row["test_scores"] or ()}
        for name, value in event.scores.items():
            assert {**in_list, **row}[name] == pytest.approx(value)


def test_events_come_in_the_order_of_what_happens(told):
    _, events = told
    kinds = [event.kind for event in events if event.kind != "progress"]
    assert (kinds[0], kinds[-1]) == ("study started", "study ended")
    assert [event.search.name for event in events if event.kind == "search ended"] == [
        *("contrastive", "proxy_anchor"),
    ]
    last = next(event for event in events if event.kind == "search ended")
    told = [
        event.kind
        for event in events[: events.index(last)]
        if event.loss == "contrastive" and event.stage == "search"
    ]
    epochs = KEYS["training"]["epochs"]
    assert told == [*["epoch ended"] * epochs, "trial ended"] * 3
    assert events[0].progress.trials_done == 0
    assert events[-1].progress.trials_done == events[-1].progress.trials_planned


def test_an_error_of_the_callback_stops_the_run_and_the_same_call_continues(told, tmp_path):
    def fail(event):
        if event.kind == "trial ended":
            raise ValueError("enough")

    study = podium.load(KEYS, storage=tmp_path)
    with pytest.raises(ValueError, match="enough"):
        study.run(local=True, on_event=fail, progress=False)
    assert len(numbers_in(study.folder)) == 1
    results = podium.load(study.folder).run(local=True, progress=False)
    assert results.folder == study.folder == study.results().folder
    assert results.name == "tiny"
    assert numbers_in(study.folder).equals(numbers_in(told[0]))


def test_an_interrupt_stops_cleanly_and_says_how_to_continue(tmp_path):
    import signal

    def interrupt(event):
        if event.kind == "trial ended":
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    study = podium.load(KEYS, storage=tmp_path)
    with pytest.raises(KeyboardInterrupt, match="the same call continues") as raised:
        study.run(local=True, on_event=interrupt, progress=False)
    assert isinstance(raised.value, podium.Interrupted)
    assert signal.getsignal(signal.SIGINT) is before
    assert 1 <= len(numbers_in(study.folder)) < 8


def test_progress_and_messages_are_shown_unless_they_are_not_wanted(told, capsys):
    study = podium.load(told[0])
    study.run(local=True)
    assert "All trials of this study are already done." in capsys.readouterr().err
    study.run(local=True, progress=False)
    assert capsys.readouterr() == ("", "")


class _Enough(Exception):
    """Raised to stop a run."""


@pytest.fixture
def started(tmp_path):
    """A study that was stopped before its first trial ended."""
    study = podium.load(KEYS, storage=tmp_path)

    def stop(event):
        raise _Enough

    with pytest.raises(_Enough):
        study.run(local=True, on_event=stop, progress=False)
    return study


@pytest.mark.parametrize("options", [{}, {"difference": 3, "assume": {"spread": 4}}])
def test_a_plan_is_that_of_the_command(tmp_path, capsys, monkeypatch, options):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where other runs leave their seconds
    file = tmp_path / "tiny.yaml"
    file.write_text(TEXT, encoding="utf-8")
    words = ["--storage", tmp_path / "store"]
    words += ["--difference", "3", "--assume", "spread=4"] if options else []
    study = podium.load(file, storage=tmp_path / "store")
    answer, in_full = study.plan(**options), study.plan(**options, full=True)
    assert output_of(capsys, "plan", file, *words) == f"{answer}\n"
    assert output_of(capsys, "plan", file, *words, "--full") == f"{in_full}\n"
    printed = json.loads(output_of(capsys, "plan", file, *words, "--json"))
    assert json.loads(json.dumps(answer.to_dict()).replace("NaN", "null")) == printed
    header, *rows = csv.reader(output_of(capsys, "plan", file, *words, "--csv").splitlines())
    assert header == answer.frame.columns
    assert len(rows) == len(answer.frame) == 2
    assert not (tmp_path / "store").exists()


def test_a_study_that_was_never_started_has_no_results(tmp_path):
    with pytest.raises(podium.PodiumError, match=r"tiny was never started: .* holds no results"):
        podium.load(KEYS, storage=tmp_path).results()


def test_before_the_first_trial_frames_are_empty_and_verdicts_say_what_is_missing(started):
    results = started.results()
    for frame in (results.trials, results.scores.collect(), results.failures()):
        assert frame.is_empty()
        assert "trial_id" in frame.columns
    assert results.select_trials(sort="objective", top=3).is_empty()
    assert results.status().headline.startswith("planned: 0 of ")
    verdicts = {
        "no tested final trial yet": results.tournament,
        "several folds": results.cv,
        "no ended trial of a search yet": results.protocols,
        "complete trials of a search": results.importance,
        "no search of contrastive has a complete trial": lambda: results.best("contrastive"),
        "there are none yet; got contrastive": lambda: results.select_trials(loss="contrastive"),
    }
    for message, ask in verdicts.items():
        with pytest.raises(podium.PodiumError, match=message):
            ask()


def test_results_are_read_while_a_run_holds_them_and_a_second_run_is_refused(started):
    refused, lengths = [], []

    def look(event):
        if event.kind == "trial ended":
            lengths.append(len(started.results().trials))
            with pytest.raises(podium.PodiumError, match="is running this study") as raised:
                started.run(local=True, progress=False)
            refused.append(raised.value)
            raise _Enough

    with pytest.raises(_Enough):
        started.run(local=True, on_event=look, progress=False)
    assert refused
    assert lengths == [1]
