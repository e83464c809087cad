import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.trainables.dataset_interface.load_dataset import dataset_facts, load_dataset
from podium.trainables.datasets import _glyph_fonts
from podium.trainables.datasets._glyph_alphabets import ALPHABETS
from podium.trainables.datasets._glyph_fonts import faces_by_character
from podium.trainables.datasets._glyph_render import _coefficients, _variation, render_glyphs
from podium.trainables.datasets.glyphs import Glyphs
from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.soak import soak

SMALL = {"script": "greek", "classes": 20, "instances_per_class": 3}
GEORGIAN = {"script": "georgian", "instances_per_class": 6}


def glyphs(folder, **options):
    return Glyphs.load({**SMALL, **options}, folder)


def images_by_class(dataset):
    return {
        name: np.asarray(dataset.pixels.images_NHW[dataset.labels == class_id])
        for class_id, name in enumerate(dataset.class_names)
    }


def halves(dataset):
    return tuple(
        {dataset.class_names[class_id] for class_id in side}
        for side in (dataset.train_classes, dataset.test_classes)
    )


@pytest.mark.parametrize(
    "options",
    [{"script": "georgian"}, {**SMALL, "classes": 21, "size": 40, "seed": 5}],
)
def test_the_data_set_is_what_the_facts_say(tmp_path, options):
    dataset = Glyphs.load(options, tmp_path)
    facts = Glyphs.facts(options)
    assert len(dataset.train_classes) == facts.num_train_classes
    assert len(dataset.test_classes) == facts.num_test_classes
    assert len(dataset.pixels.images_NHW) == len(dataset.labels) == facts.num_images
    size = options.get("size", 32)
    assert dataset.pixels.images_NHW.shape[1:] == (size, size)
    assert (dataset.pixels.images_NHW.dtype, dataset.labels.dtype) == (np.uint8, np.int64)
    assert len(set(np.bincount(dataset.labels).tolist())) == 1


def test_the_facts_of_every_script_are_those_of_its_alphabet_and_quick():
    started = time.thread_time()
    for script, alphabet in ALPHABETS.items():
        facts = Glyphs.facts({"script": script})
        assert facts.num_train_classes + facts.num_test_classes == len(alphabet)
        assert facts.num_images == 16 * len(alphabet)
        assert 0 <= facts.num_train_classes - facts.num_test_classes <= 1
    assert time.thread_time() - started < 0.01 * len(ALPHABETS)


def test_classes_are_named_by_code_point_and_sorted(tmp_path):
    names = glyphs(tmp_path, script="latin", classes=697, instances_per_class=2).class_names
    assert names[0] == "U+0041 LATIN CAPITAL LETTER A"
    assert list(names) == sorted(names)


def test_the_halves_are_disjoint_complete_and_another_seed_draws_others(tmp_path):
    dataset = glyphs(tmp_path, classes=21)
    train, test = halves(dataset)
    assert not train & test
    assert train | test == set(dataset.class_names)
    assert (len(train), len(test)) == (11, 10)
    assert halves(glyphs(tmp_path, classes=21, seed=1)) != (train, test)


def test_more_classes_keep_the_halves_and_images_of_those_there(tmp_path):
    few, many = glyphs(tmp_path), glyphs(tmp_path, classes=33)
    for small, large in zip(halves(few), halves(many), strict=True):
        assert small < large
    more = images_by_class(many)
    for name, images in images_by_class(few).items():
        np.testing.assert_array_equal(images, more[name])


def test_an_image_does_not_depend_on_the_order_of_drawing_or_on_the_script():
    both = render_glyphs(faces_by_character("xy"), instances=14, seed=3, size=32)
    turned = render_glyphs(faces_by_character("yx"), instances=14, seed=3, size=32)
    np.testing.assert_array_equal(both, np.roll(turned, 14, axis=0))
    fewer = render_glyphs(faces_by_character("x"), instances=5, seed=3, size=32)
    np.testing.assert_array_equal(both[:5], fewer)


@given(st.text(max_size=8))
def test_a_variation_is_small_and_undoes_scale_shear_turn_and_shift(drawn):
    degrees, shear, *scales, shift_x, shift_y, ink_share = _variation(drawn)
    shift = shift_x, shift_y
    turn = math.radians(degrees)
    scale = [scales[0] + scales[1], scales[0] - scales[1]]
    turned = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    forward = np.array(turned) @ [[1, shear], [0, 1]] @ np.diag(np.exp(scale))
    place = np.array([3.0, 25.0])  # in a drawing of 64 pixels, for an image of 32
    seen_at = forward @ (place / 2 - 16) + 16 + 32 * np.array(shift)
    found = _coefficients([degrees, shear, *scales, *shift], 32)
    looks_at = np.reshape(found, (2, 3)) @ [*seen_at, 1.0]
    np.testing.assert_allclose(looks_at, place, atol=1e-9)
    assert abs(degrees) <= 10
    assert np.abs(shift).max() <= 0.05
    assert abs(ink_share) <= 1


def test_instances_differ_and_another_seed_draws_others(tmp_path):
    first = images_by_class(Glyphs.load(GEORGIAN, tmp_path))
    every = np.concatenate(list(first.values()))
    assert len(np.unique(every, axis=0)) == len(every) == 43 * 6
    other = images_by_class(Glyphs.load({**GEORGIAN, "seed": 1}, tmp_path))
    assert len(first) == len(other) == 43
    for name in first:
        assert not (first[name] == other[name]).all((1, 2)).any()


@pytest.mark.parametrize("script", ["operators", *soak(*{*ALPHABETS} - {"operators"})])
def test_every_image_shows_ink_on_ground(script, tmp_path):
    dataset = Glyphs.load({"script": script, "instances_per_class": 2, "seed": 11}, tmp_path)
    assert dataset.pixels.images_NHW.max((1, 2)).min() > 127
    assert dataset.pixels.images_NHW.min() == 0


def test_images_are_drawn_once(tmp_path, monkeypatch):
    first = glyphs(tmp_path)
    monkeypatch.setattr("podium.trainables.datasets.glyphs.render_glyphs", None)
    again = glyphs(tmp_path)
    assert isinstance(again.pixels.images_NHW, np.memmap)
    assert again.fingerprint == first.fingerprint


def test_another_option_is_another_file_and_another_fingerprint(tmp_path):
    variants = [
        glyphs(tmp_path),
        glyphs(tmp_path, script="cyrillic"),
        glyphs(tmp_path, classes=22),
        glyphs(tmp_path, instances_per_class=4),
        glyphs(tmp_path, seed=1),
        glyphs(tmp_path, size=33),
    ]
    assert len(list((tmp_path / "glyphs").glob("*.npy"))) == len(variants)
    assert len({dataset.fingerprint for dataset in variants}) == len(variants)


def test_the_same_settings_give_the_same_object_and_defaults_may_be_spelled_out(tmp_path):
    settings = DatasetSettings(name="glyphs", options=SMALL)
    dataset = load_dataset(settings, str(tmp_path))
    assert load_dataset(settings, str(tmp_path)) is dataset
    spelled = DatasetSettings(name="glyphs", options={**SMALL, "seed": 0, "size": 32})
    assert load_dataset(spelled, str(tmp_path)).fingerprint == dataset.fingerprint
    assert len(list((tmp_path / "glyphs").glob("*.npy"))) == 1


def test_without_a_cache_folder_images_are_kept_below_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    load_dataset(DatasetSettings(name="glyphs", options=SMALL), None)
    assert len(list((tmp_path / "xdg" / "podium" / "glyphs").glob("*.npy"))) == 1
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    load_dataset(DatasetSettings(name="glyphs", options={**SMALL, "seed": 2}), None)
    assert len(list((tmp_path / "home" / ".cache" / "podium" / "glyphs").glob("*.npy"))) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"script": "latn"},
            r"script must be one of all, .*shapes; got 'latn' \(did you .*'latin'",
        ),
        (
            {"clases": 5},
            r"unknown option 'clases' \(did you mean 'classes'\?\); known: script, cl",
        ),
        (
            {"script": "greek", "classes": 250},
            r"classes must be .* in 6\.\.249 for script 'greek'; g",
        ),
        ({"classes": 5}, r"classes must be a whole number in 6\.\.697 for script 'latin'; got 5"),
        (
            {"instances_per_class": 1},
            r"instances_per_class must be a whole number in 2\.\.256; got 1",
        ),
        ({"seed": -1}, r"seed must be .*; got -1"),
        ({"size": True}, r"size must be .*; got True"),
        (
            {"script": "x", "seed": -1, "y": 0},
            r"glyphs: unknown option 'y'.*; script .*; seed .*-1$",
        ),
    ],
)
def test_bad_options_are_refused_all_at_once(options, message, tmp_path):
    settings = DatasetSettings(name="glyphs", options=options)
    with pytest.raises(TrialInputError, match=message):
        dataset_facts(settings)
    with pytest.raises(TrialInputError, match=message):
        load_dataset(settings, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_data_set_is_refused():
    with pytest.raises(TrialInputError, match=r"unknown data set 'glyph' \(did you mean 'glyphs'"):
        dataset_facts(DatasetSettings(name="glyph"))


def test_a_missing_font_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(_glyph_fonts, "_font_folder", lambda: tmp_path)
    _glyph_fonts.fonts_hash.cache_clear()
    with pytest.raises(
        TrialInputError, match=r"fonts matplotlib ships; .*DejaVuSans\.ttf: No such"
    ):
        glyphs(tmp_path / "cache")
