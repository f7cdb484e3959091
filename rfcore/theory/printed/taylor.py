"""Taylor coefficients of graph kernels as Universal Graph Random Features prints them (Table 1).

Each is that of W^k over the kernel's constant, so that alpha_0 = 1. Plain Python: coefficients of fractions
and whole numbers are exact fractions, so that two printed formulas can be compared without rounding.
"""

from math import comb, factorial, pi

from rfcore import checks


def alpha_regularised_laplacian(k, sigma, d):
    """Coefficient of (I + sigma^2 L)^(-d): binomial(d + k - 1, k) (1 + sigma^-2)^(-k)."""
    k, d = checks.count(k, "k", least=0), checks.count(d, "d")
    sigma = checks.exact(sigma, "sigma", above=0)
    return comb(d + k - 1, k) * (1 + 1 / sigma**2) ** -k


def alpha_p_step(k, alpha, p):
    """Coefficient of (alpha I - L)^p, alpha > 1: binomial(p, k) (alpha - 1)^(-k)."""
    k, p = checks.count(k, "k", least=0), checks.count(p, "p")
    alpha = checks.exact(alpha, "alpha", above=1)
    return comb(p, k) * (alpha - 1) ** -k


def alpha_diffusion(k, sigma):
    """Coefficient of exp(-sigma^2 L / 2): (sigma^2 / 2)^k / k!."""
    k = checks.count(k, "k", least=0)
    sigma = checks.exact(sigma, "sigma", above=0)
    return (sigma**2 / 2) ** k / factorial(k)


def alpha_inverse_cosine(k, base=pi / 4):
    """Coefficient of cos(pi L / 4): (pi/4)^k / k! times (-1)^(k/2) for even k, (-1)^((k - 1)/2) for odd k.

    ``base=Fraction(1)`` gives exact coefficients, the powers of pi/4 being absorbed into W.
    """
    k = checks.count(k, "k", least=0)
    base = checks.exact(base, "base")
    return (-1) ** (k // 2) * base**k / factorial(k)
