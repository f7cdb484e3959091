"""The simplex matrix, the product with it and the sweep of simplex+ as Simplex Random Features prints them.

The library has faster forms of the last two: :func:`rfcore.couplings.directions.simplex_product` and
:func:`rfcore.couplings.weight_dependent.balance`. Imported by its own name,
``rfcore.theory.printed.simplex``.
"""

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks


def corners(d):
    """The simplex matrix S in float64, whose rows are the corners of a regular simplex; d at least 2.

    ::

        s_i = sqrt(d / (d - 1)) e_i - (sqrt(d) + 1) / (d - 1)^(3/2) (1, ..., 1, 0)   for i < d
        s_d = (1, ..., 1, 0) / sqrt(d - 1)

    Source: Simplex Random Features, Eq. 9.
    """
    d = checks.count(d, "d", least=2)
    ones = np.append(np.ones(d - 1), 0.0)
    first = np.sqrt(d / (d - 1)) * np.eye(d)[:-1] - (np.sqrt(d) + 1) / (d - 1) ** 1.5 * ones
    return np.vstack([first, ones / np.sqrt(d - 1)])


def product(x):
    """The product S x of a vector (d,), term by term in float64.

    ::

        y_d = (x_1 + ... + x_{d-1}) / sqrt(d - 1)
        y_i = sqrt(d / (d - 1)) x_i - (sqrt(d) + 1) / (d - 1) y_d   for i < d

    Source: Simplex Random Features, Algorithm 1 (Appendix B.2.1).
    """
    x = np.asarray(checks.vector(x, "x"))
    d = len(x)
    if d < 2:
        raise ValueError(f"x has shape {x.shape}; give at least two numbers: a simplex needs two corners")
    y = np.empty(d)
    y[d - 1] = sum(x[: d - 1]) / np.sqrt(d - 1)
    for i in range(d - 1):
        y[i] = np.sqrt(d / (d - 1)) * x[i] - (np.sqrt(d) + 1) / (d - 1) * y[d - 1]
    return y


def sweep(vectors, lengths):
    """One pass of the iteration of simplex+ over all vectors, its rows, each sum from scratch: O(d^3).

    ::

        w_i <- - lengths_i r_i / |r_i|,   r_i = sum_{j != i} w_j,   for i = 1, ..., d

    Source: Simplex Random Features, Eq. 17.
    """
    vectors = checks.points(vectors, "vectors")
    lengths = checks.vector(checks.floating(lengths, "lengths"), "lengths", len(vectors), "vector")

    def update(i, vectors):
        rest = vectors.sum(axis=0) - vectors[i]
        return vectors.at[i].set(-lengths[i] * rest / jnp.linalg.norm(rest))

    return jax.lax.fori_loop(0, len(vectors), update, vectors)
