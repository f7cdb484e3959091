"""Copulas that pair draws, or give each a stratum of its own."""

from collections.abc import Sequence
from functools import cache

import equinox as eqx
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Int, Integer

from rfcore import checks
from rfcore.copulas.copula import Copula, Correlated, DifferentStrata, Levels, Uniform
from rfcore.copulas.uniforms import below_one, eps

# Irreducible polynomials over GF(2), of degree log2 m: x + 1, x^2 + x + 1, x^3 + x + 1, ...
POLYNOMIALS = {2: 0b11, 4: 0b111, 8: 0b1011, 16: 0b10011, 32: 0b100101, 64: 0b1000011, 128: 0b10000011, 256: 0b100011011}


class Independent(Copula):
    """Independent uniforms."""

    pairs = Correlated(0, 0)

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        return uniform(shape)


class Antithetic(Copula):
    """Pairs u, 1 - u: the most negative dependence that two uniforms can have.

    Rows 2i and 2i + 1 of a block are a pair; an odd last row is unpaired. A pair sums to 1 exactly, except
    for u = 0 (which ``rng.random`` gives once in 2^53): its partner is the largest number below 1.

    Source: Variance-Reducing Couplings, Eq. 7 and Definition 3.3, where this is pairwise norm-coupling.
    """

    pairs = Correlated(-1, 0)

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        *blocks, m, k = shape
        u = uniform((*blocks, (m + 1) // 2, k))
        xp = u.__array_namespace__()
        pairs = xp.stack([u, xp.minimum(1 - u, below_one(u))], axis=-2)
        return pairs.reshape((*blocks, 2 * u.shape[-2], k))[..., :m, :]


class Comonotone(Copula):
    """One uniform for all draws of a block: the most positive dependence.

    Source: the upper Fréchet-Hoeffding bound (Nelsen, An Introduction to Copulas, 2006, Section 2.5).
    """

    pairs = Correlated(1, 1)

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        *blocks, m, k = shape
        u = uniform((*blocks, 1, k))
        return u.__array_namespace__().repeat(u, m, axis=-2)


class Stratified(Copula):
    """One draw in each of m strata, in each coordinate: Latin hypercube sampling.

    ::

        u_i = (pi(i) + v_i) / m,  pi a random permutation for each block and coordinate, v_i uniform

    Where m is 2, 4, 8, ..., 256, pi is x -> a x + b over the field of m elements, a and b random, a not 0.
    Then any two draws fall in any two different strata equally often, as under a uniform random permutation,
    so that means over draws have the same variance, and no sort is needed; triples of draws are not uniform.

    Source: McKay, Beckman and Conover, 1979.

    >>> import numpy as np
    >>> from rfcore import copulas
    >>> u = copulas.stratified(np.random.default_rng(0).random, (5, 4, 1))
    >>> np.sort(np.floor(4 * u[0, :, 0])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """

    pairs = DifferentStrata()

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        *blocks, m, k = shape
        return _in_strata(uniform, (k, *blocks, m), (k, *blocks, m))


class Systematic(Copula):
    """Evenly spaced draws in a random order, in each coordinate: the same place in all strata.

    ::

        u_i = (pi(i) + v) / m,  pi a random permutation and v one uniform for each block and coordinate

    Source: Madow and Madow, "On the theory of systematic sampling", 1944.
    """

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        *blocks, m, k = shape
        return _in_strata(uniform, (k, *blocks, m), (k, *blocks, 1))


class Permutation(Copula):
    """Groups of draws that are matched quantile bin by quantile bin: see :func:`permutation`."""

    sigmas: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Bins of the second, third, ... draw of a group, by the bin of the first."""

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        *blocks, m, k = shape
        n, size = len(self.sigmas[0]), 1 + len(self.sigmas)
        groups = -(-m // size)
        first, place = uniform((*blocks, groups, k)), uniform((*blocks, m - groups, k))
        xp = first.__array_namespace__()
        bins = xp.minimum((first * n).astype(int), n - 1)
        # Draws 0, size, 2 size, ... are the first of a group; the others follow, group by group.
        group, member = np.divmod(np.arange(m), size)
        others = np.flatnonzero(member)
        cells = xp.asarray(self.sigmas)[member[others, None] - 1, bins[..., group[others], :]]
        drawn = xp.concat([first, in_cells(cells, place, n)], axis=-2)
        order = np.empty(m, dtype=int)
        order[np.append(np.flatnonzero(member == 0), others)] = np.arange(m)
        return drawn[..., order, :]


independent, antithetic, comonotone = Independent(), Antithetic(), Comonotone()
stratified, systematic = Stratified(), Systematic()


def permutation(
    sigma: Int[ArrayLike, "*k n"] | Sequence[int] | Sequence[Sequence[int]], name: str = "sigma"
) -> Permutation:
    """Pairs that are matched quantile bin by quantile bin, uniform within the bins.

    ::

        u_1 uniform, in bin i = floor(n u_1);   u_2 = (sigma(i) + v) / n,  v uniform

    Rows 2i and 2i + 1 of a block are a pair; an odd last row is unpaired. Several permutations match groups
    in place of pairs, with u_3 in bin sigma_3(i) and so on; an incomplete last group keeps its first rows.

    Args:
        sigma: permutation of 0, ..., n - 1, or k of them for groups of k + 1.
        name: name of the argument, for the error message.

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
        raise ValueError(f"{name} = {sigma!r}; give a permutation of 0, ..., n - 1 (or several), known when the copula is made")
    return Permutation(tuple(map(tuple, np.atleast_2d(values).astype(int).tolist())))


def _in_strata(uniform: Uniform, shape: tuple[int, ...], of_places: tuple[int, ...]) -> Levels:
    """One draw in each stratum; shapes are (coordinates, ..., draws), with 1 for an offset shared by all."""
    # Draws are the last axis: a sort along them with a stride of k would take twice as long.
    permutation = _affine if shape[-1] in POLYNOMIALS else _permutation
    u = in_cells(permutation(uniform, shape), uniform(of_places), shape[-1])
    return u.__array_namespace__().moveaxis(u, 0, -1)


def _affine(uniform: Uniform, shape: tuple[int, ...]) -> Integer[Array | np.ndarray, "..."]:
    """Random permutations x -> a x + b over the field of m elements, a not 0: pairs are uniform."""
    *blocks, m = shape
    a, b = uniform(tuple(blocks)), uniform(tuple(blocks))
    xp, products = a.__array_namespace__(), _products(m)
    shift = (b * m).astype(products.dtype)
    return xp.asarray(products)[1 + (a * (m - 1)).astype(int)] ^ shift[..., None]


@cache
def _products(m: int) -> Integer[np.ndarray, "m m"]:
    """Multiplication table of the field of m elements: bit polynomials modulo an irreducible one."""
    table, shifted = np.zeros((m, m), dtype=np.uint8), np.arange(m)
    for bit in range(m.bit_length() - 1):
        table ^= np.where(np.arange(m) >> bit & 1, shifted[:, None], 0).astype(np.uint8)
        shifted = shifted << 1 ^ np.where(shifted << 1 & m, POLYNOMIALS[m], 0)
    return table


def _permutation(uniform: Uniform, shape: tuple[int, ...]) -> Integer[Array | np.ndarray, "..."]:
    """Random permutations of 0, ..., m - 1 along the last axis: the order of as many uniforms."""
    keys = uniform(shape)
    digits, places = np.finfo(keys.dtype).nmant + 1, max(shape[-1] - 1, 0).bit_length()
    if not isinstance(keys, np.ndarray) or digits + places > 63:
        return keys.__array_namespace__().argsort(keys, axis=-1)
    # The same order: NumPy sorts integers, whose last bits here hold the index, in a third of the time of argsort.
    keys *= 2.0**digits
    keys = keys.astype(np.int64)
    keys <<= places
    keys |= np.arange(shape[-1])
    keys.sort(axis=-1)
    keys &= 2**places - 1
    return keys


def in_cells(cells: Integer[Array | np.ndarray, "..."], place: Levels, n: int) -> Levels:
    """(cell + place) / n, with places kept 2 n eps away from the edges of cells, so that none rounds across.

    From n = 1 / (4 eps) on, two million in float32, places are the middles of cells.
    """
    dtype, room = place.dtype, min(2 * n * eps(place), 0.5)
    place *= 1 - 2 * room  # in place in NumPy, where allocating costs more than adding; the uniforms may be overwritten
    place += room
    u = cells.astype(dtype)
    u += place
    u /= n
    return u
