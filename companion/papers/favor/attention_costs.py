"""Attention whose cost is compared: exact, and by features that are kept in bfloat16.

Queries and keys (heads, l, d) have the factor d^(-1/4); values are (heads, l, d). All positions are seen.
"""

import json
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from companion import repository
from rfcore import features
from rfcore.attention.logs import scaled


def exact(q, k, v, causal=False):
    """JAX's own, ``jax.nn.dot_product_attention``, whose scores and sums of bfloat16 are float32."""
    of_positions = (jnp.swapaxes(x, 0, 1) for x in (q, k, v))
    return jnp.swapaxes(jax.nn.dot_product_attention(*of_positions, scale=1.0, is_causal=causal), 0, 1)


@partial(jax.tree_util.register_dataclass, data_fields=("matrix",), meta_fields=())
@dataclass(frozen=True)
class Narrow:
    """Frequencies (m, d) in bfloat16: :class:`rfcore.features.frequencies.Frequencies`."""

    matrix: jax.Array
    log_weights = None

    @property
    def m(self):
        """Number of frequencies."""
        return self.matrix.shape[-2]

    @property
    def d(self):
        """Their dimension."""
        return self.matrix.shape[-1]

    def project(self, x):
        """Scalar products of points, rounded to bfloat16, with frequencies; summed in float32."""
        return _product(x.astype(jnp.bfloat16), self.matrix.T)


def narrow(q, k, v, omega, parameters):
    """Attention as :func:`rfcore.attention.random_feature_attention`, kept in bfloat16, summed in float32.

    bfloat16 are queries, keys, values and frequencies, features, sums over keys, and outputs. A float32
    number with its last 16 bits cut off has 8 bits of precision left, and all of its range: features, at most
    1 by their exponents (:func:`rfcore.attention.stabilised`), underflow where those of float32 do.

    Args:
        q, k, v, omega: bfloat16; omega (heads, m, d).
        parameters: float32, each field with an axis of heads first.
    """
    return jax.vmap(_narrow)(q, k, v, omega, parameters)


def _narrow(q, k, v, omega, parameters):
    logs = (features.log_exponential(x, Narrow(omega), parameters, side, "softmax") for x, side in ((q, "x"), (k, "y")))
    phi_q, phi_k = (phi.astype(jnp.bfloat16) for phi in scaled(*logs)[:2])
    sums = _product(phi_k.T, jnp.concatenate([v, jnp.ones_like(v[:, :1])], axis=1))
    out = _product(phi_q, sums.astype(jnp.bfloat16))
    return (out[:, :-1] / out[:, -1:]).astype(jnp.bfloat16)


def _product(a, b):
    return jnp.matmul(a, b, preferred_element_type=jnp.float32)


def on_an_accelerator():
    """What ``tests/benchmarks/accelerator.py`` has kept of a run on a GPU, and its milliseconds.

    Those of 8 heads in bfloat16, by program, length and way (causal, with gradients).
    """
    kept = json.loads((repository.root() / "data" / "results" / "accelerator.json").read_text(encoding="utf-8"))
    rows = [row for row in kept["attention"] if row["heads"] == 8 and row["dtype"] == "bfloat16"]
    return kept, {(row["program"], row["length"], (row["causal"], row["backward"])): row["milliseconds"] for row in rows}
