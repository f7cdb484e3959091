"""Closed forms against high-precision arithmetic, against each other, and against simulation."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.test_util import check_grads
from scipy.special import gammaln, hyp0f1

from rfcore import couplings, features, kernels, theory


def log_conformity_exactly(v, d, coupling):
    with mpmath.workdps(60):
        square, half = mpmath.mpf(v) ** 2, mpmath.mpf(d) / 2
        if coupling == "orthogonal":
            return mpmath.log(mpmath.hyp1f1(d, half, square / 2))
        norm = 2 * mpmath.gamma(half + mpmath.mpf(1) / 2) / mpmath.sqrt(mpmath.pi) / mpmath.gamma(half)

        def integrand(u):
            return mpmath.sin(u) ** (d - 1) * mpmath.hyp1f1(d, half, square / 2 * (1 - mpmath.sin(u) / (d - 1)))

        return mpmath.log(norm * mpmath.quad(integrand, [0, mpmath.pi / 4, mpmath.pi / 2]))


@pytest.mark.parametrize("coupling", ["orthogonal", "simplex"])
@pytest.mark.parametrize("d", [2, 3, 512])
@pytest.mark.parametrize("v", [1e-3, 0.5, 3, 25])
def test_conformity_and_its_gap_to_sixty_digits(v, d, coupling):
    truth = log_conformity_exactly(v, d, coupling)
    assert abs(float(theory.log_conformity(v, d, coupling)) - float(truth)) < 1e-11
    with mpmath.workdps(60):
        gap = mpmath.exp(mpmath.mpf(v) ** 2) - mpmath.exp(truth)
        saving = float((d - 1) * gap * mpmath.exp(-2 * mpmath.mpf(v) ** 2) / (1 - mpmath.exp(-(mpmath.mpf(v) ** 2))))
    assert 1 - float(theory.positive_mse_ratio(v, d, d, coupling)) == pytest.approx(saving, rel=1e-10, abs=1e-15)


def test_iid_conformity_is_exp_v_squared():
    v = jnp.linspace(0, 25, 11)
    assert jnp.allclose(theory.log_conformity(v, 5, "iid"), v**2, rtol=1e-12)


@pytest.mark.parametrize(("v", "d"), [(1.0, 4), (2.0, 8), (1.5, 16)])
def test_printed_alternating_series_agrees_where_it_is_stable(v, d):
    k = np.arange(80)[:, None]
    p = np.arange(80)[None, :]
    rest = np.where(p <= k, k - p, 0)
    terms = (-1.0 / (d - 1)) ** p * np.exp(
        gammaln((d + p) / 2) - gammaln((d + p + 1) / 2) - gammaln(rest + 1.0) - gammaln(p + 1.0)
        + gammaln(k + d) - gammaln(k + d / 2) + 2 * k * np.log(v) - k * np.log(2)
    )  # fmt: skip
    printed = np.sqrt(np.pi) * np.exp(-gammaln(d / 2)) / 2 ** (d - 1) * np.sum(np.where(p <= k, terms, 0.0))
    assert float(jnp.exp(theory.log_conformity(v, d, "simplex"))) == pytest.approx(printed, rel=1e-10)


@pytest.mark.parametrize("coupling", ["iid", "orthogonal", "simplex"])
@pytest.mark.parametrize(("d", "v"), [(2, 0.8), (6, 1.0817), (16, 1.5)])
def test_conformity_is_the_mean_over_pairs_of_a_block(coupling, d, v):
    n = 40_000 // d
    omega = jax.vmap(lambda key: getattr(couplings, coupling)(key, d, d))(jax.random.split(jax.random.key(5), n))
    i, j = np.triu_indices(d, 1)
    # The rotation is integrated out: 0F1 depends on the length of the sum alone, and its tails are lighter.
    lengths = np.linalg.norm(np.asarray(omega)[:, i] + np.asarray(omega)[:, j], axis=2)
    per_draw = hyp0f1(d / 2, v**2 * lengths**2 / 4).mean(axis=1)
    z = (per_draw.mean() - float(jnp.exp(theory.log_conformity(v, d, coupling)))) / (per_draw.std() / np.sqrt(n))
    assert abs(z) < 4


@pytest.mark.parametrize("coupling", ["iid", "orthogonal", "simplex"])
@pytest.mark.parametrize("m", [3, 4, 6])
def test_mse_of_positive_features_for_cut_and_for_several_blocks(coupling, m):
    x, y, d, n = jnp.array([0.1, -0.2, 0.05, 0.1]), jnp.array([0.15, 0.1, -0.1, 0.2]), 4, 60_000

    def error(key):
        omega = getattr(couplings, coupling)(key, m, d)
        k = jnp.sum(features.positive(x[None], omega) * features.positive(y[None], omega))
        return (k - kernels.gaussian(x[None], y[None])[0, 0]) ** 2

    squares = np.asarray(jax.jit(jax.vmap(error))(jax.random.split(jax.random.key(11), n)))
    z = (squares.mean() - float(theory.positive_mse(x, y, m, coupling))) / (squares.std() / np.sqrt(n))
    assert abs(z) < 4


@given(v=st.floats(1e-3, 25), d=st.integers(2, 64))
def test_simplex_beats_orthogonal_beats_iid(v, d):
    simplex, orthogonal = (float(theory.positive_mse_ratio(v, d, d, c)) for c in ("simplex", "orthogonal"))
    assert 0 < simplex <= orthogonal <= 1
    if v < 5:  # beyond, the three agree to more digits than float64 has
        assert simplex < orthogonal < 1


def test_small_v_limit_has_the_printed_closed_form():
    d = 64
    printed = 1 - np.sqrt(np.pi) * np.exp(
        gammaln(d + 1) + gammaln(d / 2 + 0.5) - gammaln(d / 2) - 2 * gammaln(d / 2 + 1) - d * np.log(2)
    )
    assert float(theory.positive_mse_ratio(0.0, d, d, "simplex")) == pytest.approx(printed, rel=1e-9)


def test_one_frequency_has_no_partner():
    v = jnp.array([0.0, 0.1, 2.0])
    for coupling in theory.COUPLINGS:
        assert jnp.allclose(theory.positive_mse_ratio(v, 5, 1, coupling), 1.0, atol=1e-14)
    assert theory.partners(4, 4) == 3
    assert theory.partners(8, 4) == 3
    assert theory.partners(6, 4) == (12 + 2) / 6


def test_gradients_match_differences_and_exist_where_x_plus_y_vanishes():
    x = jnp.array([0.3, -0.1, 0.2])
    for coupling in theory.COUPLINGS:
        check_grads(lambda a, c=coupling: theory.positive_mse(a, x, 3, c), (2 * x,), order=1, modes=["rev"])
        assert jnp.allclose(jax.grad(theory.positive_mse)(-x, x, 3, coupling), 0.0)
        jitted = jax.jit(theory.log_conformity, static_argnums=(1, 2))
        assert jnp.allclose(jitted(2.0, 3, coupling), theory.log_conformity(2.0, 3, coupling))
