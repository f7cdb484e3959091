"""Directions of which each two have the same angle, and norms of which each two have the same correlation."""

import jax.numpy as jnp

from rfcore import checks, copulas, precision
from rfcore.couplings import directions


def equiangular(cosine):
    """Directions of which each two subtend the same angle within each block of d.

    ::

        rows of C R,  R from Haar measure,  C symmetric with C^2 = (1 - c) I + c 1 1^T,  c the cosine

    Orthogonal for c = 0, and the law of a simplex for c = -1 / (d - 1).

    Args:
        cosine: from -1 / (d - 1) to 1.

    Returns:
        A function ``(key, m, d) -> (m, d)``.
    """

    def draw(key, m, d):
        blocks = precision.product(_root(cosine, d), directions.haar(key, d, -(-m // d)))
        return blocks.reshape(-1, d)[:m]

    return draw


def equicorrelated(correlation):
    """Copula of norms at the levels of normals, each two of the same correlation, from -1 / (d - 1) to 1."""
    return lambda uniform, shape: copulas.gaussian_of_factor(_root(correlation, shape[-2]))(uniform, shape)


def _root(c, d):
    """Symmetric root of the d x d matrix with ones on its diagonal and c elsewhere.

    ::

        R = sqrt(1 - c) I + (sqrt(1 + (d - 1) c) - sqrt(1 - c)) / d  1 1^T,    R^2 = (1 - c) I + c 1 1^T
    """
    if not checks.is_traced(c) and d > 1 and not -1 / (d - 1) - 1e-6 <= c <= 1:
        raise ValueError(f"c = {c}; give one from -1 / (d - 1) = {-1 / (d - 1):g} to 1")
    other = jnp.sqrt(jnp.maximum(1 - c, 0.0))
    return other * jnp.eye(d) + (jnp.sqrt(jnp.maximum(1 + (d - 1) * c, 0.0)) - other) / d
