"""Files of pairs: LFW's own format, CSV, and what is wrong with one, with its line."""

from pathlib import Path

import numpy as np
import pytest

from podium.trainables.dataset_interface.verification_pairs import check_pairs_file, read_pairs
from podium.trainables.errors import TrialInputError

NAMES = ("Ann_Lee", "Bo", "Cy", "Dee", "Early")
IMAGES = [Path("/data") / name / f"{name}_{n:04d}.jpg" for name in NAMES for n in (1, 2, 3)]
LABELS = np.repeat(np.arange(5), 3)
TEST = (0, 1, 2, 3)  # Early is trained on

LFW = """\
2\t2
Ann_Lee\t1\t3
Bo\t1\t2
Ann_Lee\t1\tBo\t3
Bo\t2\tAnn_Lee\t2
Cy\t1\t3
Dee\t3\t2
Cy\t1\tDee\t3
Dee\t2\tCy\t2
"""
CSV = """\
image_a,image_b,same,fold
Bo/Bo_0001.jpg,Bo/Bo_0002.jpg,1,x
Bo/Bo_0001.jpg,Cy/Cy_0002.jpg,false,x
data/Cy/Cy_0001.jpg,Cy/Cy_0002.jpg,TRUE,y
Cy_0001.jpg, Dee_0003.jpg ,0,y
"""


def read(tmp_path, text, name="pairs.txt", images=IMAGES):
    file = tmp_path / name
    file.write_text(text)
    check_pairs_file(file)
    return read_pairs(file, images, LABELS, TEST, NAMES)


def error(tmp_path, text, name="pairs.txt", images=IMAGES):
    with pytest.raises(TrialInputError) as caught:
        read(tmp_path, text, name, images)
    return str(caught.value).removeprefix(str(tmp_path / name))


def test_the_lines_of_lfw_are_pairs_of_one_person_and_then_of_two_in_each_fold(tmp_path):
    pairs = read(tmp_path, LFW)
    assert pairs.first_P.tolist() == [0, 3, 0, 4, 6, 11, 6, 10]
    assert pairs.second_P.tolist() == [2, 4, 5, 1, 8, 10, 11, 7]
    assert pairs.is_same_P.tolist() == [True, True, False, False] * 2
    assert pairs.folds_P.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_spaces_part_the_words_as_tabs_do(tmp_path):
    spaced = read(tmp_path, LFW.replace("\t", "  "), "spaced.txt")
    assert spaced.fingerprint == read(tmp_path, LFW).fingerprint


def test_a_header_of_one_number_names_no_folds(tmp_path):
    lines = ["Bo 1 2", "Bo 1 3", "Cy 1 2", "Bo 1 Cy 1", "Bo 2 Cy 2", "Bo 3 Cy 3"]
    pairs = read(tmp_path, "\n".join(["3", *lines]))
    assert pairs.folds_P.tolist() == [0, 1, 2, 0, 1, 2]


def test_a_csv_names_images_by_the_ends_of_their_paths(tmp_path):
    pairs = read(tmp_path, CSV, "p.csv")
    assert pairs.first_P.tolist() == [3, 3, 6, 6]
    assert pairs.second_P.tolist() == [4, 7, 7, 11]
    assert pairs.is_same_P.tolist() == [True, False, True, False]
    assert pairs.folds_P.tolist() == [0, 0, 1, 1]


def test_pairs_without_folds_are_dealt_to_ten_kind_by_kind(tmp_path):
    same = [f"Bo/Bo_0001.jpg,Bo/Bo_000{2 + i % 2}.jpg,1" for i in range(23)]
    different = [f"Bo/Bo_0001.jpg,Cy/Cy_000{1 + i % 3}.jpg,0" for i in range(12)]
    pairs = read(tmp_path, "\n".join(["image_a,image_b,same", *same, *different]), "p.csv")
    counts = np.bincount(pairs.folds_P[pairs.is_same_P])
    assert counts.tolist() == [3, 3, 3, 2, 2, 2, 2, 2, 2, 2]
    assert np.bincount(pairs.folds_P[~pairs.is_same_P]).tolist() == [2, 2, *[1] * 8]


def test_pairs_among_some_images_are_renumbered(tmp_path):
    pairs = read(tmp_path, CSV, "p.csv").among(np.arange(3, 12))
    assert pairs.first_P.tolist() == [0, 0, 3, 3]
    assert pairs.second_P.tolist() == [1, 4, 4, 8]


def test_other_pairs_folds_or_answers_are_another_fingerprint(tmp_path):
    texts = (CSV, CSV.replace("Dee_0003", "Dee_0002"), CSV + "Bo_0001.jpg,Bo_0003.jpg,1,x\n")
    swapped = CSV.replace("false,x", "false,y").replace("0,y", "0,x")
    assert len({read(tmp_path, text, "p.csv").fingerprint for text in (*texts, swapped)}) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ":1: the first line must be the number of folds and of pairs"),
        ("Bo 1 2\n", ":1: the first line must be"),
        ("2 2\nBo 1 2\n", ":2: 2 2 in the first line means 8 pairs; got 1"),
        (
            LFW.replace("Bo\t1\t2", "Bo\t1\tCy\t2"),
            ":3: a pair of one class must be NAME NUMBER NU",
        ),
        (LFW.replace("Cy\t1\tDee\t3", "Cy\t1\t2"), ":8: a pair of two classes must be NAME NUM"),
        (LFW.replace("Bo\t1\t2", "Bo\t1\ttwo"), ":3: a pair of one class must be"),
        (LFW.replace("Bo\t1\t2", "Bo\t1\t7"), ":3: the data set has no image Bo/Bo_0007"),
        (
            LFW.replace("Bo\t1\t2", "Early\t1\t2"),
            ":3: images of pairs must be of test classes; Ear",
        ),
        (
            LFW.replace("Bo\t1\t2", "Bo\t1\t1"),
            ":3: a pair must be of two images; both are Bo/Bo_0",
        ),
        (
            LFW.replace("Bo\t2\tAnn_Lee\t2", "Bo\t2\tBo\t1"),
            ":5: Bo/Bo_0002 and Bo/Bo_0001 are call",
        ),
    ],
)
def test_what_is_wrong_in_the_format_of_lfw_is_said_with_its_line(tmp_path, text, words):
    assert error(tmp_path, text).startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "a,b\n",
            ":1: the columns must be image_a, image_b, same and, if it is wanted, fold; got",
        ),
        (CSV.replace("false", "no"), ":3: same must be 1, 0, true or false; got 'no'"),
        (CSV.replace("TRUE,y", "TRUE,"), ":4: there must be one value for each of image_a"),
        (CSV.replace("TRUE,y", "TRUE,y,z"), ":4: there must be one value for each of image_a"),
        (CSV.replace(",y", ",x"), ": there must be at least 2 folds; got x alone"),
        (
            CSV.replace("0,y", "0,x"),
            ": each fold must have pairs of both kinds; fold y has none of",
        ),
        (
            CSV.replace("TRUE,y", "0,y"),
            ": there must be at least 2 pairs of each kind; got 1 of one",
        ),
        (CSV.replace("Dee_0003", "Dee_3"), ":5: the data set has no image Dee_3.jpg"),
        (
            CSV.replace("Dee_0003.jpg ,0", "Cy_0003.jpg,0"),
            ":5: Cy_0001.jpg and Cy_0003.jpg are cal",
        ),
    ],
)
def test_what_is_wrong_in_a_csv_is_said_with_its_line(tmp_path, text, words):
    assert error(tmp_path, text, "p.csv").startswith(words)


def test_a_name_of_two_images_is_refused(tmp_path):
    images = [*IMAGES[:5], Path("/data/other/Bo/Bo_0001.jpg"), *IMAGES[6:]]
    text = error(tmp_path, CSV, "p.csv", images)
    assert text.startswith(":2: Bo/Bo_0001.jpg must be one image; it may be /data/Bo/Bo_0001.jpg")


def test_a_file_that_is_missing_or_no_text_is_one_line(tmp_path):
    with pytest.raises(TrialInputError, match="cannot be read: No such file"):
        check_pairs_file(tmp_path / "none.txt")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TrialInputError, match="it is not UTF-8 text"):
        check_pairs_file(tmp_path / "bad.txt")
