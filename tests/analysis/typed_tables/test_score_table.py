import polars as pl
import pytest

from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from podium.errors import CorruptFileError, PodiumError
from tests.analysis import thesis_cub200

HEADER = "block,loss,score,k,seed\n"


@pytest.fixture
def write_scores(tmp_path):
    def write(*lines, header=HEADER):
        path = tmp_path / "scores.csv"
        path.write_text(header + "\n".join(lines) + "\n")
        return path

    return write


def read_scores(path, **options):
    return read_table(
        path, TableOptions(**{"by": ["block"], "competitor": "loss", "score": "score"} | options)
    )


def test_a_csv_file_gives_one_row_a_block_and_competitor(write_scores):
    table = read_scores(write_scores("p,a,1,1,0", "p,b,2.5,1,0"))
    assert table.cells.rows() == [("p", "a", 1.0), ("p", "b", 2.5)]
    assert table.warnings == ()
    assert table.run_columns == ()


def test_a_parquet_file_gives_the_same_as_its_csv(tmp_path):
    path = tmp_path / "scores.parquet"
    pl.read_csv(thesis_cub200.RECALLS).write_parquet(path)
    options = {
        "by": thesis_cub200.BY,
        "competitor": "loss",
        "score": "recall",
        "where": ["k=4"],
    }
    assert read_table(path, TableOptions(**options)).cells.equals(
        read_table(thesis_cub200.RECALLS, TableOptions(**options)).cells
    )


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("k=1", 1.0), ("k = 2", 2.0), ("seed=0.5", 1.0), ("note=x=y", 2.0), ("ok=true", 1.0)],
)
def test_a_condition_compares_in_the_type_of_its_column(write_scores, condition, expected):
    path = write_scores(
        "p,a,1,1,0.5,x,true",
        "p,a,2,2,1.5,x=y,false",
        header="block,loss,score,k,seed,note,ok\n",
    )
    assert read_scores(path, where=[condition]).cells["score"].to_list() == [expected]


def test_all_conditions_must_hold(write_scores):
    path = write_scores("p,a,1,1,0", "p,a,2,1,1", "p,a,3,2,1")
    assert read_scores(path, where=["k=1", "seed=1"]).cells["score"].to_list() == [2.0]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("k=3", r"no row of .*scores.csv has k = 3; `k` holds 1 and 2"),
        ("k=one", r"column `k` holds values of type Int64, which 'one' is not"),
        ("k", r"must be column=value, such as k=1; got 'k'"),
        ("=1", r"must be column=value, such as k=1; got '=1'"),
        ("kk=1", r"no column 'kk'; its columns are .*\. Did you mean k\?"),
    ],
)
def test_a_condition_that_cannot_hold_is_refused(write_scores, condition, message):
    with pytest.raises(PodiumError, match=message):
        read_scores(write_scores("p,a,1,1,0", "p,a,1,2,0"), where=[condition])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "scor"}, r"no column 'scor'; .* Did you mean score\?"),
        ({"by": ["block", "dataset"]}, r"no column 'dataset'; its columns are block, loss"),
        ({"competitor": "block"}, r"'block' was named 2 times"),
        ({"score": "loss", "competitor": "k"}, r"'loss' .* must hold numbers; row 1 holds 'a'"),
    ],
)
def test_a_wrong_column_is_refused(write_scores, options, message):
    with pytest.raises(PodiumError, match=message):
        read_scores(write_scores("p,a,1,1,0"), **options)


@pytest.mark.parametrize("missing", ["", "NaN", "nan", "-", "--"])
def test_a_missing_score_is_null_and_warned_of(write_scores, missing):
    table = read_scores(write_scores("p,a,1,1,0", f"p,b,{missing},1,0", "q,b,2,1,0"))
    assert table.cells["score"].to_list() == [1.0, None, 2.0]
    assert table.warnings[0] == "no score, counted as missing: p/b"


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        ("p,b,n/a,1,0", {}, r"row 2 holds 'n/a' \(leave a missing score empty\)"),
        ("p,b,-inf,1,0", {}, r"must be finite; row 2 of .* holds -inf"),
        ("p,b,1e300,1,0", {}, r"must lie within ±1e\+100; row 2"),
        (",a,1,1,0", {}, r"column 'block' of .* is empty in row 2"),
        ("p,,1,1,0", {}, r"column 'loss' of .* is empty in row 2"),
        ("p,a,2,1,1", {}, r"p/a has 2 rows\. They differ in seed \(0, 1\): keep"),
        ("p,a,2,1,0", {}, r"p/a has 2 rows\. They differ in nothing but"),
        ("p,a,2,1,0", {"average": ["seed"]}, r"p/a/0 has 2 rows"),
    ],
)
def test_a_wrong_row_is_refused(write_scores, second, options, message):
    with pytest.raises(PodiumError, match=message):
        read_scores(write_scores("p,a,1,1,0", second, "p,c,2,1,0"), **options)


def test_seeds_are_averaged_with_average(write_scores):
    path = write_scores("p,a,1,1,0", "p,a,2,1,1", "p,b,4,1,0", "p,b,5,1,1")
    table = read_scores(path, average=["seed"])
    assert table.cells.rows() == [("p", "a", 1.5), ("p", "b", 4.5)]
    assert table.run_columns == ("seed",)
    assert table.runs.rows()[1] == ("p", "a", 1, 2.0)


def test_equal_means_tie_in_spite_of_rounding(write_scores):
    path = write_scores(
        "p,a,0.1,1,0", "p,a,0.2,1,1", "p,a,0.3,1,2", "p,b,0.3,1,0", "p,b,0.2,1,1", "p,b,0.1,1,2"
    )
    assert read_scores(path, average=["seed"]).cells["score"].n_unique() == 1


def test_recall_that_falls_with_k_is_warned_of_whichever_k_is_ranked(write_scores):
    path = write_scores("p,a,60,1,0", "p,a,70,2,0", "p,a,55.5,10,0", "p,b,60,1,0", "p,b,60,10,0")
    warning = "Recall@K cannot fall as K grows: p/a (R@10 = 55.5 after R@2 = 70)"
    assert read_scores(path, where=["k=1"]).warnings == (warning,)


def test_only_a_few_impossible_rows_are_named(write_scores):
    lines = [line for i in range(8) for line in (f"p{i},a,2,1,0", f"p{i},a,1,2,0")]
    (warning,) = read_scores(write_scores(*lines), where=["k=1"]).warnings
    assert warning.endswith("and 3 more")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(PodiumError, match=r"must be a \.csv, .*parquet file; got .*\.xls"):
        read_scores(tmp_path / "scores.xls")
    with pytest.raises(PodiumError, match=r"there is no file at .*absent\.csv"):
        read_scores(tmp_path / "absent.csv")


@pytest.mark.parametrize("name", ["scores.parquet", "scores.csv"])
def test_a_file_that_is_not_what_its_name_says_is_corrupt(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"PAR1" if name.endswith("parquet") else b"")
    with pytest.raises(CorruptFileError, match=f"{name} cannot be read as"):
        read_scores(path)


def test_a_recall_beyond_100_is_warned_of_and_named(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("block,loss,k,recall\n1,a,1,60.0\n1,a,2,170.5\n1,b,1,61.0\n1,b,2,71.0\n")
    table = read_table(
        path, TableOptions(by=("block",), competitor="loss", score="recall", where=("k=1",))
    )
    assert table.warnings == ("Recall@K lies within 0 and 100: 1/a (R@2 = 170.5)",)


def test_a_header_alone_is_refused(write_scores):
    path = write_scores(header="block,loss,score")
    with pytest.raises(PodiumError, match=r"scores\.csv has no rows below its header"):
        read_scores(path)


def test_a_competitor_without_any_score_is_left_out_and_named(write_scores):
    table = read_scores(write_scores("p,a,1,1,0", "p,b,2,1,0", "p,c,-,1,0"))
    assert table.cells["loss"].to_list() == ["a", "b"]
    assert table.warnings == ("no score at all, left out: c",)


def test_of_several_k_the_least_that_all_blocks_have_is_ranked_and_said(write_scores):
    rows = ("p,a,1,2,0", "p,a,2,4,0", "p,b,2,2,0", "p,b,3,4,0", "q,a,1,4,0", "q,b,2,4,0")
    table = read_scores(write_scores(*rows))
    assert table.k == 4
    assert "K 4 (also 2; --where k=2)" in table.reading.line()
    assert read_scores(write_scores(*rows), where=["k=2"]).k == 2


def test_what_a_table_was_taken_for_is_one_line(write_scores):
    table = read_scores(write_scores("p,a,1,1,0", "p,b,2,1,0"))
    assert table.reading.line() == (
        "Read as: 1 setting (block); 2 competitors (loss); metric score; K 1; not used: seed"
    )


def test_small_scores_are_good_where_that_is_said(write_scores):
    table = read_scores(write_scores("p,a,1,1,0", "p,b,2,1,0"), lower_is_better=True)
    assert table.score == "score (negated)"
    assert table.cells[table.score].to_list() == [-1.0, -2.0]
    assert "lower is better" in table.reading.line()


def test_competitors_can_be_left_out(write_scores):
    rows = ("p,a,1,1,0", "p,b,2,1,0", "p,c,3,1,0")
    table = read_scores(write_scores(*rows), without=["b", "c"])
    assert table.cells["loss"].to_list() == ["a"]
    with pytest.raises(PodiumError, match=r"--without bb: .* holds a, b, c\. Did you mean b\?"):
        read_scores(write_scores(*rows), without=["bb"])
    with pytest.raises(PodiumError, match="leaves no competitor"):
        read_scores(write_scores(*rows), without=["a", "b", "c"])


def test_incomplete_blocks_come_with_what_each_omission_would_give(write_scores):
    rows = [f"{block},{loss},1,1,0" for block in "pqr" for loss in "abc"]
    rows.remove("p,b,1,1,0")
    rows.remove("q,b,1,1,0")
    rows.remove("q,c,1,1,0")
    (warning,) = read_scores(write_scores(*rows)).warnings
    assert warning == (
        "1 of 3 settings hold a score of every competitor; there would be 2 without b, all 3"
        " without b, c (--without NAME)"
    )


@pytest.mark.parametrize("k", ["1.5", "0", "-1", "99999999999999999999"])
def test_a_k_that_no_recall_has_is_refused(write_scores, k):
    path = write_scores(f"p,a,1,{k},0", f"p,b,2,{k},0")
    with pytest.raises(PodiumError, match="column 'k' must hold the K of Recall@K"):
        read_scores(path, where=[f"k={k}"])


def test_a_share_among_percent_is_warned_of(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("dataset,loss,k,recall\nu,a,1,0.61\nu,b,1,60\nv,a,1,55\nv,b,1,50\n")
    table = read_table(path, TableOptions(by=["dataset"], competitor="loss", score="recall"))
    assert table.warnings == ("shares of 1 among percent: u/a (R@1 = 0.61)",)
