# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,mystnb
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext,-jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The price of speed: are fast features biased?
#
# * **Yes, in small dimensions.** Fast orthogonal features average to a third more than
#   the kernel at $d = 2$ along the diagonal, and to nearly a quarter more at $d = 4$;
#   elsewhere the bias has either sign. The paper does not say so.
# * **At $d = 32$ hardly anything is left** in the directions tried: half a percent at
#   most was seen, give or take 0.2. Still, one coordinate in thirteen of fast
#   orthogonal frequencies is exactly zero there.
# * **More features never cure a bias.** A random rotation of the data does, at the price
#   of one dense product.
#
# **What the paper claims.** {cite:t}`reid2023simplex` speak in abstract and conclusion
# of "unbiased approximation", of SimRFs in general. Fast ones replace the rotation by
#
# $$\widetilde{\mathbf R} = \mathbf H \mathbf D_1 \mathbf H \mathbf D_2 \mathbf H \mathbf D_3,$$
#
# random signs between Hadamard matrices ({doc}`04_cost` has what that saves). Section
# 4.2 calls it "a proxy [...] which is approximately sampled from the orthogonal group
# according to Haar measure", and the caption of Table 3 says that it "does not change
# the accuracy of nonparametric classification". Nowhere does the paper say that the
# fast features are unbiased, and nowhere that they are not.
#
# **The idea.** Positive features estimate $k(\boldsymbol x, \boldsymbol y)$ without
# bias if $\mathbb E\, e^{\boldsymbol\omega^\top \boldsymbol v} = e^{\|\boldsymbol v\|^2
# / 2}$ for $\boldsymbol v = \boldsymbol x + \boldsymbol y$. There are $2^{3d}$ sign
# patterns. At $d = 4$ that makes 4096, few enough to average over all of them: no
# sampling at all.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from rfcore import evidence, plotting
from rfcore.couplings import fast
from rfcore.papers.simplex import fast_bias
from rfcore.papers.simplex.fast_bias import relative_mean

ledger = evidence.open_page("simplex/13_fast_bias", profile)
FAST = {name: plotting.LABELS[name] for name in ("orthogonal_fast", "simplex_fast")}
DIMENSIONS = (4, 8, 16, 32)
N_BLOCKS, N_DIRECTIONS = {"paper": (40_000, 400), "quick": (4000, 60)}[profile]

# %% [markdown]
# (simplex-fast-bias)=
# ## Every sign pattern at $d = 4$
#
# {py:func}`~rfcore.papers.simplex.fast_bias.fast_bias` averages over all of them, with
# the lengths in closed form. We take $\boldsymbol v$ of length 2 along the diagonal,
# $(1, 1, 1, 1)$, and along an axis, $(2, 0, 0, 0)$.


# %%
def towards(d):
    """Two vectors of length 2: along the diagonal, and along the first axis."""
    return np.stack([np.full(d, 2 / np.sqrt(d)), 2 * np.eye(d)[0]])


enumerated = np.array([  # couplings, directions, d = 2 and 4
    [[fast_bias.fast_bias(towards(d)[axis], name) for d in (2, 4)] for axis in (0, 1)]
    for name in FAST
])

# %% tags=["hide-input"]
ledger.decide({
    "simplex/extra-fast-bias/biased": evidence.bound(
        enumerated[0, 0, 1] - 1, 0.1, side="above", exact=True
    )
})

# %% [markdown]
# (simplex-fast-bias-drawn)=
# ## The frequencies that the library draws
#
# Do they have this bias? We draw blocks and average over their lengths in closed form
# ({py:func}`~rfcore.papers.simplex.fast_bias.relative_mean`): a direction $\boldsymbol u$
# is as likely as $-\boldsymbol u$, and for a $\chi_d$ length $w$, $\mathbb E_w \cosh(w
# t) = {}_1F_1(\tfrac d2; \tfrac12; \tfrac{t^2}2)$. The same estimate goes to dimensions
# where nobody can enumerate.


# %%
def drawn(d, name):
    """Mean over truth of each of many blocks, (blocks, 2); which coordinates are 0."""

    def draw(key):
        block = fast.draw(key, d, d, name.removesuffix("_fast"))
        products = replace(block, norms=jnp.ones(d)).project(towards(d))
        return products, block.norms[0] * products[1, 0] / 2

    keys = jax.random.split(ledger.key("blocks", d), N_BLOCKS)
    products, coordinate = evidence.in_batches(draw, keys, 4000, f"blocks, d = {d}")
    return relative_mean(products, d, 2.0), np.abs(coordinate) < 1e-9


blocks = [[drawn(d, name) for d in DIMENSIONS] for name in FAST]
means = np.array([[mean for mean, _ in of_name] for of_name in blocks])
means = means.transpose(2, 0, 3, 1)  # blocks, couplings, directions, dimensions
zeros = np.array([[zero for _, zero in of_name] for of_name in blocks])
zeros = zeros.transpose(2, 0, 1).astype(float)  # blocks, couplings, dimensions

# %% tags=["hide-input"]
exact = np.broadcast_to(enumerated, (N_BLOCKS, 2, 2, 2))
shown = np.concatenate([exact, means[..., 1:]], axis=-1)
plotting.show_panels(
    (2, *DIMENSIONS), shown.swapaxes(1, 2), lines=list(FAST), log="x",
    panels=("along the diagonal", "along an axis"), levels={"unbiased": 1.0},
    x_label="dimension d", y_label="mean over truth",
    caption="Ours. Mean of fast positive features over the true kernel value for $|x + "
    "y| = 2$. Exact at $d = 2$ and 4; independent blocks from 8 on.",
    alt="Two charts of mean over truth against dimension. Along the diagonal both "
    "start a third too high at d = 2; orthogonal is 23 percent high at 4 and 4 percent "
    "at 8. Along the axis both start a third too low. From 16 on all lie near 1.",
)  # fmt: skip
along = np.column_stack([exact[:, 0, 0, 0], means[:, 0, 0, :3]])  # d = 2, 4, 8, 16
ledger.decide({
    "simplex/extra-fast-bias/drawn": evidence.unbiased(
        means[..., 0], enumerated[..., 1], smallest_bias=0.05
    ),
    "simplex/extra-fast-bias/falls": evidence.order(along[:, 1:], along[:, :-1]),
})

# %% [markdown]
# Simplex is biased less in most places, not in all.

# %% tags=["hide-input"]
percent = 100 * (shown.mean(axis=0) - 1).reshape(4, -1).T
se = 100 * (shown.std(axis=0) / N_BLOCKS**0.5).reshape(4, -1).T
ways = ("diagonal", "axis")
plotting.table(
    percent,
    np.where(np.arange(len(percent))[:, None] < 2, 0.0, se),
    rows=[f"{d}" for d in (2, *DIMENSIONS)],
    columns=[f"{label}, {way}" for label in FAST.values() for way in ways],
    corner="d",
    unit="per cent",
    caption="Ours. Bias of fast features for $|x + y| = 2$: exact at $d = 2$ and 4, "
    "means of independent blocks from 8 on.",
)

# %% [markdown]
# (simplex-fast-bias-why)=
# ## Why: three factors do not fill the sphere
#
# The rotation can take finitely many values. At $d = 4$ a vector of signs is, half of
# the time, a row of the Hadamard matrix itself (up to sign), and the transform then
# puts *all* of it on one axis. Coordinates of the frequencies are exactly zero far too
# often, and a Gaussian number never is. At $d = 8$ it is a quarter of all coordinates
# of orthogonal frequencies.

# %% tags=["hide-input"]
plotting.table(
    100 * zeros.mean(axis=0).T,
    100 * zeros.std(axis=0).T / N_BLOCKS**0.5,
    rows=[f"{d}" for d in DIMENSIONS],
    columns=list(FAST.values()),
    corner="d",
    unit="per cent",
    caption="Ours. How often a coordinate of a frequency is exactly zero.",
)
ledger.decide({
    "simplex/extra-fast-bias/marginal": evidence.bound(
        zeros[..., :2].reshape(N_BLOCKS, 4), 0.01, side="above"
    )
})

# %% [markdown]
# (simplex-fast-bias-mended)=
# ## It depends on the direction, and averages out
#
# $\widetilde{\mathbf R}$ is orthogonal, so for a *uniformly* random direction of
# $\boldsymbol v$ the direction of $\widetilde{\mathbf R} \boldsymbol v$ is uniform as
# well, whatever the signs: the bias, averaged over directions, must be nil. Too much
# along the diagonal is too little elsewhere.

# %%
uniform = ledger.rng("directions").normal(size=(N_DIRECTIONS, 4))
uniform *= 2 / np.linalg.norm(uniform, axis=1, keepdims=True)
by_direction = np.array([
    [fast_bias.fast_bias(v, name) for name in FAST] for v in uniform
])

# %% tags=["hide-input"]
plotting.table(
    100 * (np.quantile(by_direction, [0, 0.1, 0.5, 0.9, 1], axis=0).T - 1),
    rows=list(FAST.values()),
    columns=["least", "a tenth below", "median", "a tenth above", "most"],
    unit="per cent",
    caption="Ours. Exact bias in random directions at $d = 4$, $|x + y| = 2$.",
)
ledger.decide({
    "simplex/extra-fast-bias/averages-out": evidence.unbiased(
        by_direction, np.ones(2), smallest_bias=0.05
    )
})

# %% tags=["hide-input"]
ledger.close()
