"""Marginal laws, geometry within blocks, and independence between blocks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from rfcore import couplings
from rfcore.couplings import directions, norms

COUPLINGS = [couplings.iid, couplings.orthogonal, couplings.simplex]
N = 20_000


def draws(coupling, m, d, n=N, seed=0):
    return np.asarray(jax.vmap(lambda key: coupling(key, m, d))(jax.random.split(jax.random.key(seed), n)))


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize(("m", "d"), [(1, 1), (2, 1), (2, 2), (4, 3)])
def test_each_row_is_standard_normal(coupling, m, d):
    omega = draws(coupling, m, d)
    direction = np.arange(1, d + 1) / np.linalg.norm(np.arange(1, d + 1))
    for row in range(m):
        assert stats.kstest(omega[:, row] @ direction, "norm").pvalue > 1e-4
        assert stats.kstest(np.sum(omega[:, row] ** 2, axis=1), "chi2", (d,)).pvalue > 1e-4


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_rows_have_the_first_odd_and_mixed_moments_of_a_gaussian(coupling):
    omega = draws(coupling, 3, 3)
    for row in range(3):
        w = omega[:, row]
        for moment, truth in [(w, 0), (w**3, 0), (w[:, :, None] * w[:, None, :], np.eye(3)), (w[:, 0] ** 2 * w[:, 1] ** 2, 1)]:
            z = (moment.mean(axis=0) - truth) / (moment.std(axis=0) / np.sqrt(N))
            assert np.all(np.abs(z) < 4.5)


@pytest.mark.parametrize(("m", "d"), [(3, 1), (1, 2), (5, 5), (19, 7)])
def test_orthogonal_blocks(m, d):
    omega = couplings.orthogonal(jax.random.key(m), m, d)
    assert omega.shape == (m, d)
    for start in range(0, m, d):
        block = omega[start : start + d]
        gram = block @ block.T
        assert jnp.allclose(gram, jnp.diag(jnp.diag(gram)), atol=1e-10)


@pytest.mark.parametrize(("m", "d"), [(1, 2), (3, 2), (5, 5), (19, 7)])
def test_simplex_blocks_subtend_the_widest_common_angle(m, d):
    unit = directions.simplex(jax.random.key(m), m, d)
    assert unit.shape == (m, d)
    for start in range(0, m, d):
        block = unit[start : start + d]
        expected = jnp.full((len(block), len(block)), -1 / (d - 1)).at[jnp.diag_indices(len(block))].set(1.0)
        assert jnp.allclose(block @ block.T, expected, atol=1e-10)


@pytest.mark.parametrize("d", [2, 3, 7])
def test_simplex_product_is_the_matrix_of_equation_9(d):
    rows = []
    for i in range(d - 1):
        ones = np.r_[np.ones(d - 1), 0.0]
        rows.append(np.sqrt(d / (d - 1)) * np.eye(d)[i] - (np.sqrt(d) + 1) / (d - 1) ** 1.5 * ones)
    S = np.array([*rows, ones / np.sqrt(d - 1)])
    assert np.allclose(directions.simplex_product(jnp.eye(d)), S, atol=1e-14)
    assert np.allclose(S @ S.T - np.eye(d), -(1 - np.eye(d)) / (d - 1), atol=1e-14)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_blocks_are_independent_of_each_other(coupling):
    omega = draws(coupling, 4, 2)
    first, second = omega[:, :2].reshape(N, 4), omega[:, 2:].reshape(N, 4)
    for f, g in [(first, second), (first**2, second**2)]:
        f, g = f - f.mean(axis=0), g - g.mean(axis=0)
        products = f[:, :, None] * g[:, None, :]
        z = products.mean(axis=0) / (products.std(axis=0) / np.sqrt(N))
        assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("coupling", [couplings.orthogonal, couplings.simplex])
def test_norms_within_a_block_are_independent(coupling):
    lengths = np.linalg.norm(draws(coupling, 3, 3), axis=2)
    correlation = np.corrcoef(lengths.T)[np.triu_indices(3, 1)]
    assert np.abs(correlation).max() < 4.5 / np.sqrt(N)


def test_haar_determinant_has_either_sign_and_columns_are_uniform():
    q = np.asarray(directions.haar(jax.random.key(3), 3, N))
    assert abs(np.mean(np.linalg.det(q))) < 4.5 / np.sqrt(N)
    for i in range(3):
        for j in range(3):  # one coordinate of a uniform unit vector in three dimensions is uniform on [-1, 1]
            assert stats.kstest(q[:, i, j], "uniform", (-1, 2)).pvalue > 1e-4


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_same_key_same_draw_other_key_other_draw_and_jit_agrees(coupling):
    a, b, c = (coupling(jax.random.key(k), 5, 3) for k in (0, 0, 1))
    assert jnp.array_equal(a, b)
    assert not jnp.any(jnp.isclose(a, c))
    assert jnp.allclose(jax.jit(coupling, static_argnums=(1, 2))(jax.random.key(0), 5, 3), a, atol=1e-12)


def test_any_directions_compose_with_any_norms():
    def unit(key, m, d):
        return jnp.ones(m)

    omega = couplings.compose(directions.simplex, unit)(jax.random.key(0), 4, 4)
    assert jnp.allclose(jnp.linalg.norm(omega, axis=1), 1.0)
    omega = couplings.compose(directions.independent, norms.independent)(jax.random.key(0), 4, 4)
    assert omega.shape == (4, 4)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_no_frequencies_is_an_empty_array(coupling):
    assert coupling(jax.random.key(0), 0, 3).shape == (0, 3)
