from pathlib import Path

import pytest

from podium.orchestrator.results.records.store_paths import StudyPaths

PATHS = StudyPaths(Path("results/thesis"))
SEARCH = "glyphs-latin.conv_small.32.contrastive.fixed.0"


def test_every_file_has_its_place():
    places = {
        PATHS.study: "study.json",
        PATHS.provenance: "provenance.json",
        PATHS.store: "store.json",
        PATHS.lock(7): "lock/000007.json",
        PATHS.report: "report.html",
        PATHS.trial(SEARCH, "ab12"): f"trials/search={SEARCH}/ab12.parquet",
        PATHS.journal(SEARCH, 7): f"journal/{SEARCH}/000007.jsonl",
        PATHS.checkpoint("ab12"): "checkpoints/ab12.pt",
        PATHS.gathered_trials(SEARCH, 7, "ab" * 32): (
            f"trials/search={SEARCH}/7-abababababababab.gathered.parquet"
        ),
    }
    assert {path.relative_to(PATHS.folder).as_posix() for path in places} == set(places.values())
    for path, place in places.items():
        assert path == PATHS.folder / place
    assert StudyPaths.search_of(PATHS.trial(SEARCH, "ab12")) == SEARCH


@pytest.mark.parametrize("name", ["", "a/b", "../up", ".hidden", "a*", "a?", "[a]", "a=b", "a\nb"])
def test_names_that_could_leave_the_folder_or_match_others_are_refused(name):
    with pytest.raises(ValueError, match="cannot be a file name"):
        PATHS.trial("s", name)
    with pytest.raises(ValueError, match=r"search .* cannot be a file name"):
        PATHS.journal(name, 1)


def test_names_of_foreign_losses_and_other_alphabets_are_fine():
    assert PATHS.trial("größe.net.8.my.mod:Loss.fixed.0", "x").parent.name.endswith("fixed.0")


def test_a_study_lives_in_its_own_folder_of_the_storage():
    assert StudyPaths.in_storage("results", "thesis") == PATHS
    uri = "s3://bucket/podium?region=eu-west-1"
    below = "s3://bucket/podium/thesis/trials/search=s0/t0.parquet?region=eu-west-1"
    assert str(StudyPaths.in_storage(uri, "thesis").trial("s0", "t0")) == below
    home = StudyPaths.in_storage("~/r", "s").folder
    assert home == Path.home() / "r" / "s"
