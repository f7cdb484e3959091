"""Estimates with their standard errors: every function here returns ``mean, se``.

An estimate that is the mean of independent parts knows its own error. There are two kinds of parts:

- *Blocks* of coupled frequencies, for Euclidean features: :func:`rfcore.features.gram` and :func:`rfcore.features.product`. Frequencies of one block
  depend on each other (that is what a coupling is for), blocks do not.
- *Repeats* of a whole estimate, from independent keys, along axis 0: :func:`rfcore.features.mean_and_se`. This serves every estimate,
  those of walk features too, and couplings that join all their frequencies.

``se`` is the root of an unbiased estimate of the variance. From B parts it is itself off by a share of
1 / sqrt(2 (B - 1)) where parts are near normal, so that ``(mean - truth) / se`` follows Student's law of B - 1 degrees of
freedom. Products of positive features are as skew as log-normals: far from the origin a draw that has missed the few large
ones gives a mean and a standard error that are both too small.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks


def mean_and_se(estimates):
    """Mean of independent repeats of an estimate, and its standard error.

    ::

        mean = sum_r estimates_r / R,   se^2 = sum_r (estimates_r - mean)^2 / (R (R - 1))

    Parameters
    ----------
    estimates : array, shape (R, ...)
        One estimate per independent key, R at least 2. NumPy stays NumPy, JAX stays JAX.

    Returns
    -------
    mean, se : arrays, shape (...)

    Raises
    ------
    ValueError
        If there are fewer than two repeats, or a value is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore import features
    >>> mean, se = features.mean_and_se(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean.tolist(), se.tolist()
    ([2.0, 5.0], [1.0, 0.0])

    Notes
    -----
    Ours; the pair is that of matfree's ``estimator_monte_carlo_mean_and_sem``.
    """
    estimates = checks.finite(checks.numbers(estimates, "estimates"), "estimates")
    if estimates.ndim == 0 or len(estimates) < 2:
        raise ValueError(f"estimates has shape {estimates.shape}; give at least two independent repeats along axis 0")
    return estimates.mean(axis=0), estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))


def gram(phi, psi, m, block):
    """Estimate of a kernel matrix from features, and the standard error of every entry.

    ::

        mean = phi psi^T = sum_b S_b,   S_b = sum over the frequencies i of block b of phi_i psi_i^T
        se^2 = B / (B - 1) sum_b (S_b - mean / B)^2                                 B equal blocks

    A last block that is cut has a share w_b of the frequencies below the others', and se^2 is the combination of the
    (S_b - w_b mean)^2 whose expectation is the variance of the mean whatever the variances of the blocks:

    ::

        se^2 = sum_b (S_b - w_b mean)^2 / (1 - 2 w_b)  /  (1 + sum_b w_b^2 / (1 - 2 w_b))

    Parameters
    ----------
    phi : array, shape (n, m) or (n, 2 m)
        Features of one set of points. Columns i and m + i belong to frequency i, as the sine and the cosine of
        :func:`rfcore.features.fourier` do.
    psi : array, shape (k, same)
        Features of the other set, from the same frequencies.
    m : int
        Number of frequencies.
    block : int
        Number of frequencies in a block, at most m / 2: d for the couplings of :mod:`rfcore.couplings`, ``padded(d)`` for
        the fast ones, 1 for ``iid``. Whole blocks may be taken together (any number of ``iid`` ones, multiples of d): that
        is faster, and se noisier. Couplings that join all frequencies have no blocks: repeat the estimate with other
        keys, and give the repeats to :func:`mean_and_se`.

    Returns
    -------
    mean, se : arrays, shape (n, k)
        Memory O(n k); time that of two products and O(n k) per block.

    Raises
    ------
    ValueError
        If the columns are no multiple of m or differ, there are fewer than two blocks, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, couplings.simplex(jax.random.key(0), 600, 3))
    >>> mean, se = features.gram(phi, phi, m=600, block=3)
    >>> bool(jnp.all(jnp.abs(mean - kernels.gaussian(x, x)) < 4 * se)), bool(jnp.all(se < 0.05))
    (True, True)

    Notes
    -----
    Ours. For unequal blocks: E (S_b - w_b mean)^2 = V_b (1 - 2 w_b) + w_b^2 V with V = sum_b V_b the variance of the mean, since
    blocks are independent and E S_b = w_b E mean; divide by 1 - 2 w_b, sum, and solve for V.
    """
    phi, psi = checks.points(phi, "phi"), checks.points(psi, "psi")
    m, block = _checked(phi, psi, m, block)
    return _mean_and_se(phi, psi.T, m, block)


def product(phi, psi, v, m, block):
    """Estimate of a kernel matrix times vectors, and its standard error; the matrix is never formed.

    ::

        mean = phi (psi^T v),   se as for gram with S_b = sum over block b of phi_i (psi_i^T v)

    Parameters
    ----------
    phi, psi : arrays, shapes (n, c) and (k, c), c = m or 2 m
        As for :func:`gram`.
    v : array, shape (k,) or (k, q)
        Vectors: targets, values, one-hot labels.
    m, block : int
        As for :func:`gram`.

    Returns
    -------
    mean, se : arrays, shape (n,) or (n, q)

    Raises
    ------
    ValueError
        As for :func:`gram`; if v has not one row per row of psi.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x, v = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]]), jnp.array([1.0, -2.0])
    >>> phi = features.fourier(x, couplings.orthogonal(jax.random.key(0), 600, 3))
    >>> mean, se = features.product(phi, phi, v, m=600, block=3)
    >>> bool(jnp.all(jnp.abs(mean - kernels.gaussian(x, x) @ v) < 4 * se))
    True

    Notes
    -----
    Numerator and denominator of a quotient (attention, a weighted vote) are products, with errors that depend on each
    other: for the error of the quotient, repeat it and use :func:`mean_and_se`.
    """
    phi, psi, v = checks.points(phi, "phi"), checks.points(psi, "psi"), checks.floating(v, "v")
    m, block = _checked(phi, psi, m, block)
    if v.ndim not in (1, 2) or len(v) != len(psi):
        raise ValueError(f"v has shape {v.shape}; give {len(psi)} rows, one per row of psi")
    mean, se = _mean_and_se(phi, psi.T @ v.reshape(len(v), -1), m, block)
    return (mean[:, 0], se[:, 0]) if v.ndim == 1 else (mean, se)


@partial(jax.jit, static_argnames=("m", "block"))
def _mean_and_se(phi, right, m, block):
    shares, factors = _shares(m, block)

    def in_blocks(rows):
        """Rows of all columns of a frequency, (c, q), to those of each block; zeros fill the cut one."""
        folded = rows.reshape(-1, m, rows.shape[1])
        folded = jnp.pad(folded, ((0, 0), (0, len(shares) * block - m), (0, 0)))
        folded = folded.reshape(len(folded), len(shares), block, rows.shape[1])
        return folded.swapaxes(0, 1).reshape(len(shares), -1, rows.shape[1])

    def add(variance, of_block):
        left, right, share, factor = of_block
        return variance + factor * (left.T @ right - share * mean) ** 2, None

    mean = phi @ right
    of_blocks = in_blocks(phi.T), in_blocks(right), *(jnp.asarray(a, mean.dtype) for a in (shares, factors))
    variance, _ = jax.lax.scan(add, jnp.zeros_like(mean), of_blocks)
    # The slope of a root is infinite at 0, where Fourier features of a point with itself are: times 0, NaN.
    varies = variance > 0
    return mean, jnp.where(varies, jnp.sqrt(jnp.where(varies, variance, 1)), 0)


def _shares(m, block):
    """Share of the frequencies that every block holds, and the factor of its square in the variance of the mean."""
    sizes = np.full(-(-m // block), block)
    sizes[-1] -= sizes.sum() - m
    shares = sizes / m
    if sizes[-1] == block:
        return shares, np.full(len(sizes), len(sizes) / (len(sizes) - 1))
    factors = 1 / (1 - 2 * shares)  # above 0: the first block is below half of all, as two and a cut one go into m
    return shares, factors / (1 + np.sum(shares**2 * factors))


def _checked(phi, psi, m, block):
    m, block = checks.count(m, "m"), checks.count(block, "block")
    for name, features in (("phi", phi), ("psi", psi)):
        if features.shape[1] % m:
            got = f"{name} has {features.shape[1]} columns for m = {m} frequencies"
            raise ValueError(f"{got}; give all features of all frequencies, m columns or 2 m of them")
    if phi.shape[1] != psi.shape[1]:
        raise ValueError(f"psi has {psi.shape[1]} columns and phi {phi.shape[1]}; give features of the same frequencies")
    if m < 2 * block:
        got = f"block = {block} leaves fewer than two whole blocks of m = {m} frequencies"
        raise ValueError(f"{got}, which show no error; give more frequencies, or repeats to features.mean_and_se")
    return m, block
