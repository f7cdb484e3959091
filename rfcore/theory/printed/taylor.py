"""Taylor coefficients of graph kernels as Universal Graph Random Features prints them (Table 1).

Plain Python: coefficients come out as exact fractions where the parameters are fractions or whole numbers, so that two
printed formulas can be compared without rounding. Each is that of the kernel over its constant, so that alpha_0 = 1.
"""

from math import comb, factorial, pi

from rfcore import checks


def alpha_regularised_laplacian(k, sigma, d):
    """Taylor coefficient of the d-regularised Laplacian (I + sigma^2 L)^(-d), up to its constant (1 + sigma^2)^(-d).

    ::

        alpha_k = binomial(d + k - 1, k) (1 + sigma^-2)^(-k)

    Parameters
    ----------
    k, d : int
    sigma : number
        A ``fractions.Fraction`` for exact coefficients.

    Returns
    -------
    number of the type of sigma

    Raises
    ------
    ValueError
        If k < 0, d < 1 or sigma <= 0.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> alpha_regularised_laplacian(2, Fraction(1), 2)
    Fraction(3, 4)
    """
    k, d = checks.count(k, "k", least=0), checks.count(d, "d")
    sigma = checks.exact(sigma, "sigma", above=0)
    return comb(d + k - 1, k) * (1 + 1 / sigma**2) ** -k


def alpha_p_step(k, alpha, p):
    """Taylor coefficient of the p-step random walk (alpha I - L)^p, up to its constant (alpha - 1)^p.

    ::

        alpha_k = binomial(p, k) (alpha - 1)^(-k)

    Of whole numbers k >= 0 and p >= 1 and a number alpha > 1; else, and for the source, as
    :func:`alpha_regularised_laplacian`.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> from rfcore.theory import printed
    >>> [printed.alpha_p_step(k, 2, 2) for k in range(4)]
    [1, 2.0, 1.0, 0.0]
    """
    k, p = checks.count(k, "k", least=0), checks.count(p, "p")
    alpha = checks.exact(alpha, "alpha", above=1)
    return comb(p, k) * (alpha - 1) ** -k


def alpha_diffusion(k, sigma):
    """Taylor coefficient of the diffusion kernel exp(-sigma^2 L / 2), up to its constant exp(-sigma^2 / 2).

    ::

        alpha_k = (sigma^2 / 2)^k / k!

    Of a whole number k >= 0 and a number sigma > 0; else, and for the source, as :func:`alpha_regularised_laplacian`.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from rfcore.theory import printed
    >>> printed.alpha_diffusion(3, Fraction(1))
    Fraction(1, 48)
    """
    k = checks.count(k, "k", least=0)
    sigma = checks.exact(sigma, "sigma", above=0)
    return (sigma**2 / 2) ** k / factorial(k)


def alpha_inverse_cosine(k, base=pi / 4):
    """Taylor coefficient of the inverse cosine kernel cos(pi L / 4), up to its constant 1 / sqrt(2).

    ::

        alpha_k = (pi/4)^k / k! times (-1)^(k/2) for even k, (-1)^((k - 1)/2) for odd k

    Parameters
    ----------
    k : int
    base : number
        ``Fraction(1)`` for the coefficients with the powers of pi/4 absorbed into W, exactly.

    Returns
    -------
    number of the type of base

    Raises
    ------
    ValueError
        If k < 0 or base is no finite number.

    Notes
    -----
    Universal Graph Random Features, Table 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from rfcore.theory import printed
    >>> [str(printed.alpha_inverse_cosine(k, Fraction(1))) for k in range(4)]
    ['1', '1', '-1/2', '-1/6']
    """
    k = checks.count(k, "k", least=0)
    base = checks.exact(base, "base")
    return (-1) ** (k // 2) * base**k / factorial(k)
