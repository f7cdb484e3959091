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
# # What does the generalisation bound promise?
#
# **What the paper claims.** A modulation function can be learned, and with it, through $f * f = \alpha$, a kernel
# $K_\alpha = \sum_i \alpha_i W^i$. How well can a kernel from so rich a family generalise?
# {cite:t}`reid2023universal` bound what the family can fit of pure noise, its *empirical Rademacher complexity* on a
# sample of $m$ nodes, through a single number of the graph, the spectral radius $\rho(W)$ (Theorem 2.3), and
# conclude with a bound on the error on new nodes (Eq. 41).
#
# There is no experiment in the paper. We measure the complexity on five real graphs, hold it against the bound,
# go through the proof line by line, and ask what Eq. 41 says about a classifier.

# %% tags=["hide-input"]
import itertools
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of small products mostly wait, and waiting costs time too
import jax

jax.config.update("jax_enable_x64", True)

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from rfcore import datasets, evidence, kernels, plotting
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.theory import generalisation

plotting.use_style()

# %% tags=["parameters"]
profile = "paper"

# %%
SIZES = {
    "paper": {"graphs": ("karate", "dolphins", "football", "polblogs", "eurosis"), "n_repeats": 30, "n_draws": 40, "n_samples": 30}
    | {"two_classes": ("karate", "dolphins", "polblogs"), "n_margins": 81},
    "quick": {"graphs": ("karate", "dolphins", "football"), "n_repeats": 30, "n_draws": 20, "n_samples": 10}
    | {"two_classes": ("karate", "dolphins"), "n_margins": 21},
}[profile]
ledger = evidence.Ledger("ugrf/06_generalisation", profile)

# %% [markdown]
# ## The idea in three lines
#
# The hypotheses are $h(x) = w^\top \psi_K(x)$ with $\|w\| \leq 1$, over all kernels with $|\alpha_i| \leq \alpha_i^{(M)}$. Give the
# nodes random signs $s$ and let the family fit them. The best $w$ reaches $\sqrt{s^\top K s}$, the best coefficients make every
# term positive:
#
# $$
# \begin{aligned}
# \widehat{\mathcal R} &= \frac1m\, \mathbb E_s \sqrt{\textstyle\sum_i \alpha_i^{(M)} \bigl| s^\top (W^i)_{SS}\, s \bigr|} \\
# &\leq \sqrt{\frac1m \sum_i \alpha_i^{(M)} \rho(W)^i} ,
# \end{aligned}
# $$ (eq-rademacher)
#
# because $|s^\top (W^i)_{SS}\, s| \leq \rho^i \|s\|^2 = \rho^i m$. The left side is
# {py:func}`~rfcore.theory.generalisation.rademacher_complexity`, an average over signs; the right is Theorem 2.3.
#
# Small print. Only positive semidefinite kernels have features, so the supremum should run over those. Where
# $\sum_{i \geq 1} \alpha_i^{(M)} \rho^i \leq \alpha_0^{(M)}$ all kernels that reach it are (as $s^\top s > 0$, they keep $\alpha_0 = \alpha_0^{(M)}$);
# elsewhere the left side of {eq}`eq-rademacher` is itself an upper bound, and a bound above it holds all the more.

# %% [markdown]
# (ugrf-thm-2-3)=
# ## Theorem 2.3 on real graphs
#
# The paper names no family. We take the Taylor coefficients of three of its kernels, by absolute value, with $\sigma = 1$, and a *flat*
# family that gives every power up to the ninth the same freedom, as a learned modulation of ten free values might have. All are scaled to
# $\alpha_0^{(M)} = 1$ and cut after 40 terms; the graphs are normalised, so that $\rho = 1$. The samples are fixed, nested, distinct
# nodes: an eighth, a quarter, a half, all.

# %%
n_terms = 40
families = {
    "diffusion": modulation.to_taylor(modulation.diffusion(1.0), n_terms=n_terms),
    "regularised_laplacian": modulation.to_taylor(modulation.regularised_laplacian(1.0, 2), n_terms=n_terms),
    "inverse_cosine": modulation.to_taylor(modulation.inverse_cosine(), n_terms=n_terms),
    "learned": (np.arange(n_terms) < 10).astype(float),
}
bounds = np.abs(np.stack(list(families.values())))
bounds /= bounds[:, :1]
labels = plotting.LABELS | {"learned": "flat, ten terms"}
raw = {name: Graph.from_networkx(datasets.graph(name, fallback=True)) for name in SIZES["graphs"]}
graphs = {name: g.normalised() for name, g in raw.items()}
fractions = (1 / 8, 1 / 4, 1 / 2, 1)


# %%
def fixed_samples(g, replace, seed=0):
    """Nested samples of the nodes, one per fraction."""
    order = np.random.default_rng(seed).choice(g.n_nodes, g.n_nodes, replace=replace)
    return [order[: max(4, round(share * g.n_nodes))] for share in fractions]


def measured(seed, g, sample):
    """The complexity of every family from independent sets of signs, shape (n_repeats, n_families)."""
    keys = jax.random.split(jax.random.key(seed), SIZES["n_repeats"])
    return np.stack(
        [generalisation.rademacher_complexity(key, g, sample, bounds, SIZES["n_draws"])[0] for key in keys]
    )


def on_all_graphs(replace):
    """Measured complexity (repeats, graphs, fractions, families), the two bounds (graphs, fractions, families), sizes."""
    found, theorem, trace = [], [], []
    for i, g in enumerate(tqdm(graphs.values(), desc="graphs", leave=False)):
        samples, radius = fixed_samples(g, replace), generalisation.spectral_radius(g)
        found.append([measured(100 * replace + 10 * i + j, g, sample) for j, sample in enumerate(samples)])
        theorem.append([generalisation.rademacher_bound(bounds, radius, len(sample)) for sample in samples])
        trace.append([generalisation.rademacher_trace_bound(g, sample, bounds) for sample in samples])
    return np.moveaxis(np.array(found), 2, 0), np.array(theorem), np.array(trace)


found, theorem, trace = on_all_graphs(replace=False)
ledger.decide("ugrf/thm-2.3/bound-holds", evidence.bound(found, theorem))

# %% [markdown]
# (ugrf-complexity)=
# ### The complexity itself
#
# A bound from above says nothing of how the complexity falls with $m$. It falls at the bound's own rate:

# %%
slopes = []
for i, g in enumerate(graphs.values()):
    sizes = [len(sample) for sample in fixed_samples(g, replace=False)]
    slopes.append((sizes, found[:, i].transpose(0, 2, 1)))
# The samples of different graphs have nearly the same sizes relative to each other: one rule takes them all.
relative = np.array([sizes for sizes, _ in slopes], dtype=float)
relative = np.exp(np.log(relative / relative[:, -1:]).mean(axis=0))
curves = np.stack([curve for _, curve in slopes], axis=1)
ledger.decide("ugrf/extra-complexity/rate", evidence.slope(relative, curves, expected=-0.5, resolution=0.1))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Rademacher complexity times the square root of the sample size: measured (solid; bands of one standard error of the mean over the sets of signs), bounded by Theorem 2.3 (dotted) and by the trace bound further down (dashed).", "name": "fig-rademacher"}, "image": {"alt": "Three panels, karate, football and eurosis, against the number of sampled nodes. The measured lines lie between 1 and 1.4, nearly flat; dashed lines a little above them; the dotted ones are level at 1.3, 1.5, 2 and 3.2."}}
fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.6), sharey=True)
for ax, (i, name) in zip(axes, [(0, "karate"), (2, "football"), (len(graphs) - 1, list(graphs)[-1])], strict=True):
    sizes = [len(sample) for sample in fixed_samples(graphs[name], replace=False)]
    for j, family in enumerate(families):
        plotting.band(ax, sizes, np.sqrt(sizes) * found[:, i, :, j], family)
        ax.plot(sizes, np.sqrt(sizes) * theorem[i, :, j], ":", color=plotting.COLOURS[family])
        ax.plot(sizes, np.sqrt(sizes) * trace[i, :, j], "--", color=plotting.COLOURS[family], linewidth=1)
    ax.set(xscale="log", title=f"{name}, N = {graphs[name].n_nodes}", ylim=(0.9, 3.3))
    ax.set_xticks(sizes, [str(m) for m in sizes])
    ax.minorticks_off()
fig.legend(
    [plt.Line2D([], [], color=plotting.COLOURS[n]) for n in families], [labels[n] for n in families],
    loc="outside upper center", ncols=4, labelcolor="linecolor",
)  # fmt: skip
fig.supxlabel("sampled nodes m", fontsize=10)
fig.supylabel("complexity times square root of m", fontsize=10)
plt.show()

# %% tags=["hide-input"]
loose, sharp = theorem / found.mean(axis=0), trace / found.mean(axis=0)
print("bound over measured, smallest and largest over graphs and sample sizes:  Theorem 2.3,   trace bound")
for j, family in enumerate(families):
    print(f"{labels[family]:>17}: {loose[..., j].min():.2f} to {loose[..., j].max():.2f},   {sharp[..., j].min():.2f} to {sharp[..., j].max():.2f}")
excess = bounds[:, 1:].sum(axis=1)
print("sum of the coefficients past the first (at most 1: the supremum is over kernels): " + ", ".join(f"{labels[n]} {x:.2f}" for n, x in zip(families, excess, strict=True)))

# %% [markdown]
# ## Does it depend on the spectral radius?
#
# "Naturally, the bound increases monotonically with $\rho(W)$." We multiply the weights of each graph by factors from 1/4 to 2, which
# multiplies $\rho$.

# %%
factors = (0.25, 0.5, 1.0, 1.5, 2.0)
rising = np.array([
    [generalisation.rademacher_bound(bounds, generalisation.spectral_radius(g.scaled(factor)), 1) for factor in factors]
    for g in graphs.values()
])  # graphs, factors, families
ledger.decide("ugrf/thm-2.3/increases", evidence.order(rising[:, :-1], rising[:, 1:], exact=True))

# %% [markdown]
# So it must. And does the complexity? On common signs:

# %%
half = {name: fixed_samples(g, replace=False)[2] for name, g in graphs.items()}
by_radius = np.stack(
    [
        [measured(200 + i, g.scaled(factor), half[name])[:, :3] for factor in factors]
        for i, (name, g) in enumerate(tqdm(graphs.items(), desc="graphs", leave=False))
    ]
)  # graphs, factors, repeats, families; the flat family would be all ninth power
by_radius = by_radius.transpose(2, 0, 3, 1)
ledger.decide("ugrf/extra-complexity/grows-with-radius", evidence.order(by_radius[..., :-1], by_radius[..., 1:]))

# %% tags=["hide-input"]
print("from factor 1/4 to 2, smallest and largest over graphs, the complexity grows by, and the bound")
for j, family in enumerate(list(families)[:3]):
    growth = by_radius[..., j, -1].mean(axis=0) / by_radius[..., j, 0].mean(axis=0)
    of_bound = generalisation.rademacher_bound(bounds[j], 2.0, 1) / generalisation.rademacher_bound(bounds[j], 0.25, 1)
    print(f"{labels[family]:>17}: {growth.min():.2f} to {growth.max():.2f}, {of_bound:.2f}")

# %% [markdown]
# ## Where the bound is tight
#
# "This bound is not tight for general graphs, but will be for specific examples: for example, when $\mathbf W$ is proportional to
# the identity so the only edges are self-loops" (Appendix A.4). There $s^\top W^i s = \rho^i m$ for *every* vector of signs, and nothing is
# lost by taking the largest. The nodes of the sample must be distinct.

# %%
loops = {rho: Graph.from_scipy(sp.csr_array(rho * sp.eye_array(500))) for rho in (0.3, 0.7, 1.0)}
tight = []
for rho, g in loops.items():
    for m in (5, 50, 500):
        complexity, _ = generalisation.rademacher_complexity(jax.random.key(400 + m), g, np.arange(m), bounds, n_draws=2)
        tight.append(complexity / generalisation.rademacher_bound(bounds, rho, m))
rounding = 600 * np.finfo(float).eps
ledger.decide("ugrf/thm-2.3/tight", evidence.identity(np.stack(tight), 1.0, tolerance=rounding))

# %% [markdown]
# (ugrf-eq-36)=
# ## The proof, line by line
#
# * **Eq. 32**: $h(x) = \sum_i \beta_i K(x_i, x)$. Right on the sample, where it is used; elsewhere $h$ has a part orthogonal to it.
# * **Eq. 34**: right by Cauchy and Schwarz for $K^{1/2} \beta$. (What is made as large as possible is $\|K^{1/2}\beta\|$, not $\|\beta\|$ as printed.)
# * **Eq. 35**: right, with the small print above.
# * **Eq. 36** writes $\sup_s \sup_\alpha \sqrt{s^\top K s} = \sqrt{m \sum_i \alpha_i^{(M)} \rho^i}$. Equality needs a vector of signs that is an eigenvector
#   of the largest eigenvalue, and a sample that it lives on. Twelve nodes of karate have $2^{12}$ sign vectors; we try them all.

# %%
signs = np.array(list(itertools.product([-1.0, 1.0], repeat=12)))


def supremum(g, sample):
    """Largest sum_i bounds_i |s^T (W^i)_SS s| over all signs, squared-rooted, for every family."""
    W, power, total = g.to_scipy().toarray(), np.eye(g.n_nodes), 0.0
    for column in bounds.T:
        forms = np.abs(np.einsum("si,ij,sj->s", signs, power[np.ix_(sample, sample)], signs))
        total, power = total + column[:, None] * forms, power @ W
    return np.sqrt(total).max(axis=1)


karate, right_side = graphs["karate"], 12 * generalisation.rademacher_bound(bounds, 1.0, 12)
distinct, repeated = np.arange(0, 34, 3), np.array([0, 0, 0, 0, 5, 5, 5, 12, 12, 20, 33, 33])
why = "The proof needs and has 'at most': no vector of signs on the sample is an eigenvector of the largest eigenvalue."
# No weight is negative, and equal signs attain the sum of the sizes: half a unit of rounding for each of 40 x 34, 12 x 12 and
# 40 terms, and four for each power of the rounded weights.
rounding = 900 * np.finfo(float).eps
decision = evidence.identity(supremum(karate, distinct) / right_side, 1.0, tolerance=rounding)
ledger.decide("ugrf/eq-36/equality", evidence.erratum(decision, why))

# %% [markdown]
# That is a slip of the pen: "at most" is what the proof needs, and has, for distinct nodes.

# %% [markdown]
# (ugrf-trace-bound)=
# ## A sharper bound, with a proof that needs no distinct nodes
#
# There is a gap, too, though the theorem is true. It is for *any* fixed sample, and the generalisation bounds that follow need
# nodes drawn *independently*, which soon draw a node twice. Then $\|s\|^2$, with the signs of one node added up, can exceed $m$, and
# the supremum can exceed the right side of Eq. 36, so that "at most" does not hold either:

# %%
excess = float((supremum(karate, repeated) / right_side).max())
gap = evidence.bound(excess, 1.0, side="above", exact=True)
ledger.decide("ugrf/extra-trace-bound/gap", gap)

# %% [markdown]
# The supremum over the signs is a waste: the complexity is a *mean*. The square root is concave, and
# $|s^\top (W^i)_{SS}\, s| \leq s^\top (|W|^i)_{SS}\, s$ with the matrix absolute value (eigenvalues by absolute value), whose mean
# over independent signs is its trace, whether nodes repeat or not. So
#
# $$
# \widehat{\mathcal R} \ \leq\ \frac1m \sqrt{\textstyle\sum_i \alpha_i^{(M)} \sum_{x \in S} (|W|^i)_{xx}} ,
# $$ (eq-trace)
#
# and as $(|W|^i)_{xx} \leq \rho^i$, this is never above Eq. 10: **Theorem 2.3 is true for every sample after all.** It costs an
# eigendecomposition, or a stochastic estimate of a diagonal.

# %%
found_iid, theorem_iid, trace_iid = on_all_graphs(replace=True)
both = np.concatenate([found, found_iid], axis=1)
ledger.decide("ugrf/extra-trace-bound/holds", evidence.bound(both, np.concatenate([trace, trace_iid])))

# %%
sharper = evidence.order(np.stack([trace, trace_iid]), np.stack([theorem, theorem_iid]), exact=True)
ledger.decide("ugrf/extra-trace-bound/sharper", sharper)

# %% [markdown]
# (ugrf-vacuous)=
# ## What Eq. 41 says about a classifier
#
# With probability $1 - \delta$, for all hypotheses at once,
#
# $$
# R(h) \ \leq\ \widehat R_\eta(h) + \frac2\eta\, \widehat{\mathcal R} + 3 \sqrt{\frac{\log (2/\delta)}{2m}}
# $$ (eq-margin)
#
# where $\widehat R_\eta$ is the share of training nodes within a margin $\eta$ of the wrong side, on a sliding scale (Eqs 39 to 41; the paper
# calls the margin $\rho$ too). Put Theorem 2.3 in for $\widehat{\mathcal R}$ and something awkward happens. Write $B$ for the right side of Eq. 10.
# For distinct nodes, a hypothesis of norm at most one has $\sum_{x \in S} h(x)^2 \leq \lambda_{\max}(K_{SS}) \leq m B^2$, so that the mean of
# $|h|$ over the sample is at most $B$, and
#
# $$
# \begin{aligned}
# \widehat R_\eta(h) &\geq 1 - \frac{1}{m \eta} \sum_{x \in S} |h(x)| \\
# &\geq 1 - \frac B\eta , \quad \text{so that} \\
# \widehat R_\eta(h) + \frac{2B}\eta &\geq 1 + \frac B\eta\ > 1 .
# \end{aligned}
# $$
#
# **Where the nodes are distinct, Eq. 41 never promises an error below one**: not for any graph, family, hypothesis or margin. (For samples
# with repeated nodes $\lambda_{\max}(K_{SS})$ can exceed $m B^2$, and this argument says nothing.) The reason is the supremum again. It asks what the family
# can fit of the *worst* labels, and no real labels can be fitted better than those.
#
# We check the algebra on graphs with two classes, with the two extreme hypotheses of norm one: the one that correlates best with the labels,
# $h \propto \sum_i y_i K(x_i, \cdot)$, and the one with the largest smallest margin, $h \propto \sum_i (K_{SS}^{-1} y)_i K(x_i, \cdot)$.

# %%
two_classes = {}
for name in SIZES["two_classes"]:
    G = datasets.graph(name, fallback=True)
    labelled = np.array([G.nodes[v]["class"] for v in G])
    two_classes[name] = Graph.from_networkx(G).normalised(), np.where(labelled == labelled.max(), 1, -1)


def hypothesis(K, sample, beta):
    """Values on all nodes of the hypothesis of norm one along sum_i beta_i K(x_i, .)."""
    return K[:, sample] @ beta / np.sqrt(beta @ K[np.ix_(sample, sample)] @ beta)


def two_hypotheses(K, sample, y):
    yield hypothesis(K, sample, y[sample])
    yield hypothesis(K, sample, np.linalg.solve(K[np.ix_(sample, sample)], y[sample]))


margins, delta = np.geomspace(1e-3, 10, SIZES["n_margins"]), 0.05
smallest = {}
for name, (g, y) in two_classes.items():
    for family in ("diffusion", "regularised_laplacian"):
        K = kernels.power_series(g, bounds[list(families).index(family)])
        for sample in fixed_samples(g, replace=False):
            B = generalisation.rademacher_bound(bounds[list(families).index(family)], 1.0, len(sample))
            smallest[name, family, len(sample)] = min(
                generalisation.margin_bound(generalisation.margin_loss(h[sample], y[sample], eta), B, eta, len(sample), delta)
                for h in two_hypotheses(K, sample, y)
                for eta in margins
            )
decision = evidence.bound(min(smallest.values()), 1.0, side="above", exact=True)
ledger.decide("ugrf/extra-vacuous/eq-41-above-one", decision)

# %% [markdown]
# And the mean, that is Eq. {eq}`eq-trace` in place of Theorem 2.3? It can tell real labels from noise. Polblogs: $m = 1000$ nodes drawn independently from its 1222, with
# replacement as the bound requires, two political camps. The kernel is a diffusion over a long time, $e^{-20 L}$ ($\sigma^2 = 40$, so that
# $\sum_i \alpha_i = 1$); the margin, $\eta = 1 / (2 \sqrt m)$, was fixed beforehand: half of what the best correlated hypothesis could reach.

# %%
G = datasets.graph("polblogs", fallback=True)
labelled = np.array([G.nodes[v]["class"] for v in G])
g, y = Graph.from_networkx(G).normalised(), np.where(labelled == labelled.max(), 1, -1)
m, long_time = 1000, np.abs(modulation.to_taylor(modulation.diffusion(np.sqrt(40)), n_terms=120))
K, eta = kernels.power_series(g, long_time), 1 / (2 * np.sqrt(m))
drawn = np.random.default_rng(300).choice(g.n_nodes, (SIZES["n_samples"], m))
hs = [hypothesis(K, sample, y[sample]) for sample in drawn]
error = np.array([np.mean(y * h <= 0) for h in hs])
loss = np.array([generalisation.margin_loss(h[sample], y[sample], eta) for h, sample in zip(hs, drawn, strict=True)])
by_theorem = generalisation.rademacher_bound(long_time, 1.0, m)
by_trace = generalisation.rademacher_trace_bound(g, drawn, long_time)
eq_41, with_trace = (
    np.array([generalisation.margin_bound(x, c, eta, m, delta) for x, c in zip(loss, np.broadcast_to(b, loss.shape), strict=True)])
    for b in (by_theorem, by_trace)
)
ledger.decide("ugrf/extra-vacuous/trace-below-one", evidence.bound(with_trace, 1.0))

# %%
ledger.decide("ugrf/extra-vacuous/error-below-bound", evidence.order(error, with_trace))

# %% tags=["hide-input"]
print("smallest right side of Eq. 41 over margins and hypotheses, distinct nodes")
for name in two_classes:
    ours = {key[1:]: value for key, value in smallest.items() if key[0] == name}
    print(f"{name:>10}: {min(ours.values()):.2f} to {max(ours.values()):.2f} over families and sample sizes")
print(f"\npolblogs, {m} independent draws, e^(-20 L), means over {len(drawn)} samples")
print(f"  true error {error.mean():.3f}, margin loss {loss.mean():.3f}")
print(f"  complexity at most {by_theorem:.4f} (Theorem 2.3), {by_trace.mean():.4f} (trace)")
print(f"  so the error is at most {eq_41.mean():.2f} (Eq. 41), {with_trace.mean():.2f} (Eq. 40 with the trace bound)")

# %% [markdown]
# ## What we found

# %% tags=["hide-input"]
ledger.close(
    seeds={"samples": 0, "signs": [0, 100, 200, 400], "draws of polblogs": 300},
)

# %% [markdown]
# ## What we learned
#
# * Theorem 2.3 is true, and on these graphs it is not bad as such bounds go: a factor of 1.2 to 3, the more the weight its coefficients give to long walks. The rate
#   in $m$ is the right one.
# * The spectral radius is the wrong number to look at. Weights eight times as large multiply the bound of the 2-regularised Laplacian's family
#   by 25, and the complexity by 1.4 to 4.8: few eigenvalues are near the radius, and the average over the signs feels them all. The mean of the diagonals of $|W|^i$ tells the truth, to
#   within a fifth.
# * The proof bounds the mean over signs by the largest value. That costs it two things: it needs distinct nodes, which the generalisation bound then
#   cannot have, and **its bound on the error, Eq. 41, is above one for every graph, family, hypothesis and margin, as long as the nodes
#   are distinct**. Jensen's inequality mends both in one line, and on polblogs the mended bound says something. It is still far from the true error, as margin bounds are.
# * The bound is tight where the paper says so: on self-loops of equal weight. Eq. 36 prints an equality that is an inequality.
