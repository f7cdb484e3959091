# %% [markdown]
# # Where do coupled hops help?
#
# * **For every kernel we tried whose variance is finite, and most of all for those that
#   do not reach far.** 64 walkers do the work of nearly a thousand independent ones or
#   more for the diffusion kernel and the 2-step walk, and of 150 to 800 for the
#   2-regularised Laplacian.
# * **The degree decides.** On graphs of degree 10 sixteen walkers leave less than two
#   fifths of the error, among 10,000 nodes as among a million; on graphs of degree 100
#   they leave more than nine tenths.
# * **PageRank gains as well**: a twentieth of the error of long walks, a quarter and
#   more of that of short ones.
#
# **What is known.** {doc}`17_walks_that_know` compares six ways to couple the walkers
# from a node on three graphs at $p_{\text{halt}} = 0.1$. Systematic hops with
# stratified lengths do best there. {cite:t}`reid2025couplings`, whose σ-coupled lengths
# are the starting point, claim equally good or smaller errors at every
# $p_{\text{halt}}$.
#
# **The idea.** Walkers gain by meeting: those that stand on one node share out its
# neighbours. So whatever keeps them from meeting should spoil it: early halting, high
# degrees, kernels that reach far.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import itertools

import jax
import numpy as np
import optax
import scipy.sparse as sp
from tqdm import tqdm

from companion import datasets, evidence, gram_errors, plotting
from companion.models import descent, pagerank
from companion.papers.couplings import equal_walkers
from companion.random_graphs import erdos_renyi
from rfcore import features, kernels, walks
from rfcore.features import modulation, neural
from rfcore.graphs import Graph
from rfcore.walks import losses

ledger = evidence.open_page("couplings/19_where_hops_help", profile)
# Of the large graphs: nodes, degree, and how many groups of rows share the other side.
PER_GROUP, P_HALTS, N_REPEATED, LARGE, N_RANKS = {
    "paper": (
        {"karate": 8, "football": 3}, (0.05, 0.1, 0.2, 0.3, 0.5), 100,
        ((10_000, 10, 1), (100_000, 10, 1), (1_000_000, 10, 12), (10_000, 100, 1)),
        {"karate": 2_400, "football": 1_200, "eurosis": 60},
    ),
    "quick": (
        {"karate": 10, "football": 3}, (0.1, 0.5), 60,
        ((1_000, 10, 1), (3_000, 10, 1), (10_000, 10, 6), (1_000, 100, 1)),
        {"karate": 600, "football": 300},
    ),
}[profile]  # fmt: skip
N_GROUPS = 12

IID, REVERSAL, SYSTEMATIC = "iid", "reversal", "systematic"
raw = {
    name: Graph.from_networkx(datasets.graph(name, fallback=True)) for name in N_RANKS
}
graphs = {name: raw[name].normalised() for name in PER_GROUP}


def norms(key, g, f, K, n_walks, p_halt, n_repeats, law):
    """Frobenius norms of the errors of repeated Gram estimates, two sets each."""
    nodes = np.tile(np.arange(g.n_nodes), n_repeats)
    left, right = (
        features
        .walk_features(one, g, f, n_walks, p_halt, law, nodes)
        .toarray()
        .reshape(n_repeats, g.n_nodes, -1)
        for one in jax.random.split(key)
    )
    return np.linalg.norm(left @ right.transpose(0, 2, 1) - K, axis=(1, 2))


# %% [markdown]
# (couplings-hops-kernels)=
# ## Other kernels, shorter walks
#
# We take three kernels with $\sigma = 1$ and $\alpha = 20$, and a *damped* modulation:
# that of the 2-regularised Laplacian times $0.8^k$, which is close to what training
# finds ({doc}`/notebooks/ugrf/10_learned_modulation`). The errors of independent
# walkers are exact.

# %%
n_walks, laplacian = 64, modulation.regularised_laplacian(1.0, 2)
MODULATIONS = {
    "diffusion": modulation.diffusion(1.0),
    "2-reg. Laplacian": laplacian,
    "2-step walk": modulation.p_step(20.0, 2),
    "damped": lambda k: laplacian(k) * 0.8**k,
}
rows = [(name, kernel) for name in graphs for kernel in MODULATIONS]
parts = np.empty((N_GROUPS, len(rows), len(P_HALTS)))
equal = np.empty((2, len(rows), len(P_HALTS)))
for i, (name, kernel) in enumerate(tqdm(rows, desc="kernels", leave=False)):
    g, f, n = graphs[name], MODULATIONS[kernel], PER_GROUP[name]
    M = kernels.power_series_rows(g, f(np.arange(80)), np.arange(g.n_nodes)).toarray()
    for j, p in enumerate(P_HALTS):
        key = ledger.key(f"{name} {kernel}", round(100 * p))
        found = norms(key, g, f, M @ M.T, n_walks, p, n * N_GROUPS, SYSTEMATIC)
        squares = (found**2).reshape(N_GROUPS, n).mean(axis=1)
        a, b = equal_walkers.gram_error_terms(g, f, p)
        parts[:, i, j] = squares / (a / n_walks + b / n_walks**2)
        spread = squares.std(ddof=1) / np.sqrt(N_GROUPS) / squares.mean()
        worth = equal_walkers.of_terms(a, b, squares.mean())
        equal[:, i, j] = worth, worth * spread

# %% tags=["hide-input"]
plotting.show_panels(
    P_HALTS,
    np.sqrt(parts).reshape(N_GROUPS, len(graphs), len(MODULATIONS), -1),
    panels=list(graphs),
    lines={
        "diffusion": "diffusion",
        "2-reg. Laplacian": "regularised_laplacian",
        "2-step walk": "p_step",
        "damped": "first",
    },
    x_label="chance to halt",
    y_label="share of the error left",
    log="x",
    caption="Ours. What 64 systematic walkers leave of the error of 64 independent "
    "ones: about a fifth for kernels that do not reach far (diffusion, 2-step walk), "
    "and more for the others, most where walkers halt soon.",
    alt="Two charts of what is left of the error against the chance to halt, four "
    "lines each. All lie far below 1. The diffusion kernel and the 2-step walk lie "
    "lowest; the 2-regularised Laplacian and the damped modulation lie above them.",
)
plotting.table(
    *equal,
    rows=[f"{name}, {kernel}" for name, kernel in rows],
    columns=[f"{p:g}" for p in P_HALTS],
    corner="p_halt",
    caption="Ours. Independent walkers with the error of 64 that hop systematically.",
)

# %% [markdown]
# Where a kernel reaches far, short walks leave less to gain: what a walker brings from
# afar is divided by the small chance of getting there; few walkers get there, and those
# have nobody to share a node with. The modulation of the 2-step walk ends after one
# hop, and that of the diffusion kernel nearly does ({doc}`18_which_coordinates`).
#
# **No finite variance, no promise.** Estimates of the inverse cosine kernel have none
# ({doc}`/notebooks/ugrf/03_fixed_kernel_errors`), coupled or not: the rare long walk
# that decides the error hops alone. Median errors are all that can be compared.

# %%
cosine, medians = modulation.inverse_cosine(), np.empty((N_REPEATED, 2, len(graphs)))
for i, (name, g) in enumerate(graphs.items()):
    K = kernels.inverse_cosine(g)
    for k, law in enumerate((IID, SYSTEMATIC)):
        key = ledger.key(f"inverse cosine {name}", k)
        medians[:, k, i] = norms(key, g, cosine, K, n_walks, 0.1, N_REPEATED, law)

# %% tags=["hide-input"]
ledger.decide({
    "couplings/extra-hops-kernels/everywhere": evidence.bound(parts, 0.81),
    "couplings/extra-hops-kernels/inverse-cosine": evidence.order(
        medians[:, 1], medians[:, 0], robust=True
    ),
})

# %% [markdown]
# (couplings-hops-learned)=
# ## Learned modulations
#
# A learned modulation is biased, and gains by having less variance
# ({doc}`/notebooks/ugrf/10_learned_modulation`). Coupled hops take off variance and add
# no bias. They gain more than learning does, and the two together gain most. The
# networks have four numbers and are trained on a random graph of 20 nodes for either
# kind of walks. As on that page there are 16 walkers, $p_{\text{halt}} = 0.5$ and one
# set of walks, and the error is the squared relative error of the 2-regularised
# Laplacian with $\sigma = 0.8$. The best modulation differs with the graph: training
# saw about four neighbours per node, football has more than ten.

# %%
beta = 0.8**2 / (1 + 0.8**2)  # walks on beta W: the unbiased modulation is flat
small = erdos_renyi(ledger.key("training graph"), 20, 0.2).normalised()


def target(g):
    """The kernel over its constant: the square of sum_k (beta W)^k."""
    return kernels.regularised_laplacian(g, 0.8, 2) / (1 - beta) ** 2


def walked(key, g, law, n_repeats):
    """Walks, to be weighed by any modulation."""
    nodes = np.tile(np.arange(g.n_nodes), n_repeats)
    lengths = walks.lengths.draw(key, len(nodes), 16, 0.5, law)
    return features.by_step(walks.simulate(key, g.scaled(beta), lengths, nodes))


KINDS = {"IID": IID, "systematic": SYSTEMATIC}
learned, adam = {"unbiased": neural.flat()}, optax.adam(0.01)
for kind, law in KINDS.items():
    steps = walked(ledger.key(f"training {kind}"), small, law, 128)
    form = losses.form(steps, steps, target(small), n_steps=10)
    found = descent.learn(lambda f, form: form(f), neural.flat(), (form,), 2000, adam)
    learned[f"learned on {kind}"] = found.f
trained = np.empty((N_GROUPS, len(graphs), len(KINDS), len(learned)))
for i, (name, g) in enumerate(graphs.items()):
    for j, (kind, law) in enumerate(KINDS.items()):
        key, n = ledger.key(f"{name} testing {kind}"), 4 * N_GROUPS * PER_GROUP[name]
        steps = walked(key, g, law, n)
        for k, f in enumerate(learned.values()):
            off = np.array(losses.errors(f, f, steps, steps, target(g)))
            trained[:, i, j, k] = off.reshape(N_GROUPS, -1).mean(axis=1)

# %% tags=["hide-input"]
plotting.table(
    1e3 * trained.mean(axis=0).reshape(-1, len(learned)),
    1e3 * trained.std(axis=0, ddof=1).reshape(-1, len(learned)) / np.sqrt(N_GROUPS),
    rows=[f"{name}, {kind} walkers" for name in graphs for kind in KINDS],
    columns=list(learned),
    corner="graph, walkers",
    caption="Ours. Squared relative error of a Gram matrix, in thousandths, by kind of "
    "walkers and modulation.",
)
own, LEARNED = trained[:, :, 1, 2], "couplings/extra-hops-learned/"
ledger.decide({
    LEARNED + "hops": evidence.order(own, trained[:, :, 0, 1]),
    LEARNED + "learning": evidence.order(own, trained[:, :, 1, 0]),
    LEARNED + "own": evidence.order(
        np.stack([own[:, 0], trained[:, 1, 1, 1]], axis=1),
        np.stack([trained[:, 0, 1, 1], own[:, 1]], axis=1),
    ),
})

# %% [markdown]
# (couplings-hops-size)=
# ## Large graphs
#
# After one hop from a node of degree $d$ there are $m / d$ walkers on each neighbour,
# whatever the number of nodes, so the degree should decide. We take random graphs,
# fifty rows of the diffusion kernel, 16 walkers and $p_{\text{halt}} = 0.1$. Nothing of
# the size of the kernel is formed: its rows are a power series, whose terms from the
# sixth power on weigh two in a hundred thousand. On the graph of a million nodes,
# twelve groups of sixty rows, far apart, share the walks from all nodes.

# %%
f = MODULATIONS["diffusion"]
alpha = modulation.to_taylor(f, n_terms=6)
squares = np.empty((2, N_GROUPS, len(LARGE)))
for i, (n, degree, sharing) in enumerate(tqdm(LARGE, desc="large", leave=False)):
    rng = ledger.rng(f"graph {n} {degree}")
    ends = rng.integers(n, size=(2, n * degree // 2))
    ends = np.hstack([ends, ends[::-1]])[:, np.tile(ends[0] != ends[1], 2)]
    W = sp.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n)).tocsr()
    g = Graph.from_scipy((W > 0).astype(float)).normalised()
    rows = rng.integers(n, size=(sharing, 50 if sharing == 1 else 60))
    truths = [kernels.power_series_rows(g, alpha, nodes) for nodes in rows]
    for (k, law), r in itertools.product(enumerate((IID, SYSTEMATIC)), range(N_GROUPS)):
        left, right = jax.random.split(ledger.key(f"{n} {degree} {k}", r))
        if r % sharing == 0:
            psi = features.walk_features(right, g, f, 16, 0.1, law)
            psi = psi.to_scipy().T.tocsr()
        nodes, truth = rows[r % sharing], truths[r % sharing]
        phi = features.walk_features(left, g, f, 16, 0.1, law, nodes)
        product = phi.to_scipy() @ psi
        squares[k, r, i] = gram_errors.gram_error(product, truth, False, squared=True)

# %% tags=["hide-input"]
remains = np.sqrt(squares[1] / squares[0].mean(axis=0))
errors = np.hypot(*(s.std(axis=0, ddof=1) / s.mean(axis=0) for s in squares))
plotting.table(
    remains.mean(axis=0)[:, None],
    (remains.mean(axis=0) * errors)[:, None] / 2 / np.sqrt(N_GROUPS),
    rows=[f"{n:,} nodes, degree {degree}" for n, degree, _ in LARGE],
    columns=["what is left of the error"],
    corner="graph",
    caption="Ours. Error of rows with 16 walkers, systematic hops over independent.",
)
apart, further = (remains[:, i] - remains[:, 0] for i in (1, 2))
ledger.decide({
    "couplings/extra-hops-size/nodes": evidence.bound(
        np.stack([apart, -apart], axis=1), 0.05
    ),
    "couplings/extra-hops-size/million": evidence.bound(
        np.stack([further, -further], axis=1), 0.05
    ),
    "couplings/extra-hops-size/degree": evidence.order(remains[:, 0], remains[:, 3]),
})

# %% [markdown]
# (couplings-hops-pagerank)=
# ## PageRank
#
# PageRank is the share of walks that end at a node ({doc}`24_pagerank`). We take
# sixteen walkers per node, whose lengths are reversed or who hop systematically.

# %%
ps = (0.1, 0.3, 0.5)
ranks = {name: np.empty((N_GROUPS, len(ps), 3)) for name in raw}
for name, g in raw.items():
    for j, p in enumerate(ps):
        truth = pagerank.exact(g, p)
        for k, law in enumerate((IID, REVERSAL, SYSTEMATIC)):
            key = ledger.key(f"PageRank {name} {k}", j)
            rho = pagerank.estimate(key, g, 16, p, law, N_RANKS[name])
            found = np.sum((rho - truth) ** 2, axis=1)
            ranks[name][:, j, k] = found.reshape(N_GROUPS, -1).mean(axis=1)
ranks = np.stack([r / r[..., :1].mean(axis=0) for r in ranks.values()], axis=1)

# %% tags=["hide-input"]
mean = ranks.mean(axis=0)[..., 1:]
spread = ranks.std(axis=0, ddof=1)[..., 1:] / np.sqrt(N_GROUPS) / mean / 2
plotting.table(
    np.sqrt(mean).reshape(-1, 2),
    (np.sqrt(mean) * spread).reshape(-1, 2),
    rows=[f"{name}, p_halt = {p}" for name in raw for p in ps],
    columns=["reversal (σ)", "systematic"],
    corner="graph, p_halt",
    caption="Ours. Error of the PageRank vector of 16 walkers per node over that of "
    "independent ones.",
)
ledger.decide({
    "couplings/extra-hops-pagerank/beats": evidence.order(
        ranks[..., [2, 2]], ranks[..., :2]
    )
})

# %% [markdown]
# Here it is *short* walks that gain. A kernel gets most of its error from the first
# hop, when all walkers still stand together; PageRank asks where a walk ends, and long
# walks end when their walkers have scattered.
#
# ## What to do
#
# * Take `coupling="systematic"` in
#   {py:func}`rfcore.features.walk_features` and
#   {py:func}`companion.models.pagerank.estimate`. There is nothing to tune.
# * Do so from about as many walkers on as a node has neighbours. Far below that number,
#   walkers part at the first hop, and from then on they are independent.
# * Do not expect anything for the inverse cosine kernel to which an error bar could be
#   put, and expect little for PageRank from long walks.
# * A hop costs more, since walkers have to be put in order: about twice the
#   time of independent walks ({doc}`/book/benchmarks`), most where walks are long. A
#   smaller gain in walkers than that, as with four walkers, saves no time.

# %% tags=["hide-input"]
ledger.close()
