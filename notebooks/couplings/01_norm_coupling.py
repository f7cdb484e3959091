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
# # Do coupled norms err less? (Theorems 3.2 and 3.5, Corollary 3.4, Equation 33)
#
# * **Long norms should meet short ones.** For positive features at every distance, for
#   Fourier features to beyond $z = 2$, in all dimensions tried: as the theorems say.
# * **Pairs are nearly all there is to gain.** No coupling of norms can take more than a
#   third off the error of close points, and coupling them in pairs takes off most of
#   that third.
# * **Equal norms undo orthogonality.** Orthogonal frequencies of one common length err
#   exactly as much as independent ones.
# * **One correction.** For Fourier features there is no $z$ at which the negative
#   monotone coupling is the best of all; and two formulas of the proofs are misprinted,
#   without harm.
#
# **What the paper claims.** Frequencies at right angles err less than independent ones.
# Their directions are coupled then, but their lengths are not, and
# {cite:t}`reid2025couplings` ask which joint law of lengths is best. For two
# frequencies they answer it: "For RLFs, the OT problem in Eq. 5 is solved by the
# negative monotone coupling"; for Fourier features it "ensures lower cost than any
# other coupling, provided $z$ is sufficiently small" (Theorem 3.2). RLF is their name
# for positive features. More frequencies are coupled in pairs (PNC, Corollary 3.4). If
# directions are free too, the best positive pair is $\omega, -\omega$ (Theorem 3.5).
#
# **The idea.** A law of $m$ lengths with given marginals is a transport plan, and the
# variance is its cost. Rotations have been integrated out, so the cost of a pair of
# orthogonal frequencies sees $w_1^2 + w_2^2$ alone, and it is convex in it. What is
# convex likes sums that vary little: the longest should meet the shortest.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from scipy import special

from rfcore import couplings, evidence, features, plotting, theory
from rfcore.couplings import directions
from rfcore.solvers import multi_marginal

plotting.use_style()
N_ROTATIONS, N_DRAWS, N_QUANTILES = {
    "paper": (200_000, 100_000, 40),
    "quick": (40_000, 20_000, 12),
}[profile]
ledger = evidence.Ledger("couplings/01_norm_coupling", profile)

# %% [markdown]
# (couplings-cost)=
# ## The cost of two lengths (Lemma 3.1)
#
# For a pair at a right angle the lemma has, up to a factor $\Gamma(d/2)$,
#
# $$
# c(w_1, w_2) = \sum_k \frac{(\pm 1)^k\, t^{2k}}{2^{2k}\, k!\; \Gamma(k + d/2)},
# \qquad t^2 = v^2 (w_1^2 + w_2^2) \text{ or } z^2 (w_1^2 + w_2^2),
# $$
#
# with $+$ and $v = \lVert x + y \rVert$ for positive features, and alternating signs
# and $z = \lVert x - y \rVert$ for Fourier features. We fix five pairs of lengths and
# average over rotations what the estimate multiplies, two exponentials or two cosines.
# {py:func}`rfcore.theory.log_positive_cost` sums the series.

# %%
d = 4
lengths = np.array([[1.0, 1.0], [1.0, 2.0], [0.5, 3.0], [2.0, 2.0], [2.0, 3.0]])


def products(key):
    """Exponentials and cosines of the pairs along an axis, in one rotation."""
    along = lengths * directions.orthogonal(key, 2, d)[:, 0]
    return jnp.stack([f(along).prod(axis=1) for f in (jnp.exp, jnp.cos)])


keys = jax.random.split(ledger.key("rotations"), N_ROTATIONS)
drawn = evidence.in_batches(products, keys, 10_000, "rotations")
log_cost, cosines = (
    cost(lengths, 1.0, d) for cost in (theory.log_positive_cost, theory.fourier_cost)
)
costs = np.stack([np.exp(log_cost), cosines])
smallest = np.stack([costs[0] / 20, np.full(5, 0.05)])

# %% tags=["hide-input"]
ledger.decide({"couplings/lemma-3.1/cost": evidence.unbiased(drawn, costs, smallest)})

# %% [markdown]
# (couplings-errors)=
# ## From the cost to the error (Lemmas A.1 and A.2)
#
# The mean squared error of $m$ features is that of independent ones, plus $(m - 1)/m$
# times what a pair costs more than an independent pair on average. For coupled norms
# this is an integral over one or two lengths, which quadrature does to twelve digits
# ({py:func}`rfcore.theory.norm_coupling_ratio`). Here it stands beside draws.

# %%
NAMES = ("orthogonal_pnc", "orthogonal", "orthogonal_pm", "iid")
LAWS = ("pnc", "independent", "positive_monotone")
v = np.array([0.2, 0.4, 0.6, 0.8, 1.0])
z = np.array([0.5, 1.0, 1.5, 2.0, 3.0])
of_iid = np.stack([np.expm1(v**2), np.expm1(-(z**2)) ** 2 / 2]) / d
axis = jnp.eye(d)[:1]


def positive(omega):
    """Squared errors for x = y, where the kernel is 1."""
    phi = features.positive(v[:, None] / 2 * axis, omega)
    return (jnp.sum(phi**2, axis=1) - 1) ** 2


def fourier(omega):
    phi, at_0 = (features.fourier(x * axis, omega) for x in (z[:, None], 0.0))
    return (phi @ at_0[0] - jnp.exp(-(z**2) / 2)) ** 2


def squared_errors(key):
    """Features, couplings, distances; and PNC with opposites for positive features."""
    omegas = [getattr(couplings, name)(key, d, d) for name in NAMES]
    of_all = [
        jnp.stack([map_(omega) for omega in omegas]) for map_ in (positive, fourier)
    ]
    return jnp.stack(of_all), positive(couplings.antithetic(omegas[0]))


keys = jax.random.split(ledger.key("draws"), N_DRAWS)
errors, with_opposites = evidence.in_batches(squared_errors, keys, 10_000, "draws")
ratio = np.vectorize(theory.norm_coupling_ratio)  # of the error to that of IID features
expected = np.ones((2, 4, 5))
for i, law in enumerate(LAWS):
    expected[:, i] = ratio(v, d, d, law, "positive"), ratio(z, d, d, law, "fourier")

# %% tags=["hide-input"]
plotting.show(
    *plotting.panels(
        np.stack([v, z]), errors / of_iid[:, None], lines=NAMES, predicted=expected,
        panels=("positive features, x = y", "Fourier features"), log="",
        x_label="|x + y|, or |x - y|", y_label="squared error over that of IID",
    ),
    caption="Ours. Mean squared error of orthogonal features over that of independent "
    "ones, $m = d = 4$. Dashed: closed forms.",
    alt="Two charts. PNC is lowest, then independent norms; PM lies at one with IID. "
    "The ratios of Fourier features rise with the distance.",
)  # fmt: skip
opposed = theory.block_mse_ratio(0.6, d, "pnc", "positive", "equal") / 2
near = np.column_stack([errors[:, 0, :, 2], with_opposites[:, 2]]) / of_iid[0, 2]
ledger.decide({  # v = 0.6, z = 1; in units of the error of d IID features
    "couplings/lemma-A.1/mse": evidence.unbiased(
        near, np.append(expected[0, :, 2], opposed), 0.2
    ),
    "couplings/lemma-A.2/mse": evidence.unbiased(
        errors[:, 1, :, 1] / of_iid[1, 1], expected[1, :, 1], 0.1
    ),
})

# %% [markdown]
# (couplings-two-norms)=
# ## Two norms: the best plan (Theorem 3.2)
#
# Cut the law of a norm into 40 quantiles. A coupling is then a matrix of 40 by 40 with
# equal margins, the least cost a linear programme, and *all* couplings are tried at
# once ({py:func}`rfcore.solvers.multi_marginal.two_norms`). For positive features the
# optimum pairs opposite quantiles at every distance. For Fourier features the cost is
# convex up to a radius $t = j$, the first zero of $J_{d/2+1}$
# ({py:func}`rfcore.theory.fourier_convex_radius`): as long as the longest pair of norms
# stays within, the same holds for the same reason.


# %%
def two_norms(distance, d, kind):
    return multi_marginal.two_norms(distance, d, kind, N_QUANTILES)


longest = {d: np.sqrt(2) * two_norms(1.0, d, "fourier").norms[-1] for d in (2, 4, 8)}
radius = {d: theory.fourier_convex_radius(d) for d in (2, 4, 8, 16, 64)}
best = {
    "laplace": [two_norms(v, d, "positive") for d in longest for v in (0.5, 1, 2, 3)],
    "fourier": [
        two_norms(share * radius[d] / longest[d], d, "fourier")
        for d in longest
        for share in (0.25, 0.5, 1)
    ],
}

# %% tags=["hide-input"]
ledger.decide({
    f"couplings/thm-3.2/{kind}": evidence.identity(
        [found.cost / found.opposite for found in plans], np.ones(len(plans)), 1e-6
    )
    for kind, plans in best.items()
})

# %% [markdown]
# (couplings-swaps)=
# ## What an optimal plan looks like (Lemma A.5)
#
# The proof rests on a classical lemma: in an optimal plan no two pairs gain by
# exchanging partners ({py:func}`rfcore.theory.swap_gain`). It holds where the best plan
# is *not* negative monotone, too. At $z = 3$ the plan of the figure has two branches:
# it steers $t$ towards two valleys of the cost, near 5.1 and 11.6, which are zeros of
# $J_2$.
#
# **No $z$ is small enough.** The $\delta$ of Lemma A.6 depends on the other coupling,
# and it has to. A long norm $w = t/z$, with $t$ just past the radius $j$, meets one of
# nearly zero, so that the pair sits where the cost is *concave*, and two such
# neighbours gain by exchanging partners. Norms are not bounded, so this happens at
# every $z > 0$, with a probability that vanishes as $z \to 0$. The negative monotone
# coupling is never exactly optimal for Fourier features; it is only that nobody will
# notice.

# %%
plans = [
    two_norms(1.0, 4, "positive"),
    *(two_norms(z, 4, "fourier") for z in (1.0, 3.0)),
]
swaps = []
for d in longest:
    for z in (1.0, 1.5, 2.0, 3.0):
        longer = np.array([1.1, 1.3]) * radius[d] / z
        scores = special.ndtri(special.gammaincc(d / 2, longer**2 / 2))
        partners = theory.norm_costs.norms_at(scores, d)
        pairs = np.stack(np.meshgrid(longer, partners, indexing="ij"), axis=-1)
        costs = theory.fourier_cost(pairs, z, d, excess=True)
        swaps.append(float(theory.swap_gain(costs)[0, 1]))

# %% tags=["hide-input"]
figures = []
for z, plan in zip((1, 3), plans[1:], strict=True):
    figures.append(Figure(figsize=plotting.PANEL))
    ax = figures[-1].subplots()
    ax.plot(plan.norms, plan.norms[::-1], color=plotting.COLOURS["orthogonal_pnc"])
    ax.plot(*plan.norms[plan.pairs].T, ".", color=plotting.COLOURS["optimised"])
    ax.set(title=f"z = {z}", xlabel="one norm", ylabel="the other norm")
plotting.show(
    *figures,
    caption="Ours. The best coupling of two norms for Fourier features, $d = 4$, on 40 "
    "quantiles (dots), and the negative monotone one (line).",
    alt="Two charts of pairs of norms. At z = 1 the dots lie on a falling line, and at "
    "z = 3 on two branches beside it.",
)
ledger.decide({
    "couplings/lemma-A.5/swap": evidence.bound(
        [plan.swap_gain for plan in plans], 1e-6, exact=True
    ),
    "couplings/extra-no-threshold/swap": evidence.bound(
        swaps, 0.0, side="above", exact=True
    ),
})

# %% [markdown]
# (couplings-small-z)=
# ## Against every other coupling (Lemma A.6)
#
# For any *other* coupling there is a $z$ below which the negative monotone one is
# better. Gaussian copulas of correlation $-0.99$ to $1$ stand for the others. On its
# way the proof takes the moments of the chi-square law for "nothing other than $2^k
# \Gamma(k/2 + d) / \Gamma(k/2)$", which would make the mean 13.1 in four dimensions.
# They are $2^k \Gamma(k + d/2) / \Gamma(d/2)$, and with $\Gamma(d/2)$ for $\Gamma(k/2)$
# in what follows the proof goes through ({py:func}`rfcore.theory.fourier_guarantee`).

# %%
others = np.array([-0.99, -0.9, -0.5, 0.0, 0.5, 1.0])
logs = np.stack([
    theory.log_pair_excess(np.append(others, -1.0), z, d, "fourier")
    for d in ((2, 4, 8, 16) if profile == "paper" else (2, 8))
    for z in (0.05, 0.1, 0.2, 0.5)
])
k, of = np.meshgrid([1, 2, 3, 4], [1, 2, 4, 8])
moments = 2.0**k * special.poch(of / 2, k)
as_printed = np.vectorize(theory.printed.chi_square_moment)(k, of)

# %% tags=["hide-input"]
ledger.decide({
    "couplings/lemma-A.6/advantage": evidence.order(
        np.ones((len(logs), 6)), np.exp(logs[:, :-1] - logs[:, -1:]), exact=True
    ),
    "couplings/lemma-A.6/moment": evidence.erratum(
        evidence.identity(as_printed, moments, 1e-12, relative=True),
        "The mean of the chi-square law is d: k and d have exchanged their halves.",
    ),
})

# %% [markdown]
# (couplings-pnc)=
# ## More than two: PNC and PM (Corollary 3.4)
#
# With $m = d$ norms in pairs, only $d/2$ of the $d (d - 1)/2$ pairs are coupled, but
# each of these gains, and nothing else changes. The opposite choice, one norm for all
# (PM), gives away everything that orthogonality had gained: two orthogonal vectors of
# one $\chi_d$ length have a sum of law $\mathcal N(0, 2 I_d)$, *as independent ones
# have*, so that each pair costs what an independent pair costs.

# %%
of = np.array([2, 4, 8, 16, 64] if profile == "paper" else [2, 4, 8, 16])[:, None]
v, z = np.array([0.1, 0.5, 1, 2, 3, 4]), np.array([0.1, 0.5, 1, 1.5, 2, 2.2])
pnc_v, independent_v = (ratio(v, of, of, law, "positive") for law in LAWS[:2])
pnc_z, independent_z = (ratio(z, of, of, law, "fourier") for law in LAWS[:2])
far = [ratio(3.1, of[:4, 0], of[:4, 0], law, "fourier") for law in LAWS[:2]]
as_iid = np.stack([
    ratio(np.array([0.1, 0.5, 1, 2, 3]), of[:4], of[:4], LAWS[2], kind)
    for kind in ("positive", "fourier")
])

# %% tags=["hide-input"]
ledger.decide({
    "couplings/cor-3.4/laplace": evidence.order(pnc_v, independent_v, exact=True),
    "couplings/cor-3.4/fourier": evidence.order(
        pnc_z[:, :5], independent_z[:, :5], exact=True
    ),
    "couplings/extra-crossing/where": evidence.order(
        np.append(pnc_z[:, 5], far[1]),
        np.append(independent_z[:, 5], far[0]),
        exact=True,
    ),
    "couplings/extra-positive-monotone/as-iid": evidence.identity(
        as_iid, np.ones_like(as_iid), 1e-9
    ),
    "couplings/extra-positive-monotone/worst-rlf": evidence.order(
        independent_v, np.ones_like(independent_v), exact=True
    ),
})

# %% [markdown]
# (couplings-floor)=
# ## How much norms can do at all
#
# As $z \to 0$ the error depends on $\mathbb E \sum_{i \ne j} w_i^2 w_j^2$ alone, which
# is the second moment of $s = \sum_i w_i^2$ less a constant. The best that a coupling
# could do is to keep $s$ at its mean $d^2$. That gives $2 / (d + 2)$ of the IID error
# for $d$ frequencies, where independent norms have $3 / (d + 2)$: **norms take off at
# most a third**, in any dimension. Pairs take off most of that, strata hardly more.

# %%
floor = np.vectorize(theory.fourier_floor)(of[1:], of[1:])
laws = ("independent", "pnc", "stratified")
close = np.hstack([ratio(0.01, of[1:], of[1:], law, "fourier") for law in laws]) / floor

# %% tags=["hide-input"]
plotting.table(
    np.column_stack([close, [theory.fourier_guarantee(int(d)) for d in of[1:, 0]]]),
    rows=[f"{d}" for d in of[1:, 0]],
    columns=["independent", "PNC", "stratified", "proof promises"],
    corner="d",
    caption="Ours. Fourier error at $z = 0.01$ over the floor; and the $z$ up to which "
    "the proof of Lemma A.6 promises an advantage over independent norms.",
)
ledger.decide({
    "couplings/extra-floor/floor": evidence.bound(
        close[:, 1:], 1.0, side="above", exact=True
    )
})

# %% [markdown]
# (couplings-antithetic)=
# ## Free directions: the antithetic pair (Theorem 3.5)
#
# If directions are free as well, a positive pair costs ${}_0F_1(; d/2; v^2 \lVert
# \omega_1 + \omega_2 \rVert^2 / 4)$, a series whose terms are not negative, and all but
# the first vanish for $\omega_2 = -\omega_1$ alone. That is the proof. How much is it
# worth, against whatever else two features could do?

# %%
v = np.array([0.1, 0.5, 1.0, 2.0])
of, saturation = of[:4], -np.expm1(-(v**2))  # 1 - e^(-v^2): the antithetic error, too
straight = np.stack([theory.log_conformity_at_angle(v, int(d), -1.0) for d in of[:, 0]])
pairs = [
    np.broadcast_to(saturation, (4, 4)),
    1 + np.expm1(straight - v**2) * np.exp(-(v**2)) / saturation,
    ratio(v, of, 2, "pnc", "positive"),
    *(
        [np.asarray(theory.positive_mse_ratio(v, int(d), 2, name)) for d in of[:, 0]]
        for name in ("simplex", "orthogonal", "iid")
    ),
]
at = np.array([0.1, 0.3, 0.5, 1.0, 1.5, 2.0])
blocks, augmented = (
    [theory.block_mse_ratio(at, int(d), "pnc", "positive", norms) for d in of[:, 0]]
    for norms in ("none", "equal")
)

# %% tags=["hide-input"]
plotting.table(
    np.array(pairs)[:, :, 1],
    rows=["antithetic", "opposite, independent norms", "orthogonal, NM norms"]
    + [plotting.LABELS[name] for name in ("simplex", "orthogonal", "iid")],
    columns=[f"d = {d}" for d in of[:, 0]],
    caption="Ours. Error of two positive features over that of two independent ones, "
    "$|x + y| = 0.5$.",
)
ledger.decide({
    "couplings/thm-3.5/least": evidence.order(
        np.array(5 * pairs[:1]), np.array(pairs[1:]), exact=True
    ),
    "couplings/thm-3.5/augment": evidence.order(augmented, blocks, exact=True),
})

# %% [markdown]
# (couplings-eq-33)=
# ## A misprint that does no harm (Equation 33)
#
# The proof writes the cost as a series in $v^{2k} \lVert \omega_1 + \omega_2 \rVert^k$.
# Its source, Eq. 15, has the power $2k$. In one and in three dimensions the mean over
# directions is elementary, $\cosh(vs)$ and $\sinh(vs)/(vs)$, and the printed series is
# neither. The argument does not mind: its terms vanish for the same pair.

# %%
s, v = np.meshgrid([0.25, 0.5, 2.0, 4.0], [0.5, 2.0])
exact = np.stack([np.cosh(v * s), np.sinh(v * s) / (v * s)])
series = np.stack([np.vectorize(theory.printed.sum_cost)(s, v, d) for d in (1, 3)])

# %% tags=["hide-input"]
ledger.decide({
    "couplings/eq-33/power": evidence.erratum(
        evidence.identity(series / exact, np.ones_like(exact), 1e-12),
        "Eq. 15 has the power 2k; with k the series is no mean of exponentials.",
    )
})

# %% tags=["hide-input"]
ledger.close()
