"""A timing accuses nobody on a busy machine."""

import time

import pytest

from rfcore import evidence
from rfcore.evidence import Decision, Verdict, timing

SLOW = Decision(Verdict.NOT_REPRODUCED, "bound", ours=2.0, limit=1.0)
FAST = Decision(Verdict.REPRODUCED, "bound", ours=0.5, limit=1.0)


def clock(others):
    read = evidence.Clock()
    read.others = others
    return read


@pytest.mark.parametrize(
    ("decision", "profile", "others", "verdict"),
    [
        (SLOW, "paper", 0.0, "not reproduced"),
        (SLOW, "paper", 0.09, "not reproduced"),
        (SLOW, "paper", 0.11, "inconclusive"),
        (SLOW, "paper", None, "inconclusive"),
        (FAST, "paper", 0.9, "reproduced"),
        (FAST, "quick", 0.0, "not run"),
        (SLOW, "quick", 0.0, "not run"),
    ],
)
def test_a_timing_fails_only_at_paper_on_a_quiet_machine(decision, profile, others, verdict):
    assert evidence.timed(decision, profile, clock(others)).verdict == verdict


def test_the_reason_names_the_load():
    assert "other work used 40% of the machine" in evidence.timed(SLOW, "paper", clock(0.4)).why
    assert "an unknown share" in evidence.timed(SLOW, "paper", clock(None)).why


@pytest.mark.parametrize(
    ("busy", "own", "others"),
    [
        ((100.0, 108.0), (50.0, 54.0), 0.5),  # eight seconds worked, four of them ours: four of the eight there are
        ((100.0, 104.0), (50.0, 54.0), 0.0),
        ((100.0, 103.0), (50.0, 54.0), 0.0),  # the counters tick: never negative
    ],
)
def test_the_clock_counts_what_others_worked(monkeypatch, busy, own, others):
    readings, seconds = {"_busy": iter(busy), "_own": iter(own)}, iter((0.0, 4.0))
    for name, values in readings.items():
        monkeypatch.setattr(timing, name, lambda values=values: next(values))
    monkeypatch.setattr(timing.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(timing.time, "monotonic", lambda: next(seconds))
    with evidence.Clock() as read:
        pass
    assert read.others == others


def test_the_clock_does_not_count_its_own_work():
    if timing._busy() is None:
        pytest.skip("this system does not say how busy it is")
    before_busy, before_own = timing._busy(), timing._own()
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    assert timing._own() - before_own >= 0.29
    assert timing._busy() - before_busy >= 0.25  # ticks of a hundredth, and rounding of each processor's


def test_a_system_that_tells_nothing_gives_none(monkeypatch):
    monkeypatch.setattr(timing, "_busy", lambda: None)
    with evidence.Clock() as read:
        pass
    assert read.others is None
