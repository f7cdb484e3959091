"""A timing accuses nobody on a busy machine; a call's result comes with what it cost."""

from types import SimpleNamespace

import pytest

from companion import evidence
from companion.evidence import Decision, Verdict, costs

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
        monkeypatch.setattr(costs, name, lambda values=values: next(values))
    monkeypatch.setattr(costs.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(costs, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    with evidence.Clock() as read:
        pass
    assert read.others == others


def test_busy_is_all_that_is_neither_idle_nor_waiting_for_a_disk(monkeypatch, tmp_path):
    told = tmp_path / "stat"
    # The last two are counted in the first.
    told.write_text("cpu  100 1 200 900 50 3 4 5 60 70\ncpu0 1 1 1 1 1 1 1 1 1 1\n", encoding="utf-8")
    monkeypatch.setattr(costs, "Path", lambda _: told)
    monkeypatch.setattr(costs.os, "sysconf", {"SC_CLK_TCK": 100}.get)
    assert costs._busy() == (100 + 1 + 200 + 3 + 4 + 5) / 100


def test_own_is_user_and_system_of_this_process_and_its_children(monkeypatch):
    monkeypatch.setattr(costs.os, "times", lambda: (1.0, 2.0, 4.0, 8.0, 99.0))
    assert costs._own() == 15


def test_a_system_that_tells_nothing_gives_none(monkeypatch):
    monkeypatch.setattr(costs, "_busy", lambda: None)
    with evidence.Clock() as read:
        pass
    assert read.others is None


def test_cost_is_that_of_the_call(monkeypatch, tmp_path):
    """What the system tells is given: 2 s, of which the processor worked half; memory at 3 KiB, 7 at the peak."""
    seconds = iter([10.0, 12.0])
    monkeypatch.setattr(costs, "time", SimpleNamespace(perf_counter=lambda: next(seconds), process_time=iter([5.0, 6.0]).__next__))
    record = tmp_path / "status"
    record.write_text("VmPeak:\t9 kB\nVmHWM:\t7 kB\nVmRSS:\t3 kB\n", encoding="utf-8")
    monkeypatch.setattr(costs, "STATUS", record)
    monkeypatch.setattr(costs, "RESET", tmp_path / "none")
    result, spent = evidence.cost(int, "11", base=2)
    assert result == 3
    assert spent == {"wall": 2.0, "processor": 1.0, "bytes": 4096, "peak": 7168}
    monkeypatch.setattr(costs, "STATUS", tmp_path / "none")
    seconds = iter([10.0, 12.0])
    monkeypatch.setattr(costs, "time", SimpleNamespace(perf_counter=lambda: next(seconds), process_time=iter([5.0, 6.0]).__next__))
    assert evidence.cost(int)[1]["peak"] == 0
