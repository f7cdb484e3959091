"""Figure 7 of Simplex Random Features: errors of Gram matrices as features are added."""

import jax.numpy as jnp

from rfcore import checks, features, kernels

__all__ = ["errors"]


def errors(key, x, couplings, widths):
    """Relative errors of one estimate of the Gaussian kernel by each coupling, (n_couplings, n_widths).

    ::

        |phi_m phi_m^T - K|_F / |K|_F   phi_m = positive(x, omega[:m]),   omega one draw of max(widths)

    The first m frequencies of a draw are a draw of m only for stacks of independent blocks: not for
    ``halton`` or ``sobol``. All couplings take the same key and share rotations: differences are less noisy
    than errors.
    """
    key, x = checks.key(key), checks.points(x, "x")
    draws = [checks.function(draw, "couplings", "couplings.simplex") for draw in checks.members(couplings, "couplings", "couplings")]
    widths = [checks.count(m, "widths") for m in checks.members(widths, "widths", "whole numbers")]
    exact, found = kernels.gaussian(x, x), []
    for draw in draws:
        omega = draw(key, max(widths), x.shape[1])
        maps = (features.positive(x, omega[:m]) for m in widths)
        found.append(jnp.stack([features.gram_error(phi @ phi.T, exact) for phi in maps]))
    return jnp.stack(found)
