"""Standard errors of sums of estimated kernels, in closed form: no replicates."""

from collections.abc import Callable

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks, couplings
from rfcore.precision import product
from rfcore.theory.frames import frames_ratio
from rfcore.theory.norm_costs import CLOSEST
from rfcore.theory.series import angles_of


def standard_error(
    weights: Float[ArrayLike, "*shape n"], differences: Float[ArrayLike, "*shape n d"], m: int, coupling: str | Callable = couplings.tight
) -> Float[Array, "*shape"]:
    """Standard error of a sum of Gaussian kernels that Fourier features of one draw estimate.

    ::

        sum_j a_j k(z_j),  k(z) = exp(-|z|^2 / 2):   se^2 = a^T C a
        C_jl = exp(-(|z_j|^2 + |z_l|^2) / 2) (cosh(z_j . z_l) - 1 - T_jl) / m
        iid      T_jl = 0
        tight    T_jl = ((z_j . z_l)^2 - s ((z_j . z_l)^2 - |z_j|^2 |z_l|^2 / d) d / (d - 1)) / 2

    with s the share of degree 2 that is left where a frame is not quite tight; it has no trace, since norms
    are stratified. For 30 sums at d = 6 and m = 13 to 100 this was 0.94 to 1.25 times the error of draws. The
    weights must not depend on the draw: those of a kernel density, of an MMD, of the exact kernel's ridge
    regression. Weights that were fitted to features have another error.

    Args:
        weights: a, of the n kernels in a sum.
        differences: z, of two points each, over the lengthscale. For a prediction at x from points x_j:
            ``(x - points) / lengthscale``.
        m: number of frequencies; at least 2 d for frames.
        coupling: "tight" or "iid", or these couplings themselves.

    >>> import jax.numpy as jnp
    >>> from rfcore import theory
    >>> z = jnp.array([[0.5, 0.0], [0.0, 0.5], [0.4, 0.3]])
    >>> [round(float(theory.standard_error(jnp.ones(3) / 3, z, 64, name)), 4) for name in ("iid", "tight")]
    [0.0146, 0.0011]
    """
    a, z = checks.floating(weights, "weights"), checks.floating(differences, "differences")
    if z.ndim < 2 or a.shape != z.shape[:-1]:
        raise ValueError(f"weights has shape {a.shape} and differences {z.shape}; give (..., n) and (..., n, d)")
    m, d, coupling = checks.count(m, "m"), z.shape[-1], couplings.named(coupling)
    if coupling == couplings.tight:
        if m < 2 * d:
            raise ValueError(f"m = {m} and d = {d}; give m of at least 2 d for tight frames")
        left = frames_ratio(CLOSEST, "tight", m, d) if d > 1 else 0.0
    elif angles_of(coupling) == "iid":
        left = None
    else:
        raise ValueError(f"coupling = {coupling!r} has no closed form here; give 'tight' or 'iid'")
    inner, square = product(z, z.mT), jnp.sum(z**2, axis=-1)
    size, squares = jnp.abs(inner), square[..., :, None] * square[..., None, :]
    both = (square[..., :, None] + square[..., None, :]) / 2
    # cosh - 1 without overflow, as |z_j . z_l| is at most both, and without cancellation.
    covariance = jnp.exp(size - both) * jnp.expm1(-size) ** 2 / 2
    if left is not None:
        rest = left * (inner**2 - squares / d) * d / max(d - 1, 1)
        covariance = covariance - jnp.exp(-both) * (inner**2 - rest) / 2
    return jnp.sqrt(jnp.maximum(jnp.einsum("...j,...jl,...l->...", a, covariance, a), 0) / m)
