"""Modulations with a closed form.

Those named after a kernel are Universal Graph Random Features, Section 2, "Generating functions", with the
powers and the constant of Table 1 put in. Their real parameters may be traced: f is differentiable in them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln as jax_gammaln
from scipy.special import gammaln as host_gammaln

from rfcore import checks


def diffusion(sigma):
    """Modulation of the diffusion kernel exp(-sigma^2 L / 2), for sigma above 0.

    ::

        f(k) = exp(-sigma^2 / 4) (sigma^2 / 4)^k / k!

    Source: Universal Graph Random Features, Section 2 and Table 1.

    >>> import numpy as np
    >>> from rfcore.features import modulation
    >>> alpha = modulation.to_taylor(modulation.diffusion(1.0), n_terms=3)  # of exp(-1/2) exp(x / 2)
    >>> bool(np.allclose(alpha, np.exp(-0.5) * np.array([1, 1 / 2, 1 / 8])))
    True
    """
    sigma = checks.real(sigma, "sigma", above=0)
    return Named(f"diffusion({sigma})", partial(_diffusion, sigma), sigma**2 / 4 - 1.5 * sigma)


def _diffusion(sigma, k):
    k = lengths(k)
    xp, gammaln = _arithmetic(k, sigma)
    quarter = sigma**2 / 4
    return xp.exp(k * xp.log(quarter) - gammaln(k + 1.0) - quarter)


def exponential(scale):
    """Modulation of exp(scale W) for the weights W of whatever graph is walked, normalised or not.

    ::

        f(k) = (scale / 2)^k / k!

    The scale may be negative (f alternates) or 0, but not traced.

    Source: Universal Graph Random Features, Sections 3.2 and 3.3; the coefficients follow from Eq. 4.
    """
    if checks.is_traced(scale):
        raise ValueError("scale is traced; make this modulation outside jax.jit and jax.grad, or learn its values: from_values")
    return partial(_exponential, checks.real(scale, "scale"))


def _exponential(scale, k):
    k = lengths(k, of_table=True)
    return np.sign(scale) ** k * np.exp(_power(abs(scale) / 2, k) - host_gammaln(k + 1.0))


def regularised_laplacian(sigma, d):
    """Modulation of the d-regularised Laplacian kernel (I + sigma^2 L)^(-d), for sigma and d above 0.

    ::

        f(k) = (1 + sigma^2)^(-d/2) Gamma(k + d/2) / (Gamma(d/2) k!) (sigma^2 / (1 + sigma^2))^k

    Source: Universal Graph Random Features, Section 2 and Table 1.

    >>> from rfcore.features import modulation
    >>> f = modulation.regularised_laplacian(1.0, 1)
    >>> modulation.to_taylor(f, n_terms=3).round(4).tolist()  # of 1 / (2 - x)
    [0.5, 0.25, 0.125]
    """
    sigma, d = checks.real(sigma, "sigma", above=0), checks.real(d, "d", above=0)
    mean = sigma**2 * d / 2
    hops = mean - 3 * (mean * (1 + sigma**2)) ** 0.5
    return Named(f"regularised_laplacian({sigma}, {d})", partial(_regularised_laplacian, sigma, d), hops)


def _regularised_laplacian(sigma, d, k):
    k = lengths(k)
    xp, gammaln = _arithmetic(k, sigma, d)
    log_scale = xp.log1p(sigma**2)
    log_binomial = gammaln(k + d / 2) - gammaln(d / 2) - gammaln(k + 1.0)
    return xp.exp(log_binomial + k * (2 * xp.log(sigma) - log_scale) - d / 2 * log_scale)


def p_step(alpha, p):
    """Modulation of the p-step random walk kernel (alpha I - L)^p, for alpha of at least 2.

    ::

        f(k) = binomial(p/2, k) (alpha - 1)^(p/2 - k)

    For even p walks longer than p/2 count nothing; for odd p some of them count negatively.

    Source: Universal Graph Random Features, Section 2 and Table 1.

    >>> from rfcore.features import modulation
    >>> modulation.to_taylor(modulation.p_step(2, 2), n_terms=4).round(4).tolist()  # of (1 + x)^2
    [1.0, 2.0, 1.0, 0.0]
    """
    alpha, p = checks.real(alpha, "alpha", least=2), checks.count(p, "p")
    hops = (p / 2 - 3 * (p / 2 * (alpha - 1)) ** 0.5) / alpha
    return Named(f"p_step({alpha}, {p})", partial(_p_step, alpha, p), hops)


def _p_step(alpha, p, k):
    k = lengths(k, of_table=True)
    xp = jnp if isinstance(alpha, jax.Array) else np
    steps = np.arange(np.max(k, initial=0))
    ratios = (p / 2 - steps) / ((steps + 1) * (alpha - 1))
    return (alpha - 1) ** (p / 2) * xp.concatenate([xp.ones(1), xp.cumprod(ratios)])[k]


def _arithmetic(k, *parameters):
    """NumPy and its log-gamma on the host, JAX's where a length or parameter is a JAX array (or traced)."""
    if any(isinstance(x, jax.Array) for x in (k, *parameters)):
        return jnp, jax_gammaln
    return np, host_gammaln


def _power(base, k):
    """log(base^k), where 0^0 = 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(k == 0, 0.0, k * np.log(base))


@dataclass(frozen=True, eq=False, repr=False)
class Named:
    """Modulation of a kernel defined through the normalised Laplacian; walks on other weights refuse it.

    It can be pickled.
    """

    name: str
    values: Callable
    hops: float = 0.0
    """Nine tenths of the sum of the values, or more, are at lengths above this: the mean less three deviations."""
    for_normalised = True

    def __call__(self, k):
        """Values at an integer array of lengths."""
        return self.values(k)

    def __repr__(self):
        return self.name


def lengths(k, of_table=False):
    """``k`` as whole numbers of at least 0; a JAX array stays one, unless it indexes a NumPy table."""
    if checks.is_traced(k):
        if of_table:
            raise ValueError("k is traced; this modulation is computed on the host: call it with NumPy lengths, np.arange(n)")
        return k
    host = np.asarray(k)
    if host.dtype.kind not in "iu" or host.min(initial=0) < 0:
        raise ValueError(f"k = {k!r}; give lengths of walks, whole numbers of at least 0")
    host = host.astype(np.int64, copy=False)
    return k if isinstance(k, jax.Array) and not of_table else host
