"""Maps of no paper: fitted to one text, of keys in clusters, beside the greatest keys.

Shapes of one head and one text: q (n, d), k (l, d), v (l, c), all positions seen; a map in C blocks has
frequencies (C, m, d), parameters with an axis of blocks first, and centres of keys (C, d).
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.cluster import vq

from companion.papers.favor.real_heads import AT_ONCE, least_of_greatest, relative_errors
from rfcore import attention, features
from rfcore.attention.logs import scaled
from rfcore.features import ExponentialParameters

SAMPLE = 512  # keys of a cluster that a fit sees


class Blocks(NamedTuple):
    """Features of several sets of keys: a key has those of the block whose centre is nearest, a query all."""

    parameters: ExponentialParameters
    centres: jax.Array


def whole(fit, of):
    """One block, fitted to each head on some texts: :class:`Blocks`, an axis of heads first."""
    q, k = of.q[:, of.mask], of.k[:, of.mask]
    parameters = jax.vmap(lambda x, y: fit(x, y).filled(x.shape[1], x.dtype))(q, k)
    return Blocks(*jax.tree.map(lambda x: x[:, None], (parameters, k.mean(axis=1))))


def own(fit, of):
    """One block, fitted to each text by itself: axes of heads and texts first. No text may have padding."""

    def one(x, y):
        return jax.tree.map(lambda leaf: leaf[None], Blocks(fit(x, y).filled(x.shape[1], x.dtype), y.mean(axis=0)))

    return jax.vmap(jax.vmap(one))(of.q, of.k)


def clustered(rng, fit, of, n_clusters):
    """A block for each cluster of keys, by k-means on those of some texts: an axis of heads first.

    ::

        exp(x . y) = exp(x . c) exp(x . (y - c))       c the centre of y's cluster

    With ``fit`` centred a block has its own means of keys, and stays unbiased.
    """
    q, k = of.q[:, of.mask], np.asarray(of.k[:, of.mask])
    centres, chosen = [], []
    for y in k:
        of_head, labels = vq.kmeans2(y, n_clusters, minit="++", seed=rng)
        centres.append(of_head)
        # As many of each cluster, so that one function fits all.
        chosen.append([y[rng.choice(np.flatnonzero(labels == c), SAMPLE)] for c in range(n_clusters)])
    of_clusters = jax.vmap(lambda x, y: fit(x, y).filled(x.shape[1], x.dtype), (None, 0))
    return Blocks(jax.vmap(of_clusters)(q, np.array(chosen)), jnp.asarray(centres))


def log_features(q, k, omega, blocks):
    """Logarithms of features, (n, C m) and (l, C m): -inf where a key is of another block."""
    distances = jnp.sum((k[:, None] - blocks.centres) ** 2, axis=-1)
    of_key = jnp.argmin(distances, axis=1)[:, None] == jnp.arange(len(blocks.centres))
    log_q, log_k = (
        jnp.moveaxis(
            jax.vmap(lambda w, p, x=x, side=side: features.log_exponential(x, w, p, side, "softmax"))(omega, blocks.parameters), 0, 1
        )
        for x, side in ((q, "x"), (k, "y"))
    )
    log_k = jnp.where(of_key[:, :, None], log_k, -jnp.inf)
    return log_q.reshape(len(q), -1), log_k.reshape(len(k), -1)


def by_blocks(q, k, v, omega, blocks):
    """Linear attention, (n, c), at the cost of C m features."""
    return attention.linear_of_logs(*log_features(q, k, omega, blocks), v)


def with_greatest(q, k, v, omega, blocks, count):
    """The ``count`` keys that weigh most for a query exactly, the rest by features, in quadratic time.

    ::

        out = (sum_top e^(q . k) v + sum_rest phi(q) . psi(k) v) / (the same with 1 for v)

    Source: Chen et al., "Scatterbrain" (2021), with the greatest keys in place of those that hashing finds.
    """
    phi_q, phi_k, exponents = scaled(*log_features(q, k, omega, blocks))
    scores = q @ k.T
    least = least_of_greatest(scores, count)
    # Both over e^(a(q)), and over whatever else keeps the exact part finite.
    shift = jnp.maximum(scores.max(axis=1, keepdims=True) - exponents, 0)
    weights = jnp.where(scores >= least, jnp.exp(scores - exponents - shift), phi_q @ phi_k.T * jnp.exp(-shift))
    return weights @ v / weights.sum(axis=1, keepdims=True)


@partial(jax.jit, static_argnames="attend")
def errors(attend, omega, of, blocks):
    """Relative errors of an attention of one head and one text, (heads, n).

    Args:
        attend: ``(q, k, v, omega, blocks) -> out``.
        omega: (heads, n, C, m, d).
        blocks: with an axis of heads first, or with one of heads and one of texts.
    """
    per_text = 0 if blocks.centres.ndim == 4 else None

    def of_head(here):
        omega, q, k, v, exact, blocks = here
        out = jax.vmap(attend, (0, 0, 0, 0, per_text))(q, k, v, omega, blocks)
        return relative_errors(out, exact, jnp.ones(q.shape[:2], bool))

    return jax.lax.map(of_head, (omega, of.q, of.k, of.v, of.exact, blocks), batch_size=AT_ONCE)
