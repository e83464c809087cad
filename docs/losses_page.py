"""Makes docs/reference/losses.md from what the code says of its losses."""

import inspect
from collections.abc import Iterable, Iterator, Mapping

from orchestrator.study.composed_facts import LossFacts, with_memory
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.training_parameters import TRAINING_PARAMETERS
from search_spaces.catalogue import loss_names
from search_spaces.parameters import Choice, Condition, Int, Real
from search_spaces.training_parameters import TRAINING_SPACES
from trainables.loss_composition.miner_base import TripletMiner
from trainables.registry import load, names
from trainables.settings.legal_ranges import Parameter

_OPENING = """\
# Losses

`podium losses` and `podium spaces LOSS` print the same facts. A parameter's *default* is the value that its
source prints; *legal* is what the loss accepts; a *space* is what a search draws from, and every search trains
the default first. As sources, `paper` is that of the loss, named above its table; `thesis` is Psomas 2020,
*Metric Learning: A Deep Dive*; `reality check (MLRC)` is Musgrave et al. 2020, *A Metric Learning Reality Check*;
a loss means its own default. `own` means this project's: no source prints a value.

In the code: `trainables/losses/`, `trainables/loss_composition/`, `trainables/miners/`, `search_spaces/losses/`.

A loss *needs*:

| need | meaning | what gives it |
|---|---|---|
| `balanced` | several images of a class in a batch | `training.sampler: balanced` or [`hard_neighbours`](study-file.md#batches); a study with another sampler is refused |
| `normalised` | embeddings of length 1 | always available |
| `proxies` | parameters of the loss itself | always available; they train with `proxy_learning_rate` |
| `several_views` | several shifted views of each image | made when needed, at the cost of as many forward passes |
| `class_text` | a vector for the name of each class | the option `class_text` of a [data set](data-sets.md) |
| `label_distances` | how far two labels are apart | a [data set](data-sets.md) with continuous labels |

*Traits*: `vmap` losses run under `torch.func.vmap` over their real-valued hyperparameters; `memory`
losses can meet earlier batches as well; `random` losses draw from the trial's seed.

[All losses at their defaults](../examples/all-losses.md) shows how they train; [losses and networks in figures](facts.md) what
pairs weigh and a step costs.
[Add a loss](../how-to/add-a-loss.md) of your own with one file, and make it tunable with a second.

## Composed losses

| in a study file | means |
|---|---|
| `multi_similarity+softmax` | a sum; every term has a `weight` (default 1), all but the first one's are searched |
| `sum: {multi_similarity: 1, softmax: 0.1}` | the same, with the weights it starts from |
| `memory:contrastive` | a cross-batch memory (Wang et al. 2020): anchors meet the last `memory_size` samples too |
| `softmax>multi_similarity` | `softmax` alone for `pretraining_epochs`, then the rest |
| `package.module:Class` | a loss of another library: any module called as `loss(embeddings, labels)` |

Where there are several terms, hyperparameters are named after theirs: `softmax.weight`,
`multi_similarity.alpha`. `language_guidance` is such a term: `multi_similarity+language_guidance`.
A loss of another library gets the number of classes and the dimension if its constructor asks for
`num_classes` and `embedding_size`; what can be searched is its other arguments, in a `space` that the
study file states. A loss in `trainables/losses/` without a module in `search_spaces/losses/` is
treated the same: it runs at its defaults.
"""


def losses_page() -> str:
    """The text of the page."""
    facts = [facts_of(name) for name in loss_names()]
    return "\n".join(
        [
            _OPENING,
            _miners(facts),
            _overview(facts),
            _families(facts),
            *map(_loss, facts),
            _memory_parameters(),
            _training(),
        ]
    )


def _miners(facts: Iterable[LossFacts]) -> str:
    mined = ", ".join(
        f"[{item.name}](#{item.name})" for item in facts if "miner" in item.parameters
    )
    rows = [(f"`{name}`", *_choice_and_source(load("miners", name))) for name in names("miners")]
    return (
        f"## Miners\n\nThe hyperparameter `miner` of {mined} says which triplets of a batch count. The sampler"
        " [`hard_neighbours`](study-file.md#batches) chooses what is in a batch.\n\n"
        f"{table(('miner', 'triplets', 'source'), rows)}\n"
    )


def _choice_and_source(miner: type[TripletMiner]) -> tuple[str, str]:
    """The first sentence of its docstring and what it says of its source, if anything."""
    paragraphs = inspect.cleandoc(miner.__doc__ or "").split("\n\n")
    sources = (item.removeprefix("Source: ") for item in paragraphs if item.startswith("Source: "))
    return paragraphs[0].rstrip("."), " ".join(next(sources, "").split()).rstrip(".")


def _overview(facts: Iterable[LossFacts]) -> str:
    rows = [
        (
            f"[{item.name}](#{item.name})",
            item.kind,
            " ".join(sorted(item.needs - {"normalised"})),
            " ".join(_traits(item.name)),
            ", ".join(item.parameters),
        )
        for item in facts
    ]
    head = ("loss", "kind", "needs", "traits", "hyperparameters")
    return f"## All of them\n\n{table(head, rows)}\n"


def _families(facts: Iterable[LossFacts]) -> str:
    """Losses of similar names or formulas beside each other, family by family."""
    of_family = sorted(
        (item.family.name, item.name, item.family.differs) for item in facts if item.family
    )
    rows = [(family, f"[{name}](#{name})", differs) for family, name, differs in of_family]
    return f"## Families\n\n{table(('family', 'loss', 'differs by'), rows)}\n"


def _traits(name: str) -> list[str]:
    loss = load("losses", name)
    traits = (("vmap", loss.is_vmappable), ("memory", loss.takes_references))
    return [trait for trait, holds in (*traits, ("random", loss.is_random)) if holds]


def _loss(facts: LossFacts) -> str:
    summary = inspect.cleandoc(load("losses", facts.name).__doc__ or "").split("\n\n")[0]
    needs = ", ".join(f"`{need}`" for need in sorted(facts.needs)) or "nothing"
    parts = [
        f"## {facts.name}\n",
        " ".join(summary.split()) + "\n",
        f"Kind: {facts.kind}. Needs: {needs}. Source: {facts.source}.\n",
    ]
    if facts.family:
        parts.append(f"Among {facts.family.name} losses: {facts.family.differs}.\n")
    if facts.parameters:
        parts.append(_parameters(facts.parameters, facts.conditions))
    if facts.published_training:
        values = (
            f"`{name}` {item.value:g} ({item.source})"
            for name, item in facts.published_training.items()
        )
        parts.append(f"\nPublished for training: {', '.join(values)}.")
    for space_name, space in facts.spaces.items():
        if space.parameters:
            parts += [f"\nSpace `{space_name}`:\n", _space(space.parameters)]
    return "\n".join(parts) + "\n"


def _memory_parameters() -> str:
    plain = LossFacts(name="", kind="", needs=frozenset(), source="", parameters={}, spaces={})
    return f"## Parameters of a memory\n\n{_parameters(with_memory(plain).parameters, {})}\n"


def _training() -> str:
    return "\n".join(
        [
            "## Parameters of training\n",
            "`search.tune` adds these to the space of every loss; those of proxies only where there are"
            " some.\n",
            _parameters(TRAINING_PARAMETERS, {}),
            "\nSearch ranges:\n",
            _space(TRAINING_SPACES),
            "",
        ]
    )


def _parameters(parameters: Mapping[str, Parameter], conditions: Mapping[str, Condition]) -> str:
    head = ("parameter", "default", "legal", "unit", "source of the default")
    rows = [
        (
            f"`{name}`" + (f" if {conditions[name]}" if name in conditions else ""),
            f"{fact.default:g}" if isinstance(fact.default, float) else str(fact.default),
            str(fact.legal),
            fact.unit,
            fact.source,
        )
        for name, fact in parameters.items()
    ]
    return table(head, rows)


def _space(parameters: Mapping[str, Real | Int | Choice]) -> str:
    rows = [(f"`{name}`", _tried(tried), tried.source) for name, tried in parameters.items()]
    return table(("parameter", "range", "source"), rows)


def _tried(tried: Real | Int | Choice) -> str:
    if isinstance(tried, Choice):
        return ", ".join(map(str, tried.values))
    scale = ", logarithmic" if tried.log else ""
    step = f", step {tried.step:g}" if tried.step else ""
    return f"{tried.low:g} to {tried.high:g}{scale}{step}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    return "\n".join(_lines(tuple(head), rows))


def _lines(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
