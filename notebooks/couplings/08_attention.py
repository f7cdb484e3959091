# %% [markdown]
# # More variance, less error: attention (Figure 7)
#
# * **Figure 7 holds, under both readings of its keys.** Norms coupled in pairs (PNC)
#   lower every variance and every covariance, and move the error of attention by
#   less than a fiftieth. Norms all equal within a block (PM) raise them all, the variance
#   to that of independent frequencies, and lower the error of attention by more than a
#   twentieth, and by about a sixth at most.
# * **An error that all weights share does not count**, and with PM norms they share
#   more of it. The formulas have a page of their own ({doc}`09_attention_expansion`).
# * **Simplex directions do as well as PM norms**, to within a tenth, and both
#   together do better than either.
#
# **What the paper claims.** Attention weights keys by
# $a_{ij} = k(x_i, x_j) / \sum_l k(x_i, x_l)$ with $k(x, y) = e^{x \cdot y}$, and a
# Performer estimates $k$ by positive features. {cite:t}`reid2025couplings` couple the
# norms of orthogonal frequencies. Pairwise norm-coupling (PNC) lowers the kernel's
# variance and leaves attention "essentially unchanged". Positive monotone norms (PM:
# all norms of a block are equal) raise the variance as far as norms can, and the error
# of attention "actually drops: a remarkable, counterintuitive finding".
#
# **The idea.** Attention is a quotient. An error that all estimates of a row share is
# in both numerator and denominator, and cancels. So what should be small is variance
# minus covariance within the row.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from companion import evidence, plotting
from companion.papers.couplings import attention_rows
from companion.papers.couplings.costs import log_positive_cost
from rfcore import attention, couplings, features
from rfcore.couplings import directions

ledger = evidence.open_page("couplings/08_attention", profile)
# Draws; sets of keys and queries of each whose covariances are computed.
N_REPEATS, N_SETS, N_ROWS = {"paper": (20_000, 2, 8), "quick": (1_000, 1, 2)}[profile]

# %% [markdown]
# (couplings-fig-7)=
# ## Figure 7: variance up, error down
#
# There are sixteen keys in sixteen dimensions, which are also the queries,
# "$x \sim \mathcal N(0, \frac{1}{\sqrt d} I_d)$". As printed, $1/\sqrt d$ is the
# *variance* of a coordinate: that is what a transformer's scaling by $d^{-1/4}$ makes
# of standard normal queries and keys, with logits of variance 1. Read as the *standard
# deviation*, keys have length 1. The paper does not say which; we show both. Nor does
# it give the numbers of features; we take one, two and four blocks, and new keys in
# every repeat.
#
# **Variances need no simulation, and allow none.** The variance of one estimate grows
# like $e^{v^2}$ with $v = |x_i + x_j|$. Its mean over two keys of
# $\mathcal N(0, s^2 I_d)$,
#
# $$
# \mathbb E\bigl[ e^{2 v^2 - |x_i|^2 - |x_j|^2} \bigr] = \bigl[ (1 - 6 s^2) (1 + 2 s^2)
# \bigr]^{-d/2} ,
# $$
#
# is finite for $s^2 = 1/d = 1/16$ and *infinite* for $s^2 = 1/\sqrt d = 1/4$. (For a
# key with itself the bound is 1/12.) An average over random keys then has no limit. For
# given keys everything is finite:
# {py:func}`~companion.papers.couplings.attention_rows.row_covariance` has it in closed
# form.

# %%
d = n_keys = 16
READINGS = {"variance 1/√d": d**-0.25, "standard deviation 1/√d": d**-0.5}
# Norms and cosine of the angle between directions, for the exact covariances.
LAWS = {
    "iid": ("iid", 0.0),
    "orthogonal": ("independent", 0.0),
    "orthogonal_pnc": ("pnc", 0.0),
    "orthogonal_pm": ("positive_monotone", 0.0),
    "simplex": ("independent", -1 / (d - 1)),
}


def exact(keys):
    """What pairs add to covariances of the first queries of a set; covariances."""

    def of(name, **what):
        law = LAWS[name]
        return np.array([
            [attention_rows.row_covariance(q, k, d, *law, **what) for q in k[:N_ROWS]]
            for k in keys
        ])

    added = {name: of(name, pairs=True) for name in LAWS}
    alone = of("iid") - added["iid"]
    return added, {name: alone + pairs for name, pairs in added.items()}


unit = ledger.rng("keys").normal(size=(N_SETS, n_keys, d))
exactly = {s: exact(s * unit) for s in READINGS.values()}


# %% tags=["hide-input"]
def variances(of):
    return {n: np.diagonal(c, axis1=2, axis2=3) for n, c in of.items()}


def row_means(of):
    return {n: c.mean(axis=(2, 3)) for n, c in of.items()}


def below(*comparisons):
    """(lesser, greater, what): what pairs add, exactly, under both readings."""
    ratios = [
        (of[lesser] / of[greater]).ravel()
        for lesser, greater, what in comparisons
        for of in (what(added) for added, _ in exactly.values())
    ]
    return evidence.order(np.concatenate(ratios), 1.0, exact=True)


def rows_of(names):
    """A row for each reading and mechanism."""
    return [f"{reading}: {name}" for reading in READINGS for name in names]


over_orthogonal = np.array([
    [np.exp(np.mean(np.log(of[name] / of["orthogonal"]))) for of in both]
    for _, c in exactly.values()
    for both in [(variances(c), row_means(c))]
    for name in LAWS
])
plotting.table(
    over_orthogonal,
    rows=rows_of([plotting.LABELS[name] for name in LAWS]),
    columns=["variance", "covariance"],
    corner="reading: coupling",
    caption="Ours, for the left of the paper's Figure 7. Exact variances of the kernel "
    "and mean covariances of a row over those of orthogonal frequencies with "
    "independent norms: geometric means over rows and keys.",
)
PNC, PM = ("orthogonal_pnc", "orthogonal"), ("orthogonal", "orthogonal_pm")
ledger.decide({
    "couplings/fig-7/pnc-variance": below((*PNC, variances)),
    "couplings/fig-7/pnc-covariance": below((*PNC, row_means)),
    "couplings/fig-7/pm-variance-covariance": below((*PM, variances), (*PM, row_means)),
})

# %% [markdown]
# How drastic the effect of PM is depends on the reading: with keys of length 1 it
# raises variances by a quarter and covariances by more than half, with keys twice as
# long both by a fiftieth. There the variance of single frequencies, which no coupling
# changes, prevails.
#
# (couplings-all-covariances)=
# ## Why PM is the maximum
#
# By Lemma 3.1 norms enter the variance through $\mathbb E\, f(w_1^2 + w_2^2)$ for each
# pair, with a power series $f$ of positive coefficients. So $f(w_1^2 + w_2^2)$ has a
# positive mixed derivative: swapping partners so that long meets long and short meets
# short never lowers the sum. Hence the monotone coupling has the greatest sum for a
# pair, for any marginals, and all pairs can have it at once, since equal norms are
# pairwise monotone. That is the proof which the paper omits, as short as it says, given
# orthogonal directions. The maximum has a plain value: with one norm $w \sim \chi_d$,
# $w (u_1 + u_2)$ is distributed as the sum of two *independent* frequencies. PM undoes
# all that orthogonality had gained: **its kernel variance is that of IID ones**.
#
# And not just the variance. A pair contributes to $\mathrm{Cov}(\widehat k_{ij},
# \widehat k_{il})$ a hypergeometric function of a 2 by 2 matrix, again a power series
# in $w_1^2$ and $w_2^2$ with no negative coefficient. PM maximises *every* covariance
# of a row, and PNC lowers every one. Attention gains from covariance and loses from
# variance; which side wins is left open.

# %%
w = couplings.norms.chi((jnp.arange(30) + 0.5) / 30, d)
pairs = jnp.stack(jnp.meshgrid(w, w, indexing="ij"), axis=-1)
costs = jnp.stack([log_positive_cost(pairs, v, d) for v in (0.5, 1.0, 2.0, 4.0)])
c = jnp.exp(costs - costs.max(axis=(1, 2), keepdims=True))
alike, across = c[:, :-1, :-1] + c[:, 1:, 1:], c[:, :-1, 1:] + c[:, 1:, :-1]

# %% tags=["hide-input"]
ledger.decide({
    "couplings/fig-7/pm-maximises": evidence.order(across, alike, exact=True),
    "couplings/extra-all-covariances/order": below((*PNC, dict), (*PM, dict)),
})

# %% [markdown]
# **The error of attention is measured** against the exact weights, for all couplings on
# the same keys and with as much common randomness as they can share.

# %%
WIDTHS, CHUNK = (d, 2 * d, 4 * d), 200
MECHANISMS = (*LAWS, "simplex_pm")
SCALES = jnp.array(list(READINGS.values()))
one_hot = jnp.eye(n_keys)


@jax.jit
@jax.vmap
def frequencies(key):
    """Four blocks of each mechanism: rotations and norms as alike as can be."""
    of_iid, of_directions, of_norms = jax.random.split(key, 3)
    shape = WIDTHS[-1], d
    orthogonal = directions.orthogonal(of_directions, *shape)
    simplex = directions.simplex_product(orthogonal.reshape(-1, d, d)).reshape(shape)
    laws = couplings.orthogonal, couplings.orthogonal_pnc, couplings.orthogonal_pm
    own, pnc, pm = (law.lengths(of_norms, *shape)[:, None] for law in laws)
    iid = couplings.iid(of_iid, *shape)
    coupled = (own * orthogonal, pnc * orthogonal, pm * orthogonal)
    return jnp.stack([iid, *coupled, own * simplex, pm * simplex])


def row_errors(x, omega):
    """Mean squared errors of the weights, for each number of features."""
    phi = features.positive(x, omega, kernel="softmax")
    weights = attention.softmax(x, x, one_hot)
    return jnp.stack([
        jnp.mean((attention.linear(phi[:, :m], phi[:, :m], one_hot) - weights) ** 2)
        for m in WIDTHS
    ])  # fmt: skip


@jax.jit
@jax.vmap
def measured(x, drawn):
    """(readings, mechanisms, widths) for one set of keys; errors of uniform weights."""

    def at(x):
        of_each = jax.vmap(lambda omega: row_errors(x, omega))(drawn)
        return of_each, jnp.mean((attention.softmax(x, x, one_hot) - 1 / n_keys) ** 2)

    return jax.vmap(at)(SCALES[:, None, None] * x)


new_keys, keys = ledger.rng("new keys"), ledger.key("attention")
results = [
    measured(new_keys.normal(size=(CHUNK, n_keys, d)), frequencies(chunk))
    for chunk in tqdm(jax.random.split(keys, (N_REPEATS // CHUNK, CHUNK)), leave=False)
]
drawn, uniform = (np.concatenate(part) for part in zip(*results, strict=True))
errors = dict(zip(MECHANISMS, np.moveaxis(drawn, 2, 0), strict=True))

# %% tags=["hide-input"]
orthogonal = errors["orthogonal"]
ratios = drawn.mean(axis=0) / orthogonal.mean(axis=0)[:, None]
both = np.stack([over_orthogonal[:, 0].reshape(2, -1), ratios[:, :-1, 0]], axis=-1)
others = [i for i, name in enumerate(LAWS) if name != "orthogonal"]
figures = [
    plotting.bars(
        both[i, others],
        rows=["IID", "norms in pairs (PNC)", "equal norms (PM)", "simplex"],
        columns={"variance of the kernel": "first", "error of attention": "second"},
        x_label=f"over that of orthogonal frequencies; {keys}",
    )
    for i, keys in ((1, "keys of length 1"), (0, "keys of length 2"))
]
for figure in figures:
    figure.axes[0].axvline(1, linestyle="--", color=plotting.COLOURS["orthogonal"])
    figure.axes[0].set_xlim(0.55, 1.3)
plotting.show(
    *figures,
    caption="Re-run: Figure 7. Variance of the kernel and mean squared error of "
    "attention weights, 16 features, over those of orthogonal frequencies (dashed). "
    "Equal norms (PM) bring the variance of independent frequencies and an error below "
    "that of orthogonal ones. Simplex is not in the paper. Standard errors are below "
    "0.01.",
    alt="Two charts of dots in four rows. PNC lies at one in both. For keys of length "
    "1 IID and PM have the same variance, a quarter above one; the error of IID is a "
    "fifth above one, that of PM a sixth below; simplex is below one by a fifth in "
    "error and by two fifths in variance. For keys of length 2 all lie nearer to one, "
    "and PM has the least error.",
)
if profile == "paper":  # what is said of the figure
    off = (drawn - ratios * orthogonal[:, :, None]).std(axis=0)[..., 0]
    assert np.all(off < 0.01 * N_REPEATS**0.5 * orthogonal.mean(axis=0)[:, :1])
    drawn_at = [[1.25, 1.2], [1, 1], [1.25, 0.83], [0.6, 0.8]]
    assert (
        np.abs(both[1, others] - drawn_at).max() < 0.02 and both[0, :, 1].argmin() == 3
    )


def within(ours, theirs, margin):
    """Paired errors agree to within a share of the second's mean, on either side."""
    share = (ours - theirs) / theirs.mean(axis=0)
    return evidence.bound(np.stack([share, -share], axis=-1), margin)


iid, pm = errors["iid"], errors["orthogonal_pm"]
ledger.decide({
    "couplings/fig-7/pnc-attention": within(errors["orthogonal_pnc"], orthogonal, 0.05),
    "couplings/fig-7/pm-attention": evidence.order(pm, orthogonal),
})

# %% [markdown]
# (couplings-no-attention)=
# ## Against no attention at all
#
# A sceptic's baseline is to give every key the weight $1/16$, without looking. With
# keys of length 1 attention is nearly uniform, and so few features add more noise than
# they find structure: the error of 16 independent ones is larger than that of the
# baseline. Where keys are twice as long a key attends mostly to itself, the baseline is
# poor, and features beat it with a root mean square error that is still twice the mean
# weight. The order of couplings is real in both cases; it is of use from 16 features
# on, where PM and simplex are below uniform attention and independent frequencies are
# not.

# %% tags=["hide-input"]
printed = list(LAWS)[:4]
ledger.decide({
    "couplings/extra-no-attention/few": evidence.order(uniform[:, 1], iid[:, 1, 0]),
    "couplings/extra-no-attention/many": evidence.order(
        np.stack([errors[name][:, :, 2] for name in printed], axis=-1),
        np.stack(4 * [uniform], axis=-1),
    ),
})

# %% [markdown]
# (couplings-attention-simplex)=
# ## Simplex directions
#
# The paper changes norms only. Simplex directions leave norms independent and remove
# another error: in the expansion of $\sum_i e^{\omega_i \cdot (x + y)}$ the term
# $\sum_i \omega_i \cdot (x + y)$, which vanishes for equal norms and is small
# otherwise. It differs from key to key, so that it does not cancel in the quotient. PM
# norms act on the next term, which is why the two add up.

# %% tags=["hide-input"]
simplex, best = errors["simplex"], errors["simplex_pm"]
plotting.table(
    1e4 * drawn.mean(axis=0).reshape(-1, len(WIDTHS)),
    1e4 * drawn.std(axis=0).reshape(-1, len(WIDTHS)) / N_REPEATS**0.5,
    rows=rows_of([*map(plotting.LABELS.get, LAWS), "simplex + PM"]),
    columns=[f"m = {m}" for m in WIDTHS],
    corner="reading: coupling",
    unit="1e-4",
    caption="Ours. Mean squared errors of attention weights. Errors in a column share "
    "keys and randomness, so that differences are better known than they are. Equal "
    f"weights have {' and '.join(f'{1e4 * u:.3g}' for u in uniform.mean(axis=0))}.",
)
ledger.decide({
    "couplings/extra-attention-simplex/beats-orthogonal": evidence.order(
        simplex, orthogonal
    ),
    "couplings/extra-attention-simplex/as-pm": within(simplex, pm, 0.1),
    "couplings/extra-attention-simplex/both": evidence.order(
        np.stack([best, best], axis=1), np.stack([simplex, pm], axis=1)
    ),
})

# %% [markdown]
# ## And a trained Performer?
#
# Table 2 of the paper trains Performers on ImageNet: 0.625 with orthogonal frequencies,
# 0.620 with PNC, 0.633 with PM, each with a standard error of 0.003. This page says
# nothing about these accuracies: {doc}`25_trained_performers` asks what these errors
# allow, and trains small Performers on digits. {doc}`12_couplings_for_attention` takes
# the hint of this page, and chooses couplings for attention itself.

# %% tags=["hide-input"]
ledger.close()
