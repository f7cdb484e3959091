# %% [markdown]
# # Do walks find the clusters? (Table 2)
#
# * **"Small" needs a yardstick, and the exact kernel supplies it.** On every graph
#   estimating the kernel changes fewer pairs than another start does with the exact
#   kernel: little more than half as many, or fewer, on seven of the eight, and four
#   fifths as many on eurosis.
# * **On six graphs of eight the printed number is that of an ordinary run.** On karate
#   and dolphins it is larger than nearly all of ours. But single runs scatter so widely
#   that agreement says little.
# * **The row "citeseer" is cora**, by its size. The row "cora" we cannot identify.
#
# **What the paper claims.** Kernel $k$-means needs only products of the kernel with a
# few vectors, and those can come from random walks. On eight graphs,
# {cite:t}`reid2023universal` compare the three clusters found with $\mathbf K =
# \exp(\sigma^2 \mathbf W)$ and with its estimate from at most 80 walks per node, and
# print one number per graph: the share of pairs of nodes that one clustering groups and
# the other separates, 0.01 to 0.16 (Section 3.3). "The error is small even with a
# modest number of walkers and on large graphs."
#
# **The idea.** $k$-means depends on where it starts. So the number means something only
# beside another: how much do two runs with the *exact* kernel disagree?

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import itertools
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.models import clustering
from rfcore import features, kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/08_clustering", profile)
# Groups of starts; starts of each, on some graphs another number.
N_GROUPS, IN_GROUP, ON_SOME = {
    "paper": (100, 3, {"eurosis": 20, "citeseer": 15}),
    "quick": (5, 2, {}),
}[profile]
table_2 = {row["graph"]: row for row in evidence.printed("ugrf_table2")}
n_printed = {name: int(row["n_nodes"]) for name, row in table_2.items()}
printed = np.array([float(row["clustering_error"]) for row in table_2.values()])

# %% [markdown]
# (ugrf-table-2-graphs)=
# ## Which graphs are these?
#
# The graphs come from one public collection, which holds each citation graph whole and
# as its largest connected component. Six of the eight rows have a graph of their name
# and size in it. Citeseer and cora do not.

# %% tags=["hide-input"]
near = {
    "citeseer, largest component": "citeseer",
    "citeseer, whole": "citeseer_raw",
    "cora, largest component": "cora",
    "cora, whole": "cora_raw",
}
sizes = [len(datasets.graph(name, fallback=True)) for name in near.values()]
rows = ("citeseer", "cora")
off = np.array([[100 * abs(n / n_printed[row] - 1) for row in rows] for n in sizes])
plotting.table(
    np.column_stack([sizes, off]),
    rows=near,
    columns=["nodes", *(f'row "{row}", {n_printed[row]} nodes' for row in rows)],
    corner="graph",
    caption="Ours. Sizes of the four graphs of these names, and by how many per cent "
    "they differ from the two rows of Table 2.",
)
why = "2485 is cora's largest component; citeseer's graphs have 2120 and 3327 nodes."
nearer = evidence.bound(off[:2, 0].min() / 100, 0.01, exact=True)
ledger.decide({"ugrf/table-2/names": evidence.erratum(nearer, why)})

# %% [markdown]
# **The row "citeseer"** is cora's largest component, to the node. **The row "cora",
# 3300 nodes**, we cannot identify: no graph of this size is in the collection, and two
# come near. One is citeseer, whole (3327 nodes). The other is the largest component of
# Cora's section on artificial intelligence (3323 nodes), from the folder that the row
# "databases" comes from. The printed number may also be rounded.
#
# From here on the row "citeseer" is cora's largest component, "databases" the database
# section of the large Cora collection, and citeseer stands in for the row "cora". (48
# of its nodes are isolated: their walks stay where they begin.)

# %% [markdown]
# ## The experiment
#
# *Stated*: $k = 3$, $\mathbf W$ the unweighted adjacency matrix as it is,
# $\sigma^2 = 0.2$, $m \le 80$ walks per node, and the algorithm of
# {cite:t}`dhillon2004kernel`: assign each node to the nearest centre in feature space,
#
# $$
# \begin{aligned}
# \text{label}(i) = \arg\min_c \; & -\frac{2}{|c|} \sum_{j \in c} \mathbf K_{ij} \\
# & + \frac{1}{|c|^2} \sum_{j, l \in c} \mathbf K_{jl} ,
# \end{aligned}
# $$
#
# until nothing changes. *Not stated*: where it starts, how many runs the printed number
# stands for, $m$ graph by graph, and the termination probability. We start from labels
# drawn uniformly, the same for both kernels; take $m = 80$ and $p = 0.1$, as on the
# other pages; use one set of walks for both factors, because $k$-means descends only if
# $\widehat{\mathbf K} = \boldsymbol\Phi \boldsymbol\Phi^\top$ is positive semidefinite;
# and repeat from 300 starts, 1500 on citeseer and 2000 on eurosis, where the verdicts
# depend on small differences. {doc}`09_clustering_settings` shows what other choices
# would give.
#
# The exact kernel need not be formed: all that $k$-means asks for is
# $\mathbf K \mathbf Z$, where the three columns of $\mathbf Z$ say which nodes are in
# each cluster, and {py:func}`rfcore.kernels.expm_multiply` gives that up to
# rounding. Starts come in a hundred independent groups. In a group all starts share one
# set of walks: two runs from different starts are hardly more alike on the same walks
# than on walks of their own. And the exact clusters from all pairs of starts in a group
# measure what the start alone changes.

# %%
SOURCES = {"citeseer": "cora", "cora": "citeseer_raw"}
graphs = {
    name: Graph.from_networkx(datasets.graph(SOURCES.get(name, name), fallback=True))
    for name in table_2
}


def clusters(kernel, start):
    return clustering.kernel_k_means(kernel, start, n_clusters=3).labels


def estimate(key, g):
    """Product of the estimated kernel with vectors."""
    phi = features.walk_features(key, g, modulation.exponential(0.2), 80, 0.1, "iid")
    rows = phi.to_scipy()
    columns = rows.T.tocsr()
    return lambda Z: rows @ (columns @ Z)


# %% [markdown]
# On the smallest graph one can see it: the clusters of the exact kernel, those of 80
# walks per node from the same start, and those of the exact kernel from another start.
# Rings mark the nodes that the walks put elsewhere. With so small a $\sigma$ clusters
# hardly follow the graph, and the start decides more than the walks do.

# %% tags=["hide-input"]
club, g = datasets.graph("karate", fallback=True), graphs["karate"]
place = np.array(list(nx.spring_layout(club, seed=2, k=0.35).values()))
edges = place[
    np.array([[list(club).index(end) for end in edge] for edge in club.edges])
]
start, another = (
    clustering.initial_labels(ledger.key(f"start {k}"), g.n_nodes, 3) for k in (1, 2)
)


def exactly(Z):
    return kernels.expm_multiply(g, 0.2, Z)


seen = {
    "exact kernel": clusters(exactly, start),
    "80 walks per node": clusters(
        estimate(ledger.key("walks of the picture"), g), start
    ),
    "exact kernel, another start": clusters(exactly, another),
}


def drawn(title, labels):
    """The karate club with its nodes in the colours of their clusters."""
    ax = Figure(figsize=plotting.PANEL).subplots()
    ax.plot(*edges.transpose(2, 1, 0), color=plotting.INK, lw=0.5, alpha=0.4, zorder=1)
    for label, colour in enumerate(("first", "second", "third")):
        ax.plot(*place[labels == label].T, "o", ms=7, color=plotting.COLOURS[colour])
    changed = place[(labels != seen["exact kernel"]) & title.endswith("node")]
    ax.plot(*changed.T, "o", ms=13, mfc="none", color=plotting.COLOURS["fault"])
    ax.set(title=title, aspect="equal")
    ax.axis("off")
    return ax.figure


plotting.show(
    *(drawn(*one) for one in seen.items()),
    caption="Ours. Three clusters of the karate club, from one start: exact kernel "
    "and walks (ringed: nodes put elsewhere); and from another start.",
    alt="Three drawings of a network of 34 nodes in three colours. The first two are "
    "nearly alike, the third is another division.",
)


def apart(pairs):
    """Errors between the clusters of each pair."""
    return [clustering.pair_error(*pair) for pair in pairs]


ours, another_start, largest = np.empty((3, N_GROUPS, len(graphs)))  # means of groups
single = []  # of each graph, errors of single runs
for i, (name, g) in enumerate(graphs.items()):
    kernel, runs = partial(kernels.expm_multiply, g, 0.2), []
    for r in tqdm(range(N_GROUPS), desc=name, leave=False):
        shape = ON_SOME.get(name, IN_GROUP), g.n_nodes
        starts = ledger.rng("starts", i, r).integers(3, size=shape)
        estimated = estimate(ledger.key("walks", i, r), g)
        exact = [clusters(kernel, start) for start in starts]
        found = [clusters(estimated, start) for start in starts]
        runs.append(apart(zip(found, exact, strict=True)))
        ours[r, i] = np.mean(runs[-1])
        another_start[r, i] = np.mean(apart(itertools.combinations(exact, 2)))
        largest[r, i] = np.mean([np.bincount(of).max() for of in exact]) / g.n_nodes
    single.append(np.ravel(runs))

# %% [markdown]
# (ugrf-table-2)=
# ## Table 2: the paper's numbers and ours

# %% tags=["hide-input"]
mean, of_starts = ours.mean(axis=0), another_start.mean(axis=0)
se, se_of_starts = (
    of.std(axis=0, ddof=1) / np.sqrt(N_GROUPS) for of in (ours, another_start)
)
spread = np.array([runs.std(ddof=1) for runs in single])
plotting.show(
    plotting.bars(
        np.column_stack([mean, of_starts]),
        np.column_stack([se, se_of_starts]),
        rows=[f"{name}, N = {g.n_nodes}" for name, g in graphs.items()],
        columns={
            "estimated kernel, same start": "diffusion",
            "exact kernel, another start": "exact",
        },
        x_label="share of pairs that change sides",
        printed=np.column_stack([printed, np.full(len(graphs), np.nan)]),
    ),
    caption="Re-run: Table 2. Share of pairs of nodes on which clusters differ from "
    "those of the exact kernel. Bars: one standard error. Crosses: the paper.",
    alt="A row for each of eight graphs. The dot of the estimated kernel is left of "
    "that of another start, far left but on eurosis; crosses are on either side of it.",
)  # fmt: skip

# %% [markdown]
# **Is the error small?** "Small" has no number in the paper, so we decide two readings
# of it. Estimating the kernel should change fewer pairs than starting elsewhere does;
# and no mean should exceed 0.16, the largest number in the table.

# %% tags=["hide-input"]
ledger.decide({
    "ugrf/table-2/below-initialisation": evidence.order(ours, another_start),
    "ugrf/table-2/small": evidence.bound(ours, 0.165),
})

# %% [markdown]
# On eurosis even the first reading says little. One cluster swallows most of the nodes
# there from every start, so that any two clusterings nearly agree.

# %% [markdown]
# (ugrf-table-2-values)=
# ## Do the printed numbers come out?
#
# Each of them could be one run from one start. So we compare it with our mean in units
# of the spread of *single* runs, which is wide: agreement means no more than that the
# printed number is that of an ordinary run.

# %% tags=["hide-input"]
decisions = []
for i, name in enumerate(graphs):
    below = evidence.order(ours[:, i], another_start[:, i]).verdict.green
    found = evidence.value(
        mean[i], se[i], printed[i], paper_se=0.0, unprinted_se=spread[i],
        rounding=0.005, in_direction=below, resolution=0.02,
    )  # fmt: skip
    named = f"{name} is furthest off: {found.finding}"
    decisions.append(replace(found, finding=named))
worst = max(decisions, key=lambda d: (d.verdict.badness, d.statistic or 0.0))
ledger.decide({"ugrf/table-2/printed-values": worst})

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Table 2, cell by cell: the paper's numbers beside ours", "code_prompt_hide": "Table 2, cell by cell"}
at_or_below = [
    np.mean(runs < of_paper + 0.005)
    for runs, of_paper in zip(single, printed, strict=True)
]
n_nodes = [g.n_nodes for g in graphs.values()]
values = [
    n_nodes,
    mean,
    spread,
    100 * np.array(at_or_below),
    of_starts,
    100 * largest.mean(0),
]
errors = np.zeros((len(values), len(graphs)))
errors[1], errors[4] = se, se_of_starts
cells = [[*map(str, n_printed.values())], [f"{x:.2f}" for x in printed]]
plotting.table(
    np.transpose(values),
    errors.T,
    rows=list(graphs),
    columns=["nodes", "error", "single runs", "as low", "another start", "largest"],
    corner="graph",
    printed=[[*of_paper, *4 * [None]] for of_paper in zip(*cells, strict=True)],
    caption="Re-run: Table 2. Mean clustering error; standard deviation of one run; "
    "per cent of runs at or below the printed number; error of the exact kernel from "
    "another start; per cent of the nodes that are in the largest exact cluster.",
)

# %% tags=["hide-input"]
ledger.close()
