import pytest

from podium.analysis.typed_tables.score_names import ScoreName, is_no_score, k_of, score_name


@pytest.mark.parametrize(
    ("name", "block", "k"),
    [
        ("R@1", "", 1),
        ("r1", "", 1),
        ("R1", "", 1),
        ("R@10", "", 10),
        ("recall@1", "", 1),
        ("Recall@1", "", 1),
        ("Recall@1 (%)", "", 1),
        ("recall_at_1", "", 1),
        ("Recall at 1", "", 1),
        ("R @ 4", "", 4),
        ("R@1 ↑", "", 1),
        ("test_recall_at_1", "test", 1),
        ("CUB R@1", "CUB", 1),
        ("CUB_R1", "CUB", 1),
        ("R@1 CUB-200-2011", "CUB-200-2011", 1),
        ("CARS196/Recall@8", "CARS196", 8),
        ("SOP (R@1000)", "SOP", 1000),
    ],
)
def test_recall_at_k_is_known_by_all_its_names(name, block, k):
    assert score_name(name) == ScoreName(block=block, metric="recall", k=k)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("NMI", "NMI"),
        ("f1", "F1"),
        ("P@1", "P@1"),
        ("MAP@R", "MAP@R"),
        ("R-Precision", "R-Precision"),
    ],
)
def test_other_metrics_have_no_k(name, metric):
    assert score_name(name) == ScoreName(block="", metric=metric, k=None)


@pytest.mark.parametrize(
    "name", ["CUB", "R50", "r101", "ResNet50", "CARS196", "SOP", "loss", "year"]
)
def test_data_sets_and_networks_are_no_metrics(name):
    assert score_name(name) is None


@pytest.mark.parametrize(
    "name", ["Year", "dim", "embedding_dim", "Emb. dim", "# params", "avg", "SD"]
)
def test_some_numbers_are_never_scores(name):
    assert is_no_score(name)


@pytest.mark.parametrize(
    ("text", "k"), [("4", 4), ("R@4", 4), ("r4", 4), ("x", None), ("CUB R@4", None)]
)
def test_a_cell_may_hold_a_k(text, k):
    assert k_of(text) == k
