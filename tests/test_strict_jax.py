"""What large code bases ask of JAX code: no axis is added unasked, narrow floats stay, and a mask hides whatever it hides."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion.papers.simplex import conformities
from rfcore import attention, couplings, features, kernels, solvers, theory
from rfcore.attention import dot_product_attention

KEY = jax.random.key(0)
X = np.random.default_rng(0).normal(size=(5, 4)) / 2
OMEGA = np.random.default_rng(1).normal(size=(8, 4))
HEADS = np.random.default_rng(2).normal(size=(2, 5, 2, 4)) / 2
SEEN = np.array([True, True, False, True, True])


def layer():
    ours = attention.FeatureAttention(eqx.nn.MultiheadAttention(2, 4, key=KEY), 8, key=KEY)
    return ours.calibrated(X, X, X)(X, X, X, mask=SEEN), ours(X, X, X, key=KEY)


CALLS = {
    **{
        f"{name}, m = {m}": lambda name=name, m=m: getattr(couplings, name)(KEY, m, 4)
        for name in (
            "iid", "orthogonal", "simplex", "simplex_plus", "orthogonal_pnc", "orthogonal_pm", "orthogonal_fast", "simplex_fast",
            "halton", "sobol",
        )
        for m in (2, 6)
    },
    "matern coupling": lambda: couplings.matern(KEY, 6, 4, 1.5),
    "copula": lambda: couplings.orthogonal_copula(KEY, 6, 4, np.eye(4)),
    "antithetic": lambda: couplings.antithetic(OMEGA),
    "fourier": lambda: features.fourier(X, OMEGA),
    "trigonometric": lambda: features.trigonometric(X, OMEGA, np.zeros(8)),
    "positive": lambda: features.positive(X, OMEGA),
    "fast": lambda: features.fourier(X, couplings.fast.draw(KEY, 8, 4, "simplex")),
    "weighted": lambda: features.positive(X, features.frequencies.weighted_gaussian(OMEGA, np.ones(4), 2 * np.eye(4))),
    "dense": lambda: features.exponential(X, OMEGA, features.dense(0.01 * (np.eye(4) + 1), np.eye(4)), "y"),
    "gradient": lambda: jax.grad(lambda x: features.exponential(x, OMEGA, solvers.exponential.saderf(x, X), "x").sum())(jnp.asarray(X)),
    **{
        f"{name}, centred = {centred}, {kernel}": lambda name=name, centred=centred, kernel=kernel: (
            features.exponential(X, OMEGA, getattr(solvers.exponential, name)(X, X, centred=centred), "y", kernel)
        )
        for name in ("gerf", "saderf", "sderf", "aderf")
        for centred in (False, True)
        for kernel in ("gaussian", "softmax")
    },
    "gaussian": lambda: kernels.gaussian(X, X),
    "softmax kernel": lambda: kernels.softmax(X, X),
    "matern kernel": lambda: kernels.matern(X, X, 0.7),
    "of points": lambda: solvers.importance.sample_mixture(KEY, OMEGA, X),
    "of two sets": lambda: solvers.importance.sample_two_sets(KEY, 8, X, X),
    "softmax": lambda: attention.softmax(X, X, X, mask=SEEN),
    "linear": lambda: attention.linear(np.abs(X), np.abs(X), X, causal=True),
    "dot_product_attention": lambda: dot_product_attention(HEADS, HEADS, HEADS, OMEGA, mask=SEEN[None, None]),
    "causal": lambda: jax.grad(lambda q: dot_product_attention(q, q, q, OMEGA, is_causal=True).sum())(jnp.asarray(HEADS)),
    "layer": layer,
    **{
        f"{name}, {coupling}": lambda name=name, coupling=coupling: getattr(theory, name)(X[0], X[1], 4, coupling)
        for name in ("positive_mse", "fourier_mse")
        for coupling in ("iid", "orthogonal", "simplex")
    },
    **{
        f"ratio, {name}, {coupling}": lambda name=name, coupling=coupling: theory.mse_ratio(coupling, name, np.abs(X[0]), m=4, d=4)
        for name in ("positive", "fourier")
        for coupling in ("iid", "orthogonal", "simplex")
    },
    "gaps": lambda: (theory.positive_gap(X[0], X[1], 4), theory.fourier_gap(X[0], X[1], 4)),
    "conformity at an angle": lambda: conformities.log_conformity_at_angle(np.abs(X[0]), 4, 0.2),
    "conformity of frequencies": lambda: conformities.log_conformity_of(OMEGA, np.abs(X[0])),
    "conformity of directions": lambda: conformities.log_conformity_of_directions(np.eye(4), 0.5),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_axis_is_added_behind_the_callers_back(name):
    with jax.numpy_rank_promotion("raise"):
        CALLS[name]()


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
