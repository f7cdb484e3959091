"""Formulas as Universal Graph Random Features prints them: modulations ``f_``, coefficients ``alpha_``.

Plain Python, slow; whole numbers give exact fractions, so that two printed formulas can be compared without
rounding. The closed forms of f_p_step, f_diffusion and f_regularised_laplacian are those of the table in
Section 2, "Generating functions", in which powers are absorbed into W; the coefficients are those of Table 1.
"""

from fractions import Fraction
from math import ceil, comb, expm1, factorial, log, log1p, pi
from sys import float_info

from rfcore import checks


def f_regularised_laplacian(k, d):
    """Modulation of the d-regularised Laplacian.

    ::

        f(k) = (d - 2 + 2k)!! / ((2k)!! (d - 2)!!),  n!! = n (n - 2) (n - 4) ..., and (-1)!! = 0!! = 1
    """
    return Fraction(_double_factorial(d - 2 + 2 * k), _double_factorial(2 * k) * _double_factorial(d - 2))


def f_p_step(k, p):
    """Modulation of the p-step random walk, f(k) = binomial(p/2, k)."""
    return _binomial(Fraction(p, 2), k)


def f_diffusion(k):
    """Modulation of the diffusion kernel, f(k) = 1 / (2^k k!)."""
    return Fraction(1, 2**k * factorial(k))


def f_by_partitions(alpha):
    """The symmetric modulation f of as many values as alpha, f * f = alpha and f(0) = 1, by an explicit sum.

    ::

        f(i) = sum_{n=0}^{i} binomial(1/2, n) sum over k_1 + 2 k_2 + 3 k_3 + ... = i, k_1 + k_2 + ... = n of
               n! / (k_1! k_2! ...) alpha_1^k_1 alpha_2^k_2 ...

    It needs alpha_0 = 1, and a term for each partition of i into whole numbers: 77 for i = 12, 190 million
    for i = 100.

    Source: Universal Graph Random Features, Theorem 2.2, Eq. 5.
    """
    alpha = _exact(alpha)
    f = []
    for i in range(len(alpha)):
        f.append(0)
        for parts in _partitions(i, i):
            n = sum(parts.values())
            term = _binomial(Fraction(1, 2), n) * factorial(n)
            for part, times in parts.items():
                term = term * alpha[part] ** times / factorial(times)
            f[i] = f[i] + term
    return f


def f_by_iteration(alpha):
    """The modulation of :func:`f_by_partitions` by a recursion.

    ::

        f(0) = 1,  f(i + 1) = (alpha_{i+1} - sum_{p=0}^{i-1} f(i - p) f(p + 1)) / (2 f(0))

    :func:`rfcore.walks.modulation.from_taylor` is the same in float64, for any alpha_0 > 0.

    Source: Universal Graph Random Features, Theorem 2.2, Eq. 6.
    """
    alpha = _exact(alpha)
    f = [alpha[0]]
    for i in range(len(alpha) - 1):
        f.append((alpha[i + 1] - sum(f[i - p] * f[p + 1] for p in range(i))) / (2 * f[0]))
    return f


def batch_size(n_walkers, p_halt, delta):
    """How many values of f suffice: all of n_walkers walks are shorter than b with probability 1 - delta.

    ::

        b >= log(1 - (1 - delta)^(1/n_walkers)) / log(1 - p_halt),  b the smallest such

    Walks here are never cut: f is computed to the greatest length that was drawn, at most
    :func:`rfcore.walks.lengths.longest`. This is what it takes with high probability.

    Source: Universal Graph Random Features, Eqs. 17 and 18.

    >>> from companion.papers.ugrf import formulas
    >>> formulas.batch_size(1, 0.5, 0.3)  # 3/4 of the walks are shorter than 2 hops
    2
    """
    n_walkers = checks.count(n_walkers, "n_walkers")
    p_halt, delta = checks.probability(p_halt, "p_halt"), checks.probability(delta, "delta")
    one_is_longer = -expm1(log1p(-delta) / n_walkers)
    # Rounding lifts what is a whole number above it: by less than eight units, three roundings and the logarithm's condition.
    b = log(one_is_longer) / log1p(-p_halt)
    return ceil(b - 8 * float_info.epsilon * max(b, 1 / -log1p(-p_halt)))


def batch_size_approximation(n_walkers, p_halt, delta):
    """About how many values of f suffice for n_walkers walks with probability 1 - delta.

    (log(delta) - log(n_walkers)) / log(1 - p_halt); the exact number is
    :func:`batch_size`.

    Source: Universal Graph Random Features, Appendix A.1, right side of Eq. 18.
    """
    return (log(delta) - log(n_walkers)) / log(1 - p_halt)


def _exact(alpha):
    """Coefficients, of which fractions stay what they are."""
    alpha = [alpha_i for i, alpha_i in enumerate(alpha)]
    if alpha[0] != 1:
        raise ValueError(f"alpha[0] = {alpha[0]}; give coefficients that are normalised to alpha[0] = 1, as the paper's are")
    return alpha


def _double_factorial(n):
    return n * _double_factorial(n - 2) if n > 0 else 1


def _binomial(x, k):
    result = Fraction(1)
    for j in range(k):
        result = result * (x - j) / (j + 1)
    return result


def _partitions(total, largest):
    """All ways to write total as a sum of whole numbers up to largest: {part: how often}."""
    if total == 0:
        yield {}
    elif largest:
        for times in range(total // largest + 1):
            for rest in _partitions(total - times * largest, largest - 1):
                yield rest | {largest: times} if times else rest


def alpha_regularised_laplacian(k, sigma, d):
    """Coefficient of (I + sigma^2 L)^(-d): binomial(d + k - 1, k) (1 + sigma^-2)^(-k)."""
    return comb(d + k - 1, k) * (1 + 1 / sigma**2) ** -k


def alpha_p_step(k, alpha, p):
    """Coefficient of (alpha I - L)^p, alpha > 1: binomial(p, k) (alpha - 1)^(-k)."""
    return comb(p, k) * (alpha - 1) ** -k


def alpha_diffusion(k, sigma):
    """Coefficient of exp(-sigma^2 L / 2): (sigma^2 / 2)^k / k!."""
    return (sigma**2 / 2) ** k / factorial(k)


def alpha_inverse_cosine(k, base=pi / 4):
    """Coefficient of cos(pi L / 4): (pi/4)^k / k! times (-1)^(k/2) for even k, (-1)^((k - 1)/2) for odd k.

    ``base=Fraction(1)`` gives exact coefficients, the powers of pi/4 being absorbed into W.
    """
    return (-1) ** (k // 2) * base**k / factorial(k)
