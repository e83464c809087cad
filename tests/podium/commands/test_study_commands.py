import json
from pathlib import Path

import pytest

from podium.orchestrator.planning.measured_seconds import measured_seconds
from podium.orchestrator.planning.study_plan import plan
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.resolved_study import resolved_dict
from podium.orchestrator.study_parser.parse_study import read_study
from podium.orchestrator.study_parser.problems import Problems
from podium.orchestrator.study_parser.yaml_tree import compose
from podium.orchestrator.study_validation.load_study import load_study
from podium.study_template import study_template
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.study_files import MINIMAL
from tests.podium.calling import call

QUICKSTART = Path(__file__).parents[3] / "studies" / "quickstart.yaml"


@pytest.fixture
def study_file(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(MINIMAL + f"storage: {tmp_path}")
    return file


# init


def test_init_writes_a_study_that_can_be_planned(capsys, tmp_path):
    file = tmp_path / "first try.yaml"
    made = call(capsys, "init", file)
    assert made.code == 0
    assert f"podium plan {file}" in made.out
    assert load_study(file).name == "first-try"
    assert call(capsys, "plan", file).code == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mine.yaml", "exists already and is not overwritten"),
        ("no/s.yaml", "must be in a folder that exists"),
    ],
)
def test_init_says_where_it_does_not_write(capsys, tmp_path, name, told):
    (tmp_path / "mine.yaml").write_text("mine")
    refused = call(capsys, "init", tmp_path / name)
    assert refused.code == 2
    assert told in refused.err
    assert (tmp_path / "mine.yaml").read_text() == "mine"


def test_the_template_mentions_every_key():
    text = study_template("x")
    resolved = resolved_dict(plan_of_template())
    keys = {"study", "metrics", "protocol", *resolved, *resolved["search"], *resolved["final"]}
    keys |= set(resolved["search"]["early_stopping"]) | set(resolved["resources"])
    keys -= {"name", "ks", "protocols", "spaces", "warm_starts"}
    assert [key for key in sorted(keys) if f"{key}:" not in text] == []


def plan_of_template():
    root = compose(study_template("x"), "template")
    return read_study(root, Problems(root))


# plan


def test_a_plan_opens_with_trials_hours_and_verdict_and_leaves_details_to_full(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where other runs leave their seconds
    short = call(capsys, "plan", QUICKSTART, "--storage", tmp_path).out.splitlines()
    full = call(capsys, "plan", QUICKSTART, "--full", "--storage", tmp_path).out.splitlines()
    assert max(map(len, short)) <= 80
    planned = plan(load_study(QUICKSTART))
    stages = ", ".join(f"{name} {trials}" for name, (trials, _) in planned.stages.items())
    assert short[1] == f"Trials: at most {planned.trials} ({stages}), {planned.epochs:,} epochs"
    assert short[2].startswith("Time: about ")
    assert "of training one trial at a time if no trial is stopped" in short[2]
    assert any(line.startswith("Verdict: tested at 0.05 over 8 data sets") for line in short)
    assert full[: len(short) - 2] == short[:-2]
    assert len(short) < len(full) / 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("protocol={kind: test_tuned}", "Leak: test_tuned scores searches on the test"),
        ("budget.trials=40", "Budget: 40 trials leave each of 1 search "),
    ],
)
def test_what_must_be_known_before_a_run_needs_no_full(capsys, study_file, change, told):
    printed = call(capsys, "plan", study_file, "--set", change).out
    assert told in " ".join(printed.split())


def test_a_plan_as_json_holds_all_counts(capsys, tmp_path):
    out = call(capsys, "plan", QUICKSTART, "--storage", tmp_path, "--json").out
    record = json.loads(out)
    planned = plan(load_study(QUICKSTART))
    assert record["trials"] == planned.trials
    assert record["stages"]["search"]["trials"] == planned.stages["search"][0]
    assert len(record["searches"]) == len(planned.searches)
    assert record["searches"][0]["search"] == planned.searches[0].search.id
    assert record["blocks"] == [block.label for block in planned.blocks]
    assert record["hours"] > 0
    assert set(record["hours_sources"]) <= {"machine", "shipped"}
    assert record["warnings"] == []


def test_a_plan_warns_of_few_batches_in_each_form(capsys, study_file):
    short = (study_file, "--set", "training.epochs=1", "--set", "training.batch_size=1000")
    (warning,) = json.loads(call(capsys, "plan", *short, "--json").out)["warnings"]
    assert warning in " ".join(call(capsys, "plan", *short).out.split())


def test_a_plan_says_what_batches_by_embeddings_cost(capsys, study_file):
    note = "The sampler hard_neighbours embeds all training images before each epoch"
    other = ("--full", "--set", "training.sampler=hard_neighbours")
    assert note in " ".join(call(capsys, "plan", study_file, *other).out.split())
    assert "before each epoch" not in call(capsys, "plan", study_file, "--full").out


def test_a_plan_of_a_results_folder_tells_hours_by_its_results(capsys, tmp_path):
    truth = Truth(embedding_dims=(16,), search_trials=3, seeds=2)
    folder = write_store(tmp_path / truth.study_file.name, truth)
    known = {"results": measured_seconds(truth.study_file, Reader(folder))}
    record = json.loads(call(capsys, "plan", folder, "--json").out)
    assert record["hours_sources"] == ["results"]
    assert record["hours"] == pytest.approx(plan(truth.study_file, known).hours.slot)
    assert record["trials"] == plan(truth.study_file).trials


# losses and spaces


def test_losses_as_json_say_what_is_legal(capsys):
    record = {loss["loss"]: loss for loss in json.loads(call(capsys, "losses", "--json").out)}
    assert record["contrastive"]["parameters"]["margin"]["legal"] == "in [-1, 1]"
    assert record["proxy_anchor"]["needs"] == ["normalised", "proxies"]
    assert record["arcface"]["published_training"] == {
        "proxy_learning_rate": {"value": 1e-4, "source": "thesis table 4"}
    }
