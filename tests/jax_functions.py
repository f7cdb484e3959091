"""Every public JAX function with operands, for tests of what JAX does to functions: a call is ``function(*operands)``.

Operands are keys and arrays, which a transformation may trace; what must be known is in the closure.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rfcore import attention, couplings, features, kernels, solvers, theory
from rfcore.couplings import copulas, directions, norms, weight_dependent

KEY = jax.random.key(0)
FLOAT = np.float64 if jax.config.jax_enable_x64 else np.float32
X, Y = (np.random.default_rng(0).normal(size=(2, 5, 4)) / 2).astype(FLOAT)
OMEGA = np.random.default_rng(1).normal(size=(8, 4)).astype(FLOAT)
HEADS = (np.random.default_rng(2).normal(size=(2, 5, 2, 4)) / 2).astype(FLOAT)
EYE, ONES, ZEROS = np.eye(4, dtype=FLOAT), np.ones(4, FLOAT), np.zeros(4, FLOAT)
SEEN = np.array([True, True, False, True, True])
LEVELS = np.linspace(0.05, 0.95, 7, dtype=FLOAT)
PARAMETERS = features.dense(0.01 * (EYE + 1), 2 * EYE)
EXACT = eqx.nn.MultiheadAttention(2, 4, key=KEY)
OPTIMAL = theory.optimal_gaussian(ZEROS, EYE / 8, ONES, EYE / 9)
NAMES = ("iid", "orthogonal", "simplex")


def fitted(fit, centred, kernel, x, y):
    return features.exponential(x, OMEGA, fit(x, y, centred=centred), "y", kernel)


def layer(key, x):
    return attention.FeatureAttention(EXACT, 8, key=key, causal=True)(x, x, x)


def calibrated(x):
    return attention.FeatureAttention(EXACT, 8, key=KEY).calibrated(X, X, X)(x, x, x, mask=SEEN)


def step_of_layer(x):
    causal = attention.FeatureAttention(EXACT, 8, key=KEY, causal=True)
    return causal.step(causal.state(x, x, x), x[0], x[0], x[0])[0]


DRAWN = {
    **{f"{name}, m = {m}": (partial(coupling, m=m, d=4), KEY) for name, coupling in couplings.names.COUPLINGS.items() for m in (2, 6)},
    "matern coupling": (lambda key: couplings.matern(key, 6, 4, 1.5), KEY),
    "orthogonal_copula": (lambda key: couplings.orthogonal_copula(key, 6, 4, EYE), KEY),
    "fast": (lambda key, x: features.fourier(x, couplings.fast.draw(key, 8, 4, "simplex")), KEY, X),
    **{f"copula {name}": (lambda key, copula=copula: copula(copulas.uniforms(key), (3, 6, 1)), KEY) for name, copula in copulas.COPULAS.items()},
    **{f"directions {name}": (lambda key, name=name: getattr(directions, name)(key, 6, 4), KEY) for name in ("independent", "orthogonal", "simplex")},
    "haar": (lambda key: directions.haar(key, 4), KEY),
    "sample_mixture": (lambda key, omega, x: solvers.importance.sample_mixture(key, omega, x).matrix, KEY, OMEGA, X),
    "sample_two_sets": (lambda key, x, y: solvers.importance.sample_two_sets(key, 8, x, y).matrix, KEY, X, Y),
    "layer": (layer, KEY, X),
}
MAPPED = {
    "antithetic": (couplings.antithetic, OMEGA),
    "chi": (partial(norms.chi, d=4), LEVELS),
    "balance": (weight_dependent.balance, np.arange(1, 5, dtype=FLOAT)),
    **{
        f"{function.__name__}, {kernel}": (partial(function, kernel=kernel), X, OMEGA)
        for function in (features.fourier, features.positive, features.log_positive)
        for kernel in ("gaussian", "softmax")
    },
    "trigonometric": (features.trigonometric, X, OMEGA, np.arange(8, dtype=FLOAT)),
    "weighted": (lambda x, omega: features.positive(x, features.frequencies.weighted_gaussian(omega, ONES, 2 * EYE)), X, OMEGA),
    "exponential": (lambda x, omega: features.exponential(x, omega, PARAMETERS, "y"), X, OMEGA),
    "log_exponential": (lambda x, omega: features.log_exponential(x, omega, PARAMETERS, "x"), X, OMEGA),
    **{
        f"{fit.__name__}, centred = {centred}, {kernel}": (partial(fitted, fit, centred, kernel), X, Y)
        for fit in (solvers.exponential.gerf, solvers.exponential.saderf, solvers.exponential.sderf, solvers.exponential.aderf)
        for centred in (False, True)
        for kernel in ("gaussian", "softmax")
    },
    "simplex_product": (directions.simplex_product, X),
    "walsh_hadamard": (couplings.fast.walsh_hadamard, OMEGA),
    "best_A": (solvers.exponential.best_A, np.arange(1, 5, dtype=FLOAT)),
    "gaussian": (kernels.gaussian, X, Y),
    "softmax kernel": (kernels.softmax, X, Y),
    "matern kernel": (partial(kernels.matern, nu=1.5), X, Y),
}
ATTENDED = {
    **{
        f"{function.__name__}, causal = {causal}": (lambda q, k, v, function=function, causal=causal: function(q, k, v, causal, SEEN), np.abs(X), np.abs(Y), X)
        for function in (attention.softmax, attention.linear, attention.linear_of_logs)
        for causal in (False, True)
    },
    **{
        f"dot_product_attention, causal = {causal}": (
            lambda q, causal=causal: attention.dot_product_attention(q, q, q, OMEGA, mask=SEEN[None, None], is_causal=causal), HEADS
        )
        for causal in (False, True)
    },
    **{
        step.__name__: (lambda q, k, v, start=start, step=step: step(start(k, v, SEEN), q[0], k[0], v[0])[0], np.abs(X), np.abs(Y), X)
        for start, step in (
            (attention.linear_state, attention.linear_step), (attention.linear_state_of_logs, attention.linear_step_of_logs)
        )
    },
    "mask of pairs": (
        lambda q: attention.dot_product_attention(q, q, q, OMEGA, mask=(q[0, None, None, :, :1, 0] < jnp.inf) & SEEN, is_causal=True), HEADS
    ),
    "random_feature_attention": (lambda q: attention.random_feature_attention(q, q, q, OMEGA[None], causal=True), X[None]),
    "calibrated layer": (calibrated, X),
    "step of a layer": (step_of_layer, X),
}
KNOWN = {
    **{
        f"{function.__name__}, {name}": (lambda x, y, function=function, name=name: function(x, y, 4, name), X[0], Y[0])
        for function in (theory.positive_mse, theory.fourier_mse)
        for name in NAMES
    },
    **{
        f"{function.__name__}, {name}": (lambda x, y, function=function, name=name: function(x, y, 4, coupling=name), X[0], Y[0])
        for function in (theory.positive_gap, theory.fourier_gap)
        for name in NAMES[1:]
    },
    **{
        f"mse_ratio, {kind}, {name}": (lambda z, kind=kind, name=name: theory.mse_ratio(name, kind, z, m=4, d=4), np.abs(X[0]))
        for kind in ("positive", "fourier")
        for name in NAMES
    },
    **{f"log_conformity, {name}": (lambda v, name=name: theory.log_conformity(v, 4, name), np.abs(X[0])) for name in NAMES},
    "log_optimal_variance_bound": (theory.log_optimal_variance_bound, X, Y),
    "log_sampling_cost": (lambda mean: theory.log_sampling_cost(OPTIMAL, mean, 2 * EYE), X[0]),
    "log_relative_moment": (lambda x, y: theory.log_relative_moment(x, y, PARAMETERS), X, Y),
    "log_relative_variance": (lambda x, y: theory.log_relative_variance(x, y, PARAMETERS), X, Y),
    "shifted_log_variance": (lambda x, y: theory.shifted_log_variance(x, y, PARAMETERS), X, Y),
}  # fmt: skip
FUNCTIONS = DRAWN | MAPPED | ATTENDED | KNOWN


def operands(name):
    """As JAX arrays, so that all may be traced."""
    return tuple(x if x is KEY else jnp.asarray(x) for x in FUNCTIONS[name][1:])
