"""Hyper-parameters of the Gaussian kernel by evidence."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from rfcore import checks

LOG_RANGE = 12.0  # how far from its start the logarithm of a parameter may go


class GaussianFit(NamedTuple):
    """Lengthscale and variance of the kernel and the noise at a maximum of the evidence, ``log_evidence``."""

    lengthscale: float
    variance: float
    noise: float
    """s^2, the variance of the noise."""
    log_evidence: float
    slope: float
    """Largest derivative of the log evidence by the logarithm of a parameter at the end; large where a
    parameter ran to the end of its range."""


def fit_gaussian(X, y, lengthscale=None, start=None):
    """Lengthscale, variance and noise that make the evidence of a Gaussian kernel greatest.

    ::

        max log N(y; 0, variance k(X / lengthscale, X / lengthscale) + noise I)
        k(x, x') = exp(-|x - x'|^2 / 2)

    L-BFGS-B on logarithms in float64 (the paper has Adam), compiled once per number of points; the gradient
    is closed: one Cholesky factor and one inverse. GPJax 1.0 and scikit-learn find the same optimum; GPJax
    compiles anew in each fit.

    Args:
        X, y: points, (n, d), and values, (n,), of mean 0, as the model has it.
        lengthscale: keeps the lengthscale fixed.
        start: lengthscale, variance and noise; parameters stay within e^12 of it. By default the root of half
            the mean squared distance, the mean of y^2 and a tenth of it.

    Returns:
        GaussianFit.

    Source: Rasmussen and Williams (2006), Eqs. 5.8 and 5.9; Variance-Reducing Couplings, Appendix B.1.

    >>> import numpy as np
    >>> from rfcore import gp
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> fit = gp.fit_gaussian(X, np.sin(X[:, 0]) + 0.1 * np.cos(np.arange(40) ** 2))
    >>> 1 < fit.lengthscale < 5, 0 < fit.noise < 0.1 < fit.variance
    (True, True)
    """
    with jax.enable_x64(True):
        X, y = np.asarray(checks.points(X, "X"), dtype=float), np.asarray(checks.vector(y, "y"), dtype=float)
    if len(X) != len(y):
        raise ValueError(f"y has shape {y.shape}, X {X.shape}; give one value per point")
    squares, size = cdist(X, X, "sqeuclidean"), float(np.mean(y**2)) or 1.0
    if start is None:
        start = np.sqrt(squares.mean() / 2) or 1.0, size, size / 10
    start = np.array(checks.vector(start, "start", 3, of="parameter"), dtype=float)
    if not start.min() > 0:
        raise ValueError(f"start = {start}; give a lengthscale, a variance and a noise, above 0")
    free = slice(0, 3)
    if lengthscale is not None:
        start[0], free = checks.real(lengthscale, "lengthscale", above=0), slice(1, 3)
    logs = np.log(start)

    def objective(values):
        value, slope = _objective(np.concatenate([logs[: free.start], values]), squares, y)
        return float(value), np.asarray(slope)[free]

    with jax.enable_x64(True):
        bounds = [(log - LOG_RANGE, log + LOG_RANGE) for log in logs[free]]
        found = minimize(
            objective, logs[free], jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12, "gtol": 1e-6}
        )
    values = np.exp(np.concatenate([logs[: free.start], found.x]))
    return GaussianFit(*(float(value) for value in values), -float(found.fun), float(np.abs(found.jac).max()))


@jax.jit
def _objective(logs, squares, y):
    """Minus the log evidence, and its gradient by the logarithms of lengthscale, variance and noise."""
    lengthscale, variance, noise = jnp.exp(logs)
    signal = variance * jnp.exp(-squares / (2 * lengthscale**2))
    factor = jnp.linalg.cholesky(signal + noise * jnp.eye(len(y))), True
    weights = cho_solve(factor, y)
    value = y @ weights / 2 + jnp.sum(jnp.log(jnp.diagonal(factor[0]))) + len(y) * jnp.log(2 * jnp.pi) / 2
    by_covariance = (cho_solve(factor, jnp.eye(len(y))) - jnp.outer(weights, weights)) / 2
    by_signal = by_covariance * signal
    return value, jnp.stack(
        [jnp.sum(by_signal * squares) / lengthscale**2, jnp.sum(by_signal), noise * jnp.trace(by_covariance)]
    )
