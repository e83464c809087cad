"""Every frame of a results folder, to be compared with those of another."""

from polars.testing import assert_frame_equal

from podium.orchestrator.results.trial_files.reader import Reader

LONG = ("scores", "class_hits", "test_scores", "test_class_hits", "test_retrievals")
"""Frames with one row per nested row of a trial."""


def all_frames(store):
    """Name -> frame, of all trials with their details, and of decisions."""
    reader = Reader(store.folder)
    found = {name: getattr(reader, name)().collect() for name in ("trials", *LONG)}
    return {**found, "decisions": decisions(reader)}


def decisions(reader):
    """What is read of ended trials to resume their study, in order."""
    ended = reader.ended_trials().sort("stage", "search", "index", "trial_id")
    scores = reader.decisive_scores(dict(ended.select("trial_id", "search").iter_rows()))
    return ended.join(scores, on="trial_id", how="left", maintain_order="left")


def assert_same_frames(found, expected):
    """The same names, and equal frames under each."""
    assert found.keys() == expected.keys()
    for name, frame in expected.items():
        assert_frame_equal(found[name], frame)
