"""Copulas: joint laws of uniforms, from which quantile functions make coupled norms, walk lengths and hops.

A copula is a function ``(uniform, shape) -> u`` with u of shape ``shape = (..., m, k)``: blocks, m draws in a
block, k coordinates of a draw. Every entry of u is uniform on [0, 1), blocks are independent of each other,
and so are the coordinates of one draw. Any such function serves where a name of ``COPULAS`` does.

``uniform(shape)`` gives fresh independent uniforms, an array that a law may write to: ``rng.random`` of a
NumPy generator, or :func:`uniforms` of a JAX key. A law calculates in the namespace of what it is given, so
that NumPy and JAX make the same draws of the same uniforms, and compiles in JAX. No entry is ever 1, whatever
the rounding.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from rfcore import checks
from rfcore.precision import product

# Irreducible polynomials over two elements, of degree log2 m: x + 1, x^2 + x + 1, x^3 + x + 1, ...
POLYNOMIALS = {2: 0b11, 4: 0b111, 8: 0b1011, 16: 0b10011, 32: 0b100101, 64: 0b1000011, 128: 0b10000011, 256: 0b100011011}


def independent(uniform, shape):
    """Independent uniforms."""
    return uniform(shape)


def reversal(uniform, shape):
    """Pairs u, 1 - u: the most negative dependence that two uniforms can have.

    Rows 2i and 2i + 1 of a block are a pair; an odd last row stands alone. A pair sums to 1 exactly, but for
    u = 0 (which ``rng.random`` gives once in 2^53): its partner is the largest number below 1.

    Source: Variance-Reducing Couplings, Eq. 7 and Definition 3.3, where this is pairwise norm-coupling.
    """
    *blocks, m, k = shape
    u = uniform((*blocks, (m + 1) // 2, k))
    xp = u.__array_namespace__()
    pairs = xp.stack([u, xp.minimum(1 - u, _below_one(u))], axis=-2)
    return pairs.reshape((*blocks, 2 * u.shape[-2], k))[..., :m, :]


def comonotone(uniform, shape):
    """One uniform for all draws of a block: the most positive dependence.

    Source: the upper Fréchet-Hoeffding bound (Nelsen, An Introduction to Copulas, 2006, Section 2.5).
    """
    *blocks, m, k = shape
    u = uniform((*blocks, 1, k))
    return u.__array_namespace__().repeat(u, m, axis=-2)


def stratified(uniform, shape):
    """One draw in each of m strata, in each coordinate: Latin hypercube sampling.

    ::

        u_i = (pi(i) + v_i) / m,  pi a random permutation for each block and coordinate, v_i uniform

    Where m is 2, 4, 8, ..., 256, pi is x -> a x + b over the field of m elements, a and b random, a not 0.
    Then any two draws have any two different strata equally often, as with a permutation drawn from all, so
    that means over draws have the same variance, and nothing has to be sorted; three draws do not have all
    triples.

    Source: McKay, Beckman and Conover, 1979.

    >>> import numpy as np
    >>> from rfcore import copulas
    >>> u = copulas.stratified(np.random.default_rng(0).random, (5, 4, 1))
    >>> np.sort(np.floor(4 * u[0, :, 0])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    *blocks, m, k = shape
    return _in_strata(uniform, (k, *blocks, m), (k, *blocks, m))


def systematic(uniform, shape):
    """Evenly spaced draws in a random order, in each coordinate: the same place in all strata.

    ::

        u_i = (pi(i) + v) / m,  pi a random permutation and v one uniform for each block and coordinate

    Source: Madow and Madow, "On the theory of systematic sampling", 1944.
    """
    *blocks, m, k = shape
    return _in_strata(uniform, (k, *blocks, m), (k, *blocks, 1))


def permutation(sigma, name="sigma"):
    """Pairs that are matched quantile bin by quantile bin, uniform within the bins.

    ::

        u_1 uniform, in bin i = floor(n u_1);   u_2 = (sigma(i) + v) / n,  v uniform

    Rows 2i and 2i + 1 of a block are a pair; an odd last row stands alone. With several permutations there
    are groups in place of pairs, u_3 in bin sigma_3(i) and so on; rows that do not fill a group are the first
    of one.

    Args:
        sigma: permutation of 0, ..., n - 1, shape (n,), or k of them, shape (k, n), for groups of k + 1.
        name: what a complaint calls it.

    Source: Variance-Reducing Couplings, Section 4 (sigma-coupling); its outlook for groups.

    >>> import numpy as np
    >>> from rfcore import copulas
    >>> u = copulas.permutation([1, 0])(np.random.default_rng(0).random, (1000, 2, 1))
    >>> bool(((u[:, 0] < 0.5) == (u[:, 1] >= 0.5)).all())
    True
    """
    values = checks.finite(checks.numbers(sigma, name), name)
    bins = np.arange(values.shape[-1]) if values.ndim in (1, 2) and values.size and not checks.is_traced(values) else None
    if bins is None or np.any(np.sort(values, axis=-1) != bins):
        raise ValueError(f"{name} = {sigma!r}; give a permutation of 0, ..., n - 1 (or several), known when the law is made")
    return Matched(tuple(map(tuple, np.atleast_2d(values).astype(int).tolist())))


@dataclass(frozen=True)
class Matched:
    """Law of :func:`permutation`, with its permutations, one tuple each."""

    sigmas: tuple

    def __call__(self, uniform, shape):
        """A draw, as every copula makes it."""
        *blocks, m, k = shape
        n, size = len(self.sigmas[0]), 1 + len(self.sigmas)
        groups = -(-m // size)
        first, place = uniform((*blocks, groups, k)), uniform((*blocks, m - groups, k))
        xp = first.__array_namespace__()
        bins = xp.minimum((first * n).astype(int), n - 1)
        # Draws 0, size, 2 size, ... are the first of a group; the others take what comes, group by group.
        group, member = np.divmod(np.arange(m), size)
        others = np.flatnonzero(member)
        cells = xp.asarray(self.sigmas)[member[others, None] - 1, bins[..., group[others], :]]
        drawn = xp.concat([first, in_cells(cells, place, n)], axis=-2)
        order = np.empty(m, dtype=int)
        order[np.append(np.flatnonzero(member == 0), others)] = np.arange(m)
        return drawn[..., order, :]


def _in_strata(uniform, shape, of_places):
    """One draw in each stratum; shapes are (coordinates, ..., draws), with 1 for a place that all share."""
    # Draws come last in memory: a sort along them, in steps of k, would cost twice the time.
    permutation = _affine if shape[-1] in POLYNOMIALS else _permutation
    u = in_cells(permutation(uniform, shape), uniform(of_places), shape[-1])
    return u.__array_namespace__().moveaxis(u, 0, -1)


def _affine(uniform, shape):
    """Random permutations x -> a x + b over the field of m elements, a not 0: pairs are uniform."""
    *blocks, m = shape
    a, b = uniform(blocks), uniform(blocks)
    xp, products = a.__array_namespace__(), _products(m)
    shift = (b * m).astype(products.dtype)
    return xp.asarray(products)[1 + (a * (m - 1)).astype(int)] ^ shift[..., None]


@cache
def _products(m):
    """Multiplication table of the field of m elements: bit polynomials modulo an irreducible one."""
    table, shifted = np.zeros((m, m), dtype=np.uint8), np.arange(m)
    for bit in range(m.bit_length() - 1):
        table ^= np.where(np.arange(m) >> bit & 1, shifted[:, None], 0).astype(np.uint8)
        shifted = shifted << 1 ^ np.where(shifted << 1 & m, POLYNOMIALS[m], 0)
    return table


def _permutation(uniform, shape):
    """Random permutations of 0, ..., m - 1 along the last axis: the order of as many uniforms."""
    keys = uniform(shape)
    digits, places = np.finfo(keys.dtype).nmant + 1, max(shape[-1] - 1, 0).bit_length()
    if not isinstance(keys, np.ndarray) or digits + places > 63:
        return keys.__array_namespace__().argsort(keys, axis=-1)
    # The same order: NumPy sorts whole numbers, which here end in their place, in a third of the time of argsort.
    keys *= 2.0**digits
    keys = keys.astype(np.int64)
    keys <<= places
    keys |= np.arange(shape[-1])
    keys.sort(axis=-1)
    keys &= 2**places - 1
    return keys


def in_cells(cells, place, n):
    """(cell + place) / n, places kept off the edges of cells by 2 n eps: rounding carries none across."""
    dtype, room = place.dtype, 2 * n * _eps(place)
    place *= 1 - 2 * room  # in place in NumPy, where fresh memory costs more than sums: uniforms are ours to change
    place += room
    u = cells.astype(dtype)
    u += place
    u /= n
    return u


BITS = 23  # of the points: what a float32 uniform has, the digits after them being random
MOST_COORDINATES = 21201  # of which SciPy has Sobol' points


def sobol(uniform, shape):
    """Sobol' points (Joe and Kuo's) with a random digital shift for each block and coordinate.

    ::

        u_i = p_i XOR v,  on the first 23 binary digits; the digits after them are those of v

    The points are SciPy's with one fixed scramble, the same in SciPy 1.15 to 1.17: at most 2^23 draws of
    21,201 coordinates in a block. The shift alone makes each draw exactly uniform on the cube. It keeps the
    strata of the net, one draw in each interval [j / m, (j + 1) / m) of a coordinate where m is a power of
    two, which a shift modulo 1 does not. For other m these are the first m points.

    Source: Owen, "Randomly permuted (t, m, s)-nets", 1995; L'Ecuyer and Lemieux, 2002, for the digital shift.
    """
    return _shifted(_sobol_points, uniform, shape, lambda point, shift, one: point ^ shift)


def halton(uniform, shape):
    """Halton points to 23 binary digits, with a random shift modulo 1 for each block and coordinate.

    ::

        u_i = (p_i + v) mod 1

    Scramble, limits and uniformity are those of ``sobol``.

    Source: Cranley and Patterson, "Randomization of number theoretic methods for multiple integration", 1976.
    """
    return _shifted(_halton_points, uniform, shape, lambda point, shift, one: (point + shift) & (one - 1))


@lru_cache(maxsize=16)
def _sobol_points(m, k):
    # Not at the top: scipy.stats takes longer to load than all else together, and few who need this module draw nets.
    from scipy.stats import qmc

    power = int(max(m - 1, 0)).bit_length()  # fewer than a power of two are refused or warned of
    return _whole(qmc.Sobol(k, rng=0).random_base2(power)[:m] if k else np.empty((m, 0)))


@lru_cache(maxsize=16)
def _halton_points(m, k):
    from scipy.stats import qmc

    return _whole(qmc.Halton(k, rng=0).random(m) if k else np.empty((m, 0)))


def _whole(points):
    # Coordinates come first in memory: NumPy's loops along a few of them, last, would cost three times the time.
    whole = np.ascontiguousarray(np.floor(points * 2**BITS).astype(np.int64).T)
    whole.flags.writeable = False  # shared by all who ask for this size
    return whole


def _shifted(points, uniform, shape, shift_by):
    """Points moved in their first digits by those of a uniform, whose other digits are added as they are."""
    *blocks, m, k = shape
    if m > 2**BITS or k > MOST_COORDINATES:
        raise ValueError(f"shape = {shape}; give at most {2**BITS} draws and {MOST_COORDINATES} coordinates in a block")
    v = uniform((k, *blocks, 1))
    xp, digits = v.__array_namespace__(), np.finfo(v.dtype).nmant + 1
    whole = np.int64 if digits > 31 else np.int32
    points = xp.asarray(points(m, k).reshape(k, *(1 for _ in blocks), m) << (digits - BITS), dtype=whole)
    u = shift_by(points, (v * 2.0**digits).astype(whole), 2**digits).astype(v.dtype)
    u *= 2.0**-digits
    return xp.moveaxis(u, 0, -1)


def gaussian(correlation):
    """Gaussian copula: the marginal levels of m correlated normals.

    ::

        u = Phi(L Phi^-1(v)),  L L^T = correlation, L lower triangular, v independent uniforms

    Correlations -1 and 1 are allowed: ``reversal`` and ``comonotone`` are the copulas of such matrices. Where
    the matrix is traced (``jax.jit``, ``jax.grad``), its values are not checked, and a singular one gives
    NaN: :func:`gaussian_of_factor` is made for learning.

    Args:
        correlation: (m, m), symmetric and positive semidefinite, with ones on its diagonal.

    Returns:
        A copula for blocks of m draws.

    Source: Variance-Reducing Couplings, Section 3.2 and Appendix A.5.
    """
    matrix = checks.finite(checks.numbers(correlation, "correlation"), "correlation")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"correlation has shape {matrix.shape}; give a square matrix, one row per draw of a block")
    if checks.is_traced(matrix):
        return Gaussian(jnp.linalg.cholesky(matrix))
    return Gaussian(_factor(np.asarray(matrix, dtype=float)))


def gaussian_of_factor(factor):
    """Gaussian copula by a factor of its correlation matrix, differentiable wherever no row is zero.

    ::

        u = Phi(L Phi^-1(v)),  L_i = factor_i / |factor_i|,  correlation L L^T

    Args:
        factor: (m, r), any numbers but a row of zeros: rows are normalised.

    Returns:
        A copula for blocks of m draws.

    Source: Variance-Reducing Couplings, Eq. 34, where the factor is triangular.
    """
    factor = checks.finite(checks.numbers(factor, "factor"), "factor")
    if factor.ndim != 2 or 0 in factor.shape:
        raise ValueError(f"factor has shape {factor.shape}; give a matrix, one row per draw of a block")
    n_zero = 0 if checks.is_traced(factor) else int(np.sum(~np.any(np.asarray(factor), axis=1)))
    if n_zero:
        raise ValueError(f"factor has {n_zero} rows of zeros; give each draw a direction")
    return Gaussian(factor / (factor**2).sum(axis=1, keepdims=True) ** 0.5)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Law of :func:`gaussian`, with a factor of its correlation."""

    factor: Any

    def __call__(self, uniform, shape):
        """A draw, as every copula makes it."""
        *blocks, m, k = shape
        n_rows, rank = self.factor.shape
        if m != n_rows:
            got = f"correlation has shape {(n_rows, n_rows)} and a block has {m} draws"
            raise ValueError(f"{got}; give one row and column per draw of a block")
        v = uniform((*blocks, rank, k))
        xp = v.__array_namespace__()
        special = jax.scipy.special if xp is jnp else scipy.special
        # A GPU would take products in float32 to three digits.
        matmul = product if xp is jnp else np.matmul
        normals = special.ndtri(xp.maximum(v, _eps(v) / 4))  # the normal of 0, once in 2^53 rng.random(), is infinite
        factor = xp.asarray(self.factor, dtype=v.dtype)
        return xp.minimum(special.ndtr(matmul(factor, normals)), _below_one(v))


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


class Correlated(NamedTuple):
    """Pairs at the levels of two normals with a correlation; 0 is independent, -1 opposite, 1 equal."""

    partners: float
    """Correlation of draws 2i and 2i + 1 of a block."""
    others: float
    """Correlation of all other pairs."""


class DifferentStrata(NamedTuple):
    """Any two draws are uniform on two different ones of as many strata as a block has draws."""


COPULAS = {
    "independent": independent,
    "reversal": reversal,
    "comonotone": comonotone,
    "stratified": stratified,
    "systematic": systematic,
    "sobol": sobol,
    "halton": halton,
}
ALIASES = {"iid": "independent", "pnc": "reversal", "positive_monotone": "comonotone"}
"""Names by which papers call them, here and there."""
NAMES = (*COPULAS, *ALIASES)
# Those of which closed forms of errors are known, besides permutations and Gaussian copulas.
PAIRS = {
    independent: Correlated(0, 0),
    reversal: Correlated(-1, 0),
    comonotone: Correlated(1, 1),
    stratified: DifferentStrata(),
}


def named(coupling, name="coupling"):
    """Copula by its name; a permutation becomes its copula, and a function stands for itself.

    Args:
        coupling: a name of ``COPULAS`` or ``ALIASES``; int array, as :func:`permutation` takes it; function.
        name: what a complaint calls the argument.
    """
    if callable(coupling):
        return coupling
    if isinstance(coupling, list | tuple | np.ndarray | jax.Array):
        return permutation(coupling, name)
    checks.choice(coupling, name, NAMES)
    return COPULAS[ALIASES.get(coupling, coupling)]


def pairs(law, name="law"):
    """What two draws of a copula are to each other, from which its closed forms follow.

    Args:
        law: as :func:`named` takes it.
        name: what a complaint calls the argument.

    Returns:
        :class:`Correlated` or :class:`DifferentStrata`; the copula itself where it is that of a permutation
        or a Gaussian one. Raises ValueError where no closed form is known.
    """
    copula = named(law, name)
    if isinstance(copula, Matched | Gaussian):
        return copula
    if copula not in PAIRS:
        known = ", ".join(known.__name__ for known in PAIRS)
        raise ValueError(f"{name} = {law!r} has no closed form; give {known}, a permutation or copulas.gaussian(...)")
    return PAIRS[copula]


def over(law, n_coordinates):
    """A copula of n_coordinates coordinates of a draw, which it couples together.

    Args:
        law: copula or its name.
        n_coordinates: of walks 1 is the length alone, 3 the length and two hops.

    Sobol' points in three dimensions, for the length and the first two hops of each walk of a node:

    >>> from rfcore import copulas
    >>> law = copulas.over("sobol", 3)
    """
    return _Over(named(law, "law"), checks.count(n_coordinates, "n_coordinates"))


@dataclass(frozen=True)
class _Over:
    law: object
    n_coordinates: int

    def __call__(self, uniform, shape):
        return draw(self.law, uniform, shape)


def uniforms(key):
    """Source of independent uniforms on (0, 1) in JAX, for one draw of a copula.

    ::

        u = (j + 1/2) 2^-23 in float32, (j + 1/2) 2^-52 in float64, j a uniform whole number

    so that neither u nor 1 - u, which is exact, is ever 0 or 1.

    Returns:
        A function ``shape -> u`` in the default float dtype, each call of which folds its number into the
        key.

    Make the source where it is used: one that is carried into a compiled function counts the calls of the
    tracing.

    >>> import jax
    >>> from rfcore import copulas
    >>> pairs = copulas.reversal(copulas.uniforms(jax.random.key(0)), (5, 2, 1))
    >>> bool((pairs.sum(axis=1) == 1).all())
    True
    """
    return _Uniforms(key)


class _Uniforms:
    def __init__(self, key):
        self.key, self.n_calls = key, 0

    def __call__(self, shape):
        self.n_calls += 1
        u = jax.random.uniform(jax.random.fold_in(self.key, self.n_calls), shape)
        return u + _eps(u) / 2


def draw(law, uniform, shape):
    """Draw of a law that may be anybody's: its shape is checked, and its values where they are known."""
    u = law(uniform, shape)
    if np.shape(u) != tuple(shape):
        raise ValueError(f"law maps shape {shape} to an array of shape {np.shape(u)}; give one uniform per entry")
    return checks.levels(u, "law")


def _eps(u):
    """Distance from 1 to the next number in the precision of u."""
    return float(np.finfo(u.dtype).eps)


def _below_one(u):
    """The largest number below 1 in the precision of u."""
    return 1 - _eps(u) / 2
