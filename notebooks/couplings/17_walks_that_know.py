# %% [markdown]
# # Walkers that know of each other
#
# * **Coupling hops gains far more than coupling lengths.** No coupling of lengths that
#   we tried takes a tenth off the error of long walks. Hops chosen together leave less
#   than a third of it, with 64 walkers and the diffusion kernel.
# * **The gain grows with the number of walkers.** Four of them do the work of 5 to 7
#   independent ones, and 64 that of 250 to 1,400. Repelling walks, which were known
#   before, do most of that alone, and nearly all of it once their lengths are
#   stratified ({doc}`20_repelling_walks`).
# * **It costs no bias and no optimisation, but time**: about twice as much per
#   walk ({doc}`/book/benchmarks`). {doc}`18_which_coordinates` says why it works,
#   {doc}`19_where_hops_help` where it ends, and what to do.
#
# **What the paper leaves open.** {cite:t}`reid2025couplings` couple how *long* the
# walkers from one node walk, two at a time. {doc}`13_walk_lengths` finds that this
# takes off a hundredth of the error where walks are long. Where the walkers *go* stays
# independent.
#
# **The idea.** Sixteen walkers on a node with four neighbours should send four to each.
# Independent walkers do so only on average, and the excess is error that no one needs.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import itertools
from functools import partial

import jax
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.couplings import equal_walkers
from rfcore import copulas, features, kernels, theory, walks
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("couplings/17_walks_that_know", profile)
# Graphs, with how many repeats make one group of repeats.
N_GROUPS, PER_GROUP, WALKERS, N_MEANS, MEAN_OF = {
    "paper": (
        12, {"karate": 20, "football": 6, "eurosis": 1}, (4, 16, 64, 256), 60, 150
    ),
    "quick": (24, {"karate": 4, "football": 2}, (4, 16, 64), 40, 150),
}[profile]  # fmt: skip

# %% [markdown]
# (couplings-hops)=
# ## Four ways to know of each other
#
# **Lengths** $\ell_i$ of the $m$ walkers of a node come from one uniform each. Reversed
# ones (σ's optimum, see {doc}`13_walk_lengths`) and antithetic termination
# {cite:p}`reid2023quasi` couple pairs; *stratified* ones put one walker into each of
# $m$ equal parts of the distribution.
#
# **Sobol' points** have further coordinates, and two of these choose the first two
# hops.
#
# **Array-RQMC** {cite:p}`lecuyer2008randomized` is known for simulating Markov chains:
# at every hop the walkers are sorted by the state they are in, here the node where they
# stand, and hop by the points of a low-discrepancy sequence under a random shift.
#
# **Systematic hops** are ours: the $k$ walkers that stand on one node take evenly
# spaced points, so that each of its $d$ neighbours is given $\lfloor k/d \rfloor$ or
# $\lceil k/d \rceil$ of them, and the longest walks among them are spread as evenly.
# The walkers of "Repelling random walks" {cite:p}`reid2024repelling` spread over
# neighbours too, by blocks without replacement and with independent lengths. Nodes that
# send walkers to their neighbours in turn make Propp's rotor-router machine: its chips,
# which move without chance, stay within a constant of the expected numbers on grids of
# any dimension {cite:p}`cooper2006simulating`, in the plane within about 7.8
# {cite:p}`doerr2009deterministic`. A random shift makes random walks of them again, and
# makes estimates unbiased. Systematic sampling itself dates from 1944. New here are the
# order within a node, stratified lengths beside it, and the measurements. Array-RQMC
# and systematic hops are used with stratified lengths
# ({py:mod}`rfcore.walks.hops`).
#
# Every walker by itself remains a proper random walk: its next hop is uniform on the
# neighbours, given its own past. So estimates stay unbiased. The walkers of *different*
# nodes stay independent.

# %%
MECHANISMS = {
    "reversal (σ)": "reversal",
    "antithetic": "antithetic",
    "stratified": "stratified",
    "Sobol'": walks.Coupling(copulas.sobol, walks.hops.First(2)),  # and two hops
    "array-RQMC": walks.Coupling(copulas.stratified, walks.hops.ArrayRQMC()),
    "systematic": "systematic",
}
LENGTHS = dict(list(MECHANISMS.items())[:3])
TERMS = 30  # steps beyond add nothing to the first eight digits of an error
COLOURS = ("reversal", "antithetic", "stratified", "sobol", "array_rqmc", "systematic")
p_halt = 0.1
graphs = {
    name: Graph.from_networkx(datasets.graph(name, fallback=True)).normalised()
    for name in PER_GROUP
}
KERNELS = {  # with their modulations
    "diffusion": (partial(kernels.diffusion, sigma=1.0), modulation.diffusion(1.0)),
    "2-reg. Laplacian": (
        partial(kernels.regularised_laplacian, sigma=1.0, d=2),
        modulation.regularised_laplacian(1.0, 2),
    ),
}


def estimates(key, g, f, n_walks, p_halt, n_repeats, law):
    """Repeated Gram estimates, from two sets of walks each, one by one."""
    nodes = np.tile(np.arange(g.n_nodes), n_repeats)
    left, right = (
        features.walk_features(one, g, f, n_walks, p_halt, law, nodes).to_scipy()
        for one in jax.random.split(key)
    )
    for first in range(0, len(nodes), g.n_nodes):
        rows = slice(first, first + g.n_nodes)
        dense = (side[rows].toarray().astype(np.float32) for side in (left, right))
        yield next(dense) @ next(dense).T


# %% [markdown]
# All kernels have $\sigma = 1$. An error is the root mean squared error of the whole
# Gram matrix, estimated from two independent sets of walks, so that its diagonal is
# unbiased too. That of independent walkers is exact
# ({py:func}`rfcore.theory.walk_gram_mse`), and so is that of coupled lengths. The chart
# shows the part of the error of independent walkers that is left.

# %%
m, cases = np.array(WALKERS), [(name, kernel) for name in graphs for kernel in KERNELS]
left = np.empty((N_GROUPS, len(cases), len(MECHANISMS), len(m)))
worth = np.empty((len(cases), len(m)))
for i, (name, kernel) in enumerate(tqdm(cases, desc="graphs", leave=False)):
    g, (truth, f) = graphs[name], KERNELS[kernel]
    K, (a, b) = truth(g), equal_walkers.gram_error_terms(g, f, p_halt, TERMS)
    exact = a / m + b / m**2
    for k, n_walks in enumerate(WALKERS):
        walking = n_walks, p_halt, LENGTHS.values(), TERMS
        known = theory.walk_gram_mses(g, f, f, *walking)
        left[:, i, : len(LENGTHS), k] = known / exact[k]
    for (j, (mechanism, law)), (k, n_walks) in itertools.product(
        enumerate(MECHANISMS.items()), enumerate(WALKERS)
    ):
        if mechanism in LENGTHS:
            continue
        key = ledger.key(f"{name} {kernel} {mechanism} anew", n_walks)
        n = PER_GROUP[name]
        drawn = [
            np.sum((found - K) ** 2)
            for found in estimates(key, g, f, n_walks, p_halt, n * N_GROUPS, law)
        ]
        left[:, i, j, k] = np.reshape(drawn, (N_GROUPS, n)).mean(axis=1) / exact[k]
    worth[i] = equal_walkers.of_terms(a, b, exact * left[:, i, 5].mean(axis=0))

# %% tags=["hide-input"]
mean = left.mean(axis=0)
rooted = np.sqrt(mean) * (1 + left / mean) / 2  # roots of means, and their errors
plotting.show_panels(
    m,
    rooted,
    panels=[f"{name}, {kernel}" for name, kernel in cases],
    lines=dict(zip(MECHANISMS, COLOURS, strict=True)),
    x_label="walkers per node",
    y_label="error over that of IID",
    caption="Ours. Root mean squared error of Gram matrices in units of that of as "
    "many independent walkers, $p_{\\text{halt}} = 0.1$. The three lines of lengths "
    "nearly coincide.",
    alt="Panels by graph and kernel. Reversal, antithetic and stratified lengths stay "
    "close to 1. Sobol' points fall, array-RQMC falls faster, and systematic hops "
    "fastest.",
)

# %% tags=["hide-input"]
ours, others = left[:, :, 5:], left[:, :, :3]
at = {n: WALKERS.index(n) for n in (4, 16, 64)}
diffusion = left[:, [kernel == "diffusion" for _, kernel, *_ in cases], 5, at[64]]
ledger.decide({
    "couplings/extra-hops/beats-lengths": evidence.order(
        np.repeat(ours[..., at[4] :], 3, axis=2), others[..., at[4] :]
    ),
    "couplings/extra-hops/half": evidence.bound(diffusion, 0.25),
    "couplings/extra-hops/tenth": evidence.bound(diffusion.max(axis=1), 0.1),
    "couplings/extra-hops/grows": evidence.order(
        ours[..., at[4] + 1 :], ours[..., at[4] : -1]
    ),
    "couplings/extra-hops/best": evidence.bound(
        (ours - 1.06 * left[:, :, 3:5])[..., at[16] :], 0.0
    ),
    "couplings/extra-hops/lengths-little": evidence.bound(
        np.sqrt(left[0, :4, :3]), 0.9, side="above", exact=True
    ),
})

# %% [markdown]
# The same in numbers of walkers: how many independent ones would have the same error?

# %% tags=["hide-input"]
error = left[:, :, 5].std(axis=0, ddof=1) / np.sqrt(N_GROUPS) / mean[:, 5]
plotting.table(
    worth,
    worth * error,
    rows=[f"{name}, {kernel}" for name, kernel in cases],
    columns=[f"{n} walkers" for n in WALKERS],
    corner="graph, kernel",
    caption="Ours. Independent walkers with the error of so many that hop "
    "systematically, $p_{\\text{halt}} = 0.1$.",
)

# %% [markdown]
# (couplings-hops-unbiased)=
# ## Unbiased
#
# We compare means of many estimates of a kernel on karate with the exact kernel, entry
# by entry, for 16 walkers at $p_{\text{halt}} = 0.3$.

# %%
laws, (truth, f) = list(MECHANISMS.values())[3:], KERNELS["2-reg. Laplacian"]
karate, K = graphs["karate"], truth(graphs["karate"])
means = np.array([
    [
        sum(estimates(ledger.key(f"means {j}", r), karate, f, 16, 0.3, MEAN_OF, law))
        for j, law in enumerate(laws)
    ]
    for r in tqdm(range(N_MEANS), desc="means", leave=False)
]) / MEAN_OF  # fmt: skip

# %% tags=["hide-input"]
ledger.decide({
    "couplings/extra-hops-unbiased/entries": evidence.unbiased(
        means, np.stack([K] * len(laws)), 0.02 * K.max()
    )
})

# %% tags=["hide-input"]
ledger.close()
