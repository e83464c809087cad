import math
import re

import pytest

from podium.trainables.settings.legal_ranges import Flag, Interval, Number, OneOf, Parameter, Whole


def test_a_parameter_says_which_values_are_legal():
    scale = Parameter(2.0, Interval(0.0, 100.0, low_inclusive=False))
    assert str(scale.legal) == "in (0, 100]"
    assert scale.problem_with(100) is None
    assert scale.problem_with(0.0) == "must be in (0, 100], but got 0.0"
    assert scale.problem_with(math.nan) == "must be in (0, 100], but got nan"
    assert scale.problem_with(10**400) == f"must be in (0, 100], but got {10**400}"
    assert scale.problem_with(True) == "must be in (0, 100], but got True"
    assert scale.problem_with("2") == "must be in (0, 100], but got '2'"


def test_parameters_may_be_whole_numbers_choices_or_flags():
    centres = Parameter(10, Whole(1))
    assert centres.problem_with(3) is None
    assert centres.problem_with(2.5) == "must be a whole number in [1, inf), but got 2.5"
    miner = Parameter("none", OneOf(("none", "hard")))
    assert miner.problem_with("hard") is None
    assert miner.problem_with("soft") == "must be one of 'none', 'hard', but got 'soft'"
    flag = Parameter(False, Flag())
    assert flag.problem_with(True) is None
    assert flag.problem_with(1) == "must be true or false, but got 1"


def test_a_number_without_limits_is_just_a_number():
    free = Parameter(80, Number())
    assert free.problem_with("80") == "must be a number, but got '80'"
    assert free.problem_with(80) is None
    assert free.problem_with(79.5) is None


@pytest.mark.parametrize(
    ("legal", "written", "value"),
    [(Whole(1, 9), 5.0, 5), (Interval(0.0, 9.0), 5, 5.0), (Number(), 5, 5)],
)
def test_a_value_gets_the_type_of_its_range_however_it_was_written(legal, written, value):
    parameter = Parameter(None, legal)
    assert parameter.problem_with(written) is None
    assert parameter.typed(written) == value
    assert type(parameter.typed(written)) is type(value)


def test_an_illegal_default_is_refused():
    with pytest.raises(ValueError, match=re.escape("default must be in [0, 1], but got 2.0")):
        Parameter(2.0, Interval(0.0, 1.0))
