"""Timings are evidence only where nothing else kept the machine busy."""

import os
import time
from dataclasses import replace
from pathlib import Path

from rfcore import checks
from rfcore.evidence.claims import PROFILES
from rfcore.evidence.verdicts import Decision, Verdict, not_run

BUSY = 0.1  # share of the machine that others may use beside a timing that accuses


class Clock:
    """How busy the rest of the machine was while a block ran.

    Use it as ``with evidence.Clock() as clock:`` around the timings.

    Attributes:
        others: share, 0 to 1, of the machine's processor time that processes other than this one (and the
            children it waited for) used meanwhile; None where the system does not tell (not Linux).
    """

    others = None

    def __enter__(self):
        self._before = _busy(), _own(), time.monotonic()
        return self

    def __exit__(self, *_):
        (busy, own, began), now = self._before, _busy()
        if now is not None:
            # The counters tick a hundred times a second: over less than a tick nothing can be seen.
            available = max(time.monotonic() - began, 0.01) * os.cpu_count()
            self.others = min(max(now - busy - (_own() - own), 0.0) / available, 1.0)


def timed(decision, profile, clock):
    """A decision that rests on the clock: taken at "paper" only, and a failure only on a quiet machine.

    At "quick" it is "not run". At "paper", "not reproduced" becomes "inconclusive" where other processes used
    more than a tenth of the machine meanwhile, or where that is not known.

    Args:
        decision: from repeats, never from one reading.
        profile: "quick" or "paper".
        clock: the :class:`Clock` around the timings.
    """
    checks.instance(decision, Decision, "decision", "what evidence.order or evidence.bound returned")
    checks.choice(profile, "profile", PROFILES)
    checks.instance(clock, Clock, "clock", "the Clock() of the with-block around the timings")
    if profile == "quick":
        return not_run("The clock decides at the paper profile only.")
    quiet = clock.others is not None and clock.others <= BUSY
    if decision.verdict is not Verdict.NOT_REPRODUCED or quiet:
        return decision
    load = "an unknown share" if clock.others is None else f"{clock.others:.0%}"
    why = f"The timing fails, but other work used {load} of the machine meanwhile."
    return replace(decision, verdict=Verdict.INCONCLUSIVE, why=why)


def _busy():
    """Seconds that all processors have worked since the start, or None."""
    try:
        ticks = [int(n) for n in Path("/proc/stat").read_text(encoding="utf-8").split("\n")[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / os.sysconf("SC_CLK_TCK") if sum(ticks) else None


def _own():
    return sum(os.times()[:4])  # user and system, of this process and of the children it waited for
