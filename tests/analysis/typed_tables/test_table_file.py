import numpy as np
import polars as pl
import pytest

from podium.analysis.typed_tables.table_file import is_table, read_table_file, table_of_frame
from podium.errors import CorruptFileError, PodiumError


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="scores.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_table_file(path).frame

    return read_text


def test_the_ending_may_have_capitals_and_decides(read, tmp_path):
    assert read("loss,recall\na,1\n", name="SCORES.CSV").rows() == [("a", 1)]
    assert is_table(tmp_path / "SCORES.CSV")
    assert not is_table(tmp_path / "scores.txt")


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(read):
    plain = read("loss,recall\na,1\nb,2\n")
    assert read(b"\xef\xbb\xbfloss,recall\r\na,1\r\nb,2\r\n").equals(plain)


def test_blanks_around_cells_and_names_and_empty_rows_do_not_count(read):
    frame = read("loss , dim, recall\n\n a, 64, 1.5\n,,\nb , 64 ,2\n")
    assert frame.rows() == [("a", 64, 1.5), ("b", 64, 2.0)]
    assert frame.columns == ["loss", "dim", "recall"]


def test_a_name_is_one_line_without_control_characters(read):
    frame = read(b'loss,recall\n"a\nb",1\nc\x00\x1b[2J,2\n" ",3\n')
    assert frame["loss"].to_list() == ["a b", "c [2J", None]


def test_semicolons_and_tabs_come_with_decimal_commas(read):
    rows = [("a", 63.5), ("b", 64.0)]
    assert read("loss;recall\na;63,5\nb;64\n").rows() == rows
    assert read("loss\trecall\na\t63,5\nb\t64\n", name="t.tsv").rows() == rows


def test_numbers_of_fewer_bits_are_those_that_they_print_as():
    values = [0.1, 0.3, None, 63.59, 1e-7]
    of_32 = table_of_frame(pl.DataFrame({"s": pl.Series(values, dtype=pl.Float32)})).frame
    assert of_32["s"].to_list() == values
    half = pl.Series([0.1, 0.3, None, 63.59]).cast(pl.Float16)
    of_16 = table_of_frame(pl.DataFrame({"s": half})).frame["s"].to_list()
    assert of_16 == [0.1, 0.3, None, float(str(np.float16(63.59)))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loss,recall,recall\na,1,2\n", "has 'recall' 2 times"),
        ("loss,CUB,CUB\n,R@1,R@2\na,1,2\n", "has 'CUB' 2 times"),
        ("loss,recall,__row\na,1,2\n", "must not begin with __.*'__row'"),
    ],
)
def test_columns_have_names_of_their_own(read, text, message):
    with pytest.raises(PodiumError, match=message):
        read(text)


def test_so_have_those_of_parquet_files(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"__row": [1]}).write_parquet(path)
    with pytest.raises(PodiumError, match="must not begin with __"):
        read_table_file(path)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "t.csv", "empty"),
        ("loss,recall\na,1,2\n", "t.csv", "a row has more cells than the header"),
        ("loss,recall\nä,1\n".encode("latin1"), "t.csv", "no UTF-8 text"),
        ("loss,recall\na,1\n".encode("utf-16"), "t.csv", "no UTF-8 text"),
        ("PAR1", "t.parquet", "cannot be read as a table"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(read, text, name, message):
    with pytest.raises(CorruptFileError, match=message):
        read(text, name=name)


def test_a_table_beyond_all_tables_is_refused(tmp_path):
    file = tmp_path / "large.csv"
    with file.open("wb") as large:
        large.truncate(2**29)
    with pytest.raises(
        PodiumError, match=r"must have at most 268,435,456 bytes; .* has 536,870,912"
    ):
        read_table_file(file)
