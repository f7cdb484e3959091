"""Errors of Fourier features of Matérn kernels: what joint laws of norms and directions do to heavy tails.

A frequency r theta gives points that are z apart the feature f = cos(z r theta_1). Its mean is the kernel
k(z); given the norm r it is g(r) = 0F1(; d/2; -(z r / 2)^2). Two frequencies of a block have the mean product
c(r_1, r_2), the mean of that function at the lengths of their sum and their difference, which the angle
between them gives. So, with k for k(z),

::

    Var f = (1 + k(2 z)) / 2 - k^2
    laws within blocks             m MSE = Var f + (d - 1) (E[c] - k^2)
    strata over all norms          m MSE = Var f + (d - 1) (E[c] - k^2) - (m - d) / (m - 1) Var_between(g)
    one norm per block, in strata  m MSE = Var f + (d - 1) (E[c] - k^2) - d Var_between(g)

c being of two norms in different strata in the second line, of one norm twice in the third: for orthogonal
directions that is k(sqrt(2) z). For the Gaussian kernel :func:`rfcore.theory.mse_ratio` has such errors, by
series in moments that Student's law has not. Here levels of norms are cut into cells, which halve towards 0
and towards 1, with Gauss's rule in each. In the last cells z r runs through many periods; what the nodes miss
is the probability of such norms times (z r)^((1 - d) / 2). For nu >= 1/2 ratios err by less than 3e-3 for d =
2, 1e-3 for d = 3 and 1e-4 from d = 4 on (``tests/test_matern_errors.py``). All in float64.
"""

import itertools
import math
from functools import lru_cache

import jax
import numpy as np
from scipy import special

from rfcore import checks, copulas, kernels
from rfcore.couplings import norms
from rfcore.theory.conformity import partners
from rfcore.theory.norm_costs import kinds_of_pairs, near

LEAST_NU, LARGEST_D = 0.5, 256
HALVINGS, NODES = 24, 20


def matern_mse_ratio(distance, d, m, nu, law="independent", over="block", directions="orthogonal"):
    """Error of Fourier features of a Matérn kernel under a coupling, over that of independent frequencies.

    Args:
        distance: of two points over the lengthscale, above 0 and at most 5.
        d, m: dimension, from 2 to 256; number of frequencies, whole blocks of d where norms are stratified.
        nu: smoothness, from 1/2 (Laplace's kernel) to 100, or infinity for the Gaussian kernel.
        law, over: of norms, as for :func:`rfcore.couplings.compose`: "independent", "reversal" (PNC) or
            "comonotone" within blocks ("block"), or "stratified" over "block", "all" or "blocks".
        directions: "orthogonal" or "simplex".

    Strata over all norms help Laplace's kernel, where angles alone hardly do. Eight shells, blocks of one
    norm each in strata, which are good for the Gaussian kernel, err more than independent frequencies:

    >>> from companion.papers.couplings import matern_errors
    >>> for nu in (0.5, 1.5, float("inf")):
    ...     ratios = [matern_errors.matern_mse_ratio(0.25, 64, 512, nu)]
    ...     for k in ("all", "blocks"):
    ...         ratios.append(matern_errors.matern_mse_ratio(0.25, 64, 512, nu, "stratified", k))
    ...     print(nu, *(round(ratio**0.5, 2) for ratio in ratios))
    0.5 0.95 0.64 1.16
    1.5 0.87 0.62 3.01
    inf 0.21 0.17 0.24
    """
    distance, d, m, nu = near(distance), _dimension(d), checks.count(m, "m"), _smoothness(nu)
    kind = copulas.pairs(law)
    checks.choice(over, "over", ("block", "all", "blocks"))
    cosine = (
        -1 / (d - 1)
        if checks.choice(directions, "directions", ("orthogonal", "simplex")) == "simplex"
        else 0.0
    )
    if isinstance(kind, copulas.DifferentStrata):
        if m % d:
            raise ValueError(f"m = {m}; give a multiple of d = {d}: whole blocks")
        change = _of_strata({"block": d, "all": m, "blocks": m // d}[over], distance, d, m, nu, over, cosine)
    elif isinstance(kind, copulas.Correlated):
        if over != "block":
            raise ValueError(f"over = {over!r} with law = {law!r}; give 'block', or law = 'stratified'")
        costs = {0: _independent, 1: _equal, -1: _opposite}
        pairs = kinds_of_pairs(kind.partners, kind.others, m, d) if m > 1 else []
        mean = sum(
            share * (costs[r](distance, d, nu, cosine) - _kernel(distance, nu) ** 2) for share, r in pairs
        )
        change = partners(m, d) * mean
    else:
        raise ValueError(f"law = {law!r}; give 'independent', 'reversal', 'comonotone' or 'stratified'")
    return float(1 + change / _variance(distance, nu))


def matern_norm_share(distance, d, nu):
    """Share of a feature's variance that its norm carries: what strata over many norms take off.

    ::

        Var g / Var f,   f = cos(z r theta_1),  g = E[f | r]

    For close points and nu = 1/2 it tends to 2 - E|u - u'| / E|u| with u, u' coordinates of independent
    unit vectors, 2 - sqrt(2) = .59 in many dimensions; for the Gaussian kernel to 1 / d.

    Args:
        distance, d, nu: as for :func:`matern_mse_ratio`.
    """
    distance, d, nu = near(distance), _dimension(d), _smoothness(nu)
    norms, weights, _ = _strata(d, nu, 1)
    g = _mean_cosine(distance * norms, d)
    return float(weights @ (g - weights @ g) ** 2 / _variance(distance, nu))


def _dimension(d):
    d = checks.count(d, "d", least=2)
    if d > LARGEST_D:
        raise ValueError(f"d = {d}; give a dimension of at most {LARGEST_D}")
    return d


def _smoothness(nu):
    nu = checks.real(nu, "nu", above=0) if nu != math.inf else math.inf
    if not (LEAST_NU <= nu <= norms.LARGEST_NU or nu == math.inf):
        raise ValueError(f"nu = {nu}; give one from {LEAST_NU} to {norms.LARGEST_NU:g}, or infinity")
    return float(nu)


def _of_strata(n, distance, d, m, nu, over, cosine):
    """What n strata change of m MSE."""
    norms, weights, starts = _strata(d, nu, n)
    g, square = _mean_cosine(distance * norms, d), _kernel(distance, nu) ** 2
    between = np.var(n * np.add.reduceat(weights * g, starts))
    if over == "blocks":
        return (d - 1) * (_equal(distance, d, nu, cosine) - square) - d * between
    cost = _independent(distance, d, nu, cosine)
    if n > 1:
        cells = itertools.pairwise([*starts, len(norms)])
        alike = [
            _mean_pair(norms[low:high], n * weights[low:high], distance, d, cosine) for low, high in cells
        ]
        cost += (cost - np.mean(alike)) / (n - 1)
    return (d - 1) * (cost - square) - ((m - d) / (m - 1) * between if over == "all" else 0)


@lru_cache(maxsize=256)
def _independent(distance, d, nu, cosine):
    norms, weights, _ = _strata(d, nu, 1)
    return _mean_pair(norms, weights, distance, d, cosine)


def _opposite(distance, d, nu, cosine):
    norms, weights, _ = _strata(d, nu, 1)
    return weights @ _pair(norms, norms[::-1], distance, d, cosine)  # nodes are symmetric about 1/2


def _equal(distance, d, nu, cosine):
    sides = (
        _kernel(distance * math.sqrt(2 + 2 * cosine), nu),
        _kernel(distance * math.sqrt(2 - 2 * cosine), nu),
    )
    return sum(sides) / 2


def _mean_pair(norms, weights, distance, d, cosine):
    """Mean of c over two independent norms."""
    i, j = np.triu_indices(len(norms))
    return np.where(i == j, 1, 2) * weights[i] @ (weights[j] * _pair(norms[i], norms[j], distance, d, cosine))


def _pair(first, second, distance, d, cosine):
    """c, given two norms and the cosine of the angle between their directions."""
    squares, bent = first**2 + second**2, 2 * cosine * first * second
    if cosine == 0:
        return _mean_cosine(distance * np.sqrt(squares), d)
    return (
        _mean_cosine(distance * np.sqrt(squares + bent), d)
        + _mean_cosine(distance * np.sqrt(squares - bent), d)
    ) / 2


def _mean_cosine(t, d):
    """E[cos(t u)], u a coordinate of a uniform unit vector."""
    z, v = -(t**2) / 4, d / 2
    series = np.ones_like(z)
    for k in range(12, 0, -1):
        series = 1 + z / (k * (v + k - 1)) * series
    near = -z < 0.3 * v  # where twelve terms leave 1e-15, and powers in SciPy's function may underflow
    return np.where(near, series, special.hyp0f1(v, np.where(near, -v, z)))


def _variance(distance, nu):
    return (1 + _kernel(2 * distance, nu)) / 2 - _kernel(distance, nu) ** 2


def _kernel(distance, nu):
    x, origin = np.array([[distance]]), np.zeros((1, 1))
    with jax.enable_x64(True):
        return float((kernels.gaussian(x, origin) if nu == math.inf else kernels.matern(x, origin, nu))[0, 0])


@lru_cache(maxsize=64)
def _strata(d, nu, n):
    """Norms at nodes, their weights, and where each of n strata of equal probability starts."""
    edges, halves = np.arange(n + 1) / n, 2.0 ** -np.arange(1, HALVINGS) / n
    cells = np.unique(np.concatenate([edges, halves, 1 - halves]))
    nodes, shares = special.roots_legendre(NODES)
    width = np.diff(cells)[:, None]
    levels, weights = (cells[:-1, None] + width * (nodes + 1) / 2).ravel(), (width * shares / 2).ravel()
    with jax.enable_x64(True):
        lengths = np.asarray(norms.chi(levels, d) if nu == math.inf else norms.Student(nu)(levels, d))
    return lengths, weights, NODES * np.searchsorted(cells, edges[:-1])
