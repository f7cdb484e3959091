"""Attention that is timed: exact is softmax, and bfloat16 rounds what it says that it rounds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params

from companion.papers.favor import attention_costs, real_heads
from rfcore import attention, couplings

HEADS, L, D, M = 3, 40, 8, 64
RNG = np.random.default_rng(0)
Q, K = (jnp.asarray(0.5 * RNG.normal(size=(HEADS, L, D)), jnp.float32) for _ in range(2))
V = jnp.asarray(RNG.normal(size=(HEADS, L, D)), jnp.float32)
OMEGA = jnp.stack([couplings.iid(key, M, D) for key in jax.random.split(jax.random.key(0), HEADS)]).astype(jnp.float32)
STEP = 2.0**-8  # half the distance of bfloat16 numbers, relative, at the most


@pytest.mark.parametrize("causal", [False, True])
def test_exact_is_softmax(causal):
    assert np.allclose(attention_costs.exact(Q, K, V, causal), attention.softmax(Q, K, V, causal), rtol=0, atol=1e-5)


def narrow(*arrays):
    return [x.astype(jnp.bfloat16) for x in arrays]


@pytest.mark.parametrize("kind", ["positive", "gerf", "saderf", "aderf_centred"])
def test_bfloat16_is_attention_by_features_but_for_its_rounding(kind):
    """Of inputs that are bfloat16 numbers: what is left is one rounding of features, sums and outputs."""
    q, k, v, omega = narrow(Q, K, V, OMEGA)
    wide = [x.astype(jnp.float32) for x in (q, k, v, omega)]
    parameters = jax.vmap(real_heads.FITS[kind])(*wide[:2])
    out = attention_costs.narrow(q, k, v, omega, parameters)
    expected = attention.random_feature_attention(*wide, parameters)
    assert out.dtype == jnp.bfloat16
    gap = np.abs(out.astype(jnp.float32) - expected).max() / np.abs(V).max()
    moved = kind != "positive"  # B x, of length 2 or so, is rounded before its product with omega, of length 3 or so
    assert STEP / 100 < gap < (20 if moved else 4) * STEP


def products(jaxpr):
    """Types of the operands and of the sums of all products of matrices."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            yield tuple(str(x.aval.dtype) for x in (*equation.invars, *equation.outvars))
        for inner in jaxprs_in_params(equation.params):
            yield from products(inner)


def test_all_products_are_of_bfloat16_and_all_sums_float32():
    jaxpr = jax.make_jaxpr(attention_costs.narrow)(*narrow(Q, K, V, OMEGA), real_heads.positive(Q, K)).jaxpr
    assert list(products(jaxpr)) == [("bfloat16", "bfloat16", "float32")] * 4


def test_narrow_frequencies_have_products_in_float32():
    x, omega = np.eye(D, dtype=np.float32)[:3], attention_costs.Narrow(narrow(OMEGA[0])[0])
    products = np.asarray(omega.project(x))
    assert products.dtype == np.float32 and np.array_equal(products, omega.matrix.T[:3].astype(jnp.float32))
    assert (omega.m, omega.d) == (M, D)
