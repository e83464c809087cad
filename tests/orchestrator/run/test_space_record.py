"""What searches try stands in the results folder, block by block where it differs."""

import json
from dataclasses import replace

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.run.snapshot_study import space_record
from podium.orchestrator.study.study import StudyLoss
from podium.search_spaces.parameters import Choice, Int, Real, Space
from tests.orchestrator.small_study import STUDY, run_here


def test_a_space_is_recorded_with_scale_bounds_and_step():
    space = Space({"a": Real(0.1, 10, log=True), "k": Int(2, 8, step=2), "c": Choice(("x", "y"))})
    study = replace(STUDY, losses=(StudyLoss("contrastive", space=space),))
    (found,) = space_record(study)["contrastive"]
    assert found["blocks"] == ["glyphs-greek/conv_small/8", "glyphs-greek/conv_small/16"]
    parameters = found["parameters"]
    assert parameters["a"]["kind"] == "real"
    assert (parameters["a"]["low"], parameters["a"]["high"], parameters["a"]["log"]) == (
        0.1,
        10,
        True,
    )
    assert (parameters["k"]["kind"], parameters["k"]["step"]) == ("int", 2)
    assert parameters["c"]["values"] == ("x", "y")


def test_every_loss_has_the_space_of_its_searches():
    record = space_record(STUDY)
    assert list(record) == list(STUDY.loss_names)
    assert set(record["contrastive"][0]["parameters"]) == {"margin", "learning_rate"}


def test_a_run_writes_it_into_its_folder(tmp_path):
    run_here(STUDY, tmp_path)
    provenance = json.loads(StudyPaths.in_storage(tmp_path, STUDY.name).provenance.read_bytes())
    assert provenance["spaces"] == json.loads(json.dumps(space_record(STUDY)))
