"""DeepFashion In-Shop Clothes Retrieval: test images are queries or the gallery they search."""

from pathlib import Path

from podium.trainables.dataset_readers.disk_layout import Layout
from podium.trainables.dataset_readers.image_list import (
    ImageList,
    LabelledImage,
    Published,
    Role,
    RoleCounts,
)

PUBLISHED: Published = {
    "train": RoleCounts(3997, 25_882),
    "query": RoleCounts(3985, 14_218),
    "gallery": RoleCounts(3985, 12_612),
}

_PARTITION = "list_eval_partition.txt"
_COLUMNS = ("image_name", "item_id", "evaluation_status")
_ROLES: dict[str, Role] = {"train": "train", "query": "query", "gallery": "gallery"}
_NUM_HEADER_LINES = 2

LAYOUT = Layout(
    name="in_shop",
    tree="""\
    In-shop Clothes Retrieval Benchmark/
      Eval/list_eval_partition.txt   number of images, header, then name, item, status
      Img/img/WOMEN/Dresses/id_00000002/*.jpg""",
    source=(
        "From https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/InShopRetrieval.html "
        "(list_eval_partition.txt, img.zip)"
    ),
)


def read(
    root: Path, *, published: Published = PUBLISHED, allow_partial: bool = False
) -> ImageList:
    """Training, query and gallery images; a class is an item, such as ``id_00000001``.

    The root has ``Eval`` and ``Img`` or their contents, or is the folder above; see `Reader.read`.
    """
    names = ("In-shop Clothes Retrieval Benchmark", "In-Shop", "Inshop_Clothes", "inshop")
    file = LAYOUT.find(root, names, f"Eval/{_PARTITION}", _PARTITION)
    lines = LAYOUT.lines(file)
    _check_header(file, lines, allow_partial=allow_partial)
    base = file.parent.parent if file.parent.name == "Eval" else file.parent
    image_folder = _image_folder(base)
    images = []
    for name, item, status in LAYOUT.rows(file, _COLUMNS, skip=_NUM_HEADER_LINES):
        if status not in _ROLES or not name.startswith("img/"):
            raise LAYOUT.wrong(
                f"{file} must have names below img/ and one of {', '.join(_ROLES)}; "
                f"got {name!r} and {status!r}"
            )
        path = image_folder / name.removeprefix("img/")
        images.append(LabelledImage(path, item, _ROLES[status]))
    found = LAYOUT.image_list(images, published, allow_partial=allow_partial)
    if not allow_partial:
        _assert_every_item_is_found(found)
    return found


def _assert_every_item_is_found(images: ImageList) -> None:
    labels = images.labels_by_role()
    alone = sorted(set(labels.get("query", ())) ^ set(labels.get("gallery", ())))
    if alone:
        raise LAYOUT.wrong(
            "every test item must be a query and in the gallery; violated by "
            f"{len(alone)}, such as {images.class_names[alone[0]]}"
        )


def _check_header(file: Path, lines: list[str], *, allow_partial: bool) -> None:
    header = tuple(lines[1].split()) if len(lines) > 1 else ()
    if header != _COLUMNS or not lines[0].strip().isdecimal():
        raise LAYOUT.wrong(
            f"{file} must begin with the number of images and the line {' '.join(_COLUMNS)!r}"
        )
    count = sum(bool(line.strip()) for line in lines[_NUM_HEADER_LINES:])
    if int(lines[0]) != count and not allow_partial:
        raise LAYOUT.wrong(f"{file} says that it has {int(lines[0])} images; it has {count}")


def _image_folder(base: Path) -> Path:
    """``img``, which the field trains on; ``img_highres`` where there is nothing else."""
    folders = [base / inside / name for name in ("img", "img_highres") for inside in ("Img", "")]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise LAYOUT.missing(f"{base} has no Img/img")
