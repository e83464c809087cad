"""Makes the pages in docs/reference/losses/ from what the code says of its losses."""

import inspect
from collections.abc import Iterable, Mapping

from docs.make.markdown import TOLD, table
from podium.orchestrator.study.loss_facts import TRAINING_PARAMETERS, LossFacts, facts_of
from podium.search_spaces.parameters import Choice, Condition, Int, Real, Space
from podium.search_spaces.training_parameters import TRAINING_SPACES
from podium.trainables.loss_composition.miner_base import TripletMiner
from podium.trainables.registry import load, names
from podium.trainables.settings.legal_ranges import OneOf, Parameter
from podium.trainables.settings.loss_expression import MATRYOSHKA, MEMORY

_INDEX = """\
# Losses

podium has {count} losses, and takes yours. Pages by kind say of each where it is from, what it needs, what can be tuned and
in which ranges; `podium losses [LOSS]` prints the same facts.

- [Composed losses](composed.md): sums, cross-batch memories, a pretraining, a loss of another library
- [Miners](miners.md), and [parameters of training](training-parameters.md) that can be tuned with those of a loss
- [In figures](../facts.md); `studies/all-losses.yaml` trains most of them at their defaults
- [Add a loss](../../how-to/add-a-loss.md) of your own

In the code: `trainables/losses/`, `trainables/loss_composition/`, `trainables/miners/`, `search_spaces/`.

## Words of these pages

A parameter's *default* is the value that its source prints; *legal* is what the loss accepts. Columns named after a space,
such as `joint`, hold what a search draws from; every search trains the default first. As sources, `paper` is that of the loss,
named above its table; `thesis` is Psomas 2020, *Metric Learning: A Deep Dive*; `reality check (MLRC)` is Musgrave et al. 2020,
*A Metric Learning Reality Check*; a loss means its own default. `own`, and a range without a source, are this project's.

| need | meaning | what gives it |
|---|---|---|
| `balanced` | several images of a class in a batch | `training.sampler: balanced` or [`hard_neighbours`](../study-file.md#batches) |
| `normalised` | embeddings of length 1 | always available |
| `euclidean`, `poincare` | images [retrieved by](../../explanation/statistics/metrics.md#distances) that distance, not by cosine | always available |
| `proxies` | parameters of the loss itself | always available; they train with `proxy_learning_rate` |
| `several_views` | several shifted views of each image | as many forward passes |
| `class_text` | a vector for the name of each class | the option `class_text` of a [data set](../data-sets.md) |
| `label_distances` | how far two labels are apart | a [data set](../data-sets.md) with continuous labels |

Traits: `vmap` losses run under `torch.func.vmap` over their real-valued hyperparameters; `memory`
losses can meet earlier batches as well; `random` losses draw from the trial's seed.
"""
_COMPOSED = """\
# Composed losses

A study file can put losses together, or take one of another library.

| in a study file | means |
|---|---|
| `multi_similarity+softmax` | a sum; every term has a `weight` (default 1), all but the first one's are searched; `values: {softmax.weight: 0.1}` is the weight it starts from |
| `memory:contrastive` | a cross-batch memory (Wang et al. 2020): anchors meet the last `memory_size` samples too |
| `matryoshka:contrastive` | the sum over the first D, D / 2, D / 4, ... numbers of an embedding, at least `smallest_prefix` (Kusupati et al. 2022); proxies are cut alike. Finals store Recall@K of every prefix, and the report draws it by dimension |
| `softmax>multi_similarity` | `softmax` alone for `pretraining_epochs`, then the rest |
| `package.module:Class` | a loss of another library: any module called as `loss(embeddings, labels)` |

Where there are several terms, hyperparameters are named after theirs: `softmax.weight`,
`multi_similarity.alpha`. `language_guidance` is such a term: `multi_similarity+language_guidance`.
A loss of another library is made and searched as [one in a file](../../how-to/add-a-loss.md) is.

## Losses of pytorch-metric-learning

`podium losses ProxyAnchorLoss` says what a loss is called here. The version of the package is part of a trial's id.
`DynamicSoftMarginLoss` is not podium's own: it keeps a histogram between batches, and a loss here follows from its batch
alone. Nor are three of papers: potential field (PFML) and contextual, whose formulas were not at hand in full, and anti-collapse,
of which two sources print different factors. Tested with 2.9; the release notes of 3 say (not verified here; it needs Python 3.12):

| | 2.9 | 3 |
|---|---|---|
| margin of `TripletMarginLoss` | 0.05 | 0.2 |
| `DotProductSimilarity()` | normalises | does not |
| `MPerClassSampler` | gives samples | gives whole batches |
| trainers, testers, data sets, logging | there | removed |
| `DecoupledContrastiveLoss`, `SelectivelyContrastiveTripletLoss` | | new; here `nt_xent`, `selectively_contrastive` |
| `DynamicArcFaceLoss`, `GE2ELoss`, `MultiSupConLoss` | | new |
"""
_KINDS = {
    "pair": "Each pair of images is pulled together or pushed apart by its own similarity or distance.",
    "triplet": "An image is to be nearer to one of its class than to one of another class.",
    "tuple": "An image is compared with several others at once, of its own class and of other classes.",
    "proxy": "Images are compared with vectors that stand for classes and train along: proxies, centres or"
    " the weights of a classifier.",
    "ranking": "A smooth form of average precision over the whole batch is maximised.",
    "continuous": "Labels are not classes: they have distances, which those of the embeddings are to follow.",
    "text": "Similarities of images are to follow those of vectors for the names of their classes.",
}
"""Kind -> what its losses have in common."""


def losses_pages() -> dict[str, str]:
    """File name -> text: the index, a page for each kind of loss, and what losses share."""
    facts = [facts_of(name) for name in names("losses")]
    if unexplained := {item.kind for item in facts} ^ _KINDS.keys():
        raise ValueError(f"kinds and their sentences must match; not so: {sorted(unexplained)}")
    index = [_INDEX.format(count=len(facts)), _overview(facts), _families(facts)]
    return {
        "README.md": _page(index),
        **{f"{kind}.md": _page(_kind(kind, facts)) for kind in _KINDS},
        "composed.md": _page([_COMPOSED, _memory_parameters()]),
        "miners.md": _page([_miners(facts)]),
        "training-parameters.md": _page([_training()]),
    }


def loss_link(name: str, *, folder: str) -> str:
    """A link to a loss.

    Args:
        name: of the loss.
        folder: ``reference/losses``, seen from the page that has the link.
    """
    return f"[{name}]({folder}{facts_of(name).kind}.md#{name})"


def _page(parts: Iterable[str]) -> str:
    return "\n".join([TOLD, *parts])


def _kind(kind: str, facts: Iterable[LossFacts]) -> list[str]:
    heading = f"# {kind.capitalize()} losses\n\n{_KINDS[kind]} [What the words mean](README.md#words-of-these-pages).\n"
    return [heading, *(_loss(item) for item in facts if item.kind == kind)]


def _miners(facts: Iterable[LossFacts]) -> str:
    mined = ", ".join(
        loss_link(item.name, folder="") for item in facts if "miner" in item.parameters
    )
    rows = [(f"`{name}`", *_choice_and_source(load("miners", name))) for name in names("miners")]
    return (
        f"# Miners\n\nA miner chooses the triplets of a batch that a loss trains on. The hyperparameter `miner` of {mined} says which triplets of a batch count. The sampler"
        " [`hard_neighbours`](../study-file.md#batches) chooses what is in a batch.\n\n"
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
            loss_link(item.name, folder=""),
            item.kind,
            " ".join(sorted(item.needs - {"normalised"})),
            " ".join(_traits(item.name)),
        )
        for item in facts
    ]
    head = ("loss", "kind", "needs", "traits")
    return f"## All of them\n\n{table(head, rows)}\n"


def _families(facts: Iterable[LossFacts]) -> str:
    """Losses of similar names or formulas beside each other, family by family."""
    of_family = sorted((item.family, item.name, item.differs) for item in facts if item.family)
    rows = [(family, loss_link(name, folder=""), differs) for family, name, differs in of_family]
    return f"## Families\n\nLosses of similar names or formulas, and how they differ.\n\n{table(('family', 'loss', 'differs by'), rows)}\n"


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
        f"Needs: {needs}. Source: {facts.source}.\n",
    ]
    if facts.parameters:
        parts.append(_parameters(facts.parameters, facts.conditions, facts.spaces))
    if facts.published_training:
        values = (
            f"`{name}` {item.value:g} ({item.source})"
            for name, item in facts.published_training.items()
        )
        parts.append(f"\nPublished for training: {', '.join(values)}.")
    return "\n".join(parts) + "\n"


def _memory_parameters() -> str:
    return f"## Parameters of a memory and of prefixes\n\n{_parameters(MEMORY | MATRYOSHKA, {}, {})}\n"


def _training() -> str:
    space = Space(TRAINING_SPACES)
    return "\n".join(
        [
            "# Parameters of training\n",
            "`search.tune` adds these to the space of every loss; those of proxies only where there are"
            " some.\n",
            _parameters(TRAINING_PARAMETERS, {}, {"range": space}),
            "",
        ]
    )


def _parameters(
    parameters: Mapping[str, Parameter],
    conditions: Mapping[str, Condition],
    spaces: Mapping[str, Space],
) -> str:
    """A row a parameter: what it is, and what each space tries of it."""
    tried = {name: space.parameters for name, space in spaces.items() if space.parameters}
    of_training = {name for space in tried.values() for name in space} - parameters.keys()
    facts = {**parameters, **{name: TRAINING_PARAMETERS[name] for name in sorted(of_training)}}
    rows = [
        (
            f"`{name}`" + (f" if {conditions[name]}" if name in conditions else ""),
            f"{fact.default:g}" if isinstance(fact.default, float) else str(fact.default),
            str(fact.legal),
            fact.unit,
            fact.source,
            *(_tried(space[name], fact) if name in space else "" for space in tried.values()),
        )
        for name, fact in facts.items()
    ]
    return table(("parameter", "default", "legal", "unit", "source of the default", *tried), rows)


def _tried(tried: Real | Int | Choice, fact: Parameter) -> str:
    source = "" if tried.source == "own" else f" ({tried.source})"
    if isinstance(tried, Choice):
        if isinstance(fact.legal, OneOf) and set(tried.values) == set(fact.legal.values):
            return f"all{source}"
        return ", ".join(map(str, tried.values)) + source
    scale = ", logarithmic" if tried.log else ""
    step = f", step {tried.step:g}" if tried.step else ""
    return f"{tried.low:g} to {tried.high:g}{scale}{step}{source}"
