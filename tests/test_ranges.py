"""Numbers at the ends of the floats, of distances and of dimensions: right, or refused in words, in float32 too."""

import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import ratio_of
from rounding import rounding

from companion.papers.couplings import costs
from rfcore import attention, copulas, couplings, features, kernels, solvers, theory
from rfcore.couplings import weight_dependent
from rfcore.theory import norm_costs, stratified_norms

F32 = np.float32
RNG = np.random.default_rng(0)


def apart(r, dtype=np.float64):
    return np.array([[r, 0.0]], dtype), np.zeros((1, 2), dtype)


@pytest.mark.parametrize("dtype, far", [(np.float64, 1e200), (np.float64, 1e307), (F32, 1e20), (F32, 3e37)])
@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0, 1.5, 2.5, 30.0])
def test_matern_of_points_whose_squares_overflow_is_zero_and_flat(nu, dtype, far):
    x, y = apart(far, dtype)
    assert kernels.matern(x, y, nu) == 0
    if nu in (0.5, 1.5, 2.5):
        assert not np.any(jax.grad(lambda x: kernels.matern(x, y, nu)[0, 0])(jnp.asarray(x)))


@pytest.mark.parametrize("dtype, near", [(np.float64, 1e-200), (F32, 1e-30), (F32, 1e-20)])
def test_a_rough_matern_kernel_tells_points_whose_squares_underflow(dtype, near):
    x, y = apart(near, dtype)
    nu, z = mpmath.mpf("0.01"), mpmath.sqrt(0.02) * float(x[0, 0])
    true = mpmath.mpf(2) ** (1 - nu) / mpmath.gamma(nu) * z**nu * mpmath.besselk(nu, z)
    assert abs(kernels.matern(x, y, 0.01)[0, 0] - float(true)) < 1e-6
    assert kernels.matern(x, x, 0.01) == 1
    assert all(kernels.matern(x, y, nu) == 1 for nu in (1.0, 2.0, 3.0, 30.0))


@pytest.mark.parametrize("coupling, limit", [("iid", 1.0), ("orthogonal", 1 - 3 / 6)])
@pytest.mark.parametrize("z", [F32(1e-10), F32(1e-19), 1e-80, 1e-154, 1e-300])
def test_error_ratio_of_fourier_features_of_close_points_is_its_limit(z, coupling, limit):
    with jax.enable_x64(not isinstance(z, F32)):
        assert abs(ratio_of.fourier(z, 4, 4, coupling) - limit) < 1e-6


def test_gap_of_positive_features_is_finite_where_their_error_overflows():
    # x = y: e^(-v^2) (e^(v^2) - rho(v)), less than 1
    x = np.full(3, 14 / math.sqrt(3), F32)
    square, d = 4 * mpmath.mpf(float(np.sum(x.astype(float) ** 2))), 3
    true = (d - 1) / d * (1 - mpmath.exp(-square) * mpmath.hyp1f1(d, mpmath.mpf(d) / 2, square / 2))
    with jax.enable_x64(False):
        assert abs(theory.positive_gap(x, x, d) - float(true)) < 1e-3
        with pytest.raises(ValueError, match=r"x \. y = .*overflows"):
            theory.positive_mse(x, x, d, "orthogonal")


def independent_ratio(z, d):
    """Of two orthogonal frequencies with independent norms, Fourier features."""
    square = mpmath.mpf(z) ** 2
    with mpmath.workdps(60):
        rho = mpmath.hyp1f1(d, mpmath.mpf(d) / 2, -square / 2)
        return float(1 + 2 * (rho - mpmath.exp(-square)) / (1 - mpmath.exp(-square)) ** 2)


@pytest.mark.parametrize("d", [4097, 10**5, 10**6, 10**7])
def test_costs_of_norms_in_many_dimensions(d):
    # Terms of cos y - 1 + y^2 / 2 have up to z^2, and a norm near sqrt(d) the rounding of SciPy's quantile of its square.
    for z in (0.5, 3.0, 5.0):
        assert abs(ratio_of.norms(z, d, 2, "independent", "fourier") - independent_ratio(z, d)) < rounding(20 * d**0.5, 1 + z**2)


@pytest.mark.parametrize("distance", [5e-324, 1e-200, 1e-80, 1e-30])
@pytest.mark.parametrize("law, limit", [("independent", 3 / 6), ("comonotone", 1.0)])
def test_error_ratio_of_coupled_norms_of_close_points_is_its_limit(distance, law, limit):
    assert abs(ratio_of.norms(distance, 4, 4, law, "fourier") - limit) < 1e-11
    assert abs(ratio_of.norms(distance, 4, 4, law, "positive") - 1) < 1e-11


@pytest.mark.parametrize("features", ["fourier", "positive"])
def test_excess_of_close_norms_falls_with_the_fourth_power_of_the_distance(features):
    near, nearer = (norm_costs.log_pair_excess([-1.0, 0.3], z, 4, features) for z in (1e-7, 1e-200))
    np.testing.assert_allclose(near - nearer, 4 * 193 * math.log(10), rtol=1e-12)


def test_log_excess_of_norms_whose_fourth_power_underflows():
    with jax.enable_x64(False):
        log = costs.log_positive_cost(np.array([1e-12, 0.0], F32), 1.0, 3, excess=True)
    # t^4 E[u^4] / 24, E[u^4] = 3 / (d (d + 2))
    assert abs(log - (4 * math.log(1e-12) + math.log(3 / 15 / 24))) < 1e-4


@pytest.mark.parametrize("d", [2, 5, 64])
@pytest.mark.parametrize("distance", [1e-300, 1e-12, 1e-5, 1e-3])
def test_strata_within_blocks_of_close_points(d, distance):
    """Two programs for the number of one block: by powers of norms, and by costs of pairs."""
    of_powers = ratio_of.strata(distance, d, d, "fourier", "all")
    assert abs(of_powers - ratio_of.norms(distance, d, d, "stratified", "fourier")) < 1e-9


@pytest.mark.parametrize("features", ["fourier", "positive", "cosh"])
@pytest.mark.parametrize("distance", [0.5, 2.0, 3.0])
def test_what_stratified_norms_save_of_two_frequencies_falls_as_the_inverse_of_the_dimension(distance, features):
    saved = [d * (1 - ratio_of.strata(distance, d, 2, features, "all")) for d in (10**5, 10**6)]
    assert saved[0] > 0
    assert abs(saved[1] / saved[0] - 1) < 1e-3


def test_errors_of_one_frequency_are_refused_where_they_overflow():
    assert theory.one_frequency_mse(1e200, "fourier") == 0.5
    for kind in ("positive", "cosh"):
        with pytest.raises(ValueError, match="overflows"):
            theory.one_frequency_mse(27.0, kind)


@pytest.mark.parametrize("v, dtype", [(1e-200, np.float64), (1e-8, np.float64), (1e-4, F32)])
def test_cosh_ratio_refuses_differences_that_rounding_took(v, dtype):
    with pytest.raises(ValueError, match="rounding"):
        stratified_norms.cosh_ratio(jnp.ones(2, dtype), v)


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
@pytest.mark.parametrize("size", [1e-20, 1e-10, 1e-3, 1.0, 1e10])
def test_bound_of_the_least_variance_keeps_its_digits(size, kernel):
    x = size * np.eye(2)
    # half of the pairs differ: k(x, x) k(y, y) (1 - exp(-2 size^2)) / 2
    log = np.log(-np.expm1(-2 * size**2) / 2) + (2 * size**2 if kernel == "softmax" else 0)
    assert abs(theory.log_optimal_variance_bound(x, x, kernel) - log) < rounding(20, log)


def test_optimal_law_of_wide_points():
    wide = np.full((1, 1), 1e10)
    law = theory.optimal_gaussian(np.zeros(1), wide, np.zeros(1), wide)
    assert abs(law.log_bound - np.log1p(-1 / math.sqrt(1 + 4e10))) < 1e-9
    with jax.enable_x64(False):
        wide = wide.astype(F32)
        law = theory.optimal_gaussian(np.zeros(1, F32), wide, np.zeros(1, F32), wide)
        assert abs(law.log_bound) < 1e-4  # rounding of 1
        with pytest.raises(ValueError, match="overflow"):
            theory.optimal_gaussian(np.zeros(1, F32), 1e28 * wide, np.zeros(1, F32), 1e28 * wide)


@pytest.mark.parametrize("factor", [[[1e-200, 0], [0, 1]], [[1e200, 0], [0, 1]], [[0, 0], [0, 1]]])
def test_factors_that_cannot_be_normalised_are_refused(factor):
    with pytest.raises(ValueError, match="factor has rows"):
        copulas.gaussian_of_factor(np.array(factor, float))


@pytest.mark.parametrize("name", ["stratified", "systematic"])
def test_millions_of_strata_in_float32_have_a_draw_each(name):
    with jax.enable_x64(False):
        m = 2**22
        u = np.asarray(copulas.COPULAS[name](copulas.uniforms(jax.random.key(0)), (1, m, 1)), float)
        assert len(np.unique(np.floor(m * u))) == m


def test_samplers_refuse_points_whose_log_weights_have_no_digits():
    x, omega = np.array([[1500.0, 0.0]], F32), np.zeros((2, 2), F32)
    samplers = {
        "of_points": lambda x, kernel: solvers.importance.sample_mixture(jax.random.key(0), omega, x, kernel),
        "of_phases": lambda x, kernel: solvers.importance.sample_with_phases(jax.random.key(0), 2, x, kernel=kernel),
    }
    with jax.enable_x64(False):
        for name, kernel in (("of_points", "gaussian"), ("of_points", "softmax"), ("of_phases", "softmax")):
            with pytest.raises(ValueError, match="X has values up to"):
                samplers[name](x, kernel)
        moved = samplers["of_points"](x / 15, "gaussian")
    # one point: -(2 omega'.x - 2 |x|^2) at omega' = 2 x
    np.testing.assert_allclose(moved.log_weights, -2e4, rtol=1e-6)


@pytest.mark.parametrize("fit", ["gerf", "sderf", "saderf", "aderf"])
def test_variance_of_features_of_far_points_whose_fourth_powers_overflow(fit):
    # of one point, far from another: A is about -phi / 4 in their direction, 2 d A = -|x + y|^2 / 2 in GERFs
    x, y = np.array([[3e12, 4e12]], F32), np.array([[1.0, 2.0]], F32)
    parameters = getattr(solvers.exponential, fit)(x, y)
    A, B, u = (np.asarray(a, np.longdouble) for a in (parameters.A, parameters.filled(2).B_x, parameters.moved(jnp.asarray(x))))
    u = u + np.asarray(parameters.swapped().moved(jnp.asarray(y)), np.longdouble)
    true = np.sum(np.log1p(16 * A**2 / (1 - 8 * A)) / 2 + u**2 / ((1 - 4 * A) * (1 - 8 * A)))
    assert np.all(np.isfinite(B))
    np.testing.assert_allclose(theory.log_relative_moment(x, y, parameters), [[float(true)]], rtol=1e-5)
    shifted = true + 2 * np.sum(x.astype(np.longdouble) * y)
    np.testing.assert_allclose(theory.shifted_log_variance(x, y, parameters), float(shifted), rtol=1e-5)


def test_variance_of_parameters_without_one_is_refused():
    with pytest.raises(ValueError, match="1/8"):
        theory.log_relative_moment(np.ones((1, 2)), np.ones((1, 2)), features.ExponentialParameters(np.full(2, 0.2)))


def test_vectors_beside_which_all_others_vanish_keep_their_lengths():
    for lengths in ([1e-30, 1.0], [1e30, 1.0, 1.0], [1.0, 1e20, 1e-20]):
        np.testing.assert_allclose(np.linalg.norm(weight_dependent.balance(np.array(lengths)), axis=1), lengths, rtol=1e-12)
    for lengths in ([1e-30, 1.0], [1e30, 1.0]):
        with jax.enable_x64(False), pytest.raises(ValueError, match="scale them"):
            weight_dependent.balance(np.array(lengths, F32))


Q, K, V = RNG.normal(size=(3, 6, 4))


@pytest.mark.parametrize("mask", [None, np.array([True, True, False, True, False, True])])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype, size", [(F32, 1e19), (F32, 1e20), (F32, 1e38), (np.float64, 1e160), (np.float64, 1e300), (jnp.bfloat16, 1e37)])
def test_softmax_attention_of_products_beyond_the_floats_takes_the_greatest(dtype, size, causal, mask):
    q, k, v = (jnp.asarray(x, dtype) for x in (size * Q / 4, size * K / 4, V))
    scores = np.asarray(q, np.longdouble) @ np.asarray(k, np.longdouble).T
    seen = (np.tri(6, dtype=bool) if causal else np.ones((6, 6), bool)) & (True if mask is None else mask)
    greatest = np.asarray(v)[np.where(seen, scores, -np.inf).argmax(axis=1)]
    np.testing.assert_array_equal(attention.softmax(q, k, v, causal, mask), greatest)


def test_queries_beside_far_ones_keep_their_attention():
    q = np.concatenate([Q, 1e38 * Q]).astype(F32)
    out = attention.softmax(q, K.astype(F32), V.astype(F32))
    np.testing.assert_allclose(out[:6], attention.softmax(Q.astype(F32), K.astype(F32), V.astype(F32)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("of_q, of_k", [(2.0**-90, 2.0**-90), (2.0**-120, 1.0), (1.0, 2.0**-120), (2.0**90, 2.0**90), (2.0**-90, 2.0**110)])
def test_linear_attention_does_not_depend_on_the_scale_of_features(of_q, of_k):
    q, k, v = (np.abs(x).astype(F32) + F32(0.1) for x in (Q, K, V))
    out = attention.linear(F32(of_q) * q, F32(of_k) * k, v)
    np.testing.assert_array_equal(out, attention.linear(q, k, v))


def test_the_past_of_linear_attention_does_not_depend_on_the_scale_of_what_comes():
    q, k, v = (np.abs(x).astype(F32) + F32(0.1) for x in (Q, K, V))
    small, later = F32(2.0**-60) * k, np.arange(6)[:, None] == 5
    out = attention.linear(np.where(later, F32(2.0**60), q), np.where(later, F32(2.0**120), small), v, causal=True)
    np.testing.assert_array_equal(out[:5], attention.linear(q, small, v, causal=True)[:5])


def test_no_level_of_a_draw_gives_a_norm_that_is_zero_or_infinite():
    for dtype in (np.float64, F32):
        ends = np.array([0, np.finfo(dtype).smallest_subnormal, 1 - np.finfo(dtype).epsneg], dtype)
        for norms in (couplings.norms.chi(ends, 1), couplings.norms.Student(0.1)(ends, 3)):
            assert np.all((norms > 0) & np.isfinite(norms))
