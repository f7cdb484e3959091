"""A small causal model of characters, trained with exact attention or with random features in its place.

Features are redrawn at every step. Their parameters are fitted every ``EVERY`` steps to queries and keys of
the batch before, never to a sequence that is being predicted: means and second moments of a whole sequence
would tell its characters what comes after them.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from companion.models import transformer
from rfcore import attention, couplings

EVERY = 25  # steps between two fits
MOST = 128  # frequencies drawn; systems with fewer take the first, and so share them


class Text(NamedTuple):
    """Texts as one sequence of symbols, int32, the first part to train on and the second held out."""

    training: np.ndarray
    held_out: np.ndarray
    characters: str
    """Those with a symbol of their own, the most frequent first; symbol 0 stands for all others."""


def text(texts, n_symbols=96, share=0.1):
    """:class:`Text` of some texts, joined by line ends; the last ``share`` of them are held out.

    Args:
        texts: sequence of strings.
        n_symbols: size of the alphabet, chosen by the texts to train on.
        share: of the texts.
    """
    n_training = round((1 - share) * len(texts))
    parts = [
        np.frombuffer("\n".join(part).encode("utf-32-le"), np.uint32)
        for part in (texts[:n_training], texts[n_training:])
    ]
    counts = np.bincount(parts[0], minlength=max(int(part.max()) for part in parts) + 1)
    known = np.argsort(-counts, kind="stable")[: n_symbols - 1]
    known = known[counts[known] > 0]
    symbol = np.zeros(len(counts), np.int32)
    symbol[known] = 1 + np.arange(len(known))
    return Text(*(symbol[part] for part in parts), "".join(map(chr, known)))


def windows(rng, symbols, n_batches, size, length):
    """Sequences that begin anywhere, each with the symbol that follows it, (n_batches, size, length + 1)."""
    starts = rng.integers(len(symbols) - length, size=(n_batches, size, 1))
    return symbols[starts + np.arange(length + 1)]


class Features(NamedTuple):
    """Attention by random features: how many, and the fit of their parameters to points x and y."""

    n_features: int
    fit: Callable


def exact(q, k, v, mask=None):
    """Softmax over the past and the position itself."""
    return attention.softmax(q, k, v, causal=True, mask=mask)


def uniform(q, k, v, mask=None):
    """The mean of the values so far: attention to nothing in particular."""
    n = 1 + jnp.arange(v.shape[-2], dtype=v.dtype)
    return jnp.cumsum(v, axis=-2) / n[:, None]


class CharacterModel(eqx.Module):
    """Characters, layers of a transformer, and logits of the character that follows.

    Queries and keys are rotated by angles that grow with their position (Su et al., "RoFormer", 2021), so
    that q . k hangs on how far apart two positions are, and on neither alone.
    """

    embedded: jax.Array
    layers: tuple[transformer.Layer, ...]
    out: transformer.Linear

    def __call__(self, symbols, attentions):
        """Logits, (n, length, n_symbols), of symbols (n, length) and one attention for each layer."""
        x = self.embedded[symbols]
        for layer, attend in zip(self.layers, attentions, strict=True):
            x = layer(x, attention=partial(_of_rotated, attend))
        return self.out(x)


def model(key, training, n_symbols=96, width=64, n_layers=2, n_heads=4):
    """A :class:`CharacterModel` to be trained, float32, that knows how frequent each symbol of a text is.

    Without that start Adam moves all states together towards the frequent symbols, and they take hundreds of
    steps to come apart again.

    Args:
        training: symbols of a text, below ``n_symbols``.
    """
    counts = 1 + np.bincount(training, minlength=n_symbols)
    if len(counts) > n_symbols:
        raise ValueError(f"training has the symbol {len(counts) - 1}; give symbols below n_symbols = {n_symbols}")
    first, last, *keys = jax.random.split(key, 2 + n_layers)
    layers = tuple(transformer.layer(key, width, n_heads) for key in keys)
    out = transformer.Linear(
        0.1 * transformer.linear(last, width, n_symbols).weight, jnp.log(jnp.array(counts / counts.sum(), jnp.float32))
    )
    return CharacterModel(jax.random.normal(first, (n_symbols, width), jnp.float32), layers, out)


def rotated(x):
    """Pairs of columns of x, (..., length, d), rotated by position times 256^(-2 i / d), i < d / 2."""
    length, d = x.shape[-2:]
    angles = np.arange(length)[:, None] * 256.0 ** (-np.arange(0, d, 2) / d)
    cos, sin = (f(angles).astype(x.dtype) for f in (np.cos, np.sin))
    u, v = x[..., : d // 2], x[..., d // 2 :]
    return jnp.concatenate([u * cos - v * sin, u * sin + v * cos], axis=-1)


def _of_rotated(attend, q, k, v, mask=None):
    return attend(rotated(q), rotated(k), v, mask=mask)


@partial(jax.jit, static_argnames=("n", "of"))
def frequencies(key, n, of):
    """Orthogonal frequencies of every head, n times, (n, layers, heads, ``MOST``, d), float32.

    Args:
        of: layers, heads and size of a head.
    """
    d = of[2]
    keys = jax.random.split(key, (*of[:2], -(-MOST // d), n)).ravel()
    blocks = jax.vmap(lambda key: couplings.orthogonal(key, d, d))(keys).astype(jnp.float32)
    rows = jnp.moveaxis(blocks.reshape(*of[:2], -1, n, d, d), 3, 0)
    return rows.reshape(n, *of[:2], -1, d)[..., :MOST, :]


def attentions(attend, omega, parameters):
    """One attention for each layer: ``attend`` itself, or features with their frequencies and parameters.

    Args:
        attend: :class:`Features`, of which only the number counts, or a function of q, k, v and ``mask``.
        omega: (layers, heads, m, d), m at least the number of features.
        parameters: of :func:`fitted`.
    """
    if not isinstance(attend, Features):
        return (attend,) * len(omega)
    return tuple(
        partial(attention.random_feature_attention, omega=of_layer[:, : attend.n_features], parameters=fitted, causal=True)
        for of_layer, fitted in zip(omega, parameters, strict=True)
    )


def fitted(model, symbols, omega, features):
    """Parameters of every layer, one set for each head, from the queries and keys of some sequences.

    Layer by layer: what the second reads was made by features fitted to the first.

    Args:
        model: a :class:`CharacterModel`.
        symbols: (n, length), which are not to be predicted with these parameters.
        omega: (layers, heads, m, d).
        features: :class:`Features`.
    """
    x, found = model.embedded[symbols], []
    for layer, of_layer in zip(model.layers, omega, strict=True):
        found.append(_fitted_to(*_points(layer, x), features.fit))
        x = _after(layer, x, of_layer[:, : features.n_features], found[-1])
    return tuple(found)


@jax.jit
def _points(layer, x):
    """Rotated queries and keys of all sequences, each (heads, points, d)."""
    q, k, _ = layer.heads(x)
    return tuple(jnp.swapaxes(rotated(side), 0, 1).reshape(layer.n_heads, -1, side.shape[-1]) for side in (q, k))


@partial(jax.jit, static_argnames="fit")
def _fitted_to(q, k, fit):
    return jax.vmap(lambda x, y: fit(x, y).filled(x.shape[1], x.dtype))(q, k)


@jax.jit
def _after(layer, x, omega, parameters):
    (attend,) = attentions(Features(omega.shape[-2], None), omega[None], (parameters,))
    return layer(x, attention=partial(_of_rotated, attend))


def bits(model, windows, attentions):
    """Mean bits per character of windows, (n, length + 1): -log2 of the probability of what follows."""
    logits = model(windows[:, :-1], attentions)
    return optax.softmax_cross_entropy_with_integer_labels(logits, windows[:, 1:]).mean() / math.log(2)


@partial(jax.jit, static_argnames="attend")
def _bits_of_batch(model, windows, omega, parameters, attend):
    return bits(model, windows, attentions(attend, omega, parameters))


def held_out_bits(key, model, windows, attend, parameters=()):
    """Mean bits per character of windows, (n_batches, n, length + 1), with new frequencies per batch."""
    kind, sizes = _unfitted(attend), _sizes(model)
    omega = _drawn(key, len(windows), sizes, attend)
    of_batches = [_bits_of_batch(model, *here, parameters, kind) for here in zip(windows, omega, strict=True)]
    return float(np.mean([float(x) for x in of_batches]))


def swapped(key, model, earlier, windows, attend):
    """Bits per character of a trained model with :class:`Features`, fitted to earlier sequences.

    Args:
        key: of the frequencies.
        earlier: (n, length), of the text to train on.
        windows: held out, (n_batches, n, length + 1).
        attend: :class:`Features`.
    """
    parameters = fitted(model, earlier, frequencies(jax.random.fold_in(key, 0), EVERY, _sizes(model))[0], attend)
    return held_out_bits(jax.random.fold_in(key, 1), model, windows, attend, parameters)


class Run(NamedTuple):
    """A training: bits per character of held-out text along it, and of more text at the end; the model."""

    curve: np.ndarray
    """Shape (n_steps / EVERY,), after each ``EVERY`` steps."""
    final: float
    model: CharacterModel


def trained(key, start, batches, watched, last, attend, rate=8e-3):
    """Train a model with AdamW, a tenth of the steps of warm-up and a cosine: a :class:`Run`.

    What two systems share of ``key``, ``start`` and ``batches`` makes a pair of them.

    Args:
        key: of the frequencies.
        start: a :class:`CharacterModel`.
        batches: :func:`windows`, the first for the first fit alone, then one for each step, whose number is a
            multiple of ``EVERY``.
        watched, last: held-out windows of the curve and of the end.
        attend: :class:`Features`, or a function of q, k, v and ``mask``, such as :func:`exact`.
        rate: greatest learning rate.
    """
    n_steps = len(batches) - 1
    if n_steps < EVERY or n_steps % EVERY:
        raise ValueError(f"batches has length {len(batches)}; give one more than a multiple of {EVERY}")
    sizes, curve, model, parameters = _sizes(start), [], start, ()
    state = _optimiser(n_steps, rate).init(eqx.filter(start, eqx.is_array))
    for i in range(0, n_steps, EVERY):
        omega = _drawn(jax.random.fold_in(key, i), EVERY, sizes, attend)
        if isinstance(attend, Features):
            parameters = fitted(model, before(batches, i), omega[0], attend)
        here = batches[i + 1 : i + 1 + EVERY], omega
        model, state = _steps(model, state, here, parameters, _unfitted(attend), n_steps, rate)
        curve.append(held_out_bits(jax.random.fold_in(key, n_steps), model, watched, attend, parameters))
    final = held_out_bits(jax.random.fold_in(key, n_steps + 1), model, last, attend, parameters)
    return Run(np.array(curve), final, model)


def before(batches, i):
    """Sequences to fit to before step i: those of the step before, without what follows them."""
    return batches[i, :, :-1]


def _drawn(key, n, sizes, attend):
    """Frequencies, where there are any to draw; else what has the same leading axes."""
    return frequencies(key, n, sizes) if isinstance(attend, Features) else np.zeros((n, sizes[0]))


def _sizes(model):
    """Layers, heads, size of a head."""
    first = model.layers[0]
    return len(model.layers), first.n_heads, len(first.query.bias) // first.n_heads


def _unfitted(attend):
    """What has to be compiled anew: fits differ in numbers alone."""
    return Features(attend.n_features, None) if isinstance(attend, Features) else attend


@cache
def _optimiser(n_steps, rate):
    schedule = optax.warmup_cosine_decay_schedule(0.0, rate, n_steps // 10, n_steps)
    return optax.adamw(schedule, weight_decay=0.01)


@partial(jax.jit, static_argnames=("attend", "n_steps", "rate"))
def _steps(model, state, batches_and_omega, parameters, attend, n_steps, rate):
    def step(carry, here):
        model, state = carry
        gradient = jax.grad(bits)(model, here[0], attentions(attend, here[1], parameters))
        updates, state = _optimiser(n_steps, rate).update(gradient, state, model)
        return (optax.apply_updates(model, updates), state), None

    return jax.lax.scan(step, (model, state), batches_and_omega)[0]
