"""Features as a function of f on fixed walks, their gradients, and what descent makes of them."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import optax
import pytest
from scipy import stats

from companion.models import descent
from companion.papers.ugrf import hidden_values
from rfcore import features, kernels, walks
from rfcore.features import modulation, neural
from rfcore.graphs import Graph
from rfcore.walks import losses

GRAPH = Graph.from_networkx(nx.erdos_renyi_graph(20, 0.25, seed=3))
G = GRAPH.normalised()
TABLE = np.array([1.0, 0.7, -0.4, 0.25, 0.1, 0.05])


@pytest.fixture(params=[True, False], ids=["float64", "float32"])
def eps(request):
    """The relative rounding of JAX' default type, which is float32 for users and float64 in the other tests."""
    with jax.enable_x64(request.param):
        yield float(jnp.finfo(jnp.zeros(()).dtype).eps)


SLOW = pytest.mark.parametrize("eps", [False], indirect=True, ids=["float32"])  # what users have; once is enough


def deposits(key, n_walks=16, g=G, repeats=1, p_halt=0.5):
    key, nodes = jax.random.key(key), np.tile(np.arange(g.n_nodes), repeats)
    lengths = walks.lengths.draw(key, len(nodes), n_walks, p_halt, "iid")
    return features.by_step(walks.simulate(key, g, lengths, nodes=nodes))


def test_steps_weighed_one_by_one_are_the_features(eps):
    """Sums of a few hundred terms: rounding below 1000 eps times the sum of their sizes."""
    f = modulation.from_values(TABLE)
    phi = features.walk_features(jax.random.key(0), G, f, 16, 0.5, "iid")
    v, V, u = np.arange(20.0), np.arange(40.0).reshape(20, 2), np.cos(np.arange(20.0))

    @jax.jit
    def of_steps(steps):
        stepped = steps.with_modulation(f)
        sizes = stepped.with_modulation(modulation.from_values(np.abs(TABLE))).toarray()
        return sizes, stepped.toarray(), stepped @ v, stepped @ V, stepped.T @ u

    sizes, dense, *products = map(np.asarray, of_steps(deposits(0)))
    assert dense.dtype == jnp.zeros(()).dtype
    assert np.all(np.abs(dense - phi.toarray()) <= 1000 * eps * sizes)
    others = (phi @ v, sizes @ np.abs(v)), (phi @ V, sizes @ np.abs(V)), (phi.T @ u, sizes.T @ np.abs(u))
    for product, (other, size) in zip(products, others, strict=True):
        assert np.all(np.abs(product - other) <= 1000 * eps * size)


@pytest.mark.parametrize("wrap", [lambda call: call, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("n", [1, 10, 19, 50])
def test_products_with_vectors_of_another_length_are_refused(wrap, n):
    """JAX clamps indices: 10 or 50 values on 20 nodes would give numbers."""
    stepped, f = deposits(0), modulation.from_values(TABLE)
    for phi in (stepped.with_modulation(f), stepped.with_modulation(f).T):
        with pytest.raises(ValueError, match=rf"what stands right of it \({n},\); give 20 rows"):
            wrap(lambda v, phi=phi: phi @ v)(np.ones(n))
        with pytest.raises(ValueError, match="what multiplies phi has dtype complex"):
            wrap(lambda v, phi=phi: phi @ v)(np.ones(20) * 1j)
    for f, message in ((lambda k: np.ones(n), "f maps"), (lambda k: 1j * k, "f has dtype complex")):
        with pytest.raises(ValueError, match=message):
            wrap(lambda stepped, f=f: stepped.with_modulation(f).toarray())(stepped)


def test_entries_are_aggregated():
    stepped = deposits(0)
    cells = np.stack([stepped.row, stepped.node, stepped.step])
    assert np.unique(cells, axis=1).shape == cells.shape
    assert np.all(stepped.load[stepped.step == 0] == 1.0)


def test_gradient_of_errors_is_the_slope():
    left, right, target = deposits(1), deposits(2), kernels.regularised_laplacian(GRAPH, 0.8, 2)

    @jax.jit
    def loss(values):
        f = modulation.from_values(values)
        return jnp.mean(losses.errors(f, f, left, right, target))

    phi, psi = (np.asarray(d.with_modulation(modulation.from_values(TABLE)).toarray()) for d in (left, right))
    error = np.linalg.norm(phi @ psi.T - target) / np.linalg.norm(target)
    assert float(loss(TABLE)) == pytest.approx(error**2)
    gradient = np.asarray(jax.grad(loss)(TABLE))
    for k, direction in enumerate(1e-6 * np.eye(len(TABLE))):
        slope = float(loss(TABLE + direction) - loss(TABLE - direction)) / 2e-6
        assert gradient[k] == pytest.approx(slope, rel=1e-5)


def test_repeats_stand_one_below_the_other(eps):
    left, right, target = deposits(1, repeats=3), deposits(2, repeats=3), kernels.diffusion(GRAPH, 1.0)
    f1, f2 = modulation.from_values(TABLE), modulation.diffusion(1.0)
    dense = jax.jit(lambda left, right: [d.with_modulation(f).toarray() for d, f in ((left, f1), (right, f2))])
    phi, psi = (np.asarray(d).reshape(3, 20, 20) for d in dense(left, right))
    expected = [np.sum((a @ b.T - target) ** 2) / np.sum(target**2) for a, b in zip(phi, psi, strict=True)]
    errors = jax.jit(lambda left, right: losses.errors(f1, f2, left, right, target))(left, right)
    assert np.allclose(errors, expected, rtol=1000 * eps)


def test_form_is_the_mean_error_of_every_pair_of_modulations(eps):
    """The form adds terms of both signs, whose sizes are up to 100 times the error: 10^4 eps, with a few hundred terms."""
    left, right, target = deposits(1, repeats=3), deposits(2, repeats=3), kernels.diffusion(GRAPH, 1.0)
    table, other, drawn = modulation.from_values(TABLE), modulation.diffusion(1.0), neural.random(jax.random.key(0))

    forms = [losses.form(left, right, target, n_steps=n) for n in (None, 25, len(TABLE))]

    @jax.jit
    def both(forms, left, right, drawn):
        form, padded, cut = forms  # cut is exact for an f that vanishes from there on
        pairs = (table, other), (drawn, drawn)
        truths = [jnp.mean(losses.errors(*pair, left, right, target)) for pair in pairs]
        return truths, [form(*pair) for pair in pairs], [padded(*pair) for pair in pairs], [cut(table), form(table)], form(drawn)

    truths, found, padded, of_table, of_drawn = both(forms, left, right, drawn)
    assert np.allclose(found, truths, rtol=1e4 * eps, atol=0)
    assert np.allclose(padded, truths, rtol=1e4 * eps, atol=0)
    assert float(of_drawn) == pytest.approx(float(found[1]), rel=1e4 * eps)
    assert float(of_table[0]) == pytest.approx(float(of_table[1]), rel=1e4 * eps)


@SLOW
def test_learned_f_beats_the_unbiased_one_on_new_walks_and_other_graphs(eps):
    """Table 3 says by about 10 %; a fully trained f gains more."""
    sigma = 0.8
    beta = sigma**2 / (1 + sigma**2)

    @jax.jit
    def mean_error(f, stepped, target):
        """For K = (I + sigma^2 L)^(-2), whose f is 1 once beta^k and the constant are taken off."""

        def scaled(k):
            return f(k) * beta ** jnp.asarray(k) / (1 + sigma**2)

        return jnp.mean(losses.errors(scaled, scaled, stepped, stepped, target))

    data = deposits(0, repeats=8), kernels.regularised_laplacian(GRAPH, sigma, 2)
    learned = descent.learn(mean_error, neural.flat(), data, n_steps=400)
    assert np.all(np.isfinite(learned.losses))
    assert learned.losses[0] == pytest.approx(float(mean_error(neural.flat(), *data)), rel=1000 * eps)
    assert learned.losses[-1] < 0.85 * learned.losses[0]
    for graph in (GRAPH, Graph.from_networkx(nx.karate_club_graph())):
        fresh = deposits(1, g=graph.normalised(), repeats=8)
        truth = kernels.regularised_laplacian(graph, sigma, 2)
        assert mean_error(learned.f, fresh, truth) < 0.92 * mean_error(neural.flat(), fresh, truth)
    assert features.walk_features(jax.random.key(0), G, learned.f, 4, 0.5).shape == (20, 20)


def test_table_learned_on_many_independent_walks_is_nearly_the_unbiased_one():
    f, target = modulation.diffusion(1.0), kernels.diffusion(GRAPH, 1.0)
    left, right = deposits(5, 3000), deposits(6, 3000)
    start = jnp.array([1.0, 0.0, 0.0, 0.0])

    def loss(values, left, right, target):
        f = modulation.from_values(values)
        return jnp.mean(losses.errors(f, f, left, right, target))

    learned = descent.learn(loss, start, (left, right, target), 800, optax.adam(0.02))
    assert np.allclose(learned.f[:3], f(np.arange(3)), atol=0.02)


@SLOW
def test_asymmetric_pair_is_learned_from_a_pair(eps):
    target = kernels.regularised_laplacian(GRAPH, 0.8, 2)

    def loss(pair, left, right, target):
        return jnp.mean(losses.errors(*pair, left, right, target))

    data = (deposits(1), deposits(2), target)
    learned = descent.learn(loss, (neural.flat(0.5), neural.flat(0.4)), data, n_steps=200)
    assert all(isinstance(f, neural.Neural) for f in learned.f)
    assert learned.losses[-1] < 0.5 * learned.losses[0]


@SLOW
def test_downstream_loss_of_the_products_alone(eps):
    rng = np.random.default_rng(0)
    values, known = rng.normal(size=(20, 3)) + np.array([2.0, 0, 0]), np.arange(20) % 4 > 0

    def loss(f, left, right, values, known):
        phi, psi = left.with_modulation(f), right.with_modulation(f)
        sums = hidden_values.weighted_sums(lambda v: phi @ (psi.T @ v), values, known)
        return hidden_values.angular_error(sums[~KNOWN], values[~KNOWN])

    data = (deposits(1), deposits(2), values, known)
    learned = descent.learn(loss, neural.flat(hidden=3), data, n_steps=100)
    assert learned.losses[-1] < learned.losses[0]


KNOWN = np.arange(20) % 4 > 0


def test_walks_are_arguments_of_the_compiled_code_and_no_tensor_of_steps_is_built():
    large = Graph.from_networkx(nx.random_regular_graph(4, 300, seed=0)).normalised()
    data = (deposits(0, g=large), np.eye(300))

    def loss(f, walks, target):
        return jnp.mean(losses.errors(f, f, walks, walks, target))

    lowered = descent.descend.lower(loss, optax.adam(0.01), 10, neural.flat(), data)
    assert len(lowered.as_text()) < 100_000  # with the walks inside it would be megabytes
    workspace = lowered.compile().memory_analysis().temp_size_in_bytes
    assert workspace < 20 * 8 * 300**2  # a few dense features and Gram matrices; steps x N^2 would be more


def test_divergence_is_an_error():
    with pytest.raises(FloatingPointError, match=r"at step \d+"):
        descent.learn(lambda f: jnp.log(f), 1.0, n_steps=50, optimiser=optax.sgd(10.0))
    with pytest.raises(FloatingPointError, match="parameters"):
        descent.learn(lambda f: jnp.sqrt(f), 0.0, n_steps=1)


def test_neural_modulation_is_equation_16(eps):
    f = neural.Neural(*(jnp.asarray(a) for a in ([-0.5], [1.2], [0.7], -0.3)))
    compiled = jax.jit(lambda k: f(k))
    for k in range(6):
        by_hand = np.log1p(np.exp(0.7 * max(0.0, -0.5 * k + 1.2) - 0.3))
        assert compiled(k).dtype == jnp.zeros(()).dtype
        assert float(compiled(k)) == pytest.approx(by_hand, rel=10 * eps)
    assert np.all(np.isfinite(neural.random(jax.random.key(0), hidden=4)(np.array([0, 10_000]))))
    assert np.allclose(neural.flat(0.96, hidden=3)(np.arange(50)), 0.96, rtol=10 * eps)


def test_random_start_is_uniform_between_minus_one_and_one():
    many, ones = neural.random(jax.random.key(0), 4000), [neural.random(jax.random.key(k)) for k in range(200)]
    samples = many.w1, many.b1, many.w2 * np.sqrt(4000), np.array([f.b2 for f in ones])
    assert all(stats.kstest(np.asarray(sample), "uniform", (-1, 2)).pvalue > 1e-4 for sample in samples)


def test_descent_takes_each_step_once(eps):
    """Gradient descent on f^2 at the rate 0.1 multiplies f by 1 - 2 * 0.1 per step."""
    learned = descent.learn(lambda f: f**2, 1.0, n_steps=5, optimiser=optax.sgd(0.1))
    assert float(learned.f) == pytest.approx(0.8**5, rel=100 * eps)
    assert np.allclose(learned.losses, 0.64 ** np.arange(5), rtol=100 * eps)


def test_flat_start_has_no_dead_unit(eps):
    slope = jax.jit(jax.grad(lambda f: jnp.sum(f(np.arange(8)) * jnp.cos(jnp.arange(8)))))
    gradient = slope(neural.flat(hidden=4))
    assert np.all(np.asarray(gradient.w2) != 0)
    assert len(np.unique(np.asarray(gradient.w2))) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: neural.flat(0.0), "value = 0.0"),
        (lambda: neural.flat(hidden=0), "hidden = 0"),
        (lambda: neural.random(jax.random.key(0), 0), "hidden = 0"),
        (lambda: descent.learn(lambda f: f**2, 1.0, n_steps=0), "n_steps = 0"),
        (lambda: losses.errors(neural.flat(), neural.flat(), deposits(0), deposits(1), np.eye(7)), "7 rows"),
        (lambda: losses.form(deposits(0, repeats=2), deposits(1), np.eye(20)), r"right \(20, 20\)"),
        (lambda: losses.form(deposits(0), deposits(1), np.eye(20), n_steps=0), "n_steps = 0"),
        (lambda: losses.errors(neural.flat(), neural.flat(), deposits(0), deposits(1), np.ones(20)), r"target has shape \(20,\)"),
        (lambda: losses.errors(neural.flat(), neural.flat(), deposits(0), deposits(1), np.zeros((20, 20))), "20 by 20 that is not 0"),
        (lambda: losses.errors(neural.flat(), neural.flat(), deposits(0), deposits(1), np.full((20, 20), np.nan)), "target has 400"),
        (lambda: losses.form(deposits(0), np.eye(20), np.eye(20)), "right is of type ndarray"),
        (lambda: losses.form(deposits(0), deposits(1), np.eye(20) * 1j), "target has dtype complex"),
        (lambda: descent.learn(lambda f: f**2, 1.0, optimiser=4), "optimiser = 4"),
        (lambda: descent.learn(lambda f: f**2, 1j), "a parameter of f has dtype complex"),
        (lambda: neural.flat("1"), "value = '1'"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_loads_that_overflow_float32_are_refused_by_name():
    chain = Graph.from_scipy(np.diag(np.full(3, 1e20), 1))
    deposits = walks.simulate(jax.random.key(0), chain, walks.Lengths(np.full((4, 1), 3), 0.5))
    assert np.all(np.isfinite(features.by_step(deposits).load))
    with jax.enable_x64(False), pytest.raises(ValueError, match=r"deposits has loads up to .* overflow float32; .*g.normalised"):
        features.by_step(deposits)


def test_a_form_has_all_steps_of_the_longer_side(eps):
    long, short, target = deposits(1, p_halt=0.2), deposits(2, p_halt=0.8), kernels.diffusion(GRAPH, 1.0)
    assert long.n_steps > short.n_steps
    f = modulation.diffusion(1.0)
    for left, right in ((long, short), (short, long)):
        error = jax.jit(lambda left, right: jnp.mean(losses.errors(f, f, left, right, target)))(left, right)
        assert np.isclose(losses.form(left, right, target)(f), error, rtol=1e4 * eps, atol=0)
