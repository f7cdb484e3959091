"""Posterior weights of features, and draws of them, by conjugate gradients: no kernel is ever formed."""
# pyright: reportOptionalSubscript=false
# SciPy is untyped: the shape of a sparse array is inferred as None, too.

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Float, Real

from rfcore import checks
from rfcore.gp.covariances import fraction
from rfcore.kernels.products import power_of_two
from rfcore.walks import streams
from rfcore.walks.operator import Operator
from rfcore.walks.streams import Key

Noise = float | Real[ArrayLike, " n"] | Sequence[float]
"""Variance of the noise, one for all observations or one for each."""


def posterior_weights(
    phi: Operator | sp.sparray | sp.spmatrix | Real[ArrayLike, "n m"],
    y: Real[ArrayLike, " n"] | Sequence[float],
    noise: Noise,
    rtol: float = 1e-8,
    max_steps: int | None = None,
) -> Float[np.ndarray, " m"]:
    """Posterior mean of the weights of h = phi b, b ~ N(0, I), by conjugate gradients.

    ::

        b = phi^T (phi phi^T + S)^(-1) y,     S = diag(s^2),     E[h(asked) | y] = phi_asked b

    ``phi_asked`` may be any features that multiply a vector, such as
    :class:`rfcore.features.StreamedFeatures` if those of all nodes do not fit into memory. The kernel between
    its nodes and those of phi is unbiased if its walks have a key of their own. How sure the mean is,
    :func:`rfcore.gp.sample_weights` says.

    Args:
        phi: features of the observed nodes.
        y, noise: observations; the variance s^2 of their noise, 0 or above, one for all or one for each.
        rtol: bound of the residual's norm over the largest absolute value of y, between 0 and 1.
        max_steps: as for :func:`conjugate_gradients`.

    Source: Rasmussen and Williams (2006), Eqs. 2.11 and 2.12.
    """
    phi, y = _observed(phi, y)
    return _weights_of(phi, y[:, None], noise, rtol, max_steps)[:, 0]


def sample_weights(
    key: Key,
    phi: Operator | sp.sparray | sp.spmatrix | Real[ArrayLike, "n m"],
    y: Real[ArrayLike, " n"] | Sequence[float],
    noise: Noise,
    n_samples: int,
    rtol: float = 1e-8,
    max_steps: int | None = None,
) -> Float[np.ndarray, "m n_samples"]:
    """Draws from the posterior of the weights of h = phi b, b ~ N(0, I), by Matheron's rule.

    ::

        b + phi^T (phi phi^T + S)^(-1) (y - phi b - eps),     b ~ N(0, I),  eps ~ N(0, S),  S = diag(s^2)

    The columns of ``phi_asked @ samples`` are paths of h on any nodes. Their standard deviation over the
    paths is that of h given y, without the noise of a new observation, with a relative error of
    (2 n_samples)^(-1/2): a fourteenth for 100. It takes no covariance matrix, so that nodes may be many.
    All draws are solved for at once, and each depends on the key and its place alone, up to rounding: more
    samples begin with the same ones.

    Args:
        key: that of the walks may be used again, since their streams are others.
        phi, y, noise: as for :func:`posterior_weights`, of which these weights have the mean.
        rtol, max_steps: as for :func:`posterior_weights`, for each draw with its right-hand side for y.

    Source: Wilson et al. (2020), Matheron's rule for the weights of features.

    Between two observations of a path, and at its end, where the prior has a standard deviation of 1:

    >>> import jax, numpy as np
    >>> from rfcore import gp
    >>> phi = np.linalg.cholesky(0.9 ** abs(np.subtract.outer(np.arange(40), np.arange(40))))
    >>> samples = gp.sample_weights(jax.random.key(0), phi[[0, 2]], [1.0, 1.2], 0.01, n_samples=4000)
    >>> (phi @ samples).std(axis=1)[[1, 39]].round(1)
    array([0.3, 1. ])
    """
    words, n_samples = streams.words(key), checks.count(n_samples, "n_samples")
    phi, y = _observed(phi, y)
    noise, m = variances(noise, len(y)), phi.shape[1]
    rngs = (streams.generator(words, streams.Purpose.WEIGHTS, i) for i in range(n_samples))
    normal = np.stack([rng.standard_normal(m + len(y)) for rng in rngs], axis=1)
    b, eps = normal[:m], np.sqrt(noise) * normal[m:].T
    return b + _weights_of(phi, y[:, None] - phi @ b - eps.T, noise, rtol, max_steps)


def _observed(
    phi: Operator | sp.sparray | sp.spmatrix | Real[ArrayLike, "n m"], y: Real[ArrayLike, " n"] | Sequence[float]
) -> tuple[sp.csr_array, Float[np.ndarray, " n"]]:
    """Features of the observed nodes as a CSR array, and one number per row."""
    phi = phi.to_scipy() if hasattr(phi, "to_scipy") else phi  # pyright: ignore[reportAttributeAccessIssue]  # hasattr narrows no types
    phi = checks.sparse(phi, "phi") if sp.issparse(phi) else sp.csr_array(checks.finite(np.asarray(checks.numbers(phi, "phi")), "phi"))
    return phi, np.asarray(checks.vector(checks.known(y, "y"), "y", phi.shape[0], of="row of phi"), dtype=float)


def _weights_of(
    phi: sp.csr_array, y: Float[np.ndarray, "n k"], noise: Noise, rtol: float, max_steps: int | None
) -> Float[np.ndarray, "m k"]:
    """phi^T (phi phi^T + S)^-1 y, a column for each of y."""
    transpose = phi.T.tocsr()  # contiguous rows: a third of the time
    atol = fraction(rtol, "rtol") * np.abs(y).max(axis=0)
    x = conjugate_gradients(lambda v: phi @ (transpose @ v), y, noise, atol, max_steps)
    return phi.T @ x


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def conjugate_gradients(
    product: Callable[[Float[np.ndarray, "n k"]], Real[ArrayLike, "n k"]],
    y: Real[ArrayLike, "n k"],
    noise: Noise,
    atol: float | Real[ArrayLike, " k"],
    max_steps: int | None = None,
) -> Float[np.ndarray, "n k"]:
    """Solve (K + S) x = y for all columns at once, each until its residual has at most the norm atol.

    S = diag(s^2). The number of steps grows as the square root of 1 + |K| / s^2; with variances that differ,
    as that of the largest eigenvalue of K + S over its smallest.

    Args:
        product: v -> K v.
        y, noise: right-hand sides; the variance s^2, 0 or above, one for all rows or one for each.
        atol: 0 or above, for all columns or for each.
        max_steps: 10 n by default; RuntimeError is raised if they are not enough.
    """
    y, atol = (np.asarray(checks.numbers(checks.known(x, name), name), dtype=float) for x, name in ((y, "y"), (atol, "atol")))
    if y.ndim != 2 or not y.size or atol.shape not in ((), y.shape[1:]):
        raise ValueError(f"y has shape {y.shape}, and atol {atol.shape}; give columns (n, k), and a number or (k,)")
    if not np.all(atol >= 0):
        raise ValueError(f"atol = {atol}; give numbers of at least 0")
    checks.finite(y, "y")
    noise = np.reshape(variances(noise, len(y)), (-1, 1))
    max_steps = 10 * len(y) if max_steps is None else checks.count(max_steps, "max_steps")
    size = power_of_two(y)
    y, atol = y / size, atol / size
    x, residual = np.zeros_like(y), y.copy()
    direction, square = y.copy(), np.sum(y**2, axis=0)
    for _ in range(max_steps):
        going = np.sqrt(square) > atol
        if not going.any():
            return size * x
        image = np.asarray(product(direction))
        if image.shape != y.shape:
            raise ValueError(f"product returns shape {image.shape} for columns {y.shape}; give one that returns K times each")
        image = image + noise * direction
        step = np.where(going, square, 0) / np.where(going, np.sum(direction * image, axis=0), 1)
        x += step * direction
        residual -= step * image
        before, square = np.where(going, square, 1), np.sum(residual**2, axis=0)
        if not np.all(np.isfinite(square)):
            raise ValueError("product, with the noise, is not positive definite or overflows; give more noise, or another scale")
        direction = residual + square / before * direction
    raise RuntimeError(f"The maximum number of solver steps was reached, {max_steps}; give more max_steps, or noise")


def variances(noise: Noise, n: int) -> float | Float[np.ndarray, " n"]:
    """One variance, or a vector of one per observation."""
    noise = checks.known(noise, "noise")
    if not (isinstance(noise, Sequence) or np.ndim(noise)):
        return checks.real(noise, "noise", least=0)
    noise = np.asarray(checks.finite(checks.numbers(noise, "noise"), "noise"), dtype=float)
    if noise.shape != (n,):
        wanted = f"one variance for all observations, or {n}, one for each"
        raise ValueError(f"noise has shape {noise.shape}; give {wanted}")
    if not noise.min() >= 0:
        raise ValueError(f"noise has the value {noise.min():.3g}; give numbers of at least 0")
    return noise
