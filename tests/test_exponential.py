"""Exponential and trigonometric features: means and second moments by quadrature, parameters against numerical optimisation."""

from dataclasses import dataclass, replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from rounding import rounding
from scipy import linalg, optimize

from companion.papers.favor import formulas, trigonometric
from rfcore import features, kernels, theory
from rfcore.features import ExponentialParameters, frequencies
from rfcore.features.exponentials import eigenbasis
from rfcore.solvers import exponential

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 2)) @ np.array([[0.5, 0.2], [0.0, 0.3]]) + np.array([0.5, -0.2])
Y = RNG.normal(size=(4, 2)) @ np.array([[0.2, 0.0], [-0.3, 0.6]]) + np.array([-0.1, 0.4])
ROTATION = np.array([[0.8, -0.6], [0.6, 0.8]])
FITS = {"gerf": exponential.gerf, "aderf": exponential.aderf, "sderf": exponential.sderf, "saderf": exponential.saderf}
MAKE = {
    "positive": ExponentialParameters,
    "positive, centred": lambda: ExponentialParameters(centre_x=jnp.array([0.4, -0.1]), centre_y=jnp.array([0.0, 0.3])),
    "dense": lambda: features.dense(np.array([[-0.1, 0.03], [0.03, 0.0]]), np.array([[1.0, 0.3], [-0.2, 0.8]])),
    **{name: partial(fit, X, Y) for name, fit in FITS.items()},
    "gerf, centred": partial(exponential.gerf, X, Y, centred=True),
    "aderf, centred": partial(exponential.aderf, X, Y, centred=True),
}
LAST = ["positive, centred", "dense", "aderf, centred"]


@cache
def made(name):
    """Parameters, made in the worker whose tests ask for them, not wherever the tests are collected."""
    return MAKE[name]()


def nodes(n_phases=1):
    """Gauss-Hermite nodes in the plane as weighted frequencies, and as many phases: sums over them are expectations."""
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    omega = np.stack(np.meshgrid(points, points), axis=-1).reshape(-1, 2)
    shares = np.outer(weights, weights).reshape(-1) / (2 * np.pi)
    omega, shares = (np.repeat(a, n_phases, axis=0) for a in (omega, shares / n_phases))
    phases = np.tile(2 * np.pi * np.arange(n_phases) / n_phases + 0.1, len(omega) // n_phases)
    return jax.jit(frequencies.weighted)(omega, np.log(shares) + np.log(len(shares))), phases


NODES, _ = nodes()
PHASED, PHASES = nodes(5)  # five phases integrate products of four cosines exactly


def moments(phi, psi, omega):
    """Mean and second moment of the product of two features of one frequency."""
    return phi @ psi.T, (phi**2 / shares(omega)) @ (psi**2).T


def shares(omega):
    return np.exp(omega.log_weights) / omega.m


# Sums of some 10^4 terms, of exponents up to 200: the mean of what is rounded. Quadrature itself errs less.
TOLERANCE = rounding(1e5)


@pytest.mark.parametrize(("name", "kernel"), [*((name, "softmax") for name in MAKE), *((name, "gaussian") for name in LAST)])
def test_mean_and_second_moment_of_exponential_features(name, kernel):
    parameters, truth = made(name), np.asarray(getattr(kernels, kernel)(X, Y))
    phi, psi = (np.asarray(features.exponential(x, NODES, parameters, side, kernel)) for x, side in ((X, "x"), (Y, "y")))
    mean, moment = moments(phi, psi, NODES)
    assert np.allclose(mean, truth, rtol=TOLERANCE, atol=0)
    log_moment = np.log(moment / truth**2)
    assert np.allclose(theory.log_relative_moment(X, Y, parameters), log_moment, rtol=0, atol=TOLERANCE)
    assert np.allclose(theory.log_relative_variance(X, Y, parameters), np.log(np.expm1(log_moment)), rtol=0, atol=100 * TOLERANCE)


@pytest.mark.parametrize("name", MAKE)
def test_parameters_filled_are_the_same_parameters(name):
    filled = made(name).filled(2)
    assert [np.shape(a) for a in jax.tree.leaves(filled)] == [(2,), (2, 2), (2, 2), (2,), (2,)]
    omega = np.array([[0.3, -1.2], [2.0, 0.1], [-0.4, -0.7]])
    for side in "xy":
        same = [features.log_exponential(X, omega, p, side) for p in (filled, made(name))]
        assert np.allclose(*same, rtol=0, atol=rounding(1000))


def test_the_conditions_of_theorem_4_1_and_its_variance_as_printed():
    for name, p in ((name, made(name)) for name in MAKE):
        if p.A is None or p.centre_x is not None:
            continue
        matrix = [np.diag(np.broadcast_to(B, 2)) if np.ndim(B) < 2 else np.asarray(B) for B in (p.B_x, p.B_y)]
        C = [np.diag(c) if np.ndim(c) == 1 else np.asarray(c) for c in (p.C_x, p.C_y)]
        inner, outer = np.linalg.inv(np.eye(2) - 8 * np.diag(p.A)), np.linalg.inv(np.eye(2) - 4 * np.diag(p.A))
        assert np.allclose(matrix[0].T @ outer @ matrix[1], np.eye(2), rtol=0, atol=rounding(1000)), name
        for B, c in zip(matrix, C, strict=True):
            assert np.allclose(c, -B.T @ outer @ B / 2, rtol=0, atol=rounding(1000)), name
        D = np.exp(p.log_D)
        assert np.isclose(D, np.linalg.det(np.eye(2) - 4 * np.diag(p.A)) ** 0.25, rtol=rounding(100), atol=0)
        of_x, of_y = (np.einsum("ni,ij,nj->n", x, c + B.T @ inner @ B, x) for x, c, B in zip((X, Y), C, matrix, strict=True))
        log_eq_15 = 4 * np.log(D) + np.log(np.linalg.det(inner)) / 2 + 2 * of_x[:, None] + 2 * of_y
        log_eq_15 = log_eq_15 + 4 * X @ matrix[0].T @ inner @ matrix[1] @ Y.T
        assert np.allclose(formulas.log_second_moment(X, Y, p), log_eq_15, rtol=0, atol=rounding(1e4)), name
        ours = theory.log_relative_moment(X, Y, p) + 2 * X @ Y.T
        assert np.allclose(ours, log_eq_15, rtol=0, atol=rounding(1e4)), name


def test_mean_and_second_moment_of_trigonometric_features_and_the_sign_of_eq_7():
    phi, psi = (np.asarray(features.trigonometric(x, PHASED, PHASES, kernel="softmax")) for x in (X, Y))
    K = np.asarray(kernels.softmax(X, Y))
    mean, moment = moments(phi, psi, PHASED)
    assert np.allclose(mean, K, rtol=0, atol=rounding(1e5, K))
    relative = np.exp(trigonometric.trigonometric_log_relative_variance(X, Y))
    assert np.allclose(moment / K**2 - 1, relative, rtol=0, atol=rounding(1e5, moment / K**2))
    pairs = [np.asarray(features.fourier(x, NODES)).reshape(len(x), 2, -1) for x in (X, Y)]
    estimates = np.einsum("nsi,lsi->nli", *pairs) / shares(NODES)
    K = np.asarray(kernels.gaussian(X, Y))
    relative = np.exp(trigonometric.fourier_log_relative_variance(X, Y))
    assert np.allclose(estimates**2 @ shares(NODES) / K**2 - 1, relative, rtol=0, atol=rounding(1e6))

    plain = np.asarray(PHASED.matrix), PHASES
    printed = np.asarray(formulas.trigonometric(Y, *plain)) * np.exp(PHASED.log_weights / 2)
    assert np.allclose(phi @ printed.T, np.exp(-X @ Y.T), rtol=0, atol=rounding(1e5, phi @ printed.T))


def test_generalised_features_as_printed_have_the_factor_that_two_halves_leave():
    roots = np.exp(NODES.log_weights / 2)
    phi, psi = (np.asarray(formulas.generalised_exponential(x, NODES.matrix, -0.1)) * roots for x in (X, Y))
    left = np.exp(np.sum(X**2, axis=1)[:, None] / 4 + np.sum(Y**2, axis=1) / 4)
    assert np.allclose(phi @ psi.T, left * np.exp(X @ Y.T), rtol=TOLERANCE, atol=0)


def objective(A, T):
    """Eq. 14 by pairs, for A symmetric and features of T x and T^-T y, minus 2 mean x . y."""
    s = (X @ T.T)[:, None] + Y @ np.linalg.inv(T)
    inner = np.linalg.inv(np.eye(2) - 8 * A)
    logs = np.linalg.slogdet(np.eye(2) - 4 * A)[1] + np.linalg.slogdet(inner)[1] / 2
    return logs + np.mean(np.einsum("nli,ij,nlj->nl", s, inner, s))


def an_eighth_minus_a_square(root):
    return (np.eye(2) - root @ root.T) / 8


FAMILIES = {
    "gerf": (lambda t: objective(an_eighth_minus_a_square(np.exp(t[0]) * np.eye(2)), np.eye(2)), 1),
    "saderf": (lambda t: objective(an_eighth_minus_a_square(np.exp(t[0]) * np.eye(2)), np.diag(np.exp(t[1:]))), 3),
    "sderf": (lambda t: objective(an_eighth_minus_a_square(linalg.expm(np.array([[t[0], t[1]], [t[1], t[2]]]))), np.eye(2)), 3),
    "aderf": (
        lambda t: objective(an_eighth_minus_a_square(np.exp(t[0]) * np.eye(2)), np.array([[np.exp(t[1]), 0], [t[2], np.exp(t[3])]])),
        4,
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_closed_forms_are_the_least_of_their_families(name):
    function, n = FAMILIES[name]
    found = optimize.minimize(function, np.zeros(n), method="BFGS", options={"gtol": 1e-7})
    ours = float(theory.shifted_log_variance(X, Y, FITS[name](X, Y))) - 2 * X.mean(axis=0) @ Y.mean(axis=0)
    # A gradient of 1e-7 is 1e-12 from the bottom; numerical ones are off by 1e-8.
    assert abs(ours - found.fun) < 1e-10
    # And by pairs, in O(n l).
    parameters = FITS[name](X, Y)
    pairs = theory.log_relative_moment(X, Y, parameters) + 2 * X @ Y.T
    assert np.isclose(pairs.mean(), theory.shifted_log_variance(X, Y, parameters), rtol=0, atol=rounding(1000))


def test_eqs_16_and_17_as_printed():
    d, means, moments = 2, (X.mean(axis=0), Y.mean(axis=0)), (X.T @ X / len(X), Y.T @ Y / len(Y))
    sigma = linalg.svdvals(linalg.sqrtm(moments[0]) @ linalg.sqrtm(moments[1]))
    p = exponential.aderf(X, Y)
    A, mu = p.A[0], means[0] @ means[1] / d
    eq_16 = d * (np.log(1 - 4 * A) - np.log(1 - 8 * A) / 2 + 2 / (1 - 8 * A) * (sigma.mean() + mu) + 2 * mu)
    assert np.isclose(formulas.aderf_objective(X, Y), eq_16, rtol=0, atol=rounding(1e4))
    assert np.isclose(theory.shifted_log_variance(X, Y, p), eq_16, rtol=0, atol=rounding(1e4))
    p, squares = exponential.sderf(X, Y), sum(np.trace(M) for M in moments)
    eigenvalues = np.linalg.eigvalsh(sum(moments) + np.outer(*means) + np.outer(*means[::-1]))[::-1]
    assert np.allclose(p.A, exponential.best_A(eigenvalues), rtol=0, atol=rounding(100))
    eq_17 = np.sum(np.log(1 - 4 * p.A) - np.log(1 - 8 * p.A) / 2 + (1 + 1 / (1 - 8 * p.A)) * eigenvalues) - squares
    assert np.isclose(formulas.sderf_objective(X, Y), eq_17, rtol=0, atol=rounding(1e4))
    assert np.isclose(theory.shifted_log_variance(X, Y, p), eq_17, rtol=0, atol=rounding(1e4))


def test_best_A_is_lemma_A_1_in_fifty_digits():
    with mpmath.workdps(50):
        phi = [mpmath.mpf(10) ** k for k in range(-30, 31, 5)]
        truth = [(1 - 2 * p - mpmath.sqrt((2 * p + 1) ** 2 + 8 * p)) / 16 for p in phi]
        truth = np.array([float(t) for t in truth])
    found = np.asarray(exponential.best_A(np.array([float(p) for p in phi])))
    assert np.allclose(found, truth, rtol=rounding(20), atol=0)


@pytest.mark.parametrize("fit", FITS.values())
def test_far_points_have_parameters_until_their_squares_overflow(fit):
    """a*(phi) is -phi / 4 there; of one point x = y, far along a diagonal, phi or its mean is |2 x|^2 / 2.

    ADERFs add eps^(1/2) of the mean of two eigenvalues, the larger of which matters.
    """
    for size in (1e10, 1e16):
        far = np.full((1, 2), size, dtype=np.float32)
        assert np.sum(np.asarray(fit(far, far).filled(2).A)) == pytest.approx(-2 * size**2, rel=3.5e-4)
    with pytest.raises(ValueError, match=r"X or Y has values up to 1e\+25, whose squares overflow in float32; give"):
        fit(far * 1e9, far)


def test_special_cases_nest():
    omega = RNG.normal(size=(7, 2))
    plain = np.asarray(features.positive(X, omega))
    assert np.array_equal(features.exponential(X, omega, ExponentialParameters()), plain)
    unit = features.dense(np.zeros(2), np.eye(2))  # A = 0
    opposite = exponential.gerf(X[:1], -X[:1])  # x + y = 0: no variance to lower, A = 0
    for parameters in (unit, opposite):
        for side in "xy":
            assert np.allclose(features.exponential(X, omega, parameters, side), plain, rtol=rounding(100), atol=0)
    # Second moments a multiple of I: SDERF is GERF up to a rotation of the frequencies, which B holds.
    round_x = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    gerf, sderf = exponential.gerf(round_x, 0 * Y), exponential.sderf(round_x, 0 * Y)
    assert np.allclose(sderf.A, gerf.A, rtol=0, atol=rounding(100))
    rotated = omega @ (sderf.B_x / gerf.B_x)
    assert np.allclose(features.exponential(X, omega, sderf), features.exponential(X, rotated, gerf), rtol=rounding(1000), atol=0)
    # Equal second moments: asymmetric features are GERFs, diagonal ones bit by bit, dense ones up to a rotation.
    gerf, saderf, aderf = (fit(X, -X) for fit in (exponential.gerf, exponential.saderf, exponential.aderf))
    assert np.array_equal(features.exponential(X, omega, saderf), features.exponential(X, omega, gerf))
    assert np.allclose(theory.log_relative_moment(X, Y, aderf), theory.log_relative_moment(X, Y, gerf), rtol=0, atol=1e-6)  # the floor


@pytest.mark.parametrize("name", ["aderf", "sderf", "dense"])
def test_rounding_does_not_choose_among_eigenvectors_of_equal_eigenvalues(name):
    """All corners of a cube: four equal eigenvalues, whose vectors LAPACK takes from the last digits."""
    corners = np.stack(np.meshgrid(*4 * [[-1.0, 1.0]]), axis=-1).reshape(-1, 4)
    noise = np.random.default_rng(0).normal(size=(2, *corners.shape))

    def phi(X):
        fitted = features.dense(-X.T @ X / 64, np.eye(4)) if name == "dense" else FITS[name](X, X)
        return features.exponential(corners, np.random.default_rng(1).normal(size=(8, 4)), fitted)

    first, second = (phi(corners * (1 + 1e-15 * of)) for of in noise)
    assert np.allclose(first, second, rtol=1e-6, atol=0)


@pytest.mark.parametrize("name", ["dense", "aderf", "sderf", "aderf, centred"])  # those with an A and a matrix B
def test_exponential_features_are_positive_ones_of_other_points_and_another_gaussian_law(name):
    p, omega = made(name), RNG.normal(size=(7, 2))
    root = np.sqrt(1 - 4 * p.A)
    T, T_inverse = p.B_x / root[:, None], p.B_y / root[:, None]
    centre = 0 if p.centre_x is None else T @ p.centre_x + T_inverse @ p.centre_y
    law = frequencies.weighted_gaussian(omega, np.zeros(2) + centre, np.diag(root))
    phi, psi = features.exponential(X, omega, p, "x", "softmax"), features.exponential(Y, omega, p, "y", "softmax")
    others = features.positive(X @ T.T, law, "softmax"), features.positive(Y @ T_inverse.T, law, "softmax")
    # For every frequency, and every pair.
    products, truth = (np.asarray(a[:, None] * b) for a, b in ((phi, psi), others))
    assert np.allclose(products, truth, rtol=rounding(1e4), atol=0)


@pytest.mark.parametrize("name", FITS)
def test_order_rotation_and_exchange_of_the_points_do_not_matter(name):
    fit, truth = FITS[name], np.asarray(theory.log_relative_moment(X, Y, FITS[name](X, Y)))
    shuffled = fit(X[::-1], Y[[2, 0, 3, 1]])
    assert np.allclose(theory.log_relative_moment(X, Y, shuffled), truth, rtol=0, atol=rounding(1e4))
    exchanged = theory.log_relative_moment(Y, X, fit(Y, X)).T
    assert np.allclose(exchanged, truth, rtol=0, atol=1e-6)  # the floor of the second moments
    Q = ROTATION[:, ::-1] if name != "saderf" else np.eye(2)[::-1]  # coordinates are all that diagonal B know
    turned = theory.log_relative_moment(X @ Q, Y @ Q, fit(X @ Q, Y @ Q))
    assert np.allclose(turned, truth, rtol=0, atol=rounding(1e4))


@pytest.mark.parametrize(("name", "dtype"), [*((name, np.float32) for name in FITS), ("aderf", np.float64)])
def test_sets_that_do_not_vary_in_a_direction(name, dtype):
    zeros, eps = np.zeros((4, 1)), np.finfo(dtype).eps
    both, one = np.concatenate([X[:4], zeros, zeros], axis=1), np.concatenate([Y, zeros, 1 + zeros], axis=1)
    same = np.tile(both[:1], (4, 1)), np.tile(one[:1], (4, 1))
    for x, y in ((both, one), (one, both), same, (0 * both, 0 * one), (0 * both, one)):
        x, y = x.astype(dtype), y.astype(dtype)
        for centred in (False, True):
            p = FITS[name](x, y, centred)
            assert all(leaf.dtype == dtype and np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(p))
            A, B_x, B_y = (np.asarray(a, float) for a in (p.A, p.B_x, p.B_y))
            B_x, B_y = (np.diag(np.broadcast_to(B, 4)) if B.ndim < 2 else B for B in (B_x, B_y))
            # U' L^(-1/2) against U' L^(1/2): eigenvalues L whose ratios the floor keeps below d eps^(-1/2).
            assert np.allclose(B_x.T @ np.diag(1 / (1 - 4 * A)) @ B_y, np.eye(4), rtol=0, atol=50 * eps * (4 / np.sqrt(eps)) ** 0.5)
            # No worse than positive features, which are in every family; what the floor costs is its root.
            far_x, far_y = (z - z.mean(axis=0) if centred else z for z in (x, y))
            u = (far_x @ B_x.T)[:, None] + far_y @ B_y.T
            ours = np.sum(np.log1p(16 * A**2 / (1 - 8 * A)) / 2 + u**2 / ((1 - 4 * A) * (1 - 8 * A)), axis=2)
            assert np.mean(ours) < np.mean(np.sum((far_x[:, None] + far_y) ** 2, axis=2)) + eps**0.25


@pytest.mark.parametrize("x64", [False, True])
def test_centres_free_the_gaussian_kernel_from_translations_and_do_not_round_far_away(x64):
    with jax.enable_x64(x64):
        dtype, far = np.float64 if x64 else np.float32, np.array([300.0, -500.0])
        x, y, far_x, far_y, omega = (a.astype(dtype) for a in (X, Y, X + far, Y + far, RNG.normal(size=(7, 2))))
        p, moved = exponential.sderf(x, y, centred=True), exponential.sderf(far_x, far_y, centred=True)
        # Signs of eigenvectors may differ with the rounding of the points, of size 500.
        signs = np.sign(np.sum(np.asarray(p.B_x) * np.asarray(moved.B_x), axis=1))
        # Each side alone: in float32 a factor of e^258 on one of them would be infinite.
        for near, away, side in ((x, far_x, "x"), (y, far_y, "y")):
            here, there = features.exponential(near, omega, p, side), features.exponential(away, omega * signs, moved, side)
            assert np.allclose(there, here, rtol=1e3 * 500 * np.finfo(dtype).eps, atol=0)


@partial(jax.tree_util.register_dataclass, data_fields=("scale",), meta_fields=())
@dataclass(frozen=True)
class Axes:
    """Frequencies along the axes, without a matrix."""

    scale: float
    m, d, log_weights = 2, 2, None

    def project(self, x, unit=1.0, copies=1):
        return x * self.scale


def test_any_frequencies_do_and_gradients_reach_parameters():
    p, axes = exponential.sderf(X, Y), Axes(0.7)
    assert np.allclose(features.exponential(X, axes, p), features.exponential(X, 0.7 * np.eye(2), p), rtol=rounding(1000), atol=0)

    @jax.jit
    def total(A, x):
        return jnp.sum(features.log_exponential(x, axes, replace(p, A=A)) * jnp.arange(2))

    step = np.array([1e-5, -2e-5])
    differences = (total(p.A + step, X) - total(p.A - step, X)) / 2
    assert np.isclose(jax.grad(total)(p.A, X) @ step, differences, rtol=1e-6)  # of the order of the square of the step


def test_what_a_compiled_function_has_captured_is_checked_like_any_value():
    A, S = jnp.array([[-0.1, 0.0], [0.0, 0.05]]), jnp.eye(2)

    @jax.jit
    def moments(x):
        laws = features.dense(A, S), exponential.from_gaussian(x[0], S), exponential.sderf(x, Y)
        optimal = theory.optimal_gaussian(x[0], S / 4, x[0], S / 4)
        return [theory.log_relative_moment(x, Y, p) for p in laws], exponential.best_A(S), optimal.mean

    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(moments(X)))
    beyond = ExponentialParameters(A=jnp.full(2, 0.2))
    with pytest.raises(ValueError, match="has values of 1/8 or more"):
        jax.jit(lambda x: features.exponential(x, X, beyond))(X)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: features.exponential(X, X, exponential.gerf(np.ones((2, 3)), np.ones((2, 3)))), "parameters.A has shape .*; give"),
        (lambda: features.exponential(X, X, ExponentialParameters(A=np.full(2, 0.2))), r"A = \[0.2 0.2\] has values of 1/8"),
        (lambda: features.exponential(X, X, ExponentialParameters(B_x=2.0)), "parameters has B_x or B_y = None"),
        (lambda: features.dense(np.full(2, 0.13), np.eye(2)), "A = .* has values of 1/8 or more"),
        (lambda: features.dense(np.zeros(2), np.zeros((2, 2))), "B has determinant 0"),
        (lambda: features.dense(np.array([[0.0, 0.1], [0.0, 0.0]]), np.eye(2)), "(?s)A = .* is not symmetric"),
        (lambda: features.trigonometric(X, X, np.zeros(3)), r"phases has shape \(3,\); give shape"),
        (lambda: exponential.gerf(X, Y[:0]), r"Y has shape \(0, 2\); give at least one point"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


def test_a_full_matrix_is_a_diagonal_one_at_rotated_frequencies():
    """Of the features of A = Q diag(a) Q^T at omega: omega^T A omega + omega^T B x, up to what all frequencies share."""
    rng = np.random.default_rng(0)
    A, B, omega, x = 0.03 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    A = A + A.T
    found = features.dense(A, B)
    rotated = omega @ np.asarray(eigenbasis(jnp.asarray(A))[1])
    logs = np.asarray(features.log_exponential(x, rotated, found, "x"))
    exact = np.einsum("md,de,me->m", omega, A, omega) + x @ B.T @ omega.T
    assert np.allclose(np.diff(logs, axis=1), np.diff(exact, axis=1), rtol=0, atol=TOLERANCE)
