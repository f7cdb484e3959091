"""A small vision transformer, exact or a Performer of any coupling: trained so, or swapped afterwards.

An image is cut into square patches; each becomes a state, plus a learned one for its place; layers of a
transformer (:class:`companion.models.transformer.Layer`) follow; a linear map of the mean state gives the
logits of the classes.

Attention is a *kind*, a function ``(key, sizes)`` to one function of heads per layer: :func:`exact`,
:func:`uniform` or a :func:`performer`. In a Performer positive features (FAVOR+) estimate exact attention;
each head of each layer has frequencies of its own, drawn from one coupling.

Source: Dosovitskiy et al., "An image is worth 16 x 16 words" (2021); Choromanski et al., "Rethinking
attention with Performers" (2020); Simplex, Section 5.4; Couplings, Appendix B.3.
"""

from functools import cache, partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from companion.models import transformer
from rfcore.attention import random_feature_attention, softmax


class Task(NamedTuple):
    """Images as patches, (n, tokens, pixels) float32, and labels, (n,); from :func:`task`."""

    x: jax.Array
    y: jax.Array
    x_test: jax.Array
    y_test: jax.Array


class Sizes(NamedTuple):
    """Sizes of a :class:`VisionTransformer`, of its features and of its training."""

    width: int = 64
    n_heads: int = 4
    n_layers: int = 2
    n_features: int = 32
    """Frequencies of each head, m."""
    n_epochs: int = 10
    batch: int = 64
    rate: float = 2e-3
    """The greatest learning rate, after a tenth of the steps."""


class VisionTransformer(eqx.Module):
    """Patches, (n, tokens, pixels), to logits, (n, classes); attention is an argument."""

    patches: transformer.Linear
    positions: jax.Array
    """A state of each place, (tokens, width)."""
    layers: tuple[transformer.Layer, ...]
    out: transformer.Linear

    def __call__(self, x, attentions):
        """Logits; ``attentions`` has one function of heads per layer, from a kind of attention."""
        return self.out(self._states(x, attentions)[-1].mean(axis=1))

    def heads(self, x, attentions):
        """:class:`companion.models.transformer.Heads` of every layer."""
        return [
            layer.heads(states)
            for layer, states in zip(self.layers, self._states(x, attentions)[:-1], strict=True)
        ]

    def _states(self, x, attentions):
        states = [self.patches(x) + self.positions]
        for layer, attention in zip(self.layers, attentions, strict=True):
            states.append(layer(states[-1], attention=attention))
        return states


class Trained(NamedTuple):
    """A trained model, and its accuracy on the test images after every epoch, (epochs,)."""

    model: VisionTransformer
    accuracy: jax.Array


class Swapped(NamedTuple):
    """Many draws of features in the place of exact attention; from :func:`swapped`."""

    error: jax.Array
    """:func:`output_errors`, (draws, layers)."""
    accuracy: jax.Array
    """Of the model with all its layers swapped, (draws,)."""


def task(images, patch, n_train, n_test):
    """The first images of a data set to train on, the next to test, as a :class:`Task`.

    Args:
        images: a :class:`companion.datasets.Images`.
        patch: side of a patch, a divisor of the images' side.
        n_train, n_test: numbers of images.
    """
    if n_train + n_test > len(images.labels):
        raise ValueError(f"n_train + n_test = {n_train + n_test}; give at most {len(images.labels)}, all of {images.name}")
    x, y = patches(images.images, patch), images.labels.astype(np.int32)
    test = slice(n_train, n_train + n_test)
    return Task(*map(jnp.asarray, (x[:n_train], y[:n_train], x[test], y[test])))


def patches(images, size):
    """Square patches of images, row by row, of pixels with mean 0 and standard deviation 1 over all of them.

    Args:
        images: bytes, (n, channels, side, side).
        size: side of a patch, a divisor of the images' side.

    Returns:
        Array, (n, (side / size)^2, channels size^2), float32.
    """
    n, channels, side, _ = images.shape
    if side % size:
        raise ValueError(f"size = {size}; give a divisor of the images' side, {side}")
    cut = np.asarray(images, np.float32).reshape(n, channels, side // size, size, side // size, size)
    flat = cut.transpose(0, 2, 4, 1, 3, 5).reshape(n, (side // size) ** 2, channels * size**2)
    return ((flat - flat.mean(dtype=float)) / flat.std(dtype=float)).astype(np.float32)


def exact(key, sizes):
    """Softmax attention."""
    return [softmax] * sizes.n_layers


def uniform(key, sizes):
    """Attention to all positions alike: what is left where attention does nothing."""
    return [_mean_value] * sizes.n_layers


@cache
def performer(coupling):
    """Attention by positive features of fresh frequencies from a coupling, ``(key, m, d) -> (m, d)``."""

    def drawn(key, sizes):
        return [partial(random_feature_attention, omega=of_layer) for of_layer in frequencies(key, coupling, sizes)]

    return drawn


def frequencies(key, coupling, sizes):
    """Frequencies of every head, (layers, heads, m, d), float32; heads are independent."""
    keys = jax.random.split(key, (sizes.n_layers, sizes.n_heads))
    omega = jax.vmap(jax.vmap(lambda key: coupling(key, sizes.n_features, sizes.width // sizes.n_heads)))(
        keys
    )
    return omega.astype(jnp.float32)


@partial(jax.jit, static_argnames=("coupling", "sizes"))
def draws(keys, coupling, sizes):
    """:func:`frequencies` of many keys, (keys, layers, heads, m, d)."""
    return jax.lax.map(lambda key: frequencies(key, coupling, sizes), keys)  # vmap takes thrice as long to compile


def initial(key, task, sizes, n_classes=10):
    """A :class:`VisionTransformer` to be trained, float32."""
    keys = jax.random.split(key, sizes.n_layers + 3)
    n_tokens, n_pixels = task.x.shape[1:]
    return VisionTransformer(
        transformer.linear(keys[0], n_pixels, sizes.width),
        0.02 * jax.random.normal(keys[1], (n_tokens, sizes.width), jnp.float32),
        tuple(transformer.layer(key, sizes.width, sizes.n_heads) for key in keys[3:]),
        transformer.linear(keys[2], sizes.width, n_classes),
    )


def batches(key, i, n, batch):
    """Which of n images are in each batch of epoch i, (steps, batch); a last incomplete batch is left out."""
    order = jax.random.permutation(jax.random.fold_in(key, i), n)
    return order[: n // batch * batch].reshape(-1, batch)


def accuracy(model, x, y, attentions):
    """Share of images whose greatest logit is that of their label."""
    return jnp.mean(model(x, attentions).argmax(axis=-1) == y, dtype=jnp.float32)


@partial(jax.jit, static_argnames=("kind", "sizes"))
def trained(key, task, kind, sizes):
    """Train from scratch: AdamW on cross-entropy, with warm-up and cosine decay.

    The key fixes the initial weights and the order of the images whatever the kind, so that runs of one key
    are paired; frequencies are drawn anew in each step, and for each test.

    Args:
        key: JAX PRNG key.
        task: a :class:`Task`, with at least a batch of images to train on.
        kind: of attention.
        sizes: :class:`Sizes`.

    Returns:
        :class:`Trained`.
    """
    key_initial, key_order, key_draws = jax.random.split(key, 3)
    n_steps = len(task.x) // sizes.batch
    if not n_steps:
        raise ValueError(
            f"task has {len(task.x)} images to train on, batch = {sizes.batch}; give a batch at least"
        )
    total = n_steps * sizes.n_epochs
    optimiser = optax.adamw(
        optax.warmup_cosine_decay_schedule(0.0, sizes.rate, total // 10, total), weight_decay=0.01
    )

    def loss(model, key, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(model(x, kind(key, sizes)), y).mean()

    def step(state, here):
        (model, moments), (key, chosen) = state, here
        slopes = jax.grad(loss)(model, key, task.x[chosen], task.y[chosen])
        updates, moments = optimiser.update(slopes, moments, model)
        return (optax.apply_updates(model, updates), moments), None

    def epoch(state, i):
        key, key_test = jax.random.split(jax.random.fold_in(key_draws, i))
        here = jax.random.split(key, n_steps), batches(key_order, i, len(task.x), sizes.batch)
        state, _ = jax.lax.scan(step, state, here)
        return state, accuracy(state[0], task.x_test, task.y_test, kind(key_test, sizes))

    model = initial(key_initial, task, sizes)
    (model, _), curve = jax.lax.scan(epoch, (model, optimiser.init(model)), jnp.arange(sizes.n_epochs))
    return Trained(model, curve)


def output_errors(model, x, attentions):
    """Error of other attention in the place of a trained model's, layer by layer, (layers,).

    ::

        |O^ - O| / |O|,   O the outputs of exact attention, O^ of the other, from the same states

    so that no layer answers for those below it.
    """
    errors = []
    for heads, attention in zip(model.heads(x, [softmax] * len(model.layers)), attentions, strict=True):
        wanted = softmax(*heads)
        errors.append(jnp.linalg.norm(attention(*heads) - wanted) / jnp.linalg.norm(wanted))
    return jnp.stack(errors)


@jax.jit
def swapped(model, x, y, omega):
    """Put features into a model that was trained with exact attention; its weights stay.

    Args:
        model: a :class:`VisionTransformer`.
        x, y: images as patches, and their labels.
        omega: frequencies, (draws, layers, heads, m, d), from :func:`draws`.

    Returns:
        :class:`Swapped`, with an axis of draws first.
    """

    def of_draw(omega):
        attentions = [partial(random_feature_attention, omega=of_layer) for of_layer in omega]
        return Swapped(output_errors(model, x, attentions), accuracy(model, x, y, attentions))

    return jax.lax.map(of_draw, omega)


def _mean_value(q, k, v, mask=None):
    return jnp.broadcast_to(v.mean(axis=-2, keepdims=True), v.shape)
