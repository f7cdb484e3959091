"""Standard errors of sums of kernels in closed form, against draws of the features."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rfcore import couplings, features, kernels, theory


@pytest.mark.parametrize(("coupling", "m", "d"), [("iid", 10, 3), ("tight", 24, 6), ("tight", 13, 6), ("tight", 100, 6), ("tight", 40, 16)])
def test_the_error_of_a_sum_is_that_of_draws(coupling, m, d):
    rng = np.random.default_rng(d)
    x, points = rng.normal(size=(3, 1, d)) / np.sqrt(d), rng.normal(size=(12, d)) / np.sqrt(d)
    weights = rng.normal(size=(3, 12))
    draw = couplings.COUPLINGS[coupling]

    def sums(key):
        phi, psi = (features.fourier(p, draw(key, m, d)) for p in (x[:, 0], points))
        return jnp.sum(weights * (phi @ psi.T), axis=1)

    found = np.asarray(jax.jit(lambda keys: jax.lax.map(sums, keys))(jax.random.split(jax.random.key(0), 3000)))
    exact = np.sum(weights * kernels.gaussian(x[:, 0], points), axis=1)
    of_draws = np.sqrt(np.mean((found - exact) ** 2, axis=0))
    promised = theory.standard_error(weights, x - points, m, coupling)
    low, high = (0.94, 1.06) if coupling == "iid" else (0.92, 1.3)
    assert promised.shape == (3,) and np.all(low * of_draws < promised) and np.all(promised < high * of_draws)


def test_one_kernel_has_the_error_of_its_distance():
    z = np.array([[0.3, 0.4, 0.0, 0.0]])
    for distance in (0.5, 3.0, 30.0):
        found = theory.standard_error(np.ones(1), 2 * distance * z, 7, "iid")
        assert np.isclose(found, np.sqrt(theory.one_frequency_mse(distance, "fourier") / 7), rtol=1e-4)
    assert theory.standard_error(np.ones(1), 0 * z, 8) == 0


def test_complaints():
    z = np.ones((5, 3))
    for arguments, complaint in [
        ((np.ones(4), z, 10), r"weights has shape \(4,\)"),
        ((np.ones(5), z, 3), "m = 3 and d = 3; give m of at least 2 d"),
        ((np.ones(5), z, 10, "orthogonal"), "no closed form"),
        ((np.ones(5), np.full((5, 3), np.nan), 10), "differences"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            theory.standard_error(*arguments)
