"""Gaussian processes on many nodes: noise of each observation, draws of weights, and walks that are fitted, against dense algebra."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import paramax
import pytest
import scipy.sparse as sp
from gpjax.parameters import PositiveReal
from rounding import rounding

from rfcore import features, gp, kernels, walks
from rfcore.features import modulation
from rfcore.graphs import Graph

KEY = jax.random.key(0)
BARE = Graph.from_networkx(nx.grid_2d_graph(8, 8))
G = BARE.normalised()
K = 2.0 * kernels.diffusion(G, 1.8)
SEEN = np.array([40, 3, 17, 60, 3, 22, 51, 9, 34, 12])  # one of them twice
ASKED = np.setdiff1d(np.arange(64), SEEN)
Y = np.cos(SEEN)
NOISES = np.linspace(0.01, 2.0, len(SEEN))
PHI = np.sqrt(2) * features.walk_features(KEY, G, modulation.diffusion(1.8), 16, 0.3).to_scipy()


def dense(K, y, noise, seen, asked):
    """Rasmussen and Williams (2006), Eqs. 2.25 and 2.26."""
    A = K[np.ix_(asked, seen)] @ np.linalg.inv(K[np.ix_(seen, seen)] + noise * np.eye(len(seen)))
    return A @ y, K[np.ix_(asked, asked)] - A @ K[np.ix_(seen, asked)]


def close(found, exact, atol):
    return np.allclose(found[0], exact[0], rtol=0, atol=atol) and np.allclose(found[1], exact[1], rtol=0, atol=atol)


@pytest.mark.parametrize("noise", [NOISES, list(NOISES), jnp.asarray(NOISES), np.where(SEEN == 60, 1e12, NOISES), np.where(SEEN == 60, 0.0, NOISES)])
def test_each_observation_may_have_a_noise_of_its_own(noise):
    """Also one that says nothing, and one that is exact."""
    for asked in (ASKED, np.arange(64)):
        assert close(gp.posterior(sp.csr_array(K), Y, noise, SEEN, asked), dense(K, Y, np.asarray(noise), SEEN, asked), 1e-9)
    P = PHI.toarray()
    for rows in (PHI[SEEN], P[SEEN]):
        b = gp.posterior_weights(rows, Y, noise, rtol=1e-13)
        assert np.allclose(P @ b, dense(P @ P.T, Y, np.asarray(noise), SEEN, np.arange(64))[0], rtol=0, atol=1e-9)


def test_equal_noises_are_one_noise():
    one, each = 0.3, np.full(len(SEEN), 0.3)
    assert close(gp.posterior(sp.csr_array(K), Y, each, SEEN), gp.posterior(sp.csr_array(K), Y, one, SEEN), rounding(1000, K))
    assert np.array_equal(gp.posterior_weights(PHI[SEEN], Y, each), gp.posterior_weights(PHI[SEEN], Y, one))
    assert np.array_equal(gp.sample_weights(KEY, PHI[SEEN], Y, each, 3), gp.sample_weights(KEY, PHI[SEEN], Y, one, 3))


def test_rows_of_a_system_may_have_noises_of_their_own():
    y = np.random.default_rng(0).normal(size=(64, 2))
    noise = np.linspace(0.1, 3.0, 64)
    found = gp.conjugate_gradients(lambda v: K @ v, y, noise, np.array([1e-12, 1e-3]))
    assert np.allclose(found[:, 0], np.linalg.solve(K + np.diag(noise), y[:, 0]), rtol=0, atol=1e-10)
    assert 1e-12 < np.linalg.norm(K @ found[:, 1] + noise * found[:, 1] - y[:, 1]) < 1e-3 + rounding(1000, 64 * K)


def test_covariances_may_be_arrays_of_jax():
    exact = dense(K, Y, NOISES, SEEN, ASKED)
    assert close(gp.posterior(jnp.asarray(K), Y, NOISES, SEEN), exact, 1e-10)
    crooked = K * (1 + 1e-6 * np.triu(np.ones((64, 64)), 1))  # symmetric for float32
    assert close(gp.posterior(jnp.asarray(crooked, dtype=np.float32), Y, NOISES, SEEN), exact, 1e-4)
    with pytest.raises(ValueError, match="not symmetric"):
        gp.posterior(jnp.asarray(crooked), Y, NOISES, SEEN)
    narrow = jnp.asarray(K, dtype=jnp.bfloat16)
    assert close(gp.posterior(narrow, Y, NOISES, SEEN), gp.posterior(np.asarray(narrow, dtype=float), Y, NOISES, SEEN), 0)


@pytest.mark.parametrize("kind", ["stored", "streamed", "deposits"])
def test_walk_features_stand_for_the_kernel_of_their_product(kind):
    f = modulation.diffusion(1.8)
    if kind == "deposits":
        lengths = walks.lengths.draw(KEY, 64, 16, 0.3)
        phi = features.by_step(walks.simulate(KEY, G, lengths)).with_modulation(f)
    else:
        phi = features.walk_features(KEY, G, f, 16, 0.3, stored=kind == "stored")
    P = np.asarray(phi.toarray())
    assert close(gp.posterior(phi, Y, 0.2, SEEN), dense(P @ P.T, Y, 0.2, SEEN, ASKED), 1e-9)
    assert np.mean(np.diag(P @ P.T)) > 1.02 * np.mean(np.diag(kernels.diffusion(G, 1.8))), "the bias that is told"


@pytest.mark.parametrize("noise", [0.2, NOISES])
def test_samples_have_the_mean_and_the_covariance_of_the_posterior(noise):
    """Within five standard errors, entry by entry, and of directions: those of a normal distribution with this covariance."""
    n, P = 20_000, PHI.toarray()
    paths = P[:, :64] @ gp.sample_weights(KEY, PHI[SEEN], Y, noise, n, rtol=1e-10)
    mean, covariance = dense(P @ P.T, Y, noise, SEEN, np.arange(64))
    variance = np.diag(covariance)
    assert np.all(np.abs(paths.mean(axis=1) - mean) < 5 * np.sqrt(variance / n))
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    assert np.all(np.abs((paths - mean[:, None]) @ (paths - mean[:, None]).T / n - covariance) < 5 * error)
    assert np.abs(paths.std(axis=1) / np.sqrt(variance) - 1).max() < 5 / np.sqrt(2 * n), "the error of a standard deviation that is told"


def test_samples_belong_to_their_key_and_place():
    first, again = (gp.sample_weights(KEY, PHI[SEEN], Y, 0.2, n) for n in (3, 7))
    assert np.array_equal(first, gp.sample_weights(KEY, PHI[SEEN], Y, 0.2, 3))
    assert np.allclose(first, again[:, :3], rtol=0, atol=1e-12)
    other = gp.sample_weights(jax.random.key(1), PHI[SEEN], Y, 0.2, 7)
    assert np.abs(np.corrcoef(np.hstack([again, other]).T) - np.eye(14)).max() < 5 / np.sqrt(64)
    legacy = gp.sample_weights(jax.random.key_data(KEY), PHI[SEEN], Y, 0.2, 3)
    assert np.array_equal(first, legacy)


def test_samples_are_the_prior_where_noise_drowns_the_data_and_none_where_there_is_none():
    drowned, other = (gp.sample_weights(KEY, PHI[SEEN], y, 1e14, 500) for y in (Y, -3 * Y))
    assert np.allclose(drowned, other, rtol=0, atol=1e-10)
    assert abs(drowned.std() - 1) < 5 / np.sqrt(2 * drowned.size) and abs(drowned.mean()) < 5 / np.sqrt(drowned.size)
    seen = np.unique(SEEN)
    exact = PHI @ gp.sample_weights(KEY, PHI[seen], np.cos(seen), 0.0, 20, rtol=1e-13)
    assert np.allclose(exact[seen], np.cos(seen)[:, None], rtol=0, atol=1e-9)


def observed(seed=0):
    rng = np.random.default_rng(seed)
    law = 4 * kernels.diffusion(G, np.sqrt(2) * 1.5)[np.ix_(SEEN, SEEN)] + 0.3 * np.eye(len(SEEN))
    y = np.linalg.cholesky(law) @ rng.normal(size=len(SEEN))
    return y - y.mean()


@pytest.mark.filterwarnings("ignore:the likelihood is greatest")
@pytest.mark.parametrize("coupling", ["stratified", "systematic", "iid"])
@pytest.mark.parametrize("n_walks", [32, 2**14])  # the latter: four nodes to a chunk, and most chunks without a node that was seen
def test_fitted_walks_are_those_of_a_fit_by_hand(coupling, n_walks):
    y = observed()
    phi, fitted = gp.fit_walks(KEY, BARE, SEEN, y, n_walks, 0.5, coupling, lengthscales=(0.5, 3.0), n_steps=20)
    deposits = walks.simulate(KEY, G, walks.lengths.draw(KEY, 64, n_walks, 0.5, coupling))
    where = [np.flatnonzero(deposits.row == node) for node in SEEN]
    row, rows = np.repeat(np.arange(len(SEEN)), [len(one) for one in where]), np.concatenate(where)
    seen = walks.Deposits(
        row, deposits.node[rows], deposits.step[rows], deposits.load[rows], n_walks, len(SEEN), 64, deposits.n_steps, is_normalised=True
    )
    by_hand = gp.fit_diffusion(KEY, seen, y, lengthscales=(0.5, 3.0), n_steps=20)
    assert np.allclose(np.log(fitted), np.log(by_hand), rtol=0, atol=1e-6)
    f = modulation.diffusion(np.sqrt(2) * fitted.lengthscale)
    exact = np.sqrt(fitted.variance) * features.weigh(deposits, f).toarray()
    assert sp.issparse(phi) and phi.format == "csr" and np.allclose(phi.toarray(), exact, rtol=0, atol=rounding(1000, exact))


def test_the_chain_is_the_posterior_of_its_features():
    y = observed(1)
    phi, fitted = gp.fit_walks(KEY, G, SEEN, y, lengthscales=(0.1, 4.0))
    noise = fitted.noise + 0.1
    mean = phi @ gp.posterior_weights(phi[SEEN], y, noise)
    paths = phi @ gp.sample_weights(KEY, phi[SEEN], y, noise, 2000)
    P = phi.toarray()
    exact = dense(P @ P.T, y, noise, SEEN, np.arange(64))
    assert np.allclose(mean, exact[0], rtol=0, atol=1e-6)
    assert np.abs(paths.std(axis=1) / np.sqrt(np.diag(exact[1])) - 1).max() < 5 / np.sqrt(2 * 2000)


def powers(r):
    return lambda k: r["b"] ** k


SHOWN = "Diffusion(lengthscale=1.03, variance=0.88, 34 eigenvalues)"


def test_kernels_of_gpjax_show_their_values():
    kernel = gp.Diffusion(np.zeros(34), 1.0312, jnp.asarray(0.88))
    assert repr(kernel) == SHOWN and repr(paramax.non_trainable(kernel)) == SHOWN
    assert repr(gp.Diffusion(np.array([0.5]), 1e-7, active_dims=[2])) == "Diffusion(lengthscale=1e-07, variance=1.0, 1 eigenvalue, active_dims=[2])"
    assert repr(gp.Walks(40, 2)) == "Walks(lengthscale=2.0, variance=1.0, n_steps=40)"
    tree = {"a": jnp.ones(3), "b": PositiveReal(jnp.asarray(0.12345))}
    assert repr(gp.Walks(3, tree, modulation=powers)) == (
        f"Walks(lengthscale={{'a': f{8 * tree['a'].itemsize}[3], 'b': 0.123}}, variance=1.0, n_steps=3, modulation=<function powers>)"
    )


def test_kernels_without_values_are_shown_too():
    kernel, said = gp.Diffusion(np.zeros(34), 1.0312, 0.88), []

    def within(k):
        said.extend([repr(k), repr(kernel)])
        return k.lengthscale.unwrap()

    for run in (jax.jit, jax.grad):
        said.clear()
        run(within)(kernel)
        assert "lengthscale=PositiveReal" in said[0] and said[1] == SHOWN
    for stand_in in (None, True, 0, object(), "x", jax.ShapeDtypeStruct((), float), np.ones(2), 1j):
        for kept in (kernel, gp.Walks(2, {"a": 1.0})):
            assert repr(jax.tree.map(lambda _, x=stand_in: x, kept)).startswith(f"{type(kept).__name__}(lengthscale=")
    donated = gp.Diffusion(np.array([0.5]), PositiveReal(gone := jnp.asarray(2.0)))
    (leaf,) = jax.tree.leaves(donated.lengthscale)
    leaf.delete()
    assert repr(donated).startswith("Diffusion(lengthscale=PositiveReal") and gone is not leaf
