"""Proof that Student's quantiles are as exact as they say, in steps that run, as for chi (test_chi_proof.py).

With r the quantile and B = r^2 / (r^2 + 2 nu) ~ Beta(d/2, nu), let L be the log odds of B below the median,
and of 1 - B above, of which the level p is the lower tail of Beta(a, b): (a, b) = (d/2, nu) below, (nu, d/2)
above. As log r = (log(2 nu) +- L) / 2, what polynomials stand for is the g of tests/quantile_proof.py with
sign = +-1, const = log(2 nu / d) / 2 and share = 1 / d below, -1 / (2 nu) above.

Step 1. G(L) = log I_B(a, b) = a log B + b log(1 - B) - log(a Beta(a, b)) + log M with
M(B) = 2F1(a + b, 1; a + 1; B) (DLMF 8.17.8), and G' = a / M, as G' is the density of the log odds,
B^a (1 - B)^b / Beta(a, b), over the tail.

(a) Where L is at most r from L0 in the *complex* plane, with o = e^L the odds: |o - o0| <= o0 (e^r - 1), so
    that |1 + o| >= 1 + o0 (2 - e^r), and where that is positive, |B - B0| = |o - o0| / |(1 + o) (1 + o0)| <=
    rho := o0 (e^r - 1) / ((1 + o0) (1 + o0 (2 - e^r))). The series of M has positive coefficients: where
    B0 + rho < 1, |M(B) - M(B0)| <= M(B0 + rho) - M(B0) =: mu M(B0).
(e) With w = dL/ds = G / G', v = G G'' / G'^2 = e^s + w (a - (a + b) B) and q = B (1 - B): w' = w (1 - v),
    v' = v (1 + e^s - v) - (a + b) w^2 q, B' = w q, q' = w q (1 - 2 B).

On 24 November 2026 the same steps, in 60 digits and 12 to 48 parts to a piece, gave 1e-13 at most for nu =
1/2, 3/2 and 5/2 with d from 1 to 16 and nine more up to 1000, and for nu = 0.3, 0.7, 1, 4, 10 and 20 with d
= 1, 2, 3, 8, 64 and 1000; with d = 1, 64 and 1000, 1.3e-13 for nu = 100, and 4e-11 for nu = 0.1, where the
discs are small. Here they run for some.

Step 2. ``units_of_rounding`` adds up first-order bounds, for any law, as chi's does; new is the division of
log(p) by 2 nu, which float32 may round. It takes log and exp to be good to one eps, as test_chi_proof.py
measures.
"""

from functools import partial

import mpmath
import numpy as np
import pytest
import quantile_proof
from quantile_proof import N, product

from rfcore.couplings import student
from rfcore.couplings.chi import N_LOWER, N_UPPER

LAST = N_LOWER + N_UPPER - 1


def expansion(a, b, L0):
    """s0, Taylor coefficients of L at s0, R and r: (a) to (e)."""
    o0 = mpmath.exp(L0)
    B0, rest = o0 / (1 + o0), 1 / (1 + o0)

    def factor(B):
        return mpmath.hyp2f1(a + b, 1, a + 1, B)

    at_B0 = factor(B0)
    slope = a / at_B0
    G0 = a * mpmath.log(B0) + b * mpmath.log(rest) - mpmath.log(a * mpmath.beta(a, b)) + mpmath.log(at_B0)

    def deviation(r):
        least = 1 + o0 * (2 - mpmath.exp(r))
        rho = o0 * mpmath.expm1(r) * rest / least if least > 0 else 1
        return factor(B0 + rho) / at_B0 - 1 if rho < rest else None

    E = [-G0]
    w, B, q = [G0 / slope], [B0], [B0 * rest]
    v, L = [E[0] + w[0] * (a - (a + b) * B0)], [L0]
    wq = []
    for n in range(N):
        wq.append(product(w, q, n))
        L.append(w[n] / (n + 1))
        wv, growth, tilt = product(w, v, n), [x - z for x, z in zip(E, v, strict=True)], [-2 * x for x in B]
        growth[0] += 1
        tilt[0] += 1
        w.append((w[n] - wv) / (n + 1))
        v.append((product(v, growth, n) - (a + b) * product(w, wq, n)) / (n + 1))
        q.append(product(wq, tilt, n) / (n + 1))
        B.append(wq[n] / (n + 1))
        E.append(E[n] / (n + 1))
    return mpmath.log(-G0), L, *quantile_proof.disc(G0, slope, deviation)


def farthest(d, nu, piece, parts=quantile_proof.PARTS):
    """Bound of |P - g| on a piece of the table: step 1."""
    half, nu = mpmath.mpf(d) / 2, mpmath.mpf(nu)
    const = mpmath.log(nu / half) / 2
    polynomial = student._table(d, float(nu))[piece]
    if piece < N_LOWER:
        of_tail = piece, 1, const, 1 / (2 * half), partial(expansion, half, nu)
    else:
        of_tail = piece - N_LOWER, -1, const, -1 / (2 * nu), partial(expansion, nu, half)
    return quantile_proof.farthest(polynomial, *of_tail, parts)


def units_of_rounding(d, nu, dtype):
    """Bound of the relative error that rounding makes: step 2."""
    half, worst = np.finfo(dtype).eps / 2, 0.0
    for is_lower, of_value, size in quantile_proof.roundings_of_value(student._table(d, nu), dtype):
        number = d if is_lower else 2 * nu
        of_number = abs(float(dtype(number)) / number - 1) / half
        exponent = -np.finfo(dtype).minexp if is_lower else np.finfo(dtype).nmant + 1
        whole = exponent + number / 2  # at most, times the number: exactly so where that has few digits
        is_exact = float(dtype(number)) * 2 % 1 == 0 and whole < 2 ** np.finfo(dtype).nmant
        rest = number / 2 + of_number * whole * half
        of_rest = (of_number + (not is_exact)) * whole + (0 if is_exact else rest)  # product, difference
        power = np.log(2) * (1 + rest) / number
        # A log; the rest's product with log 2, which is rounded itself; their sum; the division.
        of_power = np.log(2) * (2 + of_rest + 2 * rest + 1 + rest) / number + (1 + of_number) * power
        # Their sum; exp; the square root of d and the last product.
        worst = max(worst, of_value + of_power + size + power + 2 + 3)
    return worst * half


@pytest.mark.parametrize(
    ("d", "nu", "pieces"),
    [
        (1, 0.5, (0, N_LOWER - 1, N_LOWER, LAST)),
        (3, 1.5, (7, N_LOWER)),
        (64, 0.5, (N_LOWER - 1, LAST)),
        (8, 20.0, (0, N_LOWER)),
    ],
)
def test_polynomials_are_near_the_function(d, nu, pieces):
    with mpmath.workdps(60):
        assert max(farthest(d, nu, piece) for piece in pieces) < 1e-13


@pytest.mark.parametrize("piece", [3, N_LOWER + 3])
def test_the_bound_sees_what_is_wrong(monkeypatch, piece):
    table = student._table(3, 1.5).copy()
    table[piece, -1] += 1e-12
    monkeypatch.setattr(student, "_table", lambda d, nu: table)
    with mpmath.workdps(60):
        assert 0.9e-12 < farthest(3, 1.5, piece) < 1.2e-12


@pytest.mark.parametrize(
    ("smoothness", "dtype", "bound"),
    [
        ((0.5, 1.0, 1.25, 1.5, 2.5, 4.0, 10.0, 20.0, 100.0), np.float64, 3e-15),
        ((0.5, 1.0, 1.25, 1.5, 2.5, 4.0, 10.0, 20.0, 100.0), np.float32, 1.5e-6),
        ((0.501, 0.55, 0.6, 0.7, 1.1, 3.3, 33.3), np.float32, 2.5e-6),
        ((0.1, 0.101, 0.2, 0.3), np.float32, 1e-5),
    ],
)
def test_rounding_leaves_what_is_promised(smoothness, dtype, bound):
    laws = [(d, nu) for d in (1, 2, 3, 4, 8, 64, 500, 1000) for nu in smoothness]
    assert max(units_of_rounding(d, nu, dtype) for d, nu in laws) < bound
