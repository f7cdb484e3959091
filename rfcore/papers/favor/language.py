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

from rfcore import checks, couplings
from rfcore.features import ExponentialParameters
from rfcore.models import attention, transformer

EVERY = 25  # steps between two fits


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
    n_symbols, share = checks.count(n_symbols, "n_symbols"), checks.probability(share, "share")
    n_training = round((1 - share) * len(texts))
    parts = [
        np.frombuffer("\n".join(part).encode("utf-32-le"), np.uint32) for part in (texts[:n_training], texts[n_training:])
    ]
    counts = np.bincount(parts[0], minlength=max(int(part.max()) for part in parts) + 1)
    known = np.argsort(-counts, kind="stable")[: n_symbols - 1]
    known = known[counts[known] > 0]
    symbol = np.zeros(len(counts), np.int32)
    symbol[known] = 1 + np.arange(len(known))
    return Text(*(symbol[part] for part in parts), "".join(map(chr, known)))


def windows(rng, symbols, n_batches, size, length):
    """Batches of sequences that begin anywhere, each with the symbol that follows it, (n_batches, size, length + 1)."""
    starts = rng.integers(len(symbols) - length, size=(n_batches, size, 1))
    return symbols[starts + np.arange(length + 1)]


class Features(NamedTuple):
    """Attention by random features: how many, and the fit of their parameters, ``(x, y) -> ExponentialParameters``."""

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
    """Characters and positions, layers of a transformer, and logits of the character that follows.

    Positions are the sines and cosines of Vaswani et al. (2017).
    """

    embedded: jax.Array
    layers: tuple[transformer.Layer, ...]
    out: transformer.Linear

    def start(self, symbols):
        """States before the first layer, (n, length, width)."""
        width = self.embedded.shape[1]
        angles = np.arange(symbols.shape[1])[:, None] / 10_000 ** (np.arange(0, width, 2) / width)
        return self.embedded[symbols] + np.concatenate([np.sin(angles), np.cos(angles)], axis=1, dtype=np.float32)

    def __call__(self, symbols, attentions):
        """Logits, (n, length, n_symbols), of symbols (n, length) and one attention for each layer."""
        x = self.start(symbols)
        for layer, attend in zip(self.layers, attentions, strict=True):
            x = layer(x, attention=attend)
        return self.out(x)


def model(key, n_symbols, width=64, n_layers=2, n_heads=4):
    """A :class:`CharacterModel` to be trained, float32."""
    n_symbols, n_layers = checks.count(n_symbols, "n_symbols"), checks.count(n_layers, "n_layers")
    first, last, *keys = jax.random.split(checks.key(key), 2 + n_layers)
    embedded = 0.5 * jax.random.normal(first, (n_symbols, width), jnp.float32)
    layers = tuple(transformer.layer(key, width, n_heads) for key in keys)
    out = transformer.linear(last, width, n_symbols)
    return CharacterModel(embedded, layers, eqx.tree_at(lambda out: out.weight, out, 0.1 * out.weight))


@partial(jax.jit, static_argnames=("n", "of", "m"))
def frequencies(key, n, of, m):
    """Orthogonal frequencies of every head, n times, (n, layers, heads, m, d).

    Args:
        of: layers, heads and size of a head.
    """
    n_layers, n_heads, d = of
    keys = jax.random.split(key, n * n_layers * n_heads)
    drawn = jax.lax.map(lambda key: couplings.orthogonal(key, m, d), keys, batch_size=256)
    return drawn.astype(jnp.float32).reshape(n, *of[:2], m, d)


def attentions(attend, omega, parameters):
    """One attention for each layer: ``attend`` itself, or features with their frequencies and parameters."""
    if not isinstance(attend, Features):
        return (attend,) * len(omega)
    return tuple(
        partial(attention.by_features, omega=of_layer, parameters=fitted, causal=True)
        for of_layer, fitted in zip(omega, parameters, strict=True)
    )


@partial(jax.jit, static_argnames="fit")
def fitted(model, symbols, omega, fit):
    """Parameters of every layer, one set for each head, from the queries and keys of some sequences.

    Layer by layer: what the second reads was made by features fitted to the first.

    Args:
        model: a :class:`CharacterModel`.
        symbols: (n, length), which are not to be predicted with these parameters.
        omega: (layers, heads, m, d).
        fit: of :class:`Features`.
    """
    x, found = model.start(symbols), []
    for layer, of_layer in zip(model.layers, omega, strict=True):
        q, k, _ = layer.heads(x)
        q, k = (jnp.swapaxes(side, 0, 1).reshape(layer.n_heads, -1, side.shape[-1]) for side in (q, k))
        found.append(jax.vmap(lambda x, y: fit(x, y).filled(x.shape[1], x.dtype))(q, k))
        x = layer(x, attention=partial(attention.by_features, omega=of_layer, parameters=found[-1], causal=True))
    return tuple(found)


def bits(model, windows, attentions):
    """Mean bits per character of windows, (n, length + 1): -log2 of the probability of what follows."""
    logits = model(windows[:, :-1], attentions)
    return optax.softmax_cross_entropy_with_integer_labels(logits, windows[:, 1:]).mean() / math.log(2)


@partial(jax.jit, static_argnames="attend")
def held_out_bits(model, windows, omega, parameters, attend):
    """Bits per character of each batch of windows, (n_batches, n, length + 1), which has frequencies of its own."""
    return jax.lax.map(lambda here: bits(model, here[0], attentions(attend, here[1], parameters)), (windows, omega))


class Run(NamedTuple):
    """A model's training: bits per character on held-out text before every fit, and at the end on more of it."""

    curve: np.ndarray
    """Shape (n_steps / EVERY,), after each ``EVERY`` steps."""
    final: float
    model: CharacterModel


def trained(key, start, batches, watched, last, attend, rate=3e-3):
    """Train a model with AdamW, a tenth of the steps of warm-up and a cosine: a :class:`Run`.

    What two systems share of ``key``, ``start`` and ``batches`` makes a pair of them.

    Args:
        key: of the frequencies.
        start: a :class:`CharacterModel`.
        batches: :func:`windows`, the first for the first fit alone, one more for each step; a multiple of
            ``EVERY`` steps.
        watched, last: held-out windows of the curve and of the end.
        attend: :class:`Features`, or a function of q, k, v and ``mask``, such as :func:`exact`.
        rate: greatest learning rate.
    """
    n_steps = len(batches) - 1
    if n_steps < EVERY or n_steps % EVERY:
        raise ValueError(f"batches has length {len(batches)}; give one more than a multiple of {EVERY}")
    is_drawn, first = isinstance(attend, Features), start.layers[0]
    of = len(start.layers), first.n_heads, len(first.query.bias) // first.n_heads
    m, compiled = (attend.n_features, Features(attend.n_features, None)) if is_drawn else (1, attend)
    params, curve = start, []
    state, parameters = _optimiser(n_steps, rate).init(eqx.filter(start, eqx.is_array)), (ExponentialParameters(),) * of[0]

    def drawn(purpose, n):
        return frequencies(jax.random.fold_in(key, purpose), n, of, m) if is_drawn else jnp.zeros((n, *of[:2], 1, of[2]), jnp.float32)

    def measured(windows, purpose):
        return np.asarray(held_out_bits(params, windows, drawn(purpose, len(windows)), parameters, compiled)).mean()

    for i in range(0, n_steps, EVERY):
        omega = drawn(i, EVERY)
        if is_drawn:
            parameters = fitted(params, batches[i, :, :-1], omega[0], attend.fit)
        params, state = _steps(params, state, batches[i + 1 : i + 1 + EVERY], omega, parameters, compiled, n_steps, rate)
        curve.append(measured(watched, n_steps))
    return Run(np.array(curve), measured(last, n_steps + 1), params)


@cache
def _optimiser(n_steps, rate):
    schedule = optax.warmup_cosine_decay_schedule(0.0, rate, n_steps // 10, n_steps)
    return optax.adamw(schedule, weight_decay=0.01)


@partial(jax.jit, static_argnames=("attend", "n_steps", "rate"))
def _steps(model, state, batches, omega, parameters, attend, n_steps, rate):
    def step(carry, here):
        model, state = carry
        gradient = jax.grad(bits)(model, here[0], attentions(attend, here[1], parameters))
        updates, state = _optimiser(n_steps, rate).update(gradient, state, model)
        return (optax.apply_updates(model, updates), state), None

    return jax.lax.scan(step, (model, state), (batches, omega))[0]
