import re

import numpy as np
import pytest

from podium.trainables.dataset_interface.class_text import read_class_text, write_class_text
from podium.trainables.errors import TrialInputError

FILE = "class,1,2\nwren,1,2\nowl,-0.5,1e-3\n"


def written(folder, content):
    path = folder / "text.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_vectors_come_in_the_order_of_the_classes_asked_for(tmp_path):
    vectors = read_class_text(written(tmp_path, FILE), ["owl", "wren"])
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, np.float32([[-0.5, 1e-3], [1.0, 2.0]]))


def test_what_is_written_is_read_bit_for_bit_whatever_the_names(tmp_path):
    names = ["a,b", 'say "owl"', "two\nlines", "Ünïcode", " spaces ", "U+002C COMMA"]
    vectors = np.random.default_rng(0).normal(size=(len(names), 7)).astype(np.float32)
    vectors[0, 0] = np.finfo(np.float32).max
    vectors[0, 1] = np.finfo(np.float32).smallest_subnormal
    write_class_text(tmp_path / "text.csv", dict(zip(names, vectors, strict=True)))
    read = read_class_text(tmp_path / "text.csv", names)
    np.testing.assert_array_equal(read.view(np.int32), vectors.view(np.int32))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1 must be class,1,2,...; got ''"),
        ("class\nwren\n", "line 1 must be class,1,2,...; got 'class'"),
        (
            "class,1,2\nwren,1,2\nowl,1\n",
            "line 3: class 'owl' must have as many numbers as the header, 2; got 1",
        ),
        ("class,1,2\n\n", "line 2: class '' must have as many numbers"),
        (
            "class,1,2\nwren,1,2\nowl,1,nan\n",
            "line 3: every value of class 'owl' must be a finite float32; got 'nan'",
        ),
        ("class,1,2\nowl,1e39,1\n", "must be a finite float32; got '1e39'"),
        ("class,1,2\nowl,1,two\n", "must be a finite float32; got 'two'"),
        ("class,1,2\nowl,0,0\n", "line 2: the vector of class 'owl' must not be all zeros"),
        (
            FILE + "wren,3,4\n",
            "line 4: every class must occur once; got 'wren' again",
        ),
        (b"class,1\n\xff\xfe,1\n", "must be CSV in UTF-8: 'utf-8' codec can't decode"),
        ('class,1\n"owl,1\n', "must be CSV in UTF-8: unexpected end of data"),
    ],
)
def test_a_bad_file_is_refused_with_place_rule_and_value(tmp_path, content, message):
    with pytest.raises(TrialInputError, match=re.escape(message)) as error:
        read_class_text(written(tmp_path, content), ["owl"])
    assert str(tmp_path / "text.csv") in str(error.value)


def test_missing_classes_are_named_beside_those_that_are_there(tmp_path):
    message = (
        "must have every class that is trained on; 2 of 3 are missing: 'owls', 'crow' "
        "(did you mean 'owl'?); the file has: 'wren', 'owl'"
    )
    with pytest.raises(TrialInputError, match=re.escape(message)):
        read_class_text(written(tmp_path, FILE), ["owls", "wren", "crow"])


def test_of_many_classes_some_are_named(tmp_path):
    path = tmp_path / "text.csv"
    write_class_text(path, {f"bird {i}": np.float32([i, 1]) for i in range(9)})
    with pytest.raises(TrialInputError, match=re.escape("'bird 3', 'bird 4', ...")):
        read_class_text(path, ["owl"])


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(
        TrialInputError, match="cannot be read: No such file or directory; podium datasets"
    ):
        read_class_text(tmp_path / "text.csv", ["owl"])


def test_a_file_that_is_there_is_not_overwritten(tmp_path):
    path = written(tmp_path, FILE)
    with pytest.raises(TrialInputError, match="exists already and is not overwritten"):
        write_class_text(path, {"owl": np.float32([1])})
    assert path.read_text() == FILE


def test_a_folder_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(TrialInputError, match="cannot be written: No such file or directory"):
        write_class_text(tmp_path / "no" / "text.csv", {"owl": np.float32([1])})
