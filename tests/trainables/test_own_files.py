"""Losses in files of one's own: what is read, run and counted of them, and what goes wrong."""

import sys

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.foreign_code import foreign_code
from podium.trainables.importable_code import module_class
from podium.trainables.own_files import (
    class_in_file,
    files_of,
    keep_files,
    paths_in,
    read_files,
    version_of,
)
from podium.trainables.settings.loss_expression import parse_loss

LOSS = "import torch\nSCALE = {scale}\nclass Mine(torch.nn.Module): ...\n"


def read(folder, name, text):
    """The class ``Mine`` of a file with this text."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    read_files(f"./{name}:Mine", folder)
    return f"{name}:Mine"


def scale(found):
    return sys.modules[found.__module__].SCALE


@pytest.mark.parametrize(
    "path", ["mine.py", "./mine.py", "../a b/mine.py", "/deep/in/mine.py", "~/mine.py"]
)
def test_a_loss_is_known_by_its_file_and_class_wherever_the_file_lies(path):
    assert class_in_file(f"{path}:Mine") == "mine.py:Mine"
    assert str(parse_loss(f"matryoshka:{path}:Mine")) == "matryoshka:mine.py:Mine"
    expression = f"softmax>contrastive+memory:{path}:Mine"
    assert str(parse_loss(expression)) == "softmax>contrastive+memory:mine.py:Mine"
    assert paths_in(expression) == (path,)


@pytest.mark.parametrize("name", ["package.module:Mine", "contrastive", "mine.py", "a/b:Mine"])
def test_other_names_are_of_no_file(name):
    assert class_in_file(name) == ""
    assert paths_in(name) == ()


def test_the_fingerprint_is_of_name_and_bytes_and_not_of_the_place(tmp_path):
    found = set()
    for folder, number in (("a", 1), ("b", 1), ("c", 2)):
        name = read(tmp_path / folder, "mine.py", LOSS.format(scale=number))
        found.add(foreign_code(name).fingerprint)
    assert len(found) == 2
    assert foreign_code(name).sources == {"mine.py": (tmp_path / "c" / "mine.py").read_bytes()}


def test_what_it_imports_of_ones_own_counts(tmp_path, monkeypatch):
    (tmp_path / "own_scales_of_a_file.py").write_text("SCALE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = "def late():\n    import own_scales_of_a_file, json, torch\n"
    name = read(tmp_path / "a", "mine.py", text)
    assert sorted(foreign_code(name).sources) == ["mine.py", "own_scales_of_a_file.py"]


def test_it_hides_no_module_and_no_other_file(tmp_path):
    before = list(sys.path)
    first = module_class("loss", read(tmp_path / "a", "json.py", LOSS.format(scale=1)))
    second = module_class("loss", read(tmp_path / "b", "json.py", LOSS.format(scale=2)))
    assert (scale(first), scale(second)) == (1, 2)
    assert module_class("loss", "json.py:Mine") is second
    import json

    assert json.loads("1") == 1
    assert sys.path == before


def test_bytes_alone_are_enough(tmp_path):
    name = read(tmp_path, "mine.py", LOSS.format(scale=3))
    sent = files_of(f"contrastive+{name}")
    (tmp_path / "mine.py").unlink()
    keep_files({"mine.py": b"other"})
    keep_files(sent)
    assert scale(module_class("loss", name)) == 3


def test_the_version_changes_with_the_content(tmp_path):
    name = read(tmp_path, "mine.py", "SCALE = 1")
    before = version_of(name)
    read(tmp_path, "mine.py", "SCALE = 1")
    assert version_of(name) == before
    read(tmp_path, "mine.py", "SCALE = 2")
    assert version_of(name) != before
    assert version_of("contrastive") == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import torch\nclass Mine(:\n", r"loss own\.py:Mine: own\.py, line 2: invalid syntax"),
        ("import beside_it_there\n", r"own\.py, line 1: ModuleNotFoundError: .* is run alone, .*"),
        ("from . import beside\n", r"own\.py, line 1: ImportError: .* is run alone, .*"),
        ("import sys\nsys.exit(0)", r"own\.py, line 2: SystemExit: it ends the program \(0\)$"),
        ("def f():\n    return 1 / 0\nf()\n", r"own\.py, line 2: ZeroDivisionError: .*"),
        (
            "import torch\nfrom torch.nn import Linear\nclass Min(torch.nn.Module): ...",
            r"unknown loss of own\.py 'Mine' \(did you mean 'Min'\?\); known: Min$",
        ),
        ("class Mine: ...", r"loss own\.py:Mine must be a subclass of torch.nn.Module"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, text, problem):
    name = read(tmp_path, "own.py", text)
    with pytest.raises(TrialInputError, match=problem) as refused:
        module_class("loss", name)
    assert "\n" not in str(refused.value)
    assert not [
        it for it in sys.modules if it.startswith("podium_file_own_") and "Min" not in text
    ]


def test_a_file_that_is_not_there_is_named_with_its_neighbours(tmp_path):
    (tmp_path / "mine.py").touch()
    with pytest.raises(TrialInputError, match=r"no file .*/min\.py; files there: mine\.py"):
        read_files("min.py:Mine", tmp_path)
    with pytest.raises(TrialInputError, match="Could not determine home"):
        read_files("~no_such_user_here/min.py:Mine", tmp_path)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    (tmp_path / "large.py").write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(TrialInputError, match="too large: a file of code has at most"):
        read_files("large.py:Mine", tmp_path)


def test_a_file_whose_path_was_never_given_is_asked_for():
    with pytest.raises(TrialInputError, match=r"such as \./never_read\.py:Class"):
        module_class("loss", "never_read.py:Mine")


def test_a_module_that_is_not_on_the_python_path_says_what_was_tried():
    with pytest.raises(TrialInputError) as refused:
        module_class("loss", "no_such_module_here:Mine")
    assert f" in {sys.path[0] or '.'}" in str(refused.value)
    assert "./no_such_module_here.py:Class" in str(refused.value)
