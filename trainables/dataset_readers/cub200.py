"""CUB-200-2011: birds. The first half of the classes is for training, the second for testing."""

from pathlib import Path

from podium.trainables.dataset_readers.disk_layout import Layout
from podium.trainables.dataset_readers.image_list import (
    ImageList,
    LabelledImage,
    Published,
    RoleCounts,
)

PUBLISHED: Published = {"train": RoleCounts(100, 5864), "test": RoleCounts(100, 5924)}

LAYOUT = Layout(
    name="cub200",
    tree="""\
    CUB_200_2011/
      images.txt               image id, path
      image_class_labels.txt   image id, class id
      classes.txt              class id, class name
      images/001.Black_footed_Albatross/*.jpg""",
    source="From https://www.vision.caltech.edu/datasets/cub_200_2011/ (CUB_200_2011.tgz)",
)


def read(
    root: Path, *, published: Published = PUBLISHED, allow_partial: bool = False
) -> ImageList:
    """Classes 1 to 100 for training, 101 to 200 for testing.

    ``train_test_split.txt`` has the classification split, with every class on both sides; it is
    ignored. The root is ``CUB_200_2011`` or the folder above it; see `Reader.read`.
    """
    folder = LAYOUT.find(root, ("CUB_200_2011", "cub200", "CUB200"), "images.txt").parent
    labels_file = folder / "image_class_labels.txt"
    class_ids = _pairs(labels_file, ("image id", "class id"))
    names = _pairs(folder / "classes.txt", ("class id", "class name"))
    _assert_numbered(folder / "classes.txt", names)
    last_train = published["train"].classes
    images = []
    for image_id, path in LAYOUT.rows(folder / "images.txt", ("image id", "path")):
        class_id = class_ids.get(image_id, "none")
        if class_id not in names:
            raise LAYOUT.wrong(
                f"image {image_id} must have a class in image_class_labels.txt and a name for it "
                f"in classes.txt; got class {class_id}"
            )
        if Path(path).parent.name != names[class_id]:
            raise LAYOUT.wrong(
                f"an image must be in the folder of its class, {names[class_id]}; got {path}"
            )
        is_train = LAYOUT.whole(class_id, labels_file) <= last_train
        image_path = folder / "images" / path
        images.append(LabelledImage(image_path, names[class_id], "train" if is_train else "test"))
    return LAYOUT.image_list(images, published, allow_partial=allow_partial)


def _assert_numbered(file: Path, names: dict[str, str]) -> None:
    """That a class is what its number says: the halves go by number."""
    for class_id, name in names.items():
        if not name.startswith(f"{LAYOUT.whole(class_id, file):03d}."):
            raise LAYOUT.wrong(
                f"{file}: the name of a class must begin with its number, such as "
                f"001.Black_footed_Albatross; got {class_id} {name}"
            )


def _pairs(file: Path, columns: tuple[str, str]) -> dict[str, str]:
    return {cells[0]: cells[1] for cells in LAYOUT.rows(file, columns)}
