import polars as pl
import pytest

from podium.analysis.protocols.costs import protocol_cost
from podium.analysis.scores.protocol_run_checks import checked

HOUR = 3600.0


def attempt(trial, hours, *, number=1, protocol="p", stage="search", state="COMPLETE", device="h"):
    return {
        "protocol": protocol,
        "trial": trial,
        "number": number,
        "stage": stage,
        "state": state,
        "device": device,
        "gpu_seconds": None if hours is None else hours * HOUR,
    }


def attempts(*rows):
    return checked(pl.DataFrame(rows), "attempts")


MIXED = (
    attempt("a", 1),
    attempt("b", 2, number=1, state="FAILED"),
    attempt("b", 4, number=2, state="FAILED"),
    attempt("c", 8, state="PRUNED"),
    attempt("d", 16, stage="final"),
    attempt("d", None, stage="final", number=2),
    attempt("a", 32, protocol="q"),
)


def test_every_attempt_costs_whatever_came_of_it():
    p, q = protocol_cost(attempts(*MIXED)).to_dicts()
    hours = ("gpu_hours", "search_hours", "final_hours", "failed_hours", "pruned_hours")
    assert [p[name] for name in hours] == pytest.approx([31, 15, 16, 6, 8])
    assert p["repeated_hours"] == pytest.approx(2 + 16)
    counts = ("num_trials", "num_attempts", "num_unknown", "num_devices")
    assert [p[name] for name in counts] == [4, 6, 1, 1]
    assert (q["protocol"], q["gpu_hours"]) == ("q", 32)


def test_hours_of_unlike_devices_are_added_and_the_devices_counted():
    frame = attempts(attempt("a", 1, device="slow"), attempt("b", 1, device="fast"))
    assert protocol_cost(frame).select("gpu_hours", "num_devices").row(0) == (2, 2)
