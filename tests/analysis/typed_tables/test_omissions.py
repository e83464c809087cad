import pytest

from podium.analysis.typed_tables.score_table import read_table

WIDE = "Method,CUB,Cars,SOP\nA,61,80,75\nB,63,79,76\nC,60,78,77\n"


@pytest.fixture
def write(tmp_path):
    def write_text(text):
        path = tmp_path / "t.csv"
        path.write_text(text)
        return path

    return write_text


def test_a_row_called_average_that_is_none_is_ranked_and_named(write):
    table = read_table(write(WIDE + "Average,61.3,89,76\n"))
    assert table.cells["Method"].n_unique() == 4
    assert table.warnings == (
        "'Average' of Method is ranked, for it is not the mean of the others: Cars 89, not 79",
    )


def test_a_data_set_that_is_the_mean_of_the_others_is_no_block(write):
    rows = "CUB,A,60\nCUB,B,61\nCars,A,70\nCars,B,74\nAverage,A,65\nAverage,B,67.5\n"
    table = read_table(write(f"dataset,loss,recall\n{rows}"))
    assert table.cells["dataset"].unique().sort().to_list() == ["CUB", "Cars"]
    assert table.warnings == ("left out: 'Average' of dataset, the mean of the others",)
