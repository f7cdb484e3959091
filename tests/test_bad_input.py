"""Bad input to any public function is a ValueError that names the argument and says how to mend it."""

import jax
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfcore import couplings, features, kernels, theory, walks
from rfcore.couplings import directions, norms, walk_lengths
from rfcore.features import modulation
from rfcore.graphs import Graph

KEY = jax.random.key(0)
G = Graph.from_networkx(nx.path_graph(3)).normalised()
F = modulation.diffusion(1.0)
X = np.ones((3, 2))


def walk_features(**changes):
    arguments = {"key": KEY, "g": G, "f": F, "n_walks": 2, "p_halt": 0.1} | changes
    return features.walk_features(**arguments)


@given(m=st.one_of(st.integers(max_value=-1), st.floats(), st.none(), st.text(max_size=3)))
def test_number_of_frequencies(m):
    for draw in (couplings.iid, couplings.orthogonal, couplings.simplex, directions.independent, norms.independent):
        with pytest.raises(ValueError, match=r"m = .*give a whole number"):
            draw(KEY, m, 3)


@given(d=st.one_of(st.integers(max_value=0), st.floats(), st.none()))
def test_dimension(d):
    for draw in (couplings.iid, couplings.orthogonal, couplings.simplex, directions.orthogonal, directions.simplex):
        with pytest.raises(ValueError, match=r"d = .*give a whole number"):
            draw(KEY, 3, d)


@given(shape=st.lists(st.integers(0, 3), max_size=3).filter(lambda s: len(s) != 2 or s[1] != 2))
def test_shapes_of_points(shape):
    bad, omega = np.ones(shape), np.ones((4, 2))
    for call in (
        lambda: kernels.gaussian(bad, X),
        lambda: kernels.softmax(X, bad),
        lambda: features.fourier(bad, omega),
        lambda: features.positive(bad, omega),
        lambda: features.positive(X, bad),
    ):
        with pytest.raises(ValueError, match=r"(X|Y|x|omega) has shape"):
            call()


@given(
    position=st.tuples(st.integers(0, 2), st.integers(0, 1)),
    value=st.sampled_from([float("nan"), float("inf"), -float("inf")]),
)
def test_values_of_points(position, value):
    bad, omega = X.copy(), np.ones((4, 2))
    bad[position] = value
    for call in (
        lambda: kernels.gaussian(bad, X),
        lambda: kernels.softmax(X, bad),
        lambda: features.fourier(bad, omega),
        lambda: features.positive(bad, omega),
        lambda: features.fourier(X, bad),
    ):
        with pytest.raises(ValueError, match=r"(X|Y|x|omega) has 1 NaN or infinite"):
            call()


@given(name=st.text(max_size=12).filter(lambda s: s not in ("gaussian", "softmax")))
def test_kernel_names(name):
    for feature in (features.fourier, features.positive):
        with pytest.raises(ValueError, match=r"kernel = .*choose one of 'gaussian', 'softmax'"):
            feature(X, X, kernel=name)


@given(name=st.text(max_size=12).filter(lambda s: s not in theory.COUPLINGS))
def test_coupling_names(name):
    with pytest.raises(ValueError, match=r"coupling = .*choose one of 'iid', 'orthogonal'"):
        theory.log_conformity(1.0, 3, name)
    with pytest.raises(ValueError, match=r"coupling = .*choose one of"):
        theory.positive_mse(X[0], X[1], 3, name)
    with pytest.raises(ValueError, match=r"coupling = .*choose one of"):
        walk_lengths.draw(KEY, 3, 2, 0.1, coupling=name)
    with pytest.raises(ValueError, match=r"coupling = .*choose one of"):
        walk_features(coupling=name)


@given(v=st.one_of(st.floats(max_value=-1e-9), st.floats(min_value=30.01), st.just(float("nan"))))
def test_range_of_v(v):
    for call in (lambda: theory.log_conformity(v, 3, "iid"), lambda: theory.positive_mse_ratio(v, 3, 3, "simplex")):
        with pytest.raises(ValueError, match=r"v .*(must lie in|NaN or infinite)"):
            call()


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones(3), np.ones(2), "x has shape"),
        (np.ones((1, 3)), np.ones((1, 3)), "x has shape"),
        (np.full(3, np.nan), np.ones(3), "x has 3 NaN"),
        (np.ones(3), np.full(3, np.inf), "y has 3 NaN or infinite"),
        (np.full(3, 20.0), np.full(3, 20.0), "must lie in"),
    ],
)
def test_pairs_of_points(x, y, message):
    with pytest.raises(ValueError, match=message):
        theory.positive_mse(x, y, 3, "orthogonal")


def test_simplex_theory_needs_two_dimensions():
    with pytest.raises(ValueError, match="d = 1; give a whole number of at least 2"):
        theory.log_conformity(1.0, 1, "simplex")


@given(p_halt=st.one_of(st.floats().filter(lambda p: not 0 < p < 1), st.text(max_size=2), st.none()))
def test_termination_probability(p_halt):
    lengths = np.ones((3, 2), dtype=int)
    for call in (
        lambda: walk_features(p_halt=p_halt),
        lambda: walk_lengths.draw(KEY, 3, 2, p_halt),
        lambda: walks.simulate(KEY, G, walk_lengths.Lengths(lengths, p_halt)),
    ):
        with pytest.raises(ValueError, match=r"p_halt = .*give"):
            call()


@given(n=st.one_of(st.integers(max_value=0), st.floats(), st.none()))
def test_numbers_of_walks(n):
    with pytest.raises(ValueError, match=r"n_walks = .*give a whole number"):
        walk_features(n_walks=n)
    with pytest.raises(ValueError, match=r"n_walks = .*give a whole number"):
        walk_lengths.draw(KEY, 3, n, 0.1)


@pytest.mark.parametrize("nodes", [[3], [-1], [[0]], [0.5], "all"])
def test_start_nodes(nodes):
    with pytest.raises(ValueError, match="nodes has"):
        walk_features(nodes=nodes)


@pytest.mark.parametrize("lengths", [np.ones(3, dtype=int), np.ones((3, 2)), -np.ones((3, 2), dtype=int)])
def test_walk_lengths(lengths):
    with pytest.raises(ValueError, match=r"lengths has (shape|values)"):
        walks.simulate(KEY, G, walk_lengths.Lengths(lengths, 0.1))
    with pytest.raises(ValueError, match="2 rows for 3 start nodes"):
        walks.simulate(KEY, G, walk_lengths.Lengths(np.ones((2, 2), dtype=int), 0.1))


@pytest.mark.parametrize("key", [0, None, jax.random.split(KEY, 2), np.zeros(2)])
def test_keys(key):
    with pytest.raises(ValueError, match=r"(?s)key = .*give one JAX key"):
        walk_features(key=key)


def test_traced_keys():
    with pytest.raises(ValueError, match="key is traced"):
        jax.jit(lambda key: walk_features(key=key).toarray())(KEY)


@pytest.mark.parametrize(
    ("f", "message"),
    [(3, "f = 3"), (lambda k: np.ones(2), "f maps"), (lambda k: np.full(k.shape, np.nan), "f has .* NaN")],
)
def test_modulations(f, message):
    with pytest.raises(ValueError, match=message):
        walk_features(f=f)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernels.diffusion(G, -1), "sigma = -1"),
        (lambda: kernels.regularised_laplacian(G, 1, 0), "d = 0"),
        (lambda: kernels.regularised_laplacian(G, "one", 1), "sigma = 'one'"),
        (lambda: kernels.p_step(G, 1.9, 2), "alpha = 1.9"),
        (lambda: kernels.p_step(G, 2, 0), "p = 0"),
        (lambda: kernels.diffusion(G, float("nan")), "sigma = nan"),
    ],
)
def test_regularisers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
