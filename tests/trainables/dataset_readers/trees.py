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
_CLASSES = (1, 1, 2, 2, 2, 3, 3, 4, 4, 4)  # class ids of ten images; of every second one, a test
_CLOTHES = (
    ("WOMEN/Dresses/id_00000002/02_1_front.jpg", "train"),
    ("WOMEN/Dresses/id_00000002/02_2_side.jpg", "train"),
    ("MEN/Denim/id_00000080/01_1_front.jpg", "train"),
    ("WOMEN/Blouses_Shirts/id_00000001/02_1_front.jpg", "query"),
    ("WOMEN/Blouses_Shirts/id_00000001/02_2_side.jpg", "query"),
    ("WOMEN/Blouses_Shirts/id_00000001/02_3_back.jpg", "gallery"),
    ("MEN/Denim/id_00000007/01_1_front.jpg", "query"),
    ("MEN/Denim/id_00000007/01_2_side.jpg", "gallery"),
)


def write_jpeg(path: Path, *, shade: int = 0, mode: str = "RGB", size=(48, 40)) -> Path:
    """A real image; other shades and paths have other bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", size, shade % 256).convert(mode).save(path)
    return path


def plain(path: Path, place: int) -> None:
    """An image by its place in the list; where a tree takes ``image``, others may be written."""
    write_jpeg(path, shade=20 * place)


def write_cub200(root: Path, labels=_CLASSES, names=_BIRDS, image=plain) -> Path:
    folder = root / "CUB_200_2011"
    paths = [
        f"{names[label - 1]}/{names[label - 1][4:]}_{place:04d}_{place + 700}.jpg"
        for place, label in enumerate(labels)
    ]
    for place, path in enumerate(paths):
        image(folder / "images" / path, place)
    write_jpeg(folder / "images" / names[0] / "._left_by_a_mac.jpg")
    write_lines(folder / "images.txt", [f"{n} {path}" for n, path in enumerate(paths, 1)])
    of_images = [f"{number} {label}" for number, label in enumerate(labels, 1)]
    write_lines(folder / "image_class_labels.txt", of_images)
    write_lines(folder / "classes.txt", [f"{n} {name}" for n, name in enumerate(names, 1)])
    split = [f"{place + 1} {1 - place % 2}" for place in range(len(labels))]
    write_lines(folder / "train_test_split.txt", split)
    return root


def write_cars196_combined(root: Path, labels=_CLASSES, names=_CARS, image=plain) -> Path:
    folder = root / "cars196"
    rows = []
    for place, label in enumerate(labels):
        name = f"car_ims/{place + 1:06d}.jpg"
        image(folder / name, place)
        rows.append((name, 1, 2, 30, 40, label, place % 2))
    fields = ("relative_im_path", "bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "test")
    content = {"annotations": struct(fields, rows), "class_names": cell(names)}
    savemat(folder / "cars_annos.mat", content)
    return root


def write_cars196_devkit(
    root: Path, labels=_CLASSES, names=_CARS, image=plain, *, labels_beside_devkit=False
) -> Path:
    folder = root / "stanford_cars"
    fields = ("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname")
    (folder / "devkit").mkdir(parents=True)
    savemat(folder / "devkit" / "cars_meta.mat", {"class_names": cell(names)})
    test_folder = folder if labels_beside_devkit else folder / "devkit"
    files = {
        "cars_train": folder / "devkit" / "cars_train_annos.mat",
        "cars_test": test_folder / "cars_test_annos_withlabels.mat",
    }
    for half, (images, file) in enumerate(files.items()):
        rows = []
        for number, place in enumerate(range(half, len(labels), 2), 1):
            image(folder / images / f"{number:05d}.jpg", place)
            rows.append((1, 2, 30, 40, labels[place], f"{number:05d}.jpg"))
        savemat(file, {"annotations": struct(fields, rows)})
    return root


def write_sop(root: Path, labels=(1, 1, 2, 2, 2, 3, 3, 4, 4), first_test=3, image=plain) -> Path:
    folder = root / "Stanford_Online_Products"
    header = "image_id class_id super_class_id path"
    lists = {"bicycle": [header], "chair": [header]}
    for place, label in enumerate(labels):
        kind = "bicycle" if label < first_test else "chair"
        path = f"{kind}_final/{label + 111085122870}_{place + 1}.JPG"
        image(folder / path, place)
        lists[kind].append(f"{place + 1} {label} {1 if kind == 'bicycle' else 2} {path}")
    write_lines(folder / "Ebay_train.txt", lists["bicycle"])
    write_lines(folder / "Ebay_test.txt", lists["chair"])
    return root


def write_in_shop(root: Path, listed=_CLOTHES, image=plain, *, images: str = "Img/img") -> Path:
    folder = root / "In-shop Clothes Retrieval Benchmark"
    for place, (path, _) in enumerate(listed):
        image(folder / images / path, place)
    lines = [f"img/{path}{' ' * 20}{path.split('/')[2]} {status}" for path, status in listed]
    header = [str(len(listed)), "image_name item_id evaluation_status"]
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
