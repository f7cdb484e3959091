"""Public JAX functions cross jit, vmap, shard_map and grad: the same numbers, and derivatives that are those of the function."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec
from jax_functions import FUNCTIONS, KEY, operands
from rounding import rounding

# Compiled fast rather than well: these runs are short.
compiled = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
TWO = jax.random.split(KEY)


def pairs(name):
    """Each operand twice: two keys, or two arrays that differ by a tenth."""
    return tuple(TWO if x is KEY else jnp.stack([x, 0.9 * x]) for x in operands(name))


def of(i, both):
    return jax.tree.map(lambda x: x[i], both)


def assert_same(found, expected):
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert np.all(np.abs(one - other) <= rounding(1e4, other))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_and_mapped_it_gives_the_same_numbers(name):
    function, both = FUNCTIONS[name][0], pairs(name)
    expected = function(*of(0, both)), function(*of(1, both))
    assert_same(compiled(function)(*of(0, both)), expected[0])
    mapped = compiled(jax.vmap(function))(*both)
    for i in (0, 1):
        assert_same(of(i, mapped), expected[i])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_each_device_of_a_mesh_it_gives_the_same_numbers(name):
    """On one device, where JAX already refuses a loop whose state begins as a constant and then differs between devices."""
    function, given = FUNCTIONS[name][0], operands(name)
    mesh, rows = Mesh(np.array(jax.devices()[:1]), "x"), PartitionSpec("x")

    def on_one(*parts):
        return jax.tree.map(lambda x: x[None], function(*of(0, parts)))

    parts = jax.tree.map(lambda x: x[None], given)
    assert_same(of(0, compiled(jax.shard_map(on_one, mesh=mesh, in_specs=rows, out_specs=rows))(*parts)), function(*given))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if all(x is not KEY for x in operands(name))])
def test_its_gradient_is_the_slope_of_the_function(name):
    function, given = FUNCTIONS[name][0], operands(name)
    moved = [i for i, x in enumerate(given) if x is not KEY]
    shape = jax.eval_shape(function, *given)
    weights = np.random.default_rng(3).normal(size=shape.shape)

    def value(*arrays):
        arguments = list(given)
        for i, x in zip(moved, arrays, strict=True):
            arguments[i] = x
        return jnp.sum(weights * function(*arguments))

    at = tuple(given[i] for i in moved)
    value_of = compiled(value)
    gradients = compiled(jax.grad(value, argnums=tuple(range(len(at)))))(*at)
    rng, step = np.random.default_rng(4), 1e-5
    way = tuple(rng.normal(size=x.shape) for x in at)
    ahead, behind = (float(value_of(*(x + sign * step * v for x, v in zip(at, way, strict=True)))) for sign in (1, -1))
    slope = sum(float(jnp.sum(g * v)) for g, v in zip(gradients, way, strict=True))
    size = sum(float(jnp.linalg.norm(g.ravel()) * np.linalg.norm(v)) for g, v in zip(gradients, way, strict=True))
    assert abs((ahead - behind) / (2 * step) - slope) <= 1e-6 * (size + 1)
