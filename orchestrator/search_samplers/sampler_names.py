"""Names of the samplers, and which of them do not learn from outcomes."""

from typing import Literal, get_args

SamplerName = Literal["tpe", "random", "grid", "coordinate", "gp", "qmc"]

SAMPLERS: tuple[SamplerName, ...] = get_args(SamplerName)

# Whose suggestions do not depend on any outcome, so that two searches may have the same ones.
DO_NOT_LEARN: frozenset[SamplerName] = frozenset({"random", "grid", "qmc"})
