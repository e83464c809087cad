import numpy as np

from analysis.selection.selection_regret import search_regrets, selection_regret
from tests.analysis.protocol_studies import final, run, shared_configs, table


def test_only_test_runs_that_the_pick_has_are_compared():
    rows = [run("c0", val=0.5), run("c1", val=0.4)]
    rows += [final("c0", s, 1.0) for s in (1, 2)]
    rows += [final("c1", s, test) for s, test in [(1, 3.0), (2, 3.0), (3, 99.0)]]
    row = search_regrets(table(rows)).row(0, named=True)
    assert (row["regret"], row["naive_regret"]) == (2, 2)
    assert (row["num_runs"], row["num_candidates"], row["num_missing"]) == (2, 2, 0)


def test_a_large_search_is_resampled_in_parts_to_the_same_end(monkeypatch):
    frame = shared_configs(*np.random.default_rng(0).normal(size=(2, 4, 5)))
    whole = selection_regret(frame)
    monkeypatch.setattr("analysis.selection.selection_regret._CHUNK", 100)
    assert selection_regret(frame).equals(whole)
