"""The page of data sets has the counts that the code asserts."""

import re

from podium.commands.datasets_fetchable import FETCHABLE
from podium.trainables.dataset_readers.read_images import READERS
from podium.trainables.datasets._image_folder import _DEFAULTS
from podium.trainables.file_caches.resized_images import resized_size
from tests.docs.code_blocks import TEXTS
from tests.docs.test_pages import rows_of_table

PAGE = "docs/reference/data-sets.md"
PUBLISHED = {name: reader.PUBLISHED for name, reader in READERS.items() if reader.PUBLISHED}


def numbers(text):
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def table(head):
    return {row[0].strip("`"): row[1:] for row in rows_of_table(PAGE, head)}


def test_it_has_the_published_classes_and_images_of_every_data_set():
    rows = table("name")
    assert rows.keys() == READERS.keys()
    for name, published in PUBLISHED.items():
        train, test = rows[name][:2]
        assert numbers(train) == [*published["train"]]
        others = [counts for role, counts in published.items() if role != "train"]
        assert numbers(test) == [others[0].classes, *(counts.images for counts in others)]


def test_it_has_every_option_with_its_default():
    rows = table("option of image files")
    assert {name: row[0] for name, row in rows.items()} == {
        name: "must be given" if default is None else f"`{str(default).lower()}`"
        for name, default in _DEFAULTS.items()
    }


def test_it_has_every_picture_set_with_its_packages_and_licences():
    rows = table("picture set")
    assert {name: row[2] for name, row in rows.items()} == {
        name: "; ".join(f"`{it.name}`: {it.licence}" for it in found.packages)
        for name, found in FETCHABLE.items()
    }


def test_it_says_how_large_the_cache_is():
    width, height = resized_size(400, 300, 256)
    rows = table("cache of")
    assert rows.keys() == PUBLISHED.keys()
    for name, (images, gigabytes) in rows.items():
        total = sum(counts.images for counts in PUBLISHED[name].values())
        assert numbers(images) == [total]
        assert float(gigabytes) == round(total * 3 * width * height / 1e9, 1)


def test_it_shows_the_tree_of_every_data_set():
    for name in PUBLISHED:
        first = READERS[name].LAYOUT.tree.splitlines()[0].strip()
        assert first in TEXTS[PAGE], name
