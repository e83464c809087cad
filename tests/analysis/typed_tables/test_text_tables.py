import pytest

from analysis.typed_tables.text_tables import separator_of, text_table
from podium.errors import CorruptFileError, PodiumError


def names_of(*lines):
    return text_table("\n".join(lines), source="t.csv").names


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (["loss,R@1,R@2"], ("loss", "R@1", "R@2")),
        (
            [",CUB,,SOP,", "loss,R@1,R@2,R@1,R@10"],
            ("loss", "CUB R@1", "CUB R@2", "SOP R@1", "SOP R@10"),
        ),
        (
            ["loss,CUB,CUB,SOP,SOP", ",1,2,1,10"],
            ("loss", "CUB R@1", "CUB R@2", "SOP R@1", "SOP R@10"),
        ),
        (["loss,Recall@K,,", "loss,1,2,4"], ("loss", "R@1", "R@2", "R@4")),
        (
            [",CUB,,Cars,", ",R50,BN,R50,BN", "loss,R@1,R@1,R@1,R@1"],
            ("loss", "CUB R50 R@1", "CUB BN R@1", "Cars R50 R@1", "Cars BN R@1"),
        ),
        ([",R@1,R@2"], ("competitor", "R@1", "R@2")),
        (["loss,R@1,R@2,"], ("loss", "R@1", "R@2")),
    ],
)
def test_the_rows_of_a_header_are_joined(header, names):
    rows = [
        ",".join(["a", *["60.5"] * (len(names) - 1)]),
        ",".join(["b", *["7"] * (len(names) - 1)]),
    ]
    table = text_table("\n".join([*header, *rows]), source="t.csv")
    assert table.names == names
    assert [row[0] for row in table.rows] == ["a", "b"]


@pytest.mark.parametrize(
    "row", ["CUB,A,NMI,60", "CUB,A,R@1,", "A,60,70,80", "Proxy-NCA,,,", "1,1,2,4"]
)
def test_a_row_of_a_table_is_no_header(row):
    assert len(text_table(f"dataset,loss,metric,value\n{row}\n", source="t.csv").rows) == 1


def test_a_markdown_table_is_found_among_text():
    text = "Ours wins.\n\n| loss | R@1 |\n|:---|---:|\n| **a** | 60 |\n| b\\|c | 61 |\n\nMore.\n"
    table = text_table(text, source="t.md")
    assert (table.names, table.rows) == (("loss", "R@1"), (("a", "60"), ("b|c", "61")))
    assert table.lines == (5, 6)


def test_two_markdown_tables_are_refused():
    text = "| a |b|\n|--|--|\n| 1 |2|\n\n" * 2
    with pytest.raises(PodiumError, match=r"t\.md has tables around lines 2, 6"):
        text_table(text, source="t.md")


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(PodiumError, match=r"t\.csv has 'R@1' 2 times"):
        names_of("loss;R@1;R@1", "a;60,1;70,2")


def test_a_row_longer_than_the_header_is_refused_with_its_line():
    with pytest.raises(CorruptFileError, match="line 3 has 3 cells, the header 2"):
        names_of("loss;R@1", "a;1", "b;2;3")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2", ","),
        ("a;b\n1,5;2,5", ";"),
        ("a\tb\n1,5\t2,5", "\t"),
        ("a|b\n1|2", "|"),
        ("a,b c;d\n1,2", ","),
        ('loss,note\n"a;b",x\nc,"y;z"', ","),
        ("a  b\n1  2", None),
        ("a", ","),
    ],
)
def test_the_separator_is_what_divides_all_lines_alike(text, separator):
    assert separator_of(text) == separator
