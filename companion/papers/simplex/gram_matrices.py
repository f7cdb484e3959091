"""Figure 7 of Simplex Random Features: errors of Gram matrices, drawn and in closed form."""

from functools import lru_cache

import jax.numpy as jnp
import numpy as np

from companion import gram_errors
from rfcore import checks, features, kernels
from rfcore.theory.conformity import log_gap, partners
from rfcore.theory.series import angles_in, check_range

__all__ = ["errors", "squared_errors"]


def errors(key, x, couplings, widths):
    """Relative errors of one estimate of the Gaussian kernel by each coupling, (n_couplings, n_widths).

    ::

        |phi_m phi_m^T - K|_F / |K|_F   phi_m = positive(x, omega[:m]),   omega one draw of max(widths)

    The first m frequencies of a draw are a draw of m only for stacks of independent blocks: not for
    ``halton`` or ``sobol``. All couplings take the same key and share rotations: differences are less noisy
    than errors.
    """
    x = checks.points(x, "x")
    draws = list(couplings.values()) if isinstance(couplings, dict) else list(couplings)
    widths = list(widths)
    exact, found = kernels.gaussian(x, x), []
    for draw in draws:
        omega = draw(key, max(widths), x.shape[1])
        maps = (features.positive(x, omega[:m]) for m in widths)
        found.append(jnp.stack([gram_errors.gram_error(phi @ phi.T, exact) for phi in maps]))
    return jnp.stack(found)


def squared_errors(x, widths, couplings):
    """Mean squared Frobenius errors of a Gaussian Gram matrix by positive features, in closed form.

    ::

        E |K - phi phi'|_F^2 = sum_ab MSE(x_a, x_b),   MSE of rfcore.theory.positive_mse, diagonal included

    What a coupling takes off a pair depends on v = |x_a + x_b| <= 30 alone. It is tabulated at steps of 0.005
    and interpolated, which leaves a relative error of the sum below 1e-5 (the squared step, times a curvature
    of order one, over eight). Shapes: x (n, d), widths and couplings sequences, of numbers of frequencies and
    of "iid", "orthogonal" and "simplex"; the result (n_couplings, n_widths), float64.

    Source: Simplex Random Features, Theorem 3.2, summed.
    """
    x = np.asarray(checks.points(x, "x"))
    widths = list(widths)
    couplings = list(couplings)
    d = [angles_in(x.shape[1], coupling)[0] for coupling in couplings]
    inner = x @ x.T
    squares = np.diag(inner)
    square = np.maximum(squares[:, None] + squares + 2 * inner, 0)
    radii, scale = np.sqrt(square), np.exp(4 * inner)
    check_range(radii, "|x_a + x_b|")
    independent, m = np.sum(scale * -np.expm1(-square)), np.array(widths)
    mses = np.empty((len(couplings), len(widths)))
    for i, coupling in enumerate(couplings):
        saved = 0.0
        if coupling != "iid":
            gap = np.interp(radii, _RADII, _tabulated_gap(d[i], coupling, squares.dtype.name))
            saved = np.array([partners(width, d[i]) for width in widths]) * np.sum(scale * square * gap)
        mses[i] = (independent - saved) / m
    return mses


_RADII = np.linspace(0, 30, 6001)


@lru_cache
def _tabulated_gap(d, coupling, dtype):
    """(exp(v^2) - rho(v)) exp(-2 v^2) / v^2 at every radius; dtype keeps the precisions apart."""
    return np.exp(np.asarray(log_gap(jnp.asarray(_RADII**2, dtype), d, coupling)) - 2 * _RADII**2)
