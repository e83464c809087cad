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
    (first, _) = expected.values
    assert (first.finalist, first.tolerance, first.protocol, first.train_on) == (
        *("winner", 1.0, "", ""),
    )


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
    first, then, never = load(FILE), load(FILE + "  finalist: default\n"), load()
    write_snapshot(first, paths, {})
    for study in (then, never, first):
        check_startable(study, paths)
        write_snapshot(study, paths, {})
        assert expected_of(read_study(paths)) == study.expect


@pytest.mark.parametrize(
    ("expect", "messages"),
    [
        ("expect: {}\n", ["expect.source must be given", "expect.file must be given"]),
        ("expect: {source: x, values: 3}\n", ["unknown key in expect"]),
        (
            FILE + "  finalist: best\n  ranks: {margin: 1, proxy_anchor: 0.5}\n",
            ["finalist must be one of the choices", "greater than or equal to 1"],
        ),
        (FILE + "  ranks: {margin: 1}\n", ['unknown key in expect.ranks; got "margin"']),
        (FILE + "  protocol: kfold\n", ['protocol must be one of the study; got "kfold"']),
        (FILE + "  train_on: all\n", ['train_on must be one of the study; got "all"']),
        (FILE.replace("table.csv", "none.csv"), ["expect.file cannot be read: No such file"]),
        (FILE.replace("Latin letters: glyphs-latin", "Thai: x"), ["has no value of a block"]),
    ],
)
def test_what_is_wrong_is_said_at_once_with_its_line(load, expect, messages):
    text = problems(load, expect)
    for message in messages:
        assert message in text
    assert "study.yaml:" in text


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("Contrastive,1,60.5", "Kontrastiv,1,60.5", "row 1.loss must be one of the study"),
        ("Contrastive,1,60.5", ",1,60.5", 'row 1.loss must be one of the study; got ""'),
        ("Contrastive,1,60.5", "Contrastive,1,sixty", "row 1.value must be a score in percent"),
        ("Contrastive,1,60.5", "Contrastive,1,160.5", "row 1.value must be a score in percent"),
        ("Contrastive,4,70.5", "Contrastive,1,70.5", "two values of contrastive in glyphs-latin"),
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
        *(("thesis-own-loss", 132), ("fixed-validation", 3), ("cross-validation", 26)),
        *(("split-ratio", 8), ("gradml-grid", 45), ("gradml-powers", 40)),
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


CONFIGS = """\
dataset,embedding_dim,loss,hp.margin,metric,k,protocol,value
glyphs-latin,16,contrastive,0.5,NMI,,fixed,50
glyphs-latin,16,contrastive,0.5,,4,,70
"""


def test_values_of_one_config_name_its_hyperparameters_and_any_metric(load):
    first, second = load("quarantine: record_all\n" + FILE, table=CONFIGS).expect.values
    assert (first.metric, first.k, first.config) == ("nmi", 0, "margin=0.5")
    assert (first.protocol, second.protocol) == ("fixed", "")
    assert (second.metric, second.k, second.finalist) == ("", 4, "config")


@pytest.mark.parametrize(
    ("right", "wrong", "quarantine", "message"),
    [
        ("NMI", "", "none", "needs quarantine: record for the config margin=0.5; got"),
        ("", "", "record", "needs quarantine: record_all"),
        ("hp.margin", "hp.margins", "record_all", "hp.margins must be one of the study"),
        ("NMI", "accuracy", "record_all", "metric must be one of the study"),
        ("fixed", "kfold", "record_all", "row 1.protocol must be one of the study"),
    ],
)
def test_a_config_or_metric_that_the_study_does_not_score_is_refused(
    load, right, wrong, quarantine, message
):
    table = CONFIGS.replace(right, wrong)
    assert message in problems(load, f"quarantine: {quarantine}\n" + FILE, table=table)


STATISTICS = """\
dataset,embedding_dim,loss,statistic,fold,tolerance,value
glyphs-latin,16,contrastive,,,,60
glyphs-latin,16,contrastive,Validation,,5.0,90
glyphs-latin,16,contrastive,validation,3,,91
glyphs-latin,16,contrastive,sd,,0.3,0.5
"""
OF_FOLDS = "final: {protocol: {kind: kfold, folds: 3}}\n"


def test_statistics_and_folds_are_values_with_tolerances_of_their_own(load):
    study = load(OF_FOLDS + FILE, table=STATISTICS)
    values, stored = study.expect.values, resolved_dict(study)
    assert all({"statistic", "fold"} <= it.keys() for it in stored["expect"]["values"])
    assert study_from_resolved(stored).expect == expected_of(stored) == study.expect
    assert [(it.statistic, it.fold, it.tolerance) for it in values] == [
        ("test", 0, 1.0),
        ("validation", 0, 5.0),
        ("validation", 3, 1.0),
        ("sd", 0, 0.3),
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "study", "message"),
    [
        ("", "", STUDY, 'statistic must be one of the study; got "sd"'),
        (",3,", ",4,", STUDY + OF_FOLDS, 'row 3.fold must be one of the study; got "4"'),
        ("sd,", "sd,2", STUDY + OF_FOLDS, 'row 4.fold must be one of the study; got "2"'),
        ("sd,", "variance,", STUDY + OF_FOLDS, "row 4.statistic must be one of the study"),
        ("0.3", "much", STUDY + OF_FOLDS, 'must be a score in percent; got "0.5, much"'),
        ("Validation,,5.0", ",,5.0", STUDY + OF_FOLDS, "has two values of contrastive in"),
        ("0.3", "-1", STUDY + OF_FOLDS, 'must be a score in percent; got "0.5, -1"'),
    ],
)
def test_what_is_wrong_in_statistics_and_folds_is_refused(load, right, wrong, study, message):
    table = STATISTICS.replace(right, wrong) if right else STATISTICS
    assert message in problems(load, FILE, study=study, table=table)


def test_the_shipped_table_is_the_one_that_tests_compare_with():
    shipped, known = (
        ROOT / "studies/thesis_cub200.csv",
        ROOT / "tests/data/thesis_recall_cub200.csv",
    )
    assert shipped.read_bytes() == known.read_bytes()
