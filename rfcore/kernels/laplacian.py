"""Kernels that are functions of the normalised Laplacian L, each defined once.

::

    K = function(W) = sum_k alpha_k W^k,   W = I - L = D^(-1/2) A D^(-1/2),   A the weights of the graph

A kernel is a function of eigenvalues x of W, between -1 and 1, such as
:func:`rfcore.kernels.chebyshev_matvec` takes; ``dense`` is its matrix for a graph, ``taylor`` its
coefficients alpha. Those of its square root are the modulation with which walks estimate it,
:func:`rfcore.walks.modulation.of_kernel`. Real parameters may be traced, except in ``dense``. Kondor and
Lafferty, 2002; Smola and Kondor, 2003; Universal Graph Random Features, Table 1.
"""

import math
from types import ModuleType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, Real
from scipy import special

from rfcore import checks, graphs
from rfcore.graphs import Graph
from rfcore.kernels.spectral import matrix_function


def _squared(sigma: float | Real[Array, ""]) -> float | Float[Array, ""]:
    sigma = checks.real(sigma, "sigma", least=0)
    if not checks.is_traced(sigma) and not math.isfinite(sigma * sigma):
        raise ValueError(f"sigma = {sigma}; give a number whose square is finite, below 1e154")
    return sigma


class LaplacianKernel(eqx.Module):
    """Base class of the kernels: a pytree of parameters, with equality, hash and repr by their values."""

    def dense(self, g: Graph) -> Float[np.ndarray, "N N"]:
        """K for an undirected graph, which is normalised first if it is not, in float64."""
        for name, value in vars(self).items():
            checks.known(value, name)
        return matrix_function(graphs.checked(g).normalised(), self._of_rounded)

    def _of_rounded(self: Any, x: Float[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:  # self: of a subclass, which can be called
        """The kernel at LAPACK's eigenvalues; those within rounding of 1 become 1 if it is steep there."""
        rounding, slope = 4 * len(x) * np.finfo(float).eps, getattr(self, "length_moments", (0.0,))[0]  # of log K at 1
        return self(np.where((slope * rounding > 1e-9) & (abs(1 - x) <= rounding), 1.0, x))


class Diffusion(LaplacianKernel):
    """Diffusion (heat) kernel K = exp(-sigma^2 L / 2), for sigma of at least 0."""

    sigma: float | Float[Array, ""] = eqx.field(converter=_squared)

    @classmethod
    def from_lengthscale(cls, lengthscale: float | Real[Array, ""]) -> "Diffusion":
        """K = exp(-lengthscale^2 L), the parametrisation of Gaussian processes on graphs."""
        return cls(math.sqrt(2) * checks.real(lengthscale, "lengthscale", least=0))

    def __call__(self, x: Float[Array | np.ndarray, "*n"]) -> Float[Array | np.ndarray, "*n"]:
        """``exp(-sigma^2 (1 - x) / 2)``."""
        return _arithmetic(x, self.sigma)[0].exp(-(self.sigma**2) * (1 - x) / 2)

    def taylor(self, k: Int[ArrayLike, "*n"], power: float | Real[Array, ""] = 1) -> Float[Array | np.ndarray, "*n"]:
        """Coefficients of K^power: ``exp(-t) t^k / k!``, where t = power sigma^2 / 2."""
        k = orders(k)
        xp, functions = _arithmetic(k, self.sigma)
        t = checks.real(power, "power", above=0) * self.sigma**2 / 2
        return xp.exp(functions.xlogy(1.0 * k, t) - functions.gammaln(k + 1.0) - t)

    @property
    def length_moments(self) -> tuple[float | Float[Array, ""], float | Float[Array, ""]]:
        """Mean and variance of k under the normalised coefficients; for K^power, power times these."""
        return self.sigma**2 / 2, self.sigma**2 / 2


class RegularisedLaplacian(LaplacianKernel):
    """d-regularised Laplacian kernel K = (I + sigma^2 L)^(-d), for sigma of at least 0 and d above 0."""

    sigma: float | Float[Array, ""] = eqx.field(converter=_squared)
    d: float | Float[Array, ""] = eqx.field(converter=lambda d: checks.real(d, "d", above=0))

    def __check_init__(self) -> None:
        if not checks.is_traced(self.d) and self.d > 1e6:  # the rounding error of 1 + sigma^2 would be amplified d times
            raise ValueError(f"d = {self.d}; give at most 10^6 (above, take the diffusion kernel of (2 d)^(1/2) sigma)")

    def __call__(self, x: Float[Array | np.ndarray, "*n"]) -> Float[Array | np.ndarray, "*n"]:
        """``(1 + sigma^2 (1 - x))^(-d)``."""
        return (1 + self.sigma**2 * (1 - x)) ** -self.d

    def taylor(self, k: Int[ArrayLike, "*n"], power: float | Real[Array, ""] = 1) -> Float[Array | np.ndarray, "*n"]:
        """Coefficients of K^power: ``(1 + s)^-a Gamma(k + a) / (Gamma(a) k!) (s / (1 + s))^k``.

        Here a = power d and s = sigma^2.
        """
        k, d = orders(k), checks.real(power, "power", above=0) * self.d
        xp, functions = _arithmetic(k, self.sigma, self.d)
        log_binomial = functions.gammaln(k + d) - functions.gammaln(d) - functions.gammaln(k + 1.0)
        return xp.exp(log_binomial + functions.xlogy(1.0 * k, self.sigma**2) - (k + d) * xp.log1p(self.sigma**2))

    @property
    def length_moments(self) -> tuple[float | Float[Array, ""], float | Float[Array, ""]]:
        """See :attr:`Diffusion.length_moments`."""
        mean = self.d * self.sigma**2
        return mean, mean * (1 + self.sigma**2)


class PStep(LaplacianKernel):
    """p-step random walk kernel K = (alpha I - L)^p, positive semidefinite since alpha is at least 2."""

    alpha: float | Float[Array, ""] = eqx.field(converter=lambda alpha: checks.real(alpha, "alpha", least=2))
    p: int = eqx.field(static=True, converter=lambda p: checks.count(p, "p"))

    def __check_init__(self) -> None:
        if not checks.is_traced(self.alpha) and not self.p / 2 * math.log(self.alpha) < math.log(np.finfo(float).max):
            raise ValueError(f"alpha = {self.alpha} and p = {self.p}, and the kernel's root overflows float64; give smaller numbers")

    def __call__(self, x: Float[Array | np.ndarray, "*n"]) -> Float[Array | np.ndarray, "*n"]:
        """``(alpha - 1 + x)^p``."""
        return (self.alpha - (1 - x)) ** self.p

    def taylor(self, k: Int[ArrayLike, "*n"], power: float | Real[Array, ""] = 1) -> Float[Array | np.ndarray, "*n"]:
        """Coefficients of K^power: ``binomial(q, k) (alpha - 1)^(q - k)``, where q = power p."""
        k, p = orders(k, of_table=True), checks.real(power, "power", above=0) * self.p
        if not checks.is_traced(self.alpha) and p * math.log(self.alpha - 1) >= math.log(np.finfo(float).max):
            raise ValueError(f"alpha = {self.alpha} and p = {self.p}: a coefficient overflows float64; give smaller numbers")
        xp, _ = _arithmetic(self.alpha)
        steps = np.arange(np.max(k, initial=0))
        ratios = (p - steps) / ((steps + 1) * (self.alpha - 1))
        return (self.alpha - 1) ** p * xp.concatenate([xp.ones(1), xp.cumprod(ratios)])[k]

    @property
    def length_moments(self) -> tuple[float | Float[Array, ""], float | Float[Array, ""]]:
        """See :attr:`Diffusion.length_moments`."""
        return self.p / self.alpha, self.p * (self.alpha - 1) / (self.alpha * self.alpha)


class InverseCosine(LaplacianKernel):
    """Inverse cosine kernel K = cos(pi L / 4)."""

    def __call__(self, x: Float[Array | np.ndarray, "*n"]) -> Float[Array | np.ndarray, "*n"]:
        """``cos(pi (1 - x) / 4)``."""
        return _arithmetic(x)[0].cos(np.pi * (1 - x) / 4)

    def taylor(self, k: Int[ArrayLike, "*n"]) -> Float[np.ndarray, "*n"]:
        """Coefficients: ``(pi/4)^k / (sqrt(2) k!)``, with signs +, +, -, -, +, +, ..."""
        k = orders(k, of_table=True)
        signs = np.where(k % 4 < 2, 1.0, -1.0)
        return signs * np.exp(k * np.log(np.pi / 4) - special.gammaln(k + 1.0)) / np.sqrt(2)


def _arithmetic(*numbers: Real[ArrayLike, "..."]) -> tuple[ModuleType, ModuleType]:
    """NumPy and SciPy's special functions; JAX's if one of the numbers is a JAX array, traced or not."""
    return (jnp, jax.scipy.special) if any(isinstance(x, jax.Array) for x in numbers) else (np, special)


def diffusion(g: Graph, sigma: float) -> Float[np.ndarray, "N N"]:
    """Matrix of :class:`Diffusion`, exp(-sigma^2 L / 2), for sigma of at least 0.

    Source: Kondor and Lafferty, 2002; Universal Graph Random Features, Table 1.

    >>> import networkx
    >>> from rfcore import graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2))  # L has the eigenvalues 0 and 2
    >>> kernels.diffusion(g, 1.0).round(3).tolist()
    [[0.684, 0.316], [0.316, 0.684]]
    """
    return Diffusion(sigma).dense(g)


def regularised_laplacian(g: Graph, sigma: float, d: float) -> Float[np.ndarray, "N N"]:
    """Matrix of :class:`RegularisedLaplacian`, (I + sigma^2 L)^(-d), for sigma of at least 0 and d above 0.

    Source: Smola and Kondor, 2003; Universal Graph Random Features, Table 1.

    >>> import networkx
    >>> from rfcore import graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2))  # L has the eigenvalues 0 and 2
    >>> kernels.regularised_laplacian(g, 1.0, 1).round(3).tolist()
    [[0.667, 0.333], [0.333, 0.667]]
    """
    return RegularisedLaplacian(sigma, d).dense(g)


def p_step(g: Graph, alpha: float, p: int) -> Float[np.ndarray, "N N"]:
    """Matrix of :class:`PStep`, (alpha I - L)^p, for alpha of at least 2.

    Source: Smola and Kondor, 2003; Universal Graph Random Features, Table 1.

    >>> import networkx
    >>> from rfcore import graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2))  # L has the eigenvalues 0 and 2
    >>> kernels.p_step(g, 2, 2).round(3).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    return PStep(alpha, p).dense(g)


def inverse_cosine(g: Graph) -> Float[np.ndarray, "N N"]:
    """Matrix of :class:`InverseCosine`, cos(pi L / 4).

    Source: Smola and Kondor, 2003; Universal Graph Random Features, Table 1.

    >>> import networkx
    >>> from rfcore import graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(2))  # L has the eigenvalues 0 and 2
    >>> kernels.inverse_cosine(g).round(3).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return InverseCosine().dense(g)


def orders(k: Any, of_table: bool = False) -> Int[Array | np.ndarray, "..."]:
    """``k`` as an array of integers of at least 0, of NumPy unless it is a JAX array and indexes no table."""
    if checks.is_traced(k):
        if of_table:
            raise ValueError("k is traced; this modulation is computed on the host: call it with NumPy lengths, np.arange(n)")
        return k
    host = np.asarray(k)
    if host.dtype.kind not in "iu" or host.min(initial=0) < 0:
        raise ValueError(f"k = {k!r}; give lengths of walks, whole numbers of at least 0")
    host = host.astype(np.int64, copy=False)
    return k if isinstance(k, jax.Array) and not of_table else host
