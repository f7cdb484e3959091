"""How well exponential features classify a table, at the scale that is best on a validation part.

Every training point votes for its class, weighted by the Gaussian kernel of points that are multiplied by
sigma, and features estimate the votes. Frequencies are orthogonal; sigma is the one, of those given, with the
best mean accuracy on the validation part; its accuracy on the test part is what counts. A
:class:`~companion.papers.simplex.classification.Task` of points that are not scaled has both parts in one:
the first half of its test points validates, the other tests. Of one draw of frequencies the first m serve as
m, for every m asked for; all kinds of features and all sigmas see the same.

Source: FAVOR#, Section 5.2 and Appendix B.2.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from companion.models import regression
from companion.papers.simplex.classification import light
from rfcore import checks, couplings, features

#: Ten, from 1/100 to 100, equally spaced in the logarithm: those of FAVOR#, Appendix B.2.
SIGMAS = np.logspace(-2, 2, 10)


class Accuracies(NamedTuple):
    """On the test part, shape (n_seeds, n_kinds, n_widths) both; from :func:`accuracies`."""

    per_width: np.ndarray
    """Where every width has a sigma of its own."""
    one_sigma: np.ndarray
    """Where all widths have the sigma whose validation accuracy is best on their average."""


def fitted(task, fits, sigmas=SIGMAS):
    """Parameters of exponential features, fitted to the points at every scale: a first axis along sigmas.

    The test points are the queries, the x of the parameters, the training points the keys, their y.

    Args:
        fits: by kind, function (x, held) of scaled training and test points, or None for trigonometric
            features. They are compiled once for every shape: give the same ones again, no new ones.
    """
    functions = {kind: fit for kind, fit in fits.items() if fit is not None}
    found = _fitted(task, _scales(sigmas), tuple(functions.values()))
    return dict.fromkeys(fits) | dict(zip(functions, found, strict=True))


def accuracies(key, task, parameters, widths, n_seeds, n_tuning=None, sigmas=SIGMAS, batch=10):
    """Test accuracies of votes that features estimate, sigma chosen on the validation part.

    ::

        votes for a point u:  phi_x(sigma u)^T sum_i phi_y(sigma u_i) y_i
        u_i the training points, y_i their one-hot labels

    of which exponential features give a positive multiple
    (:func:`companion.models.regression.scores_of_logs`). Of sigmas that are equally good the first is chosen.

    Args:
        key, task: JAX PRNG key, Task.
        parameters: by kind, from :func:`fitted` at the same sigmas, in the order of the results.
        widths: numbers of features; the greatest is drawn.
        n_seeds, batch: draws of frequencies; how many of them are evaluated in one call, a divisor.
        n_tuning: how many draws, the first, choose sigma, a multiple of batch; the others see the chosen
            sigmas alone. All by default.
        sigmas: scales, above 0.
    """
    sigmas = _scales(sigmas)
    parameters = _host(parameters, len(sigmas), task.x_train.shape[1])
    widths = _widths(widths)
    n_tuning = n_seeds if n_tuning is None else n_tuning
    if n_tuning > n_seeds:
        raise ValueError(f"n_tuning = {n_tuning} of n_seeds = {n_seeds}; give at most their number")
    drawn = jax.tree.map(
        np.asarray, _draw(jax.random.split(key, n_seeds), max(widths), task.x_train.shape[1])
    )
    kinds = list(parameters.values())
    found = np.full((n_seeds, len(kinds), len(sigmas), len(widths), 2), np.nan)
    wanted = np.ones((len(kinds), len(sigmas)), bool)
    for now in (slice(start, start + batch) for start in range(0, n_seeds, batch)):
        omegas, phases = (part[now] for part in drawn)
        for k, s in np.argwhere(wanted):
            if kinds[k] is None:
                found[now, k, s] = _with_trigonometric(task, omegas, phases, sigmas[s], widths)
            else:
                of_sigma = jax.tree.map(lambda field, s=s: field[s], kinds[k])
                found[now, k, s] = _with_exponential(task, omegas, sigmas[s], of_sigma, widths)
        if now.stop == n_tuning:  # from here on only what is chosen
            validated = found[:n_tuning, ..., 0].mean(axis=0)
            chosen = _best(validated), _best(validated.mean(axis=2, keepdims=True))
            wanted[:] = False
            for choice in chosen:
                np.put_along_axis(wanted, choice, values=True, axis=1)
    k, w = np.ogrid[: len(kinds), : len(widths)]
    return Accuracies(*(found[:, k, choice, w, 1] for choice in chosen))


def exact(task, sigmas=SIGMAS):
    """Test accuracy of the kernel itself, sigma chosen by validation: what infinitely many features give."""
    validated, tested = np.array([_with_kernel(task, sigma) for sigma in _scales(sigmas)]).T
    return float(tested[_best(validated[None])[0]])


def without_validation(task):
    """The task whose test points are those that :func:`accuracies` tests on: the second half."""
    _, tests = _halves(task)
    return task._replace(x_test=task.x_test[tests], labels=task.labels[tests])


def _scales(sigmas):
    sigmas = np.asarray(checks.vector(sigmas, "sigmas"), dtype=float)
    if np.any(sigmas <= 0):
        raise ValueError(f"sigmas has a value of {sigmas.min()}; give numbers above 0")
    return sigmas


def _widths(widths):
    widths = checks.vector(widths, "widths")
    if not all(width >= 1 and width == int(width) for width in widths):
        raise ValueError(f"widths = {widths.tolist()}; give whole numbers of at least 1")
    return tuple(int(width) for width in widths)


def _host(parameters, n_sigmas, d):
    """Parameters as NumPy arrays, of which slices compile nothing."""
    return {kind: jax.tree.map(np.asarray, of_kind) for kind, of_kind in parameters.items()}


def _halves(task):
    half = len(task.labels) // 2
    if half == 0:
        raise ValueError(f"task has {len(task.labels)} test points; give two at least: the first half of them chooses sigma")
    return slice(half), slice(half, None)


def _best(accuracy):
    """Places of the best sigmas, the second axis; of equals the first."""
    return np.round(accuracy, 9).argmax(axis=1)


@partial(light, static_argnames="fits")
def _fitted(task, sigmas, fits):
    def at(sigma):
        x, held = sigma * task.x_train, sigma * task.x_test
        return [fit(x, held).filled(x.shape[1]) for fit in fits]

    return jax.vmap(at)(sigmas)


@partial(light, static_argnames=("m", "d"))
@partial(jax.vmap, in_axes=(0, None, None))
def _draw(key, m, d):
    """Orthogonal frequencies, and phases for the trigonometric features."""
    key_omega, key_phases = jax.random.split(key)
    return couplings.orthogonal(key_omega, m, d), jax.random.uniform(key_phases, (m,), maxval=2 * jnp.pi)


def _validated_and_tested(task, votes):
    """Accuracies on the validation and on the test part, for every width: (widths, 2)."""
    both = [[regression.accuracy(v[part], task.labels[part]) for part in _halves(task)] for v in votes]
    return jnp.stack([jnp.stack(pair) for pair in both])


@partial(light, static_argnames="widths")
def _with_exponential(task, omegas, sigma, parameters, widths):
    def one(omega):
        x = features.log_exponential(sigma * task.x_train, omega, parameters, "y")
        held = features.log_exponential(sigma * task.x_test, omega, parameters, "x")
        return _validated_and_tested(task, regression.scores_of_logs(x, task.targets, held, widths))

    return jax.lax.map(one, omegas)


@partial(light, static_argnames="widths")
def _with_trigonometric(task, omegas, phases, sigma, widths):
    def one(drawn):
        x, held = (features.trigonometric(sigma * points, *drawn) for points in (task.x_train, task.x_test))
        return _validated_and_tested(
            task, [regression.scores(x[:, :m], task.targets, held[:, :m]) for m in widths]
        )

    return jax.lax.map(one, (omegas, phases))


@light
def _with_kernel(task, sigma):
    votes = regression.scores_exact(sigma * task.x_train, task.targets, sigma * task.x_test)
    return _validated_and_tested(task, [votes])[0]
