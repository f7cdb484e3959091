"""Importance sampling of frequencies: exact draws from the proposal that minimises the mean variance.

For features phi(x, omega), one per frequency, the optimal proposal has a density proportional to p(omega)
q(omega),

::

    q(omega) = (mean over X of phi(x, omega)^2 times mean over Y of phi(y, omega)^2)^(1/2)

and its frequencies have the log weights log C - log q(omega), C = E_p q. For positive features of one set p q
is a mixture of Gaussians around 2 x, one per point, and :func:`sample_mixture` moves the frequencies of any
coupling there, so that couplings and the optimal proposal combine. For two sets, and with random phases,
draws come from rejection and are independent (:func:`sample_two_sets`, :func:`sample_with_phases`). For
Gaussian points the proposal is Gaussian: :func:`rfcore.theory.optimal_gaussian`, whose frequencies are
``features.frequencies.weighted_gaussian(omega, proposal.mean, jnp.linalg.cholesky(proposal.covariance))``.

Results are weighted frequencies, which every feature map accepts. The proposals are optimal for
:func:`rfcore.features.positive` and :func:`rfcore.features.trigonometric`; other maps stay unbiased, but have
other optima. :func:`rfcore.theory.log_optimal_variance_bound` gives the variance that is reached.

Source: All Random Features Representations are Equivalent, Theorem 1 (the proposal); the samplers are ours.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from rfcore import checks, copulas, features
from rfcore.features.frequencies import Frequencies, weighted
from rfcore.kernels.euclidean import KERNELS, Kernel
from rfcore.sharding import varying

ROUNDS = 1000


def sample_mixture(
    key: PRNGKeyArray,
    omega: Float[ArrayLike, "m d"],
    X: Float[ArrayLike, "n d"],
    kernel: Kernel = "gaussian",
    copula: Any = None,
) -> Frequencies:
    """Optimal frequencies of positive features for pairs of points of one set.

    ::

        omega'_i = omega_i + 2 x,   x drawn from X with probability proportional to k(x, x)

    This is p q / C itself, since phi(x, omega)^2 p(omega) = k(x, x) N(omega; 2 x, I) for both kernels; C is
    the mean of k(x, x). Whatever the draw, the squares of the estimates from one frequency average to C^2
    over all pairs. The weights take O(n m d).

    With a copula the points drawn are coupled: the one at level u is the quantile of the distribution of x in
    the order of the rows of X, so strata of levels are strata of X if neighbours are in neighbouring rows.

    Raises ValueError where 4 |x|^2, the size of log weights, has a rounding error of 1: from |x| of about
    1,400 on in float32.

    Args:
        key: for the points drawn.
        omega: frequencies of any coupling, rows N(0, I_d): the offsets from the points stay coupled.
        copula: copula of the levels of all m points drawn, or its name; None for independent points.

    Source: All Random Features Representations are Equivalent, Corollary 2.
    """
    X = _set(X, "X", kernel)
    omega = checks.points(omega, "omega", n_columns=X.shape[1])
    if copula is None:
        return _mixture(key, omega, X, kernel)
    levels = copulas.draw(copula, key, (1, len(omega), 1)).reshape(-1)
    return _mixture_at_levels(levels, omega, X, kernel)


def sample_two_sets(
    key: PRNGKeyArray,
    m: int,
    X: Float[ArrayLike, "n d"],
    Y: Float[ArrayLike, "l d"],
    kernel: Kernel = "gaussian",
    pilot: int = 4096,
) -> Frequencies:
    """Optimal frequencies of positive features for pairs of a point of X and one of Y.

    ::

        propose from (m_X + m_Y) / 2,   accept with probability (m_X m_Y)^(1/2) / ((m_X + m_Y) / 2)

    m_X and m_Y being the mixtures of :func:`sample_mixture`. The share accepted is C / (mean k(x, x) mean
    k(y, y))^(1/2), whose square is the ratio of the two sides of Corollary 1. C is not known: ``pilot`` other
    draws estimate it, so that features stay unbiased; their variance rises by the variance of the pilot's
    mean relative to C^2.

    Raises ValueError if the sets are so far apart that a thousand proposals per frequency do not suffice.
    """
    X = _set(X, "X", kernel)
    Y = _set(Y, "Y", kernel, X.shape[1])
    m, pilot = checks.count(m, "m"), checks.count(pilot, "pilot")
    omega, log_weights, done = _two_sets(key, m, X, Y, kernel, pilot)
    return weighted(omega, _accepted(log_weights, done))


def sample_with_phases(
    key: PRNGKeyArray,
    m: int,
    X: Float[ArrayLike, "n d"],
    Y: Float[ArrayLike, "l d"] | None = None,
    kernel: Kernel = "gaussian",
    pilot: int = 4096,
) -> tuple[Frequencies, Float[Array, " m"]]:
    """Optimal frequencies and phases of Fourier features of random phase, for one set or two.

    ::

        propose omega ~ N(0, I), theta ~ U(0, 2 pi)
        accept with probability q(omega, theta) / (2 (mean k(x, x) mean k(y, y))^(1/2))

    With one set exactly half are accepted, and C is the mean of k(x, x); with two, C is estimated as in
    :func:`sample_two_sets`, and ValueError is raised as there.

    Returns:
        Frequencies and phases as :func:`rfcore.features.trigonometric` takes them.
    """
    grows = kernel == "softmax"
    X = _set(X, "X", kernel, exponents=grows)
    Y = None if Y is None else _set(Y, "Y", kernel, X.shape[1], grows)
    m, pilot = checks.count(m, "m"), checks.count(pilot, "pilot")
    (omega, phases), log_weights, done = _with_phases(key, m, X, Y, kernel, pilot)
    return weighted(omega, _accepted(log_weights, done)), phases


@partial(jax.jit, static_argnames="kernel")
def _mixture(key: PRNGKeyArray, omega: Float[Array, "m d"], X: Float[Array, "n d"], kernel: Kernel) -> Frequencies:
    moved = _around(key, omega, X, kernel)
    return weighted(moved, -_log_density(moved, X, kernel))


@partial(jax.jit, static_argnames="kernel")
def _mixture_at_levels(
    levels: Float[Array, " m"], omega: Float[Array, "m d"], X: Float[Array, "n d"], kernel: Kernel
) -> Frequencies:
    shares = jnp.cumsum(jax.nn.softmax(_log_selves(X, kernel)))
    rows = jnp.minimum(jnp.searchsorted(shares, levels, side="right"), len(X) - 1)
    moved = omega + 2 * X[rows]
    return weighted(moved, -_log_density(moved, X, kernel))


@partial(jax.jit, static_argnames=("m", "kernel", "pilot"))
def _two_sets(
    key: PRNGKeyArray, m: int, X: Float[Array, "n d"], Y: Float[Array, "l d"], kernel: Kernel, pilot: int
) -> tuple[Float[Array, "m d"], Float[Array, " m"], Bool[Array, " m"]]:
    def propose(key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        keys = jax.random.split(key, 3)
        omega = jax.random.normal(keys[0], (n, X.shape[1]), X.dtype)
        of_x, of_y = (_around(keys[1], omega, points, kernel) for points in (X, Y))
        return jnp.where(jax.random.bernoulli(keys[2], shape=(n, 1)), of_x, of_y)

    def logs(omega: Float[Array, "n d"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        log_x, log_y = (_log_density(omega, points, kernel) for points in (X, Y))
        log_q = (log_x + log_y) / 2
        return log_q, log_q - jnp.logaddexp(log_x, log_y) + math.log(2)

    keys = jax.random.split(key)
    omega, log_q, done = _rejected(keys[0], propose, logs, m)
    return omega, _log_share(keys[1], propose, logs, pilot) - log_q, done


@partial(jax.jit, static_argnames=("m", "kernel", "pilot"))
def _with_phases(
    key: PRNGKeyArray, m: int, X: Float[Array, "n d"], Y: Float[Array, "l d"] | None, kernel: Kernel, pilot: int
) -> tuple[tuple[Float[Array, "m d"], Float[Array, " m"]], Float[Array, " m"], Bool[Array, " m"]]:
    sets = [X] if Y is None else [X, Y]

    def propose(key: PRNGKeyArray, n: int) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
        keys = jax.random.split(key)
        omega = jax.random.normal(keys[0], (n, X.shape[1]), X.dtype)
        return omega, jax.random.uniform(keys[1], (n,), X.dtype, maxval=2 * math.pi)

    def logs(proposal: tuple[Float[Array, "n d"], Float[Array, " n"]]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        log_q = jnp.asarray(sum(_log_phase_square(*proposal, points, kernel) for points in sets)) / len(sets)
        return log_q, log_q - math.log(2)

    keys = jax.random.split(key)
    proposal, log_q, done = _rejected(keys[0], propose, logs, m)
    log_share = -math.log(2) if Y is None else _log_share(keys[1], propose, logs, pilot)
    return proposal, math.log(2) + log_share - log_q, done


def _rejected(
    key: PRNGKeyArray, propose: Callable[..., Any], logs: Callable[..., Any], m: int
) -> tuple[Any, Float[Array, " m"], Bool[Array, " m"]]:
    """For each of m draws the first proposal accepted, its log q, and whether there was one within ROUNDS."""

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        key, kept, kept_log_q, done, rounds = state
        key, key_proposal, key_accept = jax.random.split(key, 3)
        proposal = propose(key_proposal, m)
        log_q, log_accept = logs(proposal)
        takes = ~done & (jnp.log(jax.random.uniform(key_accept, (m,), log_q.dtype)) < log_accept)

        def keep(new: Float[Array, "m ..."], old: Float[Array, "m ..."]) -> Float[Array, "m ..."]:
            return jnp.where(jnp.reshape(takes, (m,) + (1,) * (new.ndim - 1)), new, old)

        return key, jax.tree.map(keep, proposal, kept), keep(log_q, kept_log_q), done | takes, rounds + 1

    first = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(lambda: propose(key, m)))
    nothing = first, jnp.zeros(m, jax.tree.leaves(first)[0].dtype), jnp.zeros(m, bool)
    of = jax.random.key_data(key), logs(first)
    start = key, *jax.tree.map(lambda x: varying(x, of), nothing), 0
    _, kept, log_q, done, _ = jax.lax.while_loop(lambda state: ~jnp.all(state[3]) & (state[4] < ROUNDS), step, start)
    return kept, log_q, done


def _log_share(key: PRNGKeyArray, propose: Callable[..., Any], logs: Callable[..., Any], pilot: int) -> Float[Array, ""]:
    return logsumexp(logs(propose(key, pilot))[1]) - math.log(pilot)


def _around(
    key: PRNGKeyArray, omega: Float[Array, "m d"], X: Float[Array, "n d"], kernel: Kernel
) -> Float[Array, "m d"]:
    return omega + 2 * X[jax.random.categorical(key, _log_selves(X, kernel), shape=(len(omega),))]


def _log_density(omega: Float[Array, "m d"], X: Float[Array, "n d"], kernel: Kernel) -> Float[Array, " m"]:
    """log of mean phi(x, omega)^2 / mean k(x, x), the density of the mixture around X over p."""
    log_phi = features.log_positive(X, omega, kernel) + math.log(len(omega)) / 2
    return logsumexp(2 * log_phi, axis=0) - logsumexp(_log_selves(X, kernel))


def _log_phase_square(
    omega: Float[Array, "m d"], phases: Float[Array, " m"], X: Float[Array, "n d"], kernel: Kernel
) -> Float[Array, " m"]:
    """log of mean phi(x, omega, theta)^2 / mean k(x, x) for features of random phase."""
    squares = len(omega) * features.trigonometric(X, omega, phases) ** 2
    log_selves = _log_selves(X, kernel)
    return logsumexp(log_selves[:, None], axis=0, b=squares) - logsumexp(log_selves)


def _log_selves(X: Float[Array, "n d"], kernel: Kernel) -> Float[Array, " n"]:
    """log k(x, x) of every point."""
    return jnp.zeros(len(X), X.dtype) if kernel == "gaussian" else jnp.sum(X**2, axis=1)


def _accepted(log_weights: Float[Array, " m"], done: Bool[Array, " m"]) -> Float[Array, " m"]:
    if not checks.is_traced(done) and not jnp.all(done):
        missing = f"{int(jnp.sum(~done))} of {len(done)} frequencies were not accepted in {ROUNDS} proposals each"
        mend = "give nearer sets, or sample_mixture of both together"
        raise ValueError(f"{missing}: X and Y are too far apart for exact draws; {mend}")
    return log_weights


def _set(
    X: Float[ArrayLike, "n d"], name: str, kernel: Kernel, d: int | None = None, exponents: bool = True
) -> Float[Array, "n d"]:
    checks.choice(kernel, "kernel", KERNELS)
    X = checks.points(X, name, n_columns=d, least=1)
    if exponents and not checks.is_traced(X):
        farthest = float(np.abs(np.asarray(X)).max())  # log weights have the size of 4 |x|^2
        if farthest > 0.5 * float(jnp.finfo(X.dtype).eps) ** -0.5:
            got = f"{name} has values up to {farthest:.2g}, whose squares are exponents that {X.dtype} does not resolve"
            raise ValueError(f"{got}; centre and scale it")
    return X
