import math
import re

import pytest

from podium.search_spaces.parameters import Choice, Condition, Int, Real, Space


@pytest.mark.parametrize(
    ("ends", "rule"),
    [
        ({"low": 1.0, "high": 1.0}, "`low < high` must hold with both finite, but got"),
        ({"low": 2.0, "high": 1.0}, "`low < high` must hold with both finite, but got"),
        ({"low": 0.0, "high": math.inf}, "`low < high` must hold with both finite, but got"),
        ({"low": math.nan, "high": 1.0}, "`low < high` must hold with both finite, but got"),
        ({"low": 0.0, "high": 1.0, "log": True}, "`low > 0` must hold for a logarithmic range"),
        ({"low": 0.0, "high": 1.0, "step": 0.3}, "`high - low` must be a multiple of step"),
        ({"low": 0.0, "high": 1.0, "step": -0.5}, "`step > 0` must hold, but got step=-0.5"),
        (
            {"low": 1.0, "high": 2.0, "step": 0.5, "log": True},
            "a logarithmic range has no step, but got step=0.5",
        ),
    ],
)
def test_a_range_that_cannot_be_drawn_from_is_refused_with_its_rule(ends, rule):
    with pytest.raises(ValueError, match=re.escape(rule)):
        Real(**ends)


def test_the_ends_of_an_int_are_whole_numbers():
    assert Int(1, 8, step=7).ends() == (1, 8)
    with pytest.raises(ValueError, match=r"high of an Int must be a whole number, but got 2\.5"):
        Int(1, 2.5)
    with pytest.raises(ValueError, match="low of an Int must be a whole number, but got True"):
        Int(True, 2)


def test_a_choice_lists_different_values():
    assert Choice(("none", "hard")).ends() == ("none", "hard")
    with pytest.raises(ValueError, match="a Choice needs at least one value"):
        Choice(())
    with pytest.raises(ValueError, match="the values of a Choice must differ"):
        Choice(("none", "none"))


def test_a_step_that_is_not_exact_in_binary_still_divides_its_range():
    assert Real(0.0, 1.0, step=0.1).step == 0.1


def test_a_space_does_not_change_with_the_mapping_it_was_made_of():
    ranges = {"margin": Real(0.0, 1.0)}
    space = Space(ranges)
    ranges.clear()
    assert list(space.parameters) == ["margin"]
    assert space == Space({"margin": Real(0.0, 1.0)})


def test_a_condition_holds_by_a_list_of_values_or_by_a_lower_end():
    by_name = Condition("miner", values=("semihard_band", "all"))
    assert by_name.holds({"miner": "all"})
    assert not by_name.holds({"miner": "batch_hard"})
    assert not by_name.holds({})
    assert str(by_name) == "miner is semihard_band or all"
    by_size = Condition("centres", above=1)
    assert by_size.holds({"centres": 2})
    assert not by_size.holds({"centres": 1})
    assert str(by_size) == "centres > 1"
    with pytest.raises(ValueError, match="a Condition needs either values or above"):
        Condition("miner")
