"""The worked example of docs/how-to/add-a-loss.md, executed in a copy of the packages."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from tests.docs.code_blocks import ROOT, blocks

LOSS = "snr_contrastive"
FILES = {
    block.file: block.text
    for block in blocks("docs/how-to/add-a-loss.md", "python")
    if "/" in block.file
}
ROWS = {block.file: block.text for block in blocks("docs/how-to/add-a-loss.md", "text")}
ABOVE = {  # lines below which the rows of the page belong, and how far in
    "search_spaces/joint.py": ("JOINT: dict[str, Ranges] = {\n", "    "),
    "search_spaces/families.py": ('    "contrastive": {\n', "        "),
}

# One process, since loading torch takes longer than everything else.
TRAIN_AND_TEST = f"""
import sys
import pytest, torch
from podium.cli import main
from podium import trainables
assert trainables.__file__.startswith({{root!r}}), trainables.__file__
torch.set_num_threads(1)
try:
    settings = ["--set", "epochs=1", "--set", "dataset.classes=40"]
    main(["trial", "train", "--loss", "{LOSS}", *settings])
except SystemExit as ended:
    assert not ended.code
sys.exit(pytest.main(["-k", "{LOSS} or has_its_search_space", "-p", "no:cacheprovider",
    "tests/trainables/losses/test_every_loss.py", "tests/search_spaces/test_every_space.py",
    "tests/trainables/losses/test_against_oracles.py"]))
"""


def example():
    """Path -> text of what the page adds: its files, and tables with its rows."""
    tables = {}
    for path, row in ROWS.items():
        table = (ROOT / path).read_text(encoding="utf-8")
        above, margin = ABOVE[path]
        assert above in table
        tables[path] = table.replace(above, above + indent(row, margin))
    return {**FILES, **tables}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The packages with the example's files added."""
    root = tmp_path_factory.mktemp("podium")
    for package in ("podium", "analysis", "search_spaces", "trainables", "orchestrator"):
        shutil.copytree(ROOT / package, root / package, symlinks=True)
    for folder in ("losses", "losses/oracles"):
        target = root / "tests" / "trainables" / folder
        target.mkdir(parents=True)
        for file in (ROOT / "tests" / "trainables" / folder).glob("*.py"):
            shutil.copy2(file, target)
    shutil.copytree(ROOT / "tests" / "search_spaces", root / "tests" / "search_spaces")
    shutil.copy2(ROOT / "tests" / "soak.py", root / "tests")
    shutil.copy2(ROOT / "pyproject.toml", root)
    for path, code in example().items():
        (root / path).write_text(code, encoding="utf-8")
    return root


def test_the_page_shows_the_files_and_rows_of_one_loss():
    assert list(FILES) == [
        f"trainables/losses/{LOSS}.py",
        f"tests/trainables/losses/oracles/{LOSS}.py",
    ]
    assert list(ROWS) == ["search_spaces/joint.py", "search_spaces/families.py"]
    assert not any((ROOT / path).exists() for path in FILES)


def test_the_loss_of_the_page_trains_and_passes_the_tests_of_every_loss(copy):
    ended = subprocess.run(
        [sys.executable, "-c", TRAIN_AND_TEST.format(root=str(copy))],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "PATH": "", "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"epoch +1  loss \S+ .* val R@1 0\.\d+", ended.stdout), ended.stdout
    assert int(re.search(r"(\d+) passed", ended.stdout)[1]) >= 30, ended.stdout


def test_the_files_of_the_page_are_in_the_style_of_the_others(tmp_path):
    for path, code in example().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(code, encoding="utf-8")
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    for action in (["check"], ["format", "--check"]):
        ended = subprocess.run(
            [sys.executable, "-m", "ruff", *action, "--no-cache", "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
