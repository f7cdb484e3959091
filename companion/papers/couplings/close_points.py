"""How close points must be for the proofs that negative monotone norms are best for Fourier features."""

from functools import partial

import numpy as np
from scipy import optimize, special

from rfcore import checks, copulas
from rfcore.theory.norm_costs import norms_at, scores


def convex_radius(d):
    """Largest t with a convex cost of a pair for Fourier features, the first zero of ``J_{d/2 + 1}``.

    As a function of w_1^2 + w_2^2 it has the second derivative z^4 / (4 d (d + 2)) 0F1(; d/2 + 2; -t^2 / 4).
    Where it is convex, swapping norms to opposite orders never raises the cost: norms that stay below are
    best coupled negatively monotone, as those for positive features are at any size.

    Source: the "sufficiently small z" of Variance-Reducing Couplings, Theorem 3.2, for bounded norms.
    """
    order = d / 2 + 1
    first = order + 1.8557571 * order ** (1 / 3) + 1.033150 * order ** (-1 / 3)  # DLMF 10.21.40
    return float(optimize.brentq(partial(special.jv, order), first - 0.1, first + 0.5, xtol=1e-13))


def guarantee(d, law="independent"):
    """Distance below which Lemma A.6 proves negative monotone norms better than another law: the root z > 0.

    ::

        z^4 / (8 d (d + 2)) c = 2 g(z),   g(z) = e^(z^2) - 1 - z^2 - z^4 / 2
        c = E_law[(w_1^2 + w_2^2)^2] - E_NM[(w_1^2 + w_2^2)^2],   law "independent" or "comonotone"

    Both sides are Gamma(d/2) times the paper's, whose g has k/2 for d/2, from a slip in the moments of the
    chi square law. It promises little: the advantage goes on much farther
    (:func:`rfcore.theory.mse_ratio`).

    Source: Variance-Reducing Couplings, Lemma A.6 (Eqs. 29 to 32), moments 2^k Gamma(k + d/2) / Gamma(d/2).
    """
    d, of_law = checks.count(d, "d", least=2), copulas.pairs(law)
    if of_law not in (copulas.Correlated(0, 0), copulas.Correlated(1, 1)):
        raise ValueError(f"law = {law!r}; give 'independent' or 'comonotone', of which Lemma A.6 speaks")
    x, log_density = scores(0)
    squares = norms_at(x, d) ** 2
    c = 2 * ((d**2 if of_law == copulas.Correlated(0, 0) else d * (d + 2)) - np.exp(log_density) @ (squares * squares[::-1]))
    # g(z) / z^4 = z^2 / 6 1F1(1; 4; z^2), without cancellation
    return float(np.sqrt(optimize.brentq(lambda y: y * special.hyp1f1(1, 4, y) / 6 - c / (16 * d * (d + 2)), 0, 1)))
