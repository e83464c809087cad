"""Options of commands that rank: by which rules, and which groups are compared."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from podium.analysis.typed_tables.table_options import names_given
from podium.errors import PodiumError
from podium.orchestrator.results.records.json_records import first_problem
from podium.orchestrator.results.records.tournament_rules import TournamentRules

Group = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=LOSS,LOSS",
        help="Compare groups of losses, such as --group pairs=contrastive,margin --group"
        " proxies=proxy_anchor; default: those of the study, or by kind of loss. Repeatable.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRules:
    """The rules as given; None is what was not given."""

    question: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What is asked of a table: would the order hold on other_blocks (default), or on"
            " these_blocks, were the runs named by --average repeated?",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LOSS", help="Compare this loss of a table with each other one, not all pairs."
        ),
    ] = None
    test: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Classic test that is reported too: wilcoxon_holm, friedman, nemenyi.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(help="Level of all tests of a table; 0.05.", min=0.0001, max=0.4999),
    ] = None

    def of_table(self) -> TournamentRules:
        """The rules by which a table is ranked.

        Raises:
            PodiumError: an unknown question or test, or a level that cannot be.
        """
        try:
            return TypeAdapter(TournamentRules).validate_python(self._given)
        except ValidationError as error:
            raise PodiumError(first_problem(error)) from None

    def refuse_with_study(self) -> None:
        """Raise PodiumError if any rule was given."""
        for name in self._given:
            raise PodiumError(f"studies have declared their rules, so {name} would be ignored")

    @property
    def _given(self) -> dict[str, Any]:
        """Those given, by their names in `TournamentRules`."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def named_groups(given: Sequence[str] | None) -> dict[str, tuple[str, ...]] | None:
    """Name -> losses; None if the option was not given.

    Raises:
        PodiumError: a group has no name or losses, or two have one name.
    """
    if not given:
        return None
    groups: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, _, losses = (part.strip() for part in text.partition("="))
        if not name or not losses:
            raise PodiumError(f"--group must be NAME=LOSS,LOSS; got {text!r}")
        if name in groups:
            raise PodiumError(f"--group {name} is given twice")
        groups[name] = names_given(losses, "the losses of --group")
    return groups
