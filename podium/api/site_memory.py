"""What a site keeps of the studies that it shows, so that unchanged ones are not read again.

A study is unchanged if every byte of its folder is (`content_digest`), and so is podium with the
libraries around it. Then its report and its line of the index would come out as they are.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from analysis.report.site_index import Contender, Leaderboard, ListedStudy, TrialsFile

_PACKAGES = ("analysis", "orchestrator", "podium", "search_spaces", "trainables")
_FOLDER = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteMemory:
    """What one version of a site was made from.

    Attributes:
        program: hash of podium and its libraries.
        studies: name -> line of the index.
        leaderboards: leaderboards of the index.
        apart: name of each study in no leaderboard -> why.
    """

    program: str
    studies: Mapping[str, ListedStudy]
    leaderboards: Sequence[Leaderboard]
    apart: Mapping[str, str]

    def study(self, name: str, content: str) -> ListedStudy | None:
        """The line of a study whose folder has this digest; None if it was another, or none."""
        known = self.studies.get(name)
        return known if known is not None and known.content == content else None

    def leaderboard(self, studies: Sequence[ListedStudy]) -> Leaderboard | None:
        """The leaderboard of exactly these studies, none of them changed; None without one."""
        wanted = _contents(studies)
        same = [board for board in self.leaderboards if _contents(board.studies) == wanted]
        return replace(same[0], studies=studies) if same else None

    def all_leaderboards(self, studies: Mapping[str, ListedStudy]) -> Sequence[Leaderboard] | None:
        """All leaderboards; None if a study came, changed or went."""
        if _contents(studies.values()) != _contents(self.studies.values()):
            return None
        return [
            replace(board, studies=[studies[study.name] for study in board.studies])
            for board in self.leaderboards
        ]

    def record(self) -> dict[str, Any]:
        """As plain values; `read_memory` is the inverse."""
        boards = [
            {**asdict(board), "studies": [study.name for study in board.studies]}
            for board in self.leaderboards
        ]
        return {
            "program": self.program,
            "studies": {name: asdict(study) for name, study in self.studies.items()},
            "leaderboards": boards,
            "apart": dict(self.apart),
        }


def read_memory(record: Mapping[str, Any] | None, program: str) -> SiteMemory:
    """What `SiteMemory.record` gave; an empty memory if another program wrote it, or none did."""
    if record is None or record.get("program") != program:
        return SiteMemory(program=program, studies={}, leaderboards=(), apart={})
    studies = {
        name: ListedStudy(**{**line, "file": TrialsFile(**line["file"])})
        for name, line in record["studies"].items()
    }
    boards = [
        Leaderboard(
            **{
                **line,
                "file": TrialsFile(**line["file"]),
                "studies": [studies[name] for name in line["studies"]],
                "contenders": [Contender(**it) for it in line["contenders"]],
            }
        )
        for line in record["leaderboards"]
    ]
    return SiteMemory(
        program=program,
        studies=studies,
        leaderboards=boards,
        apart=record["apart"],
    )


def _contents(studies: Iterable[ListedStudy]) -> list[tuple[str, str]]:
    return [(study.name, study.content) for study in studies]


def program_digest() -> str:
    """SHA-256 of the files of podium, and of the versions of all installed libraries."""
    found = hashlib.sha256()
    for package in _PACKAGES:
        for file in sorted((_FOLDER / package).rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                found.update(file.relative_to(_FOLDER).as_posix().encode())
                found.update(hashlib.sha256(file.read_bytes()).digest())
    libraries = {f"{it.name} {it.version}" for it in metadata.distributions()}
    found.update("\n".join(sorted(libraries)).encode())
    return found.hexdigest()
