"""Held-out predictions of Gaussian processes, against the posterior and the divergence themselves."""

import numpy as np
import pytest

from companion.papers.couplings.predictives import predictive_kl
from companion.papers.couplings.traffic_gp import compared, predicted

N_SEEN = 5


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(9, 12))
    return factor @ factor.T, (factor + 0.3 * rng.normal(size=factor.shape)), rng.normal(size=9)


def test_error_is_that_of_the_posterior_mean_on_what_was_held_out(task):
    K, _, y = task
    found, error = predicted(K, y, 0.2, N_SEEN)
    direct = K[N_SEEN:, :N_SEEN] @ np.linalg.solve(K[:N_SEEN, :N_SEEN] + 0.2 * np.eye(N_SEEN), y[:N_SEEN])
    np.testing.assert_allclose(found.mean, direct, rtol=1e-9)
    assert error == pytest.approx(np.sqrt(np.mean((direct - y[N_SEEN:]) ** 2)))


def test_divergences_are_from_the_approximate_posterior_and_back(task):
    K, factor, y = task
    exact, _ = predicted(K, y, 0.2, N_SEEN)
    error, there, back = compared(factor @ factor.T, y, 0.2, exact)
    found, direct = predicted(factor @ factor.T, y, 0.2, N_SEEN)
    assert error == pytest.approx(direct)
    assert there == pytest.approx(predictive_kl(found, exact, 0.2))
    assert back == pytest.approx(predictive_kl(exact, found, 0.2))
    assert abs(there - back) > 0.1  # so that the two cannot be exchanged unseen
