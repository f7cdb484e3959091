"""Quick against paper: verdicts that contradict each other, and numbers that cannot be of one thing."""

import numpy as np
import pytest
from drift import APART, apart, drift
from scipy import stats


def decision(ours=1.0, se=0.1, verdict="reproduced", rule="order", comparisons=1, **more):
    return {"verdict": verdict, "rule": rule, "ours": ours, "se": se, "comparisons": comparisons} | more


@pytest.mark.parametrize(
    ("quick", "paper", "said"),
    [
        ({}, {}, ""),
        ({"verdict": "not reproduced"}, {}, "not reproduced at quick, reproduced at paper"),
        ({}, {"verdict": "paper erratum"}, "reproduced at quick, paper erratum at paper"),
        ({"verdict": "inconclusive"}, {"verdict": "not reproduced"}, ""),
        ({"verdict": "inconclusive", "ours": 2.5}, {}, "1.5 apart, 1.2 allowed"),
        ({"ours": 2.1}, {}, ""),
        ({"ours": 2.5, "comparisons": 5}, {}, ""),
        ({"ours": 2.5, "se": None}, {}, ""),
        ({"ours": 2.5, "se": None, "level": 0.0, "repeats": 9}, {"se": None, "level": 0.0, "repeats": 99}, ""),  # medians
        ({"verdict": "not run", "ours": None}, {"ours": 7.0}, ""),
    ],
)
def test_with_noise(quick, paper, said):
    found = drift(decision(**quick), decision(**paper))
    assert found == "" if not said else said in found


@pytest.mark.parametrize(
    ("quick", "paper", "rounding", "agree"),
    [
        (1.00001, 1.0, 0.0, True),
        (1.01, 1.0, 0.0, False),
        (1.01, 1.0, 1e-12, False),
        (2.6e-10, 2.7e-10, 1e-12, False),  # the difference of two numbers near 1, and so
        (2.6e-10, 2.605e-10, 1e-12, True),
        (0.5, 0.51, 1e-9, False),
        (None, 1e-3, 0.0, True),  # rounding noise at quick: only the bound is compared, by the verdicts
    ],
)
@pytest.mark.parametrize("known_to", ["quick", "paper"])
def test_without_noise(quick, paper, rounding, agree, known_to):
    quick, paper = (decision(x, None, level=0.0) for x in (quick, paper))
    {"quick": quick, "paper": paper}[known_to]["rounding"] = rounding
    assert (drift(quick, paper) == "") is agree


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_false_alarms_are_as_rare_as_stated(share):
    """By simulation at 2 instead of 6 errors, where they can be counted; by Student's law at 6."""
    rng, repeats, n = np.random.default_rng(0), 10, 4000
    samples = rng.normal(size=(2, n, repeats)) * np.array([1.0, share])[:, None, None]
    ours, errors = samples.mean(axis=2), samples.std(axis=2, ddof=1) / np.sqrt(repeats)
    scale = APART / 2  # errors a third as large: 2 of the true ones
    alarms = sum(
        drift(decision(a, s / scale), decision(b, t / scale)) != ""
        for (a, b), (s, t) in zip(ours.T, errors.T, strict=True)
    )
    assert alarms / n < 2 * stats.t(repeats - 1).sf(2) + 4 * np.sqrt(0.08 / n)
    assert 2 * stats.t(repeats - 1).sf(APART) < 1 / 4900


@pytest.mark.parametrize(
    ("quick", "said"),
    [
        ({"error": {"coupling": ["iid"], "m": [4]}}, ""),
        ({"error": {"m": [4], "coupling": ["iid"]}}, "axes ['m', 'coupling'] at quick"),
        ({"error": {"coupling": ["halton"], "m": [4]}}, "['halton'] along 'coupling' at quick alone"),
        ({"error": {"coupling": ["iid"], "m": [4]}, "gain": {"m": [4]}}, "'gain' is kept at quick alone"),
        ({}, "'error' is kept at paper alone"),
    ],
)
def test_of_kept_arrays_the_axes_are_compared_and_no_number(quick, said):
    quick = {name: {"axes": list(axes.items()), "numbers": "nan"} for name, axes in quick.items()}
    paper = {"error": {"axes": [("coupling", ["iid", "simplex"]), ("m", [8, 16])], "numbers": "1 2 3 4"}}
    found = apart(quick, paper)
    assert found == "" if not said else said in found
