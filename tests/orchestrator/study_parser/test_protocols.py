"""Studies judged by random splits, repeated folds and published lists, from file to report."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest

from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from podium.orchestrator.study.study import FinalSettings, StudyLoss
from podium.orchestrator.study.study_changes import forbidden_changes
from podium.trainables.dataset_interface.class_splits import make_split
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import (
    DatasetSettings,
    ProtocolSettings,
)
from tests.orchestrator.small_study import STUDY, rows, run_here, with_search
from tests.orchestrator.study_files import MINIMAL, assert_matches, load, problems_of

RANDOM = ProtocolSettings(kind="random_splits", val_fraction=0.25)
REPEATED = ProtocolSettings(kind="repeated_kfold", val_fraction=None, folds=2, repeats=3)
GREEK = DatasetSettings(name="glyphs", options={"script": "greek"})
TINY = """\
study: tiny
datasets: [{name: glyphs, script: greek}]
embedding_dims: [8]
losses: [contrastive, proxy_anchor]
protocol: {kind: published, classes_file: FILE}
search: {trials: 3, order: deterministic, early_stopping: none}
final: {seeds: 2}
training: {epochs: 1}
"""


def greek():
    return load_dataset(GREEK, None)


def greek_names():
    return list(greek().train_class_names)


def published_study(tmp_path, names, place="val.txt"):
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(names) + "\n", encoding="utf-8")
    return load(tmp_path, TINY.replace("FILE", str(file)))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a\nb\na\n", 'protocol.classes_file names a class more than once; got "a"'),
        (b"\n", "glyphs-greek: a split needs at least 2 classes .* a list of 0 of .*"),
        (b"a\n", "glyphs-greek: a split needs at least 2 classes .* a list of 1 of .*"),
        (b"\xff\xfe\n", "protocol.classes_file cannot be read: it is not UTF-8 at byte 0; .*"),
    ],
)
def test_a_file_of_classes_that_cannot_be_meant_is_refused(tmp_path, content, problem):
    (tmp_path / "val.txt").write_bytes(content)
    assert_matches(
        problems_of(tmp_path, TINY.replace("FILE", "val.txt")), [f"s.yaml:5: {problem}"]
    )


def test_a_file_of_classes_is_absolute_and_known_by_its_content(tmp_path, monkeypatch):
    names = greek_names()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "val.txt").write_text(f"{names[3]}\r\n\n{names[0]}")
    text = MINIMAL + "protocol: {kind: published, classes_file: val.txt}"
    protocol = load(tmp_path, text).protocols[0]
    assert protocol.classes_file == str(tmp_path / "val.txt")
    assert protocol.val_classes == tuple(sorted([names[0], names[3]]))

    old = published_study(tmp_path, names[:4])
    moved = published_study(tmp_path, reversed(names[:4]), "elsewhere/classes.txt")
    changed = published_study(tmp_path, names[:5])
    assert study_from_resolved(json.loads(json.dumps(resolved_dict(old)))) == old
    assert not forbidden_changes(resolved_dict(old), resolved_dict(moved))
    assert forbidden_changes(resolved_dict(old), resolved_dict(changed))


def test_a_published_list_is_validated_by_every_trial(tmp_path):
    names = greek_names()[:4]
    study = published_study(tmp_path, names)
    assert plan(study).datasets[0].val_classes == 4
    (tmp_path / "val.txt").unlink()
    run_here(study, tmp_path)
    trials = rows(tmp_path, study).filter(pl.col("loss") != "features")  # whatever is validated
    expected = make_split(greek_names(), study.protocols[0], 0)
    assert expected.val == tuple(sorted(names))
    assert set(trials["split_hash"]) == {expected.hash}
    assert set(trials["protocol"]) == {"published"}


def test_unknown_and_test_classes_are_refused_before_anything_runs(tmp_path):
    dataset = greek()
    tested = dataset.class_names[dataset.test_classes[0]]
    for name, message in (
        ("no such class", "published validation classes must be .* there is no 'no such class'$"),
        (tested, f"validation and test classes must be disjoint; both have {re.escape(tested)}$"),
    ):
        study = published_study(tmp_path, [*greek_names()[:3], name])
        with pytest.raises(TrialInputError, match=message):
            run_here(study, tmp_path)
        # No snapshot was written: the corrected study may go by the same name.
        assert not (tmp_path / study.name).exists()


@pytest.fixture(scope="module")
def random_rows(tmp_path_factory):
    storage = tmp_path_factory.mktemp("random")
    run_here(replace(with_search(repeats=2), protocols=(RANDOM,), embedding_dims=(8,)), storage)
    return rows(storage)


def test_each_config_of_a_search_has_its_own_split_the_same_wherever_it_is(random_rows):
    searched = random_rows.filter(pl.col("stage") == "search")
    by_config = searched.group_by("config_hash").agg(pl.col("split_hash").n_unique(), pl.len())
    assert set(by_config["split_hash"]) == {1}
    assert max(by_config["len"]) > 1
    # Few greek classes are validated, and two configs may draw the same.
    assert searched["split_hash"].n_unique() > 0.8 * len(by_config)


def test_final_trials_have_a_split_for_each_seed_which_all_share(random_rows):
    finals = random_rows.filter(pl.col("stage") == "final")
    by_seed = finals.group_by("seed").agg(pl.col("split_hash", "config_hash").n_unique())
    assert set(by_seed["split_hash"]) == {1}
    assert max(by_seed["config_hash"]) > 1
    assert finals["split_hash"].n_unique() == finals["seed"].n_unique() == 4
    baseline = random_rows.filter(pl.col("loss") == "untrained")
    assert set(baseline["split_hash"]) <= set(finals["split_hash"])


def test_repeated_folds_of_the_final_stage_are_trials_of_their_own(tmp_path):
    final = FinalSettings(seeds=1, protocol=REPEATED)
    study = replace(STUDY, losses=(StudyLoss("contrastive"),), embedding_dims=(8,), final=final)
    assert plan(study).searches[0].final_trials == 2 * 6
    run_here(study, tmp_path)
    winners = rows(tmp_path).filter(pl.col("is_winner")).sort("fold")
    assert winners["fold"].to_list() == list(range(6))
    assert set(winners["num_folds"]) == {6}
    assert set(winners["protocol"]) == {"fixed"}
    assert set(winners["split_protocol"]) == {"repeated_kfold"}
    names = greek_names()
    expected = [make_split(names, REPEATED, fold).hash for fold in range(6)]
    assert winners["split_hash"].to_list() == expected
