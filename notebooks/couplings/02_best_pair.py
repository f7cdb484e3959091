# %% [markdown]
# # Which pair of frequencies is best? (Theorems 3.2 and 3.5, Lemmas A.5 and A.6)
#
# * **At right angles, long should meet short.** Of all couplings of two norms the
#   negative monotone one (NM) has the least cost: for positive features at every
#   distance, for Fourier features as long as the cost is convex.
# * **With directions free, opposite vectors of one length are best.** Such a pair of
#   positive features has less than a quarter of the error of two independent ones at
#   $|x + y| = 0.5$, in any dimension; at right angles the best norms take off a few per
#   cent.
# * **One correction.** For Fourier features there is no $z$ at which the negative
#   monotone coupling is the best of all; and two formulas of the proofs, one of them
#   Equation 33, are misprinted, without harm.
#
# **What the paper claims.** {cite:t}`reid2025couplings` choose the joint law of two
# frequencies by optimal transport (OT). For orthogonal ones, whose norms alone are
# free, "For RLFs, the OT problem in Eq. 5 is solved by the negative monotone coupling";
# for Fourier features it "ensures lower cost than any other coupling, provided $z$ is
# sufficiently small" (Theorem 3.2). RLF is their name for positive features, RFF for
# Fourier features. If directions are free too, the best positive pair is $\omega,
# -\omega$ (Theorem 3.5).
#
# **The idea.** At right angles the cost of two lengths depends on $w_1^2 + w_2^2$ alone
# ([Lemma 3.1](couplings-cost)), so where it is convex the sum should vary little. For
# positive features it is convex everywhere, for Fourier features up to a radius that
# grows as $1/z$. Norms are not bounded, and some pairs lie beyond any radius.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import numpy as np
from matplotlib.figure import Figure
from scipy import special

from companion import evidence, plotting
from companion.papers.couplings import (
    block_errors,
    close_points,
    formulas,
    multi_marginal,
)
from companion.papers.couplings.costs import fourier_cost
from companion.papers.simplex import conformities
from rfcore import theory
from rfcore.theory import norm_costs

ledger = evidence.open_page("couplings/02_best_pair", profile)
N_QUANTILES = {"paper": 40, "quick": 12}[profile]

# %% [markdown]
# (couplings-two-norms)=
# ## Two norms: the best plan (Theorem 3.2)
#
# Cut the distribution of a norm into 40 bins of equal probability. A coupling is then a
# 40 by 40 matrix with equal margins, a linear programme finds the least cost, and in
# this way *all* couplings are tried at once
# ({py:func}`~companion.papers.couplings.multi_marginal.two_norms`). For positive features
# the optimum pairs opposite quantiles at every distance. For Fourier features the cost
# is convex up to a radius: as long as $t = z \sqrt{w_1^2 + w_2^2}$ is below the first
# zero $j$ of $J_{d/2+1}$
# ({py:func}`companion.papers.couplings.close_points.convex_radius`). If the longest pair
# of norms stays within this radius, the same holds for the same reason.


# %%
def two_norms(distance, d, kind):
    return multi_marginal.two_norms(distance, d, kind, N_QUANTILES)


longest = {d: np.sqrt(2) * two_norms(1.0, d, "fourier").norms[-1] for d in (2, 4, 8)}
radius = {d: close_points.convex_radius(d) for d in longest}
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
# exchanging partners ({py:func}`companion.papers.couplings.multi_marginal.swap_gain`). It
# also holds where the best plan is *not* negative monotone. At $z = 3$ the plan of the
# figure has two branches: it steers $t$ towards two valleys of the cost, near 5.1 and
# 11.6, which are zeros of $J_2$.
#
# **No $z$ is small enough.** The bound $\delta$ on $z$ in Lemma A.6 depends on the
# other coupling, and it has to. A long norm $w = t/z$, with $t$ just past the radius
# $j$, meets a norm of nearly zero, so that the pair sits where the cost is *concave*,
# and two such neighbouring pairs gain by exchanging partners. Norms are not bounded, so
# this happens at every $z > 0$, with a probability that vanishes as $z \to 0$. The
# negative monotone coupling is never exactly optimal for Fourier features; but nobody
# will notice.

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
        partners = norm_costs.norms_at(scores, d)
        pairs = np.stack(np.meshgrid(longer, partners, indexing="ij"), axis=-1)
        costs = fourier_cost(pairs, z, d, excess=True)
        swaps.append(float(multi_marginal.swap_gain(costs)[0, 1]))

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
# better. Gaussian copulas of correlation $-0.99$ to $1$ stand in for the others. On its
# way the proof takes the moments of the chi-square law to be "nothing other than
# $2^k \Gamma(k/2 + d) / \Gamma(k/2)$", which would make the mean 13.1 in four
# dimensions. They are $2^k \Gamma(k + d/2) / \Gamma(d/2)$, and with $\Gamma(d/2)$ in
# place of $\Gamma(k/2)$ in what follows the proof goes through
# ({py:func}`companion.papers.couplings.close_points.guarantee`).

# %%
others = np.array([-0.99, -0.9, -0.5, 0.0, 0.5, 1.0])
logs = np.stack([
    norm_costs.log_pair_excess(np.append(others, -1.0), z, d, "fourier")
    for d in ((2, 4, 8, 16) if profile == "paper" else (2, 8))
    for z in (0.05, 0.1, 0.2, 0.5)
])
k, of = np.meshgrid([1, 2, 3, 4], [1, 2, 4, 8])
moments = 2.0**k * special.poch(of / 2, k)
as_printed = np.vectorize(formulas.chi_square_moment)(k, of)

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
# (couplings-antithetic)=
# ## Free directions: the antithetic pair (Theorem 3.5)
#
# If directions are free as well, a positive pair costs ${}_0F_1(; d/2; v^2 \lVert
# \omega_1 + \omega_2 \rVert^2 / 4)$, a series whose terms are never negative; all but
# the first vanish only for $\omega_2 = -\omega_1$. That is the proof. How much is such
# a pair worth, compared with whatever else two features could do? And which is better
# for $2 d$ features, pairwise norm coupling (PNC) with opposites, or two independent
# blocks of PNC?

# %%
v, of = np.array([0.1, 0.5, 1.0, 2.0]), [2, 4, 8, 16]
saturation = -np.expm1(-(v**2))  # 1 - e^(-v^2): the antithetic error, too
straight = np.stack([conformities.log_conformity_at_angle(v, d, -1.0) for d in of])
pairs = [
    np.broadcast_to(saturation, (4, 4)),
    1 + np.expm1(straight - v**2) * np.exp(-(v**2)) / saturation,
    [theory.mse_ratio("orthogonal_pnc", "positive", v, m=2, d=d) for d in of],
    *(
        [np.asarray(theory.mse_ratio(name, "positive", v, m=2, d=d)) for d in of]
        for name in ("simplex", "orthogonal", "iid")
    ),
]
at = np.array([0.1, 0.3, 0.5, 1.0, 1.5, 2.0])
blocks, augmented = (
    [block_errors.block_mse_ratio(at, d, "pnc", "positive", norms) for d in of]
    for norms in ("none", "equal")
)

# %% tags=["hide-input"]
plotting.table(
    np.array(pairs)[:, :, 1],
    rows=["antithetic", "opposite, independent norms", "orthogonal, NM norms"]
    + [plotting.LABELS[name] for name in ("simplex", "orthogonal", "iid")],
    columns=[f"d = {d}" for d in of],
    corner="coupling",
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
# neither. The argument is not affected: its terms vanish for the same pair.

# %%
s, v = np.meshgrid([0.25, 0.5, 2.0, 4.0], [0.5, 2.0])
exact = np.stack([np.cosh(v * s), np.sinh(v * s) / (v * s)])
series = np.stack([np.vectorize(formulas.sum_cost)(s, v, d) for d in (1, 3)])

# %% tags=["hide-input"]
ledger.decide({
    "couplings/eq-33/power": evidence.erratum(
        evidence.identity(series / exact, np.ones_like(exact), 1e-12),
        "Eq. 15 has the power 2k; with k the series is no mean of exponentials.",
    )
})

# %% tags=["hide-input"]
ledger.close()
