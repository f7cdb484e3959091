# %% [markdown]
# # How wrong are walk features?
#
# * **Four sets of features tell.** Two independent estimates of the kernel differ by twice
#   the variance of one. A few products through them give the error of every node, with
#   an error bar, and the kernel is never needed.
# * **On a small graph it is the known error**: on the roads of San Jose the estimate agrees
#   with the closed form, and the map shows where walks err.
# * **Hubs are where walks fail.** On 100,000 nodes with a power law of degrees, the rows of
#   leaves are off by 6 %, and those of hubs by half. Systematic walkers nearly halve the
#   error of ordinary nodes, and hardly help hubs that have more doors than walkers.
#
# **The question.** {py:func}`rfcore.theory.walk_gram_mse` has the error of walk features
# in closed form, from powers of the matrix of weights. On a graph of 100,000 nodes these do
# not fit into memory, and nor does the kernel, with which one could compare. How
# many walks are enough there, and for which nodes?
#
# **The idea.** Let $A = \phi_1 \phi_2^\top$ and $B = \phi_3 \phi_4^\top$ be unbiased
# estimates of $K$ from four keys, and $v$ a vector of random signs. Then
#
# $$
# \tfrac12\, \mathbb E \bigl[ ((A - B) v)_i^2 \bigr]
# = \mathbb E \sum_j (A_{ij} - K_{ij})^2 ,
# \qquad
# \mathbb E \bigl[ (A v)_i (B v)_i \bigr] = \sum_j K_{ij}^2 .
# $$
#
# Repeats with fresh keys give the error bar. In the library this is
# {py:func}`rfcore.theory.walk_row_mses`.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import networkx as nx
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.ugrf import large_graphs
from companion.plotting.maps import road_map
from rfcore import features, theory
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/22_how_wrong", profile)
SIZES = {
    "paper": {"roads": 100, "nodes": 100_000, "repeats": 24},
    "quick": {"roads": 20, "nodes": 5_000, "repeats": 3},
}[profile]

# %% [markdown]
# (ugrf-how-wrong-map)=
# ## A map of the error
#
# The roads of San Jose are a graph of 1,016 nodes, small enough for the closed form. The
# kernel is the diffusion kernel with $\sigma = 1$; 16 walks start at each node, with
# $p_{\text{halt}} = 0.1$.

# %%
traffic = datasets.traffic(fallback=True)
graph = Graph.from_networkx(nx.Graph(traffic.graph)).normalised()
f = features.modulation.diffusion(1.0)
COUPLINGS = ("iid", "systematic")


def estimated(g, coupling, name, n_repeats):
    """Squared errors and squared norms of the rows, for each repeat."""
    walk = partial(
        features.walk_features, g=g, f=f, n_walks=16, p_halt=0.1, coupling=coupling
    )
    return theory.walk_row_mses(ledger.key(f"{name}: {coupling}"), walk, n_repeats)


on_roads = {c: estimated(graph, c, "roads", SIZES["roads"]) for c in COUPLINGS}
exact = theory.walk_gram_mse(graph, f, f, 16, 0.1)

# %% tags=["hide-input"]
place = np.array([xy for _, xy in traffic.graph.nodes(data="position")])
roads = np.array(list(traffic.graph.edges()))
relative = {
    name: 100 * np.sqrt(errors.mean(axis=0) / norms.mean(axis=0))
    for name, (errors, norms) in on_roads.items()
}
drawn = partial(road_map, place, roads, label="% of a row", colours="sizes")
plotting.show(
    drawn(relative["iid"], limits=(4, 9), title="independent walkers"),
    drawn(relative["systematic"], limits=(0.8, 1.8), title="systematic walkers"),
    caption="Ours. Relative error of each node's row of the estimated kernel on the "
    "highways of San Jose, 16 walks per node: independent walkers, and systematic "
    "ones, "
    "whose scale ends at a fifth of the other's.",
    alt="Two maps of a ring of highways. Both are darker where roads meet and paler "
    "along "
    "simple stretches; the scale of the second is a fifth of that of the first.",
)
degree = graph.neighbour_counts
by_degree = {c: [x[degree == d].mean() for d in (1, 2, 3)] for c, x in relative.items()}
if profile == "paper":
    assert all(np.diff(x).min() > 0 for x in by_degree.values())
    assert np.allclose(by_degree["iid"], (5.0, 6.5, 7.6), atol=0.2)
totals = {c: errors.sum(axis=1) for c, (errors, _) in on_roads.items()}
if profile == "paper":
    in_all = np.sqrt(totals["systematic"].mean() / totals["iid"].mean())
    assert abs(in_all - 0.21) < 0.005
ledger.decide({
    "ugrf/extra-how-wrong-map/closed-form": evidence.unbiased(
        totals["iid"], exact, exact / 20
    ),
    "ugrf/extra-how-wrong-map/systematic": evidence.order(
        25 * totals["systematic"], totals["iid"]
    ),
})

# %% [markdown]
# Where roads meet the error is larger: a walk has more ways to go, and chooses one. With
# systematic walkers, which share the ways between them, it is about a fifth (0.21 in all).
#
# (ugrf-how-wrong-hubs)=
# ## A hundred thousand nodes, some of them hubs
#
# Degrees of this graph follow a power law
# ({py:func}`~companion.papers.ugrf.large_graphs.communities`). Its kernel would have ten
# billion entries. One repeat of the estimate takes some seconds.

# %%
g, _ = large_graphs.communities(ledger.key("graph"), SIZES["nodes"])
g, degree = g.normalised(), g.neighbour_counts
EDGES = np.array([1, 2, 4, 8, 16, 32, 64, 128, 1_000_000])  # of groups of degrees
group = np.digitize(degree, EDGES) - 1
found = {
    c: estimated(g, c, "hubs, again", SIZES["repeats"])
    for c in tqdm(COUPLINGS, leave=False)
}


def of_groups(errors, norms):
    """Relative error of the rows of each group of degrees, for each repeat."""
    sums = np.array([
        [np.sum(x[:, group == i], axis=1) for i in range(8)] for x in (errors, norms)
    ])
    return np.sqrt(sums[0] / sums[1].mean(axis=1, keepdims=True)).T


by_group = np.stack([of_groups(*found[c]) for c in COUPLINGS], axis=1)

# %% tags=["hide-input"]
plotting.show_panels(
    EDGES[:-1], 100 * by_group, lines=list(COUPLINGS), log="xy",
    x_label="neighbours of a node, at least", y_label="% of a row",
    caption=f"Ours. Relative error of rows of the estimated kernel on {g.n_nodes:,} "
    "nodes, "
    "16 walks per node, by the number of neighbours (of the last group 128 and more). "
    "Bands: one standard error over repeats.",
    alt="Two rising lines on log-log axes. That of systematic walkers is half as high "
    "for "
    "nodes with few neighbours, and meets that of independent ones at the right.",
)  # fmt: skip
whole = np.stack([found[c][0].sum(axis=1) for c in COUPLINGS], axis=1)
bars = whole.std(axis=0, ddof=1) / whole.mean(axis=0) / np.sqrt(len(whole))
iid, systematic = np.moveaxis(by_group**2, 1, 0)
if profile == "paper":
    assert (bars < 0.01).all()  # one standard error, relative
    of_iid, of_systematic = by_group.mean(axis=0)
    assert abs(of_iid[0] - 0.06) < 0.004 and abs(of_iid[-1] - 0.5) < 0.05
    assert np.allclose((of_systematic / of_iid)[:3], 0.53, atol=0.06)
    assert (of_systematic / of_iid)[-1] > 0.9
    steps = np.log2(of_iid[4:7] / of_iid[3:6])  # for twice the degree
    assert np.allclose(steps, 0.43, atol=0.07)
ledger.decide({
    "ugrf/extra-how-wrong-hubs/hubs": evidence.order(9 * iid[:, 1], iid[:, -1]),
    "ugrf/extra-how-wrong-hubs/ordinary": evidence.order(
        systematic[:, :3], iid[:, :3] / 3
    ),
    "ugrf/extra-how-wrong-hubs/no-help": evidence.order(
        0.64 * iid[:, -1], systematic[:, -1]
    ),
})

# %% [markdown]
# A walker that leaves a hub by one of $d$ edges carries $d$ times the weight of that edge,
# so that the squared error grows as $d$ over the number of walkers, and the error about as
# its root. Systematic walkers share out the edges, and the first hop has no error while there are
# as many of them as edges. Beyond, each edge is still tried by one walker or none.
#
# **What to do.** Give hubs as many walks as they have neighbours, or take their first hop
# exactly ({doc}`21_exact_hops`). And before you trust features of a graph that you have
# not met, estimate their error, by degree.

# %% tags=["hide-input"]
ledger.close()
