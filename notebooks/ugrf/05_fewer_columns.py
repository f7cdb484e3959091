# %% [markdown]
# # Do fewer columns pay?
#
# * **No: they keep every mean, and cost more accuracy than they save.** Gaussian and
#   sparse projections and anchor points all leave the estimates unbiased.
# * **What they cost depends on how many eigenvalues matter.** A projection to $n$
#   columns adds a relative error of about $\sqrt{(r + 1) / n}$, and more where walks
#   are long; $r$ is the effective number of eigenvalues, $(\operatorname{tr} K)^2 /
#   \lVert K \rVert_F^2$. In a kernel that suits walks, local and close to the identity,
#   almost all of them matter.
# * **So this is no efficiency gain here.** At short range, to add no more error than 16
#   walkers make takes more than a hundred times as many columns as the graph has nodes.
#   At long range some eight hundred would do, but there the walks alone are wrong by
#   more than half. And the columns that one would save are mostly empty.
#
# **What the paper claims.** Features have as many columns as the graph has nodes. "Any
# techniques used for dimensionality reduction of regular GRFs (e.g. applying the
# Johnson-Lindenstrauss transform (...) or using 'anchor points' (...)) can also be used
# with u-GRFs, providing further efficiency gains" {cite:p}`reid2023universal`, Section
# 2. No experiment follows.
#
# **The idea.** Multiply the features of both sides by the same random $N \times n$
# matrix $R$ with $\mathbb E\, R R^\top = I$, and no mean changes. $R$ may be Gaussian,
# or hold one random sign per row, or pick $n$ columns (the anchors) and scale them:
# {py:mod}`~companion.papers.ugrf.reduction` has all three. What it costs in accuracy,
# given the features, is known for a Gaussian $R$:
#
# $$
# \begin{aligned}
# \mathbb E\, \| &\Phi_1 R R^\top \Phi_2^\top - \Phi_1 \Phi_2^\top \|_F^2 \\
# &= \frac1n \left( \| \Phi_1 \|_F^2\, \| \Phi_2 \|_F^2
# + \| \Phi_1 \Phi_2^\top \|_F^2 \right) .
# \end{aligned}
# $$
#
# Where the features have little noise $\|\Phi\|_F^2$ is about $\operatorname{tr} K$,
# and this is a relative error of about $\sqrt{(r + 1) / n}$ with
# $r = (\operatorname{tr} K)^2 / \|K\|_F^2$, to be compared with what the walks have
# already got wrong. Noise adds to $\|\Phi\|_F^2$: at $\sigma = 4$ below the projection
# adds twice as much as that, and more.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.ugrf import reduction
from rfcore import features, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/05_fewer_columns", profile)
N_REPEATS, N_DRAWS, WIDTHS = {
    "paper": (1500, 30, (40, 80, 159, 318, 636)),
    "quick": (400, 10, (80, 318)),
}[profile]

# %% [markdown]
# (ugrf-reduction)=
# ## No mean changes
#
# On the karate club we take 12 columns in place of 34, for the diffusion kernel with
# $\sigma = 1$, with 16 walks per node and a termination probability of $p = 0.2$. Each
# repeat has walks and an $R$ of its own.

# %%
WAYS = {
    "gaussian": reduction.johnson_lindenstrauss,
    "sparse": partial(reduction.johnson_lindenstrauss, kind="sparse"),
    "anchors": reduction.anchor_points,
}
karate = Graph.from_networkx(datasets.graph("karate", fallback=True)).normalised()
f, N = modulation.diffusion(1.0), karate.n_nodes
nodes = np.tile(np.arange(N), N_REPEATS)
sides = [
    features
    .walk_features(ledger.key("walks", i), karate, f, 16, 0.2, "iid", nodes)
    .toarray()
    .reshape(N_REPEATS, N, N)
    for i in range(2)
]
reduced = np.empty((N_REPEATS, len(WAYS), N, N))
for repeat in tqdm(range(N_REPEATS), desc="repeats", leave=False):
    key = ledger.key("projections", repeat)
    for i, way in enumerate(WAYS.values()):
        one, other = (way(key, side[repeat], 12) for side in sides)
        reduced[repeat, i] = one @ other.T

# %% tags=["hide-input"]
K = kernels.diffusion(karate, 1.0)
half = np.sqrt(np.outer(np.diag(K), np.diag(K))) / 2
ledger.decide({
    "ugrf/extra-reduction/unbiased": evidence.unbiased(reduced, np.stack([K] * 3), half)
})

# %% [markdown]
# ## What it costs
#
# We take one pair of feature matrices on eurosis, which has 1272 nodes, with 16 walkers
# per node and $p = 0.1$, and many draws of $R$. The kernel is the diffusion kernel at
# short range ($\sigma = 1$) and at long range ($\sigma = 4$).

# %%
graph = Graph.from_networkx(datasets.graph("eurosis", fallback=True)).normalised()
SIGMAS = (1.0, 4.0)


def dense(product):
    return product.toarray() if sp.issparse(product) else product


added, errors = np.empty((2, N_DRAWS, len(SIGMAS), len(WAYS), len(WIDTHS)))
formula, whole_error, rank, stored = np.empty((len(SIGMAS), len(WIDTHS))), [], [], []
for s, sigma in enumerate(SIGMAS):
    K, f = kernels.diffusion(graph, sigma), modulation.diffusion(sigma)
    pair = [
        features.walk_features(
            ledger.key("walks on eurosis", s, i), graph, f, 16, 0.1, "iid"
        )
        for i in range(2)
    ]
    whole, norm = dense(pair[0] @ pair[1].T), np.linalg.norm(K)
    rank.append(np.trace(K) ** 2 / norm**2)
    stored.append(pair[0].to_scipy().nnz / graph.n_nodes)
    whole_error.append(np.linalg.norm(whole - K) / norm)
    formula[s] = [reduction.johnson_lindenstrauss_mse(*pair, n) for n in WIDTHS]
    formula[s] /= norm**2
    for draw in tqdm(range(N_DRAWS), desc="draws", leave=False):
        key = ledger.key("projections on eurosis", s, draw)
        for i, way in enumerate(WAYS.values()):
            for j, n in enumerate(WIDTHS):
                one, other = (way(key, phi, n) for phi in pair)
                estimate = dense(one @ other.T)
                added[draw, s, i, j] = np.sum((estimate - whole) ** 2) / norm**2
                errors[draw, s, i, j] = np.linalg.norm(estimate - K) / norm
quarter = WIDTHS.index(318)
of_gaussian, times = added[:, :, 0], errors[:, 0, :, quarter] / whole_error[0]

# %% tags=["hide-input"]
over = errors / np.array(whole_error)[:, None, None]  # draws, sigmas, ways, widths
gaussian, sparse, anchors = np.moveaxis(over, 2, 0)
assert np.allclose(gaussian.mean(axis=0), sparse.mean(axis=0), rtol=0.02)
if profile == "paper":
    spread = anchors.std(axis=0, ddof=1) / np.sqrt(N_DRAWS)
    assert np.all(spread < 0.04 * anchors.mean(axis=0))
plotting.show_panels(
    WIDTHS, gaussian, predicted=anchors.mean(axis=0), levels={"all columns": 1.0},
    lines={"short range, σ = 1": "first", "long range, σ = 4": "second"},
    x_label="columns kept, of 1272", y_label="error over that with all columns",
    caption="Ours. Error of the diffusion kernel on eurosis with fewer columns over "
    "that with all, from one pair of features, 16 walkers. Solid: Gaussian "
    "projections, on which sparse ones lie. Dashed: anchor points (standard errors "
    "below 4 %).",
    alt="A log-log chart of two lines, each with a dashed one beside it, that fall "
    "towards a level at 1. At short range they go from 64 times the error with all "
    "columns to 16, dashed 11; at long range from 4.5 times to 1.5, dashed from 5.2 to "
    "1.4.",
)  # fmt: skip
ledger.decide({
    "ugrf/extra-reduction/formula": evidence.unbiased(
        of_gaussian, formula, formula / 2
    ),
    "ugrf/extra-reduction/price": evidence.bound(times, 10, side="above", unit="times"),
})

# %% [markdown]
# At short range nearly every eigenvalue matters, and no reasonable number of columns is
# enough. And there is little to save: features are sparse, and the numbers that they
# store per node fill a small part of their columns.

# %% tags=["hide-input"]
at_quarter = errors[..., quarter].mean(axis=0).T
enough = formula[:, 0] * WIDTHS[0] / np.square(whole_error)
plotting.table(
    [rank, whole_error, *at_quarter, enough, stored],
    rows=[
        "eigenvalues that matter, $r$",
        "error with all 1272 columns",
        *(f"error, 318 columns: {plotting.LABELS[way]}" for way in WAYS),
        "columns to add no more than the walks do",
        "numbers stored per node, all columns",
    ],
    columns=[f"$\\sigma = {sigma:g}$" for sigma in SIGMAS],
    caption="Ours. Diffusion kernel on eurosis, 16 walkers per node.",
)

# %% tags=["hide-input"]
ledger.close()
