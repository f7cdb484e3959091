"""Kernel-weighted sums look at known nodes only, and the error is one of angles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import trimesh

from companion.papers.ugrf import hidden_values
from rfcore import features, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

BOTH = np.array([True, True])
error_of = jax.jit(hidden_values.angular_error)  # compiled as a whole: its steps one by one take several times as long


@pytest.fixture(params=[True, False], ids=["float64", "float32"])
def eps(request):
    """The relative rounding of JAX' default type, which is float32 for users and float64 in the other tests."""
    with jax.enable_x64(request.param):
        yield float(jnp.finfo(jnp.zeros(()).dtype).eps)


def test_normals_of_a_sphere_are_found_from_their_neighbours(eps):
    ball = trimesh.creation.icosphere(subdivisions=2)
    g, normals = Graph.from_mesh(ball), np.array(ball.vertex_normals)
    known = np.random.default_rng(0).random(len(normals)) > 0.05
    exact = hidden_values.weighted_sums(kernels.diffusion(g, 1.5), normals, known)
    error = error_of(exact[~known], normals[~known])
    assert 0 < error < 0.01
    f = modulation.diffusion(1.5)
    phi, psi = (features.walk_features(jax.random.key(key), g.normalised(), f, 64, 0.3) for key in (0, 1))
    walked = hidden_values.weighted_sums(lambda v: phi @ (psi.T @ v), normals, known)
    assert error_of(walked[~known], normals[~known]) < 0.05


def test_unknown_values_are_not_looked_at(eps):
    values, known = np.ones((4, 2)), np.array([True, True, False, True])
    hidden = np.where(known[:, None], values, np.nan)
    kernel = np.arange(16.0).reshape(4, 4)
    sums = hidden_values.weighted_sums(kernel, hidden, known)
    assert np.array_equal(sums, kernel[:, known] @ values[known])
    assert np.array_equal(sums, hidden_values.weighted_sums(lambda v: kernel @ v, hidden, known))


def test_error_is_one_minus_the_cosine(eps):
    angles = np.array([0.0, 0.3, np.pi / 2, np.pi])
    predicted = np.stack([3 * np.cos(angles), 3 * np.sin(angles)], axis=1)
    error = error_of(predicted, np.array([[0.5, 0.0]] * 4))
    assert error.dtype == jnp.zeros(()).dtype
    assert float(error) == pytest.approx(np.mean(1 - np.cos(angles)), rel=10 * eps)
    assert float(error_of(np.zeros((2, 3)), np.ones((2, 3)))) == 1.0


def test_gradient_is_finite_where_nothing_is_predicted(eps):
    gradient = jax.jit(jax.grad(lambda p: hidden_values.angular_error(p, np.ones((2, 3)))))(np.array([[0.0] * 3, [1.0, 0, 0]]))
    assert np.all(np.isfinite(gradient))



@pytest.mark.parametrize("size", [1e-37, 1e-20, 1e19, 1e38])
def test_lengths_of_rows_do_not_matter(eps, size):
    rows = np.array([[1.0, 2.0, -0.5], [0.3, 0.0, 1.0]])
    for predicted, truth in ((size * rows, rows), (rows, size * rows), (size * rows, size * rows)):
        assert abs(float(error_of(predicted, truth))) < 10 * eps
