"""The search space that a loss states in its own class."""

from collections.abc import Mapping

from podium.search_spaces.parameters import Choice, Int, Real, Space
from podium.trainables.errors import TrialInputError, unknown_name
from podium.trainables.settings.legal_ranges import Parameter

_CLASS = "its class"


def declared_space(loss: str, declared: object, parameters: Mapping[str, Parameter]) -> Space:
    """What a class says of its own search.

    Args:
        loss: name of the loss, for messages.
        declared: its ``search_space``, in the words of a study file.
        parameters: its hyperparameters by name.

    Raises:
        TrialInputError: ``declared`` is no mapping of hyperparameters to ranges or lists.
    """
    if not isinstance(declared, Mapping):
        raise TrialInputError(
            f"search_space of {loss} must be a mapping, such as"
            f" {{'margin': {{'low': 0.1, 'high': 0.9}}}}; got {declared!r}"
        )
    if unknown := [name for name in declared if name not in parameters]:
        raise unknown_name(f"hyperparameter in search_space of {loss}", unknown[0], parameters)
    return Space({name: _range(loss, name, given) for name, given in declared.items()})


def _range(loss: str, name: str, given: object) -> Real | Int | Choice:
    try:
        if isinstance(given, list | tuple):
            return Choice(tuple(given), source=_CLASS)
        if isinstance(given, Mapping):
            numbers = [given.get(key) for key in ("low", "high")]
            is_whole = all(isinstance(number, int) for number in numbers)
            return (Int if is_whole else Real)(**given, source=_CLASS)
    except (TypeError, ValueError) as error:
        raise TrialInputError(f"{name} in search_space of {loss}: {error}") from None
    raise TrialInputError(
        f"{name} in search_space of {loss} must be a range {{'low': ..., 'high': ..., 'log': ...,"
        f" 'step': ...}} or a list of values; got {given!r}"
    )
