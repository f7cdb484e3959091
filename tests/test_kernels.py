"""Kernels against their definitions, computed another way."""

import jax
import networkx as nx
import numpy as np
import pytest
import scipy.linalg
from rounding import rounding

from rfcore import kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.disjoint_union(nx.lollipop_graph(4, 3), nx.empty_graph(1)))
L = np.eye(8) - G.normalised().to_scipy().toarray()


def test_euclidean_kernels_entry_by_entry():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    for i in range(3):
        for j in range(4):
            assert kernels.gaussian(X, Y)[i, j] == pytest.approx(np.exp(-np.sum((X[i] - Y[j]) ** 2) / 2))
            assert kernels.softmax(X, Y)[i, j] == pytest.approx(np.exp(X[i] @ Y[j]))
    far = X + 1e8
    assert np.allclose(kernels.gaussian(far, far), kernels.gaussian(X, X), atol=1e-6)


def test_a_softmax_kernel_that_overflows_is_refused_where_it_is_known():
    x = np.full((2, 4), 20.0)
    with pytest.raises(ValueError, match=r"X @ Y.T has values up to 1600, .* give shorter points, or .* X @ Y.T"):
        kernels.softmax(x, x)
    assert np.all(np.isinf(jax.jit(kernels.softmax)(x, x)))


@pytest.mark.parametrize(
    ("ours", "definition"),
    [
        (kernels.diffusion(G, 1.3), scipy.linalg.expm(-(1.3**2) * L / 2)),
        (kernels.regularised_laplacian(G, 0.7, 3), np.linalg.matrix_power(np.linalg.inv(np.eye(8) + 0.49 * L), 3)),
        (kernels.p_step(G, 2.5, 3), np.linalg.matrix_power(2.5 * np.eye(8) - L, 3)),
        (kernels.inverse_cosine(G), scipy.linalg.cosm(np.pi / 4 * L)),
    ],
)
def test_graph_kernels_are_functions_of_the_laplacian(ours, definition):
    # Eigendecompositions of 8 rows: some 10 eps of the largest entry, which is below 100.
    assert np.allclose(ours, definition, rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(ours).min() > -1e-12


def test_functions_of_the_weights_as_they_are():
    weighted = Graph.from_scipy(np.array([[0.5, -1.0, 0.0], [-1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    W = weighted.to_scipy().toarray()
    assert np.allclose(kernels.exponential(weighted, 0.3), scipy.linalg.expm(0.3 * W), rtol=0, atol=1e-12)
    cubic = 2 * np.eye(3) - W + 0.5 * W @ W @ W
    assert np.allclose(kernels.power_series(weighted, [2.0, -1.0, 0.0, 0.5]), cubic, rtol=0, atol=1e-12)


@pytest.mark.parametrize("alpha", [[], 1.0, [np.nan]])
def test_bad_coefficients_are_refused(alpha):
    with pytest.raises(ValueError, match="alpha"):
        kernels.power_series(G, alpha)


@pytest.mark.parametrize(
    "make",
    [
        lambda: kernels.exponential(G, 1e4),
        lambda: kernels.p_step(G, 1e200, 2),
        lambda: kernels.power_series(G, [0.0, 1e308, 1e308]),
        lambda: kernels.power_series_rows(Graph.from_scipy(1e200 * np.ones((2, 2))), [0.0, 1.0, 1.0], [0]),
        lambda: modulation.p_step(1e200, 4)(np.arange(2)),
    ],
)
def test_kernels_that_overflow_are_an_error(make):
    with pytest.raises(ValueError, match="overflows float64"):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kernels.diffusion(nx.path_graph(3), 1.0), r"from_networkx\(g\)"),
        (lambda: kernels.exponential(np.eye(3), 1.0), r"from_scipy\(g\)"),
        (lambda: kernels.power_series(G, [1.0, 1j]), "alpha has dtype complex"),
        (lambda: kernels.chebyshev_matvec(G, np.exp, np.ones(8) * 1j, 3), "v has dtype complex"),
        (lambda: kernels.chebyshev_matvec(G, lambda x: x + np.nan, np.ones(8), 3), "function has 4 NaN values"),
        (lambda: kernels.expm_multiply(np.eye(8), 1.0, np.ones(8)), "give a Graph"),
        (lambda: kernels.expm_multiply(G, -1e8, np.ones(8)), "scale = -100000000.0 makes .*; give a smaller scale"),
        (lambda: kernels.expm_multiply(G, 1e300, np.ones(8)), r"scale = 1e\+300 makes .*; give a smaller scale"),
        (lambda: kernels.diffusion(G, 1e200), r"sigma = 1e\+200; give a number whose square is finite"),
        (lambda: kernels.regularised_laplacian(G, 1e200, 1), r"sigma = 1e\+200; give a number whose square is finite"),
        (lambda: kernels.regularised_laplacian(G, 1e-8, 1e15), r"d = 1000000000000000.0; give at most 10\^6"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("kernel", [kernels.diffusion, kernels.exponential])
def test_directed_graphs_are_refused(kernel):
    directed = Graph.from_scipy(np.array([[0.0, 1, 1], [1, 0, 0], [1, 1, 0]]))
    with pytest.raises(ValueError, match="directed"):
        kernel(directed, 1.0)


@pytest.mark.parametrize(
    ("kernel", "last"),
    [(kernels.diffusion, ()), (kernels.regularised_laplacian, (2.0,))],
)
@pytest.mark.parametrize("sigma", [1e-300, 1e6, 1e9, 1e30, 1e153])
def test_steep_kernels_are_their_limits(kernel, last, sigma):
    """I, and on each component sqrt(d_i d_j) / sum(d): an eigenvalue 1 that LAPACK has as 1 - 1e-16 made it 0."""
    degrees = np.append(G.degrees[:7], 0)
    limit = np.sqrt(np.outer(degrees, degrees)) / degrees.sum()
    limit[7, 7] = 1.0
    right = np.eye(8) if sigma < 1 else limit
    assert np.allclose(kernel(G, sigma, *last), right, rtol=0, atol=1e-10 if sigma == 1e6 else rounding(1000))


@pytest.mark.parametrize("kernel", [kernels.diffusion, kernels.exponential])
def test_a_matrix_that_is_symmetric_up_to_rounding_is_undirected_and_has_the_kernel_of_its_mean(kernel):
    """Affinities by a product of matrices; one triangle must count as much as the other."""
    x = np.random.default_rng(0).normal(size=(20, 3))
    squares = np.sum(x**2, axis=1)
    W = np.exp(-(squares[:, None] - 2 * x @ x.T + squares) / 2)
    W[np.triu_indices(20, 1)] *= 1 + 2e-15
    assert not np.array_equal(W, W.T)
    found, turned, mean = (kernel(Graph.from_scipy(matrix), 1.0) for matrix in (W, W.T, (W + W.T) / 2))
    assert np.allclose(found, mean, rtol=0, atol=rounding(1000, mean)) and np.allclose(found, turned, rtol=0, atol=rounding(1000, mean))
    assert kernel is kernels.diffusion or np.array_equal(found, turned)  # degrees of rows differ from those of columns
    with pytest.raises(ValueError, match="directed"):
        kernel(Graph.from_scipy(W + np.triu(1e-9 * W)), 1.0)


TRACED = {
    "sigma": lambda x: kernels.diffusion(G, x),
    "d": lambda x: kernels.regularised_laplacian(G, 1.0, x),
    "alpha": lambda x: kernels.p_step(G, 1 + x, 2),
    "scale": lambda x: kernels.exponential(G, x),
    "function": lambda x: kernels.matrix_function(G, lambda eigenvalues: x * eigenvalues),
    "v": lambda x: kernels.chebyshev_matvec(G.normalised(), np.exp, x * np.ones(8), 3),
    "W": lambda x: Graph.from_scipy(x * np.eye(2)),
    "weights": lambda x: Graph.from_edges([[0], [1]], weights=x[None]),
    "factor": G.scaled,
}


@pytest.mark.parametrize("name", TRACED)
def test_what_runs_on_the_host_says_so_where_an_argument_is_traced(name):
    with pytest.raises(ValueError, match=f"{name} is traced, and this runs on the host; call it outside"):
        jax.jit(TRACED[name])(1.5)


@pytest.mark.parametrize("shape", [(8,), (8, 3)])
def test_chebyshev_product_is_the_product_with_the_kernel(shape):
    v = np.random.default_rng(0).normal(size=shape)
    product = kernels.chebyshev_matvec(G.normalised(), kernels.Diffusion(1.3), v, 14)
    assert np.allclose(product, kernels.diffusion(G, 1.3) @ v, rtol=0, atol=rounding(200, v))  # 14 products, 8 terms


def test_chebyshev_product_of_low_degree_is_exact_for_polynomials():
    v, W = np.arange(8.0), G.normalised().to_scipy()
    assert np.allclose(kernels.chebyshev_matvec(G.normalised(), lambda x: 2 + 3 * x, v, 1), 2 * v + 3 * (W @ v))


@pytest.mark.parametrize("size", [1e-300, 1e200, 1e300])
def test_chebyshev_product_of_a_vector_whose_squares_are_no_floats(size):
    v = np.arange(1.0, 9.0)
    found = kernels.chebyshev_matvec(G.normalised(), np.exp, size * v, 14)
    assert np.allclose(found / size, kernels.chebyshev_matvec(G.normalised(), np.exp, v, 14), rtol=1e-14, atol=0)
    with pytest.raises(ValueError, match="eigenvalues outside"):
        kernels.chebyshev_matvec(G, np.exp, size * v, 14)


@pytest.mark.parametrize(("v", "degree"), [(np.ones(7), 3), (np.ones((8, 1, 1)), 3), (np.full(8, np.nan), 3), (np.ones(8), 0)])
def test_chebyshev_product_refuses(v, degree):
    with pytest.raises(ValueError, match=r"(v has|degree = 0; give)"):
        kernels.chebyshev_matvec(G.normalised(), np.exp, v, degree)


@pytest.mark.parametrize("scale", [0.2, 3.0, -1.0, 0.0])
@pytest.mark.parametrize("shape", [(8,), (8, 3)])
def test_exponential_product_is_the_product_with_the_kernel(scale, shape):
    v = np.random.default_rng(0).uniform(size=shape)
    product, kernel = kernels.expm_multiply(G, scale, v), kernels.exponential(G, scale)
    assert product.shape == shape
    # Eigenvalues, and with them exponents, are off by a few 8 eps |scale| |W| < 1e-13: relative to the size of the kernel.
    assert np.allclose(product, kernel @ v, rtol=0, atol=1e-13 * np.abs(kernel).sum())


@pytest.mark.parametrize("small", [1.0, 1e-20])
def test_exponential_product_has_the_terms_that_grow_late(small):
    """Around a hub, of which the first terms of the series know nothing: W v is as good as 0, and exp(W) v is not."""
    hub, v = Graph.from_networkx(nx.star_graph(400)), np.full(401, small)
    v[1:3] = 1.0, -1.0
    share = 398 / 400  # of the leaves, in what W^2 = 400 multiplies; exp(-20) is below rounding
    grown = 1 - share + np.exp(20.0) / 2 * (share + 1 / 20)
    assert np.allclose(kernels.expm_multiply(hub, 1.0, v)[3:], small * grown, rtol=1e-12, atol=0)


def test_exponential_product_of_a_directed_graph_at_one_scale_after_another():
    W = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    g, v = Graph.from_scipy(W), np.array([[1.0, -2.0], [5.0, 0.0], [-1.0, 4.0]])
    for scale in (0.5, 2.0, -0.3, 2.0):
        exact = v + scale * W @ v + scale**2 / 2 * W @ W @ v  # W^3 = 0
        assert np.allclose(kernels.expm_multiply(g, scale, v), exact, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("v", "scale"), [(np.ones(7), 1.0), (np.full(8, np.inf), 1.0), (np.ones(8), np.nan), (np.ones(8) * 1j, 1.0), (np.ones(8), 1e3)]
)
def test_exponential_product_refuses(v, scale):
    with pytest.raises(ValueError, match=r"(v has|scale = nan|the kernel overflows)"):
        kernels.expm_multiply(G, scale, v)


def test_kernels_of_a_normalised_graph_do_not_normalise_it_again():
    """Of a graph that is not regular: normalised twice it would be another."""
    assert np.array_equal(kernels.diffusion(G.normalised(), 1.3), kernels.diffusion(G, 1.3))
    assert np.array_equal(kernels.inverse_cosine(G.normalised()), kernels.inverse_cosine(G))


@pytest.mark.parametrize("factor", [1.1, -1.001])
def test_chebyshev_product_refuses_weights_with_eigenvalues_beyond_one(factor):
    with pytest.raises(ValueError, match=r"outside \[-1, 1\]; give g.normalised"):
        kernels.chebyshev_matvec(G.normalised().scaled(factor), np.exp, np.arange(8.0), 200)


def test_chebyshev_product_takes_an_eigenvector_at_the_edge_of_the_spectrum():
    """T_k of the eigenvalue 1 is 1 for all k: rounding alone must not look like growth."""
    g = G.normalised()
    top = np.linalg.eigh(g.to_scipy().toarray())[1][:, -1]
    assert np.allclose(kernels.chebyshev_matvec(g, np.exp, top, 2000), np.e * top, rtol=0, atol=1e-9)


def test_spectrum_rebuilds_the_weights():
    eigenvalues, vectors = kernels.spectrum(G)
    assert np.all(np.diff(eigenvalues) >= 0)
    assert np.allclose(vectors.T @ vectors, np.eye(8), rtol=0, atol=rounding(100))
    assert np.allclose(vectors * eigenvalues @ vectors.T, G.to_scipy().toarray(), rtol=0, atol=rounding(100, eigenvalues))


def test_rows_of_power_series_are_those_of_the_matrix():
    """Of a directed graph too, and a node may come twice; 4 terms of 3 nodes, each below 10."""
    directed = Graph.from_scipy(np.array([[0.0, 1, 1], [1, 0.5, 0], [0, -1, 0]]))
    W, alpha = directed.to_scipy().toarray(), [0.5, 2.0, 0.0, -1.0]
    whole = 0.5 * np.eye(3) + 2.0 * W - W @ W @ W
    rows = kernels.power_series_rows(directed, alpha, [2, 0, 2])
    assert rows.format == "csr"
    assert np.allclose(rows.toarray(), whole[[2, 0, 2]], rtol=0, atol=rounding(20, 10.0))
    far = kernels.power_series_rows(Graph.from_networkx(nx.cycle_graph(100)), alpha, [7])
    assert sorted(far.indices) == [4, 6, 7, 8, 10]  # none two hops away, where alpha is 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.ones(1), r"function maps 8 eigenvalues to an array of shape \(1,\)"),
        (lambda x: 2.0, r"function maps 8 eigenvalues to an array of shape \(\)"),
        (lambda x: np.exp(1j * x), "function has dtype complex128; give real numbers"),
        (lambda x: np.log(x - 9), "function has 8 NaN values at eigenvalues in .*; give one that is defined there"),
        (lambda x: None, "function has dtype object"),
    ],
)
def test_functions_that_are_none_of_eigenvalues_are_refused(function, message):
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
        kernels.matrix_function(G, function)
    assert np.array_equal(kernels.matrix_function(G, lambda x: x > 0), kernels.matrix_function(G, lambda x: 1.0 * (x > 0)))


def test_a_spectrum_says_what_it_is_of_and_unpacks_as_a_pair():
    for g in (G, G.normalised()):
        spectrum = kernels.spectrum(g)
        eigenvalues, vectors = spectrum
        assert spectrum.is_normalised == g.is_normalised
        assert spectrum[0] is eigenvalues is spectrum.eigenvalues and spectrum[1] is vectors is spectrum.vectors
        assert np.array_equal(spectrum.at([2, 0]).vectors, vectors[[2, 0]]) and spectrum.at([2, 0]).is_normalised == g.is_normalised


@pytest.mark.parametrize(("nu", "curvature"), [(1.5, 3.0), (2.5, 5 / 3)])
def test_matern_kernels_have_the_curvature_of_their_spectrum_where_points_meet(nu, curvature):
    """-nu / (nu - 1) I, which is minus the variance of a frequency; a double where once made it 0."""

    def kernel(x, y):
        return kernels.matern(x[None], y[None], nu)[0, 0]

    x = np.array([0.3, -0.1])
    assert np.allclose(jax.hessian(kernel)(x, x), -curvature * np.eye(2))
    assert np.allclose(jax.jit(jax.jacrev(jax.grad(kernel), 1))(x, x), curvature * np.eye(2))
    assert np.allclose(jax.grad(kernel)(x, x), 0)
    away = np.array([0.5, 0.2])
    with jax.enable_x64(True):
        steps = 1e-4 * np.eye(2)
        slopes = [(jax.grad(kernel)(x + h, away) - jax.grad(kernel)(x - h, away)) / 2e-4 for h in steps]
        assert np.allclose(jax.hessian(kernel)(x, away), slopes, rtol=1e-5)
