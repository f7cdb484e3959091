"""A trained encoder whose attention is replaced: as it is, and with its last two layers tuned to a task.

A kind of attention is "exact", "uniform", "elu", "relu" or a map of
:data:`companion.papers.favor.real_heads.FITS`. Parameters of maps are fitted per head to texts of training,
and are the same for all texts.
"""

from functools import cache, partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from companion.models import transformer
from companion.models.encoder import pooled
from companion.papers.favor import real_heads
from rfcore import attention, couplings

# Attentions without features; what is no key here is a map, and all maps share what is compiled.
PLAIN = {"exact": attention.softmax, "uniform": real_heads.uniform, "elu": real_heads.elu, "relu": real_heads.relu}


def attentions(key, kind, parameters, m, n_layers):
    """A tuple of attentions, one per layer, with orthogonal frequencies drawn for each head.

    Args:
        parameters: of the map, each field with axes of layers and heads first; None with a plain kind.
        m: number of frequencies.
    """
    if parameters is None:
        return (PLAIN[kind],) * n_layers
    n_heads, d = parameters.A.shape[1:]
    keys = jax.random.split(key, n_layers * n_heads)
    omega = jax.lax.map(lambda key: couplings.orthogonal(key, m, d), keys, batch_size=n_heads).astype(parameters.A.dtype)
    of_layers = [jax.tree.map(lambda field, layer=layer: field[layer], parameters) for layer in range(n_layers)]
    return tuple(
        partial(attention.random_feature_attention, omega=omega, parameters=of_layer)
        for omega, of_layer in zip(omega.reshape(n_layers, n_heads, m, d), of_layers, strict=True)
    )


def embeddings(key, encoder, ids, mask, kind, parameters, m):
    """Unit vectors, (n, 384), of texts by the encoder with this attention in all layers."""
    return _embeddings(key, encoder, ids, mask, plain(kind), parameters, m)


@eqx.filter_jit
def _embeddings(key, encoder, ids, mask, kind, parameters, m):
    return encoder.embed(ids, mask, attentions(key, kind, parameters, m, len(encoder.layers)))


def plain(kind):
    """A plain kind's name, and one for all maps."""
    return kind if kind in PLAIN else "features"


class Task(NamedTuple):
    """States that enter the layers to be tuned, (n, length, columns), masks and labels."""

    states: jax.Array
    mask: np.ndarray
    labels: np.ndarray


def task(encoder, texts, labels, n_frozen, max_length, at_once=64):
    """:class:`Task` of texts after the first ``n_frozen`` layers, which keep exact attention."""
    ids, mask = encoder.tokens(list(texts), max_length)
    batches = ((ids[i : i + at_once], mask[i : i + at_once]) for i in range(0, len(ids), at_once))
    return Task(jnp.concatenate([_states(encoder, *batch, n_frozen) for batch in batches]), mask, np.asarray(labels))


@eqx.filter_jit
def _states(encoder, ids, mask, n_frozen):
    x = encoder.start(ids)
    for layer in encoder.layers[:n_frozen]:
        x = layer(x, mask)
    return x


class Classifier(eqx.Module):
    """Layers, a mean over the text, and a linear map to the logits of two classes."""

    layers: tuple[transformer.Layer, ...]
    last: transformer.Linear

    def __call__(self, states, mask, attends):
        """Logits, (n, 2), with one attention per layer."""
        for layer, attend in zip(self.layers, attends, strict=True):
            states = layer(states, mask, attend)
        return self.last(pooled(states, mask))


def tuned(key, layers, training, kind, m, n_steps, batch=32, rate=2e-4, refits=4):
    """A :class:`Classifier` trained with this attention, by AdamW with warm-up and cosine decay.

    Frequencies are drawn anew in every step. Maps are fitted to the queries and keys of 64 texts of training,
    ``refits`` times, between steps: so no text is fitted to itself, but for those.

    Args:
        key: that of the classes' map, batches and frequencies: two kinds with one key share all three.
        layers: of the encoder, to be tuned.
        training: a :class:`Task`.
    """
    for_last, for_batches, for_steps = jax.random.split(key, 3)
    model = Classifier(tuple(layers), transformer.linear(for_last, training.states.shape[-1], 2))
    optimiser = _adamw(rate, n_steps)
    memory = optimiser.init(eqx.filter(model, eqx.is_array))
    rows = jax.random.randint(for_batches, (refits, n_steps // refits, batch), 0, len(training.labels))
    keys = jax.random.split(for_steps, rows.shape[:2])
    sample = jax.tree.map(lambda x: x[:64], training)
    for i in range(refits):
        fits = fitted(model, sample, kind)
        model, memory = _steps(optimiser, model, memory, training, plain(kind), fits, m, rows[i], keys[i])
    return model, fitted(model, sample, kind)


@cache  # the same object each time, or all is compiled anew
def _adamw(rate, n_steps):
    return optax.adamw(optax.warmup_cosine_decay_schedule(0.0, rate, n_steps // 10, n_steps))


def fitted(model, sample, kind):
    """Parameters for every layer and head, from exact attention's queries and keys; None for a plain kind."""
    if kind in PLAIN:
        return None
    states, found = sample.states, []
    for layer in model.layers:
        q, k, _ = (x.swapaxes(0, 1)[:, sample.mask] for x in layer.heads(states))
        found.append(jax.vmap(lambda x, y: real_heads.FITS[kind](x, y).filled(x.shape[1], x.dtype))(q, k))
        states = layer(states, sample.mask)
    return jax.tree.map(lambda *of_layers: jnp.stack(of_layers), *found)


@eqx.filter_jit
def _steps(optimiser, model, memory, training, kind, fits, m, rows, keys):
    weights, fixed = eqx.partition(model, eqx.is_array)

    def loss(weights, rows, key):
        attends = attentions(key, kind, fits, m, len(model.layers))
        logits = eqx.combine(weights, fixed)(training.states[rows], jnp.asarray(training.mask)[rows], attends)
        return optax.softmax_cross_entropy_with_integer_labels(logits, jnp.asarray(training.labels)[rows]).mean()

    def step(carry, here):
        weights, memory = carry
        updates, memory = optimiser.update(jax.grad(loss)(weights, *here), memory, weights)
        return (optax.apply_updates(weights, updates), memory), None

    (weights, memory), _ = jax.lax.scan(step, (weights, memory), (rows, keys))
    return eqx.combine(weights, fixed), memory


def accuracy(key, model, testing, kind, fits, m, at_once=109):
    """Whether each text of a :class:`Task` is classified rightly; ``at_once`` texts share frequencies."""
    found = [
        _logits(key, model, *part, plain(kind), fits, m)
        for key, part in zip(
            jax.random.split(key, -(-len(testing.labels) // at_once)),
            ((testing.states[i : i + at_once], testing.mask[i : i + at_once]) for i in range(0, len(testing.labels), at_once)),
            strict=True,
        )
    ]
    return np.concatenate(found).argmax(axis=1) == testing.labels


@eqx.filter_jit
def _logits(key, model, states, mask, kind, fits, m):
    return model(states, mask, attentions(key, kind, fits, m, len(model.layers)))
