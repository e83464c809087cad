"""What a site keeps comes back as it was, and is forgotten with another podium."""

import json

from analysis.report.site_index import Contender, Leaderboard, ListedStudy, TrialsFile
from podium.api.site_memory import SiteMemory, program_digest, read_memory


def study(name, content="0"):
    return ListedStudy(
        name=name,
        content=content,
        page=f"studies/{name}.html",
        file=TrialsFile(href=f"data/studies/{name}.parquet", num_bytes=9, sha256="1"),
        state="complete",
        losses=["contrastive"],
        tested=["contrastive"],
        num_blocks=1,
        num_trials=8,
        num_planned=None,
        first=[],
        headline="There is no ranking.",
        started="2026-01-05",
        ended=None,
        version="0.1.0",
        commit="",
    )


def memory_of(*studies):
    board = Leaderboard(
        studies=list(studies),
        page="leaderboards/a.html",
        file=studies[0].file,
        headline="A leads.",
        metric="Recall@1",
        contenders=[
            Contender(name="A", place=1, ranks="1–2", average_rank=1.5, mean_score=0.1 + 0.2)
        ],
        num_blocks=1,
        num_left_out=0,
        num_trials=16,
    )
    return SiteMemory(
        program="p",
        studies={it.name: it for it in studies},
        leaderboards=[board],
        apart={"c": "other budget"},
    )


def test_it_comes_back_as_it_was():
    memory = memory_of(study("a"), study("b"))
    assert read_memory(json.loads(json.dumps(memory.record())), "p") == memory


def test_another_program_begins_anew():
    assert read_memory(memory_of(study("a")).record(), "q").studies == {}
    assert read_memory(None, "q").leaderboards == ()
    assert program_digest() == program_digest()


def test_a_leaderboard_is_known_by_its_studies_and_what_they_held():
    a, b = study("a"), study("b")
    memory = memory_of(a, b)
    assert memory.study("a", "0") == a
    assert memory.study("a", "1") is None
    assert memory.study("x", "0") is None
    assert memory.leaderboard([a, b]) == memory.leaderboards[0]
    assert memory.leaderboard([a]) is None
    assert memory.leaderboard([a, study("b", "1")]) is None
    assert memory.all_leaderboards({"a": a, "b": b}) == memory.leaderboards
    assert memory.all_leaderboards({"a": a, "b": b, "c": study("c")}) is None
