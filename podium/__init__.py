"""Fair tournaments between metric-learning losses: what programs and notebooks import.

``import podium`` loads none of the names below; each is loaded when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podium.api.answer import Answer as Answer
    from podium.api.best import BestConfig as BestConfig
    from podium.api.compare import Comparison as Comparison
    from podium.api.compare import compare as compare
    from podium.api.results import Results as Results
    from podium.api.results import results as results
    from podium.api.study import Study as Study
    from podium.api.study import load as load
    from podium.api.tournament import rank as rank
    from podium.errors import PodiumError as PodiumError
    from podium.orchestrator.scheduling.study_events import Event as Event
    from podium.stop_signals import Interrupted as Interrupted

__version__ = "0.1.0"

# Public name -> the module that defines it. The imports for type checkers name the same.
_MODULES = {
    "Answer": "podium.api.answer",
    "BestConfig": "podium.api.best",
    "Comparison": "podium.api.compare",
    "Event": "podium.orchestrator.scheduling.study_events",
    "Interrupted": "podium.stop_signals",
    "PodiumError": "podium.errors",
    "Results": "podium.api.results",
    "Study": "podium.api.study",
    "compare": "podium.api.compare",
    "load": "podium.api.study",
    "rank": "podium.api.tournament",
    "results": "podium.api.results",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used.

    Raises:
        AttributeError: podium has no such name.
    """
    if name not in _MODULES:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
