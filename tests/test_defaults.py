"""An argument that is left out has the value that its signature shows; other tests give most of them."""

import equinox as eqx
import jax
import numpy as np
import pytest
import ratio_of

from companion.papers.couplings import costs
from rfcore import attention, couplings, features, solvers, theory
from rfcore.couplings import directions, norms, weight_dependent

KEY = jax.random.key(0)
X, Y = np.random.default_rng(0).normal(size=(2, 5, 4)) / 2
OMEGA = np.random.default_rng(1).normal(size=(8, 4))
EXACT = eqx.nn.MultiheadAttention(2, 8, key=KEY)
PARAMETERS = features.dense(0.01 * (np.eye(4) + 1), 2 * np.eye(4))
GAUSSIAN = np.zeros(4), np.eye(4) / 8, np.ones(4), np.eye(4) / 9


def layer(*arguments, **options):
    return attention.FeatureAttention(EXACT, *arguments, key=KEY, **options)


def calibrated(*arguments, **options):
    x = np.random.default_rng(2).normal(size=(9, 8))
    return layer(4).calibrated(x, x, x, *arguments, **options).parameters


# A function, its arguments, and those that may be left out. The same numbers are those with and without them.
LEFT_OUT = {
    "compose": (lambda *of, **rest: couplings.compose(*of, **rest)(KEY, 8, 4), ("simplex",), {"norms": "independent", "across": "block", "radial": norms.chi}),
    "haar": (directions.haar, (KEY, 4), {"n_blocks": 1}),
    "balance": (weight_dependent.balance, (np.arange(1.0, 5.0),), {"sweeps": 5}),
    "choose": (lambda **rest: couplings.choose(m=16, d=4, **rest).rmse_over_iid, (), {"features": "fourier", "distance": None}),
    "fourier": (features.fourier, (X, OMEGA), {"kernel": "gaussian"}),
    "trigonometric": (features.trigonometric, (X, OMEGA, np.arange(8.0)), {"kernel": "gaussian"}),
    "positive": (features.positive, (X, OMEGA), {"kernel": "gaussian"}),
    "log positive": (features.log_positive, (X, OMEGA), {"kernel": "gaussian"}),
    "exponential": (features.exponential, (X, OMEGA, PARAMETERS), {"side": "x", "kernel": "gaussian"}),
    "log exponential": (features.log_exponential, (X, OMEGA, PARAMETERS), {"side": "x", "kernel": "gaussian"}),
    **{name: (getattr(solvers.exponential, name), (X, Y), {"centred": False}) for name in ("gerf", "saderf", "sderf", "aderf")},
    "gap of positive features": (theory.positive_gap, (X[0], X[1], 4), {"coupling": "orthogonal"}),
    "gap of Fourier features": (theory.fourier_gap, (X[0], X[1], 4), {"coupling": "orthogonal"}),
    "bound": (theory.log_optimal_variance_bound, (X, Y), {"kernel": "gaussian"}),
    "optimal law": (theory.optimal_gaussian, GAUSSIAN, {"kernel": "gaussian"}),
    "positive cost": (costs.log_positive_cost, (np.arange(1.0, 5.0), 1.0, 4), {"excess": False}),
    "Fourier cost": (costs.fourier_cost, (np.arange(1.0, 5.0), 1.0, 4), {"excess": False}),
    "shells": (ratio_of.strata, (1.0, 4, 16, "fourier", "blocks"), {"directions": "orthogonal"}),
    "softmax": (attention.softmax, (X, Y, X), {"causal": False, "mask": None}),
    "linear": (attention.linear, (np.abs(X), np.abs(Y), X), {"causal": False, "mask": None}),
    "linear of logs": (attention.linear_of_logs, (X, Y, X), {"causal": False, "mask": None}),
    "by features": (attention.random_feature_attention, (X[None], Y[None], X[None], OMEGA[None]), {"parameters": None, "causal": False, "mask": None}),
    "of JAX's shapes": (
        attention.dot_product_attention, (X[:, None], Y[:, None], X[:, None], OMEGA), {"parameters": None, "mask": None, "scale": 0.5, "is_causal": False}
    ),
    "layer": (lambda **rest: layer(**rest).omega, (), {"n_features": 256, "coupling": couplings.orthogonal}),
    "causal layer": (lambda **rest: layer(4, **rest)(np.ones((3, 8)), np.eye(3, 8), np.eye(3, 8)), (), {"causal": False}),
    "calibrated layer": (calibrated, (), {"fit": solvers.exponential.aderf, "centred": True, "process_heads": None}),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_what_the_signature_shows(name):
    function, arguments, given = LEFT_OUT[name]
    without, with_all = (jax.tree.leaves(function(*arguments, **options)) for options in ({}, given))
    assert len(without) == len(with_all) > 0
    for one, other in zip(without, with_all, strict=True):
        assert np.array_equal(one, other)
