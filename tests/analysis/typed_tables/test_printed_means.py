import re

import pytest

from podium.analysis.typed_tables.printed_means import printed_ranks
from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_file import read_table_file
from podium.analysis.typed_tables.table_options import TableOptions

WIDE = "Method,CUB,Cars,SOP{names}\nA,61,80,75{a}\nB,63,79,76{b}\nC,60,78,77{c}\n"


@pytest.fixture
def write(tmp_path):
    def write_text(text):
        path = tmp_path / "t.csv"
        path.write_text(text)
        return path

    return write_text


@pytest.fixture
def wide(write):
    """The scores of a table with a further column, and its warnings."""

    def read(names, a, b, c, more="", **options):
        text = WIDE.format(names=f",{names}", a=f",{a}", b=f",{b}", c=f",{c}") + more
        return read_table(write(text), TableOptions(**options))

    return read


def test_a_row_called_average_that_is_none_is_ranked_and_named(write):
    table = read_table(write(WIDE.format(names="", a="", b="", c="") + "Average,61.3,89,76\n"))
    assert table.cells["Method"].n_unique() == 4
    assert table.warnings == (
        "'Average' of Method is ranked, for it is not the mean of the others: Cars 89, not 79",
    )


def test_a_data_set_that_is_the_mean_of_the_others_is_no_block(write):
    rows = "CUB,A,60\nCUB,B,61\nCars,A,70\nCars,B,74\nAverage,A,65\nAverage,B,67.5\n"
    table = read_table(write(f"dataset,loss,recall\n{rows}"))
    assert table.cells["dataset"].unique().sort().to_list() == ["CUB", "Cars"]
    assert table.warnings == ("left out: 'Average' of dataset, the mean of the others",)


@pytest.mark.parametrize(
    ("name", "a", "b", "c", "wrong"),
    [
        ("Average", "72", "72.7", "71.7", None),
        ("Avg", "72", "72.7", "71.6", "C has 71.6, should be 71.7 (cut off, not rounded)"),
        ("Mean", "72", "77.2", "71.67", "B has 77.2, should be 72.67"),
        ("Total rank", "6", "5", "7", None),
        ("Avg. rank", "2", "1.67", "2.33", None),
        ("Avg. rank", "2", "1.66", "2.33", "B has 1.66, should be 1.67 (cut off, not rounded)"),
        ("total_rank", "6", "6", "7", "B has 6, should be 5"),
    ],
)
def test_averages_and_ranks_beside_scores_are_checked(wide, name, a, b, c, wrong):
    expected = () if wrong is None else (f"column {name!r} does not go with the scores: {wrong}",)
    assert wide(name, a, b, c).warnings == expected


def test_small_scores_rank_first_where_they_are_good(wide):
    assert wide("Total rank", 6, 7, 5, lower_is_better=True).warnings == ()


def test_nothing_is_said_of_an_average_of_several_k(write):
    text = "loss,R@1,R@2,Average\nA,60,70,1\nB,61,71,2\n"
    assert read_table(write(text)).warnings == ()


def ranks_of(path):
    return printed_ranks(read_table_file(path), TableOptions())


def test_a_table_of_ranks_alone_is_ordered_and_checked(write):
    text = "loss,total,average,std\nA,3,1,0\nB,7,2.33,0.6\nC,8,2.76,0.6\n"
    rows, blocks, warnings = ranks_of(write(text))
    assert blocks == 3
    assert [row["competitor"] for row in rows] == ["A", "B", "C"]
    assert warnings == ("average ranks are the total by 3 blocks: C has 2.76, should be 2.67",)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("loss,total\nA,3\nB,7\nC,8\n", None),
        ("loss,total_rank,average_rank\nA,3,1\nB,9,2.33\nC,8,2.67\n", "add up to 20"),
        ("loss,total_rank,average_rank\nA,2,1\nB,7,2.33\nC,8,2.67\n", "impossible as total rank"),
        ("loss,average_rank\nA,1\nB,2.33\nC,2.67\n", None),
        ("loss,average_rank\nA,1\nB,2.33\nC,2.76\n", "add up to 6.09; those of 3 .* up to 6"),
        ("loss,average_rank\nA,0.6\nB,2.4\nC,3\n", r"impossible as average rank: A \(0.6\)"),
    ],
)
def test_ranks_that_no_table_can_have_are_named(write, text, warning):
    *_, found = ranks_of(write(text))
    assert bool(found) == (warning is not None)
    assert warning is None or any(re.search(warning, text) for text in found)


def test_a_table_with_scores_is_none_of_ranks(write):
    assert ranks_of(write("loss,CUB,total\nA,60,1\nB,59,2\n")) is None
    assert ranks_of(write("loss,recall,dataset,total\nA,60,u,1\nB,59,u,2\n")) is None
