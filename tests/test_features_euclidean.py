"""Feature maps are their formulas, in every range; that they are unbiased is tested in test_matrix.py."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from jax.test_util import check_grads
from rounding import rounding

from rfcore import couplings, features, kernels
from rfcore.estimators import RandomFeatures
from rfcore.features.fourier import cosine_of_turns, spread

X = np.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1], [-0.5, 0.1, 0.2]])
Y = np.array([[0.1, 0.1, -0.3], [0.2, -0.4, 0.0]])
# Compiled as a whole: its steps one by one take several times as long to compile.
drawn = jax.jit(lambda seed, coupling, *sizes: coupling(jax.random.key(seed), *sizes), static_argnums=(1, 2, 3))


def draw(*arguments):
    return np.asarray(drawn(*arguments))


def test_fourier_gram_has_ones_on_its_diagonal_for_every_draw():
    phi = np.asarray(features.fourier(X, draw(0, couplings.iid, 7, 3)))
    assert np.allclose(np.sum(phi**2, axis=1), 1.0, rtol=0, atol=rounding(50))


@given(seed=st.integers(0, 2**31), scale=st.floats(0.1, 3.0))
def test_softmax_features_are_gaussian_features_rescaled(seed, scale):
    omega = draw(seed, couplings.orthogonal, 4, 3)
    x = scale * X
    growth = np.exp(np.sum(x**2, axis=1, keepdims=True) / 2)
    for feature in (features.fourier, features.positive):
        ours, rescaled = np.asarray(feature(x, omega, kernel="softmax")), growth * np.asarray(feature(x, omega))
        # Exponents and angles of size up to 100 are off by a few eps of it.
        assert np.all(np.abs(ours - rescaled) <= rounding(1000) * np.maximum(growth, np.abs(ours)))


@given(seed=st.integers(0, 2**31))
def test_rotating_points_and_frequencies_together_changes_nothing(seed):
    q, omega = draw(seed, couplings.directions.haar, 3, 1)[0], draw(seed, couplings.simplex, 5, 3)
    for feature in (features.fourier, features.positive):
        assert np.allclose(feature(X @ q, omega @ q), feature(X, omega), rtol=0, atol=rounding(1000, feature(X, omega)))


def test_positive_features_are_positive_and_large_points_do_not_overflow_early():
    omega = draw(0, couplings.iid, 6, 3)
    assert np.all(np.asarray(features.positive(X, omega)) > 0)
    far = features.positive(40 * X, omega)
    assert np.all(np.isfinite(far))


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
def test_positive_features_are_exponentials_of_their_logarithms(kernel):
    omega = draw(0, couplings.simplex, 7, 3)
    log_phi = np.asarray(features.log_positive(X, omega, kernel))
    assert np.allclose(features.positive(X, omega, kernel), np.exp(log_phi), rtol=rounding(10, 1, log_phi), atol=0)  # fused, exponents round otherwise
    shift = np.sum(X**2, axis=1, keepdims=True) * (1 if kernel == "gaussian" else 0.5)
    assert np.allclose(log_phi, X @ omega.T - shift - np.log(7) / 2, rtol=0, atol=rounding(20, shift, X @ omega.T))


@pytest.mark.parametrize("kernel", ["gaussian", "softmax"])
@pytest.mark.parametrize("side", ["x", "y"])
def test_exponential_features_are_exponentials_of_the_formula(side, kernel):
    """Of the docstring, term by term: D exp(w' A w + w' B x + x' C x), over the root of m, and e^(-|x|^2 / 2) for the Gaussian kernel."""
    omega, A = draw(0, couplings.simplex, 7, 3), np.array([0.1, -0.3, 0.02])
    B_x = np.array([[1.0, 0.2, 0.0], [-0.1, 0.8, 0.3], [0.0, 0.4, 1.2]])
    B = B_x if side == "x" else np.diag(1 - 4 * A) @ np.linalg.inv(B_x).T
    C = -B.T @ np.diag(1 / (1 - 4 * A)) @ B / 2
    exponents = np.sum(A * omega**2, axis=1) + X @ B.T @ omega.T + np.sum(X @ C * X, axis=1, keepdims=True) + np.sum(np.log(1 - 4 * A)) / 4
    expected = exponents - np.log(7) / 2 - (np.sum(X**2, axis=1, keepdims=True) / 2 if kernel == "gaussian" else 0)
    arguments = X, omega, features.dense(A, B_x), side, kernel
    tolerance = rounding(100, expected, X @ B.T @ omega.T)
    assert np.allclose(features.log_exponential(*arguments), expected, rtol=0, atol=tolerance)
    assert np.allclose(features.exponential(*arguments), np.exp(expected), rtol=tolerance, atol=0)


def test_fourier_features_of_far_points_attend_without_the_factor_that_overflows():
    rng = np.random.default_rng(0)
    q, k, omega = 20 * rng.normal(size=(4, 3)), 0.1 * rng.normal(size=(5, 3)), draw(0, couplings.simplex, 50, 3)
    far = np.float32(q)
    assert not np.all(np.isfinite(features.fourier(far, np.float32(omega), kernel="softmax")))
    # As the docstring of fourier says: Gaussian features of queries, and one constant for all keys.
    squares = np.sum(k**2, axis=1, keepdims=True)
    with jax.enable_x64(True):
        phi_q, phi_k, plain_q, plain_k = (np.asarray(features.fourier(x, omega, name)) for name in ("gaussian", "softmax") for x in (q, k))
    weights, plain = phi_q @ (phi_k * np.exp((squares - squares.max()) / 2)).T, plain_q @ plain_k.T
    shares, truth = (w / w.sum(axis=1, keepdims=True) for w in (weights, plain))
    assert np.allclose(shares, truth, rtol=0, atol=rounding(1e4, truth))  # sums of weights of both signs


def test_no_frequencies_are_refused():
    for omega in (np.zeros((0, 3)), couplings.fast.draw(jax.random.key(0), 0, 3, "simplex")):
        with pytest.raises(ValueError, match="omega holds 0 frequencies"):
            features.positive(X, omega)


def test_points_of_another_dimension_than_the_fast_frequencies_are_refused():
    with pytest.raises(ValueError, match="omega has frequencies of dimension 4 for points of dimension 5"):
        features.fourier(np.ones((2, 5)), couplings.fast.draw(jax.random.key(0), 4, 4, "simplex"))


@pytest.mark.parametrize("feature", [features.fourier, features.positive])
def test_differentiable_in_points_and_frequencies(feature):
    omega = draw(0, couplings.iid, 6, 3)

    def total(x, w):
        return jnp.sum(feature(x, w) ** 3)

    check_grads(jax.jit(total), (X, omega), order=1, modes=["rev"], rtol=1e-5)


def test_cosine_of_turns_to_two_units_in_the_last_place():
    u = np.concatenate([np.linspace(-3, 3, 20_001), [0.0, 0.25, 0.5, 1e5 + 0.125]])
    for dtype in (np.float64, np.float32):
        turns = u.astype(dtype)
        truth = np.cos(2 * np.arccos(np.longdouble(-1)) * (turns - np.round(turns)).astype(np.longdouble))
        with jax.enable_x64(dtype == np.float64):
            found = np.asarray(cosine_of_turns(turns))
        assert np.abs(found - truth).max() < 2 * np.finfo(dtype).eps
        assert found.dtype == dtype


def test_cosine_of_turns_differentiates_to_sines_twice():
    u = np.array([-0.5, -0.3, 0.0, 0.1, 0.25, 0.5, 7.5])
    first, second = jax.grad(cosine_of_turns), jax.grad(jax.grad(cosine_of_turns))
    assert np.allclose(jax.jit(jax.vmap(first))(u), -2 * np.pi * np.sin(2 * np.pi * u), rtol=0, atol=rounding(50, 2 * np.pi))
    assert np.allclose(jax.jit(jax.vmap(second))(u), -4 * np.pi**2 * np.cos(2 * np.pi * u), rtol=0, atol=rounding(50, 4 * np.pi**2))
    assert np.isnan(cosine_of_turns(jnp.nan))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e5, 1e7, 1e8, 1e9, 1e12, 1e16, 1e17, 1e30])
def test_angles_that_the_dtype_does_not_resolve_are_points_of_the_circle_spread_evenly(scale, dtype):
    with jax.enable_x64(True):
        rng, m = np.random.default_rng(0), 1000
        x, phases = scale * rng.normal(size=(20, 4)), rng.uniform(0, 2 * np.pi, m).astype(dtype)
        x = np.concatenate([x, 2 * x, -x]).astype(dtype)  # the kernel of any two is 0, of multiples too
        omega = draw(1, couplings.orthogonal, m, 4).astype(dtype)
        pairs, single = jax.jit(features.fourier)(x, omega), jax.jit(features.trigonometric)(x, omega, phases)
        assert pairs.dtype == single.dtype == dtype
        assert np.abs(np.sum(np.asarray(pairs, float) ** 2, axis=1) - 1).max() < 8 * np.finfo(dtype).eps
        for phi in (np.asarray(pairs), np.asarray(single)):
            pairs = (phi @ phi.T)[np.triu_indices(len(x), 1)]
            assert np.abs(pairs.mean()) < 6 / np.sqrt(m * len(x))  # the mean over one point's pairs has the error of m
            assert np.abs(pairs).max() < 6 * np.sqrt(1 / m)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_resolved_angles_stay_as_they_are_and_slopes_are_one(dtype):
    with jax.enable_x64(True):
        largest = 0.125 / np.finfo(dtype).eps
        u = np.array([0.0, 0.3, -7.5, 1e5, np.nextafter(dtype(largest), dtype(0)), -largest * 64], dtype)
        assert np.array_equal(spread(u)[:-1], u[:-1])
        assert abs(spread(u)[-1]) <= 0.5
        assert np.array_equal(jax.vmap(jax.grad(spread))(u), np.ones_like(u))
        assert np.isnan(spread(jnp.asarray([np.nan, np.inf], dtype)) * 0).all()  # neither becomes an angle


SECONDS = 1.7e9 + np.linspace(0, 3e7, 60)[:, None]  # since 1970
FAR = {
    "seconds since 1970 in float32": SECONDS.astype(np.float32),
    "nanoseconds since 1970 in float64": 1e9 * SECONDS,
    "a column that was not scaled": np.array([[0.5, 1e8], [0.7, 1e8]], np.float32),
}


@pytest.mark.parametrize("points", FAR)
def test_points_whose_angles_the_dtype_does_not_resolve_are_refused(points):
    x, m = FAR[points], 50
    omega = draw(0, couplings.iid, m, x.shape[1]).astype(x.dtype)
    mend = "does not resolve; centre and scale the points" + (".*float64" if x.dtype == np.float32 else "")
    maps = (
        lambda: features.fourier(x, omega),
        lambda: features.trigonometric(x, omega, np.zeros(m, x.dtype)),
        lambda: RandomFeatures(m, gamma=0.5).fit_transform(x),
        lambda: RandomFeatures(m, gamma=0.5).fit_transform(sp.csr_array(x)),
    )
    for features_of in maps:
        with pytest.raises(ValueError, match=mend):
            features_of()
    centred = x - x.mean(axis=0)
    scaled = features.fourier(centred / np.maximum(np.abs(centred).max(axis=0), 1), omega)
    assert np.isfinite(scaled).all()


def test_frequencies_may_undo_the_scale_of_points():
    x = 1e8 * X.astype(np.float32)
    omega = draw(0, couplings.iid, 50, 3).astype(np.float32)
    assert np.allclose(features.fourier(x, omega / 1e8), features.fourier(x / 1e8, omega), atol=1e-5)
    assert np.array_equal(features.fourier(x[:0], omega), np.zeros((0, 100)))


def test_heavy_tails_have_angles_beyond_float32_and_estimate_their_kernel():
    x = jnp.asarray(30 * np.random.default_rng(0).normal(size=(6, 3)), np.float32)
    with jax.enable_x64(False):
        omega = couplings.compose("independent", radial=couplings.norms.Student(0.1))(jax.random.key(0), 30_000, 3)
        phi = np.asarray(features.fourier(x, omega), float).reshape(6, 2, -1)
    assert np.mean(np.abs(x @ omega.T) > 2**22 * 2 * np.pi) > 0.01
    products = 30_000 * np.einsum("icm,jcm->ijm", phi, phi)  # cosines of differences, one a frequency
    error = products.std(axis=-1) / np.sqrt(30_000) + 1e-6
    assert np.max(np.abs(products.mean(axis=-1) - kernels.matern(x, x, 0.1)) / error) < 5


def test_features_are_those_of_the_formula_up_to_the_rounding_of_the_angles():
    rng = np.random.default_rng(0)
    for dtype, worst in ((np.float64, 1e-13), (np.float32, 5e-5)):
        x, omega = rng.normal(size=(200, 64)).astype(dtype), rng.normal(size=(50, 64)).astype(dtype)
        angles = x.astype(np.longdouble) @ omega.T.astype(np.longdouble)  # of standard deviation 8
        formula = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        with jax.enable_x64(dtype == np.float64):
            found = np.asarray(features.fourier(x, omega)), np.asarray(features.positive(x / 8, omega))
        assert np.abs(np.sqrt(50) * found[0] - formula).max() < worst
        formula = np.exp(angles / 8 - np.sum((x / 8).astype(np.longdouble) ** 2, axis=1, keepdims=True))
        assert np.abs(np.sqrt(50) * found[1] / formula - 1).max() < worst
