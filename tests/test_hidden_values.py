"""Hidden values are predicted from the others alone, and walks average to the exact prediction."""

from functools import partial

import jax
import networkx as nx
import numpy as np
import optax

from companion.models import descent
from companion.papers.ugrf import hidden_values
from rfcore import features, kernels, walks
from rfcore.features import modulation, neural
from rfcore.graphs import Graph

KEY = jax.random.key(0)
G = Graph.from_networkx(nx.grid_2d_graph(5, 6)).normalised()
ANGLES = np.linspace(0.0, 2.0, 30)
VALUES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
F = modulation.diffusion(1.0)
loss = jax.jit(partial(hidden_values.loss, F))


def deposits(key=KEY, n_walks=16):
    return walks.simulate(key, G, walks.lengths.draw(key, 30, n_walks, 0.5, "iid"))


def test_a_share_is_hidden_and_another_key_hides_others():
    masks = np.array([hidden_values.hide(jax.random.key(i), 30, 0.2) for i in range(200)])
    assert np.all(masks.sum(axis=1) == 24)
    often = (~masks).mean(axis=0)  # each node's turn comes with probability 0.2: 5 standard errors
    assert np.all(np.abs(often - 0.2) < 5 * np.sqrt(0.16 / 200))


def test_the_exact_error_is_that_of_the_kernel_whose_modulation_it_is():
    known = hidden_values.hide(KEY, 30, 0.2)
    sums = kernels.diffusion(G, 1.0)[:, known] @ VALUES[known]
    error = hidden_values.angular_error(sums[~known], VALUES[~known])
    assert abs(hidden_values.exact_error(G, F, VALUES, known) - float(error)) < 1e-12


def test_on_a_directed_graph_the_kernel_is_f_times_its_transpose():
    directed = Graph.from_networkx(nx.gn_graph(12, seed=1)).scaled(0.5)
    table, known = np.array([1.0, 0.5, 0.25]), hidden_values.hide(KEY, 12, 0.3)
    W, values = directed.to_scipy().toarray(), VALUES[:12]
    fW = table[0] * np.eye(12) + table[1] * W + table[2] * W @ W
    sums = fW @ fW.T[:, known] @ values[known]
    error = hidden_values.angular_error(sums[~known], values[~known])
    found = hidden_values.exact_error(directed, modulation.from_values(table), values, known)
    assert abs(found - float(error)) < 1e-12


def test_errors_with_walks_tend_to_the_exact_one():
    known = hidden_values.hide(KEY, 30, 0.2)
    exact = hidden_values.exact_error(G, F, VALUES, known)
    gaps = [abs(hidden_values.error(deposits(n_walks=n), F, VALUES, known) - exact) for n in (4, 40_000)]
    assert gaps[1] < 0.05 * gaps[0]


def test_what_is_hidden_is_not_looked_at():
    known = hidden_values.hide(KEY, 30, 0.2)
    turned = np.where(known[:, None], VALUES, -VALUES)
    sums = [hidden_values.error(deposits(), F, values, known) for values in (VALUES, turned)]
    assert abs(sums[0] + sums[1] - 2) < 1e-12  # the same prediction against the opposite truth: 1 - cos and 1 + cos


def test_the_loss_of_a_lesson_is_the_mean_error_of_its_copies():
    lesson = hidden_values.lesson(KEY, G, VALUES, 3, 16, 0.5, 0.2)
    whole = float(loss(*lesson))
    assert [lesson.known[30 * i : 30 * i + 30].sum() for i in range(3)] == [24] * 3
    phi = lesson.deposits.with_modulation(F).to_scipy()
    K = (phi @ phi.T).toarray()
    assert np.all(K[:30, 30:] == 0)  # no walk leaves its copy
    apart = []
    for i in range(3):
        at = slice(30 * i, 30 * i + 30)
        known = lesson.known[at]
        sums = K[at, at][:, known] @ VALUES[known]
        apart.append(float(hidden_values.angular_error(sums[~known], VALUES[~known])))
    assert abs(whole - np.mean(apart)) < 1e-12


def test_lessons_of_one_size_teach_the_same():
    lessons = [hidden_values.lesson(jax.random.key(i), G, VALUES, 2, 8, 0.5, 0.2) for i in range(3)]
    alike = hidden_values.of_one_size(lessons)
    assert len({one.deposits.load.shape for one in alike}) == len({one.deposits.n_steps for one in alike}) == 1
    for one, other in zip(lessons, alike, strict=True):
        assert abs(float(loss(*one) - loss(*other))) < 1e-12


def test_learning_lowers_the_loss():
    lesson = hidden_values.lesson(KEY, G, VALUES, 4, 16, 0.5, 0.2)
    learned = descent.learn(hidden_values.loss, neural.flat(), lesson, 50, optax.adam(0.05))
    assert learned.losses[-1] < 0.8 * learned.losses[0]


def test_every_node_is_predicted_in_its_turn_by_nodes_of_other_groups():
    found = hidden_values.directions_in_turn(KEY, deposits(), F, VALUES, n_groups=30)
    phi = features.weigh(deposits(), F).toarray()
    K = phi @ phi.T
    np.fill_diagonal(K, 0.0)  # alone in its group, a node is predicted by all others
    sums = K @ VALUES
    expected = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    assert np.all(np.abs(found - expected) < 1e-12)


def test_a_node_without_known_neighbours_points_nowhere():
    apart = Graph.from_networkx(nx.empty_graph(4)).normalised()
    alone = walks.simulate(KEY, apart, walks.lengths.draw(KEY, 4, 4, 0.5, "iid"))
    assert np.all(hidden_values.directions_in_turn(KEY, alone, F, VALUES[:4], n_groups=2) == 0)


def test_every_copy_hides_nodes_of_its_own():
    known = hidden_values.lesson(KEY, G, VALUES, 3, 16, 0.5, 0.2).known.reshape(3, -1)
    assert not np.array_equal(known[0], known[1])
    assert not np.array_equal(known[1], known[2])
