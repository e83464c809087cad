"""`podium compare`: a loss of one's own against others, made small."""

from pathlib import Path

import pytest

import podium
from podium.api.compare import plan_comparison
from podium.comparison import design
from tests.podium.calling import call, output_of

LOSS = """
import torch


class Mine(torch.nn.Module):
    search_space = {"margin": {"low": 0.1, "high": 0.9}}

    def __init__(self, margin: float = 0.5):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        BODY
        cosines = torch.nn.functional.normalize(embeddings) @ embeddings.T
        same = labels[:, None] == labels
        return (1 - cosines)[same].mean() + (cosines[~same] - self.margin).relu().mean()
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with the loss, where comparisons have two sets of 12 letters and one epoch."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(design, "_SETS", {"greek": 2})
    monkeypatch.setattr(design, "_CLASSES", 16)
    monkeypatch.setattr(design, "_FEWEST_SETS", 2)
    monkeypatch.setattr(design, "_ON_LETTERS", (design._Strength(epochs=1, trials=2),))
    written("")
    return tmp_path


def written(body):
    Path("mine.py").write_text(LOSS.replace("BODY", body), encoding="utf-8")


def test_a_comparison_runs_is_read_again_and_is_made_anew_for_another_loss(small, capsys):
    words = ("compare", "./mine.py:Mine", "--against", "contrastive", "--local")
    first = call(capsys, *words)
    assert first.code == 0, first.err
    assert "Comparing Mine with contrastive on 2 sets of 16 letters" in first.err
    assert max(map(len, first.out.partition("Results:")[0].splitlines())) <= 80
    assert "Mine minus" in first.out
    assert "Mine has rank" in first.out
    report = Path(first.out.rpartition("Report: ")[2].strip())
    first_screen = report.read_text(encoding="utf-8").partition("<details")[0]
    assert '<p class="verdict-text">Mine has rank' in first_screen
    assert "Mine minus each other loss" in first_screen
    again = call(capsys, *words)
    assert again.out == first.out
    assert "All trials of this study are already done." in again.err
    in_python = podium.compare("./mine.py:Mine", against=["contrastive"], local=True)
    assert str(in_python) in first.out
    assert in_python.against[0].opponent == "contrastive"
    written("embeddings = 2 * embeddings")
    assert (
        plan_comparison("./mine.py:Mine", against=["contrastive"]).study.name
        != in_python.study.name
    )


def test_what_the_class_says_is_searched(small, capsys):
    assert "margin     0.1..0.9" in output_of(capsys, "losses", "./mine.py:Mine")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('odd')", r"mine\.py, line 13: ValueError: odd"),
        ("return 1 +", r"mine\.py, line 13: invalid syntax"),
    ],
)
def test_a_loss_that_fails_on_a_batch_is_refused_with_its_line(small, capsys, body, message):
    written(body)
    refused = call(capsys, "compare", "./mine.py:Mine")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    with pytest.raises(podium.PodiumError, match=message):
        podium.compare("./mine.py:Mine")


def test_a_loss_that_fails_in_training_is_reported_with_its_line(small, capsys):
    written("if len(labels) == 20: raise KeyError('rare')")  # batches of five classes
    refused = call(capsys, "compare", "./mine.py:Mine", "--against", "contrastive", "--local")
    assert refused.code != 0
    assert "mine.py, line 13: KeyError: 'rare'" in refused.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--against", "proxy_anchr"), "unknown loss 'proxy_anchr' (did you mean 'proxy_anchor'"),
        (("--against", "./mine.py:Mine"), "mine.py:Mine cannot be compared with itself"),
        (("--data", "nowhere"), "there is no folder nowhere"),
        (("--data", "."), "class"),
    ],
)
def test_what_cannot_be_compared_is_refused(small, capsys, words, message):
    assert message in output_of(capsys, "compare", "./mine.py:Mine", *words, code=2)
