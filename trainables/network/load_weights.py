"""Fills a network with weights from a file or a state dict."""

import pickle
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS

_PARALLEL = "module."  # what nn.DataParallel puts before each name
_WRAPPERS = ("state_dict", "model")  # under which training scripts save weights among other things
_BACKBONE = "backbone."  # what the backbone's tensors are called in podium's own model files
_WRAPPED = "network."  # below it, where a backbone of podium wraps a network of others
_HEAD = "embedding.weight"  # which each of these files has
_OWN_PARTS = (_BACKBONE, "embedding.", "loss.")  # and what else
_SHOWN = 3  # names in a message


def start_from(
    network: nn.Module,
    weights: str,
    *,
    unused: Iterable[str] = (),
    adapt: Callable[[dict[str, Tensor]], dict[str, Tensor]] = dict,
) -> None:
    """Fill a network from a file; leave it as it is if ``weights`` is ``random``.

    Args:
        network: filled in place.
        weights: ``random`` or a path.
        unused: first parts of names that the file may hold and the network does not use.
        adapt: brings the tensors of the file into the network's shapes.

    Raises:
        TrialInputError: the file cannot be read or does not fit.
    """
    if weights != RANDOM_WEIGHTS:
        path = Path(weights).expanduser()
        fill(network, adapt(read_weights(path)), str(path), unused=unused)


def he_start(network: nn.Module) -> None:
    """Draw all convolutions from He's normal of fan-out, as torchvision's ResNets start.

    It keeps the scale of what goes through many layers of ReLU. Otherwise a fresh network that is
    evaluated before BatchNorm has seen enough gives the same for all images.
    """
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def read_weights(path: Path) -> dict[str, Tensor]:
    """The named tensors of a ``.safetensors`` file, or of one that torch saved; on the CPU.

    ``module.`` before all names is taken off, and so is a dict that holds them as ``state_dict``
    or ``model``. Of a model that podium exported these are the tensors of its backbone. No code
    of the file is run.

    Raises:
        TrialInputError: there is no such file, or it holds no named tensors.
    """
    try:
        if path.suffix == ".safetensors":
            return _backbone_alone(_plain(load_file(path)))
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, KeyError) as error:
        # What torch says of it is to run the file's code.
        raise TrialInputError(
            f"weights: {path} cannot be read: torch did not save it, or it holds more than "
            "tensors, which would run code from the file; save only its state dict"
        ) from error
    except (SafetensorError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error
    except (OSError, EOFError, RuntimeError, ValueError, IndexError) as error:
        raise _unreadable(path, error) from error
    for wrapper in _WRAPPERS:
        if isinstance(content, Mapping) and isinstance(content.get(wrapper), Mapping):
            content = content[wrapper]
    if not isinstance(content, Mapping) or not _are_named_tensors(content):
        raise TrialInputError(f"weights: {path} holds no state dict, that is tensors by name")
    return _plain(content)


def fill(
    network: nn.Module, tensors: Mapping[str, Tensor], source: str, *, unused: Iterable[str] = ()
) -> None:
    """Copy tensors into a network that has exactly these, beside the unused ones.

    Args:
        network: filled in place.
        tensors: weights by name.
        source: origin of the weights, for messages.
        unused: first parts of names that the network does not use.

    Raises:
        TrialInputError: tensors are missing, unexpected, of another shape, or no finite real
            numbers where the network has such.
    """
    used = {name: tensor for name, tensor in tensors.items() if not name.startswith(tuple(unused))}
    own = network.state_dict()
    found = {name: _problem(tensor, own[name]) for name, tensor in used.items() if name in own}
    problems = [f"{name} {problem}" for name, problem in found.items() if problem is not None]
    try:
        # Networks know names of their own earlier versions, so torch does the matching.
        result = network.load_state_dict(used, strict=False)
    except RuntimeError as error:
        problems = problems or [str(error).replace("\n\t", " ")]
    else:
        for what, names in (
            ("missing", result.missing_keys),
            ("unexpected", result.unexpected_keys),
        ):
            problems += [f"{name} is {what}" for name in names]
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise TrialInputError(
            f"the weights of {source} do not fit {type(network).__name__}: "
            f"{'; '.join(problems[:_SHOWN])}{more}"
        )


def _problem(tensor: Tensor, own: Tensor) -> str | None:
    if tensor.shape != own.shape:
        return f"has shape {tuple(tensor.shape)} instead of {tuple(own.shape)}"
    if tensor.is_meta or tensor.layout != torch.strided:
        return "holds no dense numbers"
    if own.is_floating_point() and not tensor.is_floating_point():  # such as quantised weights
        return f"holds {str(tensor.dtype).removeprefix('torch.')} instead of floating point"
    if not tensor.isfinite().all():
        return "holds numbers that are NaN or infinite"
    return None


def _unreadable(path: Path, error: Exception) -> TrialInputError:
    reason = str(error).strip().partition("\n")[0]
    return TrialInputError(f"weights: {path} cannot be read ({type(error).__name__}: {reason})")


def _are_named_tensors(content: Mapping[Any, Any]) -> bool:
    return bool(content) and all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in content.items()
    )


def _backbone_alone(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without head and loss, if these are tensors of a model that podium exported."""
    if _HEAD not in tensors or not all(name.startswith(_OWN_PARTS) for name in tensors):
        return tensors
    own = _below(_BACKBONE, tensors)
    return _below(_WRAPPED, own) or own


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _plain(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Without the prefix of parallel training, and without versions of modules."""
    if all(name.startswith(_PARALLEL) for name in tensors):
        return {name.removeprefix(_PARALLEL): tensor for name, tensor in tensors.items()}
    return dict(tensors)
