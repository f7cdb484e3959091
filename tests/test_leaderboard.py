"""Couplings times maps on one scale: estimates without bias, errors as elsewhere, ratios with intervals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest

from companion import gram_errors
from companion.papers.couplings import leaderboard
from companion.papers.ugrf import eight_graphs, learned_modulations
from rfcore import couplings, features, kernels, solvers
from rfcore.features import neural

KEY = jax.random.key(3)
X = 0.4 * jax.random.normal(jax.random.key(1), (5, 4), dtype=float) + 0.5


@pytest.mark.parametrize("name", leaderboard.MAPS)
def test_every_map_estimates_the_gaussian_kernel_without_bias(name):
    """z of every pair from 300 draws of 64 frequencies; the largest of 25 is below 4.5 but once in 6,000 times."""
    given, estimate = leaderboard.MAPS[name]
    given = given(X)

    @jax.jit
    def gram(key):
        of_omega, of_map = jax.random.split(key)
        phi, psi = estimate(of_map, couplings.simplex(of_omega, 64, 4), *given)
        return phi @ psi.T

    drawn = np.stack([gram(key) for key in jax.random.split(KEY, 300)])
    z = (drawn.mean(0) - np.asarray(kernels.gaussian(X, X))) / (drawn.std(0, ddof=1) / np.sqrt(len(drawn)) + 1e-9)
    assert np.abs(z).max() < 4.5


def test_errors_are_those_of_the_features_one_by_one():
    names, m = ("fourier", "positive_centred", "sderf"), 8
    found = leaderboard.of_points(KEY, X, names, [couplings.orthogonal, leaderboard.simplex_shells], m, 2)
    of_draws, _ = (jax.random.split(one, 2) for one in jax.random.split(KEY))
    exact, x = kernels.gaussian(X, X), X - X.mean(axis=0)
    fit = solvers.exponential.sderf(X, X)
    for r, k in ((0, 0), (1, 1)):
        draw = [couplings.orthogonal, leaderboard.simplex_shells][k]
        omega = draw(of_draws[r], m, 4)
        fourier, positive = features.fourier(X, draw(of_draws[r], m // 2, 4)), features.positive(x, omega)
        phi, psi = (features.exponential(X, omega, fit, side) for side in "xy")
        grams = [fourier @ fourier.T, positive @ positive.T, phi @ psi.T]
        np.testing.assert_allclose(found[r, :, k], [gram_errors.gram_error(g, exact) for g in grams], rtol=1e-4)


def test_under_the_optimal_law_centring_changes_nothing():
    far = X + 2.0
    found = leaderboard.of_points(KEY, far, ("optimal", "optimal_centred", "positive", "positive_centred"), [couplings.iid], 16, 3)
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-3)
    assert np.all(found[:, 2] > 2 * found[:, 3])


def test_a_shell_has_one_norm_and_obtuse_angles():
    omega = leaderboard.simplex_shells(KEY, 4, 4)
    gram = omega @ omega.T
    np.testing.assert_allclose(gram, gram[0, 0] * (np.eye(4) * 4 / 3 - 1 / 3), atol=1e-4)


def test_walkers_estimate_the_kernel_and_systematic_ones_err_less():
    g, beta = eight_graphs.draw("erdos_renyi_small", KEY), 0.39
    target, fs = eight_graphs.target(g, beta), [neural.flat(), lambda k: 0.5**k]
    iid, systematic = (
        leaderboard.of_walks(KEY, g.scaled(beta), target, fs, coupling, 16, 0.5, 20) for coupling in ("iid", "systematic")
    )
    assert iid.shape == (20, 2)
    assert systematic[:, 0].mean() < 0.8 * iid[:, 0].mean()
    loss = leaderboard.loss_of_walks(KEY, g.scaled(beta), target, "iid", 16, 0.5, 20, n_steps=40)
    np.testing.assert_allclose(loss(neural.flat()), np.mean(iid[:, 0] ** 2), rtol=1e-4)  # the same walks
    shared = learned_modulations.loss_of_walks(KEY, g.scaled(beta), target, 16, 0.5, 20)
    assert loss(neural.flat()) < shared(neural.flat())  # no bias on the diagonal


def test_ratios_have_intervals_that_hold_as_often_as_they_say():
    rng, held, n = np.random.default_rng(0), 0, 800
    for _ in range(n):
        plain = rng.gamma(5.0, size=40)
        errors = plain * rng.gamma(10.0, 0.06, size=40)  # a ratio of .6
        mean, low, high = leaderboard.over(errors, plain)
        assert low < mean < high
        held += low < 0.6 < high
    assert 0.925 * n < held < 0.965 * n


def test_of_plain_errors_themselves_the_ratio_is_one_without_doubt():
    plain = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(leaderboard.over(np.stack([plain, plain / 2], axis=1), plain), [[1, 1, 1], [0.5, 0.5, 0.5]])


def test_norms_of_a_shell_are_those_of_normal_frequencies():
    drawn = jnp.stack([leaderboard.simplex_shells(key, 3, 3)[0] for key in jax.random.split(KEY, 400)])
    assert kstest(np.linalg.norm(drawn, axis=1) ** 2, "chi2", args=(3,)).pvalue > 1e-4
