"""Modulations from their values or from a power series, and from a modulation back to its series.

A series alpha is an array of Taylor coefficients, zero past its end, or a function of an integer array.
Except for :func:`from_values`, whose values may be traced, all runs on the host in float64 and refuses traced
input. The recursions cost O(b^2) for lengths up to b, once: the longest table so far is kept.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks


def lazy():
    """Modulation of the lazy walker, f(0) = 1 and 0 beyond, whose features are the identity.

    The other of the pair must then be alpha itself: ``deconvolve(alpha, lazy())``.

    Source: Universal Graph Random Features, the text below Theorem 2.1.
    """
    return from_values([1.0])


def from_values(values):
    """Modulation with given values f(0), ..., f(n - 1), differentiable in them; longer walks count nothing.

    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> modulation.from_values([1.0, 0.5])(np.arange(4)).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    return partial(_value_at, checks.vector(values, "values"))


def _value_at(values, k):
    k = checks.lengths(k)
    xp = jnp if isinstance(k, jax.Array) or isinstance(values, jax.Array) else np
    return xp.where(k < len(values), xp.asarray(values)[xp.minimum(k, len(values) - 1)], 0.0)


def from_taylor(alpha):
    """Symmetric modulation of the kernel sum_k alpha_k W^k, for alpha_0 > 0.

    ::

        f * f = alpha:   f(0) = sqrt(alpha_0),
        f(i + 1) = (alpha_{i+1} - sum_{p=1}^{i} f(p) f(i + 1 - p)) / (2 f(0))

    Args:
        alpha: Taylor coefficients, (K,), zero past the end (f goes on all the same); or a function of k.

    Returns:
        Function of an integer array of lengths; costs O(b^2) for lengths up to b, once.

    Source: Universal Graph Random Features, Eq. 6.

    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> f = modulation.from_taylor([1.0, 1.0])  # the series of sqrt(1 + x)
    >>> f(np.arange(4)).tolist()
    [1.0, 0.5, -0.125, 0.0625]
    """
    alpha = _coefficients(alpha)
    first = alpha(1)[0]
    if not first > 0:
        raise ValueError(f"alpha[0] = {first}; give a positive constant term, whose square root f(0) is")
    return _Tabulated(partial(_square_root, alpha))


def _square_root(alpha, n):
    target, f = alpha(n), np.zeros(n)
    f[0] = np.sqrt(target[0])
    for i in range(1, n):
        f[i] = (target[i] - f[1:i] @ f[i - 1 : 0 : -1]) / (2 * f[0])
    return f


def deconvolve(alpha, f2):
    """The modulation f1 that estimates sum_k alpha_k W^k together with a given f2, where f2(0) is not 0.

    ::

        f1 * f2 = alpha:   f1(i) = (alpha_i - sum_{p=1}^{i} f2(p) f1(i - p)) / f2(0)

    A bad choice of f2 makes f1 grow with the length, as r^-i, where r is the modulus of the zero next to 0 of
    the series of f2 (of those that alpha does not share). With R the spectral radius of W, the estimate has a
    variance while r > R / sqrt(1 - p_halt), roughly. It is unbiased while sum_k abs(f(k)) R^k converges for
    both of the pair, and has no mean beyond.

    Args:
        alpha: as for :func:`from_taylor`; alpha_0 may be anything.
        f2: a modulation with f2(0) != 0.

    Returns:
        As :func:`from_taylor`.

    Source: Universal Graph Random Features, Theorem 2.1 and the text below it.
    """
    alpha = _coefficients(alpha)
    first = _known(checks.modulation(f2, 2, name="f2"), "f2")[0]
    if first == 0:
        raise ValueError(f"f2(0) = {first}; only a modulation with f2(0) != 0 has a partner")
    return _Tabulated(partial(_quotient, alpha, f2))


def _quotient(alpha, f2, n):
    target, other, f1 = alpha(n), _known(checks.modulation(f2, n, name="f2"), "f2"), np.zeros(n)
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
    g = _known(checks.vector(g, "g"), "g")
    if g[0] != 0:
        raise ValueError(f"g[0] = {g[0]}; give 0, since a factor changes nothing but the kernel's size")
    _known(checks.modulation(f, 2), "f")
    return _Tabulated(partial(_tilt, f, g))


def _tilt(f, g, n):
    e = np.zeros(n)
    e[0] = 1.0
    for i in range(1, n):
        reach = np.arange(1, min(i, len(g) - 1) + 1)
        e[i] = (reach * g[reach]) @ e[i - reach] / i
    return np.convolve(_known(checks.modulation(f, n), "f"), e)[:n]


def to_taylor(f1, f2=None, n_terms=50):
    """Taylor coefficients of the kernel that a pair of modulations estimates, learned or not.

    ::

        alpha_k = sum_{p=0}^{k} f1(k - p) f2(p),  k < n_terms

    Args:
        f1, f2: modulations; f2 is f1 by default, the symmetric pair.

    Returns:
        float64 array, (n_terms,).

    Source: Universal Graph Random Features, Eq. 4. :func:`rfcore.kernels.power_series` is that kernel.
    """
    n_terms = checks.count(n_terms, "n_terms")
    first = _known(checks.modulation(f1, n_terms, name="f1"), "f1")
    second = first if f2 is None else _known(checks.modulation(f2, n_terms, name="f2"), "f2")
    return np.convolve(first, second)[:n_terms]


class _Tabulated:
    """f(k) = table(n)[k], where table(n) computes the first n values; the longest table is kept."""

    def __init__(self, table):
        self.table, self.values = table, np.empty(0)

    def __call__(self, k):
        k = checks.lengths(k, of_table=True)
        longest, values = int(np.max(k, initial=0)), self.values
        if longest >= len(values):
            self.values = values = self.table(longest + 1)
        return values[k]


def _coefficients(alpha):
    """Function that gives the first n Taylor coefficients."""
    if not callable(alpha):
        alpha = from_values(_known(checks.vector(alpha, "alpha"), "alpha"))
    return partial(_first_coefficients, alpha)


def _first_coefficients(alpha, n):
    return _known(checks.modulation(alpha, n, name="alpha"), "alpha")


def _known(values, name):
    """Values on the host, where these recursions run."""
    if checks.is_traced(values):
        got = f"{name} is traced, and this runs on the host"
        raise ValueError(f"{got}; give it outside jax.jit and jax.grad, or learn its values: from_values")
    return np.asarray(values, dtype=float)
