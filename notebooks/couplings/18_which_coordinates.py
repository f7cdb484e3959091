# %% [markdown]
# # Where a walk's error comes from
#
# * **From the first hop.** For long walks it makes up 96 to 97 % of the variance for
#   the diffusion kernel and two thirds or more for the 2-regularised Laplacian. The
#   length makes up less than a tenth.
# * **What a coupling leaves out is a floor** that no such coupling can pass, however it
#   was found. This is why coupled lengths gain so little.
# * **Walkers who choose all hops together have no such floor.** On karate their error
#   falls as one over their number; it falls more slowly where a kernel reaches far on a
#   larger graph.
#
# **What is to be explained.** {cite:t}`reid2025couplings` look for the best coupling of
# the *lengths* of walks. {doc}`17_walks_that_know` finds that all such couplings gain
# little on long walks, that Sobol' points for the length and two hops gain much, but
# less and less with the 2-regularised Laplacian, and that systematic hops gain more and
# more.
#
# **The idea.** A walk is drawn coordinate by coordinate: how long, then where to, hop
# by hop. The law of total variance says how much of its error is settled at each.
# Walkers that divide a coordinate evenly among themselves have no error from it; from
# the other coordinates they have all of theirs.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.couplings.walk_variance import walk_variance
from rfcore import copulas, features, kernels, theory, walks
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("couplings/18_which_coordinates", profile)
# Graphs, with how many repeats make one group of repeats.
PER_GROUP, P_HALTS, WALKERS = {
    "paper": (
        {"karate": 4, "football": 2, "eurosis": 1}, (0.1, 0.2, 0.3, 0.4, 0.5),
        (16, 64, 256, 1024),
    ),
    "quick": ({"karate": 2, "football": 1}, (0.1, 0.3, 0.5), (16, 64, 256, 1024)),
}[profile]  # fmt: skip
N_GROUPS = 12

graphs = {
    name: Graph.from_networkx(datasets.graph(name, fallback=True)).normalised()
    for name in PER_GROUP
}
KERNELS = {  # their modulations
    "diffusion": modulation.diffusion(1.0),
    "2-reg. Laplacian": modulation.regularised_laplacian(1.0, 2),
}
ROOTS = {  # M, of which they are the square
    "diffusion": partial(kernels.diffusion, sigma=0.5**0.5),
    "2-reg. Laplacian": partial(kernels.regularised_laplacian, sigma=1.0, d=1),
}
cases = [(name, kernel) for name in graphs for kernel in KERNELS]
small = len(KERNELS) * 2  # cases of karate and football

# %% [markdown]
# (couplings-walk-variance)=
# ## The parts of the variance
#
# Let $Y_i$ be the feature that a single walk from node $i$ makes, and $M = \sum_k f(k)
# W^k$, so that $\E\, Y_i$ is row $i$ of $M$ and the kernel is $M^2$. To first order in
# $1/m$, a Gram matrix from $m$ walks has the error of $\phi M$, once for each of the
# two sets of walks. So this is the error to split:
#
# $$
# \begin{gathered}
# \sum_i \E\, \bigl| M (Y_i - \E Y_i) \bigr|^2 = d_0 + d_1 + d_2 + \dots, \\
# d_t = \sum_i \E\, \bigl| M \bigl( \E[Y_i \mid \ell, h_1, \dots, h_t]
# - \E[Y_i \mid \ell, h_1, \dots, h_{t-1}] \bigr) \bigr|^2 ,
# \end{gathered}
# $$
#
# with the length $\ell$ and the hops $h_1, h_2, \dots$; $d_0$ is the part due to the
# length. All the parts are known exactly: given its length, a walk that stands at node
# $v$ goes on as the powers of $W$ say
# ({py:func}`~companion.papers.couplings.walk_variance.walk_variance`).

# %%
parts = {
    (name, kernel, p): walk_variance(graphs[name], KERNELS[kernel], p)
    for name, kernel in tqdm(cases, desc="parts", leave=False)
    for p in P_HALTS
}
shares = {case: d / d.sum() for case, d in parts.items()}
long = [shares[name, kernel, 0.1] for name, kernel in cases]
added, expected = [], []
for name, kernel in cases[:small]:
    g, f = graphs[name], KERNELS[kernel]
    for p in (0.1, 0.3, 0.5):
        one, two = (theory.walk_gram_mse(g, f, f, m, p) for m in (1, 2))
        added.append(parts[name, kernel, p].sum() / (2 * two - one / 2))

# %% tags=["hide-input"]
plotting.table(
    [[100 * x for x in (*d[:4], d[4:].sum())] for d in long],
    rows=[f"{name}, {kernel}" for name, kernel in cases],
    columns=["length", "hop 1", "hop 2", "hop 3", "later hops"],
    corner="graph, kernel",
    unit="%",
    caption="Ours. Share of the variance of a walk, $p_{\\text{halt}} = 0.1$, exact.",
)
shown = [(name, kernel) for name, kernel in cases if name != "football"]
curves = np.array([
    [[*d[:3], d[3:].sum()] for d in (shares[*case, p] for p in P_HALTS)]
    for case in shown
]).transpose(0, 2, 1)
plotting.show_panels(
    np.array(P_HALTS),
    np.stack([curves, curves]),
    panels=[f"{name}, {kernel}" for name, kernel in shown],
    lines={"length": "first", "hop 1": "second", "hop 2": "third", "later": "fourth"},
    x_label="p_halt",
    y_label="share of the variance",
    log="",
    caption="Ours. Shares of the variance of a walk as walks become shorter, exact.",
    alt="Panels by graph and kernel. The share of the length rises from almost nothing "
    "with p_halt, that of the first hop falls.",
)
ledger.decide({
    "couplings/extra-walk-variance/adds-up": evidence.identity(
        np.array(added), 1.0, 1e-8
    ),
    "couplings/extra-walk-variance/length": evidence.bound(
        np.array([d[0] for d in long]), 0.15, exact=True
    ),
    "couplings/extra-walk-variance/two-hops": evidence.bound(
        np.array([d[:3].sum() for d in long]),
        np.array([0.75 if kernel == "diffusion" else 0.5 for _, kernel in cases]),
        side="above",
        exact=True,
    ),
})

# %% [markdown]
# (couplings-walk-floors)=
# ## Floors
#
# Let the lengths and the first $t$ hops of the $m$ walkers from a node be coupled in
# *any* way, and let all later hops be independent. Given the coupled coordinates, the
# walkers are independent, and what each has left to vary is $d_{t+1} + d_{t+2} + \dots$
# on average. So
#
# $$
# m\, \E\, \lVert \phi M - M^2 \rVert_F^2 \;\geq\; d_{t+1} + d_{t+2} + \dots
# $$
#
# whatever the coupling. With $t = 0$ this bounds every coupling of lengths, the optimal
# one included: **no permutation $\sigma$, no matching of more than two walks and no
# other law of lengths can take off more than the share of the length**, at first order
# in $1/m$.
#
# Do Sobol' points come down to their floors, and where do systematic hops end?

# %%
LAWS = {
    "Sobol', length": ("fourth", "sobol"),
    "and one hop": ("second", walks.Coupling(copulas.sobol, walks.hops.First(1))),
    "and two hops": ("first", walks.Coupling(copulas.sobol, walks.hops.First(2))),
    "systematic": ("systematic", "systematic"),
}


roots = {(name, kernel): ROOTS[kernel](graphs[name]) for name, kernel in cases}


def left_over(name, kernel, n_walks, law, n_repeats):
    """m |(phi - M) M|^2 over the variance of a walk, means of groups of repeats."""
    M = np.asarray(roots[name, kernel], dtype=np.float32)
    phi = features.walk_features(
        ledger.key(f"{name} {kernel} {law}", n_walks), graphs[name], KERNELS[kernel],
        n_walks, 0.1, LAWS[law][1], np.tile(np.arange(len(M)), n_repeats),
    ).to_scipy()  # fmt: skip
    drawn = [
        np.sum(((phi[at : at + len(M)].toarray().astype(M.dtype) - M) @ M) ** 2)
        for at in range(0, phi.shape[0], len(M))
    ]
    total = parts[name, kernel, 0.1].sum()
    return n_walks * np.reshape(drawn, (N_GROUPS, -1)).mean(axis=1) / total


left = np.empty((N_GROUPS, len(cases), len(LAWS), len(WALKERS)))
left[:] = np.nan
for i, (name, kernel) in enumerate(tqdm(cases, desc="walks", leave=False)):
    for j, law in enumerate(LAWS):
        if name != "eurosis" or law == "systematic":
            for k, m in enumerate(WALKERS):
                # Errors on karate scatter most, and at 256 floors are judged.
                more = 8 if (name, m) == ("karate", 256) else 1
                n_repeats = more * N_GROUPS * PER_GROUP[name]
                left[:, i, j, k] = left_over(name, kernel, m, law, n_repeats)

# %% tags=["hide-input"]
floors = np.array([1 - d.cumsum()[:3] for d in long])
plotting.show_panels(
    np.array(WALKERS),
    left[:, :small],
    panels=[f"{name}, {kernel}" for name, kernel in cases[:small]],
    lines={law: colour for law, (colour, _) in LAWS.items()},
    predicted=np.concatenate([
        np.repeat(floors[:small, :, None], len(WALKERS), axis=2),
        left[:, :small, 3:].mean(axis=0),
    ], axis=1),
    x_label="walkers per node",
    y_label="share of the variance left",
    caption="Ours. What couplings leave of the variance of independent walks, "
    "$p_{\\text{halt}} = 0.1$. Dashed: the floors, exact. Bands: one standard error.",
    alt="Panels by graph and kernel. The Sobol' curve of the length lies on its "
    "dashed line; that of one hop comes down to its own with the 2-regularised "
    "Laplacian only, that of two hops stays above. The systematic curve falls past "
    "every floor but that of two hops with the diffusion kernel.",
)  # fmt: skip

# %% tags=["hide-input"]
at = WALKERS.index(256)
ratio = left[:, :small, :2, at] / floors[:small, :2]
far_reaching = [i for i, c in enumerate(cases[:small]) if c[1] != "diffusion"]
come_down = np.concatenate([ratio[..., 0], ratio[:, far_reaching, 1]], axis=1)
below = left[:, :small, 3, at]
ledger.decide({
    "couplings/extra-walk-floors/reached": evidence.bound(come_down, 1.2),
    "couplings/extra-walk-floors/kept": evidence.bound(come_down, 0.9, side="above"),
    "couplings/extra-walk-floors/passed": evidence.bound(
        np.concatenate([below, below[:, far_reaching]], axis=1),
        np.append(floors[:small, 1], floors[far_reaching, 2]),
    ),
})

# %% [markdown]
# (couplings-hop-rate)=
# ## The rate
#
# Errors of independent walkers fall as $m^{-1/2}$. With systematic hops, each node
# sends to each neighbour, at each hop, the expected number of the walkers that stand on
# it, to within one. An error below one walker per place, where the number of places is
# fixed, is an error of order $1/m$. That is a heuristic and not a proof, and it takes
# more walkers than there are places, nodes times hops: with fewer, most walkers stand
# alone. The rate ends above 1,024 walkers on a node: so many walkers take van der
# Corput points as they are, and those are evenly spaced for powers of two only
# ({py:mod}`rfcore.walks.hops`).


# %%
def slopes(m, error):
    """Exponents of m in root mean squared errors, a line per group and curve."""
    x = np.log(m) - np.log(m).mean()
    return np.log(error / m) @ x / (x @ x) / 2


steepness = slopes(np.array(WALKERS), left)
far = np.array([64, 1024])
at_far = np.sqrt(left[..., [WALKERS.index(m) for m in far]] / far)

# %% tags=["hide-input"]
near, reaching = (
    [i for i, c in enumerate(cases) if c[0] != "karate" and c[1] == kernel]
    for kernel in KERNELS
)
on_karate = [i for i, (name, _) in enumerate(cases) if name == "karate"]
plotting.table(
    steepness.mean(axis=0)[:, 1:],
    steepness.std(axis=0, ddof=1)[:, 1:] / np.sqrt(N_GROUPS),
    rows=[f"{name}, {kernel}" for name, kernel in cases],
    columns=["Sobol', length and one hop", "and two hops", "systematic"],
    corner="graph, kernel",
    caption=f"Ours. Exponent of the number of walkers, from 16 to {WALKERS[-1]:,}.",
)
ledger.decide({
    "couplings/extra-hop-rate/faster": evidence.bound(steepness[..., 3], -0.6),
    "couplings/extra-hop-rate/one": evidence.slope(
        far, at_far[:, on_karate, 3], -1.0, 0.15
    ),
    "couplings/extra-hop-rate/back": evidence.slope(
        far, at_far[:, on_karate[1], 1], -0.5, 0.1
    ),
    "couplings/extra-hop-rate/flatter": evidence.order(
        steepness[:, near, 3], steepness[:, reaching, 3]
    ),
})

# %% tags=["hide-input"]
ledger.close()
