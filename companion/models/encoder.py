"""A trained encoder of sentences, all-MiniLM-L6-v2, whose attention can be replaced.

Six layers of twelve heads (BERT's, Devlin et al., 2019), distilled from a larger model and trained to tell
which of two sentences belong together. An encoder is a pytree: its weights can be trained further.
"""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from companion.datasets import registry, stand_ins, storage
from companion.models.transformer import Layer, Linear, Norm
from rfcore import checks
from rfcore.attention import softmax

LONGEST = 512


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
        if max_length > LONGEST:
            raise ValueError(f"max_length = {max_length}; give at most {LONGEST}, the positions that were trained")
        if isinstance(sentences, str):
            raise ValueError(f"sentences = {sentences!r}; give a list of texts")
        rows = [self.tokenizer(sentence, max_length) for sentence in sentences]
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(lengths.max()) < lengths[:, None]
        ids = np.zeros(mask.shape, int)
        ids[mask] = np.concatenate(rows)
        return ids, mask

    def start(self, ids):
        """States before the first layer, (n, length, 384), of numbers of word pieces, (n, length)."""
        ids = ids if checks.is_traced(ids) else np.asarray(ids)
        if not checks.is_traced(ids) and not (ids.size == 0 or 0 <= ids.min() <= ids.max() < len(self.words)):
            raise ValueError(f"ids has values from {ids.min()} to {ids.max()}; give numbers from 0 to {len(self.words) - 1}")
        return self.norm(self.words[ids] + self.positions[: ids.shape[1]])

    def embed(self, ids, mask, attention=softmax):
        """Unit vectors, (n, 384), of sentences: the mean of the last layer's states, normalised.

        Args:
            ids, mask: from :meth:`tokens`.
            attention: in place of :func:`~rfcore.attention.softmax`, a function of q, k and v,
                (n, heads, length, 32), and of ``mask``, (n, 1, length); or one function per layer.
        """
        x, mask = self.start(ids), _mask(mask, ids)
        for layer, attend in zip(self.layers, self._per_layer(attention), strict=True):
            x = layer(x, mask, attend)
        return pooled(x, mask)

    def heads(self, ids, mask):
        """:class:`~companion.models.transformer.Heads` of all layers, each (layers, n, heads, length, 32).

        What stands in the padding means nothing.
        """
        x, mask, found = self.start(ids), _mask(mask, ids), []
        for layer in self.layers:
            found.append(layer.heads(x))
            x = layer(x, mask)
        return jax.tree.map(lambda *of_layers: jnp.stack(of_layers), *found)

    def _per_layer(self, attention):
        if callable(attention):
            return [attention] * len(self.layers)
        return attention


def _mask(mask, ids):
    mask = mask if checks.is_traced(mask) else np.asarray(mask)
    if mask.dtype != bool or mask.shape != np.shape(ids):
        got = f"dtype {mask.dtype} and shape {mask.shape}"
        raise ValueError(f"mask has {got}; give booleans of the shape of ids, {np.shape(ids)}, True where there is no padding")
    return mask


def pooled(x, mask):
    """Means of states, (n, length, columns), over what is not padding, as unit vectors (n, columns)."""
    mean = jnp.where(mask[..., None], x, 0).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)


def minilm(*, fallback=False):
    """all-MiniLM-L6-v2, float32, with :mod:`companion.datasets` looking for its files as for data.

    Needs ``safetensors`` and ``tokenizers``, which the extra ``book`` brings.

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
        tuple(_layer(weights, f"encoder.layer.{i}.", entry.shape["heads"]) for i in range(entry.shape["layers"])),
        pieces,
        source,
    )


def _layer(weights, name, n_heads):
    linear, norm = (partial(_part, kind, weights) for kind in (Linear, Norm))
    of_heads = (linear(f"{name}attention.self.{part}") for part in ("query", "key", "value"))
    mixed, normed = linear(f"{name}attention.output.dense"), norm(f"{name}attention.output.LayerNorm")
    up, down = linear(f"{name}intermediate.dense"), linear(f"{name}output.dense")
    return Layer(*of_heads, mixed, normed, up, down, norm(f"{name}output.LayerNorm"), n_heads)


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
