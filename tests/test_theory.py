"""Closed forms against high-precision arithmetic, against each other, and against simulation."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import ratio_of
from hypothesis import given
from hypothesis import strategies as st
from jax.test_util import check_grads
from rounding import EPS, rounding
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammaln, hyp0f1

from companion.papers.simplex import (
    conformities,
    fast_bias,
    formulas,
    gram_matrices,
    pair_densities,
    sign_change,
)
from rfcore import couplings, features, kernels, theory

DIMENSIONS = [2, 3, 7, 64, 512]
# Compiled as a whole: their steps one by one take several times as long to compile.
conformity_of = jax.jit(conformities.log_conformity_of)
conformity_of_directions = jax.jit(conformities.log_conformity_of_directions)
conformity_at_angle = jax.jit(conformities.log_conformity_at_angle, static_argnums=1)
fourier_mse_ratio = jax.jit(ratio_of.fourier, static_argnums=(1, 2, 3))
LOG = rounding(5, 1e4)  # 1e-11: exponents are sums of about five logarithms of gamma functions, each up to 1e4


def mean_over_angle(f, d):
    """E_u[f(sin u)], u of density proportional to sin(u)^(d - 1) on [0, pi], in mpmath's precision."""
    half = mpmath.mpf(d) / 2
    norm = 2 * mpmath.gamma(half + mpmath.mpf(1) / 2) / mpmath.sqrt(mpmath.pi) / mpmath.gamma(half)
    pieces = [0, mpmath.pi / 4, mpmath.pi / 2]  # of an analytic function: Gauss needs half the nodes of tanh-sinh
    return norm * mpmath.quad(lambda u: mpmath.sin(u) ** (d - 1) * f(mpmath.sin(u)), pieces, method="gauss-legendre")


def conformity_exactly(v, d, cosine):
    square, half = mpmath.mpf(v) ** 2, mpmath.mpf(d) / 2
    if cosine == 0:
        return mpmath.hyp1f1(d, half, square / 2)
    return mean_over_angle(lambda s: mpmath.hyp1f1(d, half, square / 2 * (1 + cosine * s)), d)


def cosine_of(coupling, d):
    return mpmath.mpf(-1) / (d - 1) if coupling == "simplex" else 0


@pytest.mark.parametrize("coupling", ["orthogonal", "simplex"])
@pytest.mark.parametrize("d", DIMENSIONS)
def test_conformity_and_its_gap_to_thirty_digits(d, coupling):
    v = np.array([1e-3, 0.5, 3, 10, 25])
    ours, ratios = theory.log_conformity(v, d, coupling), ratio_of.positive(v, d, d, coupling)
    for i in range(len(v)):
        with mpmath.workdps(30):
            truth, square = conformity_exactly(v[i], d, cosine_of(coupling, d)), mpmath.mpf(v[i]) ** 2
            assert abs(float(ours[i]) - float(mpmath.log(truth))) < LOG
            gap = mpmath.exp(square) - truth
            saving = float((d - 1) * gap * mpmath.exp(-2 * square) / (1 - mpmath.exp(-square)))
        # The saving is an exponential of such a sum, and is taken off one.
        assert 1 - float(ratios[i]) == pytest.approx(saving, rel=LOG, abs=rounding(4))


@pytest.mark.parametrize(("v", "d", "cosine"), [(0.1, 2, -1.0), (5.0, 3, 0.4), (20.0, 7, 1.0), (15.0, 64, -0.5)])
def test_conformity_at_an_angle_to_thirty_digits(v, d, cosine):
    with mpmath.workdps(30):
        truth = float(mpmath.log(conformity_exactly(v, d, mpmath.mpf(cosine))))
    assert float(conformity_at_angle(v, d, cosine)) == pytest.approx(truth, rel=0, abs=LOG)


def test_the_couplings_are_special_angles_and_conformity_grows_with_the_cosine():
    v = np.array([0.0, 1.0, 20.0])
    for d in (3, 512):
        at_angle = conformity_at_angle(v[:, None], d, np.array([0.0, -1 / (d - 1)]))
        assert np.allclose(at_angle[:, 0], theory.log_conformity(v, d, "orthogonal"), rtol=0, atol=LOG)
        assert np.allclose(at_angle[:, 1], theory.log_conformity(v, d, "simplex"), rtol=0, atol=LOG)
    slope = jax.jit(jax.vmap(jax.grad(lambda c: conformities.log_conformity_at_angle(2.0, 5, c))))(np.linspace(-1, 1, 9))
    assert np.all(slope > 0)


def test_conformity_of_given_frequencies_is_the_mean_over_their_pairs():
    omega = np.random.default_rng(0).normal(size=(3, 2))
    lengths = [np.linalg.norm(omega[i] + omega[j]) for i in range(3) for j in range(3) if i != j]
    v = np.array([0.0, 0.3, 2.0])
    truth = [np.log(np.mean([hyp0f1(1.0, u**2 * w**2 / 4) for w in lengths])) for u in v]
    assert np.allclose(conformity_of(omega, v), truth, rtol=0, atol=rounding(200, truth, 1))
    with mpmath.workdps(30):  # where 0F1 itself overflows
        far = mpmath.log(sum(mpmath.hyp0f1(1, mpmath.mpf(30) ** 2 * (8 * w) ** 2 / 4) for w in lengths) / 6)
    assert float(conformities.log_conformity_of(8 * omega, 30.0)) == pytest.approx(float(far), rel=rounding(500))  # a series of some hundred terms
    check_grads(lambda o: conformity_of(o, 1.5), (omega,), order=1, modes=["rev"])


def test_conformity_of_directions_is_what_frequencies_of_random_norms_have_on_average():
    v, n = 0.8, 40_000
    u = np.random.default_rng(0).normal(size=(3, 4))
    unit = u / np.linalg.norm(u, axis=1, keepdims=True)
    norms = np.sqrt(np.random.default_rng(1).chisquare(4, size=(n, 3)))
    i, j = np.triu_indices(3, 1)
    lengths = np.linalg.norm(norms[:, i, None] * unit[i] + norms[:, j, None] * unit[j], axis=2)
    per_draw = hyp0f1(2.0, v**2 * lengths**2 / 4).mean(axis=1)
    z = (per_draw.mean() - np.exp(float(conformity_of_directions(u, v)))) / (per_draw.std() / np.sqrt(n))
    assert abs(z) < 4
    corners = couplings.directions.simplex_product(np.eye(5))
    ours = conformity_of_directions(3 * corners, 2.0)
    assert float(ours) == pytest.approx(float(theory.log_conformity(2.0, 5, "simplex")), rel=0, abs=rounding(2000))  # sums of some hundred terms, exponents up to 10


@pytest.mark.parametrize("jit", [False, True])
def test_the_precision_may_be_switched_between_two_uses(jit):
    x, y = [0.3, -0.1, 0.2], [0.2, 0.5, -0.3]
    for call in (
        lambda: theory.fourier_gap(x, y, 3, "simplex"),
        lambda: theory.positive_gap(x, y, 3, "simplex"),
        lambda: conformities.log_conformity_at_angle(1.0, 3, 0.2),
        lambda: pair_densities.log_pair_density(1.0, 3, "simplex"),
    ):
        call = jax.jit(call) if jit else call
        found = {}
        for x64 in (False, True, False):
            with jax.enable_x64(x64):
                found[x64] = call()
        assert (found[False].dtype, found[True].dtype) == (jnp.float32, jnp.float64)
        # Some hundred terms of one sign, each through a logarithm of at most 1000.
        assert float(found[False]) == pytest.approx(float(found[True]), rel=1000 * 2.0**-23)


def test_at_the_greatest_length_no_term_is_missing():
    """At v = 30 terms are those of a Poisson law of mean 900: of independent frequencies, of an angle of 0, and of a gap, which once was infinity times 0."""
    assert float(theory.log_conformity(30.0, 3, "iid")) == pytest.approx(900, abs=LOG)
    v = 30 / np.sqrt(2) * (1 - 1e-12)  # of an angle of 0, where v sqrt(1 + sin u) reaches 30
    with mpmath.workdps(30):
        truth = float(mpmath.log(conformity_exactly(v, 512, mpmath.mpf(1))))
    assert float(conformity_at_angle(v, 512, 1.0)) == pytest.approx(truth, rel=0, abs=LOG)
    # e^(-2 |x|^2 - 2 |y|^2) (e^900 - rho) / 2 at x = y, with rho below e^500.
    for coupling in ("orthogonal", "simplex"):
        assert float(theory.positive_gap([15.0, 0.0], [15.0, 0.0], 2, coupling)) == pytest.approx(0.5, rel=LOG)


def test_iid_conformity_is_exp_v_squared():
    v = jnp.linspace(0, 25, 11)
    assert jnp.allclose(theory.log_conformity(v, 5, "iid"), v**2, rtol=rounding(20), atol=0)


def test_printed_alternating_series_agrees_where_it_is_stable_and_is_noise_where_it_is_not():
    for v, d in [(0.0, 5), (1.0, 4), (2.0, 8), (1.5, 16)]:
        log_printed, truth = np.log(formulas.simplex_conformity(v, d)), float(theory.log_conformity(v, d, "simplex"))
        # Some six log-Gammas of up to 1e3 a term; without their signs the terms add up to the conformity at the opposite angle.
        sizes = float(jnp.exp(conformities.log_conformity_at_angle(v, d, 1 / (d - 1)) - truth))
        assert log_printed == pytest.approx(truth, rel=0, abs=rounding(6, 1e3) * sizes)
    ratio = formulas.simplex_conformity(10.0, 2, 400) / float(jnp.exp(theory.log_conformity(10.0, 2, "simplex")))
    assert not 0.5 < ratio < 2


@pytest.mark.parametrize("coupling", ["iid", "orthogonal", "simplex"])
def test_conformity_is_the_mean_over_pairs_of_a_block(coupling):
    d, v, n = 6, 1.0817, 7_000
    omega = jax.jit(jax.vmap(lambda key: getattr(couplings, coupling)(key, d, d)))(jax.random.split(jax.random.key(5), n))
    i, j = np.triu_indices(d, 1)
    # The rotation is integrated out: 0F1 depends on the length of the sum alone, and its tails are lighter.
    lengths = np.linalg.norm(np.asarray(omega)[:, i] + np.asarray(omega)[:, j], axis=2)
    per_draw = hyp0f1(d / 2, v**2 * lengths**2 / 4).mean(axis=1)
    z = (per_draw.mean() - float(jnp.exp(theory.log_conformity(v, d, coupling)))) / (per_draw.std() / np.sqrt(n))
    assert abs(z) < 4


@pytest.mark.parametrize("coupling", ["iid", "orthogonal", "simplex"])
def test_mse_of_features_for_a_whole_and_a_cut_block(coupling):
    # The errors of positive features have tails too heavy to average for points that are not close to zero.
    points = {"positive": jnp.array([[0.1, -0.2, 0.05, 0.1], [0.15, 0.1, -0.1, 0.2]])}
    points["fourier"] = 5 * points["positive"]
    m, n = 6, 50_000

    def errors(key):
        omega = getattr(couplings, coupling)(key, m, 4)
        for name, (x, y) in points.items():
            feature = getattr(features, name)
            yield jnp.sum(feature(x[None], omega) * feature(y[None], omega)) - kernels.gaussian(x[None], y[None])[0, 0]

    squares = jax.jit(jax.vmap(lambda key: jnp.stack(list(errors(key))) ** 2))(jax.random.split(jax.random.key(11), n))
    for (name, (x, y)), square in zip(points.items(), np.asarray(squares).T, strict=True):
        truth = float(getattr(theory, f"{name}_mse")(x, y, m, coupling))
        assert abs(square.mean() - truth) < 4 * square.std() / np.sqrt(n)


@pytest.mark.parametrize("coupling", ("iid", "orthogonal", "simplex"))
def test_mse_of_a_gram_matrix_is_the_sum_over_its_entries(coupling):
    x, m = np.random.default_rng(12).normal(size=(4, 5)), 7
    of_pairs = jax.jit(jax.vmap(jax.vmap(lambda a, b: theory.positive_mse(a, b, m, coupling), (None, 0)), (0, None)))
    # Linear interpolation at steps of 0.005: 0.005^2 / 8 times a curvature of order one.
    several = gram_matrices.squared_errors(x, (2, m), ("iid", coupling))
    assert several.shape == (2, 2)
    assert several[1, 1] == pytest.approx(float(of_pairs(x, x).sum()), rel=1e-5)
    assert several[0, 0] == gram_matrices.squared_errors(x, [2], ["iid"])[0, 0]


@given(v=st.floats(1e-3, 25), d=st.integers(2, 64))
def test_simplex_beats_orthogonal_beats_iid(v, d):
    simplex, orthogonal = (float(ratio_of.positive(v, d, d, c)) for c in ("simplex", "orthogonal"))
    assert 0 < simplex <= orthogonal <= 1
    if v < 5:  # beyond, the three agree to more digits than float64 has
        assert simplex < orthogonal < 1


def test_small_v_limit_has_the_printed_closed_form():
    d = 64
    printed = 1 - np.sqrt(np.pi) * np.exp(
        gammaln(d + 1) + gammaln(d / 2 + 0.5) - gammaln(d / 2) - 2 * gammaln(d / 2 + 1) - d * np.log(2)
    )
    assert float(ratio_of.positive(0.0, d, d, "simplex")) == pytest.approx(printed, rel=1e-9, abs=rounding(20))  # taken off one


def test_one_frequency_has_no_partner():
    v = jnp.array([0.0, 0.1, 2.0])
    for coupling in ("iid", "orthogonal", "simplex"):
        assert jnp.allclose(ratio_of.positive(v, 5, 1, coupling), 1.0, rtol=0, atol=rounding(20))
    assert theory.partners(4, 4) == 3
    assert theory.partners(8, 4) == 3
    assert theory.partners(6, 4) == (12 + 2) / 6


@pytest.mark.parametrize("m", [3, 8])
def test_gap_of_positive_features_is_the_difference_of_errors_and_its_printed_form_has_the_wrong_sign(m):
    x, y = jnp.array([0.3, -0.1, 0.2, 0.4]), jnp.array([0.2, 0.5, -0.3, 0.1])
    for coupling in ("iid", "orthogonal", "simplex"):
        gap = theory.positive_gap(x, y, m, coupling)
        assert gap == pytest.approx(
            float(theory.positive_mse(x, y, m, "iid") - theory.positive_mse(x, y, m, coupling)), rel=0, abs=rounding(50)
        )
    assert theory.positive_gap(1e-4 * x, 1e-4 * y, m) > 0
    assert formulas.positive_gap(x, y, 3) < 0 < theory.positive_gap(x, y, 3)


def test_printed_gap_is_the_printed_sum():
    x, y, d, k = np.array([0.3, -0.1, 0.2]), np.array([0.2, 0.5, -0.3]), 3, np.arange(60)
    square = np.sum((x + y) ** 2)
    terms = np.exp(k * np.log(square) - gammaln(k + 1) + gammaln(k + d) - gammaln(k + d / 2) + gammaln(d / 2) - gammaln(d))
    printed = 2 / 3 * np.exp(-2 * np.sum(x**2) - 2 * np.sum(y**2)) * (np.exp(square) - terms.sum())
    # The sum of 60 terms nearly cancels an exponential: relative to that.
    assert float(formulas.positive_gap(x, y, 3)) == pytest.approx(printed, rel=0, abs=rounding(100, np.exp(square)))


def test_printed_series_and_prefactor_are_those_of_mpmath():
    for v, d in [(0.0, 2), (0.5, 3), (3.0, 6), (15.0, 2), (10.0, 64)]:
        truth = float(mpmath.log(mpmath.hyp1f1(d, mpmath.mpf(d) / 2, mpmath.mpf(v) ** 2 / 2)))
        # Logarithms of Gamma up to 1e4, each rounded: 1e4 eps, a few times.
        assert np.log(formulas.orthogonal_conformity(v, d)) == pytest.approx(truth, abs=2e-11)
    for z, d, m in [(0.0, 3, 2), (0.7, 3, 2), (3.0, 6, 6), (2.0, 64, 10)]:
        with mpmath.workdps(30):
            rho = mpmath.hyp1f1(d, mpmath.mpf(d) / 2, -(mpmath.mpf(z) ** 2) / 2)
            truth = float(mpmath.mpf(m - 1) / m * (mpmath.exp(-(mpmath.mpf(z) ** 2)) - rho))
        # Terms that add up to e^(z^2) = 8100 without their signs, times 200 eps from log-Gammas of that size.
        assert formulas.fourier_gap(*along_first_axis(z, d), m) == pytest.approx(truth, rel=0, abs=rounding(200, 8100))
    for d in (2, 7, 64):
        with mpmath.workdps(30):
            half, gamma = mpmath.mpf(d) / 2, mpmath.gamma
            ratio = gamma(d + 1) * gamma(half + 0.5) / (gamma(half) * gamma(half + 1) ** 2 * mpmath.mpf(2) ** d)
            truth = float(1 - mpmath.sqrt(mpmath.pi) * ratio)
        # Six log-Gammas of up to gammaln(65) = 205, exponentiated and taken off one.
        assert formulas.error_prefactor(d) == pytest.approx(truth, rel=0, abs=rounding(10, 205))


def test_printed_density_of_independent_pairs_is_the_chi_law():
    w = np.array([0.05, 1.0, 4.0, 12.0])
    for d in DIMENSIONS:
        # Log-Gammas and w^(d-1) of size 1e3 in the logarithm.
        assert np.allclose(formulas.pair_density(w, d), stats.chi(d, scale=np.sqrt(2)).pdf(w), rtol=1e-11, atol=0)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: formulas.orthogonal_conformity(16.0, 3), "v = 16"),
        (lambda: formulas.orthogonal_conformity(-1.0, 3), "v"),
        (lambda: formulas.pair_density([0.0, 1.0], 3), "w has the value 0"),
        (lambda: formulas.error_prefactor(1), "d"),
        (lambda: formulas.fourier_gap(np.zeros(3), np.zeros(3), 4), "m = 4"),
        (lambda: formulas.fourier_gap(np.full(3, 9.0), np.zeros(3), 2), "overflows"),
    ],
)
def test_printed_formulas_refuse_what_they_cannot_compute(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def along_first_axis(z, d):
    return np.r_[z, np.zeros(d - 1)], np.zeros(d)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("coupling", ["orthogonal", "simplex"])
def test_gap_of_fourier_features_in_high_precision(d, coupling):
    for z in [1e-3, 1.0, 2.8, 2.9] + [5.0, 25.0] * (coupling == "orthogonal"):
        with mpmath.workdps(30 + int(z * z / 2)):
            minus_half, half, c = -mpmath.mpf(z) ** 2 / 2, mpmath.mpf(d) / 2, cosine_of(coupling, d)

            def rho(cosine, minus_half=minus_half, half=half):
                if cosine == 0:
                    return mpmath.hyp1f1(d, half, minus_half, zeroprec=1000)
                return mean_over_angle(
                    lambda s: mpmath.hyp1f1(d, half, minus_half * (1 + cosine * s), zeroprec=1000), d
                )

            truth = float(mpmath.exp(2 * minus_half) - (rho(c) if c == 0 else (rho(c) + rho(-c)) / 2))
        gap = float(theory.fourier_gap(*along_first_axis(z, d), d, coupling)) * d / (d - 1)
        # Probabilities are exponentials of such sums; beyond z = 2 they weigh numbers up to one of either sign, some ten that count.
        assert gap == pytest.approx(truth, rel=LOG, abs=rounding(18) if z > 2 else 0)


def test_fourier_errors_from_zero_to_the_far_end():
    z = np.linspace(0, 25, 26)
    for d in (2, 7, 512):
        for coupling in ("orthogonal", "simplex"):
            ratio = fourier_mse_ratio(z, d, d, coupling)
            assert np.all(np.isfinite(ratio)) and np.all(ratio > 0)
            assert float(ratio[-1]) == pytest.approx(1 if (d, coupling) != (2, "simplex") else 1.036, abs=1e-3)
            if coupling == "orthogonal":
                assert float(ratio[0]) == pytest.approx(3 / (d + 2), rel=1e-9, abs=rounding(20))  # taken off one


def test_orthogonality_gap_of_fourier_features_changes_sign_where_it_was_measured_to():
    for d, crossing in [(3, 3.31), (4, 3.08), (6, 2.95), (8, 2.96), (8, 5.28), (16, 3.26)]:
        before, after = (theory.fourier_gap(*along_first_axis(crossing + e, d), d) for e in (-0.01, 0.01))
        assert before * after < 0


def test_threshold_is_the_first_sign_change_of_the_gap_in_high_precision():
    for d in (3, 6, 64, 256):
        crossing = sign_change.fourier_threshold(d)
        with mpmath.workdps(60 + int(crossing**2)):

            def gap(z, d=d):
                minus_half = -mpmath.mpf(z) ** 2 / 2
                return mpmath.exp(2 * minus_half) - mpmath.hyp1f1(d, mpmath.mpf(d) / 2, minus_half)

            step = 1e-12 + rounding(2, crossing)  # bisected down to 1e-12, both ends rounded once
            assert gap(crossing - step) > 0 > gap(crossing + step)
            assert all(gap(z) > 0 for z in np.linspace(1, crossing - 0.01, 40))


def test_simplex_hurts_fourier_features_in_the_plane_and_orthogonal_helps():
    z = np.linspace(0.1, 3, 8)
    assert np.all(fourier_mse_ratio(z, 2, 2, "simplex") > 1)
    assert np.all(fourier_mse_ratio(z, 2, 2, "orthogonal") < 1)


def test_asymptotic_ratio_is_right_to_first_order():
    z = np.linspace(0, 2, 5)
    off = [d**2 * (ratio_of.fourier(z, d, 2, "orthogonal") - formulas.fourier_mse_ratio_asymptotic(z, d, 2)) for d in (256, 512)]
    assert np.allclose(off[0], off[1], rtol=0.1, atol=0.05)
    assert np.abs(off[0]).max() < 20


@pytest.mark.parametrize("d", [2, 6, 64])
@pytest.mark.parametrize("coupling", ("iid", "orthogonal", "simplex"))
def test_density_has_mass_one_and_gives_the_conformity(d, coupling):
    with jax.enable_x64(True):  # an adaptive rule takes rounding for shape

        def moment(f):
            return quad(lambda w: np.exp(float(density(w))) * f(w), 0.01 * np.sqrt(d), 6 + 2 * np.sqrt(d), limit=200)[0]

        density = jax.jit(lambda w: pair_densities.log_pair_density(w, d, coupling))
        start = np.exp(float(density(0.01 * np.sqrt(d)))) * 0.01 * np.sqrt(d)  # what is cut off: the density is flat for d = 2
        assert moment(lambda w: 1.0) == pytest.approx(1 - start * (d == 2), abs=2e-4)
        rho = float(jnp.exp(theory.log_conformity(1.0, d, coupling)))
        assert moment(lambda w: hyp0f1(d / 2, w**2 / 4)) + start * (d == 2) == pytest.approx(rho, rel=2e-4)


def test_densities_are_those_of_chi_laws_and_of_equation_20():
    w = np.array([0.05, 1.0, 4.0, 20.0])
    for d in DIMENSIONS:
        assert np.allclose(pair_densities.log_pair_density(w, d, "orthogonal"), stats.chi(2 * d).logpdf(w), rtol=0, atol=LOG)
        assert np.allclose(pair_densities.log_pair_density_at_angle(w, d, 0.0), stats.chi(2 * d).logpdf(w), rtol=0, atol=LOG)
        assert np.allclose(pair_densities.log_pair_density(w, d, "iid"), stats.chi(d, scale=np.sqrt(2)).logpdf(w), rtol=0, atol=LOG)
    for w, d, cosine in [(0.3, 3, -0.5), (4.0, 7, 0.9), (9.0, 64, -1 / 63)]:
        with mpmath.workdps(20):
            front = mpmath.mpf(w) ** (2 * d - 1) / mpmath.mpf(2) ** (d - 2) / mpmath.gamma(mpmath.mpf(d) / 2) ** 2

            def printed(phi, w=w, d=d, cosine=cosine):
                stretch = 1 + mpmath.sin(2 * phi) * cosine
                power = (mpmath.sin(phi) * mpmath.cos(phi)) ** (d - 1)
                return power * mpmath.exp(-mpmath.mpf(w) ** 2 / 2 / stretch) / stretch**d

            truth = float(mpmath.log(front * mpmath.quad(printed, mpmath.linspace(0, mpmath.pi / 2, 33))))
        assert float(pair_densities.log_pair_density_at_angle(w, d, cosine)) == pytest.approx(truth, rel=0, abs=LOG)


def test_printed_first_line_of_equation_56_is_the_printed_integral_and_right_only_at_right_angles():
    w, d = np.array([0.5, 2.0, 3.5]), 4
    right = np.exp(pair_densities.log_pair_density_at_angle(w, d, 0.0))
    assert np.allclose(formulas.pair_density_at_angle(w, d, 0.0), right, rtol=rounding(1000), atol=0)  # exponents up to 30, 64 nodes
    for cosine in (-1 / 3, 0.4):

        def printed(phi, length, s_of=lambda phi, c=cosine: 1 + np.sin(2 * phi) * c):
            s = s_of(phi)
            chi = stats.chi(d).pdf
            return length / np.sqrt(s) * chi(length * np.cos(phi) / np.sqrt(s)) * chi(length * np.sin(phi) / s)

        truth = [quad(printed, 0, np.pi / 2, args=(length,))[0] for length in w]
        assert np.allclose(formulas.pair_density_at_angle(w, d, cosine), truth, rtol=1e-9)
        assert not np.allclose(truth, np.exp(pair_densities.log_pair_density_at_angle(w, d, cosine)), rtol=0.02)


def test_printed_equation_77_is_the_printed_ratio():
    d, m, z = 5, 3, 1.3
    rho = float(mpmath.hyp1f1(d, d / 2, -(z**2) / 2))
    printed = 1 + 2 * (m - 1) / (1 + np.exp(-(z**2))) ** 2 * (rho - np.exp(-(z**2)))
    assert float(formulas.fourier_mse_ratio(z, d, m)) == pytest.approx(printed, rel=rounding(2000))
    assert float(formulas.fourier_mse_ratio(0.0, d, m)) == 1  # where the true ratio is 1 - (m - 1) / (d + 2)


def test_bias_of_fast_couplings_by_enumeration():
    for v, orthogonal, simplex in [
        ((1, 1, 1, 1), 1.2267, 0.9830),
        ((1, 0, 0, 0), 0.9903, 1.0047),
        ((0.6, 0.6, 0.5, 0.1), 1.0046, 0.9987),
    ]:
        assert fast_bias.fast_bias(v, "orthogonal_fast") == pytest.approx(orthogonal, abs=5e-5)
        assert fast_bias.fast_bias(v, "simplex_fast") == pytest.approx(simplex, abs=5e-5)
    # A vector and a random sign is uniform on the line; three coordinates are four, the last zero.
    assert fast_bias.fast_bias([1.3], "simplex_fast") == pytest.approx(1, rel=0, abs=rounding(1000))
    assert fast_bias.fast_bias([1, 2, 3], "simplex_fast") == fast_bias.fast_bias([1, 2, 3, 0], "simplex_fast")


def test_gradients_match_differences_and_exist_where_both_errors_vanish():
    x = np.array([0.3, -0.1, 0.2])
    for mse, opposite in ((theory.positive_mse, -x), (theory.fourier_mse, x)):
        for coupling in ("orthogonal", "simplex"):
            of_one = jax.jit(lambda a, f=mse, c=coupling: f(a, x, 3, c))
            check_grads(of_one, (2 * x,), order=1, modes=["rev"])
            assert np.allclose(jax.grad(of_one)(opposite), 0.0)
    for curve in (theory.log_conformity, pair_densities.log_pair_density):
        check_grads(jax.jit(lambda v, f=curve: f(v, 3, "simplex")), (1.3,), order=1, modes=["rev"])
    jitted = jax.jit(theory.log_conformity, static_argnums=(1, 2))
    assert jnp.allclose(jitted(2.0, 3, "simplex"), theory.log_conformity(2.0, 3, "simplex"))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: conformities.log_conformity_at_angle(1.0, 3, 1.5), "cosine has values"),
        (lambda: conformities.log_conformity_at_angle(29.0, 3, 1.0), "v sqrt.* has values"),
        (lambda: conformities.log_conformity_of(np.ones((1, 2)), 1.0), "omega has shape"),
        (lambda: conformities.log_conformity_of(100 * np.ones((2, 2)), 30.0), "keep it to 1200"),
        (lambda: conformities.log_conformity_of_directions(np.ones((1, 2)), 1.0), "directions has shape"),
        (lambda: conformities.log_conformity_of_directions(np.zeros((2, 2)), 1.0), "a row of length 0"),
        (lambda: pair_densities.log_pair_density(0.0, 3, "simplex"), "w has the value"),
        (lambda: sign_change.fourier_threshold(2), "d = 2; give a whole number of at least 3"),
        (lambda: sign_change.fourier_threshold(257), "d = 257; give a dimension from 3 to 256"),
        (lambda: formulas.pair_density_at_angle(0.0, 3, 0.1), "w has the value"),
        (lambda: formulas.pair_density_at_angle(1.0, 3, 1.1), "cosine = 1.1; give at most 1"),
        (lambda: formulas.pair_density_at_angle(1.0, 3, -1), "cosine = -1.0; give a number above"),
        (lambda: formulas.fourier_mse_ratio(-1.0, 3, 2), "z has values"),
        (lambda: pair_densities.log_pair_density(1.0, 1, "simplex"), "d = 1"),
        (lambda: theory.fourier_mse(np.ones(3), np.ones(2), 1, "iid"), "y has shape"),
        (lambda: theory.fourier_mse(np.ones(3), 40 * np.ones(3), 1, "iid"), "x - y. has values"),
        (lambda: ratio_of.fourier(1.0, 3, 0, "iid"), "m = 0"),
        (lambda: formulas.fourier_mse_ratio_asymptotic(1.0, 3, 4), "m = 4"),
        (lambda: formulas.positive_gap(np.ones(3), np.ones(3), 4), "m = 4"),
        (lambda: formulas.simplex_conformity(-1.0, 3), "v = -1"),
        (lambda: fast_bias.fast_bias(np.ones(5), "simplex_fast"), "v has shape"),
        (lambda: fast_bias.fast_bias(np.ones(2), "simplex"), "coupling = 'simplex'; choose"),
        (lambda: fast_bias.fast_bias(20 * np.ones(2), "simplex_fast"), "give at most 20"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


@pytest.mark.parametrize("m", [4, 6])
@pytest.mark.parametrize("coupling", ["orthogonal", "simplex"])
def test_second_derivatives_at_zero_are_those_of_the_series(coupling, m):
    """Of rho = 1 + a_1 v^2 + a_2 v^4 + ...: a double where once made them wrong.

    With the mean s of sin u, d / (d + 1) that of its square, and g_k = 1 / k! - a_k, so that 1 - p (g_1 v^2 + g_2 v^4) / (v^2 + 3 v^4 / 2)
    is the ratio of errors of a frequency with p partners. At d = m = 4: 2 and -1/2 for orthogonal ones, 1.411 and 0.900 for simplices.
    """
    d = 4
    s = np.exp(2 * gammaln((d + 1) / 2) - gammaln(d / 2) - gammaln(d / 2 + 1)) if coupling == "simplex" else 0.0
    square = d / (d + 1) if coupling == "simplex" else 0.0
    a_1, a_2 = 1 - s / (d - 1), (d + 1) / (2 * (d + 2)) * (1 - 2 * s / (d - 1) + square / (d - 1) ** 2)
    g_1, g_2 = 1 - a_1, 1 / 2 - a_2
    for q, limit in (
        (lambda v: theory.log_conformity(v, d, coupling), 2 * a_1),
        (lambda v: ratio_of.positive(v, d, m, coupling), 2 * theory.partners(m, d) * (3 / 2 * g_1 - g_2)),
    ):
        h = EPS ** (1 / 3)  # of central differences, which err by h^2 and by eps / h
        slopes, curves = (np.asarray(f) for f in jax.jit(jax.vmap(lambda v, q=q: (jax.grad(q)(v), jax.grad(jax.grad(q))(v))))(np.array([0, 0.7 - h, 0.7, 0.7 + h])))
        assert slopes[0] == 0 and curves[0] == pytest.approx(limit, rel=LOG)
        assert np.isclose(curves[2], (slopes[3] - slopes[1]) / (2 * h), rtol=100 * h**2)
