"""The profiled evidence of Gaussian processes, against the evidence itself."""

import jax
import numpy as np
import pytest

from companion.papers.couplings.traffic_gp import learn_on_grid, profile
from rfcore import gp


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(12, 7))  # of rank 7: a kernel of features
    return factor @ factor.T, rng.normal(size=(3, 12)), np.array([0.01, 0.3, 5.0])


def test_profile_is_the_evidence_at_its_variance(task):
    B, y, ratios = task
    log_evidence, variance = profile(B, y, ratios)
    direct = [
        [
            float(gp.log_evidence(kappa * B, each, kappa * r))
            for kappa, r in zip(row, ratios, strict=True)
        ]
        for each, row in zip(y, variance, strict=True)
    ]
    np.testing.assert_allclose(log_evidence, direct, rtol=1e-9)


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_no_other_variance_has_more_evidence(task, factor):
    B, y, ratios = task
    log_evidence, variance = profile(B, y, ratios)
    for i, each in enumerate(y):
        for j, r in enumerate(ratios):
            kappa = factor * variance[i, j]
            assert gp.log_evidence(kappa * B, each, kappa * r) < log_evidence[i, j]


def test_learned_is_the_best_of_the_grid(task):
    B, y, ratios = task
    lengthscales = [0.5, 1.0, 3.0]
    for found, each in zip(learn_on_grid(lambda _: B, y, [1.0], ratios), y, strict=True):
        assert found.lengthscale == pytest.approx(1.0)
        best = profile(B, each[None], ratios)[0].max()
        assert gp.log_evidence(found.variance * B, each, found.noise) == pytest.approx(best)
    kernels = {scale: B + scale * np.eye(12) for scale in lengthscales}
    for found, each in zip(learn_on_grid(kernels.get, y, lengthscales, ratios), y, strict=True):
        best = max(lengthscales, key=lambda scale: profile(kernels[scale], each[None], ratios)[0].max())
        assert found.lengthscale == pytest.approx(best)


@pytest.mark.parametrize("argument, bad", [(0, np.ones((2, 3))), (1, np.ones((1, 5))), (2, [0.0]), (2, [])])
def test_bad_input_is_a_value_error_that_helps(task, argument, bad):
    arguments = list(task)
    arguments[argument] = bad
    with pytest.raises(ValueError, match="; give "):
        profile(*arguments)


def test_a_kernel_that_is_none_is_refused_and_rounding_is_not(task):
    B, y, ratios = task  # of rank 7 of 12: five eigenvalues are rounding, of either sign
    for bad in (-B, B - np.eye(12)):
        with pytest.raises(ValueError, match=r"B has the eigenvalue -\S+; give a positive semidefinite matrix"):
            profile(bad, y, ratios)
    with jax.enable_x64(False):
        narrow = B.astype(np.float32)
        assert np.linalg.eigvalsh(narrow).min() < 0
        profile(narrow, y.astype(np.float32), ratios)
