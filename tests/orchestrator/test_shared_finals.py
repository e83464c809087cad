"""Finals that several searches ask for: trained once, and a row in each of the searches."""

import json
import random
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchestrator.executors.base import NoJob
from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.results import copying
from orchestrator.results.errors import CorruptFileError
from orchestrator.results.integrity import check_store
from orchestrator.results.paths import StudyPaths
from orchestrator.results.reader import Reader
from orchestrator.results.schema import IDENTITY_COLUMNS
from orchestrator.study import EarlyStopping, FinalSettings, SearchSettings, StudyTraining
from orchestrator.worker import TrialWorker
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here, tables
from trainables.datasets.loading import load_dataset
from trainables.datasets.splits import make_split
from trainables.errors import Diverged
from trainables.settings import DatasetSettings, ProtocolSettings

EPOCHS, FOLDS, SEEDS = 4, 3, 2
KFOLD = ProtocolSettings(kind="kfold", val_fraction=None, folds=FOLDS)
PROTOCOLS = (
    ProtocolSettings(kind="fixed", name="ours", val_fraction=0.25),
    ProtocolSettings(kind="random_splits", val_fraction=0.25),
    ProtocolSettings(kind="kfold", val_fraction=None, folds=2),
)
CROSSED = replace(
    STUDY,
    name="shared",
    embedding_dims=(8,),
    losses=("contrastive",),
    protocols=PROTOCOLS,
    search=SearchSettings(
        sampler="random",
        shared_configs=True,
        trials=4,
        early_stopping=EarlyStopping(kind="none"),
        order="deterministic",
        repeats=2,
        splits="fresh",
    ),
    final=FinalSettings(seeds=SEEDS, protocol=KFOLD, train_on=("part", "all")),
    training=StudyTraining(overrides={"epochs": EPOCHS}),
)
SMALL = replace(
    CROSSED,
    protocols=PROTOCOLS[:2],
    search=replace(CROSSED.search, repeats=1, splits="same"),
    final=replace(CROSSED.final, seeds=1),
)


class Counting(PlantedTrial):
    """Notes what is really trained."""

    def __init__(self):
        super().__init__(hashed)
        self.ran = []

    def __call__(self, settings, *, resume, save, keep=None):
        if resume is None:
            self.ran.append(settings)
        yield from super().__call__(settings, resume=resume, save=save, keep=keep)


def run_planted(study, storage, trial=None):
    end = run_here(study, storage, InProcessExecutor(trial or PlantedTrial(hashed)))
    assert not end.interrupted
    assert end.progress.trials_done == end.progress.trials_planned
    check_store(StudyPaths(storage / study.name))
    return storage


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    trial = Counting()
    return run_planted(CROSSED, tmp_path_factory.mktemp("undisturbed"), trial), trial.ran


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return run_planted(SMALL, tmp_path_factory.mktemp("small"))


def finals_of(storage, study=CROSSED):
    return rows(storage, study).filter(pl.col("stage") == "final")


def test_every_search_has_each_of_its_finals_exactly_once(undisturbed):
    storage, _ = undisturbed
    finals = finals_of(storage)
    by_search = dict(
        finals.group_by("search").agg(pl.struct("is_winner", "is_default").unique()).iter_rows()
    )
    assert len(by_search) == len(PROTOCOLS) * 2
    places = Counter(
        finals.select("search", "is_winner", "train_on", "seed_index", "fold").iter_rows()
    )
    # A winner that is the default itself is one finalist.
    roles = {
        search: {(role["is_winner"], role["is_default"]) for role in found}
        for search, found in by_search.items()
    }
    assert {(True, False), (False, True)} in roles.values()
    expected = Counter()
    for search, of_search in roles.items():
        for is_winner, _ in of_search:
            for seed in range(SEEDS):
                expected[search, is_winner, "all", seed, 0] += 1
                expected.update((search, is_winner, "part", seed, fold) for fold in range(FOLDS))
    assert places == expected


def test_finals_of_one_training_are_trained_once(undisturbed):
    storage, ran = undisturbed
    trials = rows(storage, CROSSED)
    originals = trials.filter(pl.col("same_as").is_null())
    assert len(ran) == len(originals)
    trainings = Counter(
        (*place, json.loads(settings)["stop_epoch"])
        for *place, settings in originals.filter(pl.col("stage") == "final")
        .select("config_hash", "seed", "split_hash", "settings")
        .iter_rows()
    )
    assert set(trainings.values()) == {1}
    copies = trials.filter(pl.col("same_as").is_not_null())
    assert set(copies["stage"]) == {"final"}
    assert set(copies["train_on"]) == {"part", "all"}
    assert set(copies["same_as"]) <= set(originals["trial_id"])
    assert set(copies["attempts"]) == set(copies["test_readings"]) == {0}


def test_a_copy_has_every_number_of_its_original(undisturbed):
    storage, _ = undisturbed
    identity = [name for name, _ in IDENTITY_COLUMNS]
    shared = ("split_protocol", "train_on", "seed", "seed_index", "fold", "num_folds")
    shared += (
        "split_hash",
        "test_hash",
        "protocol_hash",
        "config_hash",
        "loss",
        "block",
        "weights",
    )
    own = [name for name in identity if name not in shared] + ["attempts", "test_readings"]
    files = sorted((storage / CROSSED.name).rglob("*.parquet"))
    whole = pl.read_parquet(files)
    originals = {row["trial_id"]: row for row in whole.to_dicts()}
    copies = whole.filter(pl.col("same_as").is_not_null()).to_dicts()
    assert len(copies) > 20
    for copy in copies:
        original = originals[copy["same_as"]]
        assert original["search"] != copy["search"]
        assert original["repeat"] == copy["repeat"]
        for name, value in copy.items():
            if name not in own:
                assert value == original[name], name
        assert copy["test_scores"]


def test_the_first_search_of_the_study_file_trains_what_several_ask_for(undisturbed):
    storage, _ = undisturbed
    finals = finals_of(storage)
    order = {protocol.label: place for place, protocol in enumerate(PROTOCOLS)}
    of = {row["trial_id"]: row for row in finals.to_dicts()}
    for copy in finals.filter(pl.col("same_as").is_not_null()).to_dicts():
        assert order[of[copy["same_as"]]["protocol"]] < order[copy["protocol"]]


def num_steps(study, storage):
    """How often a director hears of a trial while the study runs from its beginning to its end."""

    class Counted(InterruptedAfter):
        @property
        def heard(self):
            return 10**9 - self._steps

    executor = Counted(10**9, PlantedTrial(hashed))
    assert not run_here(study, storage, executor).interrupted
    return executor.heard


def test_a_study_interrupted_after_any_step_of_its_finals_ends_in_the_same_tables(small, tmp_path):
    steps = num_steps(SMALL, tmp_path / "counted")
    for step in range(steps - 24, steps, 5):
        storage = tmp_path / str(step)
        assert run_here(SMALL, storage, InterruptedAfter(step, PlantedTrial(hashed))).interrupted
        run_planted(SMALL, storage)
        assert_frame_equal(tables(storage, SMALL), tables(small, SMALL))


class OutOfOrder(InProcessExecutor):
    """Several trials at a time, of which now one and now another takes its next step."""

    slots = 3

    def __init__(self, seed):
        super().__init__()
        self._random = random.Random(seed)

    def run(self, director):
        running = {}
        while True:
            while len(running) < self.slots:
                job = director.next_job()
                if isinstance(job, NoJob):
                    break
                running[job.trial_id] = TrialWorker(PlantedTrial(hashed))
                running[job.trial_id].start(job)
            if not running:
                return
            trial_id = self._random.choice(list(running))
            if not director.hear(trial_id, running[trial_id].step()):
                running.pop(trial_id).stop()


@pytest.mark.parametrize("seed", range(4))
def test_who_trains_a_shared_final_does_not_depend_on_who_was_faster(small, tmp_path, seed):
    assert not run_here(SMALL, tmp_path, OutOfOrder(seed)).interrupted
    assert_frame_equal(tables(tmp_path, SMALL), tables(small, SMALL))


class Killed(BaseException):
    """As if the process were killed."""


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_driver_killed_between_an_original_and_its_copies_goes_on_in_the_same_tables(
    small, tmp_path, monkeypatch, number
):
    commits = iter(range(1, 10**6))
    commit_trial = copying.commit_trial

    def deadly(*arguments):
        if next(commits) == number:
            raise Killed
        return commit_trial(*arguments)

    monkeypatch.setattr(copying, "commit_trial", deadly)
    with pytest.raises(Killed):
        run_planted(SMALL, tmp_path)
    monkeypatch.undo()
    before = finals_of(tmp_path, SMALL)
    assert len(before) < len(finals_of(small, SMALL))
    run_planted(SMALL, tmp_path)
    assert_frame_equal(tables(tmp_path, SMALL), tables(small, SMALL))


def test_an_asynchronous_study_interrupted_again_and_again_has_each_final_once(tmp_path, small):
    study = replace(SMALL, search=replace(SMALL.search, order="asynchronous"))
    for _ in range(200):
        if not run_here(study, tmp_path, InterruptedAfter(9, PlantedTrial(hashed))).interrupted:
            break
    check_store(StudyPaths(tmp_path / study.name))
    keys = ["search", "is_winner", "is_default", "train_on", "seed_index", "fold", "objective"]
    found, expected = (
        finals_of(storage, SMALL).select(keys).sort(keys) for storage in (tmp_path, small)
    )
    assert_frame_equal(found, expected)


class FailingFinals(PlantedTrial):
    """The published default diverges where all classes are trained on."""

    def __call__(self, settings, *, resume, save, keep=None):
        if settings.protocol.kind == "refit" and settings.hyperparameters["margin"] == 0.5:
            raise Diverged("the loss is nan", 0, 1)
        yield from super().__call__(settings, resume=resume, save=save, keep=keep)


def test_the_copies_of_what_failed_have_failed_for_the_same_cause(tmp_path):
    study = replace(SMALL, final=FinalSettings(seeds=2, protocol=KFOLD, train_on=("all",)))
    run_planted(study, tmp_path, FailingFinals(hashed))
    failed = finals_of(tmp_path, study).filter("is_default")
    originals = failed.filter(pl.col("same_as").is_null())
    copies = failed.filter(pl.col("same_as").is_not_null())
    assert set(failed["state"]) == {"FAILED"}
    assert set(failed["cause"]) == {"diverged"}
    assert len(originals) + len(copies) == 2 * len(PROTOCOLS[:2])
    before = tables(tmp_path, study)
    again = run_here(study, tmp_path, InterruptedAfter(0))
    assert again.progress.failed == len(failed)
    assert_frame_equal(tables(tmp_path, study), before)


class LosesFinals(InProcessExecutor):
    """Every worker dies under a final of the published default."""

    def run(self, director):
        hear = director.hear

        def losing(trial_id, messages):
            settings = director._running[trial_id].order
            if settings.stage == "final" and settings.is_default:
                director.lose(trial_id, "the node is gone")
                return False
            return hear(trial_id, messages)

        director.hear = losing
        super().run(director)


def test_the_copies_of_what_was_lost_are_lost_too(tmp_path):
    study = replace(SMALL, final=FinalSettings(seeds=1, protocol=KFOLD))
    end = run_here(study, tmp_path, LosesFinals(PlantedTrial(hashed)))
    assert not end.interrupted
    lost = finals_of(tmp_path, study).filter(pl.col("cause") == "lost")
    assert set(lost["protocol"]) == {"ours", "random_splits"}
    assert lost["is_default"].all()
    assert len(lost) == 2 * FOLDS
    assert lost["same_as"].null_count() == FOLDS
    assert end.progress.trials_done == end.progress.trials_planned


def test_a_protocol_that_joins_a_finished_study_copies_from_gathered_files(tmp_path):
    two = replace(CROSSED, protocols=PROTOCOLS[:2])
    run_planted(two, tmp_path)
    folder = tmp_path / two.name
    assert not list((folder / "trials").rglob("*.parquet"))
    before = tables(tmp_path, two)
    trial = Counting()
    run_planted(CROSSED, tmp_path, trial)
    after = tables(tmp_path, CROSSED)
    assert_frame_equal(
        after.filter(pl.col("trial_id").is_in(before["trial_id"].to_list())), before
    )
    joined = finals_of(tmp_path).filter(pl.col("protocol") == "kfold")
    copies = joined.filter(pl.col("same_as").is_not_null())
    assert set(copies["same_as"]) & set(before["trial_id"])
    assert len(trial.ran) == rows(tmp_path, CROSSED)["same_as"].null_count() - (
        before["same_as"].null_count()
    )


def test_a_grown_study_is_the_one_that_had_the_protocol_from_the_beginning(undisturbed, tmp_path):
    storage, _ = undisturbed
    run_planted(replace(CROSSED, protocols=PROTOCOLS[:2]), tmp_path)
    run_planted(CROSSED, tmp_path)
    assert_frame_equal(tables(tmp_path, CROSSED), tables(storage, CROSSED))


@pytest.mark.parametrize("step", [4, 20, 43, 70])
def test_growing_may_be_interrupted_too(undisturbed, tmp_path, step):
    storage, _ = undisturbed
    run_planted(replace(CROSSED, protocols=PROTOCOLS[:2]), tmp_path)
    assert run_here(CROSSED, tmp_path, InterruptedAfter(step, PlantedTrial(hashed))).interrupted
    run_planted(CROSSED, tmp_path)
    assert_frame_equal(tables(tmp_path, CROSSED), tables(storage, CROSSED))


@pytest.mark.parametrize("is_killed", [False, True])
def test_more_trials_seeds_and_trainings_add_each_final_once(tmp_path, is_killed):
    few = replace(SMALL, final=replace(SMALL.final, train_on=("part",)))
    run_planted(few, tmp_path)
    before = tables(tmp_path, few)
    final = replace(SMALL.final, seeds=2)
    grown = replace(SMALL, final=final, search=replace(SMALL.search, trials=14))
    if is_killed:
        assert run_here(grown, tmp_path, InterruptedAfter(97, PlantedTrial(hashed))).interrupted
    run_planted(grown, tmp_path)
    after = tables(tmp_path, grown)
    assert_frame_equal(
        after.filter(pl.col("trial_id").is_in(before["trial_id"].to_list())), before
    )
    finals = finals_of(tmp_path, grown)
    keys = ["search", "config_hash", "train_on", "seed_index", "fold"]
    assert finals.select(keys).is_duplicated().sum() == 0
    places = 2 * (FOLDS + 1)  # seeds x (folds on a part, all classes)
    complete = finals.group_by("search", "config_hash").len().filter(pl.col("len") == places)
    winners = finals.filter("is_winner").select("search", "config_hash").unique()
    assert len(winners.join(complete, on=["search", "config_hash"])) == len(winners) == 2
    assert set(before.filter("is_winner")["config_hash"]) - set(winners["config_hash"])


def test_a_row_that_is_gone_is_trained_again_and_its_copies_stay(small, tmp_path):
    study = replace(SMALL, search=replace(SMALL.search, lag=1))
    with pytest.raises(Killed):
        _killed_before_gathering(study, tmp_path)
    copies = finals_of(tmp_path, study).filter(pl.col("same_as").is_not_null())
    gone = copies["same_as"][0]
    (file,) = (tmp_path / study.name / "trials").rglob(f"{gone}.parquet")
    whole = tables(tmp_path, study)
    file.unlink()
    trial = Counting()
    run_planted(study, tmp_path, trial)
    assert len(trial.ran) == 1
    assert_frame_equal(tables(tmp_path, study), whole)


def _killed_before_gathering(study, storage):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("orchestrator.run.compact", _kill)
        run_planted(study, storage)


def _kill(paths):
    raise Killed


def test_an_original_without_a_row_is_told(tmp_path):
    run_planted(SMALL, tmp_path)
    folder = tmp_path / SMALL.name
    schema = Reader(folder)._arrow_schema
    copy = copying.Copy(trial_id="nobody", search="s", identity={})
    with pytest.raises(CorruptFileError, match="has no row of trial nobody, to be copied"):
        copying.copy_trials(StudyPaths(folder), schema, [copy])


def test_searches_with_the_same_splits_have_rows_of_their_own(tmp_path):
    """A list of classes that is the fixed split by chance: equal numbers, two searches."""
    greek = load_dataset(DatasetSettings(name="glyphs", options={"script": "greek"}), None)
    held_out = make_split(greek.train_class_names, PROTOCOLS[0], 0).val
    listed = ProtocolSettings(kind="published", val_fraction=None, val_classes=held_out)
    study = replace(SMALL, protocols=(PROTOCOLS[0], listed), final=FinalSettings(seeds=1))
    trial = Counting()
    run_planted(study, tmp_path, trial)
    trials = rows(tmp_path, study)
    assert trials["split_hash"].filter(trials["stage"] == "search").n_unique() == 1
    searched = trials.filter(pl.col("stage") == "search").group_by("protocol").len()
    assert dict(searched.iter_rows()) == {"ours": 4, "published": 4}
    assert trials["trial_id"].n_unique() == len(trials)
    # The made-up validation tells the kinds apart; the default is a final of both all the same.
    defaults = trials.filter("is_default", pl.col("stage") == "final")
    assert sorted(defaults["protocol"]) == ["ours", "published"]
    assert defaults["same_as"].null_count() == 1
