import pytest

from analysis.audit.audit_table import AuditOptions, audit_file
from podium.errors import PodiumError


@pytest.fixture
def audit(tmp_path):
    def run(header, *rows):
        path = tmp_path / "table.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        return audit_file(path, AuditOptions())

    return run


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "R@0", "one", "true", "99999999999999999999"])
def test_k_is_a_whole_number_from_1(audit, k):
    with pytest.raises(PodiumError, match=r"column 'k' must hold the K of Recall@K"):
        audit("loss,dataset,k,recall", f"a,u,{k},1", f"b,u,{k},2")


def test_shares_among_percent_are_found(audit):
    found = audit(
        "loss,dataset,recall", "a,u,0.61", "b,u,60", "a,v,0.5", "b,v,50", "c,u,1", "c,v,44"
    )
    assert [(f.kind, f.where) for f in found.findings] == [("units", "u/a"), ("units", "v/a")]
    assert "0.61 where others hold percent" in found.findings[0].message


def test_a_data_set_of_shares_among_others_of_percent_is_found_whole(audit):
    percent = ("a,v,50", "b,v,50", "a,w,50", "b,w,50")
    found = audit("loss,dataset,recall", "a,u,0.61", "b,u,0.60", *percent)
    assert [(f.kind, f.where) for f in found.findings] == [("units", "u/a"), ("units", "u/b")]


def test_small_percent_in_a_block_of_small_percent_are_none(audit):
    found = audit("loss,dataset,recall", "a,u,0.8", "b,u,1.5", "a,v,40", "b,v,50")
    assert found.findings == ()


def test_a_fold_named_twice_is_found_without_a_claim(audit):
    found = audit("fold,test", "1,60.1", "2,61.2", "2,61.3", "3,60.9")
    assert [(f.kind, f.where) for f in found.findings] == [("duplicate", "fold 2")]


def test_folds_of_two_data_sets_repeat_nothing(audit):
    assert audit("dataset,fold,test", "u,1,60.1", "u,2,61", "v,1,60", "v,2,61").findings == ()


def test_small_numbers_of_another_score_are_not(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("loss,dataset,loss_value\na,u,0.6\nb,u,60\n")
    found = audit_file(path, AuditOptions(score="loss_value"))
    assert not [note for note in found.notes if note.kind == "units"]


def test_of_ties_alone_no_number_is_printed_that_is_none(audit):
    found = audit("loss,dataset,recall", *(f"{loss},{d},5" for loss in "abc" for d in "uvwxyz"))
    messages = " ".join(note.message for note in found.notes)
    assert "All scores tie within every block" in messages
    assert "nan" not in messages


@pytest.mark.parametrize("number", ["1e400", "1e5000000", "1e-5000000"])
def test_numbers_that_no_paper_prints_are_refused_at_once(audit, number):
    with pytest.raises(PodiumError, match=r"column 'total' .* at most 15 digits; row 1"):
        audit("loss,total", f"a,{number}", "b,2")


def test_a_negative_deviation_is_impossible(audit):
    found = audit("loss,average_rank,rank_std", "a,1.5,-0.3", "b,1.5,0.5")
    assert [(f.kind, f.where) for f in found.findings] == [("impossible", "a, rank_std")]
