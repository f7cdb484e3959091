"""Attention of a trained encoder's heads: estimated by features, and by what is no random feature.

Shapes: queries, keys and values q, k and v (heads, n, l, d), of n texts of l positions, queries and keys with
the factor d^(-1/4); ``mask`` (n, l), True where a position is not padding; errors (heads, n).
"""

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rfcore import attention, features
from rfcore.attention.logs import scaled
from rfcore.features import ExponentialParameters
from rfcore.solvers import exponential

AT_ONCE = 6  # heads, and texts of the forward pass


class Texts(NamedTuple):
    """Queries, keys and values of all heads on some texts, the mask, and the outputs of exact attention."""

    q: jax.Array
    k: jax.Array
    v: jax.Array
    mask: np.ndarray
    exact: jax.Array


def texts(encoder, sentences, max_length):
    """:class:`Texts` of sentences, the heads of all layers one after the other."""
    ids, mask = encoder.tokens(list(sentences), max_length)
    heads = eqx.filter_jit(encoder.heads)
    parts = [heads(ids[i : i + AT_ONCE], mask[i : i + AT_ONCE]) for i in range(0, len(ids), AT_ONCE)]
    whole = jax.tree.map(lambda *of_parts: jnp.concatenate(of_parts, axis=1).swapaxes(1, 2), *parts)
    q, k, v = (x.reshape(-1, *x.shape[2:]) for x in whole)
    return Texts(q, k, v, mask, outputs(attention.softmax, Texts(q, k, v, mask, None)))


def positive(x, y, centred=False):
    """Parameters of positive features, FAVOR+'s, of points less their means with ``centred``."""
    return ExponentialParameters(centre_x=x.mean(axis=0), centre_y=y.mean(axis=0)) if centred else ExponentialParameters()


FITS = {
    "positive": positive,
    "gerf": exponential.gerf,
    "saderf": exponential.saderf,
    "aderf": exponential.aderf,
    "sderf": exponential.sderf,
}
"""The maps of the paper: FAVOR+, FAVOR++, and FAVOR# in three ways, of which SADERF is that of Table 1."""
FITS |= {f"{name}_centred": partial(fit, centred=True) for name, fit in FITS.items()}


def fitted(fit, of):
    """Parameters of each head from some texts, each field with an axis of heads first.

    Args:
        fit: of ``FITS``: a function of points x and y, (points, d).
        of: :class:`Texts`.
    """
    return jax.vmap(lambda x, y: fit(x, y).filled(x.shape[1], x.dtype))(of.q[:, of.mask], of.k[:, of.mask])


def relative_errors(out, exact, mask):
    """|out - exact| / |exact| over the positions of a text, Frobenius norms, (..., n)."""
    squares = (jnp.sum(jnp.where(mask[..., None], x**2, 0), axis=(-2, -1)) for x in (out - exact, exact))
    return jnp.sqrt(jnp.divide(*squares))


@partial(jax.jit, static_argnames="attend")
def outputs(attend, of):
    """Outputs of all heads, of the shape of ``of.v``, by an attention: a function of q, k, v and ``mask``."""
    return jax.lax.map(lambda head: attend(*head, mask=of.mask), (of.q, of.k, of.v), batch_size=AT_ONCE)


@partial(jax.jit, static_argnames=("m", "coupling"))
def frequencies(key, of, m, coupling):
    """Frequencies of every head for every text, independent of one another, (heads, n, m, d).

    Args:
        coupling: ``(key, m, d) -> (m, d)``.
    """
    n_heads, n, _, d = of.q.shape
    drawn = jax.lax.map(lambda key: coupling(key, m, d), jax.random.split(key, n_heads * n), batch_size=256)
    return drawn.reshape(n_heads, n, m, d).astype(of.q.dtype)


@partial(jax.jit, static_argnames="widths")
def feature_errors(omega, of, parameters, widths):
    """Errors of linear attention with the first m frequencies for each m of ``widths``, (widths, heads, n).

    Args:
        omega, parameters: from :func:`frequencies` and :func:`fitted`.
    """

    def of_text(omega, q, k, v, exact, mask, parameters):
        log_q, log_k = (
            features.log_exponential(x, omega, parameters, side, "softmax") for x, side in ((q, "x"), (k, "y"))
        )
        log_k = jnp.where(mask[:, None], log_k, -jnp.inf)
        values = jnp.concatenate([v, jnp.ones_like(v[:, :1])], axis=1)
        sums, outs = (0.0, -jnp.inf), []
        for first, last in pairwise((0, *widths)):  # each feature is taken to its exponential once
            phi_q, phi_k, exponents = scaled(log_q[:, first:last], log_k[:, first:last])
            sums = _merged(sums, (phi_q @ (phi_k.T @ values), exponents))
            outs.append(sums[0][:, :-1] / sums[0][:, -1:])
        return relative_errors(jnp.stack(outs), exact, mask)

    def of_head(here):
        return jax.vmap(of_text, (0, 0, 0, 0, 0, 0, None))(*here[:5], of.mask, here[5])

    by_head = jax.lax.map(of_head, (omega, of.q, of.k, of.v, of.exact, parameters), batch_size=AT_ONCE)
    return jnp.moveaxis(by_head, -1, 0)


def _merged(one, other):
    """The sum of two sums, each over e^exponents, and its exponents."""
    greatest = jnp.maximum(one[1], other[1])
    return sum(jnp.exp(exponents - greatest) * sums for sums, exponents in (one, other)), greatest


def uniform(q, k, v, mask):
    """Attention that weighs all keys equally: a mean of values."""
    return attention.linear(jnp.ones_like(q[..., :1]), jnp.ones_like(k[..., :1]), v, mask=mask)


def elu(q, k, v, mask):
    """Linear attention with elu + 1 of queries and keys without their factor (Katharopoulos et al., 2020)."""
    phi_q, phi_k = (jax.nn.elu(x * x.shape[-1] ** 0.25) + 1 for x in (q, k))
    return attention.linear(phi_q, phi_k, v, mask=mask)


def relu(q, k, v, mask):
    """Linear attention with the features relu + 1/1000 (Choromanski et al., 2021)."""
    phi_q, phi_k = (jax.nn.relu(x) + 1e-3 for x in (q, k))
    return attention.linear(phi_q, phi_k, v, mask=mask)


def greatest(q, k, v, mask, count=32):
    """Softmax over the ``count`` keys that weigh most for each query; the search takes quadratic time."""
    scores = jnp.where(mask[..., None, :], q @ k.mT, -jnp.inf)
    least = least_of_greatest(scores, count)
    return jax.nn.softmax(jnp.where(scores >= least, scores, -jnp.inf), axis=-1) @ v


def least_of_greatest(scores, count):
    """The ``count``-th greatest of each row, (..., l) to (..., 1), or the least where fewer are above -inf.

    By bisection, in a sixth of the time that ``jax.lax.top_k`` takes on a CPU.
    """

    def halved(_, bounds):
        low, high = bounds
        middle = (low + high) / 2
        enough = jnp.sum(scores >= middle, axis=-1, keepdims=True, dtype=scores.dtype) >= count
        return jnp.where(enough, middle, low), jnp.where(enough, high, middle)

    low = jnp.where(scores == -jnp.inf, jnp.inf, scores).min(axis=-1, keepdims=True)
    return jax.lax.fori_loop(0, 32, halved, (low, scores.max(axis=-1, keepdims=True)))[0]


def landmarks(q, k, v, mask, count=64, steps=6):
    """Attention through ``count`` means of neighbouring queries and keys, of texts without padding.

    ::

        softmax(q k~') Z softmax(q~ k') v,   Z for the pseudo-inverse of A = softmax(q~ k~'):
        Z <- Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4,   ``steps`` times, from A' / (|A|_1 |A|_inf)

    Six steps, as published, end far from the pseudo-inverse, and that regularises: small singular values of
    A are never inverted. ``steps=None`` takes the pseudo-inverse itself.

    Source: Xiong et al., "Nystroemformer" (2021), without its convolution of values, which is trained.
    """
    means = [x.reshape(*x.shape[:-2], count, -1, x.shape[-1]).mean(axis=-2) for x in (q, k)]
    left, middle, right = (jax.nn.softmax(x @ y.mT, axis=-1) for x, y in ((q, means[1]), means, (means[0], k)))
    if steps is None:
        return left @ (jnp.linalg.pinv(middle) @ (right @ v))
    eye = jnp.eye(count, dtype=q.dtype)
    inverse = middle.mT / (middle.sum(axis=-2).max(axis=-1) * middle.sum(axis=-1).max(axis=-1))[..., None, None]
    for _ in range(steps):
        product = middle @ inverse
        inverse = inverse @ (13 * eye - product @ (15 * eye - product @ (7 * eye - product))) / 4
    return left @ (inverse @ (right @ v))
