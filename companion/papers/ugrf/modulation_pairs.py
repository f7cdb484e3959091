"""Pairs of different modulations for one kernel, and how the error changes away from the symmetric pair."""

from functools import partial

import numpy as np

from rfcore import checks, theory
from rfcore.walks import modulation


def deconvolve(alpha, f2):
    """The modulation f1 that estimates sum_k alpha_k W^k together with a given f2, where f2(0) is not 0.

    ::

        f1 * f2 = alpha:   f1(i) = (alpha_i - sum_{p=1}^{i} f2(p) f1(i - p)) / f2(0)

    A bad choice of f2 makes f1 grow with the length, as r^-i, where r is the modulus of the zero next to 0 of
    the series of f2 (of those that alpha does not share). With R the spectral radius of W, the estimate has a
    variance while r > R / sqrt(1 - p_halt), roughly. It is unbiased while sum_k abs(f(k)) R^k converges for
    both of the pair, and has no mean beyond.

    Args:
        alpha: as for :func:`rfcore.walks.modulation.from_taylor`; alpha_0 may be anything.
        f2: a modulation with f2(0) != 0.

    Returns:
        As :func:`rfcore.walks.modulation.from_taylor`.

    Source: Universal Graph Random Features, Theorem 2.1 and the text below it.
    """
    alpha = modulation.series_of(alpha)
    first = modulation.known(modulation.values(f2, 2, name="f2"), "f2")[0]
    if first == 0:
        raise ValueError(f"f2(0) = {first}; only a modulation with f2(0) != 0 has a partner")
    return modulation.Tabulated(partial(_quotient, alpha, f2))


def _quotient(alpha, f2, n):
    target, other, f1 = alpha(n), modulation.known(modulation.values(f2, n, name="f2"), "f2"), np.zeros(n)
    for i in range(n):
        f1[i] = (target[i] - other[1 : i + 1] @ f1[:i][::-1]) / other[0]
    return f1


def tilted(f, g):
    """A modulation times the exponential of a power series: one half of an asymmetric pair.

    ::

        f * e,   e = exp(g):   e(0) = 1,  n e(n) = sum_{k=1}^{n} k g(k) e(n - k)

    As exp(g) exp(-g) = 1, ``tilted(f, g)`` and ``tilted(f, -g)`` estimate the kernel that f does with itself,
    and every pair for that kernel is one of these, up to a factor that moves from one to the other.

    Args:
        f: a modulation.
        g: power series, (K,), with g(0) = 0.
    """
    g = modulation.known(checks.vector(g, "g"), "g")
    if g[0] != 0:
        raise ValueError(f"g[0] = {g[0]}; give 0, since a factor changes nothing but the kernel's size")
    modulation.known(modulation.values(f, 2), "f")
    return modulation.Tabulated(partial(_tilt, f, g))


def _tilt(f, g, n):
    e = np.zeros(n)
    e[0] = 1.0
    for i in range(1, n):
        reach = np.arange(1, min(i, len(g) - 1) + 1)
        e[i] = (reach * g[reach]) @ e[i - reach] / i
    return np.convolve(modulation.known(modulation.values(f, n), "f"), e)[:n]


def hessian(g, f, n_walks, p_halt, n_directions=6, n_terms=30, step=1e-3):
    """Second derivatives of the expected squared error of a pair of modulations, at the symmetric pair.

    ::

        H_ij = d^2 / (dg(i) dg(j)) log E |phi_1 phi_2^T - K|_F^2   at g = 0,   f_1 = f exp(-g), f_2 = f exp(g)

    for i, j = 1, ..., n_directions: all pairs near the symmetric one are of this form, and g(0) changes
    nothing (:func:`tilted`). Exchanging the modulations transposes the estimate
    and turns g into -g, so the gradient at 0 vanishes, and the symmetric pair is a local minimum where H is
    positive definite. Central differences of :func:`~rfcore.theory.walk_gram_mse`, which
    err by step^2 times fourth derivatives.
    """
    modulation.values(f, n_terms, g.is_normalised)

    def error(tilt):
        # Where f was found to end, below: what a small tilt moves beyond is as small.
        pair = [modulation.from_values(tilted(f, sign * tilt)(np.arange(n_terms))) for sign in (-1, 1)]
        return theory.walk_gram_mse(g, *pair, n_walks, p_halt, n_terms)

    symmetric = theory.walk_gram_mse(g, f, f, n_walks, p_halt, n_terms)
    if not symmetric > 0:
        raise ValueError(
            f"the symmetric pair of f has the expected error {symmetric}; give a graph and an f that are not exact"
        )
    moves, H = step * np.eye(n_directions + 1)[1:], np.empty((n_directions, n_directions))
    for i, one in enumerate(moves):
        for j, other in enumerate(moves[: i + 1]):
            H[i, j] = H[j, i] = (error(one + other) - error(one - other)) / (2 * step**2 * symmetric)
    return H
