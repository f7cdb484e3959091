"""Couplings times maps on one scale: what is left of plain independent features' error, as many of each.

Maps of points estimate the Gaussian kernel from m features: m / 2 frequencies of Fourier features, m of
positive ones, which may be centred, drawn from the optimal law of their points (All Random Features
Representations are Equivalent) or given the shape of their points (SDERF, of FAVOR#). Fits know the points
that are measured, as that law does. On graphs a map is a modulation, and couplings are of walkers; rows and
columns have walks of their own, so that the flat modulation is unbiased on the diagonal too.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import stdtrit

from companion import gram_errors
from rfcore import checks, features, kernels, walks
from rfcore.couplings import compose
from rfcore.features import by_step, weigh
from rfcore.solvers import exponential, importance
from rfcore.walks import losses

__all__ = ["MAPS", "loss_of_walks", "of_points", "of_walks", "over", "simplex_shells"]

_shells = compose("simplex", "comonotone")


def simplex_shells(key, m, d):
    """Simplex directions with one norm per block: each block is a regular simplex on a shell."""
    return _shells(key, m, d)


def _as_is(x):
    return x, None


def _centred(x):
    return x - x.mean(axis=0), None


def _fitted(x, centred=False):
    return x, exponential.sderf(x, x, centred=centred).filled(x.shape[1])


def _fourier(key, omega, x, fit):
    return _symmetric(features.fourier(x, omega))


def _positive(key, omega, x, fit):
    return _symmetric(features.positive(x, omega))


def _optimal(key, omega, x, fit):
    return _symmetric(features.positive(x, importance.sample_mixture(key, omega, x)))


def _sderf(key, omega, x, fit):
    return [features.exponential(x, omega, fit, side) for side in "xy"]


def _symmetric(phi):
    return phi, phi


MAPS = {
    "fourier": (_as_is, _fourier),
    "positive": (_as_is, _positive),
    "positive_centred": (_centred, _positive),
    "optimal": (_as_is, _optimal),
    "optimal_centred": (_centred, _optimal),
    "sderf": (_fitted, _sderf),
    "sderf_centred": (partial(_fitted, centred=True), _sderf),
}
"""Maps of points, each two functions: of x to points and parameters, and of (key, omega, both) to phi and psi."""


def of_points(key, x, maps, couplings, m, n_repeats):
    """Relative errors of Gram matrices of points, (n_repeats, n_maps, n_couplings).

    ::

        |phi psi^T - K|_F / |K|_F,   K the Gaussian kernel of x

    All maps of m frequencies share them, and couplings that share rotations do so too.

    Args:
        key: JAX PRNG key.
        x: points (n, d).
        maps: names in :data:`MAPS`.
        couplings: functions ``(key, m, d) -> (m, d)``.
        m: number of features, even.
        n_repeats: number of repeats.
    """
    x = checks.points(x, "x", least=1)
    maps = list(maps)
    draws = list(couplings.values()) if isinstance(couplings, dict) else list(couplings)
    if m % 2:
        raise ValueError(f"m = {m}; give an even number, of pairs of sine and cosine")
    of_draws, of_maps = (jax.random.split(one, n_repeats) for one in jax.random.split(key))
    exact, found = kernels.gaussian(x, x), np.empty((n_repeats, len(maps), len(draws)))
    given = {name: MAPS[name][0](x) for name in maps}
    for k, draw in enumerate(draws):
        omegas = _drawn(of_draws, draw, m, x.shape[1])
        for i, name in enumerate(maps):
            drawn = _drawn(of_draws, draw, m // 2, x.shape[1]) if name == "fourier" else omegas
            found[:, i, k] = _errors(of_maps, drawn, *given[name], exact, MAPS[name][1])
    return found


@partial(jax.jit, static_argnums=(1, 2, 3))
def _drawn(keys, draw, m, d):
    return jax.lax.map(lambda key: draw(key, m, d), keys)


@partial(jax.jit, static_argnums=5)
def _errors(keys, omegas, x, fit, exact, estimate):
    def one(drawn):
        phi, psi = estimate(*drawn, x, fit)
        return jnp.sqrt(jnp.sum((phi @ psi.T - exact) ** 2) / jnp.sum(exact**2))

    return jax.lax.map(one, (keys, omegas))


def of_walks(key, g, target, modulations, coupling, n_walks, p_halt, n_repeats):
    """Relative errors of Gram matrices of nodes, (n_repeats, n_modulations), all from the same walks.

    ::

        |phi psi^T - K|_F / |K|_F,   phi, psi two independent sets of walks

    Args:
        key: JAX PRNG key.
        g: graph.
        target: K, (N, N).
        modulations: functions of an integer array.
        coupling: of the walks of a node, as :func:`rfcore.walks.lengths.draw` takes it.
        n_walks, p_halt, n_repeats: walks per node, probability of stopping before each hop, repeats.
    """
    target = np.asarray(losses.gram(target, "target", g.n_nodes))
    fs = list(modulations)
    sides = _two_sets(key, g, n_walks, p_halt, coupling, n_repeats)
    pairs = ([weigh(deposits, f) for deposits in sides] for f in fs)
    return np.stack([gram_errors.gram_error(tuple(pair), target) for pair in pairs], axis=1)


def loss_of_walks(key, g, target, coupling, n_walks, p_halt, n_repeats, n_steps=10):
    """Mean squared relative error of such Gram matrices as a function of the modulation, to learn one by.

    Args:
        key, g, target, coupling, n_walks, p_halt, n_repeats: as for :func:`of_walks`; a small graph.
        n_steps: steps counted.

    Returns:
        :class:`rfcore.walks.losses.Form`.
    """
    target = losses.gram(target, "target", g.n_nodes)
    left, right = (by_step(deposits) for deposits in _two_sets(key, g, n_walks, p_halt, coupling, n_repeats))
    return losses.form(left, right, target, n_steps)


def _two_sets(key, g, n_walks, p_halt, coupling, n_repeats):
    nodes = np.tile(np.arange(g.n_nodes), n_repeats)

    def walked(key):
        of_lengths, of_hops = jax.random.split(key)
        lengths = walks.lengths.draw(of_lengths, len(nodes), n_walks, p_halt, coupling)
        return walks.simulate(of_hops, g, lengths, nodes=nodes)

    return [walked(one) for one in jax.random.split(key)]


def over(errors, plain, confidence=0.95):
    """Mean errors over the mean of plain ones, with the ends of an interval, (..., 3).

    ::

        r = mean e / mean b,   r +- t sd(e - r b) / (sqrt(n) mean b)

    Student's t with n - 1 degrees of freedom: repeats are paired.

    Args:
        errors, plain: (n_repeats, ...) and (n_repeats,), of the same repeats; at least two.
        confidence: chance that an interval holds its ratio.

    Source: Fieller's theorem (1954), to first order.

    >>> import numpy as np
    >>> from companion.papers.couplings import leaderboard
    >>> leaderboard.over(np.array([0.4, 0.6, 0.5]), np.array([1.0, 1.0, 1.0])).round(2)
    array([0.5 , 0.25, 0.75])
    """
    errors = np.asarray(checks.numbers(errors, "errors"))
    plain = np.asarray(checks.vector(plain, "plain"))
    if errors.shape[:1] != plain.shape or len(plain) < 2:
        got = f"errors has shape {errors.shape}, plain {plain.shape}"
        raise ValueError(f"{got}; give as many repeats of both along axis 0, at least two")
    n, aside = len(plain), plain.reshape(-1, *[1] * (errors.ndim - 1))
    if not plain.mean() > 0:
        raise ValueError(f"plain has mean {plain.mean()}; give errors whose mean is positive")
    ratio = errors.mean(axis=0) / plain.mean()
    se = (errors - ratio * aside).std(axis=0, ddof=1) / np.sqrt(n) / plain.mean()
    reach = stdtrit(n - 1, (1 + confidence) / 2) * se
    return np.stack([ratio, ratio - reach, ratio + reach], axis=-1)
