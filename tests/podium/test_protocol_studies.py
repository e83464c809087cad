"""The studies that are shipped: all plan, and those on letters end in a report."""

from pathlib import Path

import pytest

from podium.orchestrator.results.trial_files.reader import Reader
from tests.podium.calling import call
from tests.soak import soak
from tests.trainables.backbone_names import made
from tests.trainables.dataset_readers.trees import write_jpeg

STUDIES = Path(__file__).parents[2] / "studies"

# As small as each of them still is what it is: every protocol, sampler and stage takes part.
SMALL = ("training.epochs=1", "final.seeds=1", "metrics.k=[1]")
SMALLER = {
    "cross-validation-glyphs": ("final.protocol.folds=2",),
    "protocols-glyphs": (
        *("search.repeats=1", "search.splits=same"),
        *("search.trials=2", "losses=[contrastive]"),
    ),
}
LIKE_THESE = {
    "gradml-grid-glyphs": ("search.repeats=2",),
    "thesis-own-loss-glyphs": (),
    "thesis-tables-glyphs": ("embedding_dims=[16]",),
    "split-ratio-glyphs": ("search.repeats=2",),
    "fixed-validation-glyphs": ("search.trials=19",),
    "gradml-powers-glyphs": ("search.repeats=1", "search.splits=same"),
    "gradml-learning-rate-glyphs": ("search.trials=3",),
    "gradml-data-sets-glyphs": (),
    "proxy-anchor-grid-glyphs": (),
}
PICTURES = ("pictures", "backbones-pictures", "field-2026")
ONE_DATASET = "datasets=[{name: glyphs, script: latin, classes: 80, instances_per_class: 4}]"


def write_emoji(root):
    """A few classes of each kind, as ``podium datasets fetch`` names them."""
    for kind in (
        *("activities", "animals", "food", "objects"),
        *("people", "smileys", "symbols", "travel"),
    ):
        for number in range(12):
            for designer in "abc":
                write_jpeg(root / f"{number:02}.{kind}" / f"{designer}.jpg", shade=9 * number)


@pytest.mark.parametrize("study", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_study_can_be_planned(capsys, study, tmp_path, monkeypatch):
    if study.stem in PICTURES:  # whose counts nobody published
        if made("efficientnet_lite0").marks[0].args[0]:
            pytest.skip("needs podium[pretrained]")
        monkeypatch.setenv("HOME", str(tmp_path))
        write_emoji(tmp_path / "data" / "emoji")
        write_emoji(tmp_path / "data" / "foods")
    planned = call(capsys, "plan", study)
    assert planned.code == 0, planned.err
    assert f"Study {study.stem}:" in planned.out


@pytest.mark.parametrize("name", [*SMALLER, *soak(*LIKE_THESE)])
def test_a_study_on_letters_runs_to_a_report_and_to_an_answer(capsys, tmp_path, name):
    settings = [f"--set={text}" for text in (ONE_DATASET, *SMALL, *(SMALLER | LIKE_THESE)[name])]
    study = STUDIES / f"{name}.yaml"
    ran = call(capsys, "run", study, "--local", "--storage", tmp_path, *settings)
    assert ran.code == 0, ran.err
    folder = tmp_path / name
    states = Reader(folder).trials().collect()["state"]
    assert set(states) == {"COMPLETE"}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert name in page
    assert ("test_tuned (leaks)" in page) == ("test_tuned" in study.read_text(encoding="utf-8"))
    printed = call(capsys, "protocols", folder)
    assert printed.code == 0, printed.err
    assert name in printed.out
