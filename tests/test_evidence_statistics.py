"""The rules that decide claims: what each verdict means. Their error rates are in test_evidence_rates."""

import re

import numpy as np
import pytest

from companion import evidence
from companion.evidence import Verdict, means

REPRODUCED, NOT, OPEN = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE


# unbiased --------------------------------------------------------------------------------------------------


def test_unbiased_is_inconclusive_without_the_power_asked_for():
    draws = np.random.default_rng(7).normal(size=(100, 3))
    assert evidence.unbiased(draws, 0, smallest_bias=1.0).verdict is REPRODUCED
    assert evidence.unbiased(draws, 0, smallest_bias=0.1).verdict is OPEN
    assert evidence.unbiased(draws, 0, smallest_bias=[1, 1, 0.1]).verdict is OPEN


def test_unbiased_entries_that_never_vary_must_be_right():
    draws = np.random.default_rng(8).normal(size=(100, 3))
    draws[:, 1] = 1 / 3
    assert evidence.unbiased(draws, [0, 1 / 3 + 1e-16, 0], 1).verdict is REPRODUCED
    wrong = evidence.unbiased(draws, [0, 2 / 3, 0], 1)
    assert wrong.verdict is NOT
    assert "Constant and wrong: 1" in wrong.detail
    assert evidence.unbiased(np.ones((9, 2)), 1, 1).verdict is REPRODUCED
    assert evidence.unbiased(np.ones((9, 2)), 2, 1).verdict is NOT
    single = np.full((9, 2), 1 / 3, np.float32)
    assert evidence.unbiased(single, 1 / 3, 1).verdict is REPRODUCED  # right to the rounding of its own type


def test_unbiased_entries_that_were_never_sampled_are_not_green():
    draws = np.random.default_rng(9).normal(size=(100, 2))
    draws[:, 1] = 0
    assert evidence.unbiased(draws, 0, 1).verdict is REPRODUCED
    unseen = evidence.unbiased(draws, [0, 1e-6], 1)
    assert unseen.verdict is OPEN
    assert "never sampled: 1" in unseen.detail


def test_unbiased_centres_before_squaring():
    draws = 1e8 + np.random.default_rng(10).normal(size=1000)
    decision = evidence.unbiased(draws, 1e8, 1)
    assert decision.verdict is REPRODUCED
    assert decision.se == pytest.approx(1 / np.sqrt(1000), rel=0.1)


# t from repeats, on the laws of the table in the docstring of companion.evidence.statistics ----------------------


def test_the_rule_for_hidden_tails_is_that_of_the_table():
    threshold, skew = 4.0, np.array([-0.126, -0.124, 0.0, 0.124, 0.126])
    assert list(means.guarded(threshold, skew, 1)) == [6, 4, 4, 4, 4]
    assert list(means.guarded(threshold, skew, -1, 3)) == [4, 4, 4, 4, 12]
    n = np.array([-1.0, 2.0, 5.0, 0.0])
    t_of = means.student(np.repeat(n[:, None], 2, 1), 0.0)
    assert t_of[4][0] == pytest.approx(np.mean(((n - n.mean()) / n.std(ddof=1)) ** 3) / 2)


@pytest.mark.parametrize(("repeats", "errors"), [(12, 25), (30, 21)])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0])
def test_a_gain_of_so_many_standard_errors_is_shown_however_skewed(repeats, errors, sigma):
    rng = np.random.default_rng(54)
    for _ in range(50):
        noise = -rng.lognormal(0, sigma, repeats)
        gain = noise - noise.mean() + errors * noise.std(ddof=1) / np.sqrt(repeats)
        assert evidence.order(np.zeros(repeats), gain).verdict is REPRODUCED


# order -----------------------------------------------------------------------------------------------------


def test_order_records_what_it_compared_and_how_many_hold():
    found = evidence.order([1.0, 2.0, 5.0], [2.0, 4.0, 4.0], exact=True)
    assert (found.pair, found.holds, found.comparisons) == ((5.0, 4.0), 2, 3)
    assert evidence.Decision(**found.as_dict()) == found
    noisy = evidence.order(np.random.default_rng(55).normal([0.0, 3.0], 1, (9, 2)), 1.0)
    assert (noisy.holds, noisy.pair[1]) == (1, 1.0)


def test_order_gains_from_common_random_numbers():
    rng = np.random.default_rng(15)
    common = rng.normal(0, 10, 50)
    better, worse = common + rng.normal(0, 0.1, 50), 1 + common + rng.normal(0, 0.1, 50)
    assert evidence.order(better, worse).verdict is REPRODUCED
    assert evidence.order(better, rng.permutation(worse)).verdict is OPEN


def test_order_of_exact_numbers_says_nothing_within_rounding():
    assert evidence.order(0.1 + 0.2, 0.3, exact=True).verdict is OPEN
    assert evidence.order([1.0, 0.3], [2.0, 0.1 + 0.2], exact=True).verdict is OPEN
    assert evidence.order([3.0, 0.3], [2.0, 0.1 + 0.2], exact=True).verdict is NOT
    assert evidence.order(0.3, 0.3 * (1 + 3e-12), exact=True).verdict is REPRODUCED
    assert evidence.order(3, 3, exact=True).verdict is NOT  # counts are counts
    assert evidence.order(0.0, [1e-30, 1.0], exact=True).verdict is REPRODUCED


def test_order_names_both_numbers_and_their_difference():
    rng = np.random.default_rng(54)
    worse = rng.normal([2, 3], 0.1, (50, 2))
    decision = evidence.order(worse - [0.5, 1] + rng.normal(0, 0.1, (50, 2)), worse, unit="s")
    pattern = r"1\.\d+ against (2\.0|1\.9)\d* s, smaller by 0\.[45]\d+ ± 0\.01\d s in the closest of 2 conditions"
    assert re.fullmatch(pattern, decision.finding)
    assert evidence.order(0.0, [0.5, 0.7], exact=True).finding == "smaller by 0.5 in the closest of 2 conditions"
    assert evidence.order(2, 1, exact=True).finding == "2 against 1, larger by 1"
    assert evidence.order(2, 2, exact=True).finding == "2 against 2, no difference"
    assert evidence.order(1 - 1e-6, 1.0, exact=True).finding == "smaller by 1e-06"
    assert evidence.order([2.0, 1.0], [1.0, 9.0], exact=True).finding == "2 against 1, larger by 1 in the worst of 2 conditions"
    assert evidence.bound([3.0, 1.0], 2.0, exact=True).finding == "3 in the worst of 2 conditions; at most 2 allowed"


def test_order_of_exact_numbers_is_strict():
    assert evidence.order([1, 2], [2, 3], exact=True).verdict is REPRODUCED
    assert evidence.order([1, 3], [2, 3], exact=True).verdict is NOT


@pytest.mark.parametrize("robust", [False, True])
def test_order_never_rests_on_repeats_that_do_not_vary(robust):
    reused_key = np.repeat(0.3, 50)
    assert evidence.order(reused_key, reused_key + 0.1, robust=robust).verdict is OPEN
    assert evidence.order(reused_key + 0.1, reused_key, robust=robust).verdict is OPEN
    assert evidence.order(reused_key, reused_key, robust=robust).verdict is OPEN


# bound -----------------------------------------------------------------------------------------------------


def test_bound_of_exact_numbers_and_what_it_reports():
    assert evidence.bound(1.0, 1.1, exact=True).verdict is REPRODUCED
    assert evidence.bound(1.1, 1.0, exact=True).verdict is NOT
    assert evidence.bound(1.1, 1.0, side="above", exact=True).verdict is REPRODUCED
    assert evidence.bound([1.0, 3.0], [1.1, 3.1], exact=True).verdict is REPRODUCED
    assert evidence.bound([1.0, 3.2], [1.1, 3.1], exact=True).verdict is NOT
    samples = np.random.default_rng(25).normal([1, 5], 0.1, (50, 2))
    decision = evidence.bound(samples, [2, 5.5])
    assert decision.ours == pytest.approx(5, abs=0.1)  # the condition nearest to its bound
    assert decision.limit == 5.5
    assert "in the closest of 2 conditions; at most 5.5 allowed" in decision.finding


def test_bound_of_a_geometric_mean_tests_logarithms_and_shows_ratios():
    ratios = np.exp(np.random.default_rng(26).normal(3, 0.2, (60, 2)))
    shown = evidence.bound(ratios, [10.0, 12.0], side="above", geometric=True, unit="times")
    logs = evidence.bound(np.log(ratios), np.log([10.0, 12.0]), side="above")
    assert (shown.verdict, shown.statistic) == (logs.verdict, logs.statistic)
    assert shown.verdict is REPRODUCED
    assert shown.ours == pytest.approx(np.exp(logs.ours), rel=1e-12)
    assert shown.se == pytest.approx(shown.ours * logs.se, rel=1e-12)  # to first order
    assert shown.limit == pytest.approx(12, rel=1e-12)
    assert shown.finding.endswith("times in the closest of 2 conditions; at least 12 times needed")
    for bad in (-ratios, np.append(ratios, 0.0)):
        with pytest.raises(ValueError, match=r"value = .*give"):
            evidence.bound(bad, 10.0, geometric=True)


def test_bound_of_a_median_is_a_sign_test_that_stragglers_do_not_move():
    times = np.append(np.random.default_rng(27).normal(1, 0.1, 19), 1e3)
    decision = evidence.bound(times, 1.5, robust=True, unit="s")
    assert decision.verdict is REPRODUCED
    assert decision.ours == np.median(times)
    assert decision.se is None
    assert evidence.bound(times, 1.5).verdict is not REPRODUCED
    assert evidence.bound(times, 0.5, robust=True).verdict is NOT
    assert evidence.bound(times, 1.0, robust=True).verdict is OPEN
    # 14 of 15 are 16 / 2^15 = .0005, below the level of .001; 13 of 15 are not.
    for n_above, verdict in ((1, REPRODUCED), (2, OPEN)):
        assert evidence.bound(np.r_[np.zeros(15 - n_above), np.full(n_above, 2.0)], 1, robust=True).verdict is verdict
    for wrong in ({"robust": True, "geometric": True}, {"robust": True, "exact": True}):
        with pytest.raises(ValueError, match="give one of the two at most, and repeats"):
            evidence.bound(times, 1.5, **wrong)


def test_order_of_medians_shows_medians_and_of_equal_signs_the_smallest_gain():
    rng = np.random.default_rng(61)
    gain = np.exp(rng.normal(size=(40, 3))) * [2.0, 1.0, 3.0]  # never negative: three sign tests with the same result
    worse = 5 + rng.normal(size=(40, 3))
    decision = evidence.order(worse - gain, worse, robust=True)
    assert decision.verdict is REPRODUCED
    assert decision.ours == pytest.approx(np.median(gain[:, 1]), rel=1e-12)  # the difference of two rounded numbers near 5
    assert decision.se is None
    shown = [np.median(x[:, 1]) for x in (worse - gain, worse)]
    assert decision.finding.startswith(f"medians: {shown[0]:.4g} against {shown[1]:.4g}, smaller by {decision.ours:.4g} in")


def test_a_t_past_a_thousand_is_not_counted_on():
    repeats = 1 + 1e-9 * np.random.default_rng(62).normal(size=20)
    assert ": above 1,000 at level" in evidence.bound(repeats, 2.0).detail
    assert ": below -1,000 at level" in evidence.bound(repeats, 0.5).detail
    assert ": 0." in evidence.bound([0.9, 1.0, 1.1, 0.95], 1.0).detail


def test_slope_of_a_median_is_two_sign_tests():
    curves = power_law(np.random.default_rng(47), -0.5, 40)
    curves[:3, -1] *= 1e3
    decision = evidence.slope(WIDTHS, curves, -0.5, 0.1, robust=True)
    assert decision.verdict is REPRODUCED
    assert abs(decision.ours + 0.5) < 0.1
    assert evidence.slope(WIDTHS, curves, -0.5, 0.1).verdict is OPEN
    assert evidence.slope(WIDTHS, curves, -0.8, 0.1, robust=True).verdict is NOT


def test_bound_of_exact_numbers_says_nothing_within_rounding():
    assert evidence.bound(0.1 + 0.2, 0.3, exact=True).verdict is OPEN
    assert evidence.bound(1.0, 1.0, exact=True).verdict is OPEN
    assert evidence.bound(1, 1, exact=True).verdict is REPRODUCED  # counts are counts
    assert evidence.bound(0.0, 0.0, exact=True).verdict is REPRODUCED
    assert evidence.bound([0.1 + 0.2, 2.0], [0.3, 1.0], exact=True).verdict is NOT


def test_decisions_carry_what_error_rates_need():
    draws = np.random.default_rng(55).normal(size=(50, 3))
    for decision, level, miss, comparisons, repeats in [
        (evidence.unbiased(draws, 0, 5), 1e-4, 0.1, 4, 50),
        (evidence.order(draws, draws + 1, 0.99), 0.01, 0.01, 3, 50),
        (evidence.bound(draws, 1), 1e-3, 1e-3, 3, 50),
        (evidence.bound(1.0, 2.0, se=0.1), 1e-3, 1e-3, 1, None),
        (evidence.bound(1.0, 2.0, exact=True), 0, 0, 1, None),
        (evidence.order([1, 2, 3], 4, exact=True), 0, 0, 3, None),
        (evidence.identity([1, 2], [1, 2], 1e-9), 0, 0, 2, None),
        (evidence.value(1, 0.1, 1, paper_se=0), 0.0027, 0.1, 1, None),
        (evidence.value(1, 0, 1, paper_se=0, rounding=0.5), 0, 0, 1, None),
        (evidence.agree([1, 2], 0.1, [1, 2], paper_se=0, smallest_difference=1), 1e-3, 0.1, 2, None),
    ]:
        found = (decision.level, decision.miss, decision.comparisons, decision.repeats)
        assert found == (pytest.approx(level, rel=1e-3), pytest.approx(miss), comparisons, repeats), decision.rule


# value -----------------------------------------------------------------------------------------------------


def test_value_gives_the_printed_digits_their_rounding():
    assert evidence.value(0.00778, 0, 0.0078, paper_se=0, rounding=0.00005).verdict is REPRODUCED
    assert evidence.value(0.00785, 0, 0.0078, paper_se=0, rounding=0.00005).verdict is REPRODUCED
    assert evidence.value(0.00786, 0, 0.0078, paper_se=0, rounding=0.00005).verdict is NOT
    assert evidence.value(0.00786, 0.00001, 0.0078, paper_se=0, rounding=0.00005).verdict is REPRODUCED
    assert evidence.value(0.00790, 0.00001, 0.0078, paper_se=0, rounding=0.00005).verdict is NOT


def test_value_is_not_green_when_anything_would_agree():
    assert evidence.value(0.9, 0.5, 1.0, paper_se=0).verdict is OPEN
    assert evidence.value(0.9, 0.1, 1.0, paper_se=0).verdict is REPRODUCED
    assert evidence.value(0.9, 0.1, 1.0, paper_se=0, resolution=0.05).verdict is OPEN
    assert evidence.value(9.0, 0.5, 1.0, paper_se=0).verdict is NOT  # a difference that is seen is seen


def test_value_in_direction_only_where_the_number_differs():
    assert evidence.value(2.0, 0.1, 1.0, paper_se=0, in_direction=True).verdict is Verdict.IN_DIRECTION
    assert evidence.value(2.0, 0.1, 1.0, paper_se=0, in_direction=False).verdict is NOT
    assert evidence.value(1.0, 0.1, 1.0, paper_se=0, in_direction=True).verdict is REPRODUCED


def test_value_counts_the_spread_of_single_runs_of_the_paper():
    assert evidence.value(0.056, 0.0045, 0.09, paper_se=0).verdict is NOT
    found = evidence.value(0.056, 0.0045, 0.09, paper_se=0, unprinted_se=0.045)
    assert (found.verdict, found.paper_se) == (REPRODUCED, 0.0)
    assert found.finding.endswith("; printed 0.09") and "0.045 by our estimate" in found.detail  # not as the paper's own
    several = {"paper_se": 0.002, "smallest_difference": 0.5}
    assert evidence.agree([0.056, 0.2], 0.0045, [0.09, 0.2], **several).verdict is NOT
    found = evidence.agree([0.056, 0.2], 0.0045, [0.09, 0.2], unprinted_se=[0.045, 0], **several)
    assert (found.verdict, found.paper_se) == (REPRODUCED, 0.002)
    assert found.finding.endswith("printed 0.0900 ± 0.0020") and "0.045 by our estimate" in found.detail


# agree -----------------------------------------------------------------------------------------------------


def agree(rng, gap=0.0, smallest=10.0, degrees=None, k=7, **options):
    """k numbers of ours and of the paper, with one standard error for both, that differ by the gap."""
    scale = 1.0 if degrees is None else np.sqrt(rng.chisquare(degrees, k) / degrees)
    gaps = np.r_[gap, np.zeros(k - 1)]
    ours, paper = rng.normal(gaps, 1), np.zeros(k)
    options |= {"paper_se": 0.0, "smallest_difference": smallest, "degrees": degrees}
    return evidence.agree(ours, scale * np.ones(k), paper, **options)


def test_agree_gives_the_printed_digits_their_rounding_and_each_number_its_own_error():
    ours, printed = np.array([0.5134, 0.281]), np.array([0.51, 0.28])

    def decide(se, **options):
        return evidence.agree(ours, se, printed, paper_se=0.0, smallest_difference=0.05, **options).verdict

    assert decide(0.0, rounding=0.005) is REPRODUCED
    assert decide(0.0, rounding=0.003) is NOT
    assert decide([0.001, 0.0], rounding=0.003) is REPRODUCED
    assert decide([0.0, 0.001], rounding=0.003) is NOT
    assert decide(0.0, rounding=0.003, in_direction=True) is Verdict.IN_DIRECTION


def test_agree_names_the_farthest_number():
    decision = evidence.agree([1.0, 2.0, 3.0], 0.1, [1.0, 2.3, 3.0], paper_se=0.0, smallest_difference=0.9)
    assert decision.finding == "3 of 3 numbers agree; farthest 2.00 ± 0.10, printed 2.3"
    assert decision.statistic == pytest.approx(3)
    assert decision.limit == 0.9


# slope -----------------------------------------------------------------------------------------------------

WIDTHS = 2.0 ** np.arange(5)


def power_law(rng, exponent, repeats=20, curves=()):
    return WIDTHS**exponent * np.exp(rng.normal(0, 0.3, (repeats, *curves, 5)))


def test_slope_of_several_curves_needs_all_of_them():
    rng = np.random.default_rng(45)
    good = power_law(rng, -0.5, 100, (3,))
    decision = evidence.slope(WIDTHS, good, -0.5, 0.1)
    assert decision.verdict is REPRODUCED
    good[:, 1] = power_law(rng, -1, 100)
    decision = evidence.slope(WIDTHS, good, -0.5, 0.1)
    assert decision.verdict is NOT
    assert decision.ours == pytest.approx(-1, abs=0.05)


def test_slope_of_a_noiseless_power_law():
    y = WIDTHS**-0.5 * np.linspace(1, 2, 7)[:, None]
    y *= 1 + 1e-6 * np.random.default_rng(46).normal(size=y.shape)
    assert evidence.slope(WIDTHS, y, -0.5, 0.1).ours == pytest.approx(-0.5, abs=1e-5)


# identity --------------------------------------------------------------------------------------------------


def test_identity_is_the_largest_error_against_the_tolerance():
    assert evidence.identity([1, 2 + 1e-9], [1, 2], 1e-8).verdict is REPRODUCED
    assert evidence.identity([1, 2 + 9e-8], [1, 2], 1e-8).verdict is OPEN
    assert evidence.identity([1, 2 + 1.1e-7], [1, 2], 1e-8).verdict is NOT
    assert evidence.identity([1e9 + 1, 2], [1e9, 2], 1e-8).verdict is NOT
    assert evidence.identity([1e9 + 1, 2], [1e9, 2], 1e-8, relative=True).verdict is REPRODUCED
    assert evidence.identity([1, 2 + 9e-8], [1, 2], 1e-8).ours == pytest.approx(9e-8, rel=1e-5)
    assert evidence.identity(2**60 + 100, 2**60, 0.5).ours == 100  # float64 has only every 256th number there
    assert evidence.identity([2**60 + 1, 0], [2**60, 0], 0.5).verdict is OPEN


def test_rounding_noise_has_a_bound_and_no_number():
    """Another processor rounds otherwise: what is recorded and shown may not hang on it."""
    for here, there in (([1, 2 + 1e-16], [1, 2 - 4e-16]), ([1.0, 2.0], [1, 2 + 1e-9])):
        assert evidence.identity(here, [1, 2], 1e-8) == evidence.identity(there, [1, 2], 1e-8)
    held = evidence.identity([1, 2 + 1e-9], [1, 2], 1e-8, unit="nats")
    assert (held.ours, held.finding) == (None, "equal within 1e-08 nats, 2 of 2")
    here, there = (evidence.bound(x, 1e-9, exact=True, only_rounding=True) for x in ([-3.9e-31, 0.0], [5.6e-17, -2e-16]))
    assert here == there
    assert (here.verdict, here.ours, here.finding) == (REPRODUCED, None, "at most 1e-09, 2 of 2")
    cancelled = evidence.bound(4.02e10, 0.5, side="above", exact=True, only_rounding=True)
    assert (cancelled.ours, cancelled.finding) == (None, "at least 0.5")
    failed = evidence.bound([1e-3, 0.0], 1e-9, exact=True, only_rounding=True)
    assert (failed.verdict, failed.ours) == (NOT, 1e-3)


def test_exact_numbers_know_their_rounding():
    """That of the numbers compared, however small their difference."""
    assert evidence.order(1.0, 1.0 + 2.6e-10, exact=True).rounding == pytest.approx(1e-12)
    assert evidence.bound([3.0, 1.0], [4.0, 8.0], exact=True).rounding == pytest.approx(4e-12)
    assert evidence.order(3, 4, exact=True).rounding is None  # counts
    assert evidence.identity([1, 3], [1, 2], 1e-8).rounding == 1e-8


# bad input -------------------------------------------------------------------------------------------------

ONES = np.ones(5)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: evidence.identity([np.nan], 1, 1e-9), "ours"),
        (lambda: evidence.identity(1, 1, 0), "tolerance"),
        (lambda: evidence.bound(1.0, 1.0, se=1.0, only_rounding=True), "only_rounding"),
        (lambda: evidence.identity([1], [0], 1e-9, relative=True), "exact"),
        (lambda: evidence.identity([], [], 1e-9), "ours"),
        (lambda: evidence.unbiased([1.0], 1, 1), "estimates"),
        (lambda: evidence.unbiased([1.0, np.inf], 1, 1), "estimates"),
        (lambda: evidence.unbiased(np.ones((5, 2)), [1, 1, 1], 1), "truth"),
        (lambda: evidence.unbiased(np.ones((5, 2)), np.ones((5, 2)), 1), "truth"),
        (lambda: evidence.unbiased(ONES, 1, 1, false_alarm=0), "false_alarm"),
        (lambda: evidence.unbiased(ONES, 1, 0), "smallest_bias"),
        (lambda: evidence.unbiased(np.ones((5, 2)), 1, [1, 1, 1]), "smallest_bias"),
        (lambda: evidence.order([1.0], [2.0]), "repeats"),
        (lambda: evidence.order(ONES, ONES, confidence=1), "confidence"),
        (lambda: evidence.order(ONES, ONES, confidence=0.001), "confidence"),
        (lambda: evidence.order(ONES, [np.nan] * 5), "worse"),
        (lambda: evidence.order(np.ones(20), np.ones((20, 1))), "better"),
        (lambda: evidence.order(np.ones(20), np.ones((20, 1)), exact=True), "better"),
        (lambda: evidence.bound(np.ones(20), np.ones((20, 1))), "bound"),
        (lambda: evidence.bound(np.ones((20, 3)), np.ones((20, 3))), "bound"),
        (lambda: evidence.bound(np.ones(20), np.ones(19), exact=True), "bound"),
        (lambda: evidence.bound(1.0, 2.0), "exact=True"),
        (lambda: evidence.bound(1.0, 2.0, se=0.1, exact=True), "se"),
        (lambda: evidence.bound(1, 2, side="left"), "side"),
        (lambda: evidence.bound(ONES, 2, se=1), "se"),
        (lambda: evidence.bound(1, 2, se=0), "se"),
        (lambda: evidence.value(1, -1, 1, paper_se=0), "se"),
        (lambda: evidence.value(1, 1, 1, paper_se=np.nan), "paper_se"),
        (lambda: evidence.value(np.nan, 1, 1, paper_se=0), "ours"),
        (lambda: evidence.agree([1, 2], 1, [1, 2, 3], paper_se=1, smallest_difference=1), "ours"),
        (lambda: evidence.agree([1, 2], [1, 2, 3], 1, paper_se=1, smallest_difference=1), "se"),
        (lambda: evidence.agree([1, 2], -1, 1, paper_se=1, smallest_difference=1), "se"),
        (lambda: evidence.agree([1, 2], 1, 1, paper_se=1, smallest_difference=0), "smallest_difference"),
        (lambda: evidence.agree(1, 1, 1, paper_se=1, smallest_difference=1, false_alarm=1), "false_alarm"),
        (lambda: evidence.agree(1, 1, 1, paper_se=1, smallest_difference=1, degrees=0), "degrees"),
        (lambda: evidence.value(1, 1, 0, paper_se=0), "resolution"),
        (lambda: evidence.slope(ONES, np.ones((3, 5)), -0.5, 0.1), "x"),
        (lambda: evidence.slope(WIDTHS, -np.ones((3, 5)), -0.5, 0.1), "y_repeats"),
        (lambda: evidence.slope(WIDTHS, np.ones((3, 4)), -0.5, 0.1), "y_repeats"),
        (lambda: evidence.slope(WIDTHS, np.ones((3, 5)), -0.5, 0), "resolution"),
    ],
)
def test_bad_input_names_the_argument(call, names):
    with pytest.raises(ValueError, match=rf"\b{names}\b"):
        call()


def test_an_undecided_tail_is_named():
    """Means that would pass but for a tail that the repeats may not have shown say so; others give no reason."""
    draws = np.random.default_rng(0).lognormal(sigma=2.0, size=(200, 1))  # tail to the right: the mean may be too small
    found = evidence.bound(draws, 9.0)
    assert found.verdict is evidence.Verdict.INCONCLUSIVE
    assert "tail may hide" in found.why
    assert evidence.bound(np.minimum(draws, 5.0), 9.0).why == ""


def test_tail_index_of_powers():
    """Of quantiles of x^-a the mean of logs is that of an exponential law, a (1 + O(log k / k)); draws scatter by a / sqrt(k)."""
    for index in (0.5, 2.0):
        quantiles = (np.arange(1, 100_001) / 100_000) ** (-1 / index)
        found, se = evidence.tail_index(quantiles[::-1], 1000)
        assert found == pytest.approx(index, rel=0.01)
        assert se == pytest.approx(found / np.sqrt(1000))
    rng = np.random.default_rng(0)
    found = np.array([evidence.tail_index(rng.pareto(2.0, 2000) + 1, 200) for _ in range(200)])
    scores = (found[:, 0] - 2.0) / found[:, 1]
    assert abs(scores.mean()) < 0.4  # a standard error of 0.07, and a bias of 1 / sqrt(200)
    assert 0.8 < scores.std() < 1.2  # a standard error of 0.05
    for values, message in ((np.ones(9), "values has 1.0"), (-np.arange(9.0), "values has -2.0")):
        with pytest.raises(ValueError, match=f"{message} as number 3 from the top"):
            evidence.tail_index(values, 2)


def test_a_perfect_kernel_refutes_what_the_guide_says_of_posteriors():
    """Errors with their noise in them, which the guide once compared, hold whatever the kernel is; excesses do not."""
    rng = np.random.default_rng(0)
    noise, excess = 1.0, np.abs(rng.normal(0.02, 0.004, (200, 1)))  # of the exact mean; of independent frequencies
    perfect, kernel = np.abs(rng.normal(0, 1e-4, (200, 1))), 0.1  # what is left of the kernel's squared error
    test_errors = np.log((noise + excess) / (noise + perfect))
    assert evidence.order(test_errors, np.full_like(test_errors, -np.log(kernel) / 2)).verdict is Verdict.REPRODUCED
    assert evidence.order(np.sqrt(kernel) * excess, perfect).verdict is Verdict.NOT_REPRODUCED
