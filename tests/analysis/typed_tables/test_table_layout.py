"""Tables in all the forms in which people write them, and what is taken for what."""

import pytest

from podium.analysis.typed_tables.table_file import read_table_file
from podium.analysis.typed_tables.table_layout import lay_out
from podium.analysis.typed_tables.table_options import TableOptions
from podium.errors import PodiumError


@pytest.fixture
def laid_out(tmp_path):
    def lay(text, name="table.csv", **given):
        path = tmp_path / name
        path.write_text(text)
        return lay_out(read_table_file(path), TableOptions(**given))

    return lay


def scores_of(layout):
    columns = [*layout.by, layout.competitor, *(["k"] if "k" in layout.frame.columns else [])]
    return {row[:-1]: row[-1] for row in layout.frame.select(*columns, layout.score).rows()}


CUB_AND_SOP = {
    ("CUB", "a", 1): 60.5, ("CUB", "a", 2): 70.0, ("SOP", "a", 1): 65.0, ("SOP", "a", 10): 80.0,
    ("CUB", "b", 1): 61.5, ("CUB", "b", 2): 71.0, ("SOP", "b", 1): 66.0, ("SOP", "b", 10): None,
}  # fmt: skip

FORMS = {
    "long": (
        "dataset,loss,k,recall\nCUB,a,1,60.5\nCUB,a,2,70\nSOP,a,1,65\nSOP,a,10,80\n"
        "CUB,b,1,61.5\nCUB,b,2,71\nSOP,b,1,66\nSOP,b,10,\n"
    ),
    "long with names of K": (
        "Data set;Method;K;Score\nCUB;a;R@1;60,5\nCUB;a;R@2;70\nSOP;a;R@1;65\nSOP;a;R@10;80\n"
        "CUB;b;R@1;61,5\nCUB;b;R@2;71\nSOP;b;R@1;66\nSOP;b;R@10;-\n"
    ),
    "a column of metrics": (
        "dataset,loss,metric,value\nCUB,a,NMI,50\nCUB,a,R@1,60.5\nCUB,a,R@2,70\nSOP,a,R@1,65\n"
        "SOP,a,R@10,80\nCUB,b,R@1,61.5\nCUB,b,R@2,71\nSOP,b,R@1,66\nSOP,b,R@10,\n"
    ),
    "data set x K": "loss,CUB R@1,CUB R@2,SOP R@1,SOP R@10\na,60.5,70,65,80\nb,61.5,71,66,-\n",
    "other columns": (
        "Method\tYear\tDim\tCUB r1\tCUB r2\tSOP r1\tSOP r10\n"
        "a\t2019\t64\t60.5\t70\t65\t80\nb\t2020\t512\t61.5%\t71 ± 0.2\t66*\t-\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_all_forms_of_a_table_of_data_sets_and_k_are_one(laid_out, text):
    layout = laid_out(text, name="table.tsv" if text.startswith("Method") else "table.csv")
    assert len(layout.by) == 1
    assert scores_of(layout) == CUB_AND_SOP
    assert layout.score.lower() in ("recall", "score")


@pytest.mark.parametrize(
    "names", ["R@1,R@2", "r1,r2", "R1,R2", "recall@1,recall@2", "Recall@1,Recall_at_2"]
)
def test_columns_of_k_are_never_blocks(laid_out, names):
    layout = laid_out(f"loss,{names}\na,60,70\nb,61,71\n")
    assert layout.by == ("dataset",)
    assert scores_of(layout)["table", "b", 2] == 71


def test_columns_of_k_stand_beside_columns_of_blocks(laid_out):
    layout = laid_out(
        "dataset,backbone,loss,R@1,R@2\nu,x,a,1,2\nu,y,a,3,4\nu,x,b,5,6\nu,y,b,7,8\n"
    )
    assert layout.by == ("dataset", "backbone")
    assert scores_of(layout)["u", "y", "b", 2] == 8


def test_a_backbone_that_differs_between_losses_of_one_row_each_names_no_block(laid_out):
    layout = laid_out(
        "Method,Backbone,Venue,CUB,Cars,Avg\na,R50,x15,60,70,65\nb,BN,y16,61,71,66\n"
    )
    assert layout.by == ("block",)
    assert set(scores_of(layout)) == {("CUB", "a"), ("Cars", "a"), ("CUB", "b"), ("Cars", "b")}
    assert layout.unused == ("Backbone", "Venue", "Avg")


def test_years_dimensions_and_deviations_are_no_scores(laid_out):
    layout = laid_out(
        "loss,year,dim,CUB,CUB std,Cars\na,2019,64,60,0.1,70\nb,2020,512,61,0.2,71\n"
    )
    assert {block for block, _ in scores_of(layout)} == {"CUB", "Cars"}


def test_of_several_metrics_recall_is_taken_unless_another_is_named(laid_out):
    text = "loss,R@1,R@2,NMI\na,60,70,50\nb,61,71,51\n"
    assert laid_out(text).unused == ("NMI",)
    assert scores_of(laid_out(text, score="nmi")) == {("table", "a"): 50, ("table", "b"): 51}
    assert set(scores_of(laid_out(text, score="R@2")).values()) == {70, 71}


def test_the_recall_of_validation_beside_that_of_test_is_refused(laid_out):
    text = "loss,val_recall_at_1,test_recall_at_1\na,90,60\nb,91,61\n"
    with pytest.raises(
        PodiumError, match=r"columns 'val_recall_at_1', 'test_recall_at_1' of .*keep"
    ):
        laid_out(text)
    only = laid_out("loss,test_recall_at_1,test_recall_at_2\na,60,70\nb,61,71\n")
    assert scores_of(only)["table", "a", 2] == 70


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("loss,R@1,R@2\na,60,70\nb,6o,71\n", {}, r"'R@1' of .* numbers; row 2 holds '6o'"),
        ("loss,CUB,Cars\na,60,70\nb,61,high\n", {}, r"'Cars' of .* numbers; row 2 holds 'high'"),
        ("loss,R@1\n,60\nb,61\n", {}, r"column 'loss' of .* is empty in row 1"),
        ("loss,NMI,F1\na,60,70\nb,61,71\n", {}, "scores of NMI, F1: name one with --score"),
        (FORMS["a column of metrics"], {"score": "R@2"}, "--where k=2 the K; got 'R@2'"),
        (FORMS["a column of metrics"], {"score": "mAP"}, "name one with --score; got 'mAP'"),
        ("loss,R@1\na,60\n", {"score": "NMI"}, r"scores of recall: name one .*; got 'NMI'"),
        ("x,y\n1,2\n", {}, "has no column 'loss'.* turn the table"),
        (",A,B\nCUB,60,70\nCars,61,71\n", {}, "turn the table"),
        ("Dataset,A R@1,B R@1\nCUB,60,70\nCars,61,71\n", {}, "turn the table"),
        ("loss,dataset,ms,mb\na,u,1,2\nb,u,2,3\n", {}, "name the scores with --score"),
        ("loss,place,recall\na,x,1\nb,x,2\n", {}, "name the columns that make a block with --by"),
        ("loss,place,CUB,Cars\na,x,1,2\na,y,1,2\n", {}, "name the scores with --score"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_place_in_the_file(laid_out, text, given, message):
    with pytest.raises(PodiumError, match=message):
        laid_out(text, **given)


@pytest.mark.parametrize(
    ("text", "by", "score"),
    [
        ("loss,dataset,latency_ms\na,u,1\nb,u,2\n", ("dataset",), "latency_ms"),
        ("loss,latency_ms\na,1\nb,2\n", ("dataset",), "latency_ms"),
        ("loss,backbone,lr,time_s\na,r,1,1\nb,r,2,2\n", ("backbone",), "time_s"),
        ("loss,CUB,Cars\na,1,2\nb,2,3\n", ("block",), "score"),
    ],
)
def test_the_only_column_of_numbers_is_the_score_and_several_are_blocks(laid_out, text, by, score):
    layout = laid_out(text)
    assert (layout.by, layout.score) == (by, score)
