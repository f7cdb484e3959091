# %% [markdown]
# # What decides how well walks cluster?
#
# * **Where $k$-means starts matters most on most graphs**, and it is not printed. With
#   starts from the nearest of three nodes, in place of random labels, the mean error is
#   smaller on every graph, on some more than ten times smaller. The termination
#   probability, not printed either, matters on all four large graphs, and most on
#   eurosis.
# * **An error of zero can mean that nothing was computed.** On the normalised adjacency
#   matrix any features give it, because $k$-means returns its initial labels.
# * **This task does not need features.** What is slow is the eigendecomposition, and
#   $k$-means never asks for it.
#
# **What the paper claims.** {cite:t}`reid2023universal` print one clustering error for
# each of eight graphs in Table 2 ({doc}`08_clustering`). They say how the kernel is
# made and how many walks there are at most, "$m \le 80$", and recommend the features
# "on downstream tasks where exact methods are slow". They do not say where $k$-means
# starts, how many walks each graph had, or with which probability a walk ends.
#
# **The idea.** Change one choice at a time. If the errors then move by more than they
# differ from the printed ones, no verdict can rest on the digits of Table 2.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import numpy as np

from companion import datasets, evidence, plotting
from companion.models import clustering
from rfcore import features, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/09_clustering_settings", profile)
N_STARTS, N_FEWER, N_OTHERS, N_NORMALISED, N_PROBES, TIMED = {
    "paper": (200, 100, 40, 10, 10, "citeseer"),
    "quick": (4, 2, 2, 2, 1, "databases"),
}[profile]
table_2 = {row["graph"]: row for row in evidence.printed("ugrf_table2")}
printed = [float(row["clustering_error"]) for row in table_2.values()]

# %% [markdown]
# ## The experiment
#
# Kernel, graphs, starts and walks are those of {doc}`08_clustering`: the row "citeseer"
# is cora's largest component, and citeseer stands in for the row "cora". An error is
# the share of pairs of nodes on which the clusters of the estimated and of the exact
# kernel differ, from the same start.

# %%
SOURCES, SCALE = {"citeseer": "cora", "cora": "citeseer_raw"}, 0.2
graphs = {
    name: Graph.from_networkx(datasets.graph(SOURCES.get(name, name), fallback=True))
    for name in table_2
}


def clusters(kernel, start):
    return clustering.kernel_k_means(kernel, start, n_clusters=3).labels


def exact_kernel(g):
    """Product of the exact kernel with vectors."""
    return partial(kernels.expm_multiply, g, SCALE)


def estimated_kernel(i, r, g, n_walks=80, p_halt=0.1, independent=False):
    """Product of an estimated kernel with vectors, from one set of walks or two."""
    draw = partial(features.walk_features, g=g, f=modulation.exponential(SCALE))
    draw = partial(draw, n_walks=n_walks, p_halt=p_halt, coupling="iid")
    phi = draw(ledger.key("walks", i, r))
    second = ledger.key("second walks", i, r)
    psi = draw(second) if independent else phi
    return lambda Z: phi @ (psi.T @ Z)


def exact_clusters(starts):
    return [
        [clusters(exact_kernel(g), start) for start in of_graph]
        for g, of_graph in zip(graphs.values(), starts, strict=True)
    ]


def errors(n, starts, ends, **settings):
    """From the first n starts of each graph, shape (n, graphs)."""
    found = np.empty((n, len(graphs)))
    for i, g in enumerate(graphs.values()):
        for r in range(n):
            guess = clusters(estimated_kernel(i, r, g, **settings), starts[i][r])
            found[r, i] = clustering.pair_error(guess, ends[i][r])
    return found


starts = [
    [ledger.rng("starts", i, r).integers(3, size=g.n_nodes) for r in range(N_STARTS)]
    for i, g in enumerate(graphs.values())
]
ends = exact_clusters(starts)
usual = errors(N_STARTS, starts, ends)
short_walks = errors(N_STARTS, starts, ends, p_halt=0.5)
fewer = [errors(N_FEWER, starts, ends, n_walks=m) for m in (5, 20)]
medium_walks = errors(N_OTHERS, starts, ends, p_halt=0.3)
two_sets = errors(N_OTHERS, starts, ends, independent=True)

# %% [markdown]
# For the other kind of start three nodes are drawn, and each node joins the nearest of
# them in feature space ({py:func}`companion.models.clustering.labels_around`).

# %%
around = [
    [
        clustering.labels_around(
            exact_kernel(g),
            ledger.rng("three nodes", i, r).choice(g.n_nodes, 3, replace=False),
            g.n_nodes,
        )
        for r in range(N_OTHERS)
    ]
    for i, g in enumerate(graphs.values())
]
around_ends = exact_clusters(around)
from_nodes = errors(N_OTHERS, around, around_ends)
from_nodes_short = errors(N_OTHERS, around, around_ends, p_halt=0.5)

# %% [markdown]
# (ugrf-clustering-settings)=
# ## What is not printed, and what it would change
#
# From three nodes, football and citeseer come out near the printed 0.02 and 0.01, and
# others further off. With two kinds of start, eight numbers and everything else to
# choose, this identifies nothing; it shows that no verdict can rest on Table 2's
# digits.

# %% tags=["hide-input"]
settings = {
    "our settings": usual,
    "p = 0.3": medium_walks,
    "p = 0.5": short_walks,
    "two sets of walks": two_sets,
    "three nodes": from_nodes,
    "three nodes, p = 0.5": from_nodes_short,
}
plotting.table(
    np.transpose([found.mean(axis=0) for found in settings.values()]),
    np.transpose([x.std(axis=0) / (len(x) - 1) ** 0.5 for x in settings.values()]),
    rows=list(graphs),
    columns=list(settings),
    corner="graph",
    printed=[[f"{of_paper:.2f}", *5 * [None]] for of_paper in printed],
    caption="Ours. Mean clustering error. First column: 80 walks, $p = 0.1$, one set "
    "of walks, labels drawn at random. Others: one or two of these changed.",
)  # fmt: skip

# %% [markdown]
# **Fewer walkers.** The paper says "$m \le 80$ for all graphs", and so perhaps fewer on
# some.

# %% tags=["hide-input"]
another_start = [
    np.mean([clustering.pair_error(*ends[i][r : r + 2]) for r in range(0, N_STARTS, 2)])
    for i in range(len(graphs))
]
by_walkers = np.stack([*fewer, usual[:N_FEWER]], axis=-1)[:, :, None]
plotting.show_panels(
    [5, 20, 80], by_walkers, panels=graphs, lines={"estimated": "diffusion"},
    levels={"exact": another_start, "paper": printed}, log="x",
    x_label="walks per node", y_label="clustering error",
    caption="Ours. Clustering error against the number of walks, $p = 0.1$; bands: one "
    "standard error. Exact: the exact kernel from another start. Paper: Table 2.",
    alt="Eight charts, one per graph. The error falls from 5 to 80 walks, mostly below "
    "the level of another start; the printed level is here above it, there below.",
)  # fmt: skip

# %% [markdown]
# (ugrf-clustering-halt)=
# ## The termination probability that is not stated
#
# On the raw adjacency matrix a load grows by the number of neighbours at every hop, and
# the kernel's weight sits at walk lengths up to about $\sigma^2$ times the spectral
# radius. With $p = 0.5$ walks of that length are rare, and carry the weight of all
# those that were not taken. On eurosis, which has many edges as well as hubs, the error
# of the kernel comes to about three hundred per cent. (Walks with $p = 0.1$ are nine
# times as long.)

# %% tags=["hide-input"]
large = [g.n_nodes > 1000 for g in graphs.values()]
ledger.decide({
    "ugrf/extra-clustering-halt/long-walks": evidence.order(
        usual[:, large], short_walks[:, large]
    )
})

# %% [markdown]
# The kernel itself shows this. We estimate its error with Gaussian vectors $\mathbf Z$,
# for which
# $\mathbb E \lVert \mathbf M \mathbf Z \rVert_F^2 \propto \lVert \mathbf M \rVert_F^2$.

# %%
relative = np.empty((N_PROBES, len(graphs), 2))
for i, g in enumerate(graphs.values()):
    Z = ledger.rng("probes", i).standard_normal((g.n_nodes, 20))
    exact = exact_kernel(g)(Z)
    for r in range(N_PROBES):
        for j, p_halt in enumerate((0.1, 0.5)):
            off = estimated_kernel(i, r, g, p_halt=p_halt)(Z) - exact
            relative[r, i, j] = np.linalg.norm(off) / np.linalg.norm(exact)

# %% tags=["hide-input"]
plotting.table(
    np.column_stack([
        [g.neighbour_counts.max() for g in graphs.values()],
        100 * np.median(relative, axis=0),
    ]),
    rows=list(graphs),
    columns=["largest degree", "error at p = 0.1", "error at p = 0.5"],
    corner="graph",
    caption="Ours. Relative Frobenius error of the kernel from 80 walks per node, per "
    "cent, median of repeats; and the largest degree of the graph.",
)

# %% [markdown]
# **One set of walks or two?** Two independent sets make the estimate unbiased, but no
# longer positive semidefinite, so that $k$-means may cycle. In the clusters we see no
# consistent difference.

# %% [markdown]
# (ugrf-clustering-normalised)=
# ## A false success
#
# On other pages the walks are on the normalised adjacency matrix, and it is natural to
# try it here. The errors are then zero, on all graphs. But
# $\exp(0.2\, \widetilde{ \mathbf W})$ is close to the identity: every node is nearest
# to the cluster that it is in, and $k$-means stays where it began, with any estimate,
# however poor. Every such table should also say how far $k$-means moved.

# %%
moved = []
for i, raw in enumerate(graphs.values()):
    g = raw.normalised()
    for r, start in enumerate(starts[i][:N_NORMALISED]):
        end = clusters(exact_kernel(g), start)
        guess = clusters(estimated_kernel(i, r, g), start)
        moved += [clustering.pair_error(start, end), clustering.pair_error(guess, end)]

# %% tags=["hide-input"]
ledger.decide({
    "ugrf/extra-clustering-normalised/stays": evidence.bound(moved, 0.01, exact=True)
})

# %% [markdown]
# (ugrf-clustering-time)=
# ## Where exact methods are slow
#
# An eigendecomposition is slow. The action of the exponential on three vectors
# ({py:func}`rfcore.kernels.expm_multiply`) is not: a whole run of $k$-means with
# exact products takes a fraction of a second, and so does one with features, although
# they have to be built first. Where random features pay on a large graph,
# {doc}`19_what_pays_when` measures. No claim rests on these times: each was measured
# once.

# %%
i, g = list(graphs).index(TIMED), graphs[TIMED]
start, exact = starts[i][0], exact_kernel(g)
Z = np.eye(3)[start]
phi = estimated_kernel(i, 0, g)
steps = {
    "eigendecomposition": lambda: kernels.exponential(g, SCALE),
    "exact, one product": lambda: exact(Z),
    "features, built once": lambda: estimated_kernel(i, 0, g),
    "features, one product": lambda: phi(Z),
    "k-means, exact products": lambda: clusters(exact, start),
    "k-means, features": lambda: clusters(estimated_kernel(i, 0, g), start),
}
seconds = [evidence.cost(step)[1]["processor"] for step in steps.values()]

# %% tags=["hide-input"]
plotting.table(
    [[float(f"{1000 * spent:.2g}")] for spent in seconds],
    rows=list(steps),
    columns=["processor time"],
    corner="step",
    unit="milliseconds",
    caption=f"Ours. What each step takes on {g.n_nodes} nodes, all threads together.",
)

# %% tags=["hide-input"]
ledger.close()
