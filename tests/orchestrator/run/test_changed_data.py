"""Data that are not those a study began with are refused by name before anything is trained."""

import csv
import os
import shutil

import numpy as np
import pytest

from podium.errors import PodiumError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.files import stored_files
from podium.orchestrator.verify.verify_store import verify_store
from podium.plan.make_plan import refusal_of
from tests.orchestrator.run.test_feature_studies import FOLDER, RUN, VECTORS, photographs
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import load
from tests.trainables.feature_folder import write_feature_folder


@pytest.fixture(scope="module", params=[VECTORS, FOLDER], ids=["vectors", "photographs"])
def finished(request, tmp_path_factory):
    """A study that has ended, its file, and its data."""
    folder = tmp_path_factory.mktemp("changed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        make = write_feature_folder if request.param is VECTORS else photographs
        root = make(folder / "data") or folder / "data"
        study = load(folder, request.param.format(root=root) + RUN)
        run_here(study, folder)
        yield folder, request.param.format(root=root) + RUN


@pytest.fixture
def restored(finished):
    """The folder of the study; what a test changes is undone."""
    folder, text = finished
    kept = shutil.copytree(folder, folder.with_name(f"{folder.name}-kept"))
    yield folder, text
    shutil.rmtree(folder)
    kept.rename(folder)


def change_vectors(data, change):
    values = np.load(data / "features.npy")
    rows = list(csv.reader((data / "labels.csv").read_text().splitlines()))
    values, rows = change(values, rows)
    np.save(data / "features.npy", values)
    with (data / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def of_role(rows, role):
    at = rows[0].index("role")
    return [number for number, row in enumerate(rows[1:]) if row[at] == role]


def other_test_values(values, rows):
    values = values.copy()
    values[of_role(rows, "test")[0]] += 1
    return values, rows


def swapped(values, rows):
    """Two images of different training classes in each other's place."""
    train = of_role(rows, "train")
    first, last = train[0], train[-1]
    order = list(range(len(values)))
    order[first], order[last] = last, first
    return values[order], rows


def relabelled(values, rows):
    at, train = rows[0].index("class"), of_role(rows, "train")
    rows[1 + train[0]][at] = rows[1 + train[-1]][at]
    return values, rows


def without_one(values, rows):
    gone = of_role(rows, "train")[0]
    return np.delete(values, gone, axis=0), rows[: 1 + gone] + rows[2 + gone :]


def another_image(data):
    file = sorted(data.iterdir())[0] / "0.jpg"
    status = file.stat()
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))  # its size and time stay


def without_an_image(data):
    (sorted(data.iterdir())[0] / "0.jpg").unlink()


CHANGES = {
    "vectors": [
        (other_test_values, "the test data of the data set features"),
        (swapped, "the training data of the data set features"),
        (relabelled, "the labels of the data set features"),
        (without_one, "the labels and the training data of the data set features"),
    ],
    "photographs": [
        (another_image, "the training data of the data set"),
        (without_an_image, "the labels and the training data of the data set"),
    ],
}


@pytest.mark.parametrize("number", range(4))
def test_changed_data_are_named_by_run_plan_and_verify_and_nothing_is_trained(
    restored, monkeypatch, number
):
    folder, text = restored
    study = load(folder, text, "search.trials=4")
    changes = CHANGES[study.name]
    if number >= len(changes):
        pytest.skip("images have fewer ways to change")
    change, named = changes[number]
    if study.name == "vectors":
        change_vectors(folder / "data", change)
    else:
        change(folder / "data")
    results = folder / study.name
    before = stored_files(results / "trials")
    with pytest.raises(PodiumError, match=f"^{named}.* changed since this study started"):
        run_here(study, folder)
    assert stored_files(results / "trials") == before
    assert named in (refusal_of(study, StudyPaths(results)) or "")
    assert f"{named}" in "\n".join(verify_store(results).problems)
