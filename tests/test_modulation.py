"""Modulations convolve to their kernel's Taylor coefficients, and rebuild the kernel itself."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rounding import rounding
from scipy.linalg import expm
from scipy.special import binom, factorial

from companion.papers.ugrf import modulation_pairs
from rfcore import kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

G = Graph.from_networkx(nx.karate_club_graph())
NAMED = [
    kernels.Diffusion(1.3),
    kernels.Diffusion(0.0),
    kernels.RegularisedLaplacian(0.8, 1),
    kernels.RegularisedLaplacian(0.8, 2),
    kernels.RegularisedLaplacian(0.8, 3.5),
    kernels.RegularisedLaplacian(0.0, 2),
    kernels.PStep(20, 2),
    kernels.PStep(3, 3),
]
CASES = [(modulation.of_kernel(kernel), kernel.dense(G)) for kernel in NAMED]


def close(ours, truth):
    """To 1e-12 of the size of the truth: an eigendecomposition of 34 rows, or 150 powers, is off by less than 1000 eps."""
    return np.allclose(ours, truth, rtol=0, atol=1e-12 * np.abs(truth).max())


@pytest.mark.parametrize("kernel", [*NAMED, kernels.InverseCosine()])
def test_coefficients_are_those_of_the_function(kernel):
    k, x = np.arange(150), np.linspace(-1, 1, 9)
    assert close(np.polynomial.Polynomial(kernel.taylor(k))(x), kernel(x))


@pytest.mark.parametrize("kernel", NAMED)
def test_powers_multiply_to_the_kernel_and_their_degrees_add(kernel):
    k = np.arange(150)
    parts = [kernel.taylor(k, power) for power in (0.3, 0.7)]
    assert close(np.convolve(*parts)[:150], kernel.taylor(k))
    for power, law in zip((0.3, 0.7, 1), (*parts, kernel.taylor(k)), strict=True):
        law = law / law.sum()
        mean = k @ law
        assert np.allclose((mean, (k - mean) ** 2 @ law), np.multiply(power, kernel.length_moments), rtol=1e-9, atol=0)


def test_lengthscale_is_of_the_exponential_of_the_laplacian():
    W = G.normalised().to_scipy().toarray()
    assert close(kernels.Diffusion.from_lengthscale(0.9).dense(G), expm(0.9**2 * (W - np.eye(34))))
    k = np.arange(8)
    traced = jax.jit(lambda gamma: modulation.of_kernel(kernels.Diffusion.from_lengthscale(gamma))(k))(0.9)
    assert np.allclose(traced, modulation.diffusion(np.sqrt(2) * 0.9)(k), rtol=1e-12)


@pytest.mark.parametrize(("f", "kernel"), CASES)
def test_power_series_squared_is_the_kernel(f, kernel):
    W = G.normalised().to_scipy().toarray()
    series = sum(value * np.linalg.matrix_power(W, k) for k, value in enumerate(np.asarray(f(np.arange(120)))))
    assert close(series @ series, kernel)


def test_inverse_cosine_convolves_to_the_cosine_series():
    # The square root of the series has radius of convergence 1, the spectral radius of W: check coefficients.
    f = modulation.inverse_cosine()(np.arange(60))
    signs = np.tile([1, 1, -1, -1], 15)
    alpha = signs * np.exp(np.arange(60) * np.log(np.pi / 4)) / factorial(np.arange(60)) / np.sqrt(2)
    assert close(np.convolve(f, f)[:60], alpha)
    W = G.normalised().to_scipy().toarray()
    assert close(sum(a * np.linalg.matrix_power(W, k) for k, a in enumerate(alpha)), kernels.inverse_cosine(G))


def test_inverse_cosine_decays_like_a_quarter_of_k_to_the_minus_three_halves():
    k = np.array([400, 1000])
    assert np.allclose(4 * k**1.5 * np.abs(modulation.inverse_cosine()(k)), 1 + 3 / (8 * k), atol=1e-5)


@given(alpha=st.lists(st.floats(-2, 2), min_size=1, max_size=12), first=st.floats(0.5, 4))
def test_iterative_formula_inverts_self_convolution(alpha, first):
    alpha = np.array([first, *alpha])
    f = modulation.from_taylor(alpha)(np.arange(20))
    square = np.convolve(f, f)[:20]
    scale = np.maximum(1, np.convolve(np.abs(f), np.abs(f))[:20])
    assert np.all(np.abs(square - np.pad(alpha, (0, 20 - len(alpha)))) <= rounding(100) * scale)  # every step solves for one term of a sum of 20


def test_iterative_formula_equals_closed_forms():
    k = np.arange(40)
    sigma, ratio = 0.9, 0.9**2 / (1 + 0.9**2)
    series = {
        modulation.diffusion(sigma): np.exp(-(sigma**2) / 2) * (sigma**2 / 2) ** k / factorial(k),
        modulation.regularised_laplacian(sigma, 3): binom(k + 2, k) * ratio**k * (1 + sigma**2) ** -3,
        modulation.p_step(5, 3): binom(3, k) * 4.0 ** (3 - k),
    }
    for closed, alpha in series.items():
        assert np.allclose(modulation.from_taylor(alpha)(k), closed(k), rtol=0, atol=rounding(200, closed(k)))  # sums of 40


def test_long_walks_do_not_overflow():
    k = np.array([0, 170, 1000, 5000])
    for f in (modulation.diffusion(3.0), modulation.regularised_laplacian(3.0, 2), modulation.p_step(2, 5)):
        assert np.all(np.isfinite(f(k)))
    assert np.all(np.isfinite(modulation.inverse_cosine()(np.array([0, 170, 1000]))))


def test_values_follow_the_order_and_shape_of_the_lengths():
    for f in (modulation.diffusion(1.0), modulation.regularised_laplacian(1.0, 2), modulation.p_step(4, 3), modulation.inverse_cosine()):
        table = np.asarray(f(np.arange(6)))
        assert np.allclose(f(np.array([[5, 0], [2, 2]])), table[[[5, 0], [2, 2]]])


def test_differentiable_in_the_regulariser():
    k = jnp.arange(8)
    for make in (modulation.diffusion, lambda s: modulation.regularised_laplacian(s, 2.0)):
        slope = jax.jit(jax.jacfwd(lambda s, make=make: make(s)(k)))(0.8)
        assert np.allclose(slope, (make(0.8 + 1e-6)(k) - make(0.8 - 1e-6)(k)) / 2e-6, atol=1e-7)


ALPHA = np.array([1.0, 0.5, -0.3, 0.2, 0.05])


@pytest.mark.parametrize(
    "f2",
    [
        modulation.diffusion(1.0),
        modulation.regularised_laplacian(0.7, 2),
        modulation.p_step(5, 3),
        modulation.from_values([1.0]),
        modulation.from_values([-2.0, 1.0]),
    ],
)
def test_deconvolution_inverts_convolution(f2):
    f1 = modulation_pairs.deconvolve(ALPHA, f2)
    error = modulation.to_taylor(f1, f2, n_terms=40) - np.pad(ALPHA, (0, 35))
    # Every row of the recursion, and of the convolution, rounds 40 products: 100 eps of the sum of their sizes.
    sizes = modulation.to_taylor(lambda k: np.abs(f1(k)), lambda k: np.abs(f2(k)), n_terms=40)
    assert np.all(np.abs(error) <= 100 * np.finfo(float).eps * sizes)


def test_partner_of_the_lazy_walker_is_the_series_itself():
    assert np.array_equal(modulation.from_values([1.0])(np.arange(4)), [1, 0, 0, 0])
    assert np.array_equal(modulation_pairs.deconvolve(ALPHA, modulation.from_values([1.0]))(np.arange(8)), np.pad(ALPHA, (0, 3)))


def test_partner_of_the_symmetric_modulation_is_itself():
    k, f = np.arange(60), modulation.regularised_laplacian(0.8, 2)
    alpha = modulation.to_taylor(f, n_terms=60)
    assert close(modulation_pairs.deconvolve(alpha, f)(k), f(k))
    assert close(modulation.from_taylor(alpha)(k), f(k))


def test_taylor_coefficients_rebuild_the_kernel():
    for f, kernel in CASES:
        rebuilt = kernels.power_series(G.normalised(), modulation.to_taylor(f, n_terms=150))
        assert close(rebuilt, kernel)
    inverse_cosine = modulation.to_taylor(modulation.inverse_cosine(), n_terms=60)
    assert close(kernels.power_series(G.normalised(), inverse_cosine), kernels.inverse_cosine(G))


@pytest.mark.parametrize("scale", [0.2, 0.0, -0.7])
def test_exponential_is_of_the_weights_as_they_are(scale):
    alpha = modulation.to_taylor(modulation.exponential(scale), n_terms=120)
    # Five products of exponentials of numbers below 10: some 10 eps each.
    assert np.allclose(alpha[:5], scale ** np.arange(5.0) / factorial(np.arange(5)), rtol=1e-13, atol=0)
    assert np.allclose(kernels.power_series(G, alpha), kernels.exponential(G, scale), rtol=1e-9)


def test_table_of_values_counts_nothing_past_its_end():
    f = modulation.from_values([3.0, -1.0])
    assert np.array_equal(f(np.array([[0, 1], [2, 500]])), [[3, -1], [0, 0]])
    jacobian = jax.jacfwd(lambda values: modulation.from_values(values)(np.arange(4)))(jnp.array([3.0, -1.0]))
    assert np.array_equal(jacobian, np.eye(4)[:, :2])


def test_host_and_device_arithmetic_agree():
    k = np.arange(30)
    for f in (modulation.diffusion(1.3), modulation.regularised_laplacian(0.8, 3), modulation.from_values(ALPHA)):
        assert isinstance(f(k), np.ndarray)
        assert isinstance(f(jnp.asarray(k)), jax.Array)
        # Exponentials of numbers below 100, which are off by some eps of their own size: 1e-13.
        assert np.allclose(f(k), f(jnp.asarray(k)), rtol=1e-12)


ALL = [
    modulation.diffusion(1.3),
    modulation.regularised_laplacian(0.8, 2),
    modulation.p_step(5, 3),
    modulation.inverse_cosine(),
    modulation.from_values(ALPHA),
    modulation.from_taylor(ALPHA),
    modulation.exponential(0.3),
    modulation_pairs.deconvolve(ALPHA, modulation.from_values([1.0, 0.2])),
]


@pytest.mark.parametrize("f", ALL)
def test_lengths_are_whole_numbers_of_at_least_zero(f):
    for k in (-1, np.array([0, -3]), 1.5, np.arange(3.0), "1", None, True):
        with pytest.raises(ValueError, match=r"(?s)k = .*; give lengths of walks, whole numbers"):
            f(k)
    table = np.asarray(f(np.arange(9)))
    for k in ([0, 5], np.array([0, 5], dtype=np.uint8), jnp.array([0, 5])):
        assert np.allclose(f(k), table[[0, 5]], rtol=1e-5)  # float32 where k is a JAX array and float32 the default


@pytest.mark.parametrize("f", ALL)
def test_traced_lengths_are_computed_or_refused(f):
    try:
        values = jax.jit(f)(jnp.arange(5))
    except ValueError as refusal:
        assert "k is traced; this modulation is computed on the host" in str(refusal)
    else:
        assert np.allclose(values, f(np.arange(5)), rtol=1e-12)


def test_p_step_is_differentiable_in_alpha():
    k = np.arange(6)
    for p in (2, 3):
        slope = jax.jit(jax.jacfwd(lambda alpha, p=p: modulation.p_step(alpha, p)(k)))(4.0)
        ends = (modulation.p_step(alpha, p)(k) for alpha in (4.0 + 1e-6, 4.0 - 1e-6))
        assert np.allclose(slope, np.subtract(*ends) / 2e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: modulation.diffusion(-1), "sigma = -1.0"),
        (lambda: modulation.diffusion(float("nan")), "sigma"),
        (lambda: modulation.regularised_laplacian(1.0, -1), "d = -1"),
        (lambda: modulation.p_step(1.5, 2), "alpha = 1.5"),
        (lambda: modulation.p_step(3, 0), "p = 0"),
        (lambda: modulation.p_step(3, 2.5), "p = 2.5"),
        (lambda: modulation.from_taylor([0.0, 1.0]), r"alpha\[0\]"),
        (lambda: modulation.from_taylor([]), "alpha has shape"),
        (lambda: modulation.from_taylor([1.0, np.nan]), "alpha"),
        (lambda: modulation.from_taylor(lambda k: np.inf + k), "alpha has 1 NaN or infinite"),
        (lambda: modulation.from_values([]), "values has shape"),
        (lambda: modulation.from_values([np.inf]), "values"),
        (lambda: modulation.from_values([1.0, 1j]), "values has dtype complex"),
        (lambda: modulation.from_taylor([1.0, 1j]), "alpha has dtype complex"),
        (lambda: modulation.from_taylor(lambda k: np.where(k < 1, 1.0, np.nan))(np.arange(4)), "alpha has 3 NaN"),
        (lambda: modulation.from_taylor(lambda k: 1.0), r"alpha maps 1 lengths to an array of shape \(\)"),
        (lambda: modulation.from_taylor("exp"), "alpha"),
        (lambda: modulation.diffusion("1"), "sigma = '1'"),
        (lambda: modulation.diffusion(1j), "sigma = 1j"),
        (lambda: modulation_pairs.deconvolve(ALPHA, lambda k: np.where(k < 2, 1.0, np.inf))(np.arange(4)), "f2 has 2 NaN or inf"),
        (lambda: modulation.to_taylor(lambda k: k * np.nan), "f1 has 50 NaN"),
        (lambda: jax.jit(lambda a: modulation.from_taylor(a)(np.arange(3)))(jnp.ones(2)), "alpha is traced"),
        (lambda: jax.jit(lambda a: modulation.from_taylor([a, a])(np.arange(3)))(1.0), r"alpha = \[.*\]; give"),
        (lambda: jax.jit(lambda a: modulation.from_taylor(lambda k: a**k)(np.arange(3)))(1.0), "alpha is traced"),
        (lambda: jax.jit(lambda a: modulation_pairs.tilted(modulation.from_values([1.0]), a)(np.arange(3)))(jnp.zeros(2)), "g is traced"),
        (lambda: jax.jit(lambda a: modulation_pairs.tilted(lambda k: a**k, [0.0, 1.0])(np.arange(3)))(1.0), "f is traced"),
        (lambda: jax.jit(lambda a: modulation.to_taylor(lambda k: a**k))(1.0), "f1 is traced"),
        (lambda: jax.jit(lambda a: modulation.exponential(a)(np.arange(3)))(1.0), "scale is traced"),
        (lambda: jax.jit(lambda a: modulation_pairs.deconvolve(ALPHA, modulation.from_values(a))(np.arange(3)))(jnp.ones(2)), "f2 is traced"),
        (lambda: modulation.exponential(float("inf")), "scale = inf"),
        (lambda: modulation_pairs.deconvolve(ALPHA, modulation.from_values([0.0, 1.0])), r"f2\(0\) = 0"),
        (lambda: modulation_pairs.deconvolve([], modulation.from_values([1.0])), "alpha has shape"),
        (lambda: modulation.to_taylor(modulation.from_values([1.0]), n_terms=0), "n_terms = 0"),
    ],
)
def test_bad_regularisers_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_tilted_modulations_are_pairs_for_the_same_kernel():
    """exp(log(1 + x)) is 1 + x, and a pair tilted both ways convolves to what f does with itself: sums of 30 terms below 2."""
    k = np.arange(1, 30)
    logarithm = np.concatenate([[0.0], (-1.0) ** (k + 1) / k])
    one_more = modulation_pairs.tilted(modulation.from_values([1.0]), logarithm)(np.arange(30))
    assert np.allclose(one_more, np.arange(30) < 2, rtol=0, atol=rounding(1000))
    f, g = modulation.regularised_laplacian(0.8, 2), np.array([0.0, 0.4, -0.3, 0.1])
    pair = modulation_pairs.tilted(f, g), modulation_pairs.tilted(f, -g)
    assert np.allclose(modulation.to_taylor(*pair, 30), modulation.to_taylor(f, n_terms=30), rtol=0, atol=rounding(1000, 2.0))
    assert not np.allclose(pair[0](np.arange(9)), f(np.arange(9)))
    with pytest.raises(ValueError, match=r"g\[0\] = 0.5; give 0"):
        modulation_pairs.tilted(f, [0.5])
