"""Attention by random features in place of JAX's function, and as a layer in place of equinox's."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.tree_util import Partial

from rfcore import checks, couplings, features
from rfcore.attention.quotients import quotient_of_logs
from rfcore.features import ExponentialParameters
from rfcore.solvers.exponential import aderf


class FeatureAttention(eqx.Module):
    """Multi-head attention in linear time, in place of ``equinox.nn.MultiheadAttention``, with its weights.

    ::

        attention = equinox.nn.MultiheadAttention(n_heads, size, key=key)
        attention = FeatureAttention(attention, key=key)                     # the one line

    Called as the layer that it replaces, but with a mask of keys, (l,): what is causal is causal for good.
    Each head has frequencies of its own, fixed by the key of the layer, or drawn anew in each call that gets
    a key. Features are positive ones (FAVOR+) until :meth:`calibrated` fits others. Gradients stop at
    frequencies and parameters of features; keep them from weight decay, too, with ``optax.masked``.

    Args:
        attention: the layer, trained or new, without dropout: there are no weights to drop.
        n_features: number of frequencies of each head.
        coupling: ``(key, m, d) -> (m, d)``, of :mod:`rfcore.couplings`.
        causal: whether position i sees positions 0, ..., i alone.
        key: JAX PRNG key.

    Source: Choromanski et al., "Rethinking attention with Performers" (2020); FAVOR#, Section 5.3.

    >>> import equinox, jax, jax.numpy as jnp
    >>> from rfcore.attention import FeatureAttention
    >>> exact = equinox.nn.MultiheadAttention(2, 8, key=jax.random.key(0))
    >>> x = jax.random.normal(jax.random.key(1), (10, 8))
    >>> ours = FeatureAttention(exact, 2000, key=jax.random.key(2))
    >>> float(jnp.abs(ours(x, x, x) - exact(x, x, x)).max() / jnp.abs(exact(x, x, x)).max()) < 0.2
    True
    """

    attention: eqx.nn.MultiheadAttention
    omega: jax.Array
    """Frequencies, (heads, m, d), d the size of a head's queries; fast ones with an axis of heads first."""
    parameters: ExponentialParameters
    """Of the features, each field with an axis of heads first."""
    n_features: int = eqx.field(static=True)
    coupling: Callable = eqx.field(static=True)
    causal: bool = eqx.field(static=True)

    def __init__(self, attention, n_features=256, coupling=couplings.orthogonal, causal=False, *, key):
        if attention.dropout.p:
            raise ValueError(f"attention has dropout_p = {attention.dropout.p}; give one with 0: its weights are never formed")
        self.attention = attention
        self.coupling = coupling
        self.causal = causal
        self.parameters = ExponentialParameters()
        self.n_features = checks.count(n_features, "n_features")
        self.omega = self._drawn(key)

    def __call__(self, query, key_, value, mask=None, *, key=None, inference=None, process_heads=None):
        """Outputs, (n, output size), of queries (n, ...), keys and values (l, ...): arguments as in equinox.

        Args:
            query, key_, value: inputs of the layer.
            mask: True where a key is seen, (l,).
            key: draws the frequencies of this call; None for those of the layer.
            inference: ignored, as there is no dropout.
            process_heads: function of the heads' queries, keys and values, (n, heads, d), such as rotations.
        """
        if mask is not None and jnp.ndim(mask) != 1:
            raise ValueError(f"mask has shape {jnp.shape(mask)}; give a mask of keys, ({len(key_)},), and causal=True to the layer")
        q, k, v = self._heads(query, key_, value, process_heads)
        omega = self.omega if key is None else self._drawn(key)
        out = jnp.swapaxes(random_feature_attention(q, k, v, omega, self.parameters, self.causal, mask), 0, 1)
        return jax.vmap(self.attention.output_proj)(out.reshape(len(query), out.shape[1] * out.shape[2]))

    def calibrated(self, query, key_, value, fit=aderf, centred=True, process_heads=None):
        """This layer with features fitted to the queries and keys of some inputs, head by head, for good.

        Outputs stay unbiased up to the quotient; what falls is their variance. Call it outside ``jax.jit``,
        which eigendecompositions of many heads can block, and on inputs of training, without padding.

        Args:
            query, key_, value, process_heads: as in a call; rows of several sequences may follow each other.
            fit: of :mod:`rfcore.solvers.exponential`: gerf, saderf, sderf or aderf.
            centred: whether means are taken off queries and keys, and put back exactly: free, and a constant
                that is added to all keys then changes nothing.

        >>> import equinox, jax, jax.numpy as jnp
        >>> from rfcore.attention import FeatureAttention
        >>> exact = equinox.nn.MultiheadAttention(2, 8, key=jax.random.key(0))
        >>> x = 5 + jax.random.normal(jax.random.key(1), (10, 8))  # with a mean, as in trained layers
        >>> ours = FeatureAttention(exact, 64, key=jax.random.key(2))
        >>> fitted, truth = ours.calibrated(x, x, x), exact(x, x, x)
        >>> bool(jnp.abs(fitted(x, x, x) - truth).max() < jnp.abs(ours(x, x, x) - truth).max())
        True
        """
        q, k, _ = self._heads(query, key_, value, process_heads)
        fitted = [fit(*of_head, centred=centred) for of_head in zip(q, k, strict=True)]
        parameters = jax.tree.map(lambda *of_heads: jnp.stack(of_heads), *fitted)
        return eqx.tree_at(lambda layer: layer.parameters, self, parameters)

    def _heads(self, query, key_, value, process_heads):
        """Queries and keys times d^(-1/4), and values, each (heads, positions, columns)."""
        layer = self.attention
        heads = [
            jax.vmap(project)(checks.points(x, name, as_it_is=True)).reshape(len(x), layer.num_heads, project.out_features // layer.num_heads)
            for project, x, name in (
                (layer.query_proj, query, "query"),
                (layer.key_proj, key_, "key_"),
                (layer.value_proj, value, "value"),
            )
        ]
        q, k, v = (jnp.swapaxes(x, 0, 1) for x in (heads if process_heads is None else process_heads(*heads)))
        return q * layer.qk_size**-0.25, k * layer.qk_size**-0.25, v

    def _drawn(self, key):
        keys = jax.random.split(key, self.attention.num_heads)
        return jax.vmap(lambda key: self.coupling(key, self.n_features, self.attention.qk_size))(keys)


def random_feature_attention(q, k, v, omega, parameters=None, causal=False, mask=None):
    """Attention of heads that have frequencies of their own: :func:`linear_of_logs` of their features.

    Gradients stop at frequencies and parameters.

    Args:
        q, k, v: (..., heads, n, d), (..., heads, l, d), (..., heads, l, c); q and k times d^(-1/4).
        omega: (heads, m, d); fast ones with an axis of heads first.
        parameters: of the features, each field with an axis of heads first; None for positive ones (FAVOR+).
        causal, mask: as for :func:`linear_of_logs`.

    Returns:
        Outputs, (..., heads, n, c), of the dtype that q, k and v promote to; features have float32 at least.

    Source: Choromanski et al., "Rethinking attention with Performers" (2020); FAVOR#, Section 5.3.
    """
    q, k, v = (checks.floating(x, name, as_it_is=True) for x, name in ((q, "q"), (k, "k"), (v, "v")))
    if not hasattr(omega, "project"):
        omega = checks.floating(omega, "omega")
        if omega.ndim != 3:
            raise ValueError(f"omega has shape {omega.shape}; give frequencies of each head, (heads, m, d)")
    n_heads = jax.tree.leaves(omega)[0].shape[0]
    for x, name in ((q, "q"), (k, "k")):
        if x.ndim < 3 or x.shape[-3] != n_heads:
            raise ValueError(f"{name} has shape {x.shape}; give one block of rows per head of omega, (..., {n_heads}, n, d)")
    parameters = ExponentialParameters() if parameters is None else parameters
    for shape in map(jnp.shape, jax.tree.leaves(parameters)):
        if shape[:1] != (n_heads,):
            got = f"parameters has a field of shape {shape}"
            raise ValueError(f"{got}; give those of each head: axes of {n_heads} first, such as jax.vmap(solvers.exponential.gerf) of heads makes")
    of_q, of_k = (Partial(_log_features, *jax.lax.stop_gradient((omega, of_side))) for of_side in (parameters, parameters.swapped()))
    return quotient_of_logs(of_q, of_k, q, k, v, causal, mask)


def _log_features(omega, parameters, x):
    return jax.vmap(_of_head, (0, 0, -3), -3)(omega, parameters, x.astype(jnp.promote_types(x.dtype, jnp.float32)))


def _of_head(omega, parameters, x):
    omega = jax.tree.map(lambda leaf: leaf.astype(x.dtype) if jnp.issubdtype(leaf.dtype, jnp.inexact) else leaf, omega)
    logs = features.log_exponential(x.reshape(-1, x.shape[-1]), omega, parameters, kernel="softmax")
    return logs.reshape(*x.shape[:-1], logs.shape[-1])


def dot_product_attention(query, key, value, omega, parameters=None, *, mask=None, scale=None, is_causal=False):
    """Attention by features with the shapes and options of :func:`jax.nn.dot_product_attention`.

    For flax::

        ours = lambda q, k, v, mask=None, **_: dot_product_attention(q, k, v, omega, mask=mask)
        flax.nnx.MultiHeadAttention(num_heads, in_features, attention_fn=ours, rngs=rngs)

    Args:
        query, key, value: (..., n, heads, d), (..., l, groups, d), (..., l, groups, c); groups divide heads.
        omega, parameters: as for :func:`random_feature_attention`; omega also (m, d), for all heads.
        mask: of keys, True where one is seen, (..., 1 or heads, 1, l); None for all.
        scale: what products of queries and keys are multiplied by, above 0; None for d^(-1/2).
        is_causal: whether position i sees positions 0, ..., i alone.

    Returns:
        Outputs, (..., n, heads, c), of the dtype that query, key and value promote to.

    Source: Choromanski et al., "Rethinking attention with Performers" (2020).

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> from rfcore.attention import dot_product_attention
    >>> q, k, v = jax.random.normal(jax.random.key(0), (3, 10, 2, 4)) / 2
    >>> omega = couplings.orthogonal(jax.random.key(1), 5000, 4)
    >>> exact = jax.nn.dot_product_attention(q, k, v)
    >>> float(jnp.abs(dot_product_attention(q, k, v, omega) - exact).max()) < 0.1
    True
    """
    q, k, v = (checks.floating(x, name, as_it_is=True) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    for x, name in ((q, "query"), (k, "key"), (v, "value")):
        if x.ndim < 3:
            raise ValueError(f"{name} has shape {x.shape}; give (..., positions, heads, columns)")
    n_heads, groups = q.shape[-2], k.shape[-2]
    if not groups or n_heads % groups:
        raise ValueError(f"key has shape {k.shape}; give a number of heads that divides the query's, {n_heads}")
    if v.shape[-2] != groups:
        raise ValueError(f"value has shape {v.shape}; give as many heads as key has, {groups}")
    if mask is not None and (jnp.ndim(mask) < 3 or mask.shape[-2] != 1):
        raise ValueError(f"mask has shape {jnp.shape(mask)}; give one of keys, (..., 1, 1, {k.shape[-3]}), and is_causal=True for a causal one")
    scale = q.shape[-1] ** -0.5 if scale is None else checks.real(scale, "scale", above=0)
    dtype = jnp.result_type(q, k, v)
    q, k = (x.astype(jnp.promote_types(x.dtype, jnp.float32)) * scale**0.5 for x in (q, k))
    q, k, v = (jnp.swapaxes(x, -2, -3) for x in (q, *(jnp.repeat(x, n_heads // groups, axis=-2) for x in (k, v))))
    if not hasattr(omega, "project"):
        omega = checks.floating(omega, "omega")
        omega = jnp.broadcast_to(omega, (n_heads, *omega.shape)) if omega.ndim == 2 else omega
    seen = None if mask is None else mask[..., 0, :]
    return jnp.swapaxes(random_feature_attention(q, k, v, omega, parameters, is_causal, seen), -2, -3).astype(dtype)
