"""Sums and quotients of positive features that overflow or underflow, from their logarithms."""

import jax
import jax.numpy as jnp

from rfcore import checks


def log_gram(log_phi, log_psi):
    """Logarithms of the entries of a Gram matrix, from logarithms of features.

    ::

        log sum_i exp(log_phi_ni + log_psi_ki)

    exact to rounding for every entry, whatever its size. Subtracting the greatest exponent of each row before a matrix
    product is not: where the rows are large at different features, all products of a pair underflow. It is done where it
    suffices, in the rows of the matrix whose entries show that what underflowed is below rounding; the others are summed
    entry by entry, about ten times slower.

    Parameters
    ----------
    log_phi : array, shape (n, m)
        From :func:`rfcore.features.log_positive`.
    log_psi : array, shape (k, m)
        Of the other points, from the same frequencies.

    Returns
    -------
    array, shape (n, k)
        Memory O(n m + k m + n k).

    Raises
    ------
    ValueError
        If the columns differ or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[20.0, 0.0], [0.0, 20.0]])
    >>> omega = couplings.simplex(jax.random.key(0), 8, 2)
    >>> phi = features.positive(x, omega)
    >>> log_phi = features.log_positive(x, omega)
    >>> bool(jnp.any(phi @ phi.T > 0)), bool(jnp.all(jnp.isfinite(features.log_gram(log_phi, log_phi))))
    (False, True)

    Notes
    -----
    Ours. Why rows suffice: with the greatest exponents a_n and b_k subtracted, factors and terms are at most 1. What underflows
    loses less than t, the least normal number, in each of the m terms; the sum s is off by less than m t, and by less than
    eps s where s >= m t / eps.
    """
    log_phi, log_psi = checks.points(log_phi, "log_phi"), checks.points(log_psi, "log_psi")
    _same_columns(log_phi, log_psi, "log_psi", "log_phi")
    return _log_gram(log_phi, log_psi)


def stabilised(log_q, log_k):
    """Positive features of queries and of keys for a quotient, scaled by factors that cancel in it.

    In attention, and in a vote over labels, the features of queries q and of keys k with values v (keys: training points,
    values: one-hot labels) meet in

    ::

        out(q) = sum_k [phi(q) . phi(k)] v_k / sum_k [phi(q) . phi(k)],   phi(q) . phi(k) = sum_i phi(q)_i phi(k)_i

    Returned are

    ::

        b_i = max_k log phi(k)_i,   a(q) = max_i (log phi(q)_i + b_i)
        phi'(q)_i = exp(log phi(q)_i + b_i - a(q)),   phi'(k)_i = exp(log phi(k)_i - b_i)

    **They cancel.** phi'(q)_i phi'(k)_i = e^(-a(q)) phi(q)_i phi(k)_i: the factor e^(b_i) of a feature meets its inverse in
    each product, and what is left, e^(-a(q)), is the same for all keys and all features; it stands in each term above and
    below the line, and divides out. (A factor of its own for every *key* would not cancel: it weighs the keys anew.)

    **Nothing overflows, and no query is lost.** All exponents are at most 0. For each query some feature i has
    phi'(q)_i = 1, and for each feature some key has phi'(k)_i = 1, so that the sum below the line is at least 1, while what
    underflows changes it by less than (keys times features) the least number there is. One factor for all keys in place of
    the b_i, the usual choice, leaves queries whose features all meet underflowed keys with 0 / 0.

    **Not for causal attention.** b_i is taken over all keys. The result does not depend on it but for rounding; yet a key
    of the future that is large enough makes all of the past underflow, and so is seen. Causal attention needs greatest
    exponents of keys up to the query's place: call this for each query with its past, or carry running maxima and rescale
    the sums when they grow.

    Parameters
    ----------
    log_q : array, shape (n, m)
        From :func:`rfcore.features.log_positive`, of the queries or test points.
    log_k : array, shape (k, m)
        Of the keys or training points, from the same frequencies; at least one.

    Returns
    -------
    phi_q, phi_k : arrays, shapes (n, m) and (k, m), values in [0, 1]
        Their products are kernels up to a factor per query: good for quotients and for the greatest of scores, no estimates
        of kernels (:func:`log_gram` gives those).

    Raises
    ------
    ValueError
        If the columns differ, there is no key, or a value is not finite.

    Examples
    --------
    Attention of points that are too far out for :func:`rfcore.features.positive`:

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features
    >>> q, k, v = 30 * jnp.eye(3), jnp.eye(3), jnp.arange(6.0).reshape(3, 2)
    >>> omega = couplings.simplex(jax.random.key(0), 8, 3)
    >>> bool(jnp.any(features.positive(q, omega, kernel="softmax") > 0))
    False
    >>> phi_q, phi_k = features.stabilised(*(features.log_positive(x, omega, kernel="softmax") for x in (q, k)))
    >>> below = phi_q @ phi_k.sum(axis=0)
    >>> (phi_q @ (phi_k.T @ v) / below[:, None]).shape, bool(jnp.all(below >= 1))
    ((3, 2), True)

    Notes
    -----
    Performers subtract a greatest exponent per query and one over all keys (Choromanski et al., 2020, the published code).
    """
    log_q, log_k = checks.points(log_q, "log_q"), checks.points(log_k, "log_k")
    _same_columns(log_q, log_k, "log_k", "log_q")
    if len(log_k) == 0:
        raise ValueError(f"log_k has shape {log_k.shape}; give at least one key")
    return _stabilised(log_q, log_k)


@jax.jit
def _stabilised(log_q, log_k):
    of_features = log_k.max(axis=0)
    of_queries = log_q + of_features
    return jnp.exp(of_queries - of_queries.max(axis=1, keepdims=True)), jnp.exp(log_k - of_features)


@jax.jit
def _log_gram(log_phi, log_psi):
    greatest_phi, greatest_psi = (jax.lax.stop_gradient(log.max(axis=1)) for log in (log_phi, log_psi))
    phi, psi = jnp.exp(log_phi - greatest_phi[:, None]), jnp.exp(log_psi - greatest_psi[:, None])
    sums = jnp.matmul(phi, psi.T, precision="highest")
    enough = log_phi.shape[1] * float(jnp.finfo(sums.dtype).tiny / jnp.finfo(sums.dtype).eps)

    def row(of_row):
        log_row, sums_row, greatest = of_row
        return jax.lax.cond(
            jnp.all(sums_row >= enough),
            lambda: jnp.log(sums_row) + (greatest + greatest_psi),
            lambda: jax.nn.logsumexp(log_row + log_psi, axis=1),
        )

    return jax.lax.map(row, (log_phi, sums, greatest_phi))


def _same_columns(one, other, name, of):
    if one.shape[1] != other.shape[1]:
        raise ValueError(f"{name} has {other.shape[1]} columns and {of} {one.shape[1]}; give features of the same frequencies")
