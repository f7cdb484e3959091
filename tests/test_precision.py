"""Products keep their digits on accelerators, which multiply in TF32 or bfloat16 unless told not to: seen in the program, on any machine."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params

from rfcore import attention, choosing, copulas, couplings, features, kernels, solvers, theory
from rfcore.attention import causal
from rfcore.couplings import directions, fast

KEY = jax.random.key(0)
X = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
OMEGA = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
EYE, ONES = np.eye(4, dtype=np.float32), np.ones(4, np.float32)
DENSE = features.dense(0.01 * (EYE + 1), EYE)


def products(function, *arguments):
    """All matrix products of a function, in whatever it calls."""

    def of(jaxpr):
        for equation in jaxpr.eqns:
            if equation.primitive.name == "dot_general":
                yield equation
            for inner in jaxprs_in_params(equation.params):
                yield from of(inner)

    return list(of(jax.make_jaxpr(function)(*arguments).jaxpr))


CALLS = {
    "fourier": lambda x: features.fourier(x, OMEGA),
    "trigonometric": lambda x: features.trigonometric(x, OMEGA, np.zeros(8, np.float32)),
    "positive": lambda x: features.positive(x, OMEGA),
    "log positive": lambda x: features.log_positive(x, OMEGA),
    "exponential": lambda x: features.exponential(x, OMEGA, DENSE, "y"),
    "fitted": lambda x: features.exponential(x, OMEGA, solvers.exponential.sderf(x, x, centred=True)),
    "fitted on both sides": lambda x: features.exponential(x, OMEGA, solvers.exponential.aderf(x, 2 * x, centred=True), "y"),
    "another law": lambda x: features.frequencies.weighted_gaussian(OMEGA, ONES, EYE).project(x),
    "fast": lambda x: fast.draw(KEY, 8, 4, "simplex").project(x),
    "rotations": lambda x: directions.haar(KEY, 4),
    "rotations of accelerators": lambda x: directions._by_cholesky(x[None, :4]),
    "simplex_plus": lambda x: couplings.simplex_plus(KEY, 4, 4),
    "gaussian copula": lambda x: copulas.gaussian(EYE)(copulas.uniforms(KEY), (2, 4, 1)),
    "turned Sobol' points": lambda x: choosing.FOURIER["Sobol'"](KEY, 8, 4),
    "softmax kernel": lambda x: kernels.softmax(x, x),
    "law of points": lambda x: solvers.importance.sample_mixture(KEY, OMEGA, x).project(x),
    "second moment": lambda x: theory.log_relative_moment(x, x, DENSE),
    "mean second moment": lambda x: theory.shifted_log_variance(x, x, DENSE),
    "error of positive features": lambda x: theory.positive_mse(x[0], x[1], 4, "simplex"),
    "optimal law": lambda x: theory.optimal_gaussian(x[0], EYE, x[1], EYE).log_variance,
    "cost of a law": lambda x: theory.log_sampling_cost(theory.optimal_gaussian(x[0], EYE, x[1], EYE), x[0], EYE),
}


@pytest.mark.parametrize("name", CALLS)
def test_products_of_exponents_and_angles_are_in_full_precision(name):
    found = products(CALLS[name], X)
    assert found
    assert {product.params["precision"] for product in found} == {(jax.lax.Precision.HIGHEST, jax.lax.Precision.HIGHEST)}


def test_gradients_are_in_full_precision():
    for name in ("fourier", "positive", "exponential"):
        found = products(jax.grad(lambda x, name=name: CALLS[name](x).sum()), X)
        assert {product.params["precision"] for product in found} == {(jax.lax.Precision.HIGHEST, jax.lax.Precision.HIGHEST)}


def test_what_is_set_for_all_of_jax_prevails():
    with jax.default_matmul_precision("bfloat16"):
        found = products(CALLS["positive"], X)
    assert jax.lax.Precision.HIGHEST not in {side for product in found for side in product.params["precision"]}


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("way", ["softmax", "linear", "linear_of_logs", "random_feature_attention"])
def test_sums_of_narrow_attention_are_in_float32(way, is_causal):
    def attend(q, k, v):
        if way == "random_feature_attention":
            return attention.random_feature_attention(q, k, v, OMEGA[None], causal=is_causal)
        return getattr(attention, way)(q, k, v, is_causal)

    x = jnp.asarray(np.tile(X, (1, 30, 1)), jnp.bfloat16)
    for function in (attend, jax.grad(lambda *x: attend(*x).sum().astype(float), (0, 1, 2))):
        found = products(function, x, x, x)
        assert np.dtype(jnp.bfloat16) in {product.invars[0].aval.dtype for product in found}
        assert {product.outvars[0].aval.dtype for product in found} == {np.dtype(np.float32)}


def test_ten_thousand_ones_and_one_are_counted_in_bfloat16():
    """Its numbers from 8192 on are 64 apart, and from 256 on no sum grows by one."""
    ones = jnp.ones((10_001, 1), jnp.bfloat16)
    assert causal.product(ones.mT, ones) == 10_001
