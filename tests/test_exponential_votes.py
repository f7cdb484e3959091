"""Accuracies at the scale that validation chooses are those of votes counted by hand, with features written out."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion import datasets
from companion.papers.favor import exponential_votes
from companion.papers.simplex import classification
from rfcore import couplings, features
from rfcore.solvers import exponential

RNG = np.random.default_rng(0)
X_TRAIN, X_TEST = RNG.normal(size=(70, 3)), RNG.normal(size=(41, 3))


def quadrants(x):
    return 2 * (x[:, 0] > 0.2) + (x[:, 1] > 0)


PART = datasets.Split(X_TRAIN, quadrants(X_TRAIN), X_TEST, quadrants(X_TEST))
TASK, KEY, SIGMAS, WIDTHS = classification.task(PART, 4, 1.0), jax.random.key(1), np.array([0.2, 0.7, 2.0]), (3, 12)
FITS = {
    "trigonometric": None,
    "sderf": lambda x, held: exponential.sderf(x, x, centred=True),
    "aderf": lambda x, held: exponential.aderf(held, x),
    "gerf": lambda x, held: exponential.gerf(x, x),
}
SEEDS, TUNING, BATCH = 6, 4, 2


# Made in the worker whose tests ask for them, not wherever the tests are collected.
@cache
def parameters():
    return exponential_votes.fitted(TASK, FITS, SIGMAS)


@cache
def found():
    return exponential_votes.accuracies(KEY, TASK, parameters(), WIDTHS, SEEDS, TUNING, SIGMAS, BATCH)


def one_by_hand(key, kind, sigma, width):
    """Accuracies on the validation and on the test part, of one draw."""
    x, held = sigma * X_TRAIN, sigma * X_TEST
    key_omega, key_phases = jax.random.split(key)
    omega = couplings.orthogonal(key_omega, max(WIDTHS), 3)[:width]
    if kind == "trigonometric":
        phases = jax.random.uniform(key_phases, (max(WIDTHS),), maxval=2 * jnp.pi)[:width]
        phi, phi_held = (np.cos(a @ np.asarray(omega).T + np.asarray(phases)) for a in (x, held))
    else:
        p = FITS[kind](jnp.asarray(x), jnp.asarray(held))
        phi, phi_held = features.exponential(x, omega, p, "y"), features.exponential(held, omega, p, "x")
    right = np.argmax(np.asarray(phi_held) @ (np.asarray(phi).T @ np.eye(4)[PART.y_train]), axis=1) == PART.y_test
    return right[:20].mean(), right[20:].mean()


@cache
def by_hand():
    """Kinds, sigmas, widths, seeds, parts."""
    return np.array([
        [[[one_by_hand(key, kind, s, m) for key in jax.random.split(KEY, SEEDS)] for m in WIDTHS] for s in SIGMAS]
        for kind in FITS
    ])  # fmt: skip


def counts(accuracies):
    """Test points that are right: the mean of booleans is a float32."""
    assert np.allclose(np.rint(accuracies * 21), accuracies * 21, rtol=0, atol=1e-5)
    return np.rint(accuracies * 21).astype(int).tolist()


def test_each_width_has_the_sigma_that_the_first_seeds_validate():
    for k in range(len(FITS)):
        for w in range(len(WIDTHS)):
            best = by_hand()[k, :, w, :TUNING, 0].mean(axis=1).round(9).argmax()
            assert counts(found().per_width[:, k, w]) == counts(by_hand()[k, best, w, :, 1])


def test_one_sigma_is_the_best_on_the_average_of_widths():
    for k in range(len(FITS)):
        best = by_hand()[k, :, :, :TUNING, 0].mean(axis=(1, 2)).round(9).argmax()
        assert counts(found().one_sigma[:, k]) == counts(by_hand()[k, best, :, :, 1].T)


def test_sigmas_are_told_apart_here():
    chosen = by_hand()[..., :TUNING, 0].mean(axis=-1).argmax(axis=1)
    assert len(np.unique(chosen)) > 1 and not np.array_equal(found().per_width, found().one_sigma)


def test_a_kind_does_not_hang_on_the_others_nor_on_the_batch():
    alone = exponential_votes.accuracies(KEY, TASK, {"gerf": parameters()["gerf"]}, WIDTHS, SEEDS, sigmas=SIGMAS, batch=3)
    of_all = exponential_votes.accuracies(KEY, TASK, parameters(), WIDTHS, SEEDS, sigmas=SIGMAS, batch=6)
    assert np.array_equal(alone.per_width[:, 0], of_all.per_width[:, list(FITS).index("gerf")])


def test_parameters_are_fitted_at_every_scale_in_the_order_given():
    assert list(parameters()) == list(FITS) and parameters()["trigonometric"] is None
    for kind in ("sderf", "aderf", "gerf"):
        for s, sigma in enumerate(SIGMAS):
            one = FITS[kind](jnp.asarray(sigma * X_TRAIN), jnp.asarray(sigma * X_TEST)).filled(3)
            # Eigenvectors of points three apart: their rounding is that of eigenvalues over their gaps.
            for got, wanted in zip(*map(jax.tree.leaves, (parameters()[kind], one)), strict=True):
                assert np.allclose(got[s], wanted, rtol=0, atol=1e-9 * max(1.0, np.abs(wanted).max()))


def test_the_kernel_itself_is_the_limit_of_many_features():
    def of_kernel(sigma):
        squares = np.sum((X_TEST[:, None] - X_TRAIN) ** 2, axis=-1)
        votes = np.exp(-(sigma**2) * squares / 2) @ np.eye(4)[PART.y_train]
        right = votes.argmax(axis=1) == PART.y_test
        return right[:20].mean(), right[20:].mean()

    validated, tested = np.array([of_kernel(sigma) for sigma in SIGMAS]).T
    assert counts(exponential_votes.exact(TASK, SIGMAS)) == counts(tested[validated.argmax()])
    parameters = exponential_votes.fitted(TASK, FITS, [0.7])
    many = exponential_votes.accuracies(KEY, TASK, parameters, (30_000,), 1, sigmas=[0.7], batch=1)
    assert np.all(np.abs(many.per_width - of_kernel(0.7)[1]) <= 1.01 / 21)  # at most one point on an edge


def test_what_validates_is_left_out():
    rest = exponential_votes.without_validation(TASK)
    assert np.array_equal(rest.x_test, X_TEST[20:]) and np.array_equal(rest.labels, PART.y_test[20:])
    assert rest.x_train is TASK.x_train and rest.targets is TASK.targets



def test_trigonometric_features_of_drawn_frequencies_and_phases_are_unbiased():
    """At d = 1 a phase that knows the norm, as one drawn from the key of the norms once did, biases by .134."""
    omega, phases = exponential_votes._draw(jax.random.split(jax.random.key(3), 4000), 4, 1)
    x, y = 0.8, 0.3
    found = np.asarray(2 * np.mean(np.cos(omega[..., 0] * x + phases) * np.cos(omega[..., 0] * y + phases), axis=1))
    z = (found.mean() - np.exp(-((x - y) ** 2) / 2)) / (found.std() / np.sqrt(len(found)))
    assert abs(z) < 4


def test_one_test_point_has_no_half_that_chooses_sigma():
    with pytest.raises(ValueError, match="task has 1 test points; give two at least"):
        exponential_votes.exact(TASK._replace(x_test=TASK.x_test[:1], labels=TASK.labels[:1]), SIGMAS)
