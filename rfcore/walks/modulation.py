"""Modulation functions: the weight of a walk of length k, which determines the kernel that is estimated.

A modulation is a function ``f(k)`` of an integer array of walk lengths. Features phi_1, phi_2 of two
independent sets of walks on a graph with symmetric weights W, under modulations f_1 and f_2, satisfy

::

    E[phi_1 phi_2^T] = (sum_k f_1(k) W^k) (sum_k f_2(k) W^k) = sum_k alpha_k W^k   where  f_1 * f_2 = alpha

Modulations named after a kernel are for ``g.normalised()`` of an undirected graph (walks on other weights
raise ValueError) and include the regulariser's powers and the constant: they estimate the kernel of that name
in :mod:`rfcore.kernels` itself. None overflows for long walks. Learned modulations are in
:mod:`rfcore.features.neural`.

Power series run on the host in float64 and refuse traced input; values and real parameters of kernels may be
traced. Universal Graph Random Features, Theorems 2.1 and 2.2, and Section 2, "Generating functions".
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int
from scipy.special import gammaln, xlogy

from rfcore import checks, kernels
from rfcore.kernels.laplacian import orders

Real = Any
"""One real number, which may be traced."""
Values = Float[Array | np.ndarray, "..."]
Modulation = Callable[[Int[ArrayLike, "..."]], Values]
"""``f(k)``, a function of an integer array of lengths."""


def values(f: Modulation, n: int, is_normalised: bool = True, name: str = "f") -> Values:
    """f(0), ..., f(n - 1) as finite numbers; ``is_normalised``: of walks on normalised, symmetric weights."""
    if hasattr(f, "taylor"):
        raise ValueError(f"{name} = {f!r} is a kernel, of eigenvalues; give features.modulation.of_kernel({name})")
    if not callable(f):
        such = "from_taylor or from_values of these" if hasattr(f, "__len__") else "diffusion(1.0)"
        raise ValueError(f"{name} = {f!r}; give a modulation, such as features.modulation.{such}")
    if getattr(f, "for_normalised", False) and not is_normalised:
        got = f"{name} = {f!r} is for normalised weights of an undirected graph, and those of the graph are not"
        mend = "walk on g.normalised(), where g is directed on that of W + W.T"
        raise ValueError(f"{got}; {mend} (features.modulation.from_taylor takes any weights)")
    try:
        found = f(np.arange(n))
    except TypeError as error:
        if isinstance(error, jax.errors.JAXTypeError):
            raise
        got = f"{name} = {f!r} does not take an array of lengths: {error}"
        raise ValueError(f"{got}; give a modulation, such as features.modulation.diffusion(1.0)") from error
    except OverflowError:
        raise ValueError(f"{name} = {f!r} overflows float64; give smaller parameters") from None
    found = checks.numbers(found, name)
    if found.shape != (n,):
        raise ValueError(f"{name} maps {n} lengths to an array of shape {found.shape}; give one value per length")
    return checks.finite(found, name)


def on_host(f: Modulation, longest: int, is_normalised: bool = True) -> Float[np.ndarray, " n"]:
    """f(0), ..., f(longest) in float64, for walks on weights that are normalised or not."""
    return np.asarray(values(f, longest + 1, is_normalised), dtype=float)


class OfKernel(eqx.Module):
    """Modulation of a kernel of the normalised Laplacian: the series of its square root."""

    kernel: Any
    """One of :mod:`rfcore.kernels`, such as ``kernels.Diffusion(1.0)``."""
    series: Modulation | None = eqx.field(default=None, repr=False, static=True)
    """The same values, where the kernel has no closed form for them."""
    for_normalised: ClassVar[bool] = True

    def __call__(self, k: Int[ArrayLike, "..."]) -> Values:
        """Values at an integer array of lengths."""
        return self.kernel.taylor(k, power=1 / 2) if self.series is None else self.series(k)


def of_kernel(kernel: kernels.LaplacianKernel) -> OfKernel:
    """Symmetric modulation of a function of the normalised Laplacian, such as ``kernels.Diffusion(1.0)``.

    ::

        f * f = alpha,   alpha = kernel.taylor:   f = kernel.taylor(k, power=1/2), or of from_taylor(alpha)
    """
    if not isinstance(kernel, kernels.InverseCosine):
        return OfKernel(kernel)
    # Not kernel.taylor: a bound method of a record has its annotations, and jax.Array among them cannot be pickled.
    return OfKernel(kernel, from_taylor(partial(kernels.InverseCosine.taylor, kernel)))


def diffusion(sigma: Real) -> OfKernel:
    """Modulation of the diffusion kernel, f(k) = exp(-sigma^2 / 4) (sigma^2 / 4)^k / k!.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> from rfcore.features import modulation
    >>> alpha = modulation.to_taylor(modulation.diffusion(1.0), n_terms=9)
    >>> bool(np.allclose(alpha, kernels.Diffusion(1.0).taylor(np.arange(9))))
    True
    """
    return of_kernel(kernels.Diffusion(sigma))


def regularised_laplacian(sigma: Real, d: Real) -> OfKernel:
    """Modulation of the d-regularised Laplacian kernel, for sigma of at least 0 and d above 0.

    ::

        f(k) = (1 + sigma^2)^(-d/2) Gamma(k + d/2) / (Gamma(d/2) k!) (sigma^2 / (1 + sigma^2))^k

    >>> from rfcore.features import modulation
    >>> f = modulation.regularised_laplacian(1.0, 1)
    >>> modulation.to_taylor(f, n_terms=3).round(4).tolist()  # of 1 / (2 - x)
    [0.5, 0.25, 0.125]
    """
    return of_kernel(kernels.RegularisedLaplacian(sigma, d))


def p_step(alpha: Real, p: int) -> OfKernel:
    """Modulation of the p-step random walk kernel, f(k) = binomial(p/2, k) (alpha - 1)^(p/2 - k).

    For even p walks longer than p/2 have weight 0; for odd p some of them have negative weights.

    >>> from rfcore.features import modulation
    >>> modulation.to_taylor(modulation.p_step(2, 2), n_terms=4).round(4).tolist()  # of (1 + x)^2
    [1.0, 2.0, 1.0, 0.0]
    """
    return of_kernel(kernels.PStep(alpha, p))


def inverse_cosine() -> OfKernel:
    """Modulation of the inverse cosine kernel cos(pi L / 4), from :func:`from_taylor`.

    abs(f(k)) decays only like k^(-3/2) / 4, because sqrt(cos x + sin x) has its first singularity at -pi/4,
    where the spectrum of W can end. So sum_k f(k)^2 (1 - p_halt)^(-k) diverges for any p_halt, and the
    estimates have no finite variance.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> from rfcore.features import modulation
    >>> alpha = modulation.to_taylor(modulation.inverse_cosine(), n_terms=9)
    >>> bool(np.allclose(alpha, kernels.InverseCosine().taylor(np.arange(9))))
    True
    """
    return of_kernel(kernels.InverseCosine())


def exponential(scale: Real) -> Modulation:
    """Modulation of exp(scale W) for the weights W of the graph that is walked, normalised or not.

    ::

        f(k) = (scale / 2)^k / k!

    The scale may be negative (f alternates) or 0, but not traced.

    Source: Universal Graph Random Features, Sections 3.2 and 3.3; the coefficients follow from Eq. 4.
    """
    if checks.is_traced(scale):
        raise ValueError("scale is traced; make this modulation outside jax.jit and jax.grad, or learn its values: from_values")
    return partial(_exponential, checks.real(scale, "scale"))


def _exponential(scale: Real, k: Int[ArrayLike, "..."]) -> Float[np.ndarray, "..."]:
    at = orders(k, of_table=True)
    return np.sign(scale) ** at * np.exp(xlogy(at, abs(scale) / 2) - gammaln(at + 1.0))


def from_values(values: Float[ArrayLike, " n"] | list) -> Modulation:
    """Modulation with given values f(0), ..., f(n - 1), differentiable in them, and 0 for longer walks.

    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> modulation.from_values([1.0, 0.5])(np.arange(4)).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    return partial(_value_at, checks.vector(values, "values"))


def _value_at(values: Values, k: Int[ArrayLike, "..."]) -> Values:
    at = orders(k)
    xp: Any = jnp if isinstance(at, jax.Array) or isinstance(values, jax.Array) else np
    return xp.where(at < len(values), xp.asarray(values)[xp.minimum(at, len(values) - 1)], 0.0)


def from_taylor(alpha: Float[ArrayLike, " n"] | list | Modulation) -> "Tabulated":
    """Symmetric modulation of the kernel sum_k alpha_k W^k, for alpha_0 > 0.

    ::

        f * f = alpha:   f(0) = sqrt(alpha_0),
        f(i + 1) = (alpha_{i+1} - sum_{p=1}^{i} f(p) f(i + 1 - p)) / (2 f(0))

    Lengths up to b cost O(b^2), once.

    Args:
        alpha: Taylor coefficients, zero past the end (f still continues); or a function of k.

    Source: Universal Graph Random Features, Eq. 6.

    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> f = modulation.from_taylor([1.0, 1.0])  # the series of sqrt(1 + x)
    >>> f(np.arange(4)).tolist()
    [1.0, 0.5, -0.125, 0.0625]
    """
    coefficients = series_of(alpha)
    first = coefficients(1)[0]
    if not first > 0:
        raise ValueError(f"alpha[0] = {first}; give a positive constant term, whose square root f(0) is")
    return Tabulated(partial(_square_root, coefficients))


def _square_root(alpha: Callable[[int], Float[np.ndarray, " n"]], n: int) -> Float[np.ndarray, " n"]:
    target, f = alpha(n), np.zeros(n)
    f[0] = np.sqrt(target[0])
    for i in range(1, n):
        f[i] = (target[i] - f[1:i] @ f[i - 1 : 0 : -1]) / (2 * f[0])
    return f


def to_taylor(f1: Modulation, f2: Modulation | None = None, n_terms: int = 50) -> Float[np.ndarray, " n_terms"]:
    """Taylor coefficients of the kernel that a pair of modulations estimates, learned or not.

    ::

        alpha_k = sum_{p=0}^{k} f1(k - p) f2(p),  k < n_terms

    f2 is f1 by default, the symmetric pair. :func:`rfcore.kernels.power_series` is the kernel of these
    coefficients.

    Source: Universal Graph Random Features, Eq. 4.
    """
    n_terms = checks.count(n_terms, "n_terms")
    first = known(values(f1, n_terms, name="f1"), "f1")
    second = first if f2 is None else known(values(f2, n_terms, name="f2"), "f2")
    return np.convolve(first, second)[:n_terms]


class Tabulated:
    """f(k) = table(n)[k], where table(n) computes the first n values; the longest table so far is kept."""

    def __init__(self, table: Callable[[int], Float[np.ndarray, " n"]]) -> None:
        self.table, self.values = table, np.empty(0)

    def __call__(self, k: Int[ArrayLike, "..."]) -> Float[np.ndarray, "..."]:
        """Values at an integer array of lengths."""
        at = orders(k, of_table=True)
        longest, values = int(np.max(at, initial=0)), self.values
        if longest >= len(values):
            self.values = values = self.table(longest + 1)
        return values[at]


def series_of(alpha: Float[ArrayLike, " n"] | list | Modulation) -> Callable[[int], Float[np.ndarray, " n"]]:
    """Function from n to the first n Taylor coefficients."""
    return partial(_first, alpha if callable(alpha) else from_values(known(checks.vector(alpha, "alpha"), "alpha")))


def _first(alpha: Modulation, n: int) -> Float[np.ndarray, " n"]:
    return known(values(alpha, n, name="alpha"), "alpha")


def known(values: Any, name: str) -> Float[np.ndarray, " n"]:
    """Values on the host, where the recursions of power series run."""
    if checks.is_traced(values):
        got = f"{name} is traced, and this runs on the host"
        raise ValueError(f"{got}; give it outside jax.jit and jax.grad, or learn its values: from_values")
    return np.asarray(values, dtype=float)
