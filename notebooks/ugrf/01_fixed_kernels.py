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
# # Can random walks estimate any graph kernel?
#
# **What the paper claims.** A kernel between the nodes of a graph is a function of a matrix, and computing it
# exactly costs $O(N^3)$. {cite:t}`reid2023universal` estimate it from random walks instead. Each walker scatters a
# *load* over the nodes it visits, and a *modulation function* $f$ of the number of steps decides what kernel
# comes out, by one rule: $f * f = \alpha$, the Taylor coefficients of the kernel (Theorems 2.1 and 2.2). The
# estimates are unbiased, and on eight graphs the error is small with few walkers (Figure 2).
#
# We check the algebra, test the unbiasedness entry by entry, redraw the figure on the same eight graphs, and
# time the walks.

# %% tags=["hide-input"]
import random
import time

import jax

jax.config.update("jax_enable_x64", True)

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy import stats
from tqdm import tqdm

from rfcore import datasets, evidence, features, kernels, plotting
from rfcore.features import modulation
from rfcore.graphs import Graph

plotting.use_style()

# %% tags=["parameters"]
profile = "paper"

# %%
SIZES = {
    "paper": {"n_unbiased": 3000, "walkers": (2, 4, 8, 16, 32, 64), "n_repeats": 30, "n_timings": 7},
    "quick": {"n_unbiased": 600, "walkers": (2, 8, 32), "n_repeats": 10, "n_timings": 5},
}[profile]
ledger = evidence.Ledger("ugrf/01_fixed_kernels", profile)

# %% [markdown]
# ## The idea in three lines
#
# Let $W = D^{-1/2} A D^{-1/2}$. A walk from node $i$ picks a neighbour uniformly and stops before each hop with
# probability $p$. If its load is multiplied at each hop by $\deg \cdot W_{\text{edge}} / (1 - p)$, then the
# expected load that it brings to node $j$ at step $k$ is exactly $(W^k)_{ij}$: the multiplier undoes the chance
# of having walked there. So the feature $\phi(i)_j = \text{mean over walks of } \sum_k \text{load}_k\, f(k)$
# obeys
#
# $$
# \mathbb E\,\phi = \sum_k f(k)\, W^k,
# \qquad
# \mathbb E\, \phi_1 \phi_2^\top = \Bigl(\sum_k f(k) W^k\Bigr)^2 = \sum_k (f * f)(k)\, W^k
# $$
#
# for two *independent* sets of walks. Choose $f$ as the square root of the kernel's power series, and the product
# estimates the kernel. The walks never hear of it.

# %% [markdown]
# (ugrf-table-1)=
# ## Table 1: four kernels as power series
#
# All are functions of the normalised Laplacian $L = I - W$. The paper takes the regularisers $\sigma = 0.25$ and
# $\alpha = 20$; it does not say which $d$ and $p$, and we take $d = p = 2$. First the printed coefficients: do
# they rebuild the kernels that {py:mod}`rfcore.kernels` computes by eigendecomposition?

# %%
sigma, alpha = 0.25, 20.0
k = np.arange(60)
factorial = np.cumprod(np.maximum(k, 1).astype(float))
signs = np.where(k % 4 < 2, 1.0, -1.0)
printed = {
    "regularised_laplacian": (k + 1) * (1 + sigma**-2) ** -k.astype(float),
    "p_step": np.array([1, 2, 1, *np.zeros(57)]) * (alpha - 1) ** -k.astype(float),
    "diffusion": (sigma**2 / 2) ** k / factorial,
    "inverse_cosine": signs * (np.pi / 4) ** k / factorial,
}
constant = {
    "regularised_laplacian": (1 + sigma**2) ** -2,
    "p_step": (alpha - 1) ** 2,
    "diffusion": np.exp(-(sigma**2) / 2),
    "inverse_cosine": 1 / np.sqrt(2),
}


def exact_kernels(g, sigma):
    """The four kernels of Table 1 on one graph."""
    return {
        "regularised_laplacian": kernels.regularised_laplacian(g, sigma, 2),
        "p_step": kernels.p_step(g, alpha, 2),
        "diffusion": kernels.diffusion(g, sigma),
        "inverse_cosine": kernels.inverse_cosine(g),
    }


# %%
karate = Graph.from_networkx(datasets.graph("karate", fallback=True))
exact = exact_kernels(karate, sigma)
W = karate.normalised().to_scipy().toarray()
powers = np.stack([np.linalg.matrix_power(W, int(i)) for i in k])
series = np.stack([np.tensordot(printed[name], powers, axes=1) for name in exact])
scaled_kernels = np.stack([exact[name] / constant[name] for name in exact])
# Tolerance: 60 terms and an eigendecomposition of 34 nodes, each good to some hundred units of rounding.
ledger.decide("ugrf/table-1/taylor", evidence.identity(series, scaled_kernels, tolerance=60 * 34 * 2.2e-16, relative=True))

# %% [markdown]
# (ugrf-thm-2-2)=
# ## Theorem 2.2: the square root of a power series
#
# $f * f = \alpha$ has one solution up to sign, and Eq. 6 finds it term by term:
#
# $$
# f(0) = \sqrt{\alpha_0},
# \qquad
# f(i + 1) = \frac{\alpha_{i+1} - \sum_{p=1}^{i} f(p)\, f(i + 1 - p)}{2 f(0)}.
# $$
#
# Three of the four kernels have closed forms to compare with; for the inverse cosine we convolve.



# %%
def modulations(sigma):
    """The modulation function of each of the four kernels."""
    return {
        "regularised_laplacian": modulation.regularised_laplacian(sigma, 2),
        "p_step": modulation.p_step(alpha, 2),
        "diffusion": modulation.diffusion(sigma),
        "inverse_cosine": modulation.inverse_cosine(),
    }


closed = modulations(sigma)
iterated = np.stack([modulation.from_taylor(constant[name] * printed[name])(k) for name in closed])
from_closed = np.stack([np.asarray(f(k)) for f in closed.values()])
squares = np.stack([np.convolve(f, f)[:60] / constant[name] for f, name in zip(iterated, closed, strict=True)])
ours = np.concatenate([iterated / iterated[:, :1], squares])
theirs = np.concatenate([from_closed / from_closed[:, :1], np.stack([printed[name] for name in closed])])
# Tolerance: 60 steps of up to 60 products each, every one good to a unit of rounding.
ledger.decide("ugrf/thm-2.2/iterative-formula", evidence.identity(ours, theirs, tolerance=60 * 60 * 2.2e-16))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Modulation functions of the four kernels, over f(0), by absolute value. The inverse cosine's decays only like k to the -3/2: its estimates have heavy tails.", "name": "fig-modulations"}, "image": {"alt": "Semi-log chart of modulation against walk length 0 to 12. Diffusion, regularised Laplacian and two-step walk drop by orders of magnitude per step; the inverse cosine falls slowly."}}
fig, ax = plt.subplots(figsize=(6.4, 3.2))
steps = np.arange(13)
lines = {}
for name, f in closed.items():
    height = np.abs(np.asarray(f(steps)) / np.asarray(f(np.arange(1))))
    shown = height > 1e-17
    (lines[plotting.LABELS[name]],) = ax.plot(steps[shown], height[shown], "o-", color=plotting.COLOURS[name])
ax.set(yscale="log", xlabel="walk length k", ylabel="|f(k)| / f(0)", ylim=(1e-16, 3))
plotting.label_ends(ax, lines)
plt.show()

# %% [markdown]
# (ugrf-thm-2-1)=
# ## Theorem 2.1: unbiased, entry by entry
#
# On the karate club, thousands of independent pairs of feature matrices (3000 on this page) with 16 walks a node.
# Each entry of $\phi_1 \phi_2^\top$ gets a $t$-statistic; an unbiased estimator must keep all $4 \times 34^2$ of
# them within what chance allows. We take $\sigma = 1$ here: at $\sigma = 0.25$ the kernel between distant nodes is
# some $10^{-8}$, made of walks so rare that their average over 3000 repeats is no sample of anything.
#
# Repeats are cheap: a row of the features is a start node, so that all repeats are one call with every node
# listed many times.


# %%
def repeated_features(seed, g, f, n_repeats, n_walks, p_halt):
    """Independent feature matrices, shape (n_repeats, N, N)."""
    nodes = np.tile(np.arange(g.n_nodes), n_repeats)
    phi = features.walk_features(jax.random.key(seed), g, f, n_walks, p_halt, nodes=nodes)
    return phi.toarray().reshape(n_repeats, g.n_nodes, g.n_nodes)


def estimates_on_karate(seed, f):
    """Independent estimates of one kernel, each from two independent sets of walks."""
    left, right = (
        repeated_features(s, karate.normalised(), f, SIZES["n_unbiased"], n_walks=16, p_halt=0.2)
        for s in (seed, seed + 1)
    )
    return left @ right.transpose(0, 2, 1)


estimates = np.stack([estimates_on_karate(10 * i, f) for i, f in enumerate(modulations(1.0).values())], axis=1)
truth = np.stack(list(exact_kernels(karate, 1.0).values()))
truth[np.abs(truth) < 1e-11] = 0.0  # the 2-step kernel of distant nodes is zero; an eigendecomposition leaves 1e-13
ledger.decide(
    "ugrf/thm-2.1/unbiased-karate",
    evidence.unbiased(estimates, truth),
    requires=["karate"],
    fallbacks=datasets.fallbacks(),
)

# %% tags=["hide-input"] mystnb={"figure": {"caption": "The t-statistics of all entries of the four Gram matrices on karate. Line: the law they would have if every entry were exactly unbiased.", "name": "fig-karate-z"}, "image": {"alt": "Histogram of about 4600 t-statistics that follows the standard normal density closely."}}
spread = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
t = ((estimates - truth).mean(axis=0)[spread > 0] / spread[spread > 0]).ravel()
fig, ax = plt.subplots(figsize=(6.4, 3.0))
ax.hist(t, bins=np.linspace(-4.5, 4.5, 46), density=True, color=plotting.COLOURS["orthogonal"], alpha=0.45)
grid = np.linspace(-4.5, 4.5, 200)
ax.plot(grid, stats.norm.pdf(grid), color=plotting.INK)
ax.set(xlabel="(mean - truth) / standard error", ylabel="density")
plt.show()

# %% tags=["hide-input"]
print(f"root mean square {np.sqrt(np.mean(t**2)):.3f}, largest {np.abs(t).max():.2f}, over {t.size} entries")

# %% [markdown]
# (ugrf-fig-2)=
# ## Figure 2: eight graphs, four kernels
#
# The graphs: two Erdős–Rényi graphs, a binary tree and a regular graph, drawn with fixed seeds at the sizes the
# paper gives in its Table 3 ($N$ = 20, 100, 127, 100; edge probabilities 0.2 and 0.04 and degree 4 are ours),
# and four real ones. The paper does not state the termination probability; we take $p = 0.1$, for long walks and
# light tails. The figure shows ten repeats, as in the paper, each with its own two sets of walks; the claims are
# decided on thirty, because ten cannot place a slope.

# %%
real = {name: datasets.graph(name, fallback=True) for name in ("karate", "dolphins", "football", "eurosis")}
graphs = {
    "Erdős–Rényi, N = 20": nx.gnp_random_graph(20, 0.2, seed=1),
    "Erdős–Rényi, N = 100": nx.gnp_random_graph(100, 0.04, seed=2),
    "binary tree, N = 127": nx.balanced_tree(2, 6),
    "4-regular, N = 100": nx.random_regular_graph(4, 100, seed=3),
} | {f"{name}, N = {len(G)}": G for name, G in real.items()}
graphs = {name: Graph.from_networkx(G) for name, G in graphs.items()}
walkers = np.array(SIZES["walkers"])


# %%
def frobenius_errors(seed, g, f, kernel, n_walks):
    """Relative Frobenius errors of independent estimates of one kernel."""
    left, right = (
        repeated_features(s, g.normalised(), f, SIZES["n_repeats"], n_walks, p_halt=0.1) for s in (seed, seed + 1)
    )
    return np.array([np.linalg.norm(a @ b.T - kernel) for a, b in zip(left, right, strict=True)]) / np.linalg.norm(kernel)


errors = np.empty((len(graphs), len(closed), SIZES["n_repeats"], len(walkers)))
for i, g in enumerate(tqdm(graphs.values(), desc="graphs", leave=False)):
    for j, (name, kernel) in enumerate(exact_kernels(g, sigma).items()):
        for m, n_walks in enumerate(walkers):
            errors[i, j, :, m] = frobenius_errors(1000 * i + 100 * j + 2 * m + 100, g, closed[name], kernel, int(n_walks))

# %%
by_repeat = errors.transpose(2, 0, 1, 3)
needs = {"requires": list(real), "fallbacks": datasets.fallbacks()}
ledger.decide("ugrf/fig-2/error-decreases", evidence.order(by_repeat[..., -1], by_repeat[..., 0], robust=True), **needs)

# %% [markdown]
# The rate and the size we decide twice: for the three kernels whose estimates have a variance, and for the inverse
# cosine, whose estimates have none (see the end of the page).

# %%
tame = [name != "inverse_cosine" for name in exact]
wild = [name == "inverse_cosine" for name in exact]
ledger.decide("ugrf/fig-2/rate", evidence.slope(walkers, by_repeat[:, :, tame], expected=-0.5, resolution=0.1), **needs)

# %%
ledger.decide("ugrf/fig-2/rate-inverse-cosine", evidence.slope(walkers, by_repeat[:, :, wild], -0.5, 0.1), **needs)

# %%
ledger.decide("ugrf/fig-2/small-with-modest-m", evidence.bound(by_repeat[:, :, tame, -1], 0.1), **needs)

# %%
ledger.decide("ugrf/fig-2/small-inverse-cosine", evidence.bound(by_repeat[:, :, wild, -1], 0.1), **needs)

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Relative Frobenius error of the four kernels on eight graphs against the number of walkers per node. Bands: one standard error of the mean over ten repeats. Dotted: the power -1/2.", "name": "fig-ugrf-kernels"}, "image": {"alt": "Eight log-log panels, one a graph. In each, four nearly parallel lines fall with slope -1/2: the inverse cosine highest, the two-step walk, the diffusion and the regularised Laplacian below."}}
fig, axes = plt.subplots(2, 4, figsize=(9.6, 5.2), sharex=True, sharey=True)
for panel, (ax, title) in enumerate(zip(axes.flat, graphs, strict=True)):
    lines = {plotting.LABELS[n]: plotting.band(ax, walkers, errors[panel, j, :10], n) for j, n in enumerate(exact)}
    ax.plot(walkers, 0.3 * (walkers / walkers[0]) ** -0.5, ":", color=plotting.INK, linewidth=1)
    ax.set(xscale="log", yscale="log", title=title)
    ax.set_xticks(walkers, [str(m) for m in walkers])
    ax.minorticks_off()
fig.legend(lines.values(), lines, loc="outside upper center", ncols=4, labelcolor="linecolor")
fig.supxlabel("walkers per node", fontsize=10)
fig.supylabel("relative Frobenius error", fontsize=10)
plt.show()

# %% tags=["hide-input"]
for name, of_kernel in zip(exact, errors[..., -1].mean(axis=2).T, strict=True):
    print(f"{plotting.LABELS[name]:>17} at {walkers[-1]} walkers: mean error {of_kernel.min():.4f} to {of_kernel.max():.4f}")

# %% [markdown]
# (ugrf-engine)=
# ## How fast do the walkers walk?
#
# Algorithm 1 as it is printed is a loop over nodes, walkers and steps. Our engine draws all lengths up front,
# sorts the walkers by length, and moves all that still walk at once; sparse assembly included. Both build the
# features of the same citation graph (cora, $p = 0.1$, 16 walks a node), taking turns.


# %%
def algorithm_1(g, f, n_walks, p_halt, seed):
    """The paper's Algorithm 1 in plain Python, on lists, with a dictionary for each sparse row."""
    rng = random.Random(seed)
    first, neighbours, weights = g.indptr.tolist(), g.indices.tolist(), g.weights.tolist()
    table = np.asarray(f(np.arange(1000))).tolist()
    rows = []
    for start in range(g.n_nodes):
        row = {}
        for _ in range(n_walks):
            node, load, length = start, 1.0, 0
            while True:
                row[node] = row.get(node, 0.0) + load * table[length] / n_walks
                count = first[node + 1] - first[node]
                if count == 0 or rng.random() < p_halt:
                    break
                edge = first[node] + int(rng.random() * count)
                load *= count * weights[edge] / (1 - p_halt)
                node, length = neighbours[edge], length + 1
        rows.append(row)
    return rows


cora = Graph.from_networkx(datasets.graph("cora", fallback=True)).normalised()
seconds = {"loop": [], "engine": []}
for turn in tqdm(range(SIZES["n_timings"]), desc="turns", leave=False):
    began = time.perf_counter()
    algorithm_1(cora, closed["diffusion"], 16, 0.1, turn)
    middle = time.perf_counter()
    features.walk_features(jax.random.key(turn), cora, closed["diffusion"], 16, 0.1)
    seconds["loop"].append(middle - began)
    seconds["engine"].append(time.perf_counter() - middle)

# %% tags=["hide-input"]
best = {name: min(values) for name, values in seconds.items()}
for name, value in best.items():
    print(f"{name:>6}: {1000 * value:7.1f} ms, {16 * cora.n_nodes / value:12,.0f} walks per second")

# %%
ledger.decide(
    "ugrf/extra-engine/ten-times-faster",
    evidence.bound(best["loop"] / best["engine"], 10, side="above"),
    requires=["cora"],
    fallbacks=datasets.fallbacks(),
)

# %% [markdown]
# ## What we found

# %% tags=["hide-input"]
ledger.close(
    seeds={"unbiased": [0, 10, 20, 30], "figure 2": 100, "graphs": [1, 2, 3], "timing": 0},
    data=datasets.provenance(),
    fallbacks=datasets.fallbacks(),
)

# %% [markdown]
# ## What we learned
#
# * Both theorems hold to rounding and to chance. Independent walks for rows and columns are not a detail:
#   with one shared set, $\phi\phi^\top$ meets itself on the diagonal and is biased upwards there.
# * At $\sigma = 0.25$ three of the four kernels are close to a multiple of the identity, and small errors come
#   easily. "Very small with a modest number of walkers" is a statement about these regularisers.
# * **The inverse cosine estimate has no variance, whatever the termination probability.** The second moment of a
#   load grows as $(1 - p)^{-k}$: on an unweighted graph a walker at step $k$ has survived with probability
#   $(1 - p)^k$ and carries a squared load of $(1 - p)^{-2k}$ times a factor whose mean is one. So the features have
#   a finite second moment only if $\sum_k f(k)^2 (1 - p)^{-k}$ converges. For the diffusion kernel it always does,
#   for the regularised Laplacian while $\sigma^2 / (1 + \sigma^2) < \sqrt{1 - p}$; but the square root of the
#   cosine's series has its first singularity exactly where the spectrum of $W$ can end, $f(k)$ decays only like
#   $k^{-3/2}$, and the sum diverges for every $p > 0$. The spikes in the figure are not bad luck. More walkers
#   help the typical error, and no number of them gives an error bar one can trust. The paper does not mention it.
