"""Proof that chi quantiles are as exact as they say, in steps that run.

With p the smaller of u and 1 - u, s = log(-log p) and x the quantile, ``chi_quantile`` computes exp of a polynomial P(s) in
place of g(s) = log(x / sqrt(d)) - [u <= 1/2] log(u) / d, and log(u) / d by itself. So its relative error is at most

::

    sup |P - g|  (step 1)   +   the rounding of its own operations  (step 2)

Step 1. Let L = log(x^2 / 2), a = d / 2, and G(L) the log of the tail at it, so that s = S(L) = log(-G(L)) and, as
log x = (L + log 2) / 2, g = (L - log a) / 2 + [u <= 1/2] e^s / d. Take a point L0, y0 = e^L0, and go at most r away in the *complex* plane.

(a) Below, G = a L - y - log Gamma(a + 1) + log M with M(y) = 1F1(1; a + 1; y), and G' = a / M (DLMF 8.5.1). The series of M has
    positive coefficients: |M(y) - M(y0)| <= M(y0 e^r) - M(y0) =: mu M(y0).
(b) Above, G = a L - y - log Gamma(a) + log N with N(y) = int_0^oo e^(-y t) (1 + t)^(a - 1) dt, and G' = -1 / N. With
    c = y0 (e^r - 1) < y0 and |e^(-(y - y0) t) - 1| <= e^(c t) - 1: |N(y) - N(y0)| <= N(y0 - c) - N(y0) =: mu N(y0).
(c) to (f) are in tests/quantile_proof.py, with e := mu / (1 - mu) where mu < 1, sign = 1, const = -log(a) / 2, share = [u <= 1/2] / d, and
(e) The Taylor coefficients follow from one another: w = dL/ds, v = e^s + w (a - y) have w' = w (1 - v), v' = v (1 + e^s - v) - w^2 y, y' = w y.

In interval arithmetic (Arb, 300 bits and more), on 21 November 2026, the same steps gave 6.2e-14 at most for every d from 1 to 256, 9e-14 (six
parts to a piece) from 257 to 900, 1.4e-14 for every 32nd up to 2048 and every 512th up to 4096; here they run for two d, in 60 digits.

Step 2. ``units_of_rounding`` adds up first-order bounds, for every d. It takes XLA's log and exp to be good to one eps, which is measured here, and
neglects products of two roundings.
"""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import quantile_proof
from quantile_proof import N, product

from rfcore.couplings import chi


def expansion(a, L0, is_lower):
    """s0, Taylor coefficients of L at s0, R and r: (a) to (e)."""
    y0 = mpmath.exp(L0)

    def factor(y):
        return mpmath.hyp1f1(1, a + 1, y) if is_lower else mpmath.exp(y) * mpmath.gammainc(a, y) / y**a

    at_y0 = factor(y0)
    slope = a / at_y0 if is_lower else -1 / at_y0
    G0 = a * L0 - y0 - mpmath.loggamma(a + 1 if is_lower else a) + mpmath.log(at_y0)

    def deviation(r):
        c = y0 * mpmath.expm1(r)
        return factor(y0 + c if is_lower else y0 - c) / at_y0 - 1 if is_lower or c < y0 else None

    E = [-G0]
    w, y = [G0 / slope], [y0]
    v, L = [E[0] + w[0] * (a - y0)], [L0]
    wy = []
    for n in range(N):
        wy.append(product(w, y, n))
        L.append(w[n] / (n + 1))
        wv, growth = product(w, v, n), [x - z for x, z in zip(E, v, strict=True)]
        growth[0] += 1
        w.append((w[n] - wv) / (n + 1))
        v.append((product(v, growth, n) - product(w, wy, n)) / (n + 1))
        y.append(wy[n] / (n + 1))
        E.append(E[n] / (n + 1))
    return mpmath.log(-G0), L, *quantile_proof.disc(G0, slope, deviation)


def farthest(d, piece):
    """Bound of |P - g| on a piece of the table."""
    is_lower, a = piece < chi.N_LOWER, mpmath.mpf(d) / 2
    number, share = (piece, 1 / mpmath.mpf(d)) if is_lower else (piece - chi.N_LOWER, 0)
    expand = partial(expansion, a, is_lower=is_lower)
    return quantile_proof.farthest(chi._table(d)[piece], number, 1, -mpmath.log(a) / 2, share, expand)


def units_of_rounding(d, dtype):
    """Bound of the relative error that rounding makes: step 2."""
    worst = 0.0
    for is_lower, of_value, size in quantile_proof.roundings_of_value(chi._table(d), dtype):
        of_power = is_lower * np.log(2) * (2 / d + 4)  # a log, a product with log 2, a sum and a division by d, all of at most log 2
        of_sum = size + is_lower * np.log(2)
        worst = max(worst, of_value + of_power + of_sum + 2 + 2)  # exp; the square root of d and the last product
    return worst * np.finfo(dtype).eps / 2


LAST = chi.N_LOWER + chi.N_UPPER - 1


@pytest.mark.parametrize(("d", "pieces"), [(3, (0, 7, chi.N_LOWER - 1, chi.N_LOWER, LAST)), (64, (chi.N_LOWER - 1, LAST))])
def test_polynomials_are_near_the_function(d, pieces):
    """The worst of all d that were tried, and another; the first pieces of both tails, the last and one between."""
    with mpmath.workdps(60):
        assert max(farthest(d, piece) for piece in pieces) < 7e-14


def test_the_bound_sees_what_is_wrong(monkeypatch):
    table = chi._table(3).copy()
    table[7, -1] += 1e-12
    monkeypatch.setattr(chi, "_table", lambda d: table)
    with mpmath.workdps(60):
        assert 0.9e-12 < farthest(3, 7) < 1.2e-12


@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 3e-15), (np.float32, 1e-6 - 7e-14)])
def test_rounding_leaves_what_is_promised(dtype, bound):
    assert max(units_of_rounding(d, dtype) for d in (1, 2, 3, 4, 5, 6, 7, 8, 16, 64, 500, 4096)) < bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logarithms_and_exponentials_are_good_to_one_eps(dtype):
    rng = np.random.default_rng(0)
    with mpmath.workdps(30):
        for ours, exact, x in (
            (jnp.log, mpmath.log, np.concatenate([rng.random(300), np.exp(-80 * rng.random(300)), 0.7 + 700 * rng.random(300)])),
            (jnp.exp, mpmath.exp, 6 * rng.random(500) - 3),
        ):
            x = x.astype(dtype)
            errors = [
                abs(float(mpmath.mpf(float(f)) / exact(mpmath.mpf(float(number))) - 1))
                for number, f in zip(x, np.asarray(jax.jit(ours)(x)), strict=True)
                if number != 1
            ]
            assert max(errors) < np.finfo(dtype).eps
