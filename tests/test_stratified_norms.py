"""Norms in strata over all blocks: what is drawn, and their errors against another quadrature, a series, and draws."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import ratio_of
from scipy import special, stats

from rfcore import theory
from rfcore.couplings import compose
from rfcore.theory import stratified_norms

SHELLS = compose("orthogonal", "stratified", across="blocks")


def strata(lengths, d, n):
    return np.sort(np.floor(n * stats.chi(d).cdf(np.asarray(lengths, dtype=float))))


def test_one_norm_in_each_stratum_of_all_frequencies():
    assert strata(compose("orthogonal", "stratified", across="all").lengths(jax.random.key(0), 10, 4), 4, 10).tolist() == list(range(10))


def test_one_norm_for_each_block_and_one_block_in_each_stratum():
    drawn = np.asarray(SHELLS.lengths(jax.random.key(1), 22, 4))
    first = drawn[::4]
    assert np.all(drawn == np.repeat(first, 4)[:22])
    assert strata(first, 4, 6).tolist() == list(range(6))


@pytest.mark.parametrize("features", ["fourier", "positive", "cosh"])
@pytest.mark.parametrize("d", [2, 7])
def test_one_block_agrees_with_the_quadrature_over_pairs_of_strata(d, features):
    for distance in (0.3, 2.0):
        expected = ratio_of.norms(
            distance, d, d, "stratified", "fourier" if features == "fourier" else "positive"
        )
        if features == "cosh":
            expected = stratified_norms.cosh_ratio(expected, distance)
        ratio = ratio_of.strata(distance, d, d, features, "all")
        assert abs(ratio - expected) < 1e-9
        # One norm for the only block: positive monotone, the error of independent frequencies.
        assert abs(ratio_of.strata(distance, d, d, features, "blocks") - 1) < 1e-9


@pytest.mark.parametrize("features", ["fourier", "positive"])
def test_strata_of_a_block_are_as_many_as_its_dimensions_however_few_are_drawn(features):
    """A pair costs the same whatever the number drawn."""
    of_pair = (ratio_of.norms(1.0, 4, 2, "stratified", features) - 1) / theory.partners(2, 4)
    for m in (3, 7, 8):
        found = ratio_of.norms(1.0, 4, m, "stratified", features)
        assert abs(found - 1 - theory.partners(m, 4) * of_pair) < 1e-9


@pytest.mark.parametrize("features", ["fourier", "cosh"])
def test_many_shells_leave_what_hermite_polynomials_say(features):
    """He_2k of one coordinate has the share (1/2)_k / (d/2)_k of its variance in functions of the norm."""
    d, k = 6, np.arange(1, 30)
    for distance in (0.5, 1.5):
        weights = np.exp(4 * k * np.log(distance) - special.gammaln(2 * k + 1))
        limit = weights @ (1 - d * special.poch(0.5, k) / special.poch(d / 2, k)) / weights.sum()
        ratios = [
            ratio_of.strata(distance, d, n * d, features, "blocks") for n in (16, 128, 1024)
        ]
        assert ratios[0] > ratios[1] > ratios[2] > limit
        assert ratios[2] - limit < min(0.02, (ratios[1] - limit) / 3)


def test_simplex_shells_of_close_points_have_an_error_of_second_order():
    """Equal norms in a simplex add up to nothing, so that no term of first order in v is left, not even at one block."""
    for m in (5, 40):
        close, closer = (
            ratio_of.strata(v, 5, m, "positive", "blocks", "simplex") for v in (0.02, 0.01)
        )
        assert closer < 1e-3
        assert abs(close / closer - 4) < 0.01


@pytest.mark.parametrize(
    ("coupling", "arguments"),
    [
        (compose("orthogonal", "stratified", across="all"), ("all",)),
        (SHELLS, ("blocks",)),
        (compose("simplex", "stratified", across="blocks"), ("blocks", "simplex")),
    ],
)
def test_errors_are_those_of_draws(coupling, arguments):
    d, m, distance, n = 3, 12, 0.8, 40_000
    draw = jax.jit(jax.vmap(partial(coupling, m=m, d=d)))
    p = distance * np.asarray(draw(jax.random.split(jax.random.key(5), n)), dtype=float)[:, :, 0]
    for features, estimates, truth in (
        ("fourier", np.cos(p), np.exp(-(distance**2) / 2)),
        ("positive", np.exp(p - distance**2 / 2), 1.0),
    ):
        errors = (estimates.mean(axis=1) - truth) ** 2
        expected = ratio_of.strata(distance, d, m, features, *arguments)
        ratios = errors * m / theory.one_frequency_mse(distance, features)
        assert abs(ratios.mean() - expected) < 4.5 * ratios.std() / np.sqrt(n)
        assert ratios.std() / np.sqrt(n) < 0.05 * expected


def test_one_frequency_has_the_errors_of_the_paper():
    x = jnp.array([0.35, 0.0])
    assert np.isclose(
        theory.one_frequency_mse(0.7, "positive"), theory.positive_mse(x, x, 1, "iid"), rtol=1e-5
    )
    assert np.isclose(
        theory.one_frequency_mse(0.7, "fourier"), theory.fourier_mse(x, -x, 1, "iid"), rtol=1e-5
    )
