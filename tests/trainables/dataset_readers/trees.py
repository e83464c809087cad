"""Small trees in the formats that the data sets are published in."""

from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat

from podium.trainables.dataset_readers.image_list import RoleCounts

# What there is in the trees, in place of what was published.
CUB200 = {"train": RoleCounts(2, 5), "test": RoleCounts(2, 5)}
CARS196 = {"train": RoleCounts(2, 5), "test": RoleCounts(2, 5)}
SOP = {"train": RoleCounts(2, 5), "test": RoleCounts(2, 4)}
IN_SHOP = {"train": RoleCounts(2, 3), "query": RoleCounts(2, 3), "gallery": RoleCounts(2, 2)}

_BIRDS = ("001.Black_footed_Albatross", "002.Laysan_Albatross", "003.Sooty_Albatross", "004.Ani")
_CARS = ("smart fortwo Convertible 2012", "AM General Hummer SUV 2000", "Acura RL", "BMW M3")
# Class ids of ten images, and whether the official split tests on them: it does not part classes.
_CLASSES = (1, 1, 2, 2, 2, 3, 3, 4, 4, 4)
_IS_TEST = (0, 1, 0, 0, 1, 0, 1, 0, 1, 1)


def write_jpeg(path: Path, *, shade: int = 0, mode: str = "RGB", size=(48, 40)) -> Path:
    """A real image; other shades and paths have other bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", size, shade % 256).convert(mode).save(path)
    return path


def write_cub200(root: Path) -> Path:
    folder = root / "CUB_200_2011"
    paths = [
        f"{_BIRDS[label - 1]}/{_BIRDS[label - 1][4:]}_{number:04d}_{number + 700}.jpg"
        for number, label in enumerate(_CLASSES)
    ]
    for number, path in enumerate(paths):
        write_jpeg(folder / "images" / path, shade=20 * number)
    write_jpeg(folder / "images" / _BIRDS[0] / "._left_by_a_mac.jpg")
    write_lines(folder / "images.txt", [f"{n} {path}" for n, path in enumerate(paths, 1)])
    labels = [f"{number} {label}" for number, label in enumerate(_CLASSES, 1)]
    write_lines(folder / "image_class_labels.txt", labels)
    write_lines(folder / "classes.txt", [f"{n} {name}" for n, name in enumerate(_BIRDS, 1)])
    split = [f"{number} {1 - is_test}" for number, is_test in enumerate(_IS_TEST, 1)]
    write_lines(folder / "train_test_split.txt", split)
    return root


def write_cars196_combined(root: Path) -> Path:
    folder = root / "cars196"
    names = [f"car_ims/{number:06d}.jpg" for number in range(1, 11)]
    for number, name in enumerate(names):
        write_jpeg(folder / name, shade=20 * number)
    fields = ("relative_im_path", "bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "test")
    rows = [
        (name, 1, 2, 30, 40, label, is_test)
        for name, label, is_test in zip(names, _CLASSES, _IS_TEST, strict=True)
    ]
    content = {"annotations": struct(fields, rows), "class_names": cell(_CARS)}
    savemat(folder / "cars_annos.mat", content)
    return root


def write_cars196_devkit(root: Path, *, labels_beside_devkit: bool = False) -> Path:
    folder = root / "stanford_cars"
    fields = ("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname")
    (folder / "devkit").mkdir(parents=True)
    savemat(folder / "devkit" / "cars_meta.mat", {"class_names": cell(_CARS)})
    test_folder = folder if labels_beside_devkit else folder / "devkit"
    files = {
        "cars_train": folder / "devkit" / "cars_train_annos.mat",
        "cars_test": test_folder / "cars_test_annos_withlabels.mat",
    }
    for wanted, (images, file) in enumerate(files.items()):
        labels = [n for n, test in zip(_CLASSES, _IS_TEST, strict=True) if test == wanted]
        names = [f"{number:05d}.jpg" for number in range(1, len(labels) + 1)]
        for number, name in enumerate(names):
            write_jpeg(folder / images / name, shade=20 * number + wanted)
        rows = [(1, 2, 30, 40, label, name) for label, name in zip(labels, names, strict=True)]
        savemat(file, {"annotations": struct(fields, rows)})
    return root


def write_sop(root: Path) -> Path:
    folder = root / "Stanford_Online_Products"
    header = "image_id class_id super_class_id path"
    train = _sop_lines(folder, [1, 1, 2, 2, 2], "bicycle", 1, first_image=1)
    test = _sop_lines(folder, [3, 3, 4, 4], "chair", 2, first_image=6)
    write_lines(folder / "Ebay_train.txt", [header, *train])
    write_lines(folder / "Ebay_test.txt", [header, *test])
    return root


def _sop_lines(folder, class_ids, super_class, super_class_id, *, first_image):
    lines = []
    for number, class_id in enumerate(class_ids, first_image):
        path = f"{super_class}_final/{class_id + 111085122870}_{number}.JPG"
        write_jpeg(folder / path, shade=20 * number)
        lines.append(f"{number} {class_id} {super_class_id} {path}")
    return lines


def write_in_shop(root: Path, *, images: str = "Img/img") -> Path:
    folder = root / "In-shop Clothes Retrieval Benchmark"
    listed = [
        ("WOMEN/Dresses/id_00000002/02_1_front.jpg", "train"),
        ("WOMEN/Dresses/id_00000002/02_2_side.jpg", "train"),
        ("MEN/Denim/id_00000080/01_1_front.jpg", "train"),
        ("WOMEN/Blouses_Shirts/id_00000001/02_1_front.jpg", "query"),
        ("WOMEN/Blouses_Shirts/id_00000001/02_2_side.jpg", "query"),
        ("WOMEN/Blouses_Shirts/id_00000001/02_3_back.jpg", "gallery"),
        ("MEN/Denim/id_00000007/01_1_front.jpg", "query"),
        ("MEN/Denim/id_00000007/01_2_side.jpg", "gallery"),
    ]
    for number, (path, _) in enumerate(listed):
        write_jpeg(folder / images / path, shade=20 * number)
    lines = [f"img/{path}{' ' * 20}{path.split('/')[2]} {status}" for path, status in listed]
    header = ["8", "image_name item_id evaluation_status"]
    write_lines(folder / "Eval" / "list_eval_partition.txt", [*header, *lines])
    return root


def write_lines(file: Path, lines: list[str]) -> None:
    """A text file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def struct(fields, rows):
    """What MATLAB calls a struct array, one row of it as published."""
    table = np.empty((1, len(rows)), dtype=[(field, object) for field in fields])
    for place, row in enumerate(rows):
        table[0, place] = row
    return table


def cell(texts):
    """What MATLAB calls a cell array, one row of it."""
    found = np.empty((1, len(texts)), dtype=object)
    found[0] = texts
    return found
