"""What would give a silent wrong number, or a riddle, is a ValueError at the public door that says what to give."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import trimesh

from companion import evidence
from rfcore import attention, checks, copulas, couplings, features, graphs, kernels, solvers, theory, walks
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.solvers import transport

KEY = jax.random.key(0)
BARE = Graph.from_networkx(nx.path_graph(3))
G = BARE.normalised()
DIRECTED = Graph.from_networkx(nx.DiGraph([(0, 1), (1, 2)]))
RING = Graph.from_networkx(nx.DiGraph([(0, 1), (1, 2), (2, 0)]))
F = modulation.diffusion(1.0)
X = np.array([[0.1, 0.2], [0.3, -0.4], [0.0, 0.5]])
OMEGA = np.eye(2)
NAN = np.where(X == 0.1, np.nan, X)
PHI = features.walk_features(KEY, G, F, 2, 0.5)
PARAMETERS = solvers.exponential.gerf(X, X)

# Functions of points: each of them, given what no point is.
OF_POINTS = {
    "fourier": lambda x: features.fourier(x, OMEGA),
    "trigonometric": lambda x: features.trigonometric(x, OMEGA, np.zeros(2)),
    "positive": lambda x: features.positive(x, OMEGA),
    "log_positive": lambda x: features.log_positive(x, OMEGA),
    "exponential": lambda x: features.exponential(x, OMEGA, PARAMETERS, "x"),
    "omega": lambda x: features.positive(X, x),
    "gaussian": lambda x: kernels.gaussian(x, X),
    "softmax kernel": lambda x: kernels.softmax(X, x),
    "matern": lambda x: kernels.matern(x, X, 1.5),
    "gerf": lambda x: solvers.exponential.gerf(x, X),
    "saderf": lambda x: solvers.exponential.saderf(X, x),
    "softmax": lambda x: attention.softmax(x, X, X),
    "linear": lambda x: attention.linear(np.abs(X), np.abs(X), x),
    "antithetic": couplings.antithetic,
    "log_relative_variance": lambda x: theory.log_relative_variance(x, X, features.ExponentialParameters()),
}
NO_POINTS = {
    "NaN": NAN,
    "infinite": np.where(X == 0.1, np.inf, X),
    "complex": X + 1j,
    "text": X.astype(str),
    "masked": np.ma.masked_array(X, X > 0.4),
    "ragged": [[1.0], [1.0, 2.0]],
    "sparse": sp.csr_array(X),
    "one point": X[0, 0],
}


@pytest.mark.parametrize("bad", NO_POINTS)
@pytest.mark.parametrize("name", OF_POINTS)
def test_what_is_no_array_of_points_is_refused(name, bad):
    if name in ("softmax", "linear") and bad in ("NaN", "infinite"):
        pytest.skip("a mask may hide them")
    with pytest.raises(ValueError, match=r"; |give|must|has"):
        OF_POINTS[name](NO_POINTS[bad])


OTHERS = {
    "m in halves": (lambda: couplings.orthogonal(KEY, 4.5, 2), "m = 4.5; give a whole number"),
    "negative m": (lambda: couplings.orthogonal_pnc(KEY, -1, 2), "m = -1"),
    "no dimension": (lambda: couplings.halton(KEY, 4, 0), "d = 0"),
    "simplex of two on a line": (lambda: theory.log_conformity(1.0, 1, "simplex"), "d"),
    "dimension of Sobol'": (lambda: couplings.sobol(KEY, 4, 10**5), "give at most"),
    "norms for directions": (lambda: couplings.compose(couplings.norms.independent)(KEY, 4, 3), "directions has drawn shape"),
    "correlation of 2": (lambda: couplings.orthogonal_copula(KEY, 2, 2, [[1.0, 2.0], [2.0, 1.0]]), "correlation"),
    "crooked correlation": (lambda: copulas.gaussian([[1.0, 0.5], [0.2, 1.0]]), "symmetric"),
    "unknown copula": (lambda: copulas.named("opposite"), "choose one of"),
    "no permutation": (lambda: copulas.permutation([0, 0]), "permutation"),
    "smoothness 0": (lambda: couplings.matern(KEY, 4, 2, 0.0), "nu"),
    "distance too far": (lambda: couplings.choose(m=4, d=3, distance=4.0), "distance"),
    "dimensions differ": (lambda: features.positive(X, np.eye(3)), "frequencies of dimension 3"),
    "unknown kernel": (lambda: features.fourier(X, OMEGA, kernel="laplace"), "kernel = 'laplace'; choose one of"),
    "unknown side": (lambda: features.exponential(X, OMEGA, PARAMETERS, side="q"), "side"),
    "parameters of another dimension": (lambda: features.exponential(np.ones((2, 3)), np.eye(3), PARAMETERS, "x"), "parameters|B"),
    "kernel of two dimensions": (lambda: kernels.gaussian(X, X[:, :1]), "coordinates"),
    "p_halt of 1": (lambda: features.walk_features(KEY, G, F, 2, 1.0), "p_halt"),
    "no walks": (lambda: features.walk_features(KEY, G, F, 0, 0.5), "n_walks"),
    "unknown coupling": (lambda: features.walk_features(KEY, G, F, 2, 0.5, coupling="pm"), "coupling = 'pm'"),
    "node that is not there": (lambda: features.walk_features(KEY, G, F, 2, 0.5, nodes=[3]), "nodes"),
    "nodes as a mask": (lambda: features.walk_features(KEY, G, F, 2, 0.5, nodes=[True, False, True]), "nodes"),
    "raw weights for a named modulation": (lambda: features.walk_features(KEY, BARE, F, 2, 0.5), "normalised"),
    "a matrix for a graph": (lambda: features.walk_features(KEY, np.eye(3), F, 2, 0.5), "give a Graph"),
    "a network for a graph": (lambda: kernels.diffusion(nx.path_graph(3), 1.0), "from_networkx"),
    "modulation of one value": (lambda: features.walk_features(KEY, G, lambda k: 1.0, 2, 0.5), "one value per length"),
    "kernel for a modulation": (lambda: features.walk_features(KEY, G, kernels.Diffusion(1.0), 2, 0.5), r"of_kernel\(f\)"),
    "function of a graph for a modulation": (lambda: features.walk_features(KEY, G, kernels.diffusion, 2, 0.5), "give a modulation"),
    "list for a modulation": (lambda: features.walk_features(KEY, G, [1.0, 0.5], 2, 0.5), "from_taylor or from_values"),
    "kernel too wide for its walks": (lambda: features.walk_features(KEY, G, modulation.diffusion(20.0), 2, 0.1), "give a p_halt of"),
    "modulation of a kernel on directed weights": (lambda: features.walk_features(KEY, RING.normalised(), F, 2, 0.5), "undirected"),
    "modulation that overflows": (lambda: features.walk_features(KEY, G, lambda k: np.where(k, np.inf, 1), 2, 0.5), "infinite"),
    "traced key of walks": (lambda: jax.jit(lambda key: features.walk_features(key, G, F, 2, 0.5).toarray())(KEY), "traced"),
    "vector that does not fit": (lambda: PHI @ np.ones(2), "shape"),
    "lengths that are negative": (lambda: walks.simulate(KEY, G, walks.Lengths(-np.ones((3, 2), int), 0.5)), "lengths"),
    "Taylor series that is no number": (lambda: modulation.from_taylor([1.0, np.nan]), "NaN"),
    "sigma below 0": (lambda: modulation.diffusion(-1.0), "sigma"),
    "p in halves": (lambda: modulation.p_step(2.0, 1.5), "p = 1.5"),
    "lengths in halves": (lambda: F(np.array([0.5])), "whole numbers"),
    "directed weights for a spectrum": (lambda: kernels.spectrum(DIRECTED), "undirected|symmetric"),
    "edge weights by an unknown name": (lambda: Graph.from_networkx(nx.path_graph(3), weight="miles"), "miles"),
    "edges beyond the nodes": (lambda: Graph.from_edges([[0], [5]], n_nodes=3), "edges"),
    "weights that are not one an edge": (lambda: Graph.from_edges([[0], [1]], weights=[1.0, 2.0]), "weights"),
    "NaN weights": (lambda: Graph.from_scipy(sp.csr_array([[0, np.nan], [np.nan, 0]])), "NaN"),
    "matrix that is not square": (lambda: Graph.from_scipy(sp.csr_array(np.ones((2, 3)))), "square"),
    "mesh nodes": (lambda: Graph.from_mesh(trimesh.creation.box(), nodes="edges"), "nodes"),
    "negative degree": (lambda: Graph.from_scipy(sp.csr_array([[0, -1.0], [-1.0, 0]])).normalised(), "weighted degree"),
    "series that is cut": (lambda: transport.bin_spectra(G, modulation.diffusion(3.0), 4, 0.1, n_terms=3), "n_terms = 3 leaves out"),
    "costs that are not square": (lambda: transport.assignment(np.ones((2, 3))), "costs?"),
    "attention of other lengths": (lambda: attention.softmax(X, X, X[:2]), "v"),
    "causal attention of other lengths": (lambda: attention.linear(np.abs(X), np.abs(X[:2]), X[:2], causal=True), "causal"),
    "mask of pairs": (lambda: attention.softmax(X, X, X, mask=np.tri(3, dtype=bool)), "give one of keys"),
    "causal that is traced": (lambda: jax.jit(attention.linear)(X, X, X, True), "causal is traced"),
    "parameters of one head": (lambda: attention.random_feature_attention(X[None], X[None], X[None], OMEGA[None], PARAMETERS), "parameters has a field"),
    "smoothness that is traced": (lambda: jax.jit(kernels.matern)(X, X, 1.5), "nu is traced"),
    "smoothness that is True": (lambda: kernels.matern(X, X, True), "nu"),
    "mask of numbers": (lambda: attention.linear(np.abs(X), np.abs(X), X, mask=np.ones(3)), "mask"),
    "negative linear features": (lambda: theory.positive_mse(np.full(3, 20.0), np.full(3, 20.0), 3, "orthogonal"), "give values in"),
    "pair of other dimensions": (lambda: theory.fourier_mse(np.ones(3), np.ones(2), 3, "iid"), "y has shape"),
    "sampling weights": (lambda: features.frequencies.weighted(X, np.ones(2)), "log_weights|one"),
    "too little for an error": (lambda: evidence.unbiased(np.ones((1, 3)), np.ones(3), smallest_bias=1.0), "repeats"),
    "sigma whose square overflows": (lambda: kernels.diffusion(G, 1e200), "sigma"),
    "traced sigma of a matrix": (lambda: jax.jit(lambda sigma: kernels.diffusion(G, sigma))(1.0), "traced"),
    "matrix for a network": (lambda: Graph.from_networkx(np.eye(3)), "from_scipy"),
    "file name for a mesh": (lambda: Graph.from_mesh("torus.stl"), "trimesh"),
    "edges of floats": (lambda: graphs.Graph.from_edges(np.array([[0.5], [1.0]])), "edges"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_mistake_is_refused_with_words(case):
    call, words = OTHERS[case]
    with pytest.raises(ValueError, match=words):
        call()


def test_what_a_compiled_function_has_captured_is_checked_like_any_value():
    bad = jnp.asarray(NAN)
    with pytest.raises(ValueError, match="NaN"):
        jax.jit(lambda x: kernels.gaussian(x, bad))(jnp.asarray(X))


# The same numbers have the same answer, however narrow the type that holds them: a square of 22 is no int8.
NARROW = {
    "fourier": lambda x: features.fourier(x, x),
    "log_positive": lambda x: features.log_positive(x, x),
    "log_exponential": lambda x: features.log_exponential(x, x, PARAMETERS, "y"),
    "gaussian": lambda x: kernels.gaussian(x, x),
    "matern": lambda x: kernels.matern(x, x, 1.5),
    "sderf": lambda x: features.log_exponential(X, OMEGA, solvers.exponential.sderf(x, x), "x"),
    "log_relative_variance": lambda x: theory.log_relative_variance(x, x, features.ExponentialParameters()),
    "graph": lambda x: Graph.from_scipy(sp.csr_array(x[:2])).normalised().to_scipy().toarray(),
    "edge weights": lambda x: Graph.from_edges([[0, 1, 2], [1, 2, 0]], weights=x[:, 0]).to_scipy().toarray(),
    "Taylor series": lambda x: modulation.from_taylor(x[2])(np.arange(2)),
    "product": lambda x: PHI @ x,
    "costs": lambda x: transport.assignment(x[:2]),
    "linear attention": lambda x: attention.linear(x, x, x),
}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("name", NARROW)
def test_narrow_numbers_are_as_good_as_others(name, dtype):
    whole = np.array([[22, 11], [11, 22], [22, 22]])
    found, expected = (np.asarray(NARROW[name](whole.astype(d))) for d in (dtype, np.int64))
    rounding = 1e-4 if dtype is np.float32 else 1e-12  # an angle of 100 is rounded to 1e-5
    assert np.allclose(found, expected, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("dtype", [int, np.int8, np.int64])
def test_one_length_as_a_number(dtype):
    for f in (modulation.diffusion(1.0), modulation.regularised_laplacian(1.0, 2), modulation.p_step(4, 3), modulation.inverse_cosine()):
        assert np.allclose(f(dtype(3)), f(np.arange(6))[3])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_narrow_lengths_of_walks(dtype):
    lengths = np.array([[100, 3], [1, 0], [2, 90]])
    found, expected = (walks.simulate(KEY, G, walks.Lengths(lengths.astype(d), 0.5)).step for d in (dtype, int))
    assert np.array_equal(found, expected)


def test_float64_that_is_cut_is_said():
    checks._say_that_float64_is_cut.cache_clear()
    with jax.enable_x64(False), pytest.warns(UserWarning, match="is float64, and JAX computes it in float32"):
        features.positive(X, jnp.eye(2))
