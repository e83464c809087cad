"""Any table of scores is ranked from Python, as the command ranks a file of it."""

import csv
import json

import pandas as pd
import polars as pl
import pytest

import podium
from tests.analysis import thesis_cub200
from tests.podium.calling import output_of

TABLE = thesis_cub200.RECALLS
SCORES = pl.read_csv(TABLE)
ROWS = {
    "dataset": ["cub", "cub", "cars", "cars"],
    "loss": ["margin", "triplet", "margin", "triplet"],
    "recall": [63.1, 60.2, 79.6, 75.0],
}


def cells(text):
    return list(csv.reader(text.splitlines()))


def refused(*args, **options):
    with pytest.raises(podium.PodiumError) as raised:
        podium.rank(*args, **options)
    return str(raised.value)


@pytest.mark.parametrize(
    "given",
    [TABLE, str(TABLE), SCORES, SCORES.lazy(), SCORES.to_pandas(), SCORES.to_arrow()],
    ids=["path", "text", "polars", "lazy", "pandas", "arrow"],
)
def test_a_file_and_frames_of_any_library_are_ranked_alike(given, capsys):
    ranked = podium.rank(given, where={"k": 1}, test="nemenyi", alpha=0.01)
    options = (TABLE, "--where", "k=1", "--test", "nemenyi", "--alpha", "0.01")
    assert f"{ranked}\n" == output_of(capsys, "tournament", *options)
    printed = json.loads(output_of(capsys, "tournament", *options, "--json"))
    assert json.loads(json.dumps(ranked.to_dict())) == printed
    assert printed["alpha"] == 0.01
    assert "Nemenyi: critical difference" in str(ranked)
    assert cells(ranked.frame.write_csv()) == cells(
        output_of(capsys, "tournament", *options, "--csv")
    )


def test_scores_that_podium_has_stored_are_told_in_percent_as_of_a_study(capsys):
    scores = {"block": [1, 1, 2, 2], "loss": ["a", "b", "a", "b"]}
    stored = pl.DataFrame({**scores, "test_recall_at_1": [0.31, 0.305, 0.42, 0.405]})
    text = str(podium.rank(stored, by="block", score="test_recall_at_1"))
    assert "mean Recall@1, %" in text
    assert "36.50" in text
    assert "on average 1.0 points of Recall@1 above b" in text
    distances = stored.rename({"test_recall_at_1": "test_mean_label_distance_at_1"})
    told = podium.rank(distances, by="block", score="test_mean_label_distance_at_1")
    assert "%" not in str(told).split("Would the order")[0]


def test_named_levels_of_a_pandas_index_are_columns():
    frame = pd.DataFrame(ROWS)
    means = frame.groupby(["dataset", "loss"]).mean()
    assert podium.rank(means).frame.equals(podium.rank(frame).frame)


def test_names_may_be_a_sequence_or_divided_by_commas():
    by = ("dataset", "backbone", "embedding_dim")
    frames = [podium.rank(TABLE, by=given, where="k=1").frame for given in (by, ", ".join(by))]
    assert frames[0].equals(frames[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "colour"}, "dataset, loss, recall"),
        ({"competitor": "method"}, "dataset, loss, recall"),
        ({"score": "nmi"}, "holds scores of recall"),
        ({"test": "tukey"}, "test: Input should be 'wilcoxon_holm', 'friedman' or 'nemenyi'"),
        ({"alpha": 0.7}, "alpha: Input should be less than 0.5; got 0.7"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_there_is(options, message):
    assert message in refused(pl.DataFrame(ROWS), **options)


def test_what_is_no_table_is_refused():
    assert "got a value of the type dict" in refused(ROWS)
    for given in ("quickstart", object()):
        assert "podium.results(FOLDER).tournament() ranks" in refused(given)
