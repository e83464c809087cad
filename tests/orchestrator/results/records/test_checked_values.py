import pytest

from orchestrator.results.records import checked_values as values

WRONG = {
    values.text: (None, 1, True, [], {}),
    values.file_name: (None, "", "../x", "a/b", ".x", "a\nb", "/etc/passwd", ["a"]),
    values.count: (None, -1, 1.0, True, "1", 2**63, []),
    values.amount: (None, -0.5, float("inf"), float("nan"), True, "1", {}),
    values.time: (None, "yesterday", "2026-01-02T03:04:05", 5, []),
    values.is_known("a", "b"): ("c", None, [], {}),
}


@pytest.mark.parametrize(
    ("check", "value"),
    [(check, value) for check, given in WRONG.items() for value in given],
)
def test_a_value_of_another_type_is_refused_by_name(check, value):
    with pytest.raises(ValueError, match=r"^it must be ") as refused:
        check("it", value)
    assert len(str(refused.value)) < 150


def test_right_values_come_back():
    assert values.text("it", "a\nb") == "a\nb"
    assert values.file_name("it", "s:1+a@b-c.d") == "s:1+a@b-c.d"
    assert values.count("it", 2**63 - 1) == 2**63 - 1
    assert values.amount("it", 3) == 3.0
    assert values.time("it", "2026-01-02T03:04:05+00:00").year == 2026
    assert values.optional(values.count)("it", None) is None
    assert values.optional(values.count)("it", 1) == 1
    assert values.is_known("a", "b")("it", "b") == "b"
