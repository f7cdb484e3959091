"""Features of walks as operators: SciPy's and JAX's speak one language, and say the same."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from rounding import rounding
from scipy.sparse.linalg import aslinearoperator

from rfcore import features, walks
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.walks import streams

G = Graph.from_networkx(nx.karate_club_graph()).normalised()
KEY, NODES, F = jax.random.key(0), [1, 1, 7, 30], modulation.regularised_laplacian(1.0, 2)
STEPS = features.by_step(walks.simulate(KEY, G, walks.lengths.draw(KEY, 4, 8, 0.3, "iid"), nodes=NODES))
KINDS = {
    "SciPy": features.walk_features(KEY, G, F, 8, 0.3, "iid", NODES),
    "JAX": jax.jit(lambda steps: steps.with_modulation(F))(STEPS),
    "streamed": features.walk_features(KEY, G, F, 8, 0.3, "iid", NODES, stored=False),
}
DENSE = KINDS["SciPy"].toarray()
V, U = np.cos(np.arange(68.0)).reshape(34, 2), np.sin(np.arange(8.0)).reshape(4, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_the_two_say_the_same(kind):
    phi, size = KINDS[kind], np.abs(DENSE) @ np.ones(34)
    for transpose, dense, right, left in ((phi, DENSE, V, U), (phi.T, DENSE.T, U, V)):
        assert type(transpose) is type(phi)
        assert transpose.shape == dense.shape
        for found, expected in (
            (transpose.toarray(), dense),
            (transpose.to_scipy().toarray(), dense),
            (transpose.T.toarray(), dense.T),
            (transpose @ right, dense @ right),
            (transpose @ right[:, 0], dense @ right[:, 0]),
            (left.T @ transpose, left.T @ dense),
            (jnp.asarray(left[:, 0]) @ transpose, left[:, 0] @ dense),
            (transpose @ (transpose.T @ left), dense @ (dense.T @ left)),
            (transpose.with_modulation(modulation.diffusion(1.0)).with_modulation(F).toarray(), dense),
        ):
            assert isinstance(found, np.ndarray | jax.Array)
            # Sums of 68 terms at most, in any order, with a few roundings each.
            assert np.allclose(found, expected, rtol=0, atol=rounding(300, size, size @ size))


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_linear_operators_of_scipy(kind):
    for phi, dense, right in ((KINDS[kind], DENSE, V), (KINDS[kind].T, DENSE.T, U)):
        operator, size = aslinearoperator(phi), rounding(300, np.abs(DENSE).sum())
        assert (operator.shape, operator.dtype, len(phi)) == (dense.shape, np.float64, len(dense))
        assert np.allclose(operator @ right, dense @ right, rtol=0, atol=size)
        assert np.allclose(operator.T @ (dense @ right), dense.T @ (dense @ right), rtol=0, atol=size * np.abs(DENSE).sum())


def test_products_of_features_are_matrices():
    for kind, expected in (("SciPy", sp.csr_array), ("JAX", jax.Array)):
        phi = KINDS[kind]
        for product, dense in ((phi @ phi.T, DENSE @ DENSE.T), (phi.T @ phi, DENSE.T @ DENSE)):
            assert isinstance(product, expected)
            product = product.toarray() if sp.issparse(product) else product
            assert np.allclose(product, dense, rtol=0, atol=rounding(300, DENSE @ DENSE.T))


def test_streamed_features_are_those_that_are_stored_whatever_the_threads(monkeypatch):
    """In several chunks, with hops that know of each other; no product of features with features or sparse arrays."""
    monkeypatch.setattr(streams, "WALKERS_PER_CHUNK", 40)
    what = (KEY, G, F, 8, 0.3, "systematic")
    stored, streamed = (features.walk_features(*what, stored=stored) for stored in (True, False))
    v, size = np.cos(np.arange(34.0)), np.abs(stored.toarray()) @ np.ones(34)
    assert np.allclose(streamed @ v, stored @ v, rtol=0, atol=rounding(300, size))
    with ThreadPoolExecutor(3) as pool:
        alone = streamed.with_modulation(F, executor=pool)
        assert np.array_equal(alone.T @ v, streamed.T @ v)
    for other in (stored, streamed, sp.eye_array(34)):
        with pytest.raises(ValueError, match="give a dense vector or matrix"):
            streamed @ other


@pytest.mark.parametrize("kind", KINDS)
def test_features_of_another_kind_are_no_factor(kind):
    for other in KINDS.values():
        if type(other) is not type(KINDS[kind]):
            with pytest.raises(ValueError, match=f"what multiplies phi is of type {type(other).__name__}.*; give"):
                KINDS[kind] @ other.T


@pytest.mark.parametrize("kind", KINDS)
def test_an_array_of_features_is_one_object_as_of_scipys_which_leaves_products_to_us(kind):
    """Were it a matrix, or refused, SciPy would multiply by it, or stop."""
    assert np.asarray(KINDS[kind]).shape == np.asarray(sp.eye_array(3)).shape == ()
    if kind == "SciPy":
        assert sp.issparse(sp.eye_array(4) @ KINDS[kind])


def test_no_product_of_features_is_formed():
    large = Graph.from_networkx(nx.random_regular_graph(4, 300, seed=0)).normalised()
    steps = features.by_step(walks.simulate(KEY, large, walks.lengths.draw(KEY, 300, 2, 0.5, "iid")))
    assert "300,300" not in str(jax.make_jaxpr(lambda phi, v: phi @ (phi.T @ v))(steps.with_modulation(F), np.ones(300)))


def test_gradients_and_batches_of_modulations():
    """K v = phi(f) phi(f)^T v is a quadratic form in f: central differences are exact but for rounding."""
    values, u, v = jnp.asarray(F(np.arange(9))), U[:, 0], U[:, 1]

    @jax.jit
    def form(values, steps):
        phi = steps.with_modulation(modulation.from_values(values))
        return u @ (phi @ (phi.T @ v))

    gradient, directions = jax.grad(form)(values, STEPS), np.eye(9)
    ahead, behind = (jax.vmap(form, (0, None))(values + sign * directions, STEPS) for sign in (1, -1))
    # Each value sums the products of 4 x 34 pairs of a few hundred loads.
    assert np.allclose(gradient, (ahead - behind) / 2, rtol=0, atol=rounding(1000, ahead, behind))
    assert np.abs(gradient).max() > 0.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("other", "message"),
    [
        (np.ones(33), r"phi has shape \(\d+, \d+\), what stands (left|right) of it \(33,\); give \d+ (rows|columns)"),
        (np.ones((2, 34, 3)), r"\(2, 34, 3\); give"),
        (2, "a number is no factor"),
        (np.ones(34) * 1j, "complex"),
        (np.ma.masked_array(np.ones(34), np.arange(34) == 1), "what multiplies phi has 1 masked values; remove"),
        ("v", "give an array of real numbers"),
        (None, "give an array of real numbers"),
    ],
)
def test_factors_that_do_not_fit_are_refused(kind, other, message):
    for phi in (KINDS[kind], KINDS[kind].T):
        for product in (lambda phi=phi: phi @ other, lambda phi=phi: other @ phi):
            with pytest.raises(ValueError, match=message):
                product()
    with pytest.raises(ValueError, match=r"right of it \(4, 34\); give 34 rows|phi is walked anew"):
        KINDS[kind] @ KINDS[kind]
