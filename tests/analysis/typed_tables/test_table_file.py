import polars as pl
import pytest

from analysis.typed_tables.table_file import is_table, read_table_file
from podium.errors import CorruptFileError, PodiumError


def read_frame(path, **options):
    return read_table_file(path, **options).frame


@pytest.fixture
def write_file(tmp_path):
    def write(text, name="scores.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_the_ending_may_have_capitals(write_file):
    path = write_file("loss,recall\na,1\n", name="SCORES.CSV")
    assert is_table(path)
    assert read_frame(path).rows() == [("a", 1)]


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(write_file):
    plain = read_frame(write_file("loss,recall\na,1\nb,2\n"))
    assert read_frame(write_file(b"\xef\xbb\xbfloss,recall\r\na,1\r\nb,2\r\n")).equals(plain)


def test_blanks_around_cells_and_names_do_not_count(write_file):
    frame = read_frame(write_file("loss , dim, recall\n a, 64, 1.5\nb , 64 ,2\n"))
    assert frame.rows() == [("a", 64, 1.5), ("b", 64, 2.0)]
    assert frame.columns == ["loss", "dim", "recall"]


def test_a_name_is_one_line_without_control_characters(write_file):
    frame = read_frame(write_file(b'loss,recall\n"a\nb",1\nc\x00\x1b[2J,2\n" ",3\n'))
    assert frame["loss"].to_list() == ["a b", "c [2J", None]


def test_cells_are_given_as_typed(write_file):
    frame = read_frame(write_file("loss,recall\na,1.50\nb, 2\n"), as_typed=True)
    assert frame["recall"].to_list() == ["1.50", "2"]


@pytest.mark.parametrize("sign", [";", "\t", "|", "   "])
@pytest.mark.parametrize("name", ["scores.csv", "scores.txt"])
def test_other_separators_than_commas_come_with_decimal_commas(write_file, sign, name):
    rows = (("loss", "recall"), ("a", "63,5"), ("b", "64"))
    path = write_file("\n".join(map(sign.join, rows)) + "\n", name=name)
    assert read_frame(path).rows() == [("a", 63.5), ("b", 64.0)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_may_be_utf_16(write_file, encoding):
    path = write_file("loss\trecall\nMüller\t63,5\n".encode(encoding), name="scores.txt")
    assert read_frame(path).rows() == [("Müller", 63.5)]


def test_the_separator_that_a_spreadsheet_declares_is_taken(write_file):
    assert read_frame(write_file("sep=;\nloss;recall\na,b;1\n")).rows() == [("a,b", 1)]


def test_cells_are_numbers_as_papers_print_them(write_file):
    cells = (
        "63.6 ± 0.5",
        "**63.6**",
        r"\textbf{63.6}",
        "63.6 %",
        "63.6 (+1.2)",
        "63.6*",
        "$63.6$",
    )
    rows = "\n".join(f"a,{cell}" for cell in cells)
    frame = read_frame(write_file(f"loss,recall\n{rows}\nb,-\n"))
    assert frame["recall"].to_list() == [63.6] * len(cells) + [None]


def test_the_line_of_a_row_is_known_where_it_is_not_the_next(write_file):
    plain = read_table_file(write_file("loss,recall\na,1\n"))
    assert plain.row(0) == "row 1"
    spaced = read_table_file(write_file("loss;recall\n\n\na;1\n"))
    assert spaced.row(0) == "row 1 (line 4 of the file)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loss,recall,recall\na,1,2\n", "has 'recall' 2 times"),
        ("loss,recall,__row\na,1,2\n", "must not begin with __.*'__row'"),
    ],
)
def test_columns_have_names_of_their_own(write_file, text, message):
    with pytest.raises(PodiumError, match=message):
        read_frame(write_file(text))


def test_so_have_those_of_parquet_files(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"__row": [1]}).write_parquet(path)
    with pytest.raises(PodiumError, match="must not begin with __"):
        read_frame(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("loss,recall\na,1,2\n", "a row has more cells than the header"),
        ("loss,recall\nä,1\n".encode("latin1"), "no UTF-8 text"),
    ],
)
def test_a_file_that_is_no_csv_is_refused_with_the_reason(write_file, text, message):
    with pytest.raises(CorruptFileError, match=message):
        read_frame(write_file(text))


def test_a_table_beyond_all_tables_is_refused(tmp_path):
    file = tmp_path / "large.csv"
    with file.open("wb") as large:
        large.truncate(2**29)
    with pytest.raises(PodiumError, match=r"must have at most 268435456 bytes; .* has 536870912"):
        read_frame(file)
