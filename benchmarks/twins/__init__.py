"""pytorch-metric-learning's form of a loss, one module a loss that has one.

Each has ``twin(loss, num_classes, dim)``, which makes a function of embeddings and labels whose
value is that of ``loss`` and which shares its trained parameters, and ``CASES``, hyperparameters
at which both must be equal. Benchmarks time the pair, tests compare it.
"""

import importlib
from pathlib import Path


def twin_names():
    """The losses that have a twin, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")))


def twin_module(name):
    """The module of one twin; imports pytorch-metric-learning."""
    return importlib.import_module(f"benchmarks.twins.{name}")
