"""Frequencies from the law that makes the mean variance over a data set least, with their log weights.

For features phi(x, omega), one per frequency, that law has a density proportional to p(omega) q(omega),

::

    q(omega) = (mean over X of phi(x, omega)^2 times mean over Y of phi(y, omega)^2)^(1/2)

and its frequencies have the log weights log C - log q(omega), C = E_p q. For positive features of one set p q
is a mixture of Gaussians around 2 x, one per point, and for Gaussian points a Gaussian: :func:`of_points` and
:func:`of_normal` take frequencies of any coupling and move them, so that couplings and the optimal law go
together. For two sets, and for a random phase, draws come from rejection and are independent
(:func:`of_two_sets`, :func:`of_phases`).

All return :class:`rfcore.couplings.frequencies.Weighted`, which every feature map takes. The laws are optimal
for :func:`rfcore.features.positive` and :func:`rfcore.features.trigonometric`; other maps stay unbiased, but
have other optima. :func:`rfcore.theory.log_optimal_variance_bound` says how low the variance gets.

Source: All Random Features Representations are Equivalent, Theorem 1 (the law); the samplers are ours.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from rfcore import checks, copulas, features, theory
from rfcore.couplings import frequencies

KERNELS = ("gaussian", "softmax")
ROUNDS = 1000


def of_points(key, omega, X, kernel="gaussian", law=None):
    """Optimal frequencies of positive features for pairs of points of one set.

    ::

        omega'_i = omega_i + 2 x,   x drawn from X with probability proportional to k(x, x)

    This is p q / C itself, since phi(x, omega)^2 p(omega) = k(x, x) N(omega; 2 x, I) for both kernels; C is
    the mean of k(x, x). Whatever the draw, the squares of the estimates from one frequency average to C^2
    over all pairs. The weights take O(n m d).

    With a law the points drawn are coupled: the one at level u is the quantile of the law of x in the order
    of the rows of X, so that strata of levels are strata of X if neighbours in it stand in neighbouring rows.

    Raises ValueError where 4 |x|^2, the size of log weights, has an error of 1: from |x| of about 1,400 on in
    float32.

    Args:
        key: JAX PRNG key, of the points drawn.
        omega: frequencies (m, d), rows N(0, I_d), of any coupling: the differences to their points stay
            coupled.
        X, kernel: points (n, d); "gaussian" or "softmax".
        law: copula of the levels of all m points drawn, or its name; None for independent points.

    Source: All Random Features Representations are Equivalent, Corollary 2.
    """
    X = _set(X, "X", kernel)
    omega = checks.points(omega, "omega", n_columns=X.shape[1])
    if law is None:
        return _of_points(key, omega, X, kernel)
    levels = copulas.draw(copulas.named(law, "law"), copulas.uniforms(key), (1, len(omega), 1)).reshape(-1)
    return _at_levels(levels, omega, X, kernel)


def of_two_sets(key, m, X, Y, kernel="gaussian", pilot=4096):
    """Optimal frequencies of positive features for pairs of a point of X and one of Y.

    ::

        propose from (m_X + m_Y) / 2,   accept with probability (m_X m_Y)^(1/2) / ((m_X + m_Y) / 2)

    m_X and m_Y being the mixtures of :func:`of_points`. The share accepted is C / (mean k(x, x) mean
    k(y, y))^(1/2), whose square is what Corollary 1 gives away. C is not known: a pilot estimates it from
    other draws, so that features stay unbiased; their variance rises by the variance of the pilot's mean
    relative to C^2.

    Args:
        key: JAX PRNG key.
        m, pilot: number of frequencies, and of draws of the pilot.
        X, Y, kernel: points (n, d) and (l, d); "gaussian" or "softmax".

    Raises ValueError if the sets are so far apart that a thousand proposals per frequency do not suffice.
    """
    X = _set(X, "X", kernel)
    Y = _set(Y, "Y", kernel, X.shape[1])
    m, pilot = checks.count(m, "m"), checks.count(pilot, "pilot")
    omega, log_weights, done = _of_two_sets(key, m, X, Y, kernel, pilot)
    return frequencies.weighted(omega, _accepted(log_weights, done))


def of_normal(omega, mean_x, covariance_x, mean_y, covariance_y, kernel="gaussian"):
    """Optimal frequencies of positive features for Gaussian points.

    ::

        omega'_i = mean + L omega_i,   L L' = covariance

    with the mean and the covariance of :func:`rfcore.theory.optimal_normal`.

    Args:
        omega: frequencies (m, d), rows N(0, I_d), of any coupling.
        mean_x, covariance_x, mean_y, covariance_y: of the laws of x and of y, shapes (d,) and (d, d).
        kernel: "gaussian" or "softmax".
    """
    law = theory.optimal_normal(mean_x, covariance_x, mean_y, covariance_y, kernel)
    return frequencies.normal(omega, law.mean, jnp.linalg.cholesky(law.covariance))


def of_phases(key, m, X, Y=None, kernel="gaussian", pilot=4096):
    """Optimal frequencies and phases of Fourier features of random phase, for one set or two.

    ::

        propose omega ~ N(0, I), theta ~ U(0, 2 pi)
        accept with probability q(omega, theta) / (2 (mean k(x, x) mean k(y, y))^(1/2))

    Of one set exactly half are accepted, and C is the mean of k(x, x); of two C is estimated as in
    :func:`of_two_sets`.

    Args:
        key: JAX PRNG key.
        m, pilot: number of frequencies; of draws of the pilot, for two sets.
        X, Y, kernel: points (n, d) and (l, d), without Y X again; "gaussian" or "softmax".

    Returns:
        Frequencies, and their phases (m,), as :func:`rfcore.features.trigonometric` takes them.

    Raises ValueError as :func:`of_two_sets` does.
    """
    grows = kernel == "softmax"
    X = _set(X, "X", kernel, exponents=grows)
    Y = None if Y is None else _set(Y, "Y", kernel, X.shape[1], grows)
    m, pilot = checks.count(m, "m"), checks.count(pilot, "pilot")
    (omega, phases), log_weights, done = _of_phases(key, m, X, Y, kernel, pilot)
    return frequencies.weighted(omega, _accepted(log_weights, done)), phases


@partial(jax.jit, static_argnames="kernel")
def _of_points(key, omega, X, kernel):
    moved = _around(key, omega, X, kernel)
    return frequencies.weighted(moved, -_log_density(moved, X, kernel))


@partial(jax.jit, static_argnames="kernel")
def _at_levels(levels, omega, X, kernel):
    shares = jnp.cumsum(jax.nn.softmax(_log_selves(X, kernel)))
    rows = jnp.minimum(jnp.searchsorted(shares, levels, side="right"), len(X) - 1)
    moved = omega + 2 * X[rows]
    return frequencies.weighted(moved, -_log_density(moved, X, kernel))


@partial(jax.jit, static_argnames=("m", "kernel", "pilot"))
def _of_two_sets(key, m, X, Y, kernel, pilot):
    def propose(key, n):
        keys = jax.random.split(key, 3)
        omega = jax.random.normal(keys[0], (n, X.shape[1]), X.dtype)
        of_x, of_y = (_around(keys[1], omega, points, kernel) for points in (X, Y))
        return jnp.where(jax.random.bernoulli(keys[2], shape=(n, 1)), of_x, of_y)

    def logs(omega):
        log_x, log_y = (_log_density(omega, points, kernel) for points in (X, Y))
        log_q = (log_x + log_y) / 2
        return log_q, log_q - jnp.logaddexp(log_x, log_y) + math.log(2)

    keys = jax.random.split(key)
    omega, log_q, done = _rejected(keys[0], propose, logs, m)
    return omega, _log_share(keys[1], propose, logs, pilot) - log_q, done


@partial(jax.jit, static_argnames=("m", "kernel", "pilot"))
def _of_phases(key, m, X, Y, kernel, pilot):
    sets = [X] if Y is None else [X, Y]

    def propose(key, n):
        keys = jax.random.split(key)
        omega = jax.random.normal(keys[0], (n, X.shape[1]), X.dtype)
        return omega, jax.random.uniform(keys[1], (n,), X.dtype, maxval=2 * math.pi)

    def logs(proposal):
        log_q = sum(_log_phase_square(*proposal, points, kernel) for points in sets) / len(sets)
        return log_q, log_q - math.log(2)

    keys = jax.random.split(key)
    proposal, log_q, done = _rejected(keys[0], propose, logs, m)
    log_share = -math.log(2) if Y is None else _log_share(keys[1], propose, logs, pilot)
    return proposal, math.log(2) + log_share - log_q, done


def _rejected(key, propose, logs, m):
    """For m places the first proposal accepted, its log q, and whether there was one in ROUNDS."""

    def step(state):
        key, kept, kept_log_q, done, rounds = state
        key, key_proposal, key_accept = jax.random.split(key, 3)
        proposal = propose(key_proposal, m)
        log_q, log_accept = logs(proposal)
        takes = ~done & (jnp.log(jax.random.uniform(key_accept, (m,), log_q.dtype)) < log_accept)

        def keep(new, old):
            return jnp.where(jnp.reshape(takes, (m,) + (1,) * (new.ndim - 1)), new, old)

        return key, jax.tree.map(keep, proposal, kept), keep(log_q, kept_log_q), done | takes, rounds + 1

    first = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(lambda: propose(key, m)))
    start = key, first, jnp.zeros(m, jax.tree.leaves(first)[0].dtype), jnp.zeros(m, bool), 0
    _, kept, log_q, done, _ = jax.lax.while_loop(lambda state: ~jnp.all(state[3]) & (state[4] < ROUNDS), step, start)
    return kept, log_q, done


def _log_share(key, propose, logs, pilot):
    return logsumexp(logs(propose(key, pilot))[1]) - math.log(pilot)


def _around(key, omega, X, kernel):
    return omega + 2 * X[jax.random.categorical(key, _log_selves(X, kernel), shape=(len(omega),))]


def _log_density(omega, X, kernel):
    """log of mean phi(x, omega)^2 / mean k(x, x): of the density of the mixture around X over p."""
    log_phi = features.log_positive(X, omega, kernel) + math.log(len(omega)) / 2
    return logsumexp(2 * log_phi, axis=0) - logsumexp(_log_selves(X, kernel))


def _log_phase_square(omega, phases, X, kernel):
    """log of mean phi(x, omega, theta)^2 / mean k(x, x) of features of random phase."""
    squares = len(omega) * features.trigonometric(X, omega, phases) ** 2
    log_selves = _log_selves(X, kernel)
    return logsumexp(log_selves[:, None], axis=0, b=squares) - logsumexp(log_selves)


def _log_selves(X, kernel):
    """log k(x, x) of every point."""
    return jnp.zeros(len(X), X.dtype) if kernel == "gaussian" else jnp.sum(X**2, axis=1)


def _accepted(log_weights, done):
    if not checks.is_traced(done) and not jnp.all(done):
        missing = f"{int(jnp.sum(~done))} of {len(done)} frequencies were not accepted in {ROUNDS} proposals each"
        raise ValueError(f"{missing}: X and Y are too far apart for exact draws; give sets that are nearer, or of_points of both together")
    return log_weights


def _set(X, name, kernel, d=None, exponents=True):
    checks.choice(kernel, "kernel", KERNELS)
    X = checks.points(X, name, n_columns=d, least=1)
    if exponents and not checks.is_traced(X):
        farthest = float(np.abs(np.asarray(X)).max())  # log weights have the size of 4 |x|^2
        if farthest > 0.5 * float(jnp.finfo(X.dtype).eps) ** -0.5:
            raise ValueError(f"{name} has values up to {farthest:.2g}, whose squares are exponents that {X.dtype} does not resolve; centre and scale it")
    return X
