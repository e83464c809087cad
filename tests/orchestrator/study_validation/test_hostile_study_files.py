"""Study files that are traps are refused, and nothing runs."""

import pytest

from podium.errors import StudyError
from podium.orchestrator.study_validation.load_study import load_study


@pytest.mark.parametrize(
    "loss",
    [
        "/tmp/mark.py:Loss",
        "../mark:Loss",
        "mark.py",
        "https://example.org/mark.py:Loss",
        "mark:Loss()",
        "mark:__import__('os').system('touch mark')",
        "mark; import os:Loss",
        "memory:memory:mark:Loss",
    ],
)
def test_only_an_import_path_or_the_file_of_a_loss_names_code(tmp_path, monkeypatch, loss):
    refuse_and_run_nothing(tmp_path, monkeypatch, f"losses: [{loss!r}]")
    refuse_and_run_nothing(tmp_path, monkeypatch, f"losses: [contrastive]\nbackbones: [{loss!r}]")


def test_a_backbone_is_never_read_from_a_file(tmp_path, monkeypatch):
    backbone = "losses: [contrastive]\nbackbones: ['./mark.py:Loss']"
    refuse_and_run_nothing(tmp_path, monkeypatch, backbone)


def refuse_and_run_nothing(tmp_path, monkeypatch, text):
    (tmp_path / "mark.py").write_text("open('mark', 'w').close()")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(f"study: x\n{text}\n")
    with pytest.raises(StudyError):
        load_study(tmp_path / "study.yaml", ())
    assert not (tmp_path / "mark").exists()
