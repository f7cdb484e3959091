"""Kernel regression of class labels, exactly or through features (Simplex Random Features, Section 5.3).

::

    y(x) = sum_i k(x, x_i) y_i / sum_i k(x, x_i),   the class is its greatest entry

with one-hot labels y_i. Features turn the numerator into phi(x)^T (Phi^T Y): O(n m) for n points and m features in
place of O(n^2). All are pure functions that ``jax.vmap`` takes over seeds.

The *scores* below are the numerators. They are linear in the kernel, so that unbiased features give unbiased scores;
and they are enough for a class, since for one-hot labels the denominator is the sum of a row.
"""

import jax
import jax.numpy as jnp

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
        raise ValueError(f"phi_test has shape {phi_test.shape}; it needs the {phi_train.shape[1]} features of phi_train")
    return phi_test @ (phi_train.T @ targets)


def scores_exact(x_train, targets, x_test):
    """Kernel-weighted sums of targets, with the Gaussian kernel itself.

    ::

        K(x_test, x_train) targets,   K[i, j] = exp(-|x_i - x_j|^2 / 2)

    in blocks of rows, so that memory is O(n) and not O(l n). A bandwidth only scales the points.

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
        If the shapes do not fit, or a value is not finite.

    Notes
    -----
    Squared distances come from the expanded square, one matrix product a block and ten times faster than differences.
    They are off by rounding errors of |x|^2 about the mean of the training points, which a weighted vote does not feel;
    :func:`rfcore.kernels.gaussian` is right for close points too.
    """
    x_train = checks.points(x_train, "x_train")
    x_test = checks.points(x_test, "x_test", n_columns=x_train.shape[1])
    return _scores_exact(x_train, _targets(targets, x_train, "x_train"), x_test)


def label_distribution(label_scores):
    """Predicted label distribution: scores over their sum.

    Parameters
    ----------
    label_scores : array, shape (l, c)
        From :func:`scores` or :func:`scores_exact` with one-hot targets.

    Returns
    -------
    array, shape (l, c), rows of sum 1

    Notes
    -----
    Positive features keep the sum above 0; that of Fourier features can have any sign, and the row then means nothing.
    Where all weights underflow the row is NaN.
    """
    return label_scores / jnp.sum(label_scores, axis=-1, keepdims=True)


def accuracy(label_scores, labels):
    """Share of test points whose greatest score is that of their label.

    Parameters
    ----------
    label_scores : array, shape (l, c)
    labels : int array, shape (l,)

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        If there is not one label a row.
    """
    labels = jnp.asarray(labels)
    if label_scores.ndim != 2 or labels.shape != label_scores.shape[:1]:
        raise ValueError(f"labels has shape {labels.shape} for scores of shape {label_scores.shape}; give one label a row")
    return jnp.mean(jnp.argmax(label_scores, axis=-1) == labels)


@jax.jit
def _scores_exact(x_train, targets, x_test):
    centre = x_train.mean(axis=0)
    x_train, x_test = x_train - centre, x_test - centre
    half_squares = jnp.sum(x_train**2, axis=1) / 2

    def one(x):
        return jnp.exp(x_train @ x - half_squares - jnp.sum(x**2) / 2) @ targets

    return jax.lax.map(one, x_test, batch_size=ROWS_AT_A_TIME)


def _targets(targets, rows, name):
    targets = checks.points(targets, "targets")
    if len(targets) != len(rows):
        raise ValueError(f"targets has {len(targets)} rows and {name} {len(rows)}; give one row of targets a point")
    return targets
