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
(c) So, where mu < 1, |G' / G'(L0) - 1| <= e := mu / (1 - mu), and |G / G(L0) - 1| <= c := r (1 + e) |G'(L0) / G(L0)|. Where c < 1,
    S' = G' / G is within k := (e + c) / (1 - c) of S'(L0), relatively.
(d) Where k < 1, |S(L1) - S(L2) - S'(L0) (L1 - L2)| <= k |S'(L0)| |L1 - L2|: S is one to one on the disc, whose image covers that of
    radius R = (1 - k) |S'(L0)| r about s0 = S(L0). There L is an analytic function of s with |L - L0| <= r, and by Cauchy
    its Taylor coefficients at s0 are at most r / R^n.
(e) They follow from one another: w = dL/ds, v = e^s + w (a - y) have w' = w (1 - v), v' = v (1 + e^s - v) - w^2 y, y' = w y.
(f) For |s - s0| <= h < R, |P - g| is at most the sum of the sizes of the coefficients of its Taylor polynomial of degree N times
    h^n, and of the two tails: r (h/R)^(N+1) / (1 - h/R) / 2, and e^(s0 + h) h^(N+1) / (N+1)! / d. Such intervals cover every piece.

The numbers have sixty digits; what rounding leaves of them after N steps, each of which multiplies it by 708 h / n at most, is
forty. In interval arithmetic (Arb, 300 bits and more), on 21 November 2026, the same steps gave 6.2e-14 at most for every d from 1 to 256, 9e-14 (six
parts to a piece) from 257 to 900, 1.4e-14 for every 32nd up to 2048 and every 512th up to 4096; here they run for two d, in 60 digits.

Step 2. ``units_of_rounding`` adds up first-order bounds, for every d. It takes XLA's log and exp to be good to one eps, which is measured here, and
neglects products of two roundings.
"""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from rfcore.couplings import chi

N, PARTS = 26, 12


def expansion(a, L0, is_lower):
    """s0, Taylor coefficients of L at s0, R and r: (a) to (e)."""
    y0 = mpmath.exp(L0)

    def factor(y):
        return mpmath.hyp1f1(1, a + 1, y) if is_lower else mpmath.exp(y) * mpmath.gammainc(a, y) / y**a

    at_y0 = factor(y0)
    slope = a / at_y0 if is_lower else -1 / at_y0
    G0 = a * L0 - y0 - mpmath.loggamma(a + 1 if is_lower else a) + mpmath.log(at_y0)
    discs = [(0, 0)]
    for share in (0.05, 0.12, 0.25):
        r = share * abs(G0 / slope)
        c = y0 * mpmath.expm1(r)
        if is_lower or c < y0:
            mu = factor(y0 + c if is_lower else y0 - c) / at_y0 - 1
            e = mu / (1 - mu)
            c = r * (1 + e) * abs(slope / G0)
            k = (e + c) / (1 - c)
            if mu < 1 and c < 1 and k < 1:
                discs.append(((1 - k) * abs(slope / G0) * r, r))
    E = [-G0]
    w, y = [G0 / slope], [y0]
    v, L = [E[0] + w[0] * (a - y0)], [L0]
    wy = []

    def product(x, z, n):
        return mpmath.fdot(x[: n + 1], z[n::-1])

    for n in range(N):
        wy.append(product(w, y, n))
        L.append(w[n] / (n + 1))
        wv, growth = product(w, v, n), [x - z for x, z in zip(E, v, strict=True)]
        growth[0] += 1
        w.append((w[n] - wv) / (n + 1))
        v.append((product(v, growth, n) - product(w, wy, n)) / (n + 1))
        y.append(wy[n] / (n + 1))
        E.append(E[n] / (n + 1))
    return mpmath.log(-G0), L, *max(discs)


def farthest(d, piece):
    """Bound of |P - g| on a piece of the table: (f)."""
    is_lower, a = piece < chi.N_LOWER, mpmath.mpf(d) / 2
    number = piece if is_lower else piece - chi.N_LOWER
    polynomial, worst = [mpmath.mpf(float(c)) for c in chi._table(d)[piece]], 0
    start, width = mpmath.mpf(chi.START), mpmath.mpf(chi.WIDTH)
    for part in range(PARTS):
        middle = start + width * (number + mpmath.mpf(2 * part + 1) / (2 * PARTS))
        t = 2 * ((middle - start) / width - number) - 1
        near = 2 * mpmath.polyval(polynomial, t) + mpmath.log(a) - (2 * mpmath.exp(middle) / d if is_lower else 0)
        s0, L, R, r = expansion(a, near, is_lower)
        h = width / (2 * PARTS) + abs(s0 - middle)
        assert h < R
        g = [(x - (mpmath.log(a) if n == 0 else 0)) / 2 * h**n for n, x in enumerate(L)]
        if is_lower:
            g = [x + mpmath.exp(s0) / d * h**n / mpmath.factorial(n) for n, x in enumerate(g)]
        t0, step = 2 * ((s0 - start) / width - number) - 1, 2 * h / width
        P = [mpmath.mpf(0)]
        for c in polynomial:  # Horner, on polynomials in (s - s0) / h
            P = [t0 * x + step * z for x, z in zip([*P, 0], [0, *P], strict=True)]
            P[0] += c
        P += [0] * (N + 1 - len(P))
        tail = r * (h / R) ** (N + 1) / (1 - h / R) / 2
        tail += mpmath.exp(s0 + h) * h ** (N + 1) / mpmath.factorial(N + 1) / d if is_lower else 0
        worst = max(worst, sum(abs(x - z) for x, z in zip(P[: N + 1], g, strict=True)) + tail)
    return float(worst)


def units_of_rounding(d, dtype):
    """Bound of the relative error that rounding makes, in halves of eps: step 2."""
    half, table, worst = np.finfo(dtype).eps / 2, chi._table(d), 0.0
    of_start = abs(float(dtype(chi.START)) - chi.START) / half  # the constants are rounded too
    of_width = abs(float(dtype(chi.WIDTH)) / chi.WIDTH - 1) / half
    sizes, degree = np.abs(table[:, ::-1]), np.arange(chi.DEGREE + 1)
    of_table = np.abs(table.astype(dtype) - table).sum(axis=1) / half
    for piece, size in enumerate(sizes):
        is_lower = piece < chi.N_LOWER
        first = chi.START + chi.WIDTH * (piece if is_lower else piece - chi.N_LOWER)
        last = min(first + chi.WIDTH, np.log(-np.log(np.finfo(dtype).tiny if is_lower else half)))
        if first >= last:
            continue
        # Two logarithms; the difference from START and its division by WIDTH; the variable that runs from -1 to 1.
        of_s = 2 + 2 * max(abs(first), abs(last)) + of_start + (2 + of_width) * (last - chi.START) + chi.WIDTH / 2
        of_value = (size * degree).sum() * 2 / chi.WIDTH * of_s + ((2 * degree + 1) * size).sum() + of_table[piece]
        of_power = is_lower * np.log(2) * (2 / d + 4)  # a log, a product with log 2, a sum and a division by d, all of at most log 2
        of_sum = size.sum() + is_lower * np.log(2)
        worst = max(worst, of_value + of_power + of_sum + 2 + 2)  # exp; the square root of d and the last product
    return worst * half


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
