"""Stanford Online Products: items sold on eBay, a class each."""

from pathlib import Path

from podium.trainables.dataset_readers.disk_layout import Layout
from podium.trainables.dataset_readers.image_list import (
    ImageList,
    LabelledImage,
    Published,
    Role,
    RoleCounts,
)

PUBLISHED: Published = {"train": RoleCounts(11_318, 59_551), "test": RoleCounts(11_316, 60_502)}

_FILES: dict[str, Role] = {"Ebay_train.txt": "train", "Ebay_test.txt": "test"}
_NUM_DIGITS = 5
_COLUMNS = ("image_id", "class_id", "super_class_id", "path")

LAYOUT = Layout(
    name="sop",
    tree="""\
    Stanford_Online_Products/
      Ebay_train.txt           image_id class_id super_class_id path
      Ebay_test.txt
      bicycle_final/*.JPG      and eleven more such folders""",
    source="From https://cvgl.stanford.edu/projects/lifted_struct/ (Stanford_Online_Products.zip)",
)


def read(
    root: Path, *, published: Published = PUBLISHED, allow_partial: bool = False
) -> ImageList:
    """Training and test images as the two lists have them; a class is named ``00001.bicycle``.

    The root is ``Stanford_Online_Products`` or the folder above it; see `Reader.read`.
    """
    names = ("Stanford_Online_Products", "online_products", "online_products/images", "sop", "SOP")
    folder = LAYOUT.find(root, names, "Ebay_train.txt").parent
    images = [image for name, role in _FILES.items() for image in _images(folder / name, role)]
    found = LAYOUT.image_list(images, published, allow_partial=allow_partial)
    if not allow_partial:
        _assert_numbered(found, published["train"].classes)
    return found


def _assert_numbered(images: ImageList, num_train: int) -> None:
    """That the classes to train on are the first ones: names begin with the number."""
    for number, name in enumerate(images.class_names, 1):
        if int(name[:_NUM_DIGITS]) != number:
            raise LAYOUT.wrong(
                f"classes must be numbered from 1 on without gaps, as published; there is no "
                f"class {number}"
            )
    first_half = {label for label in images.labels_by_role()["train"] if label < num_train}
    if len(first_half) != num_train:
        raise LAYOUT.wrong(f"classes 1 to {num_train} must be the training classes, as published")


def _images(file: Path, role: Role) -> list[LabelledImage]:
    rows = list(LAYOUT.rows(file, _COLUMNS))
    if rows[:1] != [_COLUMNS]:
        raise LAYOUT.wrong(f"{file} must begin with the line {' '.join(_COLUMNS)!r}")
    # A mirror has the lists beside a folder with the images.
    inner = file.parent / "images"
    base = inner if inner.is_dir() else file.parent
    return [
        LabelledImage(base / path, _class_name(LAYOUT.whole(class_id, file), path), role)
        for _, class_id, _, path in rows[1:]
    ]


def _class_name(class_id: int, path: str) -> str:
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return f"{class_id:0{_NUM_DIGITS}d}.{folder.removesuffix('_final')}"
