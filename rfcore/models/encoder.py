"""A trained encoder of sentences, all-MiniLM-L6-v2, whose attention can be replaced.

Six layers of twelve heads (BERT's, Devlin et al., 2019), distilled from a larger model and trained to tell
which of two sentences belong together. An encoder is a pytree: its weights can be trained further.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rfcore import checks
from rfcore.datasets import registry, stand_ins, storage
from rfcore.models.attention import softmax

HEADS, WIDTH, LONGEST = 12, 384, 512


class Heads(NamedTuple):
    """Queries, keys and values of every head, each (layers, n, heads, length, 32).

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
    """Self-attention and a perceptron, each added to what it reads and normalised."""

    query: Linear
    key: Linear
    value: Linear
    mixed: Linear
    norm: Norm
    up: Linear
    down: Linear
    norm_out: Norm

    def heads(self, x):
        """Queries, keys and values, each (n, heads, length, 32), of states (n, length, 384)."""
        q, k, v = (
            jnp.swapaxes(part(x).reshape(*x.shape[:2], HEADS, -1), 1, 2)
            for part in (self.query, self.key, self.value)
        )
        scale = q.shape[-1] ** -0.25
        return Heads(scale * q, scale * k, v)

    def __call__(self, x, mask, attention=softmax):
        """States after this layer, (n, length, 384); mask and attention as for :meth:`Encoder.embed`."""
        attended = jnp.swapaxes(attention(*self.heads(x), mask=mask[:, None]), 1, 2)
        x = self.norm(x + self.mixed(attended.reshape(x.shape)))
        return self.norm_out(x + self.down(jax.nn.gelu(self.up(x), approximate=False)))


class Encoder(eqx.Module):
    """An encoder of sentences: :func:`minilm` makes one."""

    words: jax.Array
    positions: jax.Array
    norm: Norm
    layers: tuple[Layer, ...]
    tokenizer: Callable[[str, int], list[int]] = eqx.field(static=True)
    source: str = eqx.field(static=True)

    def tokens(self, sentences, max_length=128):
        """Numbers of word pieces, padded with zeros, and a mask that is False on the padding.

        Args:
            sentences: texts, n of them.
            max_length: what is longer is cut, its marks of beginning and end included; at most 512.

        Returns:
            Integers and booleans, each (n, length of the longest).
        """
        max_length = checks.count(max_length, "max_length", least=2)
        if max_length > LONGEST:
            raise ValueError(f"max_length = {max_length}; give at most {LONGEST}, the positions that were trained")
        if isinstance(sentences, str) or not sentences or not all(isinstance(s, str) for s in sentences):
            raise ValueError(f"sentences = {sentences!r}; give a list of texts, at least one")
        rows = [self.tokenizer(sentence, max_length) for sentence in sentences]
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(lengths.max()) < lengths[:, None]
        ids = np.zeros(mask.shape, int)
        ids[mask] = np.concatenate(rows)
        return ids, mask

    def start(self, ids):
        """States before the first layer, (n, length, 384), of numbers of word pieces, (n, length)."""
        return self.norm(self.words[ids] + self.positions[: ids.shape[1]])

    def embed(self, ids, mask, attention=softmax):
        """Unit vectors, (n, 384), of sentences: the mean of the last layer's states, normalised.

        Args:
            ids, mask: from :meth:`tokens`.
            attention: in place of :func:`~rfcore.models.attention.softmax`, a function of q, k and v,
                (n, heads, length, 32), and of ``mask``, (n, 1, length); or one function per layer.
        """
        x = self.start(ids)
        for layer, attend in zip(self.layers, self._per_layer(attention), strict=True):
            x = layer(x, mask, attend)
        return pooled(x, mask)

    def heads(self, ids, mask):
        """Queries, keys and values of all layers: :class:`Heads`. What stands in the padding means nothing."""
        x, found = self.start(ids), []
        for layer in self.layers:
            found.append(layer.heads(x))
            x = layer(x, mask)
        return jax.tree.map(lambda *of_layers: jnp.stack(of_layers), *found)

    def _per_layer(self, attention):
        if callable(attention):
            return [attention] * len(self.layers)
        if len(attention) != len(self.layers) or not all(map(callable, attention)):
            raise ValueError(f"attention = {attention!r}; give a function, or one for each of {len(self.layers)} layers")
        return attention


def pooled(x, mask):
    """Means of states, (n, length, columns), over what is not padding, as unit vectors (n, columns)."""
    mean = jnp.where(mask[..., None], x, 0).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)


def minilm(*, fallback=False):
    """all-MiniLM-L6-v2, float32, with :mod:`rfcore.datasets` looking for its files as for data.

    Needs ``safetensors`` and ``tokenizers``, which ``pip install "rfcore[text]"`` brings.

    Args:
        fallback: whether an untrained encoder of the same shape, with a banner, replaces one that is nowhere
            to be had.

    Source: Wang et al., "MiniLM" (2020); Reimers and Gurevych, "Sentence-BERT" (2019).
    """
    entry = registry.find("minilm")
    model, tokenizer = (next(f for f in entry.files if f.path.endswith(end)) for end in (".safetensors", ".json"))

    def read():
        import safetensors.numpy

        return safetensors.numpy.load(storage.read(model)), _pieces(storage.read(tokenizer))

    (weights, pieces), source = stand_ins.real_or_stand_in(entry, read, stand_ins.encoder, fallback)
    weights = {name: jnp.asarray(value) for name, value in weights.items()}
    embeddings = {name: weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")}
    return Encoder(
        # A sentence by itself is all of one type.
        embeddings["word"] + embeddings["token_type"][0],
        embeddings["position"],
        _part(Norm, weights, "embeddings.LayerNorm"),
        tuple(_layer(weights, f"encoder.layer.{i}.") for i in range(entry.shape["layers"])),
        pieces,
        source,
    )


def _layer(weights, name):
    linear, norm = (partial(_part, kind, weights) for kind in (Linear, Norm))
    of_heads = (linear(f"{name}attention.self.{part}") for part in ("query", "key", "value"))
    mixed, normed = linear(f"{name}attention.output.dense"), norm(f"{name}attention.output.LayerNorm")
    up, down = linear(f"{name}intermediate.dense"), linear(f"{name}output.dense")
    return Layer(*of_heads, mixed, normed, up, down, norm(f"{name}output.LayerNorm"))


def _part(kind, weights, name):
    return kind(weights[f"{name}.weight"], weights[f"{name}.bias"])


def _pieces(content):
    """A function of a text and a greatest length, to numbers of word pieces."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(content.decode())
    tokenizer.no_padding()

    def pieces(text, max_length):
        tokenizer.enable_truncation(max_length)
        return tokenizer.encode(text).ids

    return pieces
