# %% [markdown]
# # Couplings chosen for attention
#
# * **Use simplex directions with equal norms** where $m = d$, as many frequencies as
#   dimensions. In a family that includes orthogonal frequencies, those with one norm
#   per block (PM) and simplex ones, they have the smallest error at every length of
#   keys. On held-out keys they leave 13 to 19 % of the error of orthogonal frequencies
#   where keys have length 1/2, and some 70 % where logits have variance 1.
# * **Use cross-polytopes of one norm** where there are several blocks: at $m = 4 d$
#   their error is smaller than that of simplices, by 28 to 48 % where keys have length
#   1 or less.
# * **Kernel variance chooses the right directions and the wrong norms.** The exact
#   leading term of attention's error, Equation 8 with the true means, is right about
#   both for short keys.
# * **The limit is long keys.** With logits of variance 1 and four blocks, the chosen
#   coupling and PM are level. To spread the norms of the blocks over strata does harm,
#   on simplices from length 1 on.
#
# **Where the paper stops.** {cite:t}`reid2025couplings` minimise the variance of the
# kernel and find that the *greatest* variance does better in attention: "optimal
# transport provides the right framing, but sometimes pointwise kernel variance is the
# wrong cost function". {doc}`08_attention` confirms it. They leave open which coupling
# is right. This page chooses one for the error of attention itself and tests it.
#
# **The idea.** Attention forgives errors that a row shares. Expand the exponential in
# an estimate, $\widehat k(q, k) \propto \frac1m \sum_i e^{\omega_i \cdot (q + k)}$: the
# first term of its error is $\sum_i \omega_i \cdot (q + k)$, the second
# $\sum_i (\omega_i \cdot (q + k))^2$. Directions whose sum is zero, like those of a
# simplex, remove the first. If the second is a multiple of $|q + k|^2$, as for
# orthogonal directions of one norm $w$, it is wrong only by a factor $w^2$, which is
# nearly the same for all keys.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from companion import evidence, plotting
from companion.papers.couplings import attention_rows
from companion.papers.couplings.equicorrelation import equiangular, equicorrelated
from rfcore import attention, couplings, features
from rfcore.couplings import compose, directions

ledger = evidence.open_page("couplings/12_couplings_for_attention", profile)
# Draws; queries with exact covariances; dimensions and numbers of features held out.
N_REPEATS, N_ROWS, SIZES = {
    "paper": (3_000, 8, ((8, 8), (8, 32), (16, 16), (16, 64), (32, 128))),
    "quick": (1_000, 1, ((16, 16), (16, 64))),
}[profile]
CHUNK, n_keys = 200, 16

# %% [markdown]
# (couplings-attention-chosen)=
# ## A family of two parameters
#
# All directions of a block subtend one angle, and all norms have one correlation (of
# the normal scores of a Gaussian copula):
#
# $$
# \cos(\omega_i, \omega_j) = -\frac{c}{d - 1} , \qquad \mathrm{corr} = r \in \Bigl[ -\frac{1}{d -
# 1}, 1 \Bigr] .
# $$
#
# Orthogonal frequencies are $(c, r) = (0, 0)$, orthogonal + PM $(0, 1)$, and simplex
# $(1, 0)$. The other corner, $(1, 1)$, has simplex directions and equal norms. We scan
# the family on training queries and keys, independent and normal, at three lengths,
# which are set by the standard deviation $s$ of their coordinates. With $s = d^{-1/4}$
# logits have variance 1, as in a transformer before training.

# %%
ANGLES = np.array([0.0, 0.5, 1.0])
# Of the norms; the first stands for -1 / (d - 1), the least there is.
CORRELATIONS = np.array([-1.0, 0.0, 0.5, 0.9, 1.0])
SCALES = {"1/(2√d)": (0.5, -0.5), "1/√d": (1.0, -0.5), "d^(-1/4)": (1.0, -0.25)}
GRID = np.array([(angle, r) for angle in ANGLES for r in CORRELATIONS])
one_hot = jnp.eye(n_keys)


def cosine_and_correlation(point, d):
    angle, r = point[..., 0], point[..., 1]
    return -angle / (d - 1), np.where(r < 0, r / (d - 1), r)


def member(point, d):
    """A coupling of the family."""
    c, r = point
    return compose(equiangular(c), equicorrelated(r))


def scaled(x):
    """One set of points at the three lengths."""
    d = x.shape[1]
    return jnp.array([f * d**power for f, power in SCALES.values()])[:, None, None] * x


def squared_error(q, k, omega, causal):
    """Mean over the weights; a causal row has those of its past."""
    phi_q, phi_k = (features.positive(x, omega, kernel="softmax") for x in (q, k))
    weights = attention.linear(phi_q, phi_k, one_hot, causal)
    return jnp.mean((weights - attention.softmax(q, k, one_hot, causal)) ** 2)


def points(name, d):
    """Queries and keys, chunk after chunk."""
    rng = ledger.rng(name, d)
    for _ in tqdm(range(N_REPEATS // CHUNK), desc=name, leave=False):
        yield rng.normal(size=(CHUNK, 2, n_keys, d))


d = 16
LAWS = jnp.stack(cosine_and_correlation(GRID, d), axis=-1)


@jax.jit
@jax.vmap
def scan(x, key):
    """(lengths, members of the grid), all from the same rotations and normal scores."""
    omegas = jax.vmap(lambda law: member(law, d)(key, d, d))(LAWS)

    def at(q, k):
        return jax.vmap(lambda omega: squared_error(q, k, omega, False))(omegas)

    return jax.vmap(at)(scaled(x[0]), scaled(x[1]))


keys = jax.random.split(ledger.key("training"), N_REPEATS).reshape(-1, CHUNK)
training = np.concatenate([
    scan(x, key) for x, key in zip(points("training", d), keys, strict=True)
])
chosen = training.mean(axis=0).argmin(axis=-1)
corner, plain = len(GRID) - 1, 1

# %% tags=["hide-input"]
over_plain = training / training[..., [plain]].mean(axis=0)
by_angle = over_plain.reshape(N_REPEATS, len(SCALES), len(ANGLES), -1)
drawn_at = [1, 2, 4]
plotting.show_panels(
    CORRELATIONS[drawn_at],
    by_angle[..., drawn_at],
    panels=[f"s = {name}" for name in SCALES],
    lines={"orthogonal": "orthogonal", "half way": "third", "simplex": "simplex"},
    x_label="correlation of norms",
    y_label="error over orthogonal's",
    log="",
    caption="Ours. Mean squared error of attention weights on training queries and "
    "keys, over that of orthogonal frequencies with independent norms; d = m = 16.",
    alt="Three charts against the correlation of norms. In each the simplex line is "
    "below the orthogonal one, and all lines fall towards correlation one; the lines "
    "are far apart for short keys and close together for long ones.",
)
others = [i for i in range(len(GRID)) if i != corner]
ledger.decide({
    "couplings/extra-attention-coupling/corner": evidence.order(
        np.repeat(training[..., [corner]], len(others), axis=-1), training[..., others]
    ),
})

# %% [markdown]
# (couplings-attention-objectives)=
# ## What other objectives choose
#
# The kernel's variance, and the leading term of attention's error (Equation 8, with the
# true means), are exact for every member of the family
# ({py:func}`~companion.papers.couplings.attention_rows.row_covariance`,
# {py:func}`companion.papers.couplings.attention_rows.leading_error`). No draw is needed to
# minimise them.

# %%
rng = ledger.rng("exact rows")
rows, others_keys = rng.normal(size=(2, N_ROWS, n_keys, d)) / (2 * np.sqrt(d))
covariances = np.array([
    [
        attention_rows.row_covariance(q[0], k, d, float(r), float(c))
        for c, r in zip(*cosine_and_correlation(GRID, d), strict=True)
    ]
    for q, k in zip(rows, others_keys, strict=True)
])
kernel = np.exp(np.einsum("rd,rkd->rk", rows[:, 0], others_keys))
kernel = np.broadcast_to(kernel[:, None], covariances.shape[:3])
leading = np.asarray(attention_rows.leading_error(kernel, covariances)).mean(axis=0)
variance = np.diagonal(covariances, axis1=2, axis2=3).mean(axis=(0, 2))
least_variance = int(variance.argmin())

# %% tags=["hide-input"]
names_of_grid = [
    f"{angle}, {'least' if r < 0 else f'{r:g}'}"
    for angle in ("orthogonal", "half way", "simplex")
    for r in CORRELATIONS
]
objectives = variance, leading, training[:, 0].mean(axis=0)
plotting.table(
    np.stack([x / x[plain] for x in objectives], axis=1),
    rows=names_of_grid,
    columns=["kernel variance", "leading term", "measured error"],
    corner="directions, correlation of norms",
    caption="Ours. Three objectives on the family over their values for orthogonal "
    "frequencies with independent norms; keys of standard deviation 1/(2√d), d = m = "
    "16. The first two are exact.",
)
ledger.decide({
    "couplings/extra-attention-objectives/first-order-agrees": evidence.order(
        leading[corner] / leading[others], 1.0, exact=True
    ),
})

# %% [markdown]
# ## Held out
#
# For each length, the member with the least error on training points is compared with
# others on new queries and keys: in other dimensions, with one block and with four, and
# with all keys seen or, as in a language model, only those of the past.
#
# PM is beaten wherever keys are short or there is one block. With four blocks and long
# keys the two are level: there the higher terms of the expansion weigh more than the
# two that the coupling corrects. The claim was made for all conditions, and stays open.

# %%
POINTS = {
    "orthogonal": (0, 0),
    "orthogonal + PM": (0, 1),
    "simplex": (1, 0),
    "simplex + PM": (1, 1),
    "least variance": tuple(GRID[least_variance]),
} | {f"chosen, s = {s}": tuple(GRID[i]) for s, i in zip(SCALES, chosen, strict=True)}
FAMILY = list(dict.fromkeys(tuple(map(float, point)) for point in POINTS.values()))
POLYTOPES = ("simplex + spread", "cross-polytope + PM", "cross-polytope + spread")


def mechanisms(key, m, d):
    """The members of the family, and three more, from one key."""
    laws = jnp.stack(cosine_and_correlation(np.array(FAMILY), d), axis=-1)
    family = jax.vmap(lambda law: member(law, d)(key, m, d))(laws)
    half = [
        compose(directions.orthogonal, *law)(key, m // 2, d)
        for law in (("comonotone",), ("stratified", "blocks"))
    ]
    simplex = equiangular(-1 / (d - 1))
    spread = compose(simplex, "stratified", across="blocks")(key, m, d)
    return jnp.stack([*family, spread, *map(couplings.antithetic, half)])


def held_out(d, m):
    """(repeats, lengths, mechanisms, causal or not)."""

    @jax.jit
    @jax.vmap
    def measured(x, key):
        omegas = mechanisms(key, m, d)

        def at(q, k):
            errors = [
                jax.vmap(lambda omega, c=causal: squared_error(q, k, omega, c))(omegas)
                for causal in (False, True)
            ]
            return jnp.stack(errors, axis=-1)

        return jax.vmap(at)(scaled(x[0]), scaled(x[1]))

    keys = jax.random.split(ledger.key("held out", d, m), N_REPEATS).reshape(-1, CHUNK)
    pairs = zip(points(f"held out {m}", d), keys, strict=True)
    return np.concatenate([measured(x, key) for x, key in pairs])


results = np.stack([held_out(d, m) for d, m in SIZES], axis=1)
place = {name: FAMILY.index(tuple(map(float, p))) for name, p in POINTS.items()}
place |= {name: len(FAMILY) + i for i, name in enumerate(POLYTOPES)}
errors = {name: results[:, :, :, i] for name, i in place.items()}
best = [errors[f"chosen, s = {s}"][:, :, i] for i, s in enumerate(SCALES)]
best = np.stack(best, axis=2)

# %% tags=["hide-input"]
SHOWN = ["orthogonal + PM", "least variance", "simplex", "simplex + PM", *POLYTOPES]
means = results.mean(axis=0).reshape(-1, *results.shape[3:])
for causal, seen in enumerate(("all keys seen", "causal")):
    base = means[:, [place["orthogonal"]], causal]
    plotting.table(
        means[:, [place[name] for name in SHOWN], causal] / base,
        rows=[f"{d}, {m}, {s}" for d, m in SIZES for s in SCALES],
        columns=[name.replace("cross-", "") for name in SHOWN],
        corner="d, m, s",
        caption="Ours. Errors of attention weights on held-out queries and keys, over "
        f"those of orthogonal frequencies with independent norms; {seen}. s: deviation "
        "of a coordinate, for keys of length 1/2, length 1 and logits of variance 1. "
        "At m = d spread and PM are one law, and what they differ by is noise.",
    )
ledger.decide({
    "couplings/extra-attention-coupling/beats-pm": evidence.order(
        best, errors["orthogonal + PM"]
    ),
    "couplings/extra-attention-coupling/beats-simplex": evidence.order(
        best, errors["simplex"]
    ),
    "couplings/extra-attention-objectives/variance-misleads": evidence.order(
        best, errors["least variance"]
    ),
})

# %% [markdown]
# (couplings-attention-blocks)=
# ## Beyond one block
#
# Four blocks are usually drawn independently. Here are two other ways to spend
# $m = 4 d$ frequencies:
#
# * *Spread*: still one norm per block, but the norms of the blocks in different strata
#   (the shells of {doc}`10_many_frequencies`). Within a block the error of the norm
#   cancels in the quotient; between blocks it averages out.
# * *Cross-polytopes*: orthogonal frequencies and their opposites, $2 d$ to a block, all
#   of one norm. Their sums of odd powers all vanish, and their sum of squares is a
#   multiple of the identity. This settles both terms of the expansion above at once,
#   where a simplex of $d$ corners settles the first and just misses the second.
#
# Spread norms gain where keys have length 1/2, most with cross-polytopes (which then
# leave 4 to 9 % of the error of orthogonal frequencies). With simplices they lose at
# both greater lengths; with cross-polytopes they lose at $d = 32$ from length 1 on, at
# $d = 16$ where logits have variance 1, and at $d = 8$ nowhere. We take it that, where
# they lose, the block with the greatest norm outweighs the others in every sum, and
# that strata make sure that one block is always ahead. So our prediction is refuted as
# it stands. Cross-polytopes keep their lead at every length; at $m = d$, with half as
# many directions, simplices are better.

# %% tags=["hide-input"]
four = [i for i, (d, m) in enumerate(SIZES) if m == 4 * d]
simplices = errors["simplex + PM"][:, four]
ledger.decide({
    "couplings/extra-attention-blocks/spread": evidence.order(
        errors["simplex + spread"][:, four], simplices
    ),
    "couplings/extra-attention-blocks/cross-polytope": evidence.order(
        errors["cross-polytope + PM"][:, four], simplices
    ),
})

# %% tags=["hide-input"]
ledger.close()
