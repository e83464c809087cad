import json
from functools import partial

import pytest

from podium.analysis.hypothesis_tests.corrected_resampled_t import fold_statistics
from tests.analysis.synthetic_folds import TRUTH, fold_rows, write_folds
from tests.podium.calling import output_of


@pytest.fixture(scope="module")
def store_of_folds(tmp_path_factory):
    return str(write_folds(tmp_path_factory.mktemp("store") / "folds"))


@pytest.fixture
def podium_cv(capsys):
    """Output of ``podium cv ARGUMENTS``."""
    return partial(output_of, capsys, "cv")


def truth_of(loss):
    values = [row["test_scores"][0]["value"] for row in fold_rows() if row["loss"] == loss]
    return fold_statistics(values)


def test_json_holds_mean_and_deviation_over_folds(podium_cv, store_of_folds):
    record = json.loads(podium_cv(store_of_folds, "--json"))
    assert {cell["loss"] for cell in record["cells"]} == set(TRUTH.strengths)
    for cell in record["cells"]:
        found = cell["test_mean"], cell["test_std"]
        assert found == pytest.approx(truth_of(cell["loss"]))
        assert (cell["num_folds"], cell["num_missing"], cell["num_seeds"]) == (4, 0, 1)
        assert cell["class_standard_error"] > 0
    for pair in record["pairs"]:
        difference = truth_of(pair["a"])[0] - truth_of(pair["b"])[0]
        assert pair["mean_difference"] == pytest.approx(difference)


def test_json_holds_every_fold_with_its_best_validation_score_its_epoch_and_its_test_score(
    podium_cv, store_of_folds
):
    found = json.loads(podium_cv(store_of_folds, "--json"))["folds"]
    for fold, row in zip(found, sorted(fold_rows(), key=lambda row: row["loss"]), strict=True):
        assert (fold["loss"], fold["fold"], fold["epoch"]) == (
            row["loss"],
            row["fold"],
            row["epoch_selected"],
        )
        assert fold["val"] == max(score["value"] for score in row["scores"] if score["k"] == 1)
        assert fold["test"] == row["test_scores"][0]["value"]


def test_the_text_fits_80_columns_and_says_what_the_deviation_means(podium_cv, store_of_folds):
    out = podium_cv(store_of_folds)
    assert max(map(len, out.splitlines())) <= 80
    printed = " ".join(out.split())
    assert "(glyphs-greek/conv_small/16; tuned by fixed, folds of kfold)" in printed
    assert "not the standard error of the mean" in printed
    assert "on one fixed test set it is a heuristic" in printed
    assert f"contrastive tuned 4 {100 * truth_of('contrastive')[0]:.2f}" in printed


def test_an_unknown_k_is_reported_with_those_there_are(podium_cv, store_of_folds):
    assert "k must be one of 1, 2, 4, 8; got 3" in podium_cv(store_of_folds, "--k", "3", code=2)


def test_folds_are_compared_by_nmi_as_by_recall(podium_cv, store_of_folds):
    record = json.loads(podium_cv(store_of_folds, "--score", "NMI", "--json"))
    assert (record["metric"], record["k"]) == ("NMI", None)
    for cell in record["cells"]:
        values = [
            score["value"]
            for row in fold_rows()
            if row["loss"] == cell["loss"]
            for score in row["test_scores"]
            if score["metric"] == "nmi"
        ]
        assert (cell["test_mean"], cell["test_std"]) == pytest.approx(fold_statistics(values))
        unknown = ("val_mean", "val_std", "tau", "class_standard_error")
        assert {cell[name] for name in unknown} == {None}
    printed = " ".join(podium_cv(store_of_folds, "--score", "nmi").split())
    assert "NMI in %, mean and sample standard deviation" in printed
    assert "val: NMI is measured on test classes only." in printed
