"""What losses need is asked of the study before anything runs."""

import pytest

from tests.orchestrator.study_files import assert_matches, load, problems_of

GUIDED = "study: x\nlosses: [multi_similarity+language_guidance]\n"


def test_a_loss_guided_by_language_needs_the_names_of_the_classes(tmp_path):
    problem = (
        "s.yaml:.*: multi_similarity+language_guidance needs a vector for the name of each class: "
        "give glyphs-greek the option class_text, a file that `podium datasets text` makes"
    )
    text = GUIDED + "datasets: [{name: glyphs, script: greek}]"
    assert_matches(problems_of(tmp_path, text), [problem])


def test_the_place_of_a_file_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = load(tmp_path, GUIDED + "datasets: [{name: glyphs, class_text: names.csv}]")
    assert study.datasets[0].options["class_text"] == str(tmp_path / "names.csv")


@pytest.mark.parametrize("loss", ["contrastive", "proxy_anchor+contrastive", "memory:contrastive"])
def test_a_loss_that_compares_within_a_class_refuses_random_batches(tmp_path, loss):
    text = f"study: x\nlosses: [proxy_anchor, '{loss}']\ntraining: {{sampler: random}}"
    (problem,) = problems_of(tmp_path, text)
    assert (
        f"training.sampler must be balanced or hard_neighbours: {loss} compares images" in problem
    )
