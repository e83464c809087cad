import json

import polars as pl
import pytest

from tests.analysis import thesis_cub200
from tests.podium.calling import call

SCORES = thesis_cub200.RECALLS
PUBLISHED = thesis_cub200.DATA / "thesis_tournament_published.csv"
FOLDS = thesis_cub200.DATA / "thesis_cross_validation.csv"

MISTAKES = {
    ("average", "Triplet, average_rank"),
    ("truncated", "SoftTriple, average_rank"),
    ("sd", "LiftedStructure, rank_std"),
}


def findings(capsys, *arguments):
    called = call(capsys, "audit", *arguments, "--json")
    assert called.code == 0, called.err
    record = json.loads(called.out)
    assert all(f.keys() == {"kind", "where", "message"} for f in record["findings"])
    return {(f["kind"], f["where"]) for f in record["findings"]}


def write(folder, columns, name="table.csv"):
    frame = pl.DataFrame(columns)
    path = folder / name
    frame.write_csv(path) if name.endswith("csv") else frame.write_parquet(path)
    return path


def test_the_published_tournament_has_exactly_three_mistakes(capsys):
    assert findings(capsys, PUBLISHED) == MISTAKES


def test_so_it_has_with_the_scores_it_summarises(capsys):
    assert findings(capsys, SCORES, "--published", PUBLISHED) == MISTAKES
    assert findings(capsys, SCORES, "--published", PUBLISHED, "--where", "k=1") == MISTAKES


def test_at_another_k_the_published_totals_are_of_other_scores(capsys):
    found = findings(capsys, SCORES, "--published", PUBLISHED, "--where", "k=8")
    assert "total" in {kind for kind, _ in found}


def test_the_scores_alone_are_without_fault(capsys):
    assert findings(capsys, SCORES) == set()


def test_the_text_names_what_is_wrong_and_fits_80_columns(capsys):
    out = call(capsys, "audit", SCORES, "--published", PUBLISHED).out
    assert out.startswith("3 findings\n")
    assert "printed 8.85, should be 8.58" in out
    assert "\nNotes\n" in out
    assert max(map(len, out.splitlines())) <= 80
    assert call(capsys, "audit", SCORES).out.startswith("No findings\n")


def test_findings_end_with_1_only_if_that_is_asked_for(capsys):
    assert call(capsys, "audit", PUBLISHED).code == 0
    assert call(capsys, "audit", PUBLISHED, "--exit-code").code == 1
    assert call(capsys, "audit", SCORES, "--exit-code").code == 0


def test_folds_are_compared_with_what_is_claimed_of_them(capsys, tmp_path):
    claim = "--claim=test_recall_at_1=63.61±0.59"
    assert findings(capsys, FOLDS, claim) == set()
    wrong = "--claim=test_recall_at_1=63.61+-0.56"
    assert findings(capsys, FOLDS, wrong) == {("ddof", "test_recall_at_1")}
    lines = [*FOLDS.read_text().split(), "mean,97.79,63.61", "sd,1.98,0.56"]
    (tmp_path / "folds.csv").write_text("\n".join(lines))
    assert findings(capsys, tmp_path / "folds.csv") == {("ddof", "test_recall_at_1")}


def test_tables_with_a_column_for_each_k_are_read(capsys, tmp_path):
    table = write(
        tmp_path,
        {
            "dataset": ["cub", "cub", "cars", "cars"],
            "loss": ["a", "b", "a", "b"],
            "R@1": [60.1, 61.0, 80.2, 80.3],
            "R@2": [70.1, 60.9, 85.2, 85.3],
        },
    )
    assert findings(capsys, table) == {("impossible", "cub/b, k = 2")}


def test_tables_with_a_column_for_each_block_are_read(capsys, tmp_path):
    columns = {"loss": ["a", "b"], "CUB": [60.1, 61.0], "Cars": [80.2, 180.0]}
    assert findings(capsys, write(tmp_path, columns)) == {("impossible", "Cars/b")}


def test_tables_of_ranks_are_read_and_compared(capsys, tmp_path):
    ranks = write(
        tmp_path,
        {"block": [1, 1, 2, 2, 3, 3], "loss": list("abbaab"), "rank": [1, 2, 2, 1, 1, 1]},
    )
    summary = write(
        tmp_path, {"loss": ["a", "b"], "total": ["3", "6"], "average": ["1", "2"]}, "sum.csv"
    )
    assert findings(capsys, ranks, "--by", "block") == set()
    found = findings(capsys, ranks, "--by", "block", "--published", summary)
    assert ("total", "a, total") in found


def test_binary_tables_are_read_as_well(capsys, tmp_path):
    pl.read_csv(PUBLISHED).write_parquet(tmp_path / "published.parquet")
    assert findings(capsys, tmp_path / "published.parquet") == MISTAKES


def test_the_blocks_can_be_given(capsys):
    found = findings(capsys, PUBLISHED, "--blocks", "11")
    assert ("total", "total_rank") in found


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ({"loss": ["a", "b"], "note": ["x", "y"]}, (), "no table that can be audited"),
        ({"x": [1, 2]}, (), "no table that can be audited"),
        ({"loss": ["a", "b"], "setting": ["x", "y"], "test": [60, 61]}, (), "--score"),
        ({"loss": ["a", "b"], "CUB": [60, 61]}, ("--by", "loss"), "--score"),
        ({"loss": [], "recall": []}, (), "no rows"),
        (
            {"dataset": ["c", "c"], "loss": ["a", "b"], "recall": ["60", "high"]},
            (),
            "row 2 holds 'high'",
        ),
        ({"place": ["c", "c"], "loss": ["a", "b"], "recall": [60, 61]}, (), "--by"),
        ({"loss": ["a", "b"], "total": ["3", "x"]}, (), "row 2 holds 'x'"),
        ({"loss": ["a", "b"], "total": [1, 2]}, ("--score", "recal"), "no column 'recal'"),
        ({"loss": ["a", "b"], "total": [1, 2]}, ("--claim", "x=1±2"), "--claim goes with"),
        ({"loss": ["a", "b"], "total": [1, 2]}, ("--where", "k=1"), "goes with a table of scores"),
        ({"fold": [1, 2], "test": [1, 2]}, ("--blocks", "3"), "--blocks goes with"),
        ({"fold": [1, 2], "test": [1, 2]}, ("--claim", "tst=1±2"), "Did you mean test"),
        ({"fold": [1, 2], "test": [1, 2]}, ("--by", "a,,b"), "divided by commas"),
        ({"fold": [1, 2], "test": [1, 2]}, ("--without", "a"), "--without goes with"),
        ({"fold": [1, 2], "test": [1, 2]}, ("--lower-is-better",), "--lower-is-better goes with"),
        (
            {"dataset": ["c", "c"], "loss": ["a", "b"], "recall": [60, 61], "k": [1, 1]},
            ("--where", "k=4"),
            "holds 1",
        ),
        (
            {"dataset": ["c", "c"], "loss": ["a", "b"], "recall": [60, 61]},
            ("--where", "k=4"),
            "no column 'k'",
        ),
    ],
)
def test_bad_input_ends_with_one_clear_message(capsys, tmp_path, columns, arguments, message):
    called = call(capsys, "audit", write(tmp_path, columns), *arguments)
    assert called.code == 2
    assert called.err.startswith("podium: ")
    assert message in called.err
    assert "Traceback" not in called.err


def test_a_file_that_is_not_there_is_reported(capsys, tmp_path):
    called = call(capsys, "audit", tmp_path / "nothing.csv")
    assert (called.code, "there is no file" in called.err) == (2, True)


LATEX = r"""
\begin{tabular}{l|cc|cc}
\multirow{2}{*}{Method} & \multicolumn{2}{c|}{CUB} & \multicolumn{2}{c}{SOP} \\
 & R@1 & R@2 & R@1 & R@10 \\ \hline
a~\cite{a} & 60.5 & 70.2 & 65.0 & 80.1 \\
b & 61.5 & 71.0 & 66.2 & 82.4 \\
\textbf{Ours} & $\mathbf{62.5 \pm 0.2}$ & 72.3 & \textbf{67.0} & 83.3 \\
\end{tabular}
"""


def test_a_pasted_table_of_data_sets_and_k_goes_through_all_commands(capsys, tmp_path):
    table = tmp_path / "table.tex"
    table.write_text(LATEX)
    line = (
        "Read as: 2 blocks (dataset); 3 competitors (Method); metric recall; K 1 (also 2, 10;"
        " --where k=2)\n"
    )
    assert findings(capsys, table) == set()
    assert call(capsys, "audit", table).err == line
    ranked = call(capsys, "tournament", table, "--json")
    assert ranked.err == line
    record = json.loads(ranked.out)
    assert [row["competitor"] for row in record["competitors"]] == ["Ours", "b", "a"]
    assert len(record["blocks"]) == 2
    assert (record["read_as"]["by"], record["read_as"]["ks"]) == (["dataset"], [1, 2, 10])
    called = call(capsys, "report", table, "--output", tmp_path / "t.html", "--json", "-")
    assert (called.code, called.err) == (0, line)
    assert json.loads(called.out)["read_as"] == record["read_as"]


def test_a_swap_of_two_k_in_a_table_of_data_sets_and_k_is_found(capsys, tmp_path):
    table = tmp_path / "table.tex"
    table.write_text(LATEX.replace("61.5 & 71.0", "71.0 & 61.5"))
    assert findings(capsys, table) == {("impossible", "CUB/b, k = 2")}


def test_competitors_can_be_left_out_of_every_command(capsys, tmp_path):
    table = tmp_path / "table.tex"
    table.write_text(LATEX)
    for command in ("audit", "tournament", "report"):
        err = call(capsys, command, table, "--without", "a", "--without", "Ours").err
        assert "1 competitor (Method)" in err
        assert "no such competitor" in call(capsys, command, table, "--without", "c").err


def test_what_is_missing_where_no_block_is_complete_comes_with_the_error(capsys, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("loss,CUB,Cars\na,60,\nb,61,71\nc,,72\n")
    called = call(capsys, "tournament", table)
    assert called.code == 2
    assert "0 of 2 blocks hold a score of every competitor; there would be 1 without" in called.err
    assert call(capsys, "audit", table).code == 0
