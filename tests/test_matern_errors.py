"""Errors of Fourier features of Matérn kernels, against the Gaussian closed forms, draws, and more nodes."""

import math
from functools import partial

import jax
import numpy as np
import pytest
import ratio_of

from companion import evidence
from companion.evidence import Verdict
from companion.papers.couplings import matern_errors
from rfcore import couplings, kernels

LAWS = {
    "orthogonal": ("independent", "block", "orthogonal"),
    "simplex": ("independent", "block", "simplex"),
    "simplex, opposite norms": ("reversal", "block", "simplex"),
    "opposite norms": ("reversal", "block", "orthogonal"),
    "equal norms": ("comonotone", "block", "orthogonal"),
    "strata in blocks": ("stratified", "block", "orthogonal"),
    "strata over all, simplex": ("stratified", "all", "simplex"),
    "shells": ("stratified", "blocks", "orthogonal"),
    "shells, simplex": ("stratified", "blocks", "simplex"),
}


@pytest.mark.parametrize("d", [2, 3, 8, 64])
@pytest.mark.parametrize("z", [0.5, 2.0])
def test_the_gaussian_kernel_has_the_errors_of_its_closed_forms(d, z):
    """2^-24, the last cell's probability, bounds what Gauss's rule misses in it, with a variance of .02."""
    ours, m = partial(matern_errors.matern_mse_ratio, z, d, nu=math.inf), 4 * d
    with jax.enable_x64(True):
        for law in ("independent", "reversal", "comonotone"):
            assert abs(ours(m, law=law) - ratio_of.norms(z, d, m, law, "fourier")) < 1e-8
        for over in ("block", "all", "blocks"):
            expected = ratio_of.strata(z, d, m, "fourier", over)
            assert abs(ours(m, law="stratified", over=over) - expected) < 1e-8
        on_simplices = ratio_of.strata(z, d, m, "fourier", "blocks", "simplex")
        assert abs(ours(m, law="stratified", over="blocks", directions="simplex") - on_simplices) < 1e-8
        assert abs(ours(m, directions="simplex") - ratio_of.fourier(z, d, m, "simplex")) < 1e-8


@pytest.mark.parametrize("nu", [0.5, 1.5])
@pytest.mark.parametrize("name", LAWS)
def test_draws_err_as_much(name, nu):
    d, m, (law, over, on) = 3, 12, LAWS[name]
    draw = couplings.compose(on, law, over, couplings.norms.Student(nu))
    omega = np.asarray(jax.vmap(lambda key: draw(key, m, d))(jax.random.split(jax.random.key(0), 12_000)))
    for z in (0.3, 1.5):
        k, twice = (float(kernels.matern([[x, 0.0, 0.0]], np.zeros((1, 3)), nu)[0, 0]) for x in (z, 2 * z))
        squared = (np.cos(z * omega[..., 0]).mean(axis=1) - k) ** 2 * m / ((1 + twice) / 2 - k**2)
        ratio = matern_errors.matern_mse_ratio(z, d, m, nu, law, over, on)
        found = evidence.unbiased(squared, ratio, smallest_bias=0.2 * max(ratio, 1))
        assert found.verdict is Verdict.REPRODUCED, found.detail


@pytest.mark.parametrize(("d", "bound"), [(2, 3e-3), (3, 1e-3), (4, 1e-4)])
def test_quadrature_errs_less_than_it_says(monkeypatch, d, bound):
    """Twice the nodes resolve waves twice as short; of all kernels Laplace's has the heaviest tails."""
    laws = ("reversal", "block"), ("stratified", "blocks")
    cases = [(z, d, 4 * d, 0.5, *law) for z in (0.05, 1.0, 5.0) for law in laws]
    cases += [(1.0, d, 4 * d, 0.5, "stratified", "all")] if d == 4 else []  # means over pairs take their time
    plain = [matern_errors.matern_mse_ratio(*case) for case in cases]
    monkeypatch.setattr(matern_errors, "NODES", 2 * matern_errors.NODES)
    for name in ("_strata", "_independent"):  # without what they remember
        monkeypatch.setattr(matern_errors, name, getattr(matern_errors, name).__wrapped__)
    assert np.abs(np.subtract(plain, [matern_errors.matern_mse_ratio(*case) for case in cases])).max() < bound


def test_what_norms_carry():
    """In space coordinates of unit vectors are uniform: 2 - (2/3) / (1/2) for Laplace's kernel."""
    shares = [matern_errors.matern_norm_share(z, 3, 0.5) for z in (0.02, 0.01)]
    assert abs(2 * shares[1] - shares[0] - 2 / 3) < 1e-3  # errors of first order in z cancel
    assert abs(matern_errors.matern_norm_share(0.02, 128, 0.5) - (2 - math.sqrt(2))) < 0.01
    for d in (4, 64):
        assert abs(matern_errors.matern_norm_share(0.05, d, math.inf) * d - 1) < 0.01
    # It is what strata over ever more norms take off the error of frequencies that are independent otherwise.
    independent, strata = (
        matern_errors.matern_mse_ratio(1.0, 8, 4096, 1.5, *law) for law in ((), ("stratified", "all"))
    )
    assert abs(independent - strata - matern_errors.matern_norm_share(1.0, 8, 1.5)) < 0.01


def test_one_frequency_and_equal_norms():
    assert matern_errors.matern_mse_ratio(1.0, 3, 1, 0.5, "reversal") == 1
    k, of_sum, twice = (math.exp(-x) for x in (1.0, math.sqrt(2), 2.0))
    expected = 1 + 2 * (of_sum - k**2) / ((1 + twice) / 2 - k**2)
    assert abs(matern_errors.matern_mse_ratio(1.0, 3, 3, 0.5, "comonotone") - expected) < 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, 300, 300, 0.5), "d = 300; give a dimension of at most 256"),
        ((1.0, 3, 6, 0.4), "nu = 0.4; give one from 0.5 to 100, or infinity"),
        ((1.0, 3, 7, 0.5, "stratified"), "m = 7; give a multiple of d = 3"),
        ((1.0, 3, 6, 0.5, "reversal", "all"), "over = 'all' with law = 'reversal'; give 'block'"),
        ((1.0, 3, 6, 0.5, "systematic"), "'systematic' has no closed form"),
        ((1.0, 3, 6, 0.5, [2, 1, 0]), "give 'independent', 'reversal', 'comonotone' or 'stratified'"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        matern_errors.matern_mse_ratio(*arguments)
