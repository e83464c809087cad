"""Names of score columns tell metric and K."""

from podium.orchestrator.results.records.metric_columns import StoredMetric, known_test_columns
from podium.orchestrator.results.records.trial_schema import trial_schema


def test_continuous_labels_have_columns_of_their_metrics_and_none_without_k():
    metrics = (StoredMetric("ndcg", "maximise"), StoredMetric("mean_label_distance", "minimise"))
    assert known_test_columns(trial_schema((1, 4), {}, metrics).names) == {
        "test_ndcg_at_1": ("ndcg", 1),
        "test_ndcg_at_4": ("ndcg", 4),
        "test_mean_label_distance_at_1": ("mean_label_distance", 1),
        "test_mean_label_distance_at_4": ("mean_label_distance", 4),
    }


def test_columns_that_only_begin_alike_are_no_scores():
    names = ("test_hash", "test_readings", "test_seconds", "test_scores", "val_recall_at_1")
    assert known_test_columns(names) == {}
