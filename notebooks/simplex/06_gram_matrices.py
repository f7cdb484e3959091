# %% [markdown]
# # Whole Gram matrices (Figure 7)
#
# * **Figure 7 holds.** At every number of features, simplex frequencies estimate a Gram
#   matrix better than orthogonal ones, and these better than independent ones. Theorem
#   3.2, summed over pairs of points, agrees with every point of the curves, as far as
#   12,000 skewed repeats can tell.
# * **A block is a team.** The gain builds up until a block of $d$ frequencies is full;
#   after that it only repeats.
# * **Fast rotations do as well, to within one per cent, and that proves little.**
#   Isotropic points cannot show how rotations are drawn ({doc}`07_uniform_rotations`).
#
# **What the paper claims.** Simplex frequencies estimate a single kernel value better
# ({doc}`01_conformity_and_error`). {cite:t}`reid2023simplex` go on to whole matrices:
# 64 random points, more and more features, and the Frobenius norm of the error. Simplex
# is best at every number of features, then orthogonal, then IID.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from companion import evidence, plotting
from companion.gram_errors import gram_error
from companion.papers.simplex import gram_matrices
from rfcore import couplings, features, kernels

ledger = evidence.open_page("simplex/06_gram_matrices", profile)
N_REPEATS, WIDTHS = {
    "paper": (12_000, (16, 32, 64, 128, 256, 512)),
    "quick": (100, (32, 64, 128)),
}[profile]

# %% [markdown]
# (simplex-fig-7)=
# ## The error of a Gram matrix
#
# As in the paper, 64 points are drawn from $\mathcal N(0, \sigma^2 I_d)$ with
# $\sigma = 0.1$ and $d = 64$. The paper does not say how many features it tries, how
# often it repeats, or whether the points are drawn anew; we draw new points in every
# repeat. The caption speaks of the Frobenius norm, while its formula prints the square;
# we show the relative norm $\lVert K - \widehat K \rVert_F / \lVert K \rVert_F$.
#
# Whatever can be shared is shared: all mechanisms see the same points, those built on
# rotations share rotations and norms (the same key), and the first $m$ rows of one long
# draw serve as the draw of $m$ frequencies, which is legitimate because a draw is a
# stack of independent blocks. Differences are then much less noisy than the errors
# themselves.

# %%
d, n_points, sigma = 64, 64, 0.1
REGULAR = ("iid", "orthogonal", "simplex", "simplex_plus")
MECHANISMS = (*REGULAR, "orthogonal_fast", "simplex_fast")


def squared_errors(x, omega, exact):
    """Squared relative errors, (widths), means over the parts of a draw."""
    phi = features.positive(x, omega) * jnp.sqrt(len(omega))
    means = []
    for m in WIDTHS:
        parts = jnp.moveaxis(phi.reshape(len(x), -1, m), 1, 0)
        grams = parts @ jnp.moveaxis(parts, 1, 2) / m
        means.append(jnp.mean(gram_error(grams, exact, squared=True)))
    return jnp.stack(means)


def gram_errors(key):
    """Errors, (mechanisms, widths); points; size of their matrix; squares by parts."""
    key_points, key_omega = jax.random.split(key)
    x = sigma * jax.random.normal(key_points, (n_points, d))
    exact = kernels.gaussian(x, x)
    drawn = [getattr(couplings, name) for name in MECHANISMS]
    errors = gram_matrices.errors(key_omega, x, drawn, WIDTHS)
    omegas = (draw(key_omega, max(WIDTHS), d) for draw in drawn[:3])
    squares = jnp.stack([squared_errors(x, omega, exact) for omega in omegas])
    return errors, x, jnp.linalg.norm(exact), squares


keys = jax.random.split(ledger.key("gram matrices"), N_REPEATS)
found = evidence.in_batches(gram_errors, keys, 20, "Gram matrices")
drawn, points, sizes, by_parts = found
errors = dict(zip(MECHANISMS, np.moveaxis(drawn, 1, 0), strict=True))
curves = np.stack([errors[name] for name in REGULAR[:3]], axis=1)

# %% tags=["hide-input"]
plotting.show_panels(
    WIDTHS,
    np.stack([errors[name] for name in REGULAR], axis=1),
    lines=REGULAR,
    guide=-0.5,
    x_label="number of features m",
    y_label="relative Frobenius error",
    caption="Re-run: Figure 7. Error of the Gram matrix of 64 points against the "
    "number of features. Simplex+, whose line covers simplex, is not in the paper.",
    alt="Log-log chart. All lines fall; simplex and simplex+ are lowest at every width "
    "and almost equal, then orthogonal, then IID. Coupled lines bend down towards "
    "m = 64 and run parallel to the guide of slope -1/2 afterwards.",
)

# %% tags=["hide-input"]
ledger.decide({
    "simplex/fig-7/simplex-beats-orthogonal": evidence.order(
        errors["simplex"], errors["orthogonal"]
    ),
    "simplex/fig-7/orthogonal-beats-iid": evidence.order(
        errors["orthogonal"], errors["iid"]
    ),
    "simplex/fig-7/decreasing": evidence.order(curves[..., 1:], curves[..., :-1]),
})

# %% [markdown]
# (simplex-gram-theory)=
# ## Every point of the curves, predicted
#
# A squared Frobenius norm is a sum over pairs of points, and the mean of each summand
# is given by Theorem 3.2 [SimRF Eq. 11]. So the mean squared error of the whole matrix
# is a sum of closed forms, for any points
# ({py:func}`companion.papers.simplex.gram_matrices.squared_errors`):
#
# $$
# \mathbb E\, \lVert K - \widehat K \rVert_F^2 = \sum_{a, b} \mathrm{MSE}(x_a, x_b) .
# $$
#
# The diagonal counts too; it is where the error is largest. We subtract the prediction
# for the points of each repeat from the squared error of that repeat. With few features
# the error is so skewed that 12,000 draws of 16 of them leave its mean uncertain. But
# each repeat draws 512, and as the rows of a block are distributed alike, any 16
# successive rows are a draw of 16: the test takes the mean over all 32 such parts. As
# ratios to IID the curves come apart, and the closed form explains the bend: its factor
# $(m - 1)$ counts the partners *within a block*, so that the ratio falls until the
# first block is full, at $m = d$, and then stays level. Over whole blocks the error
# falls like $m^{-1/2}$, as for independent features; within the first block it falls
# faster, since each new vector helps the others.

# %%
predicted = np.array([
    gram_matrices.squared_errors(x, WIDTHS, REGULAR[:3])
    for x in tqdm(points, desc="closed forms", leave=False)
]) / sizes[:, None, None] ** 2  # fmt: skip
of_iid = predicted[:, 0].mean(axis=0)

# %% tags=["hide-input"]
fast = np.stack([errors["orthogonal_fast"], errors["simplex_fast"]], axis=1)
plotting.show_panels(
    WIDTHS,
    np.stack([curves[:, 1:], fast], axis=1) ** 2 / of_iid,
    panels=("Haar rotations", "fast rotations"),
    lines=("orthogonal", "simplex"),
    predicted=np.stack(2 * [predicted.mean(axis=0)[1:] / of_iid]),
    x_label="number of features m",
    y_label="squared error over that of IID",
    log="x",
    caption="Ours. Mean squared Frobenius error over that of IID features. Dashed: "
    "closed form for Haar rotations, without simulation. Second: fast variants. Bands: "
    "one standard error.",
    alt="Two charts of a ratio against the number of features. Dashed lines fall until "
    "m = 64 and are level afterwards, simplex below orthogonal. The simulated points "
    "lie on them in both charts.",
)

# %% tags=["hide-input"]
whole = np.array(WIDTHS) % d == 0
ledger.decide({
    "simplex/extra-gram-theory/mse": evidence.unbiased(
        by_parts - predicted, 0.0, smallest_bias=of_iid / 4
    ),
    "simplex/extra-gram-theory/rate": evidence.slope(
        np.array(WIDTHS)[whole], curves[..., whole], expected=-0.5, resolution=0.05
    ),
})

# %% [markdown]
# (simplex-gram-plus)=
# ## Simplex+: better from a full block on, but barely
#
# Simplex+ lets long vectors take wider angles, so that each block sums to zero
# ({ref}`simplex-eq-16`). The paper does not try it on whole matrices. Rotations, norms
# and points are those of simplex, so that even a small difference shows.

# %% tags=["hide-input"]
plus, simplex, iid = (errors[n][:, whole] for n in ("simplex_plus", "simplex", "iid"))
ledger.decide({
    "simplex/extra-gram-plus/better": evidence.order(plus, simplex),
    "simplex/extra-gram-plus/marginal": evidence.bound(
        (simplex - plus) - (iid - simplex) / 10, 0.0
    ),
})

# %% [markdown]
# (simplex-gram-fast)=
# ## The fast variants
#
# Three Hadamard-Rademacher factors in place of a Haar rotation cost $O(d \log d)$ per
# point. Their product is not uniform, and the features are biased
# ({py:func}`~companion.papers.simplex.fast_bias.fast_bias` finds by enumeration how much:
# by nearly a quarter at $d = 4$ and $\lVert x + y \rVert = 2$ along the diagonal). Do
# they do as well here? On points without a preferred direction, yes: but these cannot
# show a bias of the rotations ({ref}`simplex-gram-blind`).


# %% tags=["hide-input"]
def within(ours, theirs, margin=0.05):
    """Paired errors agree to within a share of the second's mean, on either side."""
    share = (ours - theirs) / theirs.mean(axis=0)
    return evidence.bound(np.stack([share, -share], axis=-1), margin)


ledger.decide({"simplex/extra-gram-fast/equivalent": within(fast, curves[:, 1:])})

# %% tags=["hide-input"]
everything = 100 * np.stack(list(errors.values()))  # mechanisms, repeats, widths
plotting.table(
    everything.mean(axis=1),
    everything.std(axis=1, ddof=1) / np.sqrt(N_REPEATS),
    rows=[plotting.LABELS[name] for name in MECHANISMS],
    columns=[f"m = {m}" for m in WIDTHS],
    corner="coupling",
    unit="percent",
    caption="Ours. Relative Frobenius errors; standard errors are over the repeats, "
    "but errors in a column share points, and most of them rotations.",
)

# %% tags=["hide-input"]
ledger.close()
