import pytest

from podium.analysis.typed_tables.text_tables import header_count, joined_names
from podium.errors import PodiumError


def cells(*lines):
    return [line.split(",") for line in lines]


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
        ([",R@1,R@2"], ("column 1", "R@1", "R@2")),
        (["loss,R@1,R@2,"], ("loss", "R@1", "R@2")),
    ],
)
def test_the_rows_of_a_header_are_joined(header, names):
    rows = cells(*header, ",".join(["a", *["60.5"] * (len(names) - 1)]))
    assert header_count(rows) == len(header)
    assert joined_names(rows[: len(header)], source="t.csv") == names


@pytest.mark.parametrize(
    "row", ["CUB,A,NMI,60", "CUB,A,R@1,", "A,60,70,80", "Proxy-NCA,,,", "1,1,2,4", "A,-,-,-"]
)
def test_a_row_of_a_table_is_no_header(row):
    assert header_count(cells("dataset,loss,metric,value", row)) == 1


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(PodiumError, match=r"t\.csv has 'R@1' 2 times"):
        joined_names(cells("loss,R@1,R@1"), source="t.csv")
