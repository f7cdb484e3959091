"""Power series with coefficients of one sign, in logarithms, and the mean over the angle between two lengths.

Two independent chi_d lengths are r cos(u/2) and r sin(u/2) with r ~ chi_2d and, independently, u on [0, pi]
of density proportional to sin(u)^(d - 1). The sum of two vectors of these lengths at a fixed angle theta then
has the length r sqrt(1 + cos(theta) sin u): a quantity at any angle is a mean over u of its values at a right
angle (Simplex Random Features, Eqs. 20 and 21).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial, wraps
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Num
from scipy.special import gammaln, roots_legendre

from rfcore import checks, copulas, couplings
from rfcore.couplings import directions, norms

Angles = Literal["iid", "orthogonal", "simplex"]
"""Joint distributions of directions that closed forms know, for independent norms."""
LARGEST_V = 30.0
# Terms peak near k = v^2 and fall off within a few times v of it.
K = np.arange(int(LARGEST_V**2 + 14 * LARGEST_V) + 80)
LOG_FACTORIAL = gammaln(K + 1.0)


def adds_axes(function: Callable) -> Callable:
    """Allow rank promotion within ``function``, which multiplies by tables along a new axis."""

    @wraps(function)
    def adding(*arguments: Any, **options: Any) -> Any:
        with jax.numpy_rank_promotion("allow"):
            return function(*arguments, **options)

    return adding


def constant(table: Num[np.ndarray, "*shape"]) -> Float[Array, "*shape"]:
    """A table from the host as a new array of the default float dtype.

    JAX caches constants by the id of the NumPy array: a cached table passed directly would keep the dtype of
    its first use, so every call makes a new array.
    """
    return jnp.array(table, dtype=float)


def log_series(log_coefficients: Float[np.ndarray, " k"], square: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Logarithm of sum_k a_k s^k at s = square >= 0, from the log a_k; safe and differentiable at s = 0."""
    return _log_series(constant(log_coefficients), square)


def scaled_series(
    log_coefficients: Float[np.ndarray, " k"], square: Float[Array, "*shape"], rate: float
) -> Float[Array, "*shape"]:
    """exp(-rate s) sum_k a_k s^k at s = square >= 0, from the log a_k; differentiable at 0, too."""
    return _scaled_series(rate, constant(log_coefficients), square)


@jax.custom_jvp
@jax.jit
@adds_axes
def _log_series(log_coefficients: Float[Array, " k"], square: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    positive = square > 0
    log_square = jnp.log(jnp.where(positive, square, 1.0))
    series = logsumexp(log_coefficients + jnp.arange(len(log_coefficients), dtype=log_square.dtype) * log_square[..., None], axis=-1)
    return jnp.where(positive, series, log_coefficients[0])


@_log_series.defjvp
def _(primals: tuple, tangents: tuple) -> tuple:  # tables of coefficients are never differentiated
    value = _log_series(*primals)
    return value, jnp.exp(_log_series(_derivative(primals[0]), primals[1]) - value) * tangents[1]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _scaled_series(rate: float, log_coefficients: Float[Array, " k"], square: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return jnp.exp(_log_series(log_coefficients, square) - rate * square)


@_scaled_series.defjvp
def _(rate: float, primals: tuple, tangents: tuple) -> tuple:
    value = _scaled_series(rate, *primals)
    return value, (_scaled_series(rate, _derivative(primals[0]), primals[1]) - rate * value) * tangents[1]


def _derivative(log_coefficients: Float[Array, " k"]) -> Float[Array, " k-1"]:
    return log_coefficients[1:] + jnp.log(jnp.arange(1.0, len(log_coefficients)))


@lru_cache
def log_orthogonal_share(d: int) -> Float[np.ndarray, " k"]:
    """log of Gamma(d/2) Gamma(k + d) / (2^k Gamma(d) Gamma(k + d/2)) <= 0; exactly 0 at k = 0 and 1."""
    # As a product: log-gammas would round at k = 1, where the share of independent frequencies is the same.
    return np.concatenate([[0.0], np.cumsum(np.log1p(-K[:-1] / (d + 2.0 * K[:-1])))])


@lru_cache
def angles(d: int) -> tuple[Float[np.ndarray, " nodes"], Float[np.ndarray, " nodes"]]:
    """sin(u) at nodes of a quadrature over u, and logarithms of its weights of sum one; float64 NumPy."""
    # Symmetric about pi/2: half of the interval. 200 nodes resolve the narrowest peak, 1 / sqrt(512), many times.
    nodes, weights = roots_legendre(200)
    sine = np.sin(np.pi / 4 * (nodes + 1))
    log_weights = np.log(weights) + (d - 1) * np.log(sine)
    return sine, log_weights - np.logaddexp.reduce(log_weights)


def angles_of(coupling: str | Callable) -> Angles | None:
    """Directions of a coupling whose norms are independent; None if they have no closed form."""
    match couplings.named(coupling):
        case couplings.Independent() | couplings.Product(directions.Independent(), copulas.Independent(), "block" | "all", norms.Chi()):
            return "iid"
        case couplings.Product(directions.Orthogonal(), copulas.Independent(), "block" | "all", norms.Chi()):
            return "orthogonal"
        case couplings.Product(directions.Simplex(), copulas.Independent(), "block" | "all", norms.Chi()):
            return "simplex"
    return None


def angles_in(d: int, coupling: str | Callable) -> tuple[int, Angles]:
    """``d`` and :func:`angles_of` the coupling, checked."""
    found = angles_of(coupling)
    if found is None:
        raise ValueError(f"coupling = {coupling!r} has no closed form here; give 'iid', 'orthogonal' or 'simplex'")
    return checks.count(d, "d", least=2 if found == "simplex" else 1), found


def radius(v: Float[ArrayLike, "*shape"], name: str) -> Float[Array, "*shape"]:
    """``v`` as a float array with values in [0, LARGEST_V]."""
    v = checks.floating(v, name).astype(float)
    check_range(v, name)
    return v


def check_range(v: Float[Array | np.ndarray, "..."], name: str) -> None:
    """Raise ValueError if ``v`` has known values outside [0, LARGEST_V]."""
    if not checks.is_traced(v) and v.size and not (v.min() >= 0 and v.max() <= LARGEST_V):
        raise ValueError(f"{name} has values in [{v.min()}, {v.max()}]; give values in [0, {LARGEST_V:g}]")


def pair(
    x: Float[ArrayLike, " d"] | Sequence[float], y: Float[ArrayLike, " d"] | Sequence[float]
) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
    """``x`` and ``y`` as two points of one shape (d,)."""
    x, y = checks.floating(x, "x").astype(float), checks.floating(y, "y").astype(float)
    if x.ndim != 1 or len(x) == 0:
        raise ValueError(f"x has shape {x.shape}; give one point, shape (d,)")
    if y.shape != x.shape:
        raise ValueError(f"y has shape {y.shape}; give a point of the shape of x, {x.shape}")
    return x, y
