"""Where orthogonal Fourier features stop being better than independent ones."""

from decimal import Decimal, localcontext
from functools import lru_cache

from rfcore import checks

STEP = 0.02  # below the distance of two sign changes for d <= 256


def fourier_threshold(d):
    """First distance at which the orthogonality gap of Fourier features is negative, to 1e-12; 3 <= d <= 256.

    ::

        gap(z) e^(z^2 / 2) = e^(-z^2 / 2) - 1F1(-d/2; d/2; z^2 / 2),  positive for 0 < z < z_crit(d)

    At d = 64 both terms are 1e-10 there and agree to another 1e-11: hence decimal arithmetic of as many
    digits as it takes. For d = 2 there is none: the gap is e^(-z^2 / 2) (e^(-z^2 / 2) - 1 + z^2 / 2) > 0.

    Source: Simplex Random Features, Section 4.1.
    """
    d = checks.count(d, "d", least=3)
    if d > 256:
        raise ValueError(f"d = {d}; give a dimension from 3 to 256, where the search was tried")
    return _threshold(d)


@lru_cache
def _threshold(d):
    low = 1.0
    while not _is_negative(low + STEP, d):
        low += STEP
    high = low + STEP
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if _is_negative(middle, d) else (middle, high)
    return high


def _is_negative(z, d):
    """Sign of the gap; terms of the series are below e^(z^2 / 2), its value above e^(-z^2) for d <= 256."""
    with localcontext() as context:
        context.prec = 60 + int(z * z)
        s, b = Decimal(z) ** 2 / 2, Decimal(d) / 2
        total = term = Decimal(1)
        k = 0
        while term and (k < b or abs(term) > abs(total).scaleb(-50 - int(z * z))):
            term *= (k - b) / (k + b) * s / (k + 1)
            total += term
            k += 1
        return (-s).exp() < total
