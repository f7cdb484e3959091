"""Gaussian processes: kernels of GPJax against matrices, sparse algebra against GPJax's, fits against what they maximise."""

import gpjax as gpx
import jax
import jax.numpy as jnp
import lineax as lx
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from gpjax.parameters import PositiveReal, val
from rounding import rounding
from scipy import linalg, stats

from companion.models import gaussian_processes
from companion.models.gaussian_processes import data, process
from companion.papers.couplings import formulas, predictives
from rfcore import couplings, features, gp, kernels, walks
from rfcore.features import modulation
from rfcore.graphs import Graph

KEY, NOISE = jax.random.key(0), 0.05
G = Graph.from_networkx(nx.grid_2d_graph(12, 12)).normalised()
VARIANCE, LENGTHSCALE = 2.0, 1.3
K = VARIANCE * kernels.diffusion(G, np.sqrt(2) * LENGTHSCALE)
EIGENVALUES, ROWS = kernels.spectrum(G)
SEEN = np.arange(0, 144, 3)[::-1]
ASKED = np.setdiff1d(np.arange(144), SEEN)
Y = np.sin(SEEN)


def conditional(K, y, noise, seen, asked):
    """By the inverse of the whole covariance: given the seen, the others' precision is its block."""
    order, n = np.append(asked, seen), len(asked)
    precision = np.linalg.inv(K[np.ix_(order, order)] + np.diag(np.append(np.full(n, 1e-9), np.full(len(seen), noise))))
    covariance = np.linalg.inv(precision[:n, :n])
    return -covariance @ precision[:n, n:] @ y, covariance


def test_diffusion_is_the_kernel_of_the_graph_and_predicts_as_its_matrix_does():
    kernel = gp.Diffusion(EIGENVALUES, LENGTHSCALE, VARIANCE)
    assert np.allclose(kernel.gram(jnp.asarray(ROWS)).as_matrix(), K, rtol=0, atol=rounding(1e4, K))
    assert float(kernel(ROWS[3], ROWS[5])) == pytest.approx(K[3, 5], abs=rounding(1e4, K))
    found = process(kernel, NOISE).predict(jnp.asarray(ROWS[ASKED]), train_data=data(ROWS[SEEN], Y))
    mean, covariance = conditional(K, Y, NOISE, SEEN, ASKED)
    assert np.allclose(found.mean, mean, rtol=0, atol=1e-6) and np.allclose(found.covariance_matrix, covariance, rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match=r"eigenvalues has the value .* give those of g.normalised"):
        gp.Diffusion(kernels.spectrum(Graph.from_networkx(nx.path_graph(4)))[0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gp.Diffusion(EIGENVALUES).gram(jnp.arange(144.0)[:, None]), "X has 1 column .*; give rows of kernels.spectrum, not node numbers"),
        (lambda: gp.Diffusion(EIGENVALUES[:1]).gram(jnp.asarray(ROWS)), "X has 144 columns"),
        (lambda: gp.Diffusion(EIGENVALUES)(ROWS[0, :3], ROWS[1, :3]), "X has 3 columns"),
        (lambda: gp.Diffusion([]), "eigenvalues has shape"),
        (lambda: gp.Diffusion([np.nan, 1.0]), "eigenvalues has 1 NaN"),
        (lambda: gp.Diffusion(EIGENVALUES, -1.0), "lengthscale = -1.0; give a number above 0"),
        (lambda: gp.Diffusion(EIGENVALUES, jnp.array(-1.0)), "lengthscale = -1.0"),
        (lambda: gp.Diffusion(EIGENVALUES, PositiveReal(jnp.array(-1.0))), "lengthscale = nan"),
        (lambda: gp.Diffusion(EIGENVALUES, np.ones(144)), "give one real number"),
        (lambda: gp.Diffusion(EIGENVALUES, variance=np.inf), "variance = inf"),
        (lambda: gp.Walks(3, 0), "lengthscale = 0.0"),
        (lambda: gp.Walks(3, variance=-2), "variance = -2.0"),
        (lambda: gp.Walks(3.0), "n_steps = 3.0; give a whole number"),
        (lambda: gp.Walks(5).gram(jnp.ones((2, 8))), r"X has 8 columns, and n_steps = 5; give what gp.loads\(deposits, 5\)"),
        (lambda: gp.loads(jnp.ones((2, 8)), 4), "deposits is of type"),
    ],
)
def test_what_makes_no_kernel_of_gpjax_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("one", [1, np.float32(1), np.array(1.0), jnp.array(1.0)])
def test_numbers_of_every_kind_are_parameters_that_a_fit_keeps_positive(one):
    assert all(isinstance(x, PositiveReal) for k in (gp.Diffusion(EIGENVALUES, one, one), gp.Walks(2, one, one)) for x in (k.lengthscale, k.variance))
    path = Graph.from_networkx(nx.path_graph(6)).normalised()
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=gp.Diffusion(kernels.spectrum(path)[0], one, one))
    model, _ = gpx.fit_lbfgs(
        model=prior * gpx.likelihoods.Gaussian(),
        objective=lambda m, d: -gpx.objectives.conjugate_mll(m, d),
        train_data=data(kernels.spectrum(path)[1], np.arange(6.0)),
        max_iters=3,
    )
    assert val(model.prior.kernel.lengthscale) > 0 and val(model.prior.kernel.lengthscale) != 1


def test_a_kernel_of_a_huge_lengthscale_is_its_limit():
    """On each component sqrt(d_i d_j) / sum(d): here 1/4 on a square, and 1 on a node alone."""
    g = Graph.from_networkx(nx.disjoint_union(nx.cycle_graph(4), nx.empty_graph(1))).normalised()
    eigenvalues, rows = kernels.spectrum(g)
    limit = np.diag([0.0, 0, 0, 0, 1])
    limit[:4, :4] = 0.25
    for lengthscale in (1e4, 1e8, 1e15, 1e100, 1e200):
        gram = gp.Diffusion(eigenvalues, lengthscale).gram(jnp.asarray(rows)).as_matrix()
        assert np.allclose(gram, limit, rtol=0, atol=rounding(100))


def test_in_float32_the_rates_of_the_kernel_keep_their_digits():
    """1 - lambda of a long path is 5e-5, of which float32 keeps three digits where lambda is rounded first."""
    g = Graph.from_networkx(nx.path_graph(400)).normalised()
    eigenvalues, rows = kernels.spectrum(g)
    gram = gp.Diffusion(eigenvalues, 100.0).gram(jnp.asarray(rows, dtype=np.float32)).as_matrix()
    exact = kernels.diffusion(g, np.sqrt(2) * 100)
    assert np.abs(gram - exact).max() <= 100 * np.finfo(np.float32).eps * np.abs(exact).max()


def test_walks_are_the_kernel_of_their_features_and_have_gradients_in_the_modulation():
    deposits = walks.simulate(KEY, G, walks.lengths.draw(KEY, len(SEEN), 16, 0.4, "iid"), nodes=SEEN)
    X = jnp.asarray(gp.loads(deposits, 40))

    def gram(lengthscale):
        phi = features.weigh(deposits, modulation.diffusion(np.sqrt(2) * lengthscale)).toarray()
        return VARIANCE * phi @ phi.T

    assert np.allclose(gp.Walks(40, LENGTHSCALE, VARIANCE).gram(X).as_matrix(), gram(LENGTHSCALE), rtol=0, atol=rounding(1e4, K))
    slope = jax.grad(lambda scale: gp.Walks(40, scale, VARIANCE).gram(X).as_matrix().sum())(jnp.asarray(LENGTHSCALE))
    assert float(slope) == pytest.approx((gram(LENGTHSCALE + 1e-4) - gram(LENGTHSCALE - 1e-4)).sum() / 2e-4, rel=1e-5)
    geometric = gp.Walks(40, 0.5, modulation=lambda r: lambda k: r**k).gram(X).as_matrix()
    phi = features.weigh(deposits, lambda k: 0.5**k).toarray()
    assert np.allclose(geometric, phi @ phi.T, rtol=0, atol=rounding(1e4, phi))
    with pytest.raises(ValueError, match="give at least"):
        gp.loads(deposits, 2)
    bare = Graph.from_networkx(nx.path_graph(3))
    with pytest.raises(ValueError, match="not normalised"):
        gp.loads(walks.simulate(KEY, bare, walks.lengths.draw(KEY, 3, 2, 0.5, "iid")), 60)


def test_whole_numbers_are_points_as_floats_are():
    for kernel, x in ((gp.Diffusion(np.zeros(2)), jnp.eye(2)), (gp.Walks(2), jnp.eye(4)), (gp.Walks(1), jnp.array([[3.0, 0.0]]))):
        found = kernel.gram(x.astype(int)).as_matrix()
        assert np.any(found != np.round(found)) and np.array_equal(found, kernel.gram(x).as_matrix())


def test_kernels_add_and_multiply_with_others_of_gpjax():
    X = jnp.asarray(np.column_stack([ROWS, np.linspace(0, 1, 144)]))
    graph, time = gp.Diffusion(EIGENVALUES, LENGTHSCALE, VARIANCE, active_dims=slice(0, 144)), gpx.kernels.RBF(active_dims=[144])
    of_time = np.asarray(time.gram(X).as_matrix())
    assert np.allclose((graph + time).gram(X).as_matrix(), K + of_time, rtol=0, atol=1e-10)
    assert np.allclose((graph * time).gram(X).as_matrix(), K * of_time, rtol=0, atol=1e-10)


def test_rff_of_gpjax_takes_our_couplings():
    x, lengthscale = jax.random.normal(KEY, (20, 3)), 1.7
    omega = couplings.simplex(jax.random.key(1), 8, 3)
    theirs = gpx.kernels.RFF(gpx.kernels.RBF(lengthscale=lengthscale, variance=VARIANCE, n_dims=3), 8, frequencies=omega / lengthscale)
    phi = features.fourier(x / lengthscale, omega)
    assert np.allclose(theirs.gram(x).as_matrix(), VARIANCE * phi @ phi.T, rtol=0, atol=1e-10)


def test_fit_of_gpjax_finds_what_the_data_were_drawn_with():
    y = stats.multivariate_normal(cov=9 * kernels.diffusion(G, np.sqrt(2) * 1.5) + 0.3 * np.eye(144)).rvs(random_state=np.random.default_rng(0))
    model, likelihood = gaussian_processes.fit_process(process(gp.Diffusion(EIGENVALUES), 0.1), data(ROWS, y))
    kernel, deviation = model.prior.kernel, val(model.likelihood.obs_stddev)
    found = np.array([val(kernel.variance), val(kernel.lengthscale), deviation**2], dtype=float)

    def exact(variance, lengthscale, noise):
        return stats.multivariate_normal(cov=variance * kernels.diffusion(G, np.sqrt(2) * lengthscale) + noise * np.eye(144)).logpdf(y)

    assert float(likelihood) == pytest.approx(exact(*found), rel=1e-8)
    assert all(exact(*(found * np.exp(step))) < likelihood for step in 0.1 * np.vstack([np.eye(3), -np.eye(3)]))
    assert 0 <= likelihood - exact(9.0, 1.5, 0.3) < 12  # twice this is chi-squared of three: one false alarm in 10^5


def test_sparse_kernel_is_the_kernel_but_for_what_is_left_out():
    """Left out are powers of a total weight below tol, entries of W^k being at most 1, and then entries below tol."""
    for tol in (1e-3, 1e-7):
        found = gp.diffusion_covariance(G, LENGTHSCALE, VARIANCE, tol)
        assert np.abs(found.toarray() - K).max() <= 2 * VARIANCE * tol + rounding(1000 * G.n_nodes, 2.0)
        assert found.nnz < np.sum(tol * VARIANCE < K) + 1
    assert gp.diffusion_covariance(G, LENGTHSCALE, VARIANCE, 1e-3).nnz < G.n_nodes**2 / 3


@pytest.mark.parametrize("lengthscale", [1e-300, 0.01, 20.0, 27.3, 30.0, 40.0, 100.0])
def test_sparse_kernel_of_any_lengthscale_is_the_kernel(lengthscale):
    """From 27.3 on exp(-lengthscale^2) is no number of float64."""
    karate = Graph.from_networkx(nx.karate_club_graph())
    found = gp.diffusion_covariance(karate, lengthscale).toarray()
    assert np.abs(found - kernels.diffusion(karate, np.sqrt(2) * lengthscale)).max() <= 2e-7 + rounding(10_000)


# Eigenvalues: beyond -1; beyond 1, where the kernel grows; both.
SIGNED = [
    [[0.0, 3, -1], [3, 0, 2], [-1, 2, 0]],
    [[3.0, -1], [-1, 3]],
    [[0.0, 5, -4], [5, 0, 5], [-4, 5, 0]],
]


@pytest.mark.parametrize("weights", SIGNED)
@pytest.mark.parametrize("lengthscale", [0.5, 1.0, 4.0])
def test_sparse_kernel_of_weights_below_0_has_covariances_below_0(weights, lengthscale):
    g = Graph.from_scipy(np.array(weights))
    exact = linalg.expm(-(lengthscale**2) * (np.eye(g.n_nodes) - g.normalised().to_scipy().toarray()))
    found = gp.diffusion_covariance(g, lengthscale, VARIANCE).toarray() / VARIANCE
    assert np.abs(found - exact).max() <= 2e-7 * max(1, np.linalg.norm(exact, 2))
    assert lengthscale > 1 or found.min() < -0.01


def test_sparse_kernel_takes_weights_that_are_symmetric_up_to_rounding():
    W = K.copy()
    W[np.triu_indices(144, 1)] *= 1 + 2e-15
    found, exact = (gp.diffusion_covariance(Graph.from_scipy(matrix), LENGTHSCALE).toarray() for matrix in (W, K))
    assert np.array_equal(found, found.T) and np.allclose(found, exact, rtol=0, atol=rounding(10_000))
    with pytest.raises(ValueError, match="directed"):
        gp.diffusion_covariance(Graph.from_scipy(np.triu(K)), LENGTHSCALE)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"lengthscale": np.nan}, "lengthscale = nan"),
        ({"lengthscale": -1.0}, "lengthscale = -1.0; give a number above 0"),
        ({"lengthscale": 1e5}, r"lengthscale = 100000.0, for which a sparse matrix is too wide; give kernels.diffusion\(g"),
        ({"lengthscale": 1e200}, "too wide"),
        ({"variance": 0}, "variance = 0.0"),
        ({"variance": np.inf}, "variance = inf"),
        ({"tol": 0}, "tol = 0.0; give a number between 0 and 1"),
        ({"tol": 1.5}, "tol = 1.5"),
        ({"tol": np.nan}, "tol = nan"),
    ],
)
def test_arguments_of_no_sparse_kernel_are_refused(argument, words):
    with pytest.raises(ValueError, match=words):
        gp.diffusion_covariance(G, **({"lengthscale": 1.0} | argument))


def test_sparse_elimination_agrees_with_gpjax():
    """To 1e-10, where both run, for the kernel and for walk features."""
    phi = np.sqrt(VARIANCE) * features.walk_features(KEY, G, modulation.diffusion(1.8), 16, 0.4).to_scipy()
    for sparse, kernel, X in [
        (sp.csr_array(K), gp.Diffusion(EIGENVALUES, LENGTHSCALE, VARIANCE), ROWS),
        (phi @ phi.T, gpx.kernels.Linear(), phi.toarray()),
    ]:
        for asked in (ASKED, np.array([1, 20, 143])):
            found = gp.posterior(sparse, Y, NOISE, SEEN, asked)
            exact = process(kernel, NOISE).predict(jnp.asarray(X[asked]), train_data=data(X[SEEN], Y))
            for ours, theirs in ((found.mean, exact.mean), (found.covariance_matrix, exact.covariance_matrix), (found.variance, exact.variance)):
                assert np.allclose(ours, theirs, rtol=0, atol=1e-10)
    twice = gp.posterior(sp.csr_array(2 * np.eye(2)), [1.0, 2.0], 0.5, [1, 1], [0, 1])
    assert np.allclose(twice.mean, [0.0, 2 * 3 / 4.5], rtol=0, atol=rounding(100, 2.0)), "a node that was seen twice counts twice"


def test_a_covariance_that_is_none_is_refused():
    shifted = sp.csr_array(K) - 0.5 * sp.eye_array(144)  # and with the noise still indefinite
    for bad in (sp.csr_array(-K), shifted, -NOISE * sp.eye_array(144, format="csr"), sp.csr_array(np.fliplr(np.eye(144)))):
        with pytest.raises(ValueError, match="K, with the noise, has eigenvalues that are not positive; give"):
            gp.posterior(sp.csr_array(bad), Y, NOISE, SEEN)


def test_without_a_node_to_predict_the_posterior_is_empty():
    for found in (gp.posterior(sp.csr_array(K), np.ones(144), NOISE, np.arange(144)), gp.posterior(sp.csr_array(K), Y, NOISE, SEEN, [])):
        assert found.mean.shape == found.variance.shape == (0,) and found.covariance_matrix.shape == (0, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gp.posterior(sp.csr_array(K), Y, -0.1, SEEN), "noise = -0.1; give a number of at least 0"),
        (lambda: gp.posterior(sp.csr_array(K), Y, np.nan, SEEN), "noise = nan"),
        (lambda: gp.posterior(sp.csr_array(K), Y, np.full(144, 0.1), SEEN), r"noise has shape \(144,\); give one variance for all observations, or 48"),
        (lambda: gp.posterior(sp.csr_array(K), Y, [[0.1] * 48], SEEN), r"noise has shape \(1, 48\)"),
        (lambda: gp.posterior(sp.csr_array(K), Y, [], SEEN), r"noise has shape \(0,\)"),
        (lambda: gp.posterior(sp.csr_array(K), Y, [0.1, np.nan] * 24, SEEN), "noise has 24 NaN"),
        (lambda: gp.posterior(sp.csr_array(K), Y, [0.1, -0.25] * 24, SEEN), "noise has the value -0.25; give numbers of at least 0"),
        (lambda: gp.posterior(sp.csr_array(K), Y, "0.1", SEEN), "noise has dtype"),
        (lambda: jax.jit(lambda noise: gp.posterior(sp.csr_array(K), Y, noise, SEEN))(np.full(48, 0.1)), "noise is traced"),
        (lambda: gp.posterior(sp.csr_array(np.triu(K)), Y, NOISE, SEEN), "K is not symmetric; give all of a covariance"),
        (lambda: gp.posterior(K.tolist(), Y, NOISE, SEEN), r"K is of type list; give a SciPy sparse array, an array of NumPy or JAX, or walk features"),
        (lambda: gp.posterior(jnp.asarray(np.triu(K)), Y, NOISE, SEEN), "K is not symmetric; give all of a covariance"),
        (lambda: jax.jit(lambda K: gp.posterior(K, Y, NOISE, SEEN))(K), "K is traced"),
        (lambda: gp.posterior(sp.csr_array(K[:5]), Y, NOISE, SEEN), r"K has shape \(5, 144\); give a square matrix"),
        (lambda: gp.posterior(np.zeros((0, 0)), Y, NOISE, SEEN), r"K has shape \(0, 0\)"),
        (lambda: gp.posterior_weights(sp.csr_array(ROWS[SEEN]), Y, -1.0), "noise = -1.0"),
        (lambda: gp.posterior_weights(sp.csr_array(ROWS[SEEN] * np.nan), Y, NOISE), "phi has .* NaN"),
        (lambda: gp.posterior_weights(sp.csr_array(ROWS[SEEN]), Y, NOISE, rtol=np.nan), "rtol = nan"),
        (lambda: gp.posterior_weights(sp.csr_array(ROWS[SEEN]), Y, NOISE, max_steps=0), "max_steps = 0"),
        (lambda: gp.posterior_weights(sp.csr_array(ROWS[SEEN]), Y, np.full(3, 0.1)), "noise has shape .*, or 48, one for each"),
        (lambda: gp.sample_weights(KEY, sp.csr_array(ROWS[SEEN]), Y, np.full(3, 0.1), 2), "noise has shape .*, or 48, one for each"),
        (lambda: gp.sample_weights(KEY, sp.csr_array(ROWS[SEEN]), Y[:5], NOISE, 2), "y has shape .* one number per row of phi"),
        (lambda: gp.sample_weights(KEY, sp.csr_array(ROWS[SEEN]), Y, NOISE, 0), "n_samples = 0; give a whole number of at least 1"),
        (lambda: gp.sample_weights(KEY, sp.csr_array(ROWS[SEEN]), Y, NOISE, 2, rtol=1.0), "rtol = 1.0"),
        (lambda: gp.sample_weights(0, sp.csr_array(ROWS[SEEN]), Y, NOISE, 2), "key = 0; give one JAX key"),
        (lambda: gp.fit_walks(KEY, G, [0, 144], np.ones(2)), "nodes has values in"),
        (lambda: gp.fit_walks(KEY, G, [0, 1], np.ones(3)), "y has shape .* give a vector of 2, one number per entry of nodes"),
        (lambda: gp.fit_walks(KEY, G, [0, 1], np.zeros(2)), "y has values up to 0; give values that are not all 0"),
        (lambda: gp.fit_walks(KEY, Graph.from_networkx(nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 2)])), [0], [1.0]), "g is directed; give an undirected graph"),
        (lambda: gp.fit_walks(KEY, nx.path_graph(3), [0], [1.0]), "from_networkx"),
        (lambda: gp.fit_walks(KEY, G, [0], [1.0], lengthscales=(5.0, 0.2)), "lengthscales"),
        (lambda: gp.fit_walks(KEY, G, [0], [1.0], coupling="pm"), "coupling = 'pm'"),
        (lambda: gp.conjugate_gradients(lambda v: v, np.ones(3), 1.0, 1e-8), r"y has shape \(3,\)"),
        (lambda: gp.conjugate_gradients(lambda v: v, np.ones((3, 1)), np.ones(2), 1e-8), "noise has shape .*, or 3, one for each"),
        (lambda: gp.conjugate_gradients(lambda v: v, np.ones((3, 1)), 1.0, -1.0), "atol = -1.0; give numbers of at least 0"),
        (lambda: gp.conjugate_gradients(lambda v: v[:, 0], np.ones((3, 1)), 1.0, 1e-8), r"product returns shape \(3,\)"),
        (lambda: gp.conjugate_gradients(lambda v: np.nan * v, np.ones((3, 1)), 1.0, 1e-8), "product, with the noise, is not positive definite or overflows"),
        (lambda: gp.conjugate_gradients(lambda v: 0 * v, np.ones((3, 1)), 0.0, 1e-8), "product, with the noise, is not positive definite"),
        (lambda: gp.fit_diffusion(KEY, STILL, np.ones(4), lengthscales=(5.0, 0.2)), r"lengthscales = \(5.0, 0.2\); give two bounds above 0"),
        (lambda: gp.fit_diffusion(KEY, STILL, np.ones(4), lengthscales=(0.0, 1.0)), "lengthscales"),
        (lambda: gp.fit_diffusion(KEY, STILL, np.ones(4), n_probes=0), "n_probes = 0; give a whole number"),
        (lambda: gp.fit_diffusion(KEY, STILL, np.ones(4), n_steps=2.5), "n_steps = 2.5; give a whole number"),
        (lambda: gp.fit_diffusion(KEY, STILL, np.full(4, 1e-200)), "y has values up to 1e-200"),
    ],
)
def test_arguments_of_no_process_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
def test_predictions_are_linear_in_what_was_observed(size):
    """Also where squares of it are 0 or infinite."""
    phi = sp.csr_array(ROWS[SEEN])
    b = gp.posterior_weights(phi, Y, NOISE, rtol=1e-12)
    assert np.allclose(gp.posterior_weights(phi, size * Y, NOISE, rtol=1e-12) / size, b, rtol=0, atol=1e-10)
    whole = gp.conjugate_gradients(lambda v: 2.0 * v, np.array([[3], [-6]]), 1, 1e-12)  # of whole numbers
    assert np.allclose(whole, [[1.0], [-2.0]])


def test_weights_predict_as_gpjax_does_with_the_same_features():
    own, others = jax.random.split(KEY)
    what = G, modulation.diffusion(2.0), 16, 0.1
    phi, asked = features.walk_features(own, *what, nodes=SEEN), features.walk_features(others, *what, stored=False)
    b = gp.posterior_weights(phi, Y, NOISE, rtol=1e-14)
    exact = process(gpx.kernels.Linear(), NOISE).predict(jnp.asarray(asked.toarray()), train_data=data(phi.toarray(), Y))
    assert np.allclose(asked @ b, exact.mean, rtol=0, atol=1e-10)
    assert np.array_equal(b, gp.posterior_weights(phi.to_scipy(), Y, NOISE, rtol=1e-14))
    with pytest.raises(RuntimeError, match="give more max_steps"):
        gp.posterior_weights(sp.csr_array(np.diag(np.arange(1.0, 9.0))), np.ones(8), 0.01, rtol=1e-12, max_steps=2)


# Walkers on loops, of 0 to 5 hops: K is diagonal, and so a probe of signs has its log determinant without noise.
LOOPS = Graph.from_networkx(nx.empty_graph(24)).normalised()
ON_LOOPS = walks.simulate(KEY, LOOPS, walks.Lengths(np.arange(24)[:, None] % 6, 0.5))
STILL = walks.simulate(KEY, LOOPS, walks.Lengths(np.zeros((4, 1), dtype=int), 0.5), nodes=np.arange(4))


@pytest.mark.parametrize("n_probes", [1, 2, 8])
def test_few_probes_have_the_log_determinant_of_a_diagonal_kernel(n_probes):
    """y^2 is what the model expects of it at every node, which no other hyper-parameters are as likely to give."""
    best = np.array([9.0, 1.5, 2.7])
    diagonal = np.diag(features.weigh(ON_LOOPS, modulation.diffusion(np.sqrt(2) * best[1])).toarray()) ** 2
    y = np.sqrt(best[0] * diagonal + best[2])
    found = gp.fit_diffusion(KEY, ON_LOOPS, y, n_probes=n_probes)
    assert np.allclose(np.log(found), np.log(best), rtol=0, atol=0.01)  # the search stops at 1e-3 of log gamma


def test_no_hyper_parameters_nearby_have_more_likelihood():
    """Exact likelihood of the same walks. Probes of signs leave noise, so steps are large and probes many."""
    g = Graph.from_networkx(nx.grid_2d_graph(20, 20)).normalised()
    seen = np.arange(400)[np.arange(400) % 20 != 3]
    law = kernels.diffusion(g, np.sqrt(2) * 1.5)[np.ix_(seen, seen)] + 0.3 * np.eye(len(seen))
    y = 3 * np.linalg.cholesky(law) @ np.random.default_rng(0).normal(size=len(seen))
    deposits = walks.simulate(KEY, g, walks.lengths.draw(KEY, len(seen), 32, 0.4, "iid"), nodes=seen)
    best = np.array(gp.fit_diffusion(KEY, deposits, y, n_probes=200))

    def likelihood(variance, lengthscale, noise):
        phi = features.weigh(deposits, modulation.diffusion(np.sqrt(2) * lengthscale))
        return stats.multivariate_normal(cov=variance * (phi @ phi.T).toarray() + noise * np.eye(len(seen))).logpdf(y)

    at_best = likelihood(*best)
    for i in range(3):
        for factor in (0.75, 1 / 0.75):
            moved = best.copy()
            moved[i] *= factor
            assert likelihood(*moved) < at_best
    assert np.all(np.abs(np.log(best / [9.0, 1.5, 2.7])) < 0.7)  # what y was drawn with, but for the noise of the walks


# The companion's part.
POINTS = np.random.default_rng(1).normal(size=(40, 2))
VALUES = np.sin(POINTS[:, 0]) + 0.1 * np.random.default_rng(2).normal(size=40)


def test_fit_of_points_is_a_maximum_of_the_likelihood():
    fit = gaussian_processes.fit_gaussian(POINTS, VALUES)

    def exact(lengthscale, variance, noise):
        K = variance * np.asarray(kernels.gaussian(POINTS / lengthscale, POINTS / lengthscale))
        return stats.multivariate_normal(cov=K + noise * np.eye(40)).logpdf(VALUES)

    best = np.array(fit[:3])
    assert fit.log_marginal_likelihood == pytest.approx(exact(*best), rel=1e-8)
    for step in np.vstack([np.eye(3), -np.eye(3)]):
        assert exact(*(best * np.exp(0.05 * step))) < fit.log_marginal_likelihood
    fixed = gaussian_processes.fit_gaussian(POINTS, VALUES, lengthscale=0.7)
    assert fixed.lengthscale == pytest.approx(0.7) and fixed.log_marginal_likelihood < fit.log_marginal_likelihood
    assert exact(0.7, fixed.variance * 1.05, fixed.noise) < fixed.log_marginal_likelihood


@pytest.mark.parametrize("m", [3, 30])
def test_weights_have_the_posterior_of_the_kernel(m):
    phi = np.random.default_rng(0).normal(size=(40, m))
    few, exact = (of(x, VALUES[:20], NOISE, 20) for of, x in ((gaussian_processes.low_rank_posterior, phi), (gaussian_processes.posterior, phi @ phi.T)))
    mean, covariance = conditional(phi @ phi.T, VALUES[:20], NOISE, np.arange(20), np.arange(20, 40))
    assert np.allclose(exact.mean, mean, atol=1e-6) and np.allclose(exact.covariance_matrix, covariance, atol=1e-6)
    assert np.allclose(few.mean, exact.mean, atol=1e-9) and np.allclose(few.factor @ few.factor.T, exact.covariance_matrix, atol=1e-9)
    printed = formulas.posterior_by_weights(phi[:20], phi[20:], VALUES[:20], NOISE)  # which lacks 1 / s^2, and has the noise
    assert np.allclose(printed[0] / NOISE, few.mean, atol=1e-9)
    assert np.allclose(printed[1] - NOISE * np.eye(20), exact.covariance_matrix, atol=1e-9)


@pytest.mark.parametrize("exact_noise", [None, 0.2])
def test_divergences_of_low_rank_are_those_of_gpjax(exact_noise):
    phi = np.random.default_rng(3).normal(size=(40, 5))
    K = np.asarray(kernels.gaussian(POINTS, POINTS))
    exact = gaussian_processes.posterior(K, VALUES[:20], NOISE, 20)
    few = gaussian_processes.low_rank_posterior(phi, VALUES[:20], NOISE, 20)
    found = predictives.divergences(exact, few, NOISE, exact_noise)
    pair = [
        (exact.mean, exact.covariance_matrix + (exact_noise or NOISE) * np.eye(20)),
        (few.mean, few.factor @ few.factor.T + NOISE * np.eye(20)),
    ]
    ours = [gaussian_processes.kl(*a, *b) for a, b in (pair, pair[::-1])]
    assert np.allclose(found, ours, rtol=1e-8) and min(found) > 0.1
    theirs = [gpx.distributions.GaussianDistribution(mean, lx.MatrixLinearOperator(C, lx.positive_semidefinite_tag)) for mean, C in pair]
    assert np.allclose(found, [theirs[0].kl_divergence(theirs[1]), theirs[1].kl_divergence(theirs[0])], rtol=1e-8)
    same = gaussian_processes.Posterior(few.mean, few.factor @ few.factor.T)
    assert 0 <= predictives.predictive_kl(same, same, NOISE) < 1e-9
    assert np.allclose(predictives.divergences(same, few, NOISE), 0, atol=1e-8)
    if exact_noise is None:
        assert float(predictives.predictive_kl(same, exact, NOISE)) == pytest.approx(float(found.of_approximate), rel=1e-8)
