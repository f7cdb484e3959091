"""Modulations given by their values or by a power series, and the way back from a modulation to its series."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

from rfcore import checks
from rfcore.features.modulation.named import Named, lengths


def inverse_cosine():
    """Modulation of the inverse cosine kernel cos(pi L / 4).

    ::

        alpha_k = (pi/4)^k / (sqrt(2) k!) times +, +, -, -, +, +, ...

    There is no closed form; f comes from :func:`from_taylor`. Its modulus decays only like k^(-3/2) / 4, because
    sqrt(cos x + sin x) has its first singularity at -pi/4, which is where the spectrum of W can end: the
    estimates have no variance, for any p_halt, since sum_k f(k)^2 (1 - p_halt)^(-k) diverges.

    Returns
    -------
    function of an integer array

    Notes
    -----
    Universal Graph Random Features, Table 1 and Eq. 6.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> alpha = modulation.to_taylor(modulation.inverse_cosine(), n_terms=3)
    >>> bool(np.allclose(alpha, np.sqrt(0.5) * np.array([1, np.pi / 4, -((np.pi / 4) ** 2) / 2])))
    True
    """
    return Named("inverse_cosine()", from_taylor(_cosine_series))


def _cosine_series(k):
    signs = np.where(k % 4 < 2, 1.0, -1.0)
    return signs * np.exp(k * np.log(np.pi / 4) - gammaln(k + 1.0)) / np.sqrt(2)


def lazy():
    """Modulation of the lazy walker, which deposits everything where it starts.

    ::

        f(0) = 1,  f(k) = 0 for k > 0;  features are the identity

    The other of the pair must then be alpha itself: ``deconvolve(alpha, lazy())``.

    Notes
    -----
    Universal Graph Random Features, the text below Theorem 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> modulation.lazy()(np.arange(3)).tolist()
    [1.0, 0.0, 0.0]
    """
    return from_values([1.0])


def from_values(values):
    """Modulation with given values; longer walks count nothing.

    Parameters
    ----------
    values : array, shape (n,)
        f(0), ..., f(n - 1). May be traced: f is differentiable in them.

    Returns
    -------
    function of an integer array

    Raises
    ------
    ValueError
        If values is no vector, or not finite.

    Notes
    -----
    Ours; what Universal Graph Random Features, Section 2.1, learns is such a function.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> modulation.from_values([1.0, 0.5])(np.arange(4)).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    return partial(_value_at, checks.vector(values, "values"))


def _value_at(values, k):
    k = lengths(k)
    xp = jnp if isinstance(k, jax.Array) or isinstance(values, jax.Array) else np
    return xp.where(k < len(values), xp.asarray(values)[xp.minimum(k, len(values) - 1)], 0.0)


def from_taylor(alpha):
    """Symmetric modulation of the kernel sum_k alpha_k W^k.

    ::

        f * f = alpha:   f(0) = sqrt(alpha_0),
        f(i + 1) = (alpha_{i+1} - sum_{p=1}^{i} f(p) f(i + 1 - p)) / (2 f(0))

    Parameters
    ----------
    alpha : array, shape (K,), or function of an integer array
        Taylor coefficients, alpha_0 > 0. Those past the end of an array are zero (f goes on all the same).

    Returns
    -------
    function of an integer array; costs O(b^2) for lengths up to b, once

    Raises
    ------
    ValueError
        If alpha is no vector or function, is traced, is not finite (the result of a function is looked at when f is
        called), or alpha_0 <= 0.

    Notes
    -----
    Universal Graph Random Features, Eq. 6. Float64 on the host.

    Examples
    --------
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
    """The other half of an asymmetric pair: the modulation f1 that estimates sum_k alpha_k W^k together with f2.

    ::

        f1 * f2 = alpha:   f1(i) = (alpha_i - sum_{p=1}^{i} f2(p) f1(i - p)) / f2(0)

    Every f2 with f2(0) != 0 has exactly one partner, but a bad choice of f2 makes f1 grow with the length, as
    r^-i, where r is the modulus of the zero of sum_k f2(k) z^k next to 0 (of those that alpha does not share).
    The estimate has a variance while r > spectral radius of W / sqrt(1 - p_halt), roughly; it is unbiased while
    sum_k |f(k)| radius^k converges for both of the pair; below that its mean does not exist.

    Parameters
    ----------
    alpha : array, shape (K,), or function of an integer array
        Taylor coefficients. Those past the end of an array are zero (f1 goes on all the same).
    f2 : function of an integer array
        A modulation, f2(0) != 0.

    Returns
    -------
    function of an integer array; costs O(b^2) for lengths up to b, once

    Raises
    ------
    ValueError
        If alpha is no vector or function, is traced, or alpha or f2 is not finite, or f2(0) is 0.

    Notes
    -----
    Universal Graph Random Features, Theorem 2.1 and the text below it. Float64 on the host.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> f = modulation.deconvolve([1.0, 0.5, 0.25], modulation.lazy())
    >>> f(np.arange(4)).tolist()
    [1.0, 0.5, 0.25, 0.0]
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
    """A modulation times the exponential of a power series: away from the symmetric pair, the kernel staying as it is.

    ::

        f * e,   e = exp(g):   e(0) = 1,  n e(n) = sum_{k=1}^{n} k g(k) e(n - k)

    As exp(g) exp(-g) = 1, ``tilted(f, g)`` and ``tilted(f, -g)`` estimate the kernel that f does with itself, and every pair
    for that kernel is one of these, up to a factor that moves from one to the other.

    Parameters
    ----------
    f : function of an integer array
        Modulation.
    g : array, shape (K,)
        Power series; g(0) = 0.

    Returns
    -------
    function of an integer array; costs O(b K) for lengths up to b, once

    Raises
    ------
    ValueError
        If f or g is traced or not finite, or g(0) is not 0.

    Notes
    -----
    Ours; Universal Graph Random Features, Eq. 4, is solved by every pair f e^g, f e^-g.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> f, g = modulation.diffusion(1.0), np.array([0.0, 0.3, -0.1])
    >>> pair = modulation.tilted(f, g), modulation.tilted(f, -g)
    >>> bool(np.allclose(modulation.to_taylor(*pair), modulation.to_taylor(f)))
    True
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

    Parameters
    ----------
    f1, f2 : function of an integer array
        ``f2`` is ``f1`` by default: the symmetric pair.
    n_terms : int

    Returns
    -------
    float64 array, shape (n_terms,)

    Raises
    ------
    ValueError
        If n_terms < 1, or a modulation is traced or not finite.

    Notes
    -----
    Universal Graph Random Features, Eq. 4. :func:`rfcore.kernels.power_series` is that kernel.

    Examples
    --------
    >>> from rfcore.features import modulation
    >>> modulation.to_taylor(modulation.from_values([1.0, 1.0]), n_terms=4).tolist()  # (1 + x)^2
    [1.0, 2.0, 1.0, 0.0]
    """
    n_terms = checks.count(n_terms, "n_terms")
    first = _known(checks.modulation(f1, n_terms, name="f1"), "f1")
    second = first if f2 is None else _known(checks.modulation(f2, n_terms, name="f2"), "f2")
    return np.convolve(first, second)[:n_terms]


class _Tabulated:
    """Modulation f(k) = table(n)[k], where table(n) computes the first n values; the longest so far is kept."""

    def __init__(self, table):
        self.table, self.values = table, np.empty(0)

    def __call__(self, k):
        k = lengths(k, of_table=True)
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
