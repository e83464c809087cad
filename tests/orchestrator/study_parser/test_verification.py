"""The key ``verification`` of a study's metrics."""

import pytest

from podium.errors import StudyError
from podium.orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from podium.orchestrator.study.study_changes import compare
from tests.orchestrator.study_files import load

TEXT = "study: s\nlosses: [contrastive]\n"
LFW = "2 1\ne 1 2\ne 1 f 1\nf 1 2\nf 2 e 2\n"


@pytest.fixture
def files(tmp_path):
    """A text of a study of image files, with a file of pairs beside it."""
    for name in "abcdefgh":
        (tmp_path / "data" / name).mkdir(parents=True)
        for number in (1, 2):
            (tmp_path / "data" / name / f"{name}_000{number}.jpg").write_bytes(b"")
    (tmp_path / "pairs.txt").write_text(LFW)
    return (
        "study: s\nlosses: [contrastive]\ndatasets: [{name: folder, root: data}]\n"
        "protocol: {val_fraction: 0.5}\n"
        "backbones: [{name: resnet18, weights: random}]\n"
        "metrics: {verification: {pairs: pairs.txt}}\n"
    )


def problems(tmp_path, text):
    with pytest.raises(StudyError) as caught:
        load(tmp_path, text)
    return str(caught.value)


def test_nothing_is_verified_unless_it_is_asked_for(tmp_path):
    study = load(tmp_path, TEXT)
    assert not study.verification
    assert "verification" not in resolved_dict(study)
    assert not load(tmp_path, f"{TEXT}metrics: {{verification: false}}").verification


def test_all_pairs_are_asked_for_by_true(tmp_path):
    study = load(tmp_path, f"{TEXT}metrics: {{verification: true}}")
    assert study.verification
    assert study_from_resolved(resolved_dict(study)) == study
    plain = resolved_dict(load(tmp_path, TEXT))
    (difference,) = compare(plain, resolved_dict(study)).forbidden
    assert difference.key == "verification"


def test_a_file_of_pairs_lies_beside_the_study_and_may_be_moved(tmp_path, files):
    study = load(tmp_path, files)
    assert study.verification
    assert study.datasets[0].options["verification_pairs"] == str(tmp_path / "pairs.txt")
    assert study_from_resolved(resolved_dict(study)) == study
    (tmp_path / "pairs.txt").rename(tmp_path / "moved.txt")
    moved = load(tmp_path, files.replace("pairs.txt", "moved.txt"))
    assert compare(resolved_dict(study), resolved_dict(moved)).is_compatible
    without = load(tmp_path, files.replace("{pairs: pairs.txt}", "true"))
    assert not compare(resolved_dict(without), resolved_dict(moved)).is_compatible


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("all", "metrics.verification must be true or false"),
        ("{}", "metrics.verification.pairs must be the path of a file; without one"),
        ("{pairs: 3}", "metrics.verification.pairs must be the path of a file"),
        ("{pair: p.txt}", "unknown key in metrics.verification"),
        ("{pairs: none.txt}", "none.txt cannot be read"),
        ("{pairs: 's3://b/p.txt'}", "metrics.verification.pairs must be a file of this machine"),
        ("{pairs: bad.txt}", "bad.txt:2: 1 1 in the first line means 2 pairs; got 1"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, files, value, words):
    (tmp_path / "bad.txt").write_text("1 1\na 1 2\n")
    text = problems(tmp_path, files.replace("{pairs: pairs.txt}", value))
    assert words in text
    assert "file:" not in text


def test_a_file_of_pairs_goes_with_one_data_set_of_files(tmp_path, files):
    rule = "a file of pairs names image files, and glyphs has none"
    assert rule in problems(tmp_path, f"{TEXT}metrics: {{verification: {{pairs: pairs.txt}}}}")
    two = files.replace("root: data}]", "root: data}, {name: folder, root: data, label: b}]")
    assert "names images of one data set, and the study has 2" in problems(tmp_path, two)


def test_pairs_are_no_option_of_a_data_set(tmp_path, files):
    text = files.replace("root: data}", "root: data, verification_pairs: pairs.txt}")
    rule = "a file of pairs is named by metrics.verification.pairs"
    assert rule in problems(tmp_path, text)


def test_label_distances_cannot_be_verified(tmp_path):
    text = "study: s\nlosses: [log_ratio]\ndatasets: [{name: glyph_masks}]\n"
    rule = "images can be verified by class only"
    assert rule in problems(tmp_path, f"{text}metrics: {{verification: true}}")


def test_one_test_class_cannot_be_verified(tmp_path, files):
    for role, names in (("train", "abcd"), ("test", "z")):
        for name in names:
            (tmp_path / "split" / role / name).mkdir(parents=True)
            (tmp_path / "split" / role / name / "1.jpg").write_bytes(b"")
    text = files.replace("root: data", "root: split").replace("{pairs: pairs.txt}", "true")
    assert "verification needs 2 test classes, and folder has" in problems(tmp_path, text)
