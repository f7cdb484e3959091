# %% [markdown]
# # Are repelling random walks as good?
#
# * **Nearly, once their lengths are coupled.** With stratified lengths, 64 repelling
#   walkers replace at least seven eighths as many independent ones as 64 systematic
#   walkers do.
# * **Without that, they fall behind as walks become short**: at $p_{\text{halt}} = 0.5$
#   they are worth between a quarter and three quarters as many.
# * **For kernels and long walks, hops still matter more than lengths.** Repelling walks
#   with independent lengths beat every coupling of lengths alone by far. For PageRank
#   it is the other way round.
#
# **What is known.** {cite:t}`reid2024repelling` were the first to couple, for random
# features, where the walkers of a graph go. (Rotor-routers, which send walkers to
# neighbours in turn, without chance {cite:p}`cooper2006simulating`, and array-RQMC
# {cite:p}`lecuyer2008randomized` are older; {doc}`17_walks_that_know` says what is new
# compared with each.) Walkers who meet at a node of $d$ neighbours leave it in blocks
# of $d$, and within a block no two take the same edge. The lengths of their walks are
# independent. The systematic hops of {doc}`17_walks_that_know` spread the walkers at a
# node over its neighbours too, and go with stratified lengths. What do the lengths add,
# and what is left for the hops?
#
# **The idea.** Combine both laws of hops with either law of lengths, on the same
# graphs.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.models import pagerank
from companion.papers.couplings import equal_walkers, repelling
from rfcore import copulas, features, kernels, theory, walks
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.solvers import transport
from rfcore.walks import Coupling

ledger = evidence.open_page("couplings/20_repelling_walks", profile)
# Graphs, with how many repeats make one group of repeats.
PER_GROUP, P_HALTS, WALKERS, MEAN_OF, N_RANKS = {
    "paper": (
        {"karate": 6, "football": 2}, (0.05, 0.1, 0.3, 0.5), (4, 16, 64, 256), 150,
        2_400,
    ),
    "quick": ({"karate": 2, "football": 1}, (0.1, 0.5), (4, 16, 64), 60, 480),
}[profile]  # fmt: skip
N_GROUPS, N_MEANS = {"paper": (24, 50), "quick": (12, 30)}[profile]
# With 256 walkers, of the two kinds of blocks, whose likeness is judged.
PER_GROUP_256 = {"karate": 12, "football": 2}
N_REPELLED = {"paper": 12_000, "quick": 480}[profile]  # for PageRank on football

# %% [markdown]
# (couplings-repelling)=
# ## Blocks
#
# Let $k$ walkers from one start stand on a node with $d$ neighbours. In random order
# they form $\lfloor k / d \rfloor$ blocks of $d$ and one of those left over, and each
# block draws neighbours *without replacement*
# ({py:func}`~companion.papers.couplings.repelling.blocks`). Each walker by itself hops to
# a uniform neighbour, so that nothing is biased; two walkers of one block never take
# the same edge.
#
# The authors' [code](https://github.com/isaac-reid/repelling_random_walks) makes fewer
# random draws: a block takes the neighbours in turn, from a random one on, and where
# there are at most as many walkers as neighbours they take evenly spaced points under
# one random shift ({py:func}`~companion.papers.couplings.repelling.shifted`). The latter
# *is* systematic sampling. So what systematic hops have of their own is that they do so
# for any number of walkers, the longest walks first, in van der Corput's order, and
# with stratified lengths ({py:mod}`rfcore.walks.hops`).

# %%
LAWS = {
    "repelling": lambda g: Coupling(copulas.independent, repelling.blocks(g)),
    "authors' code": lambda g: Coupling(copulas.independent, repelling.shifted(g)),
    "repelling, stratified": lambda g: Coupling(
        copulas.stratified, repelling.blocks(g)
    ),
    "two stratified hops": lambda g: Coupling(copulas.stratified, walks.hops.First(2)),
    "array-RQMC": lambda g: Coupling(copulas.stratified, walks.hops.ArrayRQMC()),
    "systematic": lambda g: "systematic",
}
LENGTHS = ("reversal", "antithetic", "stratified")
KERNELS = {  # with their modulations
    "diffusion": (kernels.diffusion, modulation.diffusion(1.0), ()),
    "2-reg. Laplacian": (
        kernels.regularised_laplacian, modulation.regularised_laplacian(1.0, 2), (2,)
    ),
}  # fmt: skip
graphs = {
    name: Graph.from_networkx(datasets.graph(name, fallback=True)).normalised()
    for name in PER_GROUP
}
fs = [f for _, f, _ in KERNELS.values()]
truths = {
    name: [kernel(g, 1.0, *more) for kernel, _, more in KERNELS.values()]
    for name, g in graphs.items()
}
cases = [(name, kernel) for name in graphs for kernel in KERNELS]


def walked(key, g, n_walks, p_halt, n_repeats, law):
    """Deposits of repeated sets of walks from all nodes."""
    nodes = np.tile(np.arange(g.n_nodes), n_repeats)
    lengths = walks.lengths.draw(key, len(nodes), n_walks, p_halt, law(g))
    return walks.simulate(key, g, lengths, nodes)


def estimates(key, g, f, *walking):
    """Repeated Gram estimates from two sets of walks, for every modulation of f."""
    sides = [walked(one, g, *walking) for one in jax.random.split(key)]
    for each in f:
        left, right = (
            features.weigh(side, each).toarray().reshape(-1, g.n_nodes, g.n_nodes)
            for side in sides
        )
        yield left @ right.transpose(0, 2, 1)


def squared_errors(name, n_walks, p_halt, per_group, law):
    """Mean squared Frobenius errors, (groups, kernels)."""
    key = ledger.key(f"{name} {law} {n_walks}", round(100 * p_halt))
    walking = n_walks, p_halt, per_group * N_GROUPS
    found = estimates(key, graphs[name], fs, *walking, LAWS[law])
    errors = [
        np.sum((K_hat - K) ** 2, axis=(1, 2))
        for K_hat, K in zip(found, truths[name], strict=True)
    ]
    return np.reshape(errors, (len(errors), N_GROUPS, -1)).mean(axis=2).T


def independent(name, p_halt):
    """The two terms of the error of independent walkers, each for all kernels."""
    g = graphs[name]
    return np.transpose([equal_walkers.gram_error_terms(g, f, p_halt) for f in fs])


# %% [markdown]
# ## How much of the error is left?
#
# The chart shows errors of Gram matrices from two independent sets of walks, with
# $\sigma = 1$ and $p_{\text{halt}} = 0.1$, over those of as many independent walkers,
# which are exact. For comparison there are two laws with stratified lengths: the first
# two hops stratified like them, and array-RQMC ({doc}`17_walks_that_know`).

# %%
m, p_halt = np.array(WALKERS), 0.1
left = np.empty((N_GROUPS, len(graphs), len(fs), len(LAWS), len(m)))
lengths_left = np.empty((len(graphs), len(fs), len(LENGTHS), len(m)))
for i, (name, g) in enumerate(graphs.items()):
    a, b = independent(name, p_halt)
    for k, n_walks in enumerate(tqdm(WALKERS, desc=name, leave=False)):
        exact = a / n_walks + b / n_walks**2
        for j, law in enumerate(LAWS):
            n = PER_GROUP[name]
            if n_walks == 256:
                n = PER_GROUP_256[name] if law in ("repelling", "authors' code") else 1
            found = squared_errors(name, n_walks, p_halt, n, law)
            left[:, i, :, j, k] = found / exact
        for c, f in enumerate(fs):
            known = theory.walk_gram_mses(g, f, f, n_walks, p_halt, LENGTHS, 30)
            lengths_left[i, c, :, k] = known / exact[c]
left = left.reshape(N_GROUPS, len(cases), len(LAWS), len(m))
lengths_left = lengths_left.reshape(len(cases), len(LENGTHS), len(m))

# %% tags=["hide-input"]
COLOURS = {
    "two stratified hops": "stratified", "repelling": "first",
    "repelling, stratified": "third", "array-RQMC": "array_rqmc",
    "systematic": "systematic",
}  # fmt: skip
mean = left.mean(axis=0)
rooted = np.sqrt(mean) * (1 + left / mean) / 2  # roots of means, and their errors
order = [list(LAWS).index(law) for law in COLOURS]
plotting.show_panels(
    m,
    rooted[:, :, order],
    panels=[f"{name}, {kernel}" for name, kernel in cases],
    lines=COLOURS,
    x_label="walkers per node",
    y_label="error over that of IID",
    caption="Ours. Root mean squared error of Gram matrices over that of as many "
    "independent walkers, $p_{\\text{halt}} = 0.1$. Bands: one standard error. "
    "Systematic hops nearly hide repelling walks with stratified lengths.",
    alt="Panels by graph and kernel. All curves fall as walkers are added: two "
    "stratified hops level off first; systematic hops fall furthest, and repelling "
    "walks with stratified lengths almost coincide with them.",
)

# %% [markdown]
# The same as a number of independent walkers, and at other $p_{\text{halt}}$:


# %%
shown, n_walks = ("repelling", "repelling, stratified", "systematic"), 64
worth, spread = np.empty((2, len(P_HALTS), len(graphs), len(fs), len(shown)))
for i, name in enumerate(graphs):
    for j, p in enumerate(P_HALTS):
        a, b = independent(name, p)
        for k, law in enumerate(shown):
            found = squared_errors(name, n_walks, p, 1, law)
            worth[j, i, :, k] = equal_walkers.of_terms(a, b, found.mean(axis=0))
            spread[j, i, :, k] = found.std(axis=0, ddof=1) / found.mean(axis=0)
worth, spread = (
    x.transpose(1, 2, 0, 3).reshape(-1, len(shown)) for x in (worth, spread)
)

# %% tags=["hide-input"]
plotting.table(
    worth,
    worth * spread / np.sqrt(N_GROUPS),
    rows=[f"{name}, {kernel}, {p:g}" for name, kernel in cases for p in P_HALTS],
    columns=shown,
    corner="graph, kernel, p_halt",
    caption="Ours. Independent walkers with the error of 64 coupled ones.",
)
at = {law: left[:, :, j, 1:] for j, law in enumerate(LAWS)}  # from 16 walkers on
alone = np.stack([at["repelling"]] * len(LENGTHS), axis=2)
either = np.sqrt(at["authors' code"] / at["repelling"])
EXTRA = "couplings/extra-repelling/"
ledger.decide({
    EXTRA + "beats-lengths": evidence.order(
        alone, np.stack([lengths_left[:, :, 1:]] * N_GROUPS)
    ),
    EXTRA + "systematic": evidence.order(
        np.stack([at["systematic"]] * 2, axis=1),
        np.stack([at["repelling"], at["authors' code"]], axis=1),
    ),
    EXTRA + "lengths": evidence.order(at["repelling, stratified"], at["repelling"]),
    EXTRA + "order-within": evidence.order(
        at["systematic"], at["repelling, stratified"]
    ),
    EXTRA + "code": evidence.bound(
        np.stack([either, 1 / either], axis=1), 1.05, geometric=True
    ),
})

# %% [markdown]
# ## Unbiased
#
# We check means of many estimates, entry by entry.

# %%
means = np.array([
    [
        next(
            estimates(
                ledger.key(f"means {hops.__name__}", r), graphs["karate"], fs[1:], 16,
                0.3, MEAN_OF,
                lambda g, hops=hops: Coupling(copulas.stratified, hops(g)),
            )
        ).mean(axis=0)
        for hops in (repelling.blocks, repelling.shifted)
    ]
    for r in tqdm(range(N_MEANS), desc="means", leave=False)
])  # fmt: skip

# %% tags=["hide-input"]
K = truths["karate"][1]
ledger.decide({
    EXTRA + "unbiased": evidence.unbiased(means, np.stack([K, K]), 0.02 * K.max())
})

# %% [markdown]
# (couplings-repelling-pagerank)=
# ## PageRank
#
# PageRank is the share of walks that end at a node ({doc}`24_pagerank`); there are 16
# walkers per node. Where a walk ends depends on how long it is as much as on where it
# goes: repelling hops alone help little here. The error of independent walks is exact:
# the share of one node's $m$ walks that end at $v$ has the variance
# $p_v (1 - p_v) / m$, with $p_v$ the chance that one does.


# %%
ps = (0.1, 0.3, 0.5)
RANKED = ("repelling", "repelling, stratified", "systematic")
ranks = np.empty((N_GROUPS, len(graphs), len(ps), len(RANKED)))
for i, (name, g) in enumerate(graphs.items()):
    for j, p in enumerate(ps):
        truth = pagerank.exact(g, p)
        together = transport.pagerank_costs(g, 1, p)
        independent = transport.pagerank_mse(together, g.n_nodes, 16)
        for k, law in enumerate(RANKED):
            key, n = ledger.key(f"PageRank {name} {law}", j), N_RANKS // (1 + i)
            if (name, law) == ("football", "repelling"):
                n = N_REPELLED
            rho = pagerank.estimate(key, g, 16, p, LAWS[law](g), n)
            squares = np.sum((rho - truth) ** 2, axis=1)
            errors = squares.reshape(N_GROUPS, -1).mean(axis=1)
            ranks[:, i, j, k] = errors / independent

# %% tags=["hide-input"]
mean = ranks.mean(axis=0).reshape(-1, 3)
spread = ranks.std(axis=0, ddof=1).reshape(-1, 3) / np.sqrt(N_GROUPS) / mean / 2
plotting.table(
    np.sqrt(mean),
    np.sqrt(mean) * spread,
    rows=[f"{name}, p_halt = {p}" for name in graphs for p in ps],
    columns=RANKED,
    corner="graph, p_halt",
    caption="Ours. Error of the PageRank vector of 16 walkers per node over that of "
    "independent ones.",
)
ledger.decide({
    "couplings/extra-repelling-pagerank/gains": evidence.order(ranks[..., 0], 1.0),
    "couplings/extra-repelling-pagerank/systematic": evidence.order(
        ranks[..., 2], ranks[..., 0]
    ),
})

# %% [markdown]
# ## What to do
#
# * Give repelling walkers stratified lengths: it costs nothing and is the larger step
#   where walks are short.
# * Systematic hops gain a little more in most cases, need no second law for what is
#   left of a block, and do not have to know the graph beforehand.
#   {doc}`19_where_hops_help` has their limits, which are those of repelling walks too:
#   both gain when walkers meet.

# %% tags=["hide-input"]
ledger.close()
