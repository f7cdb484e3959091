"""Accuracies of drawn features are those of their votes, counted by hand; the votes of blocks add up."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion import datasets
from companion.models import regression
from companion.papers.simplex import classification
from rfcore import couplings, features


def quadrants(x):
    return 2 * (x[:, 0] > 0.2) + (x[:, 1] > 0)


RNG = np.random.default_rng(0)
X_TRAIN, X_TEST = RNG.normal(size=(60, 3)), RNG.normal(size=(25, 3))
PART = datasets.Split(X_TRAIN, quadrants(X_TRAIN), X_TEST, quadrants(X_TEST))
TASK, KEY, PAIR = classification.task(PART, 4, 0.5), jax.random.key(0), (couplings.iid, couplings.orthogonal)
BLOCKS, DRAWS = 3, 4


@cache
def found():
    return classification.accuracies(KEY, TASK, PAIR, DRAWS, BLOCKS, batch=2)


def by_hand(coupling, draw, blocks, d=3):
    """The accuracy of some blocks of one draw, from features of all their frequencies at once."""
    key = jax.random.split(KEY, DRAWS)[draw]
    omega = coupling(key, BLOCKS * d, d).reshape(BLOCKS, d, d)[blocks].reshape(-1, d)
    padded = [jnp.pad(x, ((0, 0), (0, d - 3))) for x in (TASK.x_train, TASK.x_test)]
    phi, phi_test = (features.positive(x, omega) for x in padded)
    votes = regression.scores(phi, TASK.targets, phi_test)
    votes = np.asarray(votes)
    return votes, float(np.mean(np.argmax(votes, axis=1) == PART.y_test))


def test_a_task_is_the_split_scaled():
    assert np.array_equal(TASK.x_train, 0.5 * PART.X_train) and np.array_equal(TASK.x_test, 0.5 * PART.X_test)
    assert np.array_equal(np.argmax(TASK.targets, axis=1), PART.y_train) and np.array_equal(TASK.targets.sum(axis=1), np.ones(60))
    assert classification.task(PART, 4, 0.5, np.float32).x_train.dtype == np.float32


@pytest.mark.parametrize("draw", range(DRAWS))
def test_blocks_alone_and_together_are_votes_of_their_frequencies(draw):
    for c, coupling in enumerate(PAIR):
        alone = [by_hand(coupling, draw, slice(b, b + 1))[1] for b in range(BLOCKS)]
        together = [by_hand(coupling, draw, slice(b + 1))[1] for b in range(BLOCKS)]
        assert found().alone[draw, c].tolist() == alone
        assert found().together[draw, c].tolist() == together


def test_votes_of_the_draws_of_a_batch_add_up():
    assert found().votes.shape == (2, 2, 25, 4)
    # phi has a factor 1 / sqrt(m), so that blocks of d alone have BLOCKS times the weight of all in one.
    expected = [BLOCKS * sum(by_hand(couplings.iid, draw, slice(None))[0] for draw in pair) for pair in ((0, 1), (2, 3))]
    assert np.allclose(found().votes[:, 0], expected, rtol=1e-12)


def test_wider_blocks_are_those_of_padded_points():
    wider = classification.accuracies(KEY, TASK, PAIR, DRAWS, BLOCKS, width=4, batch=4)
    expected = BLOCKS * sum(by_hand(couplings.orthogonal, draw, slice(None), d=4)[0] for draw in range(DRAWS))
    assert np.allclose(wider.votes[0, 1], expected, rtol=1e-12)


def test_draws_do_not_hang_on_the_batch_nor_on_the_other_couplings():
    others = classification.accuracies(KEY, TASK, PAIR[1:], DRAWS, BLOCKS, batch=1)
    assert np.array_equal(others.alone[:, 0], found().alone[:, 1])


def test_no_scale_is_the_majority_and_many_features_are_the_kernel():
    counts = np.bincount(PART.y_train, minlength=4)
    assert classification.majority(TASK) == float(np.mean(PART.y_test == counts.argmax()))
    flat = classification.task(PART, 4, 1e-9)
    assert np.all(classification.accuracies(KEY, flat, PAIR, 2, batch=1).alone == classification.majority(flat))
    weights = np.exp(-0.5 * np.sum((0.5 * PART.X_test[:, None] - 0.5 * PART.X_train) ** 2, axis=-1))
    in_limit = float(np.mean(np.argmax(weights @ np.asarray(TASK.targets), axis=1) == PART.y_test))
    assert classification.exact(TASK) == in_limit
    many = classification.accuracies(KEY, TASK, PAIR, 400, 20, batch=400)  # 24,000 frequencies
    share = np.mean(np.argmax(many.votes[0], axis=-1) == PART.y_test, axis=-1)
    assert np.all(np.abs(share - in_limit) <= 1 / 25)  # at most one point on an edge


def test_mean_v_is_the_mean_over_pairs():
    lengths = [np.linalg.norm(x + y) for x in TASK.x_train for y in TASK.x_test]
    assert np.isclose(classification.mean_v(TASK), np.mean(lengths), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::companion.datasets.FallbackWarning")  # true of stand-ins, too
def test_the_public_task_is_the_default_split_at_the_public_scale():
    table = datasets.classification("wifi", fallback=True)
    single, double = classification.public_task(table), classification.public_task(table, double=True)
    assert (single.x_train.dtype, double.x_train.dtype) == (np.float32, np.float64)
    assert np.array_equal(double.x_train, 0.21997651 * datasets.split(table).X_train)
    other = classification.public_task(table, seed=3, double=True)
    assert np.array_equal(other.labels, datasets.split(table, seed=3).y_test)
    banknote = datasets.classification("banknote", fallback=True)
    assert classification.public_task(banknote).x_train.dtype == np.float64
