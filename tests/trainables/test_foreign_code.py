"""What counts of code that is named by import path, wherever it lies and whatever imports it."""

import compileall
import hashlib
import importlib.util
import json
import os
import shutil
import sys
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.foreign_code import ForeignCode, foreign_code

PACKAGE = {
    "own_package/__init__.py": "from own_package.losses import Mine\n",
    "own_package/losses/__init__.py": "from .mine import Mine\n",
    "own_package/losses/mine.py": "from .. import scales\nfrom . import unused\nclass Mine: ...",
    "own_package/losses/unused.py": "",
    "own_package/scales.py": "import own_helper\nSCALE = 1\n",
    "own_package/other.py": "SCALE = 2\n",
    "own_helper.py": "import own_package\n",
}


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder on the Python path."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def files_of(name="own_loss:Mine"):
    return sorted(foreign_code(name).sources)


def test_a_module_counts_with_all_that_it_imports_of_ones_own(own):
    write(own, PACKAGE)
    assert files_of("own_package:Mine") == [
        "own_helper.py",
        "own_package/__init__.py",
        "own_package/losses/__init__.py",
        "own_package/losses/mine.py",
        "own_package/losses/unused.py",
        "own_package/scales.py",
    ]
    assert files_of("own_package.losses.mine:Mine") == files_of("own_package:Mine")


@pytest.mark.parametrize(
    "line",
    [
        "import own_helper",
        "import own_helper as h",
        "from own_helper import x",
        "from own_helper import *",
        "def f():\n    import own_helper",
        "class A:\n    def f(self):\n        from own_helper import x",
        "try:\n    import own_helper\nexcept ImportError:\n    pass",
        "if False:\n    import own_helper",
        "import os, own_helper",
    ],
)
def test_an_import_is_seen_wherever_it_stands(own, line):
    write(own, {"own_loss.py": line, "own_helper.py": "x = 1"})
    assert files_of() == ["own_helper.py", "own_loss.py"]


@pytest.mark.parametrize(
    "line",
    [
        "from . import part",
        "from .part import x",
        "from .inner import deep",
        "from .inner.deep import x",
        "import own_package.inner.deep",
        "from own_package.inner import deep",
    ],
)
def test_relative_and_absolute_imports_are_followed_through_packages(own, line):
    write(
        own,
        {
            "own_package/__init__.py": "",
            "own_package/mine.py": line,
            "own_package/part.py": "from .inner import deep",
            "own_package/inner/__init__.py": "",
            "own_package/inner/deep.py": "from ..deeper import y",
            "own_package/deeper.py": "",
        },
    )
    found = files_of("own_package.mine:Mine")
    assert {"own_package/inner/deep.py", "own_package/deeper.py"} <= set(found)


def test_a_package_without_an_init_is_followed(own):
    write(own, {"spaced/inner/mine.py": "from . import other", "spaced/inner/other.py": ""})
    assert files_of("spaced.inner.mine:Mine") == ["spaced/inner/mine.py", "spaced/inner/other.py"]


def test_circles_of_imports_end(own):
    write(own, {"own_loss.py": "import own_a", "own_a.py": "import own_b, own_loss"})
    write(own, {"own_b.py": "import own_a, own_b"})
    assert files_of() == ["own_a.py", "own_b.py", "own_loss.py"]


def test_a_helper_in_another_folder_of_the_python_path_counts(own, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(write(tmp_path / "more", {"own_helper.py": ""}))
    write(own, {"own_loss.py": "import own_helper"})
    assert files_of() == ["own_helper.py", "own_loss.py"]


def test_what_is_installed_pythons_or_podiums_does_not_count_as_own(own):
    write(
        own,
        {"own_loss.py": "import torch, math, json, podium.trainables.losses.margin, podium, sys"},
    )
    assert files_of() == ["own_loss.py"]
    assert foreign_code("podium.trainables.losses.margin:Margin") is None


def test_the_fingerprint_is_the_same_wherever_the_folder_lies(own, tmp_path, monkeypatch):
    write(own, PACKAGE)
    before = foreign_code("own_package:Mine")
    moved = tmp_path / "moved"
    shutil.move(own, moved)
    monkeypatch.syspath_prepend(moved)
    after = foreign_code("own_package:Mine")
    assert after == before
    assert after.fingerprint == before.fingerprint


@pytest.mark.parametrize("name", [name for name in PACKAGE if "other" not in name])
def test_every_byte_of_every_file_changes_the_fingerprint(own, name):
    write(own, PACKAGE)
    before = foreign_code("own_package:Mine").fingerprint
    for change in (b"# a comment", b"\r\n", b" "):
        whole = (own / name).read_bytes()
        (own / name).write_bytes(whole + change)
        assert foreign_code("own_package:Mine").fingerprint != before
        (own / name).write_bytes(whole)
    assert foreign_code("own_package:Mine").fingerprint == before


def test_what_is_not_imported_changes_nothing(own):
    write(own, PACKAGE)
    before = foreign_code("own_package:Mine").fingerprint
    write(own, {"own_package/other.py": "SCALE = 3", "own_package/new.py": "", "notes.txt": ""})
    assert compileall.compile_dir(own, quiet=True)
    assert foreign_code("own_package:Mine").fingerprint == before


def test_nothing_is_run(own):
    mark = own / "mark"
    write(own, {"own_package/__init__.py": f"open({str(mark)!r}, 'w')"})
    write(own, {"own_package/mine.py": f"open({str(mark)!r}, 'w')\nimport own_package.part"})
    write(own, {"own_package/part.py": f"open({str(mark)!r}, 'w')"})
    assert len(files_of("own_package.mine:Mine")) == 3
    assert not mark.exists()
    assert "own_package" not in sys.modules


def test_code_that_cannot_be_run_counts_by_its_bytes(own):
    write(own, {"own_loss.py": "import own_broken, own_null", "own_broken.py": "import own_x = ="})
    (own / "own_null.py").write_bytes(b"\0")
    write(own, {"own_x.py": ""})
    assert files_of() == ["own_broken.py", "own_loss.py", "own_null.py"]


def test_imports_out_of_the_package_and_of_what_is_missing_are_left_out(own):
    write(own, {"own_loss.py": "from ... import x\nfrom . import y\nimport no_such, own_x.y"})
    write(own, {"own_x.py": ""})
    assert files_of() == ["own_loss.py", "own_x.py"]


def test_a_link_counts_by_what_it_leads_to(own, tmp_path):
    write(tmp_path, {"elsewhere/helper.py": "x = 1"})
    write(own, {"own_loss.py": "import own_helper"})
    (own / "own_helper.py").symlink_to(tmp_path / "elsewhere" / "helper.py")
    before = foreign_code("own_loss:Mine")
    assert before.sources["own_helper.py"] == b"x = 1"
    write(tmp_path, {"elsewhere/helper.py": "x = 2"})
    assert foreign_code("own_loss:Mine").fingerprint != before.fingerprint


def test_a_compiled_module_counts_by_its_bytes(own):
    name = f"own_fast{EXTENSION_SUFFIXES[0]}"
    write(own, {"own_loss.py": "import own_fast"})
    (own / name).write_bytes(b"\x7fELF import own_loss")
    assert foreign_code("own_loss:Mine").sources[name] == b"\x7fELF import own_loss"


def test_a_module_that_is_not_there_is_refused(own):
    write(own, {"own_loss.py": ""})
    for name in ("no_such", "own_loss.part"):
        message = f"{name}:Mine: there is no file of a module {name} on the Python path"
        with pytest.raises(TrialInputError, match=message):
            foreign_code(f"{name}:Mine")
    with pytest.raises(TrialInputError, match="there is no file of a module sys"):
        foreign_code("sys:Mine")


def test_a_network_of_timm_needs_timm(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "timm", raising=False)
    with pytest.raises(
        TrialInputError, match=r"there is no file of a module timm: pip install 'podium\[timm"
    ):
        foreign_code("timm:resnet18")


def test_a_file_that_cannot_be_read_is_refused_by_name(own):
    (own / "own_loss.py").mkdir()
    (own / "own_package").mkdir()
    os.mkfifo(own / "own_package" / "__init__.py")
    for name in ("own_loss", "own_package"):
        with pytest.raises(TrialInputError, match=name):
            foreign_code(f"{name}:Mine")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder with a package as pip leaves it."""
    about = "some_losses-1.5.dist-info"
    files = {
        "odd_losses/__init__.py": "from odd_losses.mine import Mine\n",
        "odd_losses/mine.py": "class Mine: ...\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: some-losses\nVersion: 1.5\n",
        f"{about}/RECORD": "odd_losses/__init__.py,sha256=a,33\nodd_losses/mine.py,sha256=b,16\n",
    }
    folder = write(tmp_path / "venv" / "site-packages", files)
    monkeypatch.syspath_prepend(folder)
    return folder


def test_an_installed_package_counts_by_name_version_and_files(package):
    found = foreign_code("odd_losses:Mine")
    assert found.sources == {}
    assert list(found.packages) == ["some-losses 1.5"]
    assert found == foreign_code("odd_losses.mine:Mine")


def test_an_installed_package_is_the_same_in_another_environment(package, tmp_path, monkeypatch):
    before = foreign_code("odd_losses:Mine")
    other = tmp_path / "other" / "site-packages"
    shutil.copytree(package, other, copy_function=shutil.copy)  # all files are younger
    monkeypatch.syspath_prepend(other)
    assert foreign_code("odd_losses:Mine") == before


def test_a_module_that_was_put_among_installed_packages_counts_by_its_source(package):
    write(package, {"own_loss/__init__.py": "from . import part\nimport odd_losses"})
    write(package, {"own_loss/part.py": ""})
    assert files_of() == ["own_loss/__init__.py", "own_loss/part.py"]


def test_an_editable_install_counts_by_its_source(own, package):
    write(own, {"odd_losses/__init__.py": "from . import mine", "odd_losses/mine.py": ""})
    sys.path.remove(str(own))
    sys.path.insert(0, str(own))  # before the installed one, as by a .pth file or a finder
    assert files_of("odd_losses:Mine") == ["odd_losses/__init__.py", "odd_losses/mine.py"]


def test_a_package_that_a_finder_leads_to_is_found(own, tmp_path, monkeypatch):
    write(tmp_path / "elsewhere", {"mapped/__init__.py": "", "mapped/mine.py": "from . import a"})
    write(tmp_path / "elsewhere", {"mapped/a.py": ""})

    class Editable:
        @staticmethod
        def find_spec(name, path, target=None):
            if name != "own_mapped":
                return None
            file = tmp_path / "elsewhere" / "mapped" / "__init__.py"
            return importlib.util.spec_from_file_location(name, file)

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Editable])
    assert files_of("own_mapped.mine:Mine") == [
        "own_mapped/__init__.py",
        "own_mapped/a.py",
        "own_mapped/mine.py",
    ]


def test_a_fingerprint_is_that_of_names_and_hashes():
    code = ForeignCode(sources={"b.py": b"2", "a.py": b"1"})
    files = {name: hashlib.sha256(data).hexdigest() for name, data in code.sources.items()}
    text = json.dumps({"files": files, "packages": {}}, sort_keys=True)
    assert code.fingerprint == hashlib.sha256(text.encode()).hexdigest()
    assert code.fingerprint == ForeignCode(sources={"a.py": b"1", "b.py": b"2"}).fingerprint
    assert code.fingerprint != ForeignCode(packages={"b 2": "2"}).fingerprint
