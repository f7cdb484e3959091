"""Low-discrepancy points with a random shift that makes each of them uniform."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from rfcore.copulas.copula import Copula, Levels, Uniform

BITS = 23  # binary digits of the points, as many as a float32 uniform has; later digits are random
MOST_COORDINATES = 21201  # SciPy's limit for Sobol' points


class Sobol(Copula):
    """Sobol' points (Joe and Kuo's) with a random digital shift for each block and coordinate.

    ::

        u_i = p_i XOR v,  on the first 23 binary digits; the digits after them are those of v

    The points are SciPy's with one fixed scramble, the same in SciPy 1.15 to 1.17: at most 2^23 draws of
    21,201 coordinates in a block. The shift alone makes each draw exactly uniform on the cube. It keeps the
    strata of the net, one draw in each interval [j / m, (j + 1) / m) of a coordinate where m is a power of
    two, which a shift modulo 1 does not. For other m these are the first m points.

    Source: Owen, "Randomly permuted (t, m, s)-nets", 1995; L'Ecuyer and Lemieux, 2002, for the digital shift.
    """

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        return _shifted(_sobol_points, uniform, shape, lambda point, shift, one: point ^ shift)


class Halton(Copula):
    """Halton points to 23 binary digits, with a random shift modulo 1 for each block and coordinate.

    ::

        u_i = (p_i + v) mod 1

    Scramble, limits and uniformity are those of ``sobol``.

    Source: Cranley and Patterson, "Randomization of number theoretic methods for multiple integration", 1976.
    """

    def __call__(self, uniform: Uniform, shape: tuple[int, ...]) -> Levels:
        return _shifted(_halton_points, uniform, shape, lambda point, shift, one: (point + shift) & (one - 1))


sobol, halton = Sobol(), Halton()


@lru_cache(maxsize=16)
def _sobol_points(m: int, k: int) -> Int[np.ndarray, "k m"]:
    # Imported here: scipy.stats takes longer to load than everything else together, and few users draw nets.
    from scipy.stats import qmc

    power = int(max(m - 1, 0)).bit_length()  # SciPy warns of other numbers of points
    return _whole(qmc.Sobol(k, rng=0).random_base2(power)[:m] if k else np.empty((m, 0)))


@lru_cache(maxsize=16)
def _halton_points(m: int, k: int) -> Int[np.ndarray, "k m"]:
    from scipy.stats import qmc

    return _whole(qmc.Halton(k, rng=0).random(m) if k else np.empty((m, 0)))


def _whole(points: Float[np.ndarray, "m k"]) -> Int[np.ndarray, "k m"]:
    # Coordinates are the first axis: as a short last axis they would make NumPy's loops three times as slow.
    whole = np.ascontiguousarray(np.floor(points * 2**BITS).astype(np.int64).T)
    whole.flags.writeable = False  # cached, hence shared between callers
    return whole


def _shifted(points: Callable, uniform: Uniform, shape: tuple[int, ...], shift_by: Callable) -> Levels:
    """Points shifted in their leading digits by those of a uniform, whose remaining digits are appended."""
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
