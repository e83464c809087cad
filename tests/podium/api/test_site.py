"""A storage becomes pages: merged as `podium merge` would, broken folders named, bytes kept."""

import hashlib
import re
import shutil
from html import escape
from urllib.parse import unquote

import polars as pl
import pytest

import podium
from orchestrator.results.storage.files import put
from orchestrator.results_tools.merge_studies import merge_studies
from podium.api.site_folder import GUARD
from podium.errors import PodiumError
from tests.analysis.page_text import rows_of, text_of
from tests.podium.site_storage import BROKEN, add_broken, flip_bit, make_storage, run_small


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    return add_broken(make_storage(tmp_path_factory.mktemp("group") / "results"))


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("site") / "public"


@pytest.fixture(scope="module")
def made(storage, output):
    return podium.site(storage, output)


@pytest.fixture(scope="module")
def index(made):
    return made.index.read_text()


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_sound_studies_are_shown_and_comparable_ones_merged(made, index):
    assert made.studies == ("berlin", "kyoto", "pilot")
    assert made.leaderboards == (("berlin", "kyoto"),)
    assert "3 studies, 2 of them comparable and merged into 1 leaderboard." in text_of(index)
    assert [row[0] for row in rows_of(index, "studies")] == ["berlin", "kyoto", "pilot"]
    assert [row[0] for row in rows_of(index, "sources-1")] == ["merged", "berlin", "kyoto"]


def test_what_keeps_a_study_from_a_leaderboard_is_said_without_the_paths_of_this_machine(
    made, index, storage
):
    assert made.apart == {"pilot": "search.trials differs: 2 in berlin; 2 in kyoto; 3 in pilot"}
    assert made.apart["pilot"] in text_of(index)
    assert str(storage.parent) not in index


def test_broken_folders_are_refused_each_by_name_and_reason(made, index):
    assert tuple(made.refused) == BROKEN
    for name, reason in (
        ("altered", "provenance.json: was changed after it was written"),
        ("bitrot", ".parquet: is damaged"),
        ("foreign", "it has no store.json"),
        ("half", "copied in part"),
    ):
        assert reason in " ".join(made.refused[name])
    assert [row[0] for row in rows_of(index, "refused")] == list(BROKEN)
    assert "4 folders refused, and not shown: altered, bitrot, foreign and half." in text_of(index)
    assert not any(name in path for path in made.written for name in BROKEN)


def test_the_leaderboard_has_exactly_the_numbers_of_merge_and_tournament(storage, index, tmp_path):
    merged = tmp_path / "both"
    merge_studies([storage / "kyoto", storage / "berlin"], merged)
    ranked = podium.results(merged).tournament().frame
    table = re.search(r'<table id="ranking-1".*?</table>', index, flags=re.DOTALL)[0]
    shown = [
        (text_of(row).split()[0], *map(float, re.findall(r'data-order="([\d.]+)"', row)))
        for row in re.findall(r"<tr>(.*?)</tr>", table, flags=re.DOTALL)[1:]
    ]
    numbers = (pl.col("mean_score") * 100, "average_rank", pl.lit(1).alias("blocks"))
    assert shown == ranked.select("competitor", "place", *numbers).rows()
    assert {row[0]: row[5] for row in rows_of(index, "ranking-1")} == {
        "contrastive": "berlin and kyoto",
        "margin": "berlin",
        "proxy_anchor": "kyoto",
    }


def test_every_number_follows_from_the_parquet_file_that_it_leads_to(index, output):
    for row in re.findall(r"<tr>(.*?)</tr>", index, flags=re.DOTALL):
        found = re.search(r'<a href="(data/leaderboards/[^"]+)">(\d+\.\d+)</a>', row)
        name = text_of(row).split()[0]
        if found is None or name == "merged":
            continue
        finals = pl.read_parquet(output / found[1]).filter(
            (pl.col("stage") == "final") & pl.col("is_winner") & (pl.col("loss") == name)
        )
        score = finals.group_by("block").agg(pl.col("test_recall_at_1").mean())
        assert found[2] == f"{100 * score['test_recall_at_1'].mean():.2f}"


def test_links_lead_to_files_of_the_site_and_hashes_are_theirs(made, index, output):
    for page in output.rglob("*.html"):
        for href in re.findall(r'href="([^"#:]+)"', page.read_text()):
            if not href.startswith("data:"):
                assert (page.parent / unquote(href)).is_file(), href
    for path, _, _, num_bytes, digest in rows_of(index, "parquet-files"):
        content = (output / path).read_bytes()
        assert (str(len(content)), hashlib.sha256(content).hexdigest()) == (num_bytes, digest)


def test_tracebacks_logs_and_images_are_not_published(output):
    columns = pl.read_parquet_schema(output / "data" / "studies" / "pilot.parquet")
    assert not {"traceback", "log", "test_retrievals"} & columns.keys()
    assert {"trial_id", "settings", "test_recall_at_1", "test_scores"} <= columns.keys()


def test_equal_stores_elsewhere_give_equal_bytes(made, storage, output, tmp_path):
    copy = shutil.copytree(storage, tmp_path / "copies" / storage.name)
    podium.site(copy, tmp_path / "public")
    assert files_of(tmp_path / "public") == files_of(output)


def test_a_second_call_writes_only_what_changed_and_removes_its_own(
    made, storage, output, tmp_path
):
    ours = shutil.copytree(storage, tmp_path / "results")
    site = shutil.copytree(output, tmp_path / "public")
    for name in (*BROKEN, "pilot"):
        shutil.rmtree(ours / name)
    run_small(ours, "kyoto", ("contrastive", "proxy_anchor", "triplet"))
    (site / "studies" / "mine.html").write_text("mine")
    (site / "CNAME").write_text("example.org")
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*") if path.is_file()}
    again = podium.site(ours, site)
    assert again.refused == {}
    assert set(again.removed) == {"data/studies/pilot.parquet", "studies/pilot.html"}
    assert set(again.kept) == {"data/studies/berlin.parquet", "studies/berlin.html"}
    assert set(again.written) == {
        "data/leaderboards/berlin.parquet",
        "data/studies/kyoto.parquet",
        "index.html",
        "leaderboards/berlin.html",
        "studies/kyoto.html",
    }
    for name in ("studies/mine.html", "CNAME", *again.kept):
        assert (site / name).stat().st_mtime_ns == before[site / name]
    assert "triplet" in (site / "index.html").read_text()
    assert [path.name for path in site.iterdir() if path.name.startswith(".")] == [GUARD]
    podium.site(ours, tmp_path / "anew")
    mine = {"CNAME", "studies/mine.html"}
    found = {name: content for name, content in files_of(site).items() if name not in mine}
    assert found == files_of(tmp_path / "anew")


def test_what_did_not_change_is_not_read_again_but_what_was_altered_is_refused(
    made, storage, output, tmp_path
):
    ours = shutil.copytree(storage, tmp_path / "results")
    site = shutil.copytree(output, tmp_path / "public")
    for name in BROKEN:
        shutil.rmtree(ours / name)
    (site / "studies" / "pilot.html").write_text("changed on the server")
    assert podium.site(ours, site).written == ("index.html", "studies/pilot.html")
    flip_bit(ours / "berlin")
    (site / "leaderboards" / "berlin.html").write_text("changed on the server")
    again = podium.site(ours, site)
    assert again.written == ("index.html",)
    assert ".parquet: is damaged" in again.refused["berlin"][0]
    assert set(again.removed) == {
        "data/leaderboards/berlin.parquet",
        "data/studies/berlin.parquet",
        "studies/berlin.html",
    }


def test_a_study_in_a_bucket_is_shown_as_one_of_this_machine(
    storage, output, made, bucket, tmp_path
):
    for file in (storage / "pilot").rglob("*"):
        if file.is_file() and file.name != ".lock-guard":
            put(bucket / "results" / file.relative_to(storage).as_posix(), file.read_bytes())
    remote = podium.site(bucket / "results", tmp_path / "public")
    assert (remote.studies, remote.refused) == (("pilot",), {})
    for name in ("studies/pilot.html", "data/studies/pilot.parquet"):
        assert (tmp_path / "public" / name).read_bytes() == (output / name).read_bytes()
    assert "s3://" not in remote.index.read_text()


def test_pages_are_named_after_folders_whatever_their_names_and_those_of_their_studies(
    storage, tmp_path
):
    ours, many = tmp_path / "results", "n" * 201
    for name in ("berlin", "münchen 100% #1 & <b>", "研究室"):
        shutil.copytree(storage / "berlin", ours / name)  # all of a study called berlin
    (ours / "empty").mkdir()
    (ours / many).mkdir()
    put(ours / many / "store.json", b"{}")
    made = podium.site(ours, tmp_path / "public")
    assert made.leaderboards == (("berlin", "münchen 100% #1 & <b>", "研究室"),)
    for name in made.studies:
        page = (tmp_path / "public" / "studies" / f"{name}.html").read_text()
        assert re.search("<h1>(.*?)</h1>", page)[1] == escape(name, quote=False)
    assert made.refused["empty"] == ("it has no store.json",)
    assert "its name has 201 bytes; a page is named after it" in made.refused[many][0]


def test_a_place_that_cannot_be_a_site_is_refused(storage, tmp_path):
    with pytest.raises(PodiumError, match="must lie outside the folder of studies; got"):
        podium.site(storage, storage / "public")
    with pytest.raises(PodiumError, match="must be a folder of this machine; got s3://b/site"):
        podium.site(storage, "s3://b/site")
    with pytest.raises(PodiumError, match="there are no studies in"):
        podium.site(tmp_path, tmp_path.parent / "public")
