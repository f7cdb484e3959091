"""Constants inside ``jax.shard_map``."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Shaped


def varying(x: Shaped[Array, "*shape"], *of: Any) -> Shaped[Array, "*shape"]:
    """``x``, typed as varying over the devices of a mesh wherever an array in the pytrees ``of`` does.

    Inside ``jax.shard_map`` the state of a loop, and the branches of a condition, must vary over the same
    axes throughout; a constant varies over none. Written as a choice that is never made, which compiles to
    nothing: ``jax.lax.pcast``, which is meant for this, is not in JAX 0.8.
    """
    for leaf in jax.tree.leaves(of):
        x = jnp.where(False, jnp.ravel(leaf)[:1].sum().astype(x.dtype), x)
    return x
