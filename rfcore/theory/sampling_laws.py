"""The least variance over all proposals of frequencies.

For one feature per frequency, phi(x, omega) with omega ~ p, and points x and y drawn independently from two
distributions, the mean variance over pairs is least if frequencies have a density proportional to p q,

::

    q(omega) = (E_x phi(x, omega)^2 E_y phi(y, omega)^2)^(1/2)
    least mean variance = (E_p q)^2 - E k(x, y)^2

(Theorem 1). By the inequality of Cauchy and Schwarz (E_p q)^2 <= E k(x, x) E k(y, y), whatever phi
(Corollary 1), with equality if x and y have one distribution (Corollary 2). The samplers are in
:mod:`rfcore.solvers.importance`.
"""

import math
from functools import partial
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks
from rfcore.kernels.euclidean import KERNELS, Kernel
from rfcore.precision import full
from rfcore.theory.exponential_errors import sums_of_squares


def log_optimal_variance_bound(
    X: Float[ArrayLike, "n d"], Y: Float[ArrayLike, "l d"], kernel: Kernel = "gaussian"
) -> Float[Array, ""]:
    """Logarithm of the bound on the least mean variance over pairs of points of two sets, per frequency.

    ::

        mean k(x, x) mean k(y, y) - mean over all pairs of k(x, y)^2

    If both sets are the same it is the least mean variance itself, and equal for all feature maps with one
    number per frequency. Pairs of a point with itself are included. The logarithm of zero is -inf.

    Source: "All Random Features Representations are Equivalent", Corollaries 1 and 2.
    """
    X = checks.points(X, "X", least=1)
    Y = checks.points(Y, "Y", n_columns=X.shape[1], least=1)
    checks.choice(kernel, "kernel", KERNELS)
    return _log_bound(X, Y, kernel)


class GaussianProposal(eqx.Module):
    """Optimal proposal for Gaussian points, and its variance; from :func:`optimal_gaussian`."""

    mean: Float[Array, " d"]
    covariance: Float[Array, "d d"]
    log_constant: Float[Array, ""]
    """log E_p q, the normalising constant."""
    log_variance: Float[Array, ""]
    """Logarithm of the least mean variance per frequency, a difference: -inf where it is below rounding."""
    log_bound: Float[Array, ""]
    """Logarithm of its bound, E k(x, x) E k(y, y) - E k(x, y)^2, a difference too."""


def optimal_gaussian(
    mean_x: Float[ArrayLike, " d"],
    covariance_x: Float[ArrayLike, "d d"],
    mean_y: Float[ArrayLike, " d"],
    covariance_y: Float[ArrayLike, "d d"],
    kernel: Kernel = "gaussian",
) -> GaussianProposal:
    """Optimal proposal of frequencies of positive features for Gaussian points: Gaussian too, in closed form.

    ::

        x ~ N(mu_x, S_x),  y ~ N(mu_y, S_y);   c = 2 (softmax), 4 (gaussian)
        precision = 1/2 sum over both of (I + (c - 4) S) (I + c S)^-1
        mean = precision^-1 sum over both of (I + c S)^-1 mu

    It follows from the theorem named below by

    ::

        E_x phi^2 = det(R)^(-1/2) exp(2 w'S R^-1 w + 2 w'R^-1 mu - c/2 mu'R^-1 mu),   R = I + c S

    For means of 0 and one distribution it is the proposal behind a dense-exponential feature with
    A = -S (I - 2 S)^-1 (FAVOR#).

    Args:
        covariance_x, covariance_y: positive semidefinite; for the softmax kernel below I/2, beyond which
            E k(x, x) is infinite.

    Raises ValueError if E k(x, x) is infinite, or covariances are too large for the dtype.

    Source: "All Random Features Representations are Equivalent", Theorem 1.
    """
    checks.choice(kernel, "kernel", KERNELS)
    means, covariances = [], []
    for side, mean, covariance in (("x", mean_x, covariance_x), ("y", mean_y, covariance_y)):
        d = np.shape(covariance_x)[-1]
        covariance = checks.shaped(covariance, f"covariance_{side}", (d, d))
        check_covariance(covariance, f"covariance_{side}", 0.5 if kernel == "softmax" else jnp.inf)
        means.append(checks.shaped(mean, f"mean_{side}", (d,)))
        covariances.append(covariance)
    proposal = _optimal_gaussian(means, covariances, 2 if kernel == "softmax" else 4)
    if not checks.is_traced(proposal.log_constant) and not jnp.isfinite(proposal.log_constant):
        got = f"mean or covariance has values up to {max(jnp.abs(x).max() for x in (*means, *covariances)):.2g}"
        raise ValueError(f"{got}, which overflow in {proposal.log_constant.dtype}; scale the points, or give float64")
    return proposal


def log_sampling_cost(
    optimal: GaussianProposal, mean: Float[ArrayLike, " d"], covariance: Float[ArrayLike, "d d"]
) -> Float[Array, ""]:
    """Cost of another Gaussian proposal: its mean second moment over the least, in logarithms.

    ::

        log of the integral of N(optimal)^2 / N(mean, covariance) >= 0;   inf unless 2 covariance > that of it

    This is log(1 + the chi-square divergence of the two): under a density r the second moment is the integral
    of (p q)^2 / r, and p q is a constant times the optimal density. The cost of plain frequencies, N(0, I),
    grows with the spread of the points; for the softmax kernel it is infinite from a variance of 1/6 in some
    coordinate on.

    Source: "All Random Features Representations are Equivalent", Theorem 1.
    """
    d = len(optimal.mean)
    covariance, mean = checks.shaped(covariance, "covariance", (d, d)), checks.shaped(mean, "mean", (d,))
    check_covariance(covariance, "covariance", jnp.inf)
    return _log_sampling_cost(optimal, mean, covariance)


@jax.jit
@full
def _log_sampling_cost(
    optimal: GaussianProposal, mean: Float[Array, " d"], covariance: Float[Array, "d d"]
) -> Float[Array, ""]:
    precision, away = jnp.linalg.inv(covariance), mean - optimal.mean
    rest = 2 * jnp.linalg.inv(optimal.covariance) - precision
    pulled = precision @ away
    cost = (away @ pulled + pulled @ jnp.linalg.solve(rest, pulled) - jnp.linalg.slogdet(rest)[1]) / 2
    cost = cost + jnp.linalg.slogdet(covariance)[1] / 2 - jnp.linalg.slogdet(optimal.covariance)[1]
    return jnp.where(jnp.linalg.eigvalsh(rest)[0] > 0, cost, jnp.inf)


@partial(jax.jit, static_argnums=2)
def _log_bound(X: Float[Array, "n d"], Y: Float[Array, "l d"], kernel: Kernel) -> Float[Array, ""]:
    # A sum over pairs of k(x, x) k(y, y) - k(x, y)^2 = k(x, x) k(y, y) (1 - exp(-|x - y|^2)), which is nowhere negative.
    squares = sums_of_squares(X, -Y)
    logs = log_difference(jnp.zeros_like(squares), -squares)
    if kernel == "softmax":
        logs = logs + jnp.sum(X**2, axis=1)[:, None] + jnp.sum(Y**2, axis=1)[None]
    return logsumexp(logs) - math.log(squares.size)


@partial(jax.jit, static_argnums=2)
@full
def _optimal_gaussian(
    means: list[Float[Array, " d"]], covariances: list[Float[Array, "d d"]], c: int
) -> GaussianProposal:
    d = len(means[0])
    eye = jnp.eye(d)
    precision = slope = log_constant = log_selves = cast(Any, 0.0)
    for mean, covariance in zip(means, covariances, strict=True):
        spread = eye + c * covariance
        shrunk = jnp.linalg.solve(spread, mean)
        precision = precision + jnp.linalg.solve(spread, eye + (c - 4) * covariance) / 2
        slope = slope + shrunk
        log_constant = log_constant - jnp.linalg.slogdet(spread)[1] / 4 - c / 4 * mean @ shrunk
        # k(x, x) = exp((4 - c) / 2 |x|^2)
        log_selves = log_selves + _log_mean_exp((4 - c) * eye, mean, covariance)
    precision = (precision + precision.T) / 2
    mean = jnp.linalg.solve(precision, slope)
    log_constant = log_constant - jnp.linalg.slogdet(precision)[1] / 2 + slope @ mean / 2
    if c == 4:  # k(x, y)^2 = exp(-|x - y|^2)
        log_pairs = _log_mean_exp(-2 * eye, means[0] - means[1], covariances[0] + covariances[1])
    else:  # exp(2 x . y)
        zeros = jnp.zeros_like(eye)
        form = jnp.block([[zeros, 2 * eye], [2 * eye, zeros]])
        joint = jnp.block([[covariances[0], zeros], [zeros, covariances[1]]])
        log_pairs = _log_mean_exp(form, jnp.concatenate(means), joint)
    log_variance, log_bound = (log_difference(one, log_pairs) for one in (2 * log_constant, log_selves))
    return GaussianProposal(mean, jnp.linalg.inv(precision), log_constant, log_variance, log_bound)


def log_difference(one: Float[Array, "..."], other: Float[Array, "..."]) -> Float[Array, "..."]:
    """log(e^one - e^other) for one >= other; -inf where they are equal."""
    apart = one > other
    return jnp.where(apart, one + jnp.log(-jnp.expm1(jnp.where(apart, other - one, -1.0))), -jnp.inf)


def _log_mean_exp(
    form: Float[Array, "k k"], mean: Float[Array, " k"], covariance: Float[Array, "k k"]
) -> Float[Array, ""]:
    """log E exp(z' form z / 2) for z ~ N(mean, covariance), where it is finite."""
    rest = jnp.eye(len(mean)) - covariance @ form
    return -jnp.linalg.slogdet(rest)[1] / 2 + mean @ form @ jnp.linalg.solve(rest, mean) / 2


def check_covariance(covariance: Float[Array, "d d"], name: str, below: float) -> None:
    """Raise ValueError if a square matrix is not a covariance, or has an eigenvalue of ``below`` or more."""
    if checks.is_traced(covariance):
        return
    if not checks.is_symmetric(covariance):
        raise ValueError(f"{name} = {covariance} is not symmetric; give a covariance")
    values = np.linalg.eigvalsh(np.asarray(covariance))
    if values[0] < -100 * np.finfo(values.dtype).eps * values[-1]:
        raise ValueError(f"{name} = {covariance} has the eigenvalue {values[0]}; give a covariance")
    if values[-1] >= below:
        mend = "give one below 1/2, where E k(x, x) is finite"
        raise ValueError(f"{name} = {covariance} has the eigenvalue {values[-1]}; {mend}")
