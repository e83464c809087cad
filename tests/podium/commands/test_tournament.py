import json
from functools import partial

import pytest

from tests.analysis import thesis_cub200
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.podium.calling import output_of

TABLE = str(thesis_cub200.RECALLS)


@pytest.fixture
def podium_tournament(capsys):
    """Output of ``podium tournament ARGUMENTS``."""
    return partial(output_of, capsys, "tournament")


def test_the_published_table_comes_out_as_json(podium_tournament):
    out = podium_tournament(
        *(TABLE, "--by", "dataset,backbone,embedding_dim", "--competitor", "loss"),
        *("--score", "recall", "--where", "k=1", "--json"),
    )
    record = json.loads(out)
    competitors = record["competitors"]
    assert {c["competitor"]: c["total_rank"] for c in competitors} == thesis_cub200.TOTALS
    assert [c["rank_std"] for c in competitors] == pytest.approx(
        thesis_cub200.RANK_STDS, abs=0.005
    )
    assert [c["total_rank"] for c in competitors] == sorted(thesis_cub200.TOTALS.values())
    assert {c["blocks"] for c in competitors} == {12}
    assert competitors[0]["wins"] == 12
    assert record["classic"]["critical_difference"] == pytest.approx(3.9104, abs=5e-5)
    assert {pair["p"] for pair in record["pairs"]} == {None}
    assert record["question"] == "Would the order hold on other data sets or backbones?"
    assert record["pairs"][0]["a"] == "ProxyAnchor"
    assert record["pairs"][0]["mean_difference"] > 0
    assert record["fairness"] is None


def test_the_text_fits_a_terminal_of_80_columns(podium_tournament):
    lines = podium_tournament(TABLE, "--where", "k=1").splitlines()
    assert max(map(len, lines)) <= 80
    printed = " ".join(lines)
    for part in (
        "MultiSimilarity",
        "2.05",
        "ProxyAnchor is first in all 12 settings",
        "it takes 6 data sets or 6 backbones; these are 1 and 3.",
    ):
        assert part in printed
    assert "Not equal" not in printed


def test_a_table_with_seeds_may_be_asked_of_its_own_blocks(podium_tournament, tmp_path):
    path = tmp_path / "seeds.csv"
    rows = [
        f"cub,{dim},{seed},{loss},{60 + dim + gain + 0.1 * seed * gain}"
        for dim in (1, 2)
        for seed in range(4)
        for loss, gain in (("a", 3), ("b", 1))
    ]
    path.write_text("\n".join(["dataset,embedding_dim,seed,loss,score", *rows]))
    options = (str(path), "--score", "score", "--average", "seed", "--json")
    elsewhere = json.loads(podium_tournament(*options))
    here = json.loads(podium_tournament(*options, "--question", "these_blocks"))
    assert elsewhere["question"] == "Would the order hold on other data sets?"
    assert elsewhere["pairs"][0]["p"] is None
    assert here["question"] == "Would the order hold in these settings, with other seeds?"
    assert here["pairs"][0]["p"] == pytest.approx(2 / 2**8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((TABLE, "--by", "loss,,x"), "by must be column names"),
        ((TABLE, "--storage", "STORE"), "--storage goes with a study"),
        (("STORE", "--average", "seed"), "--average goes with a table"),
        (("STORE/absent",), "which does not exist"),
        (
            ("STORE/two.csv", "--by", "b", "--test", "nemenyi"),
            "nemenyi compares at least three competitors; got x, y",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(podium_tournament, tmp_path, given, message):
    (tmp_path / "two.csv").write_text("b,loss,recall\np,x,9\np,y,8\nq,x,9\nq,y,8\n")
    words = [word.replace("STORE", str(tmp_path)) for word in given]
    assert message in podium_tournament(*words, code=2)


def test_warnings_are_part_of_every_answer(podium_tournament, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("b,loss,recall,k\np,x,9,1\np,y,8,1\np,x,7,10\nq,x,3,1\nq,y,,1\n")
    options = (str(path), "--by", "b", "--where", "k=1")
    printed = " ".join(podium_tournament(*options).split())
    assert "Warning: Recall@K cannot fall" in printed
    assert "Warning: no score, counted as missing: q/y" in printed
    assert (
        "1 of 2 settings hold a score of every competitor; there would be 2 without y" in printed
    )
    assert "Left out of the ranking for missing scores: 1 setting (q lacks y)." in printed
    assert len(json.loads(podium_tournament(*options, "--json"))["warnings"]) == 3


@pytest.fixture(scope="module")
def stored_study(tmp_path_factory):
    truth = Truth(embedding_dims=(16,), search_trials=3, seeds=2, has_without_k=True)
    return str(write_store(tmp_path_factory.mktemp("store") / "synthetic", truth))


def test_the_winners_of_a_study_are_ranked(podium_tournament, stored_study):
    record = json.loads(podium_tournament(stored_study, "--json"))
    assert [c["competitor"] for c in record["competitors"]] == [
        "proxy_anchor",
        "multi_similarity",
        "contrastive",
    ]
    assert record["by"] == ["dataset", "backbone", "embedding_dim"]
    assert len(record["blocks"]) == 4  # seeds are no blocks
    # Strength 0.06 + tuning 0.08 against 0.03 + 0.02.
    assert record["pairs"][0]["mean_difference"] == pytest.approx(0.09, abs=0.01)


def test_a_study_is_ranked_by_any_stored_score(podium_tournament, stored_study):
    by_recall = json.loads(podium_tournament(stored_study, "--json"))
    by_nmi = json.loads(podium_tournament(stored_study, "--score", "nmi", "--json"))
    by_f1 = json.loads(podium_tournament(stored_study, "--score", "F1", "--json"))
    order = [[c["competitor"] for c in r["competitors"]] for r in (by_recall, by_nmi, by_f1)]
    assert order[1] == order[0][::-1]  # NMI falls where recall rises
    assert order[2] == order[0]
    assert by_nmi["warnings"] == [
        "losses are ranked by NMI, chosen after the run; the study was to rank them by Recall@1"
    ]
    assert by_recall["warnings"] == []
    out = podium_tournament(stored_study, "--score", "nmi")
    assert out.startswith("3 competitors ranked by nmi within 4 settings")
    out = podium_tournament(stored_study, "--score", "recall@4")
    assert out.startswith("3 competitors ranked by recall@4 within 4 settings")


DECLARED = "studies have declared their rules, so {} would be ignored"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--question", "these_blocks"), DECLARED.format("question")),
        (
            ("--score", "ari"),
            "score of this study must be one of recall@1, recall@2, recall@4, recall@8,"
            " r_precision, map_at_r, nmi, f1; got 'ari'",
        ),
        (("--score", "nmi", "--where", "k=4"), "NMI has no K; leave where k=... out"),
        (
            ("--score", "recall@2", "--where", "k=4"),
            "score recall@2 states the K; leave where k=... out",
        ),
    ],
)
def test_what_a_study_does_not_have_or_declared_otherwise_is_refused(
    podium_tournament, stored_study, given, message
):
    refused = podium_tournament(stored_study, *given, code=2)
    assert message in " ".join(refused.split())
