"""Tables as papers print them, through `tournament`, `audit` and `report` as they stand."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.analysis import thesis_cub200
from tests.podium.calling import call, output_of

DATA = Path(__file__).parents[3] / "benchmarks" / "data"
GRADML = DATA / "gradml.csv"
CARS_SOP = DATA / "thesis_cars_sop.csv"

LATEX = r"""\begin{tabular}{lcccccc}
\toprule
 & \multicolumn{3}{c}{CUB-200} & \multicolumn{3}{c}{CARS-196} \\
Method & R@1 & R@2 & R@4 & R@1 & R@2 & R@4 \\
\midrule
Triplet & 51,9 & 64,3 & 75,3 & 60,3 & 71,9 & 80,9 \\
N-Pair & 50.1 & 63.3 & 74.3 & 71.1 & 79.7 & 86.5 \\
MS & \textbf{65.7} & 77.0 & 86.3 & 84.1 & 90.4 & 94.0 \\
Ours & 65.1 $\pm$ 0.2 & \textbf{77.4} & 86.4 & \textbf{85.0} & 90.6 & 94.2 \\
\bottomrule
\end{tabular}
"""


@pytest.fixture
def thesis(tmp_path):
    """The recalls of all three data sets in one file."""
    columns = ["dataset", "backbone", "embedding_dim", "loss", "k", "recall"]
    frames = [pl.read_csv(path) for path in (thesis_cub200.RECALLS, CARS_SOP)]
    named = frames[0].with_columns(dataset=pl.lit("CUB200-2011"))
    path = tmp_path / "thesis.csv"
    pl.concat([frame.select(columns) for frame in (named, frames[1])]).write_csv(path)
    return path


@pytest.fixture
def latex(tmp_path):
    path = tmp_path / "table.tex"
    path.write_text(LATEX)
    return path


def standings(capsys, path):
    record = json.loads(output_of(capsys, "tournament", path, "--json"))
    return record, [(one["place"], one["competitor"]) for one in record["competitors"]]


def findings(capsys, path):
    found = json.loads(output_of(capsys, "audit", path, "--json"))["findings"]
    return [(one["kind"], one["where"]) for one in found]


def headline(capsys, path, tmp_path):
    page = tmp_path / "page.html"
    printed = output_of(capsys, "report", path, "--output", page, "--json", "-")
    return json.loads(printed)["headline"]


def test_the_thesis_has_28_blocks_in_7_groups_that_can_show_nothing(capsys, thesis, tmp_path):
    record, places = standings(capsys, thesis)

    assert len(record["blocks"]) == 28
    assert len(set(record["block_groups"]["labels"])) == 7
    assert places[:3] == [(1, "ProxyAnchor"), (2, "SoftTriple"), (3, "MultiSimilarity")]
    assert not any(medal["is_supported"] for medal in record["medals"])
    assert findings(capsys, thesis) == [("impossible", "SOP/BNInception/128/ArcFace, k = 10")]
    assert headline(capsys, thesis, tmp_path).startswith("No ranking can be supported: 7 groups")


def test_gradml_leads_with_all_its_blocks_for_two_of_three_have_holes(capsys, tmp_path):
    record, places = standings(capsys, GRADML)

    assert len(record["blocks"]) == 1
    assert len(record["excluded"]) == 2
    assert places[0] == (1, "Ours")  # of the one block that is complete
    order = [rank["competitor"] for rank in record["available"]["ranks"]]
    assert (order[0], order.index("Ours")) == ("HDC", 12)
    assert findings(capsys, GRADML) == []
    assert "Over all 3 blocks, 2 of which lack scores, HDC comes first" in headline(
        capsys, GRADML, tmp_path
    )


def test_a_table_of_data_sets_by_k_has_a_block_for_each_data_set(capsys, latex, tmp_path):
    record, places = standings(capsys, latex)

    assert sorted(record["blocks"]) == ["CARS-196", "CUB-200"]
    assert places == [(1, "MS"), (1, "Ours"), (3, "N-Pair"), (3, "Triplet")]
    assert findings(capsys, latex) == []
    assert headline(capsys, latex, tmp_path).startswith("No ranking can be supported: 2 blocks.")


def test_what_a_table_was_taken_for_is_said(capsys, latex):
    said = call(capsys, "tournament", latex).err
    assert "Read as: 2 blocks (dataset); 4 competitors (Method); metric recall; K 1" in said
