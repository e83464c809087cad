import sys
from types import SimpleNamespace

import numpy as np
import pytest

from podium.commands.datasets import readable
from podium.trainables.dataset_interface.class_text import read_class_text
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.podium.calling import call

SMALL = {"classes": 8, "instances_per_class": 2, "size": 16}
GLYPHS = (
    "glyphs",
    *(part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")),
)


class FakeModel:
    """Stands in for a language model: a vector that follows from the sentence."""

    made = ()

    def __init__(self, name):
        if name == "nowhere":
            raise OSError("nowhere is not a local folder\nand more")
        FakeModel.made += (name,)

    def encode(self, sentences, *, show_progress_bar):
        return np.stack([self.vector(sentence) for sentence in sentences])

    @staticmethod
    def vector(sentence):
        return np.float32([len(sentence), *sentence.encode()[-3:]])


@pytest.fixture(autouse=True)
def images_in_a_folder_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def language_model(monkeypatch):
    module = SimpleNamespace(SentenceTransformer=FakeModel)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(FakeModel, "made", ())


@pytest.mark.usefixtures("language_model")
def test_it_writes_what_a_data_set_reads(capsys, tmp_path):
    file = tmp_path / "text.csv"
    called = call(capsys, "datasets", "text", *GLYPHS, "--output", file)
    assert called.code == 0
    assert f"Wrote 8 vectors of 4 numbers to {file}, such as that of 'A photo of" in called.out
    assert FakeModel.made == ("clip-ViT-B-32",)
    dataset = load_dataset(
        DatasetSettings(name="glyphs", options={**SMALL, "class_text": str(file)}), None
    )
    name = dataset.train_class_names[0]
    expected = FakeModel.vector(f"A photo of {readable(name)}")
    np.testing.assert_array_equal(dataset.class_text_CT[0], expected)
    assert len(read_class_text(file, dataset.class_names)) == 8  # the test classes too


@pytest.mark.usefixtures("language_model")
def test_model_and_prompt_can_be_chosen(capsys, tmp_path):
    file = tmp_path / "text.csv"
    more = ("--prompt", "the letter {}, printed", "--model", "other")
    assert call(capsys, "datasets", "text", *GLYPHS, "--output", file, *more).code == 0
    assert FakeModel.made == ("other",)
    assert (
        "'the letter LATIN"
        in call(capsys, "datasets", "text", *GLYPHS, "--output", tmp_path / "again.csv", *more).out
    )


@pytest.mark.parametrize(
    ("class_name", "words"),
    [
        ("001.Black_footed_Albatross", "Black footed Albatross"),
        ("U+0041 LATIN CAPITAL LETTER A", "LATIN CAPITAL LETTER A"),
        ("2012 Audi A4", "2012 Audi A4"),
    ],
)
def test_numbers_of_classes_are_not_read_out(class_name, words):
    assert readable(class_name) == words


def test_without_the_extra_it_says_how_to_install_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    called = call(capsys, "datasets", "text", *GLYPHS, "--output", tmp_path / "text.csv")
    assert called.code == 2
    assert (
        "podium datasets text needs sentence-transformers, which is not installed: " in called.err
    )
    assert "pip install 'podium[text]'" in called.err
    assert not (tmp_path / "text.csv").exists()


@pytest.mark.usefixtures("language_model")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--prompt", "a photo"), "--prompt must have one {}, for the class; got 'a photo'"),
        (
            ("--model", "nowhere"),
            "model 'nowhere' cannot be loaded: nowhere is not a local folder",
        ),
        (("--set", "script=klingon"), "script must be one of"),
        (("--set", "colour=red"), "unknown option 'colour'"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(capsys, tmp_path, arguments, message):
    called = call(
        capsys, "datasets", "text", *GLYPHS, "--output", tmp_path / "text.csv", *arguments
    )
    assert called.code == 2
    assert message in called.err
    assert not (tmp_path / "text.csv").exists()
