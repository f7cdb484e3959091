"""Kernel regression of class labels, exactly or through features (Simplex Random Features, Section 5.3).

::

    y(x) = sum_i k(x, x_i) y_i / sum_i k(x, x_i),   the class is its greatest entry

with one-hot labels y_i. Features turn the numerator into phi(x)^T (Phi^T Y): O(n m) for n points and m features in
place of O(n^2). All are pure functions that ``jax.vmap`` takes over seeds.

What features give, :func:`scores`, are the numerators. They are linear in the kernel, so that unbiased features give
unbiased scores; and they are enough for a class, since for one-hot labels the denominator is the sum of a row. What the
kernel itself gives, :func:`scores_exact`, is the quotient: far from all training points the numerators underflow, and
the quotient does not. (Where the exact numerators are wanted, they are ``kernels.gaussian(x_test, x_train) @ targets``.)
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks

ROWS_AT_A_TIME = 128


def scores(phi_train, targets, phi_test):
    """Kernel-weighted sums of targets, estimated by features.

    ::

        phi_test (phi_train^T targets)

    Parameters
    ----------
    phi_train : array, shape (n, m)
        Features of the training points.
    targets : array, shape (n, c)
        One-hot labels, or any values to be regressed.
    phi_test : array, shape (l, m)
        Features of the test points, from the same frequencies.

    Returns
    -------
    array, shape (l, c)

    Raises
    ------
    ValueError
        If the shapes do not fit, or a value is not finite.

    Notes
    -----
    Scores are linear in each row of phi_test too. A factor of its own for every test point therefore changes neither its
    class nor its label distribution, and where features of far points underflow, those of
    :func:`rfcore.features.stabilised` take their place: ``phi_test, phi_train = stabilised(log_test, log_train)``.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore.models import regression
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

        e^(-a(x)) sum over i <= m of phi(x)_i sum_k phi(x_k)_i y_k,   a(x) = max over i <= m of (log phi(x)_i + b_i)
        b_i = max_k log phi(x_k)_i

    **The factor changes no class.** e^(-a(x)) > 0 is the same for all columns of a row, and the greatest of a row times a
    positive number is where it was. Exponents are at most 0, and one term of every row is e^0 times a sum of targets in which
    one training point has weight 1: nothing overflows, and no row of one-hot targets vanishes.

    The sum over training points, which is what takes time, is done once for all widths.

    Parameters
    ----------
    log_train : array, shape (n, m)
        From :func:`rfcore.features.log_positive` or :func:`rfcore.features.log_exponential`.
    targets : array, shape (n, c)
        One-hot labels, or any values.
    log_test : array, shape (l, m)
        Of the test points, from the same frequencies.
    widths : sequence of int
        Numbers of features, from 1 to m. The first of a draw of independent blocks are a draw of fewer features.

    Returns
    -------
    array, shape (len(widths), l, c)
        For :func:`accuracy`; a row divided by its sum is a label distribution.

    Raises
    ------
    ValueError
        If the shapes do not fit, a value is not finite, or a width is not between 1 and m.

    Notes
    -----
    Ours; of a single width it is :func:`scores` of :func:`rfcore.features.stabilised`. FAVOR#, Section 5.2.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> from rfcore.models import regression
    >>> x, labels = 30 * jnp.eye(3), jnp.arange(3)
    >>> log_phi = features.log_positive(x, couplings.simplex(jax.random.key(0), 256, 3))
    >>> votes = regression.scores_of_logs(log_phi, jnp.eye(3), log_phi, widths=(16, 256))
    >>> votes.shape, regression.accuracy(votes[1], labels).item()
    ((2, 3, 3), 1.0)
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
    """Kernel-weighted means of targets, with the Gaussian kernel itself.

    ::

        y(x) = sum_i k(x, x_i) y_i / sum_i k(x, x_i),   k(x, y) = exp(-|x - y|^2 / 2)

    for one-hot targets the label distribution. The greatest exponent of a test point is subtracted from its others
    before they are exponentiated, which multiplies numerator and denominator alike, so that no point is too far away.
    Test points are taken in blocks, so that memory is O(n) and not O(l n). A bandwidth only scales the points.

    Parameters
    ----------
    x_train : array, shape (n, d)
    targets : array, shape (n, c)
        One-hot labels, or any values to be regressed.
    x_test : array, shape (l, d)

    Returns
    -------
    array, shape (l, c)

    Raises
    ------
    ValueError
        If the shapes do not fit, there is no training point, or a value is not finite.

    Notes
    -----
    Squared distances come from the expanded square, one matrix product a block and ten times faster than differences.
    They are off by rounding errors of |x|^2 about the mean of the training points, which a weighted vote does not feel;
    :func:`rfcore.kernels.gaussian` is right for close points too.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.models import regression
    >>> x_train, targets = np.array([[0.0], [4.0]]), np.eye(2)
    >>> np.round(regression.scores_exact(x_train, targets, np.array([[0.0], [2.0]])), 3).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    x_train = checks.points(x_train, "x_train")
    x_test = checks.points(x_test, "x_test", n_columns=x_train.shape[1])
    return _scores_exact(x_train, _targets(targets, x_train, "x_train"), x_test)


def accuracy(label_scores, labels):
    """Share of test points whose greatest score is that of their label.

    Parameters
    ----------
    label_scores : array, shape (l, c)
        From :func:`scores` or :func:`scores_exact` with one-hot targets.
    labels : int array, shape (l,)
        Between 0 and c - 1.

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        If there is not one label a row; and, where values are known, if a score is not finite, a row of scores is all
        zero (it names no class), or a label is out of range.

    Notes
    -----
    Simplex Random Features, Section 5.3.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore.models import regression
    >>> regression.accuracy(jnp.array([[0.1, 0.3], [2.0, 1.0]]), jnp.array([1, 1])).item()
    0.5
    """
    label_scores = checks.points(label_scores, "label_scores")
    labels, n_classes = jnp.asarray(checks.numbers(labels, "labels")), label_scores.shape[1]
    if labels.shape != label_scores.shape[:1]:
        raise ValueError(f"labels has shape {labels.shape} for scores of shape {label_scores.shape}; give one label a row")
    if not checks.is_traced(labels):
        with jax.ensure_compile_time_eval():  # also where a function that is being compiled has captured them
            are_classes = bool(jnp.all((labels >= 0) & (labels < n_classes) & (labels == jnp.round(labels))))
        if not are_classes:
            labels = np.asarray(labels)
            got = f"labels has values in [{labels.min()}, {labels.max()}]"
            raise ValueError(f"{got}; give whole numbers from 0 to {n_classes - 1}, the columns of the scores")
    _no_empty_rows(label_scores)
    return jnp.mean(jnp.argmax(label_scores, axis=-1) == labels)


def _no_empty_rows(label_scores):
    if checks.is_traced(label_scores):
        return
    with jax.ensure_compile_time_eval():
        n_empty = int(jnp.sum(jnp.all(label_scores == 0, axis=-1)))
    if n_empty:
        got = f"label_scores has {n_empty} rows that vanish"
        raise ValueError(f"{got}: features underflowed; give scores of features.stabilised(log_test, log_train)")


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
