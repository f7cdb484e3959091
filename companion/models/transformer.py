"""A layer of a transformer, as BERT's, whose attention is an argument.

An attention is a function of q, k and v, each (n, heads, length, d), and of ``mask``, (n, 1, length) or None:
:func:`rfcore.attention.softmax`, or :func:`rfcore.attention.random_feature_attention` with its frequencies.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from rfcore.attention import softmax


class Heads(NamedTuple):
    """Queries, keys and values of every head, each (n, heads, length, d).

    Queries and keys have the factor d^(-1/4): attention weighs keys by exp(q . k).
    """

    q: jax.Array
    k: jax.Array
    v: jax.Array


class Linear(eqx.Module):
    """x -> W x + b for every state."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, x):
        """States, (..., columns of W), to (..., rows of W)."""
        return x @ self.weight.T + self.bias


class Norm(eqx.Module):
    """Every state, minus its mean, over its standard deviation, rescaled and shifted."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, x):
        """States, (..., columns), to the same shape."""
        x = x - x.mean(axis=-1, keepdims=True)
        return x * jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-12) * self.weight + self.bias


class Layer(eqx.Module):
    """Self-attention and a perceptron, each added to what it reads and normalised.

    Source: Vaswani et al., "Attention is all you need" (2017); Devlin et al., "BERT" (2019).
    """

    query: Linear
    key: Linear
    value: Linear
    mixed: Linear
    norm: Norm
    up: Linear
    down: Linear
    norm_out: Norm
    n_heads: int = eqx.field(static=True)

    def heads(self, x):
        """:class:`Heads` of states, (n, length, columns)."""
        q, k, v = (
            jnp.swapaxes(part(x).reshape(*x.shape[:-1], self.n_heads, -1), -3, -2)
            for part in (self.query, self.key, self.value)
        )
        scale = q.shape[-1] ** -0.25
        return Heads(scale * q, scale * k, v)

    def __call__(self, x, mask=None, attention=softmax):
        """States after this layer, (n, length, columns); ``mask``, (n, length), is False on the padding."""
        attended = attention(*self.heads(x), mask=None if mask is None else mask[:, None])
        x = self.norm(x + self.mixed(jnp.swapaxes(attended, -3, -2).reshape(x.shape)))
        return self.norm_out(x + self.down(jax.nn.gelu(self.up(x), approximate=False)))


def linear(key, n_in, n_out):
    """A :class:`Linear` to be trained: weights N(0, 1 / n_in), no bias yet."""
    return Linear(jax.random.normal(key, (n_out, n_in), jnp.float32) * n_in**-0.5, jnp.zeros(n_out, jnp.float32))


def layer(key, width, n_heads):
    """A :class:`Layer` to be trained, float32, with a perceptron of 4 width units."""
    if width % n_heads:
        raise ValueError(f"width = {width}; give a multiple of n_heads = {n_heads}")
    keys = jax.random.split(key, 6)
    of_attention = (linear(key, width, width) for key in keys[:4])
    up, down = linear(keys[4], width, 4 * width), linear(keys[5], 4 * width, width)
    ones, zeros = jnp.ones(width, jnp.float32), jnp.zeros(width, jnp.float32)
    return Layer(*of_attention, Norm(ones, zeros), up, down, Norm(ones, zeros), n_heads)
