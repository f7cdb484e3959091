"""Orthogonal frequencies with coupled norms; :func:`rfcore.couplings.compose` makes the like of any directions."""

from rfcore.couplings import directions, norms
from rfcore.couplings.compose import compose


def orthogonal_pnc(key, m, d):
    """Orthogonal frequencies with pairwise coupled norms: in each block, norms 2i and 2i + 1 are at levels u and 1 - u.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number and dimension of the frequencies; m need not be a multiple of d.

    Returns
    -------
    array, shape (m, d), rows marginally N(0, I_d), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Examples
    --------
    >>> import jax
    >>> from rfcore import couplings
    >>> couplings.orthogonal_pnc(jax.random.key(0), 6, 4).shape
    (6, 4)

    Notes
    -----
    Variance-Reducing Couplings, Definition 3.3. ``norms.pnc`` goes with other directions too.
    """
    return _orthogonal_pnc(key, m, d)


def orthogonal_pm(key, m, d):
    """Orthogonal frequencies with one norm in each block: the positive monotone coupling.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number and dimension of the frequencies; m need not be a multiple of d.

    Returns
    -------
    array, shape (m, d), rows marginally N(0, I_d), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, or the key is no JAX key.

    Notes
    -----
    Variance-Reducing Couplings, Appendix B.3. For positive features its variance is the greatest of all orthogonal ones.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> lengths = jnp.linalg.norm(couplings.orthogonal_pm(jax.random.key(0), 6, 4)[:4], axis=1)
    >>> bool(jnp.allclose(lengths, lengths[0]))
    True
    """
    return _orthogonal_pm(key, m, d)


def orthogonal_copula(key, m, d, correlation):
    """Orthogonal frequencies whose norms have a Gaussian copula in each block.

    Parameters
    ----------
    key : JAX PRNG key
    m, d : int
        Number and dimension of the frequencies; m need not be a multiple of d.
    correlation : array, shape (d, d)
        Symmetric and positive semidefinite, with ones on its diagonal; see :func:`rfcore.couplings.copulas.gaussian`,
        also for gradients.

    Returns
    -------
    array, shape (m, d), rows marginally N(0, I_d), in the default float dtype

    Raises
    ------
    ValueError
        If m < 0 or d < 1, the key is no JAX key, or the correlation is no such matrix.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore import couplings
    >>> correlation = np.array([[1.0, -0.9], [-0.9, 1.0]])
    >>> couplings.orthogonal_copula(jax.random.key(0), 6, 2, correlation).shape
    (6, 2)

    Notes
    -----
    Variance-Reducing Couplings, Section 3.2 and Appendix A.5.
    """
    return compose(directions.orthogonal, norms.gaussian(correlation))(key, m, d)


_orthogonal_pnc = compose(directions.orthogonal, norms.pnc)
_orthogonal_pm = compose(directions.orthogonal, norms.positive_monotone)
