"""Attention by random features in place of JAX's function, and as a layer in place of equinox's."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, PRNGKeyArray, Shaped

from rfcore import checks, couplings, features
from rfcore.attention import masks
from rfcore.attention.causal import hidden
from rfcore.attention.decoding import State, linear_state_of_logs, linear_step_of_logs
from rfcore.attention.quotients import quotient_of_logs
from rfcore.features import ExponentialParameters
from rfcore.features.frequencies import Frequencies
from rfcore.precision import at_least_single
from rfcore.solvers.exponential import aderf

Heads = tuple[Float[Array, "n heads d"], Float[Array, "l heads d"], Float[Array, "l heads c"]]
ProcessHeads = Callable[[Float[Array, "n heads d"], Float[Array, "l heads d"], Float[Array, "l heads c"]], Heads]


class FeatureAttention(eqx.Module):
    """Multi-head attention in linear time, in place of ``equinox.nn.MultiheadAttention``, with its weights.

    ::

        attention = equinox.nn.MultiheadAttention(n_heads, size, key=key)
        attention = FeatureAttention(attention, key=key)                     # the one line

    It is called like the layer that it replaces, for one sequence: ``jax.vmap`` for a batch. Whether it is
    causal is fixed here; :meth:`state` and :meth:`step` then generate token by token. Each head has its own
    frequencies, fixed by the key of the layer, or drawn anew in each call that is given a key. Features are
    positive ones (FAVOR+) unless :meth:`calibrated` fits others. Gradients stop at frequencies and parameters
    of features; exclude them from weight decay, too, with ``optax.masked``.

    Args:
        attention: the layer, trained or new, without dropout, since no matrix of weights is formed.
        n_features: number of frequencies of each head.
        coupling: from :mod:`rfcore.couplings`.
        causal: whether position i attends to positions 0, ..., i alone.

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
    omega: Frequencies | Float[Array, "heads m d"]
    """Frequencies, (heads, m, d), d the size of a head's queries; fast ones with an axis of heads first."""
    parameters: ExponentialParameters
    """Of the features, each field with an axis of heads first."""
    n_features: int = eqx.field(static=True)
    coupling: Callable[[PRNGKeyArray, int, int], Frequencies | Float[Array, "m d"]] = eqx.field(static=True)
    causal: bool = eqx.field(static=True)

    def __init__(
        self,
        attention: eqx.nn.MultiheadAttention,
        n_features: int = 256,
        coupling: Callable[[PRNGKeyArray, int, int], Frequencies | Float[Array, "m d"]] = couplings.orthogonal,
        causal: bool = False,
        *,
        key: PRNGKeyArray,
    ) -> None:
        if attention.dropout.p:
            raise ValueError(f"attention has dropout_p = {attention.dropout.p}; give one with 0: its weights are never formed")
        self.attention = attention
        self.coupling = coupling
        self.causal = causal
        self.parameters = ExponentialParameters()
        self.n_features = checks.count(n_features, "n_features")
        self.omega = self._drawn(key)

    def __call__(
        self,
        query: Float[Array | np.ndarray, "n query_size"],
        key_: Float[Array | np.ndarray, "l key_size"],
        value: Float[Array | np.ndarray, "l value_size"],
        mask: Shaped[Array | np.ndarray, "*pairs l"] | None = None,
        *,
        key: PRNGKeyArray | None = None,
        inference: bool | None = None,
        process_heads: ProcessHeads | None = None,
    ) -> Float[Array, "n output_size"]:
        """Outputs of the layer, with arguments as in equinox.

        Args:
            query, key_, value: inputs of the layer.
            mask: True for the keys that queries attend to, (l,); or of pairs, (n, l) or (heads, n, l), as for
                :func:`dot_product_attention`; None for all.
            key: for frequencies of this call alone; None for those of the layer.
            inference: ignored, since there is no dropout.
            process_heads: transforms the queries, keys and values of heads, such as by rotations.
        """
        q, k, v = self._heads(query, key_, value, process_heads)
        omega = self.omega if key is None else self._drawn(key)
        if mask is not None and jnp.ndim(mask) == 1:
            out = random_feature_attention(q, k, v, omega, self.parameters, self.causal, mask)
        else:
            out = _of_pairs(q, k, v, omega, self.parameters, self.causal, mask)
        out = jnp.swapaxes(out, 0, 1)
        return jax.vmap(self.attention.output_proj)(out.reshape(len(query), out.shape[1] * out.shape[2]))

    def state(
        self,
        query: Float[Array | np.ndarray, "l query_size"],
        key_: Float[Array | np.ndarray, "l key_size"],
        value: Float[Array | np.ndarray, "l value_size"],
        process_heads: ProcessHeads | None = None,
    ) -> State:
        """What :meth:`step` remembers of a prompt, in memory that does not depend on its length.

        Args:
            query, key_, value, process_heads: as in a call, for the prompt; no rows to begin without one.
        """
        if not self.causal:
            raise ValueError("causal = False; give causal=True to the layer: sums remember the past alone")
        _, k, v = self._heads(query, key_, value, process_heads)
        return linear_state_of_logs(_log_features(*jax.lax.stop_gradient((self.omega, self.parameters.swapped())), k), v)

    def step(
        self,
        state: State,
        query: Float[Array | np.ndarray, " query_size"],
        key_: Float[Array | np.ndarray, " key_size"],
        value: Float[Array | np.ndarray, " value_size"],
        process_heads: ProcessHeads | None = None,
    ) -> tuple[Float[Array, " output_size"], State]:
        """Output of one more token: that of the causal layer at its position; and what to remember.

        Args:
            state: from :meth:`state`, or of the token before.
            query, key_, value, process_heads: as in a call, for one token at its position.

        >>> import equinox, jax, jax.numpy as jnp
        >>> from rfcore.attention import FeatureAttention
        >>> exact = equinox.nn.MultiheadAttention(2, 8, key=jax.random.key(0))
        >>> layer = FeatureAttention(exact, 64, causal=True, key=jax.random.key(1))
        >>> x = jax.random.normal(jax.random.key(2), (10, 8))
        >>> state = layer.state(x[:9], x[:9], x[:9])
        >>> out, state = layer.step(state, x[9], x[9], x[9])
        >>> bool(jnp.allclose(out, layer(x, x, x)[9], atol=1e-5))
        True
        """
        q, k, v = self._heads(jnp.asarray(query)[None], jnp.asarray(key_)[None], jnp.asarray(value)[None], process_heads)
        of_sides = jax.lax.stop_gradient((self.parameters, self.parameters.swapped()))
        log_q, log_k = (_log_features(jax.lax.stop_gradient(self.omega), side, x)[..., 0, :] for side, x in zip(of_sides, (q, k), strict=True))
        out, state = linear_step_of_logs(state, log_q, log_k, v[..., 0, :])
        return self.attention.output_proj(out.reshape(-1)), state

    def calibrated(
        self,
        query: Float[Array | np.ndarray, "n query_size"],
        key_: Float[Array | np.ndarray, "l key_size"],
        value: Float[Array | np.ndarray, "l value_size"],
        fit: Callable[..., ExponentialParameters] = aderf,
        centred: bool = True,
        process_heads: ProcessHeads | None = None,
    ) -> "FeatureAttention":
        """This layer with features fitted, head by head, to the queries and keys of some inputs.

        Outputs remain unbiased up to the quotient; their variance falls. Call it outside ``jax.jit``, in
        which eigendecompositions of many heads can hang, and on training inputs without padding.

        Args:
            query, key_, value, process_heads: as in a call; rows of several sequences may follow each other.
            fit: gerf, saderf, sderf or aderf of :mod:`rfcore.solvers.exponential`.
            centred: whether the means of queries and keys are subtracted, and restored exactly: this costs
                nothing, and makes outputs independent of a constant that is added to all keys.

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

    def _heads(
        self,
        query: Float[Array | np.ndarray, "n query_size"],
        key_: Float[Array | np.ndarray, "l key_size"],
        value: Float[Array | np.ndarray, "l value_size"],
        process_heads: ProcessHeads | None,
    ) -> tuple[Float[Array, "heads n d"], Float[Array, "heads l d"], Float[Array, "heads l c"]]:
        """Queries and keys times d^(-1/4), and values."""
        layer = self.attention
        if jnp.ndim(query) == 3:
            got = f"query has shape {jnp.shape(query)}"
            raise ValueError(f"{got}; give one sequence, (n, {layer.query_size}), and a batch to jax.vmap(layer)")
        heads = [
            jax.vmap(project)(checks.points(x, name, as_it_is=True)).reshape(len(x), layer.num_heads, project.out_features // layer.num_heads)  # pyright: ignore[reportOperatorIssue]  # equinox: or "scalar", never here
            for project, x, name in (
                (layer.query_proj, query, "query"),
                (layer.key_proj, key_, "key_"),
                (layer.value_proj, value, "value"),
            )
        ]
        q, k, v = (jnp.swapaxes(x, 0, 1) for x in (heads if process_heads is None else process_heads(*heads)))
        return q * layer.qk_size**-0.25, k * layer.qk_size**-0.25, v

    def _drawn(self, key: PRNGKeyArray) -> Frequencies | Float[Array, "heads m d"]:
        keys = jax.random.split(key, self.attention.num_heads)
        return jax.vmap(lambda key: self.coupling(key, self.n_features, self.attention.qk_size))(keys)


def random_feature_attention(
    q: Float[ArrayLike, "*#b heads n d"],
    k: Float[ArrayLike, "*#b heads l d"],
    v: Float[ArrayLike, "*#b #heads l c"],
    omega: Frequencies | Float[ArrayLike, "heads m d"],
    parameters: ExponentialParameters | None = None,
    causal: bool = False,
    mask: Bool[Array | np.ndarray, "... l"] | None = None,
) -> Float[Array, "*b heads n c"]:
    """Attention of heads that each have their own frequencies: :func:`linear_of_logs` of their features.

    Gradients stop at frequencies and parameters.

    Args:
        q, k: queries and keys times d^(-1/4).
        v: values.
        omega: frequencies of each head; fast ones with an axis of heads first.
        parameters: of the features, each field with an axis of heads first; None for positive ones (FAVOR+).
        causal, mask: as for :func:`linear_of_logs`.

    Returns:
        Outputs, of the dtype to which q, k and v promote; features are in float32 at least.

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


def _log_features(
    omega: Frequencies | Float[Array, "heads m d"], parameters: ExponentialParameters, x: Float[Array, "*b heads n d"]
) -> Float[Array, "*b heads n m"]:
    return jax.vmap(_of_head, (0, 0, -3), -3)(omega, parameters, x.astype(at_least_single(x)))


def _of_head(
    omega: Frequencies | Float[Array, "m d"], parameters: ExponentialParameters, x: Float[Array, "*b n d"]
) -> Float[Array, "*b n m"]:
    omega = jax.tree.map(lambda leaf: leaf.astype(x.dtype) if jnp.issubdtype(leaf.dtype, jnp.inexact) else leaf, omega)
    logs = features.log_exponential(x.reshape(-1, x.shape[-1]), omega, parameters, kernel="softmax")
    return logs.reshape(*x.shape[:-1], logs.shape[-1])


def dot_product_attention(
    query: Float[ArrayLike, "*#b n heads d"],
    key: Float[ArrayLike, "*#b l groups d"],
    value: Float[ArrayLike, "*#b l groups c"],
    omega: Frequencies | Float[ArrayLike, "m d"] | Float[ArrayLike, "heads m d"],
    parameters: ExponentialParameters | None = None,
    *,
    bias: None = None,
    mask: Shaped[Array | np.ndarray, "*#b #heads #n l"] | None = None,
    scale: float | Float[Array, ""] | None = None,
    is_causal: bool = False,
    local_window_size: None = None,
) -> Float[Array, "*b n heads c"]:
    """Attention by features with the shapes and options of :func:`jax.nn.dot_product_attention`.

    For flax::

        ours = lambda q, k, v, mask=None, **_: dot_product_attention(q, k, v, omega, mask=mask)
        flax.nnx.MultiHeadAttention(num_heads, in_features, attention_fn=ours, rngs=rngs)

    Args:
        query, key, value: the number of groups divides the number of heads.
        omega, parameters: as for :func:`random_feature_attention`; omega also (m, d), for all heads.
        mask: True, or 1, for the keys that queries attend to; None for all. Of pairs, (..., n, l), it must be
            a mask of queries times one of keys, and a triangle if attention is causal, as flax makes them; a
            query that attends to none has zeros. Inside ``jax.jit``, where its values are unknown, give
            ``is_causal`` too; outputs are NaN if the mask is no such product.
        scale: factor of the products of queries and keys, above 0; None for d^(-1/2).
        is_causal: whether position i attends to positions 0, ..., i alone.
        bias, local_window_size: None: sums of features know no pairs of positions.

    Returns:
        Outputs, of the dtype to which query, key and value promote.

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
    for name, given in (("bias", bias), ("local_window_size", local_window_size)):
        if given is not None:
            raise ValueError(f"{name} is given; sums of features know no pairs of positions: give None, or exact attention for it")
    if mask is not None and jnp.ndim(mask) < 3:
        raise ValueError(f"mask has shape {jnp.shape(mask)}; give an axis of heads, too: mask[..., None, :, :]")
    scale = q.shape[-1] ** -0.5 if scale is None else checks.real(scale, "scale", above=0)
    dtype = jnp.result_type(q, k, v)
    q, k = (x.astype(at_least_single(x)) * scale**0.5 for x in (q, k))  # pyright: ignore[reportOptionalOperand]  # checks.real is Any
    q, k, v = (jnp.swapaxes(x, -2, -3) for x in (q, *(jnp.repeat(x, n_heads // groups, axis=-2) for x in (k, v))))
    if not hasattr(omega, "project"):
        omega = checks.floating(omega, "omega")
        omega = jnp.broadcast_to(omega, (n_heads, *omega.shape)) if omega.ndim == 2 else omega
    return jnp.swapaxes(_of_pairs(q, k, v, omega, parameters, is_causal, mask), -2, -3).astype(dtype)


def _of_pairs(
    q: Float[Array, "*#b heads n d"],
    k: Float[Array, "*#b heads l d"],
    v: Float[Array, "*#b heads l c"],
    omega: Frequencies | Float[ArrayLike, "heads m d"],
    parameters: ExponentialParameters | None,
    causal: bool,
    mask: Shaped[Array | np.ndarray, "*#b #n l"] | None,
) -> Float[Array, "*b heads n c"]:
    """:func:`random_feature_attention` with a mask of pairs, or of keys, (..., 1, l)."""
    if mask is None:
        return random_feature_attention(q, k, v, omega, parameters, causal)
    shape, n, length = jnp.shape(mask), q.shape[-2], k.shape[-2]
    if len(shape) < 2 or shape[-2] not in (1, n) or shape[-1] != length:
        raise ValueError(f"mask has shape {shape}; give one of keys, (..., 1, {length}), or of pairs, (..., {n}, {length})")
    rows, keys, causal, wrong = masks.rows_and_keys(mask, causal)
    out = hidden(random_feature_attention(q, k, v, omega, parameters, causal, keys), rows)
    return out if wrong is None else jnp.where(wrong, jnp.nan, out)
