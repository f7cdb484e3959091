"""Processor time of calls, on a clock that the tests turn, and the exponents of its growth."""

from types import SimpleNamespace

import numpy as np
import pytest

from companion.evidence import costs
from companion.evidence.costs import exponents, seconds_per_call


@pytest.fixture
def turned(monkeypatch):
    """Cases that take so many seconds of a clock that nothing else moves, and what was called when."""
    clock, called = SimpleNamespace(now=0.0), []
    monkeypatch.setattr(costs, "time", SimpleNamespace(process_time=lambda: clock.now))

    def case(seconds):
        def run():
            clock.now += seconds
            called.append(seconds)

        return run

    return case, called


def test_a_call_takes_what_the_clock_says(turned):
    case, _ = turned
    assert np.allclose(seconds_per_call([case(0.25), case(2.0)], 3, "cases"), [[0.25, 2.0]] * 3, rtol=1e-12)


def test_cases_take_turns_after_a_first_call_of_each(turned):
    case, called = turned
    seconds_per_call([case(0.25), case(2.0)], 2, "cases")
    assert called == [0.25, 2.0] * 3


def test_what_is_over_at_once_is_repeated_and_its_time_shared(turned):
    case, called = turned
    assert np.allclose(seconds_per_call([case(0.001)], 1, "case"), 0.001, rtol=1e-12)
    assert len(called) == 1 + 1 + 3  # a first one does not count; the clock is looked at after each: three take 3 ms


def test_what_a_case_owes_to_the_one_before_it_does_not_count(turned):
    case, called = turned
    small, large = case(0.001), case(2.0)

    def after_another():
        if called[-1:] == [2.0]:
            case(0.01)()
        small()

    assert np.allclose(seconds_per_call([after_another, large], 2, "cases"), [[0.001, 2.0]] * 2, rtol=1e-12)


@pytest.mark.parametrize("power", [-1.0, 0.5, 3.0])
def test_a_power_has_its_exponent_in_every_round(power):
    sizes = np.array([3.0, 5.0, 17.0, 40.0])
    seconds = np.array([[1.0], [7.0]]) * sizes**power
    assert np.allclose(exponents(sizes, seconds), [power, power], rtol=1e-12)


def test_the_exponent_is_that_of_least_squares():
    sizes, seconds = np.array([1.0, 2.0, 8.0, 9.0]), np.array([2.0, 1.0, 5.0, 11.0])
    assert np.isclose(exponents(sizes, seconds), np.polyfit(np.log(sizes), np.log(seconds), 1)[0], rtol=1e-12)
