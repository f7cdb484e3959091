"""Modulations of the kernels that have a name, with the powers and the constant of Table 1 put in.

f has the Taylor coefficients of the kernel's square root, and is differentiable in real parameters, which may
be traced. Universal Graph Random Features, Section 2, "Generating functions".
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.special import gammaln, xlogy

from rfcore import checks, kernels
from rfcore.features.modulation.series import from_taylor


def of_kernel(kernel):
    """Symmetric modulation of a function of the normalised Laplacian, such as ``kernels.Diffusion(1.0)``.

    ::

        f * f = alpha,   alpha = kernel.taylor:   f = kernel.taylor(k, power=1/2), or of from_taylor(alpha)

    Those below are of kernels that are made here.
    """
    if isinstance(kernel, kernels.InverseCosine):
        return Named(kernel, from_taylor(kernel.taylor))
    return Named(kernel, partial(kernel.taylor, power=1 / 2))


def diffusion(sigma):
    """Modulation of the diffusion kernel, f(k) = exp(-sigma^2 / 4) (sigma^2 / 4)^k / k!.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> from rfcore.features import modulation
    >>> alpha = modulation.to_taylor(modulation.diffusion(1.0), n_terms=9)
    >>> bool(np.allclose(alpha, kernels.Diffusion(1.0).taylor(np.arange(9))))
    True
    """
    return of_kernel(kernels.Diffusion(sigma))


def regularised_laplacian(sigma, d):
    """Modulation of the d-regularised Laplacian kernel, for sigma of at least 0 and d above 0.

    ::

        f(k) = (1 + sigma^2)^(-d/2) Gamma(k + d/2) / (Gamma(d/2) k!) (sigma^2 / (1 + sigma^2))^k

    >>> from rfcore.features import modulation
    >>> f = modulation.regularised_laplacian(1.0, 1)
    >>> modulation.to_taylor(f, n_terms=3).round(4).tolist()  # of 1 / (2 - x)
    [0.5, 0.25, 0.125]
    """
    return of_kernel(kernels.RegularisedLaplacian(sigma, d))


def p_step(alpha, p):
    """Modulation of the p-step random walk kernel, f(k) = binomial(p/2, k) (alpha - 1)^(p/2 - k).

    For even p walks longer than p/2 count nothing; for odd p some of them count negatively.

    >>> from rfcore.features import modulation
    >>> modulation.to_taylor(modulation.p_step(2, 2), n_terms=4).round(4).tolist()  # of (1 + x)^2
    [1.0, 2.0, 1.0, 0.0]
    """
    return of_kernel(kernels.PStep(alpha, p))


def inverse_cosine():
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
    k = checks.lengths(k, of_table=True)
    return np.sign(scale) ** k * np.exp(xlogy(k, abs(scale) / 2) - gammaln(k + 1.0))


@dataclass(frozen=True, eq=False)
class Named:
    """Modulation of a kernel of the normalised Laplacian of an undirected graph.

    Walks on other weights refuse it. It can be pickled.
    """

    kernel: kernels.LaplacianKernel
    values: Callable = field(repr=False)
    for_normalised = True

    def __call__(self, k):
        """Values at an integer array of lengths."""
        return self.values(k)
