"""Hyperparameters, and images of retrievals, as columns of a row."""

import pyarrow as pa
import pytest
from torch import nn

from podium.orchestrator.results.records.trial_schema import trial_schema
from podium.orchestrator.results.trial_files.commit_trials import to_table
from podium.orchestrator.study.configs import hyperparameter_types
from podium.orchestrator.trials.history import TrialHistory
from podium.orchestrator.trials.recorder import _retrieval_rows, hyperparameter_columns
from podium.trainables.trial_reports import Neighbour, Retrieval, Score, TestReport
from tests.orchestrator.results.store_rows import SCHEMA, row
from tests.orchestrator.study_files import load

TEXT = """
study: x
losses:
  - {loss: 'pytorch_metric_learning.losses:TripletMarginLoss', values: {triplets_per_anchor: all}}
  - loss: 'tests.orchestrator.trials.test_recorder:Counting'
    values: {triplets_per_anchor: 7, scale: 2}
"""


class Counting(nn.Module):
    def __init__(self, triplets_per_anchor=3, scale=1.0):
        super().__init__()

    def forward(self, x, labels):
        return x.sum()


def test_a_name_that_is_a_text_for_one_loss_and_a_number_for_another_is_written_as_text(tmp_path):
    types = hyperparameter_types(load(tmp_path, TEXT))
    assert types["triplets_per_anchor"] == "str"
    schema = trial_schema((1,), types)
    columns = hyperparameter_columns(schema, {"triplets_per_anchor": 7, "scale": 2})
    assert columns["hp.triplets_per_anchor"] == "7"
    assert columns["hp.scale"] == 2
    assert columns["hp.margin"] is None
    for name, value in columns.items():
        assert pa.array([value], schema.field(name).type)[0].as_py() == value


def test_images_of_retrievals_fit_their_column():
    neighbour = Neighbour(class_name="b", is_correct=None, similarity=0.5, png=b"near")
    report = TestReport(
        fold=2,
        epoch=1,
        scores=(),
        class_hits=(),
        retrievals=(Retrieval(class_name="a", png=b"query", neighbours=(neighbour,)),),
        seconds=0.0,
    )
    table = to_table(SCHEMA, row(0, test_retrievals=_retrieval_rows([report])))
    ((found,),) = table["test_retrievals"].to_pylist()
    near = {"class_name": "b", "is_correct": None, "similarity": 0.5, "png": b"near"}
    assert found == {"fold": 2, "class_name": "a", "png": b"query", "neighbours": [near]}


def test_test_scores_are_means_over_the_folds_that_have_them():
    history = TrialHistory(primary_k=1)
    for fold, (recall, nmi) in enumerate(((0.6, 0.5), (0.7, 0.25), (0.2, None))):
        scores = [Score(role="test", metric="recall", k=1, value=recall)]
        if nmi is not None:
            scores.append(Score(role="test", metric="nmi", value=nmi))
        own = {"class_hits": (), "retrievals": (), "seconds": 0.0}
        history.add(TestReport(fold=fold, epoch=1, scores=tuple(scores), **own))
    assert history.mean_test_score("recall", 1) == pytest.approx(0.5)
    assert history.mean_test_score("nmi", None) == 0.375
    assert history.mean_test_score("recall", 2) is None
