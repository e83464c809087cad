"""A folder of feature vectors: classes differ along few directions, images along all."""

import csv

import numpy as np

NUM_FEATURES = 24
_TELLING = 8  # directions along which classes differ


def write_feature_folder(folder, *, classes=40, images_of_each=8, with_gallery=False):
    """The second half of the classes is for testing; of these, every second image is a query."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((classes, NUM_FEATURES)).repeat(images_of_each, 0)
    noise = random.standard_normal((classes * images_of_each, NUM_FEATURES))
    centres[:, _TELLING:] = 0.0
    noise[:, :_TELLING] *= 0.4
    noise[:, _TELLING:] *= 1.5
    tested = ("query", "gallery") if with_gallery else ("test", "test")
    rows = [
        (f"class {number:02}", "train" if number < classes // 2 else tested[place % 2])
        for number in range(classes)
        for place in range(images_of_each)
    ]
    write_feature_files(folder, (centres + noise).astype(np.float32), rows)
    return folder


def write_feature_files(folder, values_NF, rows):
    """The vectors, and for each its class, its role and, if there is one, its image."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "features.npy", values_NF)
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("class", "role", "image"))
        writer.writerows((*row, "")[:3] for row in rows)
