"""Optimal laws of frequencies: the identity that holds for every draw, normalised weights, optima against quadrature."""

from functools import cache

import jax
import numpy as np
import pytest
from rounding import rounding
from scipy import optimize, stats
from scipy.special import logsumexp

from companion.papers.equivalence import joint_sampling
from companion.papers.favor import trigonometric
from rfcore import couplings, features, kernels, theory
from rfcore.solvers import exponential, importance

KEY = jax.random.key(5)
X, Y = np.random.default_rng(0).normal(size=(2, 5, 2)) * 0.6
Y = Y[:3] + np.array([0.5, 0.0])
M = 20_000


def selves(points, kernel):
    return np.mean(np.diag(getattr(kernels, kernel)(points, points)))


@cache
def draw(case, kernel):
    """Features of X and of Y (of X again for one set) from M frequencies, and the log weights of these."""
    feature = features.positive if case in ("one", "two") else features.trigonometric
    if case == "one":
        omega = importance.sample_mixture(KEY, couplings.iid(jax.random.key(1), M, 2), X, kernel)
        drawn = (omega,)
    elif case == "two":
        drawn = (importance.sample_two_sets(KEY, M, X, Y, kernel),)
    else:
        drawn = importance.sample_with_phases(KEY, M, X, None if case == "phases" else Y, kernel)
    phi = np.asarray(feature(X, *drawn, kernel))
    return phi, phi if case in ("one", "phases") else np.asarray(feature(Y, *drawn, kernel)), np.asarray(drawn[0].log_weights)


CASES = [("one", "softmax"), ("one", "gaussian"), ("two", "softmax"), ("phases", "softmax"), ("phases of two", "gaussian")]


@pytest.mark.parametrize(("case", "kernel"), CASES)
def test_every_draw_has_the_same_mean_square_over_all_pairs(case, kernel):
    phi, psi, _ = draw(case, kernel)
    roots = np.sqrt(np.mean(phi**2, axis=0) * np.mean(psi**2, axis=0)) * M
    # Exponents of frequencies up to 10, and their sums; where cosines are small, their squares.
    assert np.allclose(roots, roots[0], rtol=rounding(1e6), atol=0)
    if psi is phi:
        assert np.isclose(roots[0], selves(X, kernel), rtol=rounding(1e4), atol=0)  # Corollary 2
    else:
        assert roots[0] ** 2 < selves(X, kernel) * selves(Y, kernel)  # Corollary 1: sets that differ


@pytest.mark.parametrize(("case", "kernel"), CASES)
def test_weights_are_normalised_and_estimates_unbiased(case, kernel):
    phi, psi, log_weights = draw(case, kernel)
    # 60 numbers; beyond 6 standard errors falls fewer than one in 10^7. For two sets C has the error of its pilot of 4096,
    # of numbers between 0 and 1 with a mean above a third.
    weights, error = np.exp(log_weights), 0 if psi is phi else 3 / (2 * np.sqrt(4096))
    assert abs(weights.mean() - 1) < 6 * np.hypot(weights.std() / np.sqrt(M), error)
    products = M * phi[:, None] * psi
    truth = np.asarray(getattr(kernels, kernel)(X, X if psi is phi else Y))
    assert np.all(np.abs(products.mean(axis=2) - truth) < 6 * np.hypot(products.std(axis=2) / np.sqrt(M), error * truth))


def test_positive_and_trigonometric_features_have_one_optimal_variance_and_it_is_the_bound():
    truth = np.asarray(kernels.softmax(X, X))
    bound = np.exp(theory.log_optimal_variance_bound(X, X, "softmax"))
    assert np.isclose(bound, selves(X, "softmax") ** 2 - np.mean(truth**2), rtol=rounding(1000), atol=0)
    for case in ("one", "phases"):
        phi, psi, _ = draw(case, "softmax")
        moment = np.mean((M * phi[:, None] * psi) ** 2)  # over draws and pairs: without noise, by the identity
        assert np.isclose(moment - np.mean(truth**2), bound, rtol=rounding(1e6), atol=0)
    far = theory.log_optimal_variance_bound(40 * X, 40 * Y, "softmax")
    assert far > 1000 and np.isfinite(far)


MEANS, COVARIANCES = (np.array([0.3]), np.array([-0.2])), (np.array([[0.1]]), np.array([[0.3]]))
GRID, STEP = np.linspace(-14, 14, 4001), 28 / 4000


def log_moments(kernel):
    """log E phi(x, omega)^2 on a grid of omega, for both laws of x, by quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    found = []
    for mean, covariance in zip(MEANS, COVARIANCES, strict=True):
        x = mean[0] + np.sqrt(covariance[0, 0]) * points
        squares = 2 * np.outer(GRID, x) - (1 if kernel == "softmax" else 2) * x**2
        found.append(logsumexp(squares, b=weights / weights.sum(), axis=1))
    return found


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_the_optimal_gaussian_law_of_gaussian_points(kernel):
    law = theory.optimal_gaussian(MEANS[0], COVARIANCES[0], MEANS[1], COVARIANCES[1], kernel)
    log_p = stats.norm.logpdf(GRID)
    log_pq = log_p + sum(log_moments(kernel)) / 2
    log_density = stats.norm.logpdf(GRID, law.mean[0], np.sqrt(law.covariance[0, 0]))
    near = log_density > -30
    assert np.allclose((log_pq - log_density)[near], law.log_constant, rtol=0, atol=1e-9)  # quadrature
    # The least second moment over all Gaussian laws, by numerical minimisation.

    def log_moment(t):
        return np.log(np.sum(np.exp(2 * log_pq - stats.norm.logpdf(GRID, t[0], np.exp(t[1])))) * STEP)

    least = optimize.minimize(log_moment, [0.1, 0.1], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
    assert np.isclose(least.fun, 2 * law.log_constant, rtol=0, atol=1e-9)
    assert np.allclose([least.x[0], np.exp(2 * least.x[1])], [law.mean[0], law.covariance[0, 0]], rtol=0, atol=1e-4)

    points, weights = np.polynomial.hermite_e.hermegauss(80)
    x, y = (m[0] + np.sqrt(c[0, 0]) * points for m, c in zip(MEANS, COVARIANCES, strict=True))
    shares = np.outer(weights, weights) / weights.sum() ** 2
    K = np.asarray(getattr(kernels, kernel)(x[:, None], y[:, None]))
    alone = [np.sum(weights / weights.sum() * np.diag(getattr(kernels, kernel)(z[:, None], z[:, None]))) for z in (x, y)]
    pairs = np.sum(shares * K**2)
    assert np.isclose(np.exp(law.log_variance), np.exp(2 * law.log_constant) - pairs, rtol=1e-9)
    assert np.isclose(np.exp(law.log_bound), np.prod(alone) - pairs, rtol=1e-9)
    assert law.log_variance < law.log_bound


def test_equal_laws_attain_the_bound_in_every_dimension():
    mean, covariance = np.array([0.3, -0.2]), np.array([[0.2, 0.05], [0.05, 0.1]])
    law = theory.optimal_gaussian(mean, covariance, mean, covariance, "softmax")
    assert np.isclose(law.log_variance, law.log_bound, rtol=0, atol=rounding(1e4))
    # E exp(|x|^2).
    rest = np.eye(2) - 2 * covariance
    log_selves = -np.linalg.slogdet(rest)[1] / 2 + mean @ np.linalg.solve(rest, mean)
    assert np.isclose(law.log_constant, log_selves, rtol=0, atol=rounding(100))
    assert np.allclose(law.mean, 2 * np.linalg.solve(rest, mean), rtol=0, atol=rounding(100))


def test_features_of_a_gaussian_law_are_exponential_features():
    """For every frequency and pair; without a mean and for one law the A of the optimal one is -S (I - 2 S)^-1."""
    S, omega = np.array([[0.2, 0.05], [0.05, 0.1]]), np.asarray(couplings.iid(KEY, 6, 2))
    law = theory.optimal_gaussian(np.array([0.3, -0.2]), S, np.zeros(2), S, "softmax")
    parameters = exponential.from_gaussian(law.mean, law.covariance)
    values = np.linalg.eigvalsh(S)
    assert np.allclose(parameters.A, -values / (1 - 2 * values), rtol=0, atol=rounding(1000))
    # Its frequencies are B' omega; the Cholesky factor is another root of the same covariance.
    moved = omega @ np.linalg.cholesky(law.covariance).T @ np.linalg.inv(parameters.B_x)
    phi, psi = (np.asarray(features.exponential(x, moved, parameters, side)) for x, side in ((X, "x"), (Y, "y")))
    weighted = features.frequencies.weighted_gaussian(omega, law.mean, np.linalg.cholesky(law.covariance))
    truth = [np.asarray(features.positive(x, weighted)) for x in (X, Y)]
    assert np.allclose(phi[:, None] * psi, truth[0][:, None] * truth[1], rtol=rounding(1e4), atol=0)


def test_couplings_keep_their_differences_to_the_points_drawn():
    omega = couplings.antithetic(couplings.iid(KEY, 3, 2))
    moved = importance.sample_mixture(KEY, omega, X[:1])
    assert np.allclose(moved.matrix - 2 * X[0], omega, rtol=0, atol=rounding(10, omega))


def test_sets_that_no_draw_reaches_are_refused():
    with pytest.raises(ValueError, match="X and Y are too far apart"):
        importance.sample_two_sets(KEY, 1, np.zeros((1, 2)), np.full((1, 2), 20.0), pilot=1)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: importance.sample_mixture(KEY, np.ones((3, 4)), X), "omega has shape .*; its points must have 2 coordinates"),
        (lambda: importance.sample_with_phases(KEY, 3, X[:0]), r"X has shape \(0, 2\); give at least one point"),
        (lambda: theory.optimal_gaussian(np.zeros(1), [[0.6]], np.zeros(1), [[0.1]], "softmax"), "covariance_x = .* below 1/2"),
        (lambda: exponential.from_gaussian(np.zeros(1), [[0.4]]), "covariance = .* above 1/2"),
        (lambda: theory.optimal_gaussian(np.zeros(1), [[-0.1]], np.zeros(1), [[0.1]]), "covariance_x = .* eigenvalue"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_what_another_gaussian_law_costs_by_quadrature(kernel):
    law = theory.optimal_gaussian(MEANS[0], COVARIANCES[0], MEANS[1], COVARIANCES[1], kernel)
    log_pq = stats.norm.logpdf(GRID) + sum(log_moments(kernel)) / 2
    width = law.covariance[0, 0]
    for mean, variance in ((0.2, 0.8 * width), (-0.4, 1.4 * width), (law.mean[0], width)):
        moment = np.sum(np.exp(2 * log_pq - stats.norm.logpdf(GRID, mean, np.sqrt(variance)))) * STEP
        cost = theory.log_sampling_cost(law, np.array([mean]), np.array([[variance]]))
        assert np.isclose(cost, np.log(moment) - 2 * law.log_constant, rtol=0, atol=1e-9)  # quadrature
    assert abs(cost) < rounding(100)  # the law itself
    assert theory.log_sampling_cost(law, law.mean, law.covariance / 2) == np.inf
    assert theory.log_sampling_cost(law, law.mean, law.covariance * 0.51) < 10


def test_levels_of_the_points_drawn_have_the_law_that_independent_draws_have():
    omega = couplings.iid(KEY, 4 * M, 2)
    points = X[np.argsort(X[:, 0])]
    both = [importance.sample_mixture(KEY, omega, points, "softmax", copula=copula) for copula in (None, "stratified")]
    selves = np.exp(np.sum(points**2, axis=1))
    for weighted, tolerance in zip(both, (6 * 0.5 / np.sqrt(4 * M), 1 / (4 * M)), strict=True):
        moves = np.asarray(weighted.matrix - omega)
        shares = np.mean(np.linalg.norm(moves[:, None] - 2 * points, axis=2) < 1e-9, axis=0)
        # Independent: six standard errors. Strata: all but the two at the ends of a share lie inside or outside of it.
        assert np.allclose(shares, selves / selves.sum(), rtol=0, atol=2 * tolerance)
        phi = np.asarray(features.positive(points, weighted, "softmax"))
        assert np.isclose(np.mean(phi**2, axis=0)[0] * 4 * M, selves.mean(), rtol=rounding(1e4), atol=0)


def test_overlaps_are_those_of_features_on_many_points():
    S, omega = np.array([[0.2, 0.05], [0.05, 0.1]]), np.asarray(couplings.simplex(KEY, 4, 2))
    nodes, shares = np.polynomial.hermite_e.hermegauss(60)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    mean = np.array([0.3, -0.2])
    x, shares = (
        mean + grid @ np.linalg.cholesky(S).T,
        np.outer(shares, shares).reshape(-1) / shares.sum() ** 2,
    )
    for kernel in ("gaussian", "softmax"):
        law = theory.optimal_gaussian(mean, S, mean, S, kernel)
        drawn = features.frequencies.weighted_gaussian(omega, law.mean, np.linalg.cholesky(law.covariance))
        phi = np.asarray(features.positive(x, drawn, kernel))
        products = phi.T @ (shares[:, None] * phi)
        squares = np.diag(products)
        overlaps = joint_sampling.optimal_overlaps(omega, S, kernel)
        assert np.allclose(
            products**2 / np.outer(squares, squares), overlaps, rtol=0, atol=1e-9
        )  # quadrature
        # All squares are C / m: the identity.
        assert np.allclose(len(omega) * squares, np.exp(law.log_constant), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_mean_overlaps_of_a_block(kernel):
    s, d, n = 0.2, 4, 4000
    for name in ("iid", "orthogonal"):
        keys = jax.random.split(KEY, n)
        overlaps = jax.vmap(
            lambda key, name=name: joint_sampling.optimal_overlaps(
                getattr(couplings, name)(key, d, d), s * np.eye(d), kernel
            )
        )(keys)
        means = (np.asarray(overlaps).sum(axis=(1, 2)) - d) / d / (d - 1)
        assert abs(means.mean() - joint_sampling.mean_overlap(s, d, name, kernel)) < 6 * means.std() / np.sqrt(n)
    law = theory.optimal_gaussian(np.zeros(d), s * np.eye(d), np.zeros(d), s * np.eye(d), kernel)
    share = -np.expm1(law.log_variance - 2 * law.log_constant)
    assert np.isclose(joint_sampling.mean_overlap(s, d, "iid", kernel), share, rtol=0, atol=rounding(1e4))


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_no_unbiased_estimate_of_low_rank_goes_below_the_floor(kernel):
    points = 2 * X
    K = np.asarray(getattr(kernels, kernel)(points, points))
    floors = [np.exp(joint_sampling.log_joint_variance_floor(points, m, kernel)) for m in (1, 2, 5)]
    assert np.allclose(
        floors[:2],
        [np.trace(K) ** 2 / m / K.size - np.mean(K**2) for m in (1, 2)],
        rtol=rounding(1e4),
        atol=0,
    )
    assert floors[2] == 0
    assert np.isclose(
        floors[0],
        np.exp(theory.log_optimal_variance_bound(points, points, kernel)),
        rtol=rounding(1e4),
        atol=0,
    )
    assert 0 < floors[1] < floors[0] / 2  # of two independent ones


def test_the_floor_is_reached_by_columns_drawn_without_replacement():
    points = 40 * np.arange(5.0)[:, None]  # K = I
    drawn = [5 / 2 * (np.diag(np.eye(5)[i]) + np.diag(np.eye(5)[j])) for i in range(5) for j in range(i)]
    assert np.allclose(np.mean(drawn, axis=0), np.eye(5))
    error = np.mean((np.array(drawn) - np.eye(5)) ** 2)
    assert np.isclose(np.exp(joint_sampling.log_joint_variance_floor(points, 2)), error, rtol=rounding(1000), atol=0)


def test_the_least_variance_of_random_phases_for_one_pair():
    distances = np.array([0.25, 1.0, 3.0])
    found = np.asarray(trigonometric.trigonometric_least_variance(np.zeros((1, 1)), distances[:, None]))[0]
    grid = np.linspace(0, 2 * np.pi, 20_001)[:-1]
    nodes, shares = np.polynomial.hermite_e.hermegauss(180)
    for z, variance in zip(distances, found, strict=True):
        folded = [np.mean(np.abs(2 * np.cos(delta + grid) * np.cos(grid))) for delta in z * nodes]
        constant = shares @ folded / shares.sum()
        assert np.isclose(
            variance, constant**2 - np.exp(-(z**2)), rtol=0, atol=2e-4
        )  # kinks of the cosine under few nodes
    assert abs(trigonometric.trigonometric_least_variance(X[:1], X[:1])[0, 0]) < 1e-9
    assert np.isclose(
        trigonometric.trigonometric_least_variance(np.zeros((1, 1)), np.full((1, 1), 40.0))[0, 0],
        (8 / np.pi**2) ** 2,
    )
