"""The frozen characters of the glyphs data set against the fonts they were chosen from.

The lists were cut at a difference of 0.02. Other versions of FreeType draw slightly other images,
so that the tests leave a tenth to either side.
"""

import unicodedata

import numpy as np
import pytest

from podium.trainables.datasets._glyph_alphabets import ALPHABETS
from podium.trainables.datasets._glyph_fonts import FACES, faces_by_character
from podium.trainables.errors import TrialInputError
from tests.soak import soak
from tests.trainables.datasets.glyph_likeness import (
    SCRIPTS,
    candidates,
    differences,
    shared_outlines,
)

SURELY_DIFFERENT = 0.018
SURELY_ALIKE = 0.022
MOST_FACES = 0.5
LARGE_SCRIPTS = sorted({*SCRIPTS} - {"armenian"})


@pytest.mark.parametrize("script", ["armenian", *soak(*LARGE_SCRIPTS)])
def test_an_alphabet_is_what_remains_of_a_script_without_look_alikes(script):
    offered, kept = candidates(script), set(ALPHABETS[script])
    assert kept <= set(offered)
    assert_look_alikes_dropped(offered, kept)


@pytest.mark.soak
def test_all_is_what_remains_of_the_alphabets_without_look_alikes():
    offered = sorted(set().union(*(ALPHABETS[script] for script in SCRIPTS)))
    assert_look_alikes_dropped(offered, set(ALPHABETS["all"]))


def assert_look_alikes_dropped(offered, kept):
    is_kept = np.array([character in kept for character in offered])
    apart, shared = differences(offered), shared_outlines(offered)
    for row, character in enumerate(offered):
        earlier = np.flatnonzero(is_kept[:row])
        nearest = apart[row, earlier].min(initial=1.0)
        most_shared = shared[row, earlier].max(initial=0.0)
        if is_kept[row]:
            assert nearest > SURELY_DIFFERENT, character
            assert most_shared < MOST_FACES, character
        else:
            assert nearest < SURELY_ALIKE or most_shared >= MOST_FACES, character


def test_homoglyphs_across_scripts_are_in_their_script_but_once_in_all():
    for script, character in (("latin", "A"), ("greek", "Α"), ("cyrillic", "А")):
        assert unicodedata.name(character).startswith(script.upper())
        assert character in ALPHABETS[script]
    assert [character for character in "AΑА" if character in ALPHABETS["all"]] == ["A"]
    assert set(ALPHABETS["all"]) < set().union(*(ALPHABETS[script] for script in SCRIPTS))


def test_parts_of_the_symbols_have_none_in_common():
    parts = [ALPHABETS[name] for name in ("arrows", "operators", "shapes")]
    assert set().union(*parts) < set(ALPHABETS["symbols"])
    assert len(set().union(*parts)) == sum(map(len, parts)) == 112 + 86 + 254


@pytest.mark.parametrize("script", ALPHABETS)
def test_every_character_has_a_name_and_enough_faces(script):
    alphabet = ALPHABETS[script]
    assert list(alphabet) == sorted(set(alphabet))
    assert all(unicodedata.name(character) for character in alphabet)
    counts = [len(faces) for faces in faces_by_character(alphabet).values()]
    assert min(counts) >= 12
    assert max(counts) <= len(FACES) == 16


def test_a_character_in_too_few_faces_means_other_fonts():
    with pytest.raises(TrialInputError, match=r"U\+4E00 is in 0: matplotlib .* ships other fonts"):
        faces_by_character("A一")
