"""export of a whole study: journal, runs of TensorBoard and flat tables."""

import struct
from pathlib import Path

import polars as pl
import pytest
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData
from tensorboardX.record_writer import masked_crc32c

from podium.analysis.scores.flat_tables import TABLES
from podium.live.trial_logs import OBJECTIVE_TAG
from podium.orchestrator.results.trial_files.reader import Reader
from tests.podium.calling import call
from tests.podium.test_optuna_journal import all_trials, search_rows


def events_of(file):
    """Every event, each checksum verified as TensorBoard does."""
    data = file.read_bytes()
    events = []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12]) == (masked_crc32c(data[:8]),)
        record, data = data[12 : 12 + length], data[12 + length :]
        assert struct.unpack("<I", data[:4]) == (masked_crc32c(record),)
        events.append(Event.FromString(record))
        data = data[4:]
    return events


def scalars_of(events):
    """(tag, step) -> value."""
    return {
        (value.tag, event.step): value.simple_value
        for event in events
        for value in event.summary.value
        if value.HasField("simple_value")
    }


def plugin_contents(events):
    """What the plug-in for hyperparameters reads, by tag."""
    return {
        value.tag: HParamsPluginData.FromString(value.metadata.plugin_data.content)
        for event in events
        for value in event.summary.value
        if value.metadata.plugin_data.plugin_name == "hparams"
    }


# Options for each kind of table.
AS = {"parquet": (), "csv": ("--csv",)}


def event_files(folder):
    return sorted(folder.rglob("*tfevents*"))


def runs_of(folder):
    """SEARCH/STAGE-TRIAL_ID -> its events."""
    return {str(file.parent.relative_to(folder)): events_of(file) for file in event_files(folder)}


def test_a_journal_is_written_and_reported(capsys, finished_study, tmp_path):
    journal = tmp_path / "journal.log"
    called = call(capsys, "export", "optuna", finished_study, "--output", journal)
    num = len(search_rows(finished_study))
    assert called.code == 0
    assert f": {num} trials" in called.out
    assert f"optuna-dashboard {journal}" in called.out
    assert len(all_trials(journal)) == num


def test_every_trial_is_a_run_with_its_scores(capsys, finished_study, tmp_path):
    assert call(capsys, "export", "tensorboard", finished_study, "--output", tmp_path).code == 0
    trials = Reader(finished_study).trials().collect()
    scores = Reader(finished_study).scores().collect().partition_by("trial_id", as_dict=True)
    runs = runs_of(tmp_path)
    assert len(runs) == len(trials)
    assert not (tmp_path / ".part").exists()
    for row in trials.iter_rows(named=True):
        events = runs[f"{row['search']}/{row['stage']}-{row['trial_id']}"]
        assert events[0].file_version == "brain.Event:2"
        expected = {
            (_tag(score), score["epoch"]): struct.unpack("f", struct.pack("f", score["value"]))[0]
            for score in scores[row["trial_id"],].to_dicts()
        }
        found = scalars_of(events)
        objective = {key: found.pop(key) for key in list(found) if key[0] == OBJECTIVE_TAG}
        assert found == expected
        assert {tag.split("/")[0] for tag, _ in found} <= {"train", "val"}
        known = {} if row["loss"] == "features" else {row["epochs_run"]: row["objective"]}
        assert objective == pytest.approx({(OBJECTIVE_TAG, at): it for at, it in known.items()})
        contents = plugin_contents(events)
        values = contents["_hparams_/session_start_info"].session_start_info.hparams
        assert values["loss"].string_value == row["loss"]
        assert values["seed"].number_value == row["seed"]
        if row["hp.margin"] is not None:
            assert values["margin"].number_value == row["hp.margin"]
        shown = contents["_hparams_/experiment"].experiment.metric_infos
        assert [metric.name.tag for metric in shown] == [OBJECTIVE_TAG]


def _tag(score):
    k = "" if score["k"] is None else f"_at_{score['k']}"
    return f"{score['role']}/{score['metric']}{k}"


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_tables_are_those_of_the_reader(capsys, finished_study, tmp_path, kind):
    called = call(capsys, "export", "tables", finished_study, *AS[kind], "--output", tmp_path)
    assert called.code == 0
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.{kind}" for name in TABLES}
    for name, table in TABLES.items():
        expected = table(Reader(finished_study)).collect()
        path = tmp_path / f"{name}.{kind}"
        if kind == "parquet":
            assert pl.read_parquet(path).equals(expected)
        else:
            assert path.read_text() == expected.write_csv()
            assert pl.read_csv(path, infer_schema_length=None).height == len(expected)


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["STORE"], "No such command"),
        (["tables", "STORE"], "Missing option '--output'"),
        (["tables", "STORE", "--output", "x", "--fold", "0"], "No such option: --fold"),
        (["tables", "nowhere", "--output", "x"], "which does not exist"),
    ],
)
def test_what_does_not_go_together_is_reported(capsys, finished_study, arguments, printed):
    given = [finished_study if word == "STORE" else word for word in arguments]
    called = call(capsys, "export", *given)
    assert called.code == 2
    assert printed in called.err
    assert not Path("x").exists()


FORMS = ("optuna", "tensorboard", "tables")


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_derived_into_the_results_folder(capsys, finished_study, form):
    before = sorted(finished_study.rglob("*"))
    output = finished_study / "trials" / "x"
    called = call(capsys, "export", form, finished_study, "--output", output)
    assert called.code == 2
    assert "must not lie among the results" in called.err
    assert sorted(finished_study.rglob("*")) == before


@pytest.mark.parametrize("form", FORMS)
def test_a_target_of_the_wrong_kind_is_reported(capsys, finished_study, tmp_path, form):
    output = tmp_path / "there"
    if is_file := form == "optuna":
        output.mkdir()
    else:
        output.write_text("mine")
    called = call(capsys, "export", form, finished_study, "--output", output)
    assert called.code == 2
    assert f"--output must be a {'file' if is_file else 'folder'}; {output} is" in called.err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_of_another_program_is_not_overwritten(capsys, finished_study, tmp_path, kind):
    (tmp_path / f"test_scores.{kind}").write_text("precious\n1\n")
    called = call(capsys, "export", "tables", finished_study, *AS[kind], "--output", tmp_path)
    assert called.code == 2
    assert f"test_scores.{kind} is no table that podium wrote" in called.err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious\n1\n"]
