"""What a study file expects: read strictly, kept whole in the snapshot, and free to change."""

from itertools import product
from pathlib import Path

import pytest

from podium.errors import StudyError
from podium.orchestrator.results.records.expected_values import expected_of
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_study
from podium.orchestrator.run.snapshot_study import check_startable, write_snapshot
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.configs import search_task
from podium.orchestrator.study.resolved_study import resolved_dict, study_from_resolved
from podium.orchestrator.study_validation.load_study import load_study
from tests.podium.calling import call

ROOT = Path(__file__).parents[3]

STUDY = """\
study: small
datasets: [{name: glyphs, script: latin}, {name: glyphs, script: greek}]
backbones: [conv_small]
embedding_dims: [16, 32]
losses: [contrastive, multi_similarity, proxy_anchor]
metrics: {k: [1, 4]}
"""

VALUES = """\
expect:
  source: Someone 2020, table 3
  tolerance: 0.5
  values:
    - {dataset: glyphs-latin, embedding_dim: 16, loss: MultiSimilarity, value: 71.2}
    - {dataset: glyphs-greek, embedding_dim: 32, loss: proxy_anchor, k: 4, value: 80,
       tolerance: 2, finalist: default}
  ranks: {proxy_anchor: 1.5}
"""

TABLE = """\
dataset,backbone,embedding_dim,loss,k,recall
Latin letters,ConvSmall,16,Contrastive,1,60.5
Latin letters,ConvSmall,16,Contrastive,4,70.5
Latin letters,ConvSmall,16,Contrastive,8,80.5
Latin letters,ConvSmall,16,Margin,1,61.5
Latin letters,ConvSmall,64,Contrastive,1,62.5
Latin letters,ResNet50,16,Contrastive,1,63.5
Greek letters,ConvSmall,32,ProxyAnchor,1,
"""

GRID = "quarantine: record_all\n"
ONLY = "dataset: glyphs-latin, embedding_dim: 16, loss: contrastive"
CONFIGS = """\
expect:
  source: Someone 2020, table 5
  values:
"""

FILE = """\
expect:
  source: Someone 2020, table 4
  file: table.csv
  names: {Latin letters: glyphs-latin, Greek letters: glyphs-greek}
"""


@pytest.fixture
def load(tmp_path):
    def load(expect="", *, study=STUDY, table=TABLE, overrides=()):
        (tmp_path / "table.csv").write_text(table)
        path = tmp_path / "study.yaml"
        path.write_text(study + expect)
        return load_study(path, overrides)

    return load


def problems(load, *arguments, **options):
    with pytest.raises(StudyError) as raised:
        load(*arguments, **options)
    return str(raised.value)


def test_values_are_placed_in_blocks_whatever_their_spelling(load):
    expected = load(VALUES).expect
    assert expected.source == "Someone 2020, table 3"
    assert expected.ranks == {"proxy_anchor": 1.5}
    assert {(value.protocol, value.train_on) for value in expected.values} == {("", "")}
    names = ("block", "loss", "finalist", "k", "value", "tolerance")
    assert [tuple(getattr(value, name) for name in names) for value in expected.values] == [
        ("glyphs-latin/conv_small/16", "multi_similarity", "winner", 1, 71.2, 0.5),
        ("glyphs-greek/conv_small/32", "proxy_anchor", "default", 4, 80.0, 2.0),
    ]


def test_a_published_table_beside_the_study_file_is_read_and_the_rest_of_it_counted(
    load, tmp_path, monkeypatch
):
    monkeypatch.chdir("/")
    expected = load(FILE).expect
    assert [(value.block, value.loss, value.k, value.value) for value in expected.values] == [
        ("glyphs-latin/conv_small/16", "contrastive", 1, 60.5),
        ("glyphs-latin/conv_small/16", "contrastive", 4, 70.5),
    ]
    assert expected.num_elsewhere == 4


def test_the_snapshot_holds_every_value_itself(load, tmp_path):
    study = load(FILE + "  ranks: {contrastive: 2.5}\n")
    (tmp_path / "table.csv").unlink()
    paths = StudyPaths(tmp_path / "store")
    write_snapshot(study, paths, {})
    snapshot = read_study(paths)
    assert expected_of(snapshot) == study.expect
    assert study_from_resolved(snapshot) == study_from_resolved(resolved_dict(study))


def test_what_is_expected_may_change_while_a_study_runs(load, tmp_path):
    paths = StudyPaths(tmp_path / "store")
    first, then, never = load(VALUES), load(FILE), load()
    write_snapshot(first, paths, {})
    for study in (then, never, first):
        check_startable(study, paths)
        write_snapshot(study, paths, {})
        assert expected_of(read_study(paths)) == study.expect


@pytest.mark.parametrize(
    ("expect", "messages"),
    [
        ("expect: {}\n", ["expect.source must name", "expect must have values, a file or ranks"]),
        ("expect: {source: x, value: 3}\n", ["unknown key in expect"]),
        (
            "expect: {source: x, ranks: {margin: 1, proxy_anchor: 9}}\n",
            ['"margin"', "average rank of 3 losses"],
        ),
        (
            VALUES.replace("MultiSimilarity", "Margin").replace("proxy_anchor, k", "proxy, k"),
            ['loss must be one of the study; got "Margin"', 'got "proxy"'],
        ),
        (
            VALUES.replace("k: 4", "k: 2").replace("embedding_dim: 16, ", ""),
            ["k must be one of the study", 'embedding_dim must be one of the study; got ""'],
        ),
        (
            VALUES.replace("71.2", "171.2").replace("finalist: default", "finalist: best"),
            ["value must be less than or equal to 100", "finalist must be one of the study"],
        ),
        (VALUES.replace("71.2", "0.71").replace("value: 80,", "value: 0.8,"), ["in percent"]),
        (
            VALUES.replace("glyphs-greek, embedding_dim: 32, loss: proxy_anchor, k: 4",
                           "glyphs-latin, embedding_dim: 16, loss: multi_similarity")
            .replace(", finalist: default", ""),
            ["two values of multi_similarity in glyphs-latin/conv_small/16"],
        ),
        (FILE.replace("table.csv", "none.csv"), ["expect.file cannot be read: No such file"]),
        (FILE.replace("Latin letters: glyphs-latin", "Thai: x"), ["has no value of a block"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_once_with_its_line(load, expect, messages):
    text = problems(load, expect)
    for message in messages:
        assert message in text
    assert "study.yaml:" in text


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("Contrastive,1,60.5", "Kontrastiv,1,60.5", "row 1.loss must be one of the study"),
        ("Contrastive,1,60.5", "Contrastive,one,60.5", "row 1.k must be a valid integer"),
        ("Contrastive,1,60.5", "Contrastive,1,sixty", "row 1.value must be a valid number"),
        ("recall", "score", "must have one column of values: value or recall"),
    ],
)
def test_what_is_wrong_in_a_table_is_reported_with_its_row(load, right, wrong, message):
    assert message in problems(load, FILE, table=TABLE.replace(right, wrong))
    assert len(load(FILE, table=TABLE.replace("recall", "value")).expect.values) == 2


def test_a_plan_says_how_many_values_the_study_covers(load, capsys, tmp_path):
    load(FILE + "  ranks: {contrastive: 2.5}\n")
    text = " ".join(call(capsys, "plan", tmp_path / "study.yaml").out.split())
    assert (
        "Expected: the study covers 2 published values and 1 average rank of Someone 2020, table"
        " 4; 4 further values there not." in text
    )
    load()
    assert "Expected:" not in call(capsys, "plan", tmp_path / "study.yaml").out


@pytest.mark.parametrize(
    ("name", "count"),
    [
        *product(("thesis-cub", "thesis-cars", "thesis-tables-cub", "thesis-tables-cars"), [480]),
        *product(("thesis-sop", "thesis-tables-sop"), [160]),
        *(("thesis-own-loss", 132), ("fixed-validation", 3), ("cross-validation", 3)),
        *(("split-ratio", 4), ("gradml-grid", 45), ("gradml-powers", 40)),
        *(("gradml-learning-rate", 5), ("gradml-data-sets", 15)),
    ],
)
def test_studies_of_published_tables_ship_with_what_is_printed(name, count):
    expected = load_study(ROOT / "studies" / f"{name}.yaml").expect
    assert (len(expected.values), expected.num_elsewhere) == (count, 0)


@pytest.mark.parametrize("name", ["gradml-grid", "gradml-powers"])
def test_the_configs_of_a_published_grid_are_those_that_its_study_searches(name):
    study = load_study(ROOT / "studies" / f"{name}.yaml")
    task = search_task(study, blocks(study)[0], "gradml")
    names = list(task.space.parameters)
    tried = (task.space.parameters[key].values for key in names)
    searched = {
        (config["k"], config["w"])
        for point in product(*tried)
        if (config := {**task.values, **dict(zip(names, point, strict=True))})
    }
    printed = [value.hyperparameters for value in study.expect.values]
    assert searched == {(float(config["k"]), float(config["w"])) for config in printed}
    assert study.search.trials == len(searched)


def test_values_of_one_config_name_its_hyperparameters_and_any_metric(load):
    rows = ("hp.margin: 0.5, metric: NMI, value: 50", "hp.margin: 0.5, k: 4, value: 70")
    text = "".join(f"    - {{{ONLY}, {row}}}\n" for row in rows)
    first, second = load(GRID + CONFIGS + text).expect.values
    assert (first.metric, first.k, first.config) == ("nmi", 0, "margin=0.5")
    assert (second.metric, second.k, second.finalist) == ("", 4, "config")


@pytest.mark.parametrize(
    ("row", "quarantine", "message"),
    [
        ("hp.margin: 0.5", "none", "hp.margin needs quarantine: record; got"),
        ("hp.margin: 0.5, metric: f1", "record", "needs quarantine: record_all"),
        ("hp.margins: 0.5", "record", "hp.margins is no hyperparameter of contrastive"),
        ("metric: accuracy", "record", "metric must be one of the study"),
        ("metric: nmi, k: 1", "record", "k is not for nmi"),
    ],
)
def test_a_config_or_metric_that_the_study_does_not_score_is_refused(
    load, row, quarantine, message
):
    text = (
        GRID.replace("record_all", quarantine) + CONFIGS + f"    - {{{ONLY}, {row}, value: 50}}\n"
    )
    assert message in problems(load, text)


def test_the_shipped_table_is_the_one_that_tests_compare_with():
    shipped, known = (
        ROOT / "studies/thesis_cub200.csv",
        ROOT / "tests/data/thesis_recall_cub200.csv",
    )
    assert shipped.read_bytes() == known.read_bytes()
