"""Paths of Gaussian processes: mean and covariance are those of GPJax, for kernels of points and of nodes."""

from functools import partial

import gpjax as gpx
import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest

from rfcore import couplings, gp, kernels
from rfcore.graphs import Graph

RNG = np.random.default_rng(0)
X, ASKED = RNG.normal(size=(6, 2)), RNG.normal(size=(5, 2))
Y = np.sin(X.sum(axis=1, keepdims=True))
EIGENVALUES, ROWS = kernels.spectrum(Graph.from_networkx(nx.karate_club_graph()).normalised())
KERNELS = {
    "RBF": gpx.kernels.RBF(lengthscale=jnp.array([0.7, 1.3]), variance=1.5),
    "Matern12": gpx.kernels.Matern12(lengthscale=0.8, n_dims=2),
    "Matern52": gpx.kernels.Matern52(lengthscale=0.8, variance=0.5, n_dims=2),
    "sum": gpx.kernels.RBF(lengthscale=0.6, active_dims=[1]) + gpx.kernels.Linear(variance=0.3),
    "graph": gp.Diffusion(EIGENVALUES, 0.8, 2.0),
}


def points(name):
    """Observed and asked."""
    return (ROWS[:6], ROWS[10:15]) if name == "graph" else (X, ASKED)


def posterior(name):
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Constant(jnp.array([0.4])), kernel=KERNELS[name])
    data = gpx.Dataset(X=jnp.asarray(points(name)[0]), y=jnp.asarray(Y))
    return (prior * gpx.likelihoods.Gaussian(obs_stddev=0.2)).condition(data)


def agree(drawn, mean, covariance):
    """Whether repeats (n, k) have a mean and a covariance, within 5.5 standard errors entry by entry."""
    n = len(drawn)
    off = drawn - np.asarray(mean)
    products = off[:, :, None] * off[:, None]
    assert np.all(abs(off.mean(axis=0)) < 5.5 * off.std(axis=0) / np.sqrt(n))
    assert np.all(abs(products.mean(axis=0) - covariance) < 5.5 * products.std(axis=0) / np.sqrt(n))


@pytest.mark.parametrize("of", ["prior", "posterior"])
@pytest.mark.parametrize("name", KERNELS)
def test_paths_have_the_mean_and_the_covariance_of_gpjax(name, of):
    """Over draws of few frequencies, one path of each: nothing is biased, however few they are."""
    asked, process = jnp.asarray(points(name)[1]), posterior(name)
    if of == "posterior":
        exact = process(asked)
        mean, covariance = exact.mean, exact.covariance()
        # The marginal covariance of GPJax's predictions has its jitter once more.
        covariance = covariance - process.prior.jitter * np.eye(len(asked))
    else:
        process = process.prior
        mean, covariance = process.mean_function(asked)[:, 0], process.kernel.gram(asked).as_matrix()
    one = jax.jit(lambda key: gp.sample_paths(key, process, m=4, n_columns=asked.shape[1])(asked)[:, 0])
    drawn = jax.jit(partial(jax.lax.map, one))(jax.random.split(jax.random.key(1), 20_000))
    agree(np.asarray(drawn), np.ravel(mean), np.asarray(covariance))


def test_paths_without_noise_go_through_what_was_observed():
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=KERNELS["RBF"], jitter=0.0)
    model = (prior * gpx.likelihoods.Gaussian(obs_stddev=0.0)).condition(gpx.Dataset(X=jnp.asarray(X), y=jnp.asarray(Y)))
    paths = gp.sample_paths(jax.random.key(0), model, n_paths=7, m=3)
    assert np.allclose(paths(X), Y, atol=1e-6)
    assert np.array_equal(paths(ASKED), paths(ASKED)) and paths(ASKED).std(axis=1).min() > 1e-3


def test_paths_are_functions_that_are_differentiable_in_their_points():
    paths = gp.sample_paths(jax.random.key(0), posterior("RBF"), n_paths=3, m=16)
    of_one = jax.jit(lambda x: paths(x[None])[0])
    slopes, step = jax.jacobian(of_one)(jnp.asarray(ASKED[0])), 1e-5
    for i, way in enumerate(step * np.eye(2)):
        assert np.allclose((of_one(ASKED[0] + way) - of_one(ASKED[0] - way)) / (2 * step), slopes[:, i], atol=1e-6)


def test_more_frequencies_bring_the_covariance_of_one_draw_to_the_kernel_and_frames_do_so_sooner():
    prior = posterior("RBF").prior
    exact = prior.kernel.gram(jnp.asarray(ASKED)).as_matrix()

    def error(coupling, m):
        phi = [gp.sample_paths(key, prior, m=m, coupling=coupling) for key in jax.random.split(jax.random.key(2), 40)]
        grams = [gp.paths._features(one.summands, one.omegas, jnp.asarray(ASKED)) for one in phi]
        return np.sqrt(np.mean([np.mean((rows @ rows.T - exact) ** 2) for rows in grams]))

    assert error(couplings.iid, 256) < error(couplings.iid, 32) / 2
    assert error(couplings.tight, 32) < 0.7 * error(couplings.iid, 32)


def test_a_coupling_of_a_matern_kernel_has_its_norms():
    one, own = (gp.sample_paths(jax.random.key(0), posterior("Matern12"), m=8, coupling=c) for c in (couplings.orthogonal, None))
    assert np.array_equal(one.omegas[0], own.omegas[0])
    assert np.array_equal(own.omegas[0], couplings.matern(jax.random.fold_in(jax.random.split(jax.random.key(0), 3)[0], 0), 8, 2, 0.5))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: gp.sample_paths(jax.random.key(0), KERNELS["RBF"]), "process is of type RBF; give a Prior of GPJax, or model.condition"),
        (lambda: gp.sample_paths(0, posterior("RBF")), "key = 0"),
        (lambda: gp.sample_paths(jax.random.key(0), posterior("sum").prior), "n_columns = None and a prior whose kernel has no n_dims"),
        (lambda: gp.sample_paths(jax.random.key(0), posterior("Matern12"), coupling=couplings.tight), "of a Matérn kernel; give a couplings.Product"),
        (
            lambda: gp.sample_paths(jax.random.key(0), gpx.gps.Prior(gpx.kernels.Periodic(), gpx.mean_functions.Zero()), n_columns=1),
            "kernel is of type Periodic, whose features are not known",
        ),
    ],
)
def test_complaints(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
