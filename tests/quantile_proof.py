"""What the proofs of two quantiles share (test_chi_proof.py, test_student_proof.py).

Of a law with p the smaller tail, s = log(-log p) and L a coordinate of the quantile, the polynomials P of the
table stand for

::

    g(s) = sign L(s) / 2 + const + share e^s

G(L) is the log of the tail and s = S(L) = log(-G(L)). Steps (a), (b) and (e) of each law give G, G', a bound
e of |G' / G'(L0) - 1| for |L - L0| <= r in the *complex* plane, and Taylor coefficients of L at s0 = S(L0).

(c) |G / G(L0) - 1| <= c := r (1 + e) |G'(L0) / G(L0)|. Where c < 1, S' = G' / G is within
    k := (e + c) / (1 - c) of S'(L0), relatively.
(d) Where k < 1, |S(L1) - S(L2) - S'(L0) (L1 - L2)| <= k |S'(L0)| |L1 - L2|: S is one to one on the disc,
    whose image covers that of radius R = (1 - k) |S'(L0)| r about s0 = S(L0). There L is an analytic function
    of s with |L - L0| <= r, and by Cauchy its Taylor coefficients at s0 are at most r / R^n.
(f) For |s - s0| <= h < R, |P - g| is at most the sum of the sizes of the coefficients of its Taylor
    polynomial of degree N times h^n, and of the two tails: r (h/R)^(N+1) / (1 - h/R) / 2, and
    |share| e^(s0 + h) h^(N+1) / (N+1)!. Such intervals cover every piece.

The numbers have sixty digits; what rounding leaves of them after N steps, each of which multiplies it by
708 h / n at most, is forty.
"""

import mpmath
import numpy as np

from rfcore.couplings import chi

N, PARTS = 26, 12


def disc(G0, slope, deviation):
    """R and r of the best of three discs, by (c) and (d).

    ``deviation(r)`` is mu with e = mu / (1 - mu) where mu < 1; None where there is none.
    """
    discs = [(0, 0)]
    for share in (0.05, 0.12, 0.25):
        r = share * abs(G0 / slope)
        mu = deviation(r)
        if mu is not None and mu < 1:
            e = mu / (1 - mu)
            c = r * (1 + e) * abs(slope / G0)
            k = (e + c) / (1 - c)
            if c < 1 and k < 1:
                discs.append(((1 - k) * abs(slope / G0) * r, r))
    return max(discs)


def product(x, z, n):
    """Coefficient n of the product of two power series."""
    return mpmath.fdot(x[: n + 1], z[n::-1])


def farthest(polynomial, number, sign, const, share, expansion, parts=PARTS):
    """Bound of |P - g| on a piece of a tail, by (f); ``expansion(L0)`` is s0, coefficients of L, R and r."""
    polynomial, worst = [mpmath.mpf(float(c)) for c in polynomial], 0
    start, width = mpmath.mpf(chi.START), mpmath.mpf(chi.WIDTH)
    for part in range(parts):
        middle = start + width * (number + mpmath.mpf(2 * part + 1) / (2 * parts))
        near = mpmath.polyval(polynomial, 2 * ((middle - start) / width - number) - 1)
        s0, L, R, r = expansion(2 * sign * (near - const - share * mpmath.exp(middle)))
        h = width / (2 * parts) + abs(s0 - middle)
        assert h < R
        last = share * mpmath.exp(s0)
        g = [sign * x / 2 * h**n + last * h**n / mpmath.factorial(n) for n, x in enumerate(L)]
        g[0] += const
        t0, step = 2 * ((s0 - start) / width - number) - 1, 2 * h / width
        P = [mpmath.mpf(0)]
        for c in polynomial:  # Horner, on polynomials in (s - s0) / h
            P = [t0 * x + step * z for x, z in zip([*P, 0], [0, *P], strict=True)]
            P[0] += c
        P += [0] * (N + 1 - len(P))
        tail = r * (h / R) ** (N + 1) / (1 - h / R) / 2
        tail += abs(last) * mpmath.exp(h) * h ** (N + 1) / mpmath.factorial(N + 1)
        worst = max(worst, sum(abs(x - z) for x, z in zip(P[: N + 1], g, strict=True)) + tail)
    return float(worst)


def roundings_of_value(table, dtype):
    """Of each piece that is used: is it of the lower tail, rounding of P in halves of eps, sum of its |c|."""
    half = np.finfo(dtype).eps / 2
    of_start = abs(float(dtype(chi.START)) - chi.START) / half  # the constants are rounded too
    of_width = abs(float(dtype(chi.WIDTH)) / chi.WIDTH - 1) / half
    sizes, degree = np.abs(table[:, ::-1]), np.arange(chi.DEGREE + 1)
    of_table = np.abs(table.astype(dtype) - table).sum(axis=1) / half
    for piece, size in enumerate(sizes):
        is_lower = piece < chi.N_LOWER
        first = chi.START + chi.WIDTH * (piece if is_lower else piece - chi.N_LOWER)
        last = min(first + chi.WIDTH, np.log(-np.log(np.finfo(dtype).tiny if is_lower else half)))
        if first < last:
            # Two logarithms; the difference from START, its division by WIDTH; the variable from -1 to 1.
            of_s = 2 + 2 * max(abs(first), abs(last))
            of_s += of_start + (2 + of_width) * (last - chi.START) + chi.WIDTH / 2
            of_value = (size * degree).sum() * 2 / chi.WIDTH * of_s + ((2 * degree + 1) * size).sum()
            yield is_lower, of_value + of_table[piece], size.sum()
