"""Estimates that know their error, ``mean, se``, from independent parts: blocks of frequencies, or repeats.

se^2 is unbiased. With B parts that are near normal, ``(mean - truth) / se`` has Student's law of B - 1
degrees of freedom. Products of positive features are as skew as log-normals: far from the origin a draw that
has missed the few large ones gives a mean and a standard error that are both too small.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks


def mean_and_se(estimates):
    """Mean of independent repeats along axis 0, for couplings that join all frequencies too, and its error.

    ::

        mean = sum_r estimates_r / R,   se^2 = sum_r (estimates_r - mean)^2 / (R (R - 1))
    """
    estimates = checks.finite(checks.numbers(estimates, "estimates"), "estimates")
    if estimates.ndim == 0 or len(estimates) < 2:
        raise ValueError(f"estimates has shape {estimates.shape}; give at least two independent repeats along axis 0")
    return estimates.mean(axis=0), estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))


def gram(phi, psi, m, block):
    """Kernel matrix from features phi, (n, c), and psi, (k, c), for c = m or 2 m, and its standard errors.

    ::

        mean = phi psi^T = sum_b S_b,    w_b = share of the m frequencies in block b,    V_b = variance of S_b
        se^2 = sum_b (S_b - w_b mean)^2 / (1 - 2 w_b)  /  (1 + sum_b w_b^2 / (1 - 2 w_b))

    since E (S_b - w_b mean)^2 = V_b (1 - 2 w_b) + w_b^2 sum V_b. Blocks, at most half of m, are of d
    frequencies for most couplings, ``padded(d)`` for fast ones, 1 for ``iid``, or multiples of that: faster,
    se noisier.
    """
    phi, psi = checks.points(phi, "phi"), checks.points(psi, "psi")
    m, block = _checked(phi, psi, m, block)
    return _mean_and_se(phi, psi.T, m, block)


def product(phi, psi, v, m, block):
    """Kernel matrix times vectors v, (k,) or (k, q), as :func:`gram`; the matrix is never formed.

    In a quotient both errors depend on each other: repeat it, and use :func:`mean_and_se`.
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
    """Share of the frequencies that every block holds, and the factor of its square in the variance."""
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
