"""What large code bases ask of JAX code: no axis and no dtype is changed unasked, narrow floats stay, and a mask hides whatever it hides."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_functions import ATTENDED, FUNCTIONS, HEADS, KEY, OMEGA, SEEN, X, operands

from companion.papers.simplex import conformities
from rfcore import attention, couplings, features, kernels, solvers
from rfcore.attention import dot_product_attention

CALLS = FUNCTIONS | {
    "matern kernel on the host": (lambda x: kernels.matern(x, x, 0.7), X),
    "gradient of a fit": (jax.grad(lambda x: features.exponential(x, OMEGA, solvers.exponential.saderf(x, X), "x").sum()), X),
    "gradient of causal attention": (jax.grad(lambda q: dot_product_attention(q, q, q, OMEGA, is_causal=True).sum()), HEADS),
    "conformity at an angle": (lambda v: conformities.log_conformity_at_angle(v, 4, 0.2), np.abs(X[0])),
    "conformity of frequencies": (lambda v: conformities.log_conformity_of(OMEGA, v), np.abs(X[0])),
    "conformity of directions": (lambda v: conformities.log_conformity_of_directions(v, 0.5), np.eye(4, dtype=X.dtype)),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_axis_is_added_behind_the_callers_back(name):
    with jax.numpy_rank_promotion("raise"):
        CALLS[name][0](*CALLS[name][1:])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_dtype_is_changed_behind_the_callers_back(name):
    with jax.numpy_dtype_promotion("strict"):
        FUNCTIONS[name][0](*operands(name))


@pytest.mark.parametrize("name", [name for name, call in ATTENDED.items() if len(call) == 4])
def test_nor_in_bfloat16(name):
    with jax.numpy_dtype_promotion("strict"):
        assert ATTENDED[name][0](*(x.astype(jnp.bfloat16) for x in operands(name))).dtype == jnp.bfloat16


MAPS = {
    "fourier": lambda x, omega: features.fourier(x, omega),
    "trigonometric": lambda x, omega: features.trigonometric(x, omega, np.ones(8)),
    "positive": lambda x, omega: features.positive(x, omega),
    "exponential": lambda x, omega: features.exponential(x, omega, solvers.exponential.gerf(X, X), "x"),
}


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
@pytest.mark.parametrize("name", MAPS)
def test_narrow_points_have_narrow_features_rounded_once(name, dtype):
    x, omega = jnp.asarray(X, dtype), jnp.asarray(OMEGA, jnp.float32)
    try:
        x.astype(jnp.float32)
    except jax.errors.JaxRuntimeError as error:
        pytest.skip(f"JAX itself has no {dtype.__name__} on this processor: {error}")
    found, wide = MAPS[name](x, omega), MAPS[name](x.astype(jnp.float32), omega)
    assert found.dtype == dtype
    assert np.array_equal(found, wide.astype(dtype))


@pytest.mark.parametrize("hidden", [np.nan, np.inf, -1e30])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("way", ["softmax", "linear", "linear_of_logs", "by heads"])
def test_what_a_mask_hides_may_hold_anything(way, causal, hidden):
    q = np.abs(X) / 4

    def attend(k, v):
        if way == "by heads":
            return dot_product_attention(q[:, None], k[:, None], v[:, None], OMEGA, mask=SEEN[None, None], is_causal=causal)
        return getattr(attention, way)(q, k, v, causal, SEEN)

    dirty = np.where(SEEN[:, None], q, hidden)
    assert np.array_equal(attend(dirty, dirty), attend(q, q))
    gradient = jax.grad(lambda k: attend(k, k).sum())(jnp.asarray(dirty))
    assert np.all(np.isfinite(gradient))


NONE = np.zeros((0, 4))
EMPTY = {
    "fourier": lambda: features.fourier(NONE, OMEGA),
    "positive": lambda: features.positive(NONE, OMEGA),
    "fast": lambda: features.fourier(NONE, couplings.fast.draw(KEY, 8, 4, "simplex")),
    "gaussian": lambda: kernels.gaussian(NONE, X),
    "matern": lambda: kernels.matern(NONE, X, 1.5),
    "simplex": lambda: couplings.simplex(KEY, 0, 4),
    "sobol": lambda: couplings.sobol(KEY, 0, 4),
    "softmax": lambda: attention.softmax(NONE, X, X),
    "linear": lambda: attention.linear(NONE, X, X),
    "no batch": lambda: dot_product_attention(HEADS[:0], HEADS[:0], HEADS[:0], OMEGA),
    "no batch, causal": lambda: dot_product_attention(HEADS[:0], HEADS[:0], HEADS[:0], OMEGA, is_causal=True),
    "no queries": lambda: dot_product_attention(HEADS[:, :0], HEADS, HEADS, OMEGA)[0],
    "layer": lambda: attention.FeatureAttention(eqx.nn.MultiheadAttention(2, 4, key=KEY), 8, key=KEY)(NONE, X, X),
}


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_in_gives_nothing_out(name):
    assert len(EMPTY[name]()) == 0
