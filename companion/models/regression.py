"""Kernel regression of class labels, exactly or through features (Simplex Random Features, Section 5.3).

::

    y(x) = sum_i k(x, x_i) y_i / sum_i k(x, x_i),   the class is its greatest entry

with one-hot labels y_i as targets. Features turn the numerator into phi(x)^T (Phi^T Y): O(n m) for n points
and m features in place of O(n^2). All are pure functions that ``jax.vmap`` takes over seeds.

Features give the numerators (:func:`scores`): linear in the kernel, hence unbiased where features are, and
enough for a class. The kernel itself gives the quotient (:func:`scores_exact`), which does not underflow far
from all training points. Training arrays have n rows, test arrays l, targets (any values, if not one-hot)
shape (n, c), results (l, c).
"""

from functools import partial

import jax
import jax.numpy as jnp

from rfcore import checks

ROWS_AT_A_TIME = 128


def scores(phi_train, targets, phi_test):
    """Kernel-weighted sums of targets, estimated by features: ``phi_test @ (phi_train.T @ targets)``.

    A factor of its own for every test point changes no class and no label distribution. So where features of
    far points underflow, take ``phi_test, phi_train = stabilised(log_test, log_train)``, of
    :func:`rfcore.attention.stabilised`.

    Args:
        phi_train, targets, phi_test: (n, m), (n, c) and (l, m); features of the same frequencies.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from companion.models import regression
    >>> x, labels = jnp.array([[0.0, 0.0], [1.0, 1.0]]), jnp.array([0, 1])
    >>> phi = features.positive(x, couplings.simplex(jax.random.key(0), 256, 2))
    >>> regression.accuracy(regression.scores(phi, jax.nn.one_hot(labels, 2), phi), labels).item()
    1.0
    """
    phi_train, phi_test = checks.points(phi_train, "phi_train"), checks.points(phi_test, "phi_test")
    targets = _targets(targets, phi_train, "phi_train")
    if phi_test.shape[1] != phi_train.shape[1]:
        raise ValueError(f"phi_test has shape {phi_test.shape}; give it the {phi_train.shape[1]} features of phi_train")
    return phi_test @ (phi_train.T @ targets)


def scores_of_logs(log_train, targets, log_test, widths):
    """Scores from logarithms of positive features, of the first m of them for every m in widths.

    ::

        e^(-a(x)) sum over i <= m of phi(x)_i sum_k phi(x_k)_i y_k
        a(x) = max over i <= m of (log phi(x)_i + b_i),   b_i = max_k log phi(x_k)_i

    The factor e^(-a(x)) > 0 is the same for a whole row and changes no class. Exponents are at most 0, and
    one term of every row is e^0 times a sum of targets in which one training point has weight 1: nothing
    overflows, and no row of one-hot targets vanishes. The sum over training points, which takes the time, is
    done once for all widths.

    Args:
        log_train, targets, log_test: (n, m), (n, c) and (l, m), such as of
            :func:`rfcore.features.log_exponential`.
        widths: numbers of features; the first of a draw of independent blocks are a draw of fewer features.

    Returns:
        Array, (len(widths), l, c). A row divided by its sum is a label distribution.
    """
    log_train, log_test = checks.points(log_train, "log_train"), checks.points(log_test, "log_test")
    targets, m = _targets(targets, log_train, "log_train"), log_train.shape[1]
    if log_test.shape[1] != m:
        raise ValueError(f"log_test has shape {log_test.shape}; give it the {m} features of log_train")
    widths = checks.vector(widths, "widths")
    if not all(1 <= width <= m and width == int(width) for width in widths):
        raise ValueError(f"widths = {widths.tolist()}; give whole numbers from 1 to {m}, the columns of log_train")
    return _scores_of_logs(log_train, targets, log_test, tuple(int(width) for width in widths))


def scores_exact(x_train, targets, x_test):
    """Kernel-weighted means of targets, with the Gaussian kernel k(x, y) = exp(-|x - y|^2 / 2) itself.

    The greatest exponent of a test point is subtracted before exponentiating, which cancels in the quotient,
    so that no point is too far away. Memory is O(n), not O(l n). Squared distances come from the expanded
    square, ten times faster than differences and off by rounding errors of |x|^2 about the mean of the
    training points, which a weighted vote does not feel; :func:`rfcore.kernels.gaussian` is right for close
    points too. For another bandwidth scale the points.

    Args:
        x_train, targets, x_test: (n, d), (n, c) and (l, d).
    """
    x_train = checks.points(x_train, "x_train")
    x_test = checks.points(x_test, "x_test", n_columns=x_train.shape[1])
    return _scores_exact(x_train, _targets(targets, x_train, "x_train"), x_test)


def accuracy(label_scores, labels):
    """Share of test points whose greatest score is that of their label.

    Args:
        label_scores, labels: scores with one-hot targets, (l, c); integers from 0 to c - 1, (l,).

    Raises ValueError if a row of scores is all zero, as it names no class: features have underflowed.
    """
    label_scores = checks.points(label_scores, "label_scores")
    labels = jnp.asarray(checks.indices(labels, "labels", label_scores.shape[1]))
    if labels.shape != label_scores.shape[:1]:
        raise ValueError(f"labels has shape {labels.shape} for scores of shape {label_scores.shape}; give one label a row")
    _no_empty_rows(label_scores)
    return jnp.mean(jnp.argmax(label_scores, axis=-1) == labels)


def _no_empty_rows(label_scores):
    if checks.is_traced(label_scores):
        return
    with jax.ensure_compile_time_eval():
        n_empty = int(jnp.sum(jnp.all(label_scores == 0, axis=-1)))
    if n_empty:
        got = f"label_scores has {n_empty} rows that vanish"
        raise ValueError(f"{got}: features underflowed; give scores of attention.stabilised(log_test, log_train)")


@partial(jax.jit, static_argnames="widths")
def _scores_of_logs(log_train, targets, log_test, widths):
    greatest = log_train.max(axis=0)
    votes = jnp.exp(log_train - greatest).T @ targets
    exponents = log_test + greatest

    def of_first(m):
        first = exponents[:, :m]
        return jnp.exp(first - first.max(axis=1, keepdims=True)) @ votes[:m]

    return jnp.stack([of_first(m) for m in widths])


@jax.jit
def _scores_exact(x_train, targets, x_test):
    centre = x_train.mean(axis=0)
    x_train, x_test = x_train - centre, x_test - centre
    half_squares = jnp.sum(x_train**2, axis=1) / 2

    def one(x):
        return jax.nn.softmax(x_train @ x - half_squares) @ targets  # |x|^2 / 2 is the same for all, and cancels

    return jax.lax.map(one, x_test, batch_size=ROWS_AT_A_TIME)


def _targets(targets, rows, name):
    targets = checks.points(targets, "targets")
    if len(rows) == 0:
        raise ValueError(f"{name} has shape {rows.shape}; give at least one training point")
    if len(targets) != len(rows):
        raise ValueError(f"targets has {len(targets)} rows and {name} {len(rows)}; give one row of targets per point")
    return targets
