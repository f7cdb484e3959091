"""Copulas: joint laws of uniforms, from which quantile functions make coupled norms, lengths of walks and hops.

A copula is a function ``(uniform, shape) -> u`` with u of shape ``shape = (..., m, k)``: blocks, m draws in a block, k
coordinates of a draw. Every entry of u is uniform on [0, 1), blocks are independent of each other, and so are the
coordinates of one draw. Any such function serves where a name does.

``uniform(shape)`` gives fresh independent uniforms: ``rng.random`` of a NumPy generator, or :func:`uniforms` of a JAX key.
A law calculates in the namespace of what it is given, so that NumPy and JAX make the same draws of the same uniforms, and
compiles in JAX. No entry is ever 1, whatever the rounding; none is 0 if ``uniform`` gives none, as :func:`uniforms` does.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from scipy.stats import qmc

from rfcore import checks

BITS = 23  # of low-discrepancy points: what a float32 uniform has, the digits after them being random


def uniforms(key):
    """Source of independent uniforms on (0, 1) in JAX, for one draw of a copula.

    ::

        u = (j + 1/2) 2^-23 in float32, (j + 1/2) 2^-52 in float64, j a uniform whole number

    so that neither u nor 1 - u, which is exact, is ever 0 or 1.

    Parameters
    ----------
    key : JAX PRNG key

    Returns
    -------
    function shape -> array of that shape, in the default float dtype
        Each call folds its number into the key, so that a source is for one draw and a second draw takes a second source.

    Raises
    ------
    ValueError
        If the key is no JAX key.

    Examples
    --------
    >>> import jax
    >>> from rfcore.couplings import copulas
    >>> pairs = copulas.reversal(copulas.uniforms(jax.random.key(0)), (5, 2, 1))
    >>> bool((pairs.sum(axis=1) == 1).all())
    True
    """
    return _Uniforms(checks.key(key))


class _Uniforms:
    def __init__(self, key):
        self.key, self.n_calls = key, 0

    def __call__(self, shape):
        self.n_calls += 1
        u = jax.random.uniform(jax.random.fold_in(self.key, self.n_calls), shape)
        return u + _eps(u) / 2


def draw(law, uniform, shape):
    """Draw of a law that may be anybody's: its shape is checked, and its values where they are known.

    Parameters
    ----------
    law : function (uniform, shape) -> array
    uniform : function shape -> array
    shape : tuple, (..., m, k)

    Returns
    -------
    array of that shape, with values in [0, 1)

    Raises
    ------
    ValueError
        If the law is no function, or what it draws is of another shape or outside [0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.couplings import copulas
    >>> copulas.draw(copulas.stratified, np.random.default_rng(0).random, (3, 4, 1)).shape
    (3, 4, 1)
    """
    checks.function(law, "law", "couplings.copulas.reversal")
    u = law(uniform, shape)
    if np.shape(u) != shape:
        raise ValueError(f"law maps shape {shape} to an array of shape {np.shape(u)}; give one uniform per entry")
    if not checks.is_traced(u) and u.size and not (u.min() >= 0 and u.max() < 1):
        raise ValueError(f"law has values in [{u.min()}, {u.max()}]; give uniforms of at least 0 and below 1")
    return u


def independent(uniform, shape):
    """Independent uniforms.

    Parameters
    ----------
    uniform : function shape -> array
    shape : tuple, (..., m, k)

    Returns
    -------
    array of that shape
    """
    return uniform(shape)


def reversal(uniform, shape):
    """Pairs u, 1 - u: the most negative dependence that two uniforms can have.

    Rows 2i and 2i + 1 of a block are a pair; an odd last row stands alone.

    Parameters
    ----------
    uniform : function shape -> array
    shape : tuple, (..., m, k)

    Returns
    -------
    array of that shape
        A pair sums to 1 exactly, but for u = 0 (which rng.random gives once in 2^53): its partner is the largest number
        below 1.

    Notes
    -----
    Variance-Reducing Couplings, Eq. 7 and Definition 3.3: for norms this is pairwise norm-coupling.
    """
    *blocks, m, k = shape
    u = uniform((*blocks, (m + 1) // 2, k))
    xp = u.__array_namespace__()
    pairs = xp.stack([u, xp.minimum(1 - u, _below_one(u))], axis=-2)
    return pairs.reshape((*blocks, 2 * u.shape[-2], k))[..., :m, :]


def comonotone(uniform, shape):
    """One uniform for all draws of a block: the most positive dependence.

    Parameters
    ----------
    uniform : function shape -> array
    shape : tuple, (..., m, k)

    Returns
    -------
    array of that shape
    """
    *blocks, m, k = shape
    u = uniform((*blocks, 1, k))
    return u.__array_namespace__().repeat(u, m, axis=-2)


def stratified(uniform, shape):
    """One draw in each of m strata, in each coordinate: Latin hypercube sampling.

    ::

        u_i = (pi(i) + v_i) / m,  pi a random permutation for each block and coordinate, v_i uniform

    Parameters
    ----------
    uniform : function shape -> array
    shape : tuple, (..., m, k)

    Returns
    -------
    array of that shape

    Notes
    -----
    McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables" (1979).
    """
    return _in_cells(_permutation(uniform, shape), uniform(shape), shape[-2])


def systematic(uniform, shape):
    """Evenly spaced draws in a random order, in each coordinate: stratified with the same place in all strata.

    ::

        u_i = (pi(i) + v) / m,  pi a random permutation and v one uniform for each block and coordinate

    Parameters
    ----------
    uniform : function shape -> array
    shape : tuple, (..., m, k)

    Returns
    -------
    array of that shape
    """
    *blocks, m, k = shape
    return _in_cells(_permutation(uniform, shape), uniform((*blocks, 1, k)), m)


def sobol(uniform, shape):
    """Sobol' points with a random digital shift for each block and coordinate.

    ::

        u_i = p_i XOR v,  on the first 23 binary digits; the digits after them are those of v

    The points p are scipy's with one fixed scramble. The shift alone makes each row exactly uniform on the cube; it
    keeps the strata of the net, one draw in each interval [j / m, (j + 1) / m) of a coordinate where m is a power of two,
    which a shift modulo 1 does not. For other m these are the first m points.

    Parameters
    ----------
    uniform : function shape -> array
    shape : tuple, (..., m, k), with m at most 2^23 and k at most 21201

    Returns
    -------
    array of that shape

    Raises
    ------
    ValueError
        If the block has more draws or coordinates than there are points.

    Notes
    -----
    Owen, "Randomly permuted (t, m, s)-nets and (t, s)-sequences" (1995); L'Ecuyer and Lemieux, "Recent advances in
    randomized quasi-Monte Carlo methods" (2002) for the digital shift.
    """
    return _shifted(_sobol_points(*_size(shape)), uniform, shape, lambda point, shift: point ^ shift)


def halton(uniform, shape):
    """Halton points with a random shift modulo 1 for each block and coordinate.

    ::

        u_i = (p_i + v) mod 1

    The points p are scipy's with one fixed scramble, rounded down to 23 binary digits. The shift alone makes each row
    exactly uniform on the cube.

    Parameters
    ----------
    uniform : function shape -> array
    shape : tuple, (..., m, k), with m at most 2^23 and k at most 21201

    Returns
    -------
    array of that shape

    Raises
    ------
    ValueError
        If the block has more draws or coordinates than there are points.

    Notes
    -----
    Cranley and Patterson, "Randomization of number theoretic methods for multiple integration" (1976).
    """
    return _shifted(_halton_points(*_size(shape)), uniform, shape, lambda point, shift: point + shift)


def gaussian(correlation):
    """Gaussian copula: the marginal levels of m correlated normals.

    ::

        u = Phi(L Phi^-1(v)),  L L^T = correlation, L lower triangular, v independent uniforms

    Correlations -1 and 1 are allowed: ``reversal`` and ``comonotone`` are the copulas of such matrices.

    Parameters
    ----------
    correlation : array, shape (m, m)
        Symmetric and positive semidefinite, with ones on its diagonal. Inside ``jax.jit`` and ``jax.grad`` its values
        are not checked, and a singular matrix gives NaN: :func:`gaussian_of_factor` is made for learning.

    Returns
    -------
    function (uniform, shape) -> u, for blocks of m draws

    Raises
    ------
    ValueError
        If the correlation is no such matrix; when it draws, if a block has another number of draws.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rfcore.couplings import copulas
    >>> law = copulas.gaussian(np.array([[1.0, -0.5], [-0.5, 1.0]]))
    >>> law(copulas.uniforms(jax.random.key(0)), (3, 2, 1)).shape
    (3, 2, 1)

    Notes
    -----
    Variance-Reducing Couplings, Section 3.2 and Appendix A.5.
    """
    matrix = checks.finite(checks.numbers(correlation, "correlation"), "correlation")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"correlation has shape {matrix.shape}; give a square matrix, one row per draw of a block")
    if checks.is_traced(matrix):
        return _Gaussian(jnp.linalg.cholesky(matrix))
    return _Gaussian(_factor(np.asarray(matrix, dtype=float)))


def gaussian_of_factor(factor):
    """Gaussian copula by a factor of its correlation matrix, differentiable wherever no row is zero.

    ::

        u = Phi(L Phi^-1(v)),  L_i = factor_i / |factor_i|,  correlation L L^T

    Parameters
    ----------
    factor : array, shape (m, r)
        Any numbers: rows are normalised, so that every matrix without a zero row stands for a correlation.

    Returns
    -------
    function (uniform, shape) -> u, for blocks of m draws

    Raises
    ------
    ValueError
        If factor is no finite matrix, or has a row of zeros; when it draws, if a block has another number of draws.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore.couplings import copulas
    >>> def mean_product(factor):
    ...     u = copulas.gaussian_of_factor(factor)(copulas.uniforms(jax.random.key(0)), (1000, 2, 1))
    ...     return (u[:, 0] * u[:, 1]).mean()
    >>> jax.grad(mean_product)(jnp.eye(2)).shape
    (2, 2)

    Notes
    -----
    Variance-Reducing Couplings, Eq. 34, where the factor is triangular.
    """
    factor = checks.points(factor, "factor")
    lengths = jnp.linalg.norm(factor, axis=1, keepdims=True)
    if not checks.is_traced(lengths) and not (len(factor) and lengths.min() > 0):
        raise ValueError(f"factor has {int((lengths == 0).sum())} rows of zeros; give each draw a direction")
    return _Gaussian(factor / lengths)


def permutation(sigma):
    """Pairs that are matched quantile bin by quantile bin, uniform within the bins.

    ::

        u_1 uniform, in bin i = floor(n u_1);   u_2 = (sigma(i) + v) / n,  v uniform

    Rows 2i and 2i + 1 of a block are a pair; an odd last row stands alone.

    Parameters
    ----------
    sigma : int array, shape (n,)
        A permutation of 0, ..., n - 1.

    Returns
    -------
    function (uniform, shape) -> u

    Raises
    ------
    ValueError
        If sigma is no permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.couplings import copulas
    >>> u = copulas.permutation([1, 0])(np.random.default_rng(0).random, (1000, 2, 1))
    >>> bool(((u[:, 0] < 0.5) == (u[:, 1] >= 0.5)).all())
    True

    Notes
    -----
    Variance-Reducing Couplings, Section 4 (sigma-coupling).
    """
    values = checks.vector(sigma, "sigma")
    if checks.is_traced(values) or not np.array_equal(np.sort(values), np.arange(len(values))):
        raise ValueError(f"sigma = {sigma!r}; give a permutation of 0, ..., n - 1, known when the law is made")
    return _Permutation(tuple(int(i) for i in values))


def by_coordinate(*laws):
    """A law of its own for each coordinate; ``independent`` in the coordinates after the last.

    Parameters
    ----------
    *laws : copulas or their names
        Of coordinate 0, 1, ...

    Returns
    -------
    function (uniform, shape) -> u

    Raises
    ------
    ValueError
        If one of the laws is neither a name nor a function.

    Examples
    --------
    Walks whose lengths are independent and whose first hops are stratified:

    >>> from rfcore.couplings import copulas
    >>> law = copulas.by_coordinate("iid", "stratified")
    """
    return _ByCoordinate(tuple(named(law, "laws") for law in laws))


def named(coupling, name="coupling"):
    """Copula by its name; a permutation becomes its law, and a function stands for itself.

    Parameters
    ----------
    coupling : "iid", "reversal", "comonotone", "stratified", "systematic", "sobol", "halton", int array or function
    name : str
        What a complaint calls the argument.

    Returns
    -------
    function (uniform, shape) -> u

    Raises
    ------
    ValueError
        If there is no such law.

    Examples
    --------
    >>> from rfcore.couplings import copulas
    >>> copulas.named("reversal") is copulas.reversal
    True
    """
    if callable(coupling):
        return coupling
    if isinstance(coupling, list | tuple | np.ndarray | jax.Array):
        return permutation(coupling)
    return _BY_NAME[checks.choice(coupling, name, tuple(_BY_NAME))]


_BY_NAME = {
    "iid": independent,
    "reversal": reversal,
    "comonotone": comonotone,
    "stratified": stratified,
    "systematic": systematic,
    "sobol": sobol,
    "halton": halton,
}


@dataclass(frozen=True, eq=False)
class _Gaussian:
    factor: Any

    def __call__(self, uniform, shape):
        m = self.factor.shape[0]
        if shape[-2] != m:
            got = f"correlation has shape {(m, m)} and a block has {shape[-2]} draws"
            raise ValueError(f"{got}; give one row and column per draw of a block")
        v = uniform((*shape[:-2], self.factor.shape[1], shape[-1]))
        xp = v.__array_namespace__()
        special = jax.scipy.special if xp is jnp else scipy.special
        # rng.random gives 0 once in 2^53, whose normal is infinite.
        normals = special.ndtri(xp.maximum(v, _eps(v) / 4))
        factor = xp.asarray(self.factor, dtype=v.dtype)
        return xp.minimum(special.ndtr(factor @ normals), _below_one(v))


@dataclass(frozen=True)
class _Permutation:
    sigma: tuple

    def __call__(self, uniform, shape):
        *blocks, m, k = shape
        first, place = uniform((*blocks, (m + 1) // 2, k)), uniform((*blocks, m // 2, k))
        xp = first.__array_namespace__()
        n = len(self.sigma)
        bins = xp.minimum(xp.astype(first[..., : m // 2, :] * n, int), n - 1)
        second = _in_cells(xp.asarray(self.sigma)[bins], place, n)
        pairs = xp.stack([first[..., : m // 2, :], second], axis=-2).reshape((*blocks, m - m % 2, k))
        return xp.concat([pairs, first[..., m // 2 :, :]], axis=-2)


@dataclass(frozen=True)
class _ByCoordinate:
    laws: tuple

    def __call__(self, uniform, shape):
        *blocks, m, k = shape
        own = [draw(law, uniform, (*blocks, m, 1)) for law in self.laws[:k]]
        rest = uniform((*blocks, m, k - len(own)))
        return rest.__array_namespace__().concat([*own, rest], axis=-1)


def _factor(correlation):
    """Lower triangular L with L L^T = correlation, for singular correlations too."""
    m, rounding = len(correlation), 1e-6  # matrices in float32 are refused for nothing below this
    if np.abs(correlation - correlation.T).max() > rounding or np.abs(np.diag(correlation) - 1).max() > rounding:
        got = f"correlation = {correlation!r} is not symmetric with ones on its diagonal"
        raise ValueError(f"{got}; give a correlation matrix")
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
    if values[0] < -m * rounding:
        raise ValueError(f"correlation has the eigenvalue {values[0]}; give a positive semidefinite matrix")
    # Eigenvalues within rounding of zero are zeros, so that a correlation of -1 gives exact opposites.
    values = np.where(values < 4 * m * _eps(values), 0, values)
    upper = np.linalg.qr((vectors * np.sqrt(values)).T, mode="r")
    factor = (upper * np.where(np.diag(upper) < 0, -1, 1)[:, None]).T
    return factor / np.linalg.norm(factor, axis=1, keepdims=True)


def _permutation(uniform, shape):
    """Random permutations of 0, ..., m - 1 along the draws."""
    keys = uniform(shape)
    return keys.__array_namespace__().argsort(keys, axis=-2)


def _in_cells(cells, place, n):
    """(cell + place) / n: kept from rounding up into the next cell, by at most 2 eps."""
    xp, room = place.__array_namespace__(), 2 * n * _eps(place)
    return (xp.astype(cells, place.dtype) + xp.minimum(place, max(1 - room, 0))) / n


def _size(shape):
    m, k = shape[-2:]
    if m > 2**BITS or k > qmc.Sobol.MAXDIM:
        raise ValueError(f"shape = {shape}; give at most {2**BITS} draws and {qmc.Sobol.MAXDIM} coordinates in a block")
    return m, k


@lru_cache(maxsize=16)
def _sobol_points(m, k):
    power = max(m - 1, 0).bit_length()  # fewer than a power of two are refused or warned of
    return _whole(qmc.Sobol(k, rng=0).random_base2(power)[:m] if k else np.empty((m, 0)))


@lru_cache(maxsize=16)
def _halton_points(m, k):
    return _whole(qmc.Halton(k, rng=0).random(m) if k else np.empty((m, 0)))


def _whole(points):
    whole = np.floor(points * 2**BITS).astype(np.int32)
    whole.flags.writeable = False  # shared by all who ask for this size
    return whole


def _shifted(points, uniform, shape, shift_by):
    """Points moved in their first digits by those of a uniform, with the digits after them added as they are."""
    *blocks, _, k = shape
    v = uniform((*blocks, 1, k)) * 2**BITS
    xp = v.__array_namespace__()
    whole = xp.floor(v)
    digits = shift_by(xp.asarray(points), xp.astype(whole, np.int32)) & (2**BITS - 1)
    return (xp.astype(digits, v.dtype) + (v - whole)) / 2**BITS


def _eps(u):
    return float(np.finfo(u.dtype).eps)


def _below_one(u):
    """The largest number below 1 in the precision of u."""
    return 1 - _eps(u) / 2
