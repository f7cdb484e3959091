"""Quantiles of chi's and of Student's lengths: against 40 digits, in order, and their derivatives in closed form."""

import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import special

from rfcore.couplings import norms

LEVELS = np.array([1e-22, 1e-16, 1e-9, 1e-4, 0.02, 0.3, 0.5, 0.5000001, 0.7, 0.99, 1 - 1e-4, 1 - 1e-9, 1 - 2.0**-53])
LAWS = [(1, math.inf), (2, math.inf), (16, math.inf), (200, math.inf), (4096, math.inf), (10**6, math.inf)]
LAWS += [(1, 0.5), (2, 0.5), (3, 1.5), (5, 20.0), (64, 2.5), (1000, 10.0)]


def radial(nu):
    return norms.chi if nu == math.inf else norms.Student(nu)


def error_of_log(x, u, d, nu):
    """By the distribution function at x: an error e of log x moves the level by e times the density of log x."""
    a, square, is_lower = mpmath.mpf(d) / 2, mpmath.mpf(float(x)) ** 2, u <= 0.5
    if nu == math.inf:
        y = square / 2
        tail = mpmath.gammainc(a, 0, y, regularized=True) if is_lower else mpmath.gammainc(a, y, regularized=True)
        density = 2 * y**a * mpmath.exp(-y) / mpmath.gamma(a)
    else:
        B, rest = square / (square + 2 * nu), 2 * nu / (square + 2 * nu)
        ends = (a, nu, 0, B) if is_lower else (nu, a, 0, rest)
        tail = mpmath.betainc(*ends, regularized=True)
        density = 2 * B**a * rest**nu / mpmath.beta(a, nu)
    return abs(tail - (mpmath.mpf(u) if is_lower else 1 - mpmath.mpf(u))) / density


@pytest.mark.parametrize(("d", "nu"), LAWS)
def test_quantiles_are_those_of_forty_digits(d, nu):
    for dtype, levels, bound in ((np.float64, LEVELS, 1e-12), (np.float32, LEVELS[(LEVELS > 1e-7) & (LEVELS < 1 - 1e-7)], 1e-5)):
        levels = levels.astype(dtype)
        with jax.enable_x64(True):
            found = radial(nu)(levels, d)
        assert found.dtype == dtype
        with mpmath.workdps(40):
            assert max(error_of_log(x, float(u), d, nu) for u, x in zip(levels, found, strict=True)) < bound


@pytest.mark.parametrize(("d", "nu"), LAWS)
def test_levels_and_lengths_have_one_order_across_the_nodes_too(d, nu):
    rng = np.random.default_rng(0)
    u = np.sort(np.concatenate([10.0 ** -rng.uniform(0, 22, 5000), 1 - 10.0 ** -rng.uniform(0, 15, 5000)]))
    with jax.enable_x64(True):
        assert np.all(np.diff(np.log(radial(nu)(u, d))) > -1e-13)


def test_derivatives_have_closed_forms():
    """Those of sqrt(-2 log(1 - u)), Rayleigh's, and of tan(pi u / 2), Cauchy's."""
    u = np.array([1e-3, 0.2, 0.5, 0.9, 1 - 1e-6])
    with jax.enable_x64(True):
        exact = (lambda u: jnp.sqrt(-2 * jnp.log1p(-u)), lambda u: jnp.tan(jnp.pi / 2 * u))
        for ours, closed in zip((lambda u: norms.chi(u, 2), lambda u: norms.Student(0.5)(u, 1)), exact, strict=True):
            for order in (jax.grad, lambda f: jax.grad(jax.grad(f))):
                found, true = (jax.jit(jax.vmap(order(f)))(u) for f in (ours, closed))
                assert np.allclose(found, true, rtol=1e-6, atol=0)


def test_ends_of_the_unit_interval():
    ends = jax.jit(lambda u: norms.chi(u, 3))(jnp.array([0.0, -0.1, 1.1, jnp.nan, 0.5]))
    assert 0 <= ends[0] < 1e-7
    assert np.isnan(ends[1:4]).all()
    assert ends[4] == norms.chi(0.5, 3)
    assert norms.chi(jnp.zeros((0, 2)), 3).shape == (0, 2)


def test_the_largest_dimension_has_the_levels_that_are_asked():
    u, d = np.array([1e-9, 0.3, 0.7, 1 - 1e-9]), norms.LARGEST_D
    with jax.enable_x64(True):
        x = np.asarray(norms.chi(u, d))
    # Beside sqrt(d) the law is normal with variance 1/2, but for terms in d^(-1/2), here 3e-4.
    assert np.allclose(x - np.sqrt(d - 0.5), special.ndtri(u) / np.sqrt(2), rtol=1e-3, atol=1e-3)
