"""Orthogonal frequencies with coupled norms; :func:`compose` takes any other directions."""

from rfcore.couplings import directions, norms
from rfcore.couplings.compose import compose


def orthogonal_pnc(key, m, d):
    """Orthogonal frequencies with pairwise coupled norms: 2i and 2i + 1 of a block are at levels u and 1 - u.

    Source: Variance-Reducing Couplings, Definition 3.3.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> first, second = jnp.linalg.norm(couplings.orthogonal_pnc(jax.random.key(0), 2, 2), axis=1)
    >>> bool((first < 1.1774) == (second > 1.1774))  # one on either side of the median, sqrt(2 log 2)
    True
    """
    return _orthogonal_pnc(key, m, d)


def orthogonal_pm(key, m, d):
    """Orthogonal frequencies with one norm in each block: the positive monotone coupling of norms.

    For positive features its variance is the greatest of all couplings of the norms of orthogonal
    frequencies.

    Source: Variance-Reducing Couplings, Appendix B.3.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> lengths = jnp.linalg.norm(couplings.orthogonal_pm(jax.random.key(0), 6, 4)[:4], axis=1)
    >>> bool(jnp.allclose(lengths, lengths[0]))
    True
    """
    return _orthogonal_pm(key, m, d)


def orthogonal_copula(key, m, d, correlation):
    """Orthogonal frequencies whose norms have a Gaussian copula in each block.

    Args:
        key, m, d: as for every coupling.
        correlation: (d, d) correlation matrix; see :func:`rfcore.couplings.copulas.gaussian`, also for
            gradients.

    Source: Variance-Reducing Couplings, Section 3.2 and Appendix A.5.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> correlation = jnp.array([[1.0, -0.9], [-0.9, 1.0]])
    >>> omega = couplings.orthogonal_copula(jax.random.key(0), 6, 2, correlation)
    """
    return compose(directions.orthogonal, norms.gaussian(correlation))(key, m, d)


_orthogonal_pnc = compose(directions.orthogonal, norms.pnc)
_orthogonal_pm = compose(directions.orthogonal, norms.positive_monotone)
