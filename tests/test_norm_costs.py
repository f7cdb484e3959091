"""Costs of norms (Lemma 3.1) to thirty digits, their means under couplings against closed forms and draws, and their order."""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import ratio_of
from rounding import rounding

from companion.papers.couplings import close_points, costs, multi_marginal
from companion.papers.simplex import conformities
from rfcore import copulas, theory
from rfcore.couplings import Product, directions
from rfcore.theory import norm_costs

PAIRED = np.kron(np.eye(2), [[1.0, -1.0], [-1.0, 1.0]])
N = 2000


def cost_exactly(t, d, sign, excess=False):
    half, argument = mpmath.mpf(d) / 2, sign * mpmath.mpf(t) ** 2 / 4
    return mpmath.hyp0f1(half, argument) - (1 + argument / half if excess else 0)


@pytest.mark.parametrize("excess", [False, True])
def test_costs_to_thirty_digits(excess):
    for d in (1, 2, 64):
        # 200 terms of a size, whose weights are powers d - 2.
        tolerance = rounding(100 + 2 * d)
        for t in (1e-3, 1.1, 250.0):
            pair = np.array([t * 0.6, t * 0.8])
            positive = float(costs.log_positive_cost(pair, 1.0, d, excess))
            fourier = float(costs.fourier_cost(pair, 1.0, d, excess))
            with mpmath.workdps(30):
                log_truth, truth = mpmath.log(cost_exactly(t, d, 1, excess)), float(cost_exactly(t, d, -1, excess))
                # t itself is rounded, by 3 roundings, and the excess grows with its fourth power.
                assert abs(positive - float(log_truth)) < tolerance + rounding(12, 1.0, t)
            assert abs(fourier - truth) < (tolerance + rounding(12)) * truth if excess else tolerance + rounding(12, t)


def test_the_cost_of_positive_features_is_the_conformity_of_orthogonal_frequencies():
    lengths = np.array([1.0, 2.0, 0.5])
    functions = (lambda w: costs.log_positive_cost(w, 1.3, 3), lambda w: conformities.log_conformity_of(jnp.diag(w), 1.3))
    (cost, slope), (of_series, slope_of_series) = jax.jit(lambda w: [jax.value_and_grad(f)(w) for f in functions])(lengths)
    assert np.isclose(cost, of_series, rtol=0, atol=rounding(200))
    assert np.allclose(slope, slope_of_series, rtol=0, atol=rounding(200))


@pytest.mark.parametrize("features", ("positive", "fourier"))
def test_two_laws_have_closed_forms(features):
    """Independent norms are those of the paper on simplices; one norm for all has the error of independent frequencies."""
    independent = {"positive": ratio_of.positive, "fourier": ratio_of.fourier}[features]
    for d, m in ((2, 5), (7, 16)):
        for distance in (0.1, 4.0):
            # Two excesses, the largest of which are t^2, of relative error 2 d + 100 roundings.
            tolerance = rounding(2 * m * (100 + 2 * d), max(1.0, distance**2))
            ratio = ratio_of.norms(distance, d, m, "independent", features)
            assert abs(ratio - float(independent(distance, d, m, "orthogonal"))) < tolerance
            assert abs(ratio_of.norms(distance, d, m, "positive_monotone", features) - 1) < tolerance


def test_small_distances_have_the_mean_of_the_square():
    """In the plane squared norms are -2 log u: E log(u) log(1 - u) = 2 - pi^2 / 6, and the halves of (0, 1) have 2 -+ 2 log 2."""
    products = {"pnc": 4 * (2 - np.pi**2 / 6), "stratified": 4 - 4 * np.log(2) ** 2, "independent": 4.0, "positive_monotone": 8.0}
    z = 1e-3
    error = (1 - np.exp(-(z**2))) ** 2 / 2
    for law, product in products.items():
        excess = z**4 / (8 * 2 * 4) * (2 * 8 + 2 * product)
        ratio = ratio_of.norms(z, 2, 2, law, "fourier")
        assert abs(ratio - 1 - (excess - z**4 / 2) / error) < 2 * z**2  # the next order
        assert np.isclose(ratio_of.norms(z, 2, 2, law, "fourier"), 1 + (product - 8) / 16, rtol=0, atol=2 * z**2)


def test_the_floor_is_the_cost_of_norms_whose_squares_have_a_constant_sum():
    """Their mean product is d^2 - 2 d / (b - 1) in a block of b; no law is below, and strata come close."""
    z = 1e-3
    for d, m in ((4, 4), (3, 7), (2, 2)):
        floor = costs.fourier_floor(d, m)
        blocks = [d] * (m // d) + [m % d]
        products = sum(b * (b - 1) * (d**2 - 2 * d / (b - 1) - d * (d + 2)) for b in blocks if b > 1)
        assert np.isclose(floor, 1 + products / (2 * m * d * (d + 2)), rtol=0, atol=rounding(20))
        for law in ("independent", "pnc", "positive_monotone", "stratified"):
            assert ratio_of.norms(z, d, m, law, "fourier") > floor
    stratified, independent = (ratio_of.norms(z, 16, 16, law, "fourier") for law in ("stratified", "independent"))
    assert independent - stratified > 0.9 * (independent - costs.fourier_floor(16, 16))
    assert costs.fourier_floor(1, 3) == 1.0


@pytest.mark.parametrize("features", ("positive", "fourier"))
def test_pairs_of_opposites_are_pairwise_norm_coupling_whatever_the_blocks(features):
    for m in (2, 7):
        pnc, of_matrix = (ratio_of.norms(1.0, 4, m, law, features) for law in ("pnc", PAIRED))
        assert abs(pnc - of_matrix) < rounding(2000)  # a series of degree 40
    identity, ones = (ratio_of.norms(1.0, 4, 4, law, features) for law in (np.eye(4), np.ones((4, 4))))
    assert abs(identity - ratio_of.norms(1.0, 4, 4, "independent", features)) < rounding(2000)
    assert abs(ones - 1) < rounding(2000)


@pytest.mark.parametrize("features", ("positive", "fourier"))
def test_a_block_that_is_cut_has_the_first_rows_of_a_correlation(features):
    """A pair of opposites in front, two that are independent behind: m = 6 of d = 4 are two such pairs and five that are not."""
    d, distance = 4, 1.0
    correlation = np.eye(d)
    correlation[0, 1] = correlation[1, 0] = -1
    excess = np.exp(norm_costs.log_pair_excess(np.array([-1.0, 0.0]), distance, d, features))
    log_iid, log_error = norm_costs.log_iid_and_error(distance, features)
    pairs = theory.partners(6, d) * (excess @ [2 / 7, 5 / 7] - np.exp(log_iid))
    for law in (correlation, copulas.gaussian(correlation)):
        ratio = ratio_of.norms(distance, d, 6, law, features)
        assert abs(ratio - 1 - pairs / np.exp(log_error)) < rounding(2000)  # a series of degree 40


@pytest.mark.parametrize("features", ("positive", "fourier"))
def test_pnc_costs_less_than_independence_and_that_less_than_one_norm(features):
    """Theorem 3.2, Corollary 3.4 and B.3: for positive features at every distance; for Fourier features where it is small."""
    for d, m in ((3, 7), (8, 8)):
        for distance in (0.05, 0.7, *((4.0,) if features == "positive" else ())):
            laws = ("pnc", "independent", "positive_monotone")
            ratios = [ratio_of.norms(distance, d, m, law, features) for law in laws]
            assert ratios[0] < ratios[1] < ratios[2]
    excess = norm_costs.log_pair_excess(np.linspace(-1, 1, 9), 1.0, 3, features)
    assert np.all(np.diff(excess) > 0)


def test_draws_have_the_costs_of_the_quadrature():
    d, v = 4, 1.0
    correlation = np.full((d, d), -0.3) + 1.3 * np.eye(d)
    laws = [*(copula for copula in set(copulas.COPULAS.values()) if copula.pairs), copulas.gaussian(correlation)]
    draw = jax.jit(lambda keys: [jax.vmap(partial(Product(directions.orthogonal, law).lengths, m=d, d=d))(keys) for law in laws])
    drawn = draw(jax.random.split(jax.random.key(0), N))
    for law, lengths in zip(laws, drawn, strict=True):
        for features, of_draws in (
            ("positive", np.exp(costs.log_positive_cost(lengths, v, d, True))),
            ("fourier", costs.fourier_cost(lengths, v, d, True)),
        ):
            logs, shares = norm_costs._pairs(law, v, d, d, features)
            assert abs(np.mean(of_draws) - shares @ np.exp(logs)) < 5.5 * np.std(of_draws) / np.sqrt(
                N
            )  # 10 means: 4e-7


def test_opposite_pairs_are_c_monotone():
    """Eq. 24 for positive features; for Fourier features up to the radius where the cost stops being convex, and not beyond."""
    d = 3
    x = norm_costs.norms_at(np.linspace(-3, 3, 9), d)

    def gains(cost, partners, distance):
        return np.asarray(multi_marginal.swap_gain(cost(np.stack(np.meshgrid(x, partners, indexing="ij"), axis=-1), distance, d)))

    def positive(*arguments):
        return jnp.exp(costs.log_positive_cost(*arguments))

    assert gains(positive, x[::-1], 2.0).max() == 0
    assert np.all(gains(positive, x, 2.0)[np.triu_indices(9, 1)] > 0)
    near = close_points.convex_radius(d) / np.hypot(x[-1], x[-1])
    assert gains(costs.fourier_cost, x[::-1], near).max() < rounding(400)  # nodes of sums that nearly cancel
    assert gains(costs.fourier_cost, x[::-1], 3 * near).max() > 0.01


def test_the_cost_is_convex_up_to_the_zero_of_a_bessel_function():
    for d in (1, 2, 9, 64):
        radius = close_points.convex_radius(d)
        with mpmath.workdps(30):
            assert abs(mpmath.besselj(mpmath.mpf(d) / 2 + 1, radius)) < rounding(20, radius)
            assert all(mpmath.besselj(mpmath.mpf(d) / 2 + 1, radius * share) > 0 for share in np.linspace(0.02, 0.98, 40))


def test_the_distance_of_lemma_a6_solves_its_inequality_and_is_safe():
    for d in (2, 5):
        for law in ("independent", "positive_monotone"):
            z = close_points.guarantee(d, law)
            x, log_density = norm_costs.scores(0)
            opposite = np.exp(log_density) @ (norm_costs.norms_at(x, d) ** 2 * norm_costs.norms_at(-x, d) ** 2)
            c = 2 * ((d**2 if law == "independent" else d * (d + 2)) - opposite)
            g = np.expm1(z**2) - z**2 - z**4 / 2
            assert np.isclose(z**4 * c / (8 * d * (d + 2)), 2 * g, rtol=1e-10)
            apart = [ratio_of.norms(z, d, d, name, "fourier") for name in ("pnc", law)]
            assert apart[0] < apart[1]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: costs.log_positive_cost(np.array([1.0]), 1.0, 2), r"norms has shape \(1,\); give at least two"),
        (lambda: costs.fourier_cost(np.array([1.0, -1.0]), 1.0, 2), "norms has the value -1.0"),
        (lambda: costs.fourier_cost(np.array([1.0, 400.0]), 1.0, 2), "norms has values for which z sqrt"),
        (lambda: ratio_of.norms(6.0, 4, 4, "pnc", "fourier"), "distance = 6.0; give one of at most 5"),
        (lambda: ratio_of.norms(1.0, 4, 4, np.eye(3), "fourier"), r"a correlation of shape \(3, 3\)"),
        (lambda: norm_costs.log_pair_excess(1.5, 1.0, 4, "fourier"), r"correlation has values in \[1.5"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
