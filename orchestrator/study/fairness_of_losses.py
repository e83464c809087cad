"""How the losses of a study differ beside their training: what they search, and what they are."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from orchestrator.results.records.fairness_record import Disparity, Standing
from orchestrator.study.configs import recipe_values, space_of
from orchestrator.study.fairness_of_training import sides_of
from orchestrator.study.given_configs import warm_start_key
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.num_configs import num_tried
from orchestrator.study.study import Block, Study
from trainables.settings.loss_expression import parse_loss

__all__ = [
    "FIRST_CONFIG",
    "NATURES",
    "SEARCHED",
    "TRIED",
    "TRY_FIRST",
    "WARM_START",
    "first_configs",
    "natures",
    "tried",
    "tried_first",
    "warm_starts",
    "widths",
]

SEARCHED = "searched_hyperparameters"
FIRST_CONFIG = "first_config"
TRIED = "tried_configs"
TRY_FIRST = "try_first"
WARM_START = "warm_start"

_Nature = Callable[[str], bool]

# Name -> whether a loss is so, and both cases in words.
NATURES: Mapping[str, tuple[_Nature, str, str]] = MappingProxyType(
    {
        "own_parameters": (
            lambda loss: "proxies" in facts_of(loss).needs,
            "some",
            "none",
        ),
        "embeddings": (
            lambda loss: "normalised" in facts_of(loss).needs,
            "of length 1",
            "of any length",
        ),
        "memory": (
            lambda loss: any(term.has_memory for term in parse_loss(loss).all_terms),
            "of earlier batches",
            "none",
        ),
        "pretraining": (
            lambda loss: parse_loss(loss).pretraining is not None,
            "by another loss first",
            "none",
        ),
        "views_of_an_image": (
            lambda loss: "several_views" in facts_of(loss).needs,
            "several",
            "one",
        ),
        "class_names": (
            lambda loss: "class_text" in facts_of(loss).needs,
            "read as vectors",
            "not read",
        ),
        "label_distances": (
            lambda loss: "label_distances" in facts_of(loss).needs,
            "read",
            "not read",
        ),
    }
)


def natures(study: Study) -> Iterator[Disparity]:
    """What follows from the losses themselves."""
    for name, (holds, yes, no) in NATURES.items():
        found = [(loss, yes if holds(loss) else no) for loss in study.losses]
        yield Disparity(name=name, area="loss", sides=sides_of(found))


def widths(study: Study) -> Iterator[Disparity]:
    """How many hyperparameters each loss searches, those of training included."""
    sizes = {loss: len(space_of(study, loss).parameters) for loss in study.losses}
    found = [(loss, str(size)) for loss, size in sorted(sizes.items(), key=lambda pair: pair[1])]
    yield Disparity(name=SEARCHED, area="space", sides=sides_of(found))


def first_configs(study: Study, block: Block) -> Disparity:
    """Where the config comes from that a search tries first, as far as it is the loss's own."""
    found = [(loss, _first_config(study, block, loss)) for loss in study.losses]
    return Disparity(name=FIRST_CONFIG, area="search", sides=sides_of(found))


def tried(study: Study, block: Block) -> Disparity:
    """How many configs the search of each loss can try; nearly always its budget."""
    found = [(loss, str(num_tried(study, block, loss))) for loss in study.losses]
    return Disparity(name=TRIED, area="space", sides=sides_of(found))


def tried_first(study: Study) -> Disparity:
    """How many configs the study file gives the search of each loss."""
    return _given({loss: len(study.try_first.get(loss, ())) for loss in study.losses}, TRY_FIRST)


def warm_starts(study: Study, block: str) -> Disparity:
    """How many configs earlier results gave the search of each loss in a block, by its label."""
    keys = {loss: warm_start_key(block, loss) for loss in study.losses}
    counts = {loss: len(study.warm_starts.get(key, ())) for loss, key in keys.items()}
    return _given(counts, WARM_START)


def _given(counts: Mapping[str, int], name: str) -> Disparity:
    """What only some losses got has to be declared; that some got more than others is noted."""
    found = [
        (loss, f"{count} configs" if count != 1 else "1 config") for loss, count in counts.items()
    ]
    standing: Standing = "noted" if all(counts.values()) else "undeclared"
    return Disparity(name=name, area="search", sides=sides_of(found), standing=standing)


def _first_config(study: Study, block: Block, loss: str) -> str:
    facts = facts_of(loss)
    given = recipe_values(study, block, loss)
    for whose, values in (("the study's", study.values.get(loss, {})), ("the recipe's", given)):
        if any(
            name in facts.parameters and value != facts.defaults.get(name)
            for name, value in values.items()
        ):
            return f"{whose} values"
    return "published defaults"
