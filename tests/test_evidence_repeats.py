"""Batches change nothing but memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion import evidence


@pytest.mark.parametrize("size", [1, 3, 7, 20])
def test_batches_are_the_function_of_each_key(size):
    keys = jax.random.split(jax.random.key(0), 7)

    def function(key):
        x = jax.random.normal(key, (2,))
        return {"x": x, "sum": jnp.sum(x)}

    found = evidence.in_batches(function, keys, size, "batches")
    one_by_one = [function(key) for key in keys]
    assert np.allclose(found["x"], [one["x"] for one in one_by_one])
    assert np.allclose(found["sum"], [one["sum"] for one in one_by_one])
