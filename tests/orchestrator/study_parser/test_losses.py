"""Rules of the spaces that a study file states itself."""

import pytest

from podium.errors import StudyError
from podium.orchestrator.study_validation import check_study
from podium.orchestrator.study_validation.load_study import study_place
from podium.search_spaces.parameters import Space
from tests.orchestrator.study_files import MINIMAL, assert_matches, cases, load, problems_of

HEAD = "study: x\nlosses: "  # line 2

SPACES = """
{margin: {low: -5, high: 1}} -> losses[0].space.margin.low must be in [0, 1]; got -5
{margin: {low: 0, high: 2}} -> losses[0].space.margin.high must be in [0, 1]; got 2
{margin: [0.1, 7]} -> losses[0].space.margin[1] must be in [0, 1]; got 7
{margin: [0.1, 0.1]} -> losses[0].space.margin is no range: the values .* must differ, .*
{margin: 0.3} -> losses[0].space.margin must be a range {low, high, log, step} .*; got 0.3
{margin: {low: 0, high: 1, log: true}} -> .*margin is no range: `low > 0` must hold .*
{margin: {low: 0, high: 1, step: 0.3}} -> .*margin is no range: `high - low` must be a multiple .*
{margin: {low: a, high: 1}} -> losses[0].space.margin.low must be in [0, 1]; got "a"
{} -> losses[0].space must have at least one parameter; choices: alpha, .*
jiont -> losses[0].space must be one of the choices; got "jiont"; did you mean joint? .*
3 -> losses[0].space must be a mapping; got 3
{margin: {low: 0, hihg: 1, high: 1}} -> unknown key in losses[0].space.margin; got "hihg"; .*
"""


@pytest.mark.parametrize(("space", "problem"), cases(SPACES))
def test_a_space_stays_within_what_is_legal(tmp_path, space, problem):
    text = f"{HEAD}[{{loss: proxy_anchor, space: {space}}}]"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:2: {problem}"])


def test_something_must_be_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(check_study, "space_of", lambda *_: Space({}))
    assert problems_of(tmp_path, MINIMAL) == [
        "s.yaml:2: contrastive has nothing to search: see search.tune"
    ]


OWN = "import torch\nclass Mine(torch.nn.Module):\n    def __init__(self, margin=0.5): ...\n"


def with_files(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(OWN)
    return folder


def test_a_loss_in_a_file_is_found_from_the_study_file(tmp_path):
    text = (
        f"{HEAD}[./mine.py:Mine, {{loss: l/other.py:Mine, space: {{margin: [0.1, 0.2]}}}},"
        " {loss: l/other.py:Mine+contrastive, values: {Mine.weight: 2}}]"
    )
    study = load(with_files(tmp_path, "mine.py", "l/other.py"), text)
    names = ("mine.py:Mine", "other.py:Mine", "other.py:Mine+contrastive")
    assert study.loss_names == names
    assert study.losses[1].space.parameters.keys() == {"margin"}
    assert study.losses[2].values == {"Mine.weight": 2.0}


def test_an_override_is_found_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(with_files(tmp_path / "here", "over.py"))
    assert load(tmp_path, MINIMAL, "losses=[./over.py:Mine]").loss_names == ("over.py:Mine",)


@pytest.mark.parametrize(
    ("losses", "problem"),
    [
        ("[./min.py:Mine]", r"there is no file .*min.py; files there: mine.py"),
        ("[./mine.py:Mien]", r"unknown loss of mine.py 'Mien' .*did you mean 'Mine'.*known: Mine"),
        ("[./mine.py:Mine, ./l/../mine.py:Mine]", "losses[1] is in the list already; .*"),
        ("[mine.py:Mine, l/mine.py:Mine]", "two files of losses must differ in name, .*"),
        ("[{loss: ./mine.py:Mine, label: arcface}]", ".* must not be the name of another loss.*"),
        (
            "[{loss: ./mine.py:Mine+triplet, label: Mine}, ./mine.py:Mine]",
            ".*no label may be what another loss is called; Mine is",
        ),
        ("[{loss: triplet, label: untrained}]", ".* must not be the name of another loss.*"),
        ("[{loss: triplet, label: Ours}, {loss: margin, label: Ours}]", ".*; Ours is"),
        (
            "[{loss: ./mine.py:Mine, label: A}, {loss: ./mine.py:Mine+triplet, label: A}]",
            ".*no label may be what another loss is called; A is",
        ),
        ("['memory:./mine.py:Mine']", "mine.py:Mine compares within a batch only .*"),
    ],
)
def test_what_is_wrong_with_a_loss_in_a_file_is_said_with_the_line(tmp_path, losses, problem):
    with_files(tmp_path, "mine.py", "l/mine.py")
    (found,) = problems_of(tmp_path, f"{HEAD}{losses}")
    assert_matches([found], [f"s.yaml:2: {problem}"])


def test_a_transform_is_in_a_file_of_another_name_than_losses(tmp_path):
    with_files(tmp_path, "mine.py", "l/mine.py")
    (tmp_path / "l" / "mine.py").write_text("def turned(image):\n    return image\n")
    training = "\ntraining: {transform: ./l/mine.py:turned}"
    (found,) = problems_of(tmp_path, f"{HEAD}[./mine.py:Mine]{training}")
    assert_matches([found], [".*transform must be in a file of another name than those of.*"])


def test_the_place_of_a_study_is_known_without_its_losses(tmp_path):
    (tmp_path / "s.yaml").write_text(f"{HEAD}[./gone.py:Mine]\nstorage: there\n")
    assert study_place(tmp_path / "s.yaml") == ("x", str(tmp_path / "there"))
    (tmp_path / "s.yaml").write_text("study: ../x\n")
    with pytest.raises(StudyError, match="study names a folder"):
        study_place(tmp_path / "s.yaml")
