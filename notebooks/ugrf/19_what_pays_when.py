# %% [markdown]
# # When do walks pay?
#
# * **Walks are local, and products with a whole graph are not.** The features of a hundred nodes take about as long in
#   a graph of ten thousand nodes as in one of a million. At long range they are some thirty times faster for the block of
#   the hubs than the best rival, but too inaccurate off the diagonal: 0.55, where it has 0.08. Take the rival.
# * **The other local method sets the limit.** Pushing the power series out without randomness beats walks at short
#   range around ordinary nodes; from hubs its second hop takes far longer. At long range its sparse rows fill the
#   graph, from hubs at the third hop, while those of walks stay sparse.
# * **Fast is not accurate.** The diagonal makes up most of a block's norm, and hides the rest. Off the diagonal, 256
#   walks per node leave errors of a quarter and more on this graph. By the rule below walks pay for learning $f$; for
#   a posterior they are faster, at an error of the mean that the last table holds.
#
# **What the paper claims.** Walk features bring kernels to "much larger networks" {cite:p}`reid2023universal`. The
# paper does not say for which tasks. For a product with the kernel of a whole graph they do not pay:
# {doc}`18_products`.
#
# **The idea.** For the block $K_{SS}$ between 100 nodes of a large graph a Chebyshev expansion needs 100 products with
# the whole graph. Walks start where one wants them.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import multivariate_normal
from scipy.sparse.csgraph import breadth_first_order
from tqdm import tqdm

from companion import evidence, plotting
from companion.evidence import cost, processes
from companion.models import gaussian_processes
from companion.papers.ugrf import blocks, large_graphs
from rfcore import features, kernels
from rfcore.features import modulation

ledger = evidence.open_page("ugrf/19_what_pays_when", profile)
NODES, N_PROCESSES, N_GRAPH, N_TIMED, N_HUBS, N_OBSERVED, N_DRAWS = {
    "paper": ([10_000, 50_000, 200_000, 1_000_000], 15, 200_000, 20, 50, 100, 40),
    "quick": ([10_000, 50_000], 2, 10_000, 3, 30, 60, 4),
}[profile]
IMPORTS = """
import jax
import numpy as np
from rfcore import features, kernels
from companion.evidence import cost
from rfcore.features import modulation
from companion.papers.ugrf import large_graphs
"""

# %% [markdown]
# (ugrf-subsets)=
# ## A hundred nodes of ten thousand, and of a million
#
# We time the features of 100 random nodes, with 16 walks per node and $p_{\text{halt}} = 0.1$, as the graph around
# them, a ring with twice as many chords as nodes, grows a hundredfold. The repeats have processes of their own. Beside
# the features stands what the same block costs as a hundred Chebyshev products of degree 6.


# %%
def few_nodes(sizes, seed):
    """At each size, least processor time of 20 calls, and of 3 products."""
    f, heat, found = modulation.diffusion(1.0), kernels.Diffusion(1.0), []
    rng, keys = np.random.default_rng(seed), jax.random.split(jax.random.key(seed), 22)
    for n in sizes:
        g = large_graphs.ring_with_chords(keys[0], n).normalised()
        nodes, v = rng.choice(n, 100, replace=False), rng.normal(size=n)
        # The first call makes the tables by which walkers read the graph.
        walk = features.walk_features
        walk(keys[1], g, f, 16, 0.1, "iid", nodes)
        walks = [cost(walk, key, g, f, 16, 0.1, "iid", nodes)[1] for key in keys[2:]]
        products = [cost(kernels.chebyshev_matvec, g, heat, v, 6)[1] for _ in range(3)]
        found.append([min(one["processor"] for one in c) for c in (walks, products)])
    return found


few = partial(processes.in_a_process, few_nodes, NODES, imports=IMPORTS)
with evidence.Clock() as clock:
    seconds = np.array([
        few(int(ledger.rng("few", turn).integers(2**31)))
        for turn in tqdm(range(N_PROCESSES), desc="processes", leave=False)
    ])  # processes, sizes, ways

# %% tags=["hide-input"]
plotting.show_panels(
    NODES, np.moveaxis(seconds * [1, 100], 1, 2),
    lines={"features": "first", "Chebyshev": "chebyshev"}, log="xy",
    x_label="nodes of the graph", y_label="processor seconds",
    caption="Ours. The block between 100 random nodes: their features, and 100 "
    "Chebyshev products. Means over processes.",
    alt="Two lines on log-log axes. That of features is nearly level, that of products "
    "rises in proportion to the number of nodes and lies above it everywhere.",
)  # fmt: skip

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Medians, in numbers", "code_prompt_hide": "Medians, in numbers"}
plotting.table(
    np.median(seconds, axis=0) * [1e3, 100],
    rows=[f"{n:,}" for n in NODES],
    columns=["features of 100 nodes, ms", "100 Chebyshev products, s"],
    corner="nodes of the graph",
    caption="Ours. Processor time, medians over processes.",
)

# %% tags=["hide-input"]
powers = np.polyfit(np.log(NODES), np.log(seconds[..., 0]).T, 1)[0]
cheap = evidence.bound(powers, 0.5, robust=True)
ledger.decide({"ugrf/extra-subsets/cost": evidence.timed(cheap, profile, clock)})

# %% [markdown]
# (ugrf-blocks)=
# ## The other local method
#
# A deterministic rival stays local too: *push* the power series of $K^{1/2}$ out from the nodes of $S$, as sparse rows
# $\sum_{k \leq d} f(k)\, W^k[S, :]$, and multiply the rows with each other. These are the features without the
# randomness. Push wins while few hops matter. Its cost grows with the number of nodes within $d$ hops, and on a graph
# with hubs that is soon all nodes.
# (With Chebyshev's coefficients in place of these the rows are as sparse, and often much better:
# {doc}`21_exact_hops` has the map at equal cost.)
#
# The graph here is wild: its degrees follow a power law ({py:func}`~companion.papers.ugrf.large_graphs.communities`). The
# blocks are those of its largest hubs, and of a snowball, the first nodes that a breadth-first search meets. Short
# range is $\sigma = 1$, long range $\sigma = 3$. Features get 256 walks per node. Push and the Chebyshev columns get
# the least degree at which their error is no larger than that of the features; push stops at degree 3. The three ways
# are in {py:mod}`~companion.papers.ugrf.blocks`.

# %%
g, _ = large_graphs.communities(ledger.key("graph"), N_GRAPH)
g, degree = g.normalised(), g.neighbour_counts
hubs = np.argsort(-degree)[:N_HUBS]
centre = int(np.flatnonzero(degree == 6)[0])
n_snowball = N_OBSERVED * 5 // 4
W = g.to_scipy()
snowball = breadth_first_order(W, centre, return_predecessors=False)[:n_snowball]


def ways_to(nodes, sigma):
    f, heat = modulation.diffusion(sigma), kernels.Diffusion(sigma)

    def walked(n_walks, draw=0):
        key = ledger.key("blocks", draw)
        return blocks.by_walks(key, g, f, n_walks, 0.1, nodes)

    return (
        walked,
        partial(blocks.by_push, g, f, nodes=nodes),
        lambda degree: blocks.by_columns(g, heat, degree, nodes),
    )


def errors_of(estimate, truth):
    """Relative Frobenius errors, of all entries and of those off the diagonal."""
    off, gap, norm = ~np.eye(len(truth), dtype=bool), estimate - truth, np.linalg.norm
    return {"error": norm(gap) / norm(truth), "off": norm(gap[off]) / norm(truth[off])}


def mean_and_error(draws):
    """Means over draws, and their standard errors."""
    return np.mean(draws, axis=0), np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))


def least_degree(way, degrees, truth, enough):
    """Cost, degree and error, at the first degree that is enough."""
    for degree in degrees:
        estimate, spent = cost(way, degree=degree)
        found = {**spent, **errors_of(estimate, truth), "degree": degree}
        if found["error"] <= enough:
            break
    return found


def compared(nodes, sigma):
    """The exact block, and costs and errors of the three ways to it."""
    walked, push, columns = ways_to(nodes, sigma)
    truth = columns(degree=14)
    walked(n_walks=1)  # makes the tables by which walkers read the graph
    _, spent = cost(walked, n_walks=256)
    draws = [errors_of(walked(256, draw), truth) for draw in range(N_DRAWS)]
    mean, se = mean_and_error([list(draw.values()) for draw in draws])
    ours = {**spent, "error": mean[0], "off": mean[1], "se": se[1], "degree": np.nan}
    return truth, {
        "walks": ours,
        "push": least_degree(push, range(1, 4), truth, ours["error"]),
        "columns": least_degree(columns, range(2, 13, 2), truth, ours["error"]),
    }


cases = {"hubs": hubs, "snowball": snowball}
found = {
    (name, sigma): compared(nodes, sigma)
    for name, nodes in tqdm(cases.items(), desc="blocks", leave=False)
    for sigma in (1.0, 3.0)
}

# %% tags=["hide-input"]
plotting.table(
    [
        [way[what] for what in ("wall", "degree", "error", "off")]
        for _, ways in found.values() for way in ways.values()
    ],
    rows=[
        f"{len(truth)} {name}, σ = {sigma:g}: {way}"
        for (name, sigma), (truth, ways) in found.items() for way in ways
    ],
    columns=["seconds", "degree", "error", "off the diagonal"],
    corner="block",
    caption=f"Ours. Three ways to a block, on {g.n_nodes:,} nodes of mean degree "
    f"{degree.mean():.1f}; the hubs have {degree[hubs].min():,} to {degree.max():,}. "
    f"Errors of walks are means over {N_DRAWS} draws.",
)  # fmt: skip

# %%
_, far = found["hubs", 3.0]
enough = far["push"]["error"] <= far["walks"]["error"]
pushing = far["push"]["processor"] if enough else np.inf  # timed once
walked, _, columns = ways_to(hubs, 3.0)
ratios = []
with evidence.Clock() as later:
    for _ in range(N_TIMED):
        _, theirs = cost(columns, degree=far["columns"]["degree"])
        _, ours = cost(walked, n_walks=256)
        ratios.append(min(theirs["processor"], pushing) / ours["processor"])

# %% tags=["hide-input"]
quicker = evidence.bound(ratios, 5.0, side="above", unit="times")
ledger.decide({
    "ugrf/extra-subsets/long-range-hubs": evidence.timed(quicker, profile, later)
})

# %% [markdown]
# ## A posterior, with its covariance
#
# We take a Gaussian process on the snowball at long range: four nodes in five are observed, and the mean and the
# covariance at the others are predicted. The kernel comes from the exact block, or from one shared set of features,
# which keeps it positive semidefinite at the price of a bias on the diagonal. The data are drawn from the exact
# process. One draw of data and walks would not tell which kernel to take: errors are means over many.

# %%
truth, _ = found["snowball", 3.0]
seen, noise = np.arange(N_OBSERVED), 0.1 * np.mean(np.diag(truth))
covariance = truth + noise * np.eye(len(truth))
data = ledger.rng("data").multivariate_normal(
    np.zeros(len(truth)), covariance, size=N_DRAWS
)
WALKS = (256, 1024, 4096)


def posterior(kernel, y):
    """Mean and covariance at the unseen nodes."""
    return jax.block_until_ready(
        gaussian_processes.posterior(kernel(), y[seen], noise, N_OBSERVED)
    )


def shared(n_walks, draw):
    """phi phi^T from one set of features of the snowball."""
    f, key = modulation.diffusion(3.0), ledger.key("shared walks", draw)
    phi = features.walk_features(key, g, f, n_walks, 0.1, "iid", snowball)
    return (phi @ phi.T).toarray()


posterior(lambda: truth, data[0])  # compile
*_, columns = ways_to(snowball, 3.0)
_, spent = cost(posterior, partial(columns, 8), data[0])
whole, seconds_of = spent["wall"], []
for n_walks in WALKS:
    _, spent = cost(posterior, partial(shared, n_walks, 0), data[0])
    seconds_of.append(spent["wall"])
off = []
for draw, y in enumerate(tqdm(data, desc="posteriors", leave=False)):
    known = posterior(lambda: truth, y)
    off.append([])
    for n_walks in WALKS:
        about = posterior(partial(shared, n_walks, draw), y)
        gap = np.linalg.norm(about.mean - known.mean) / np.linalg.norm(known.mean)
        spread = np.mean(np.abs(np.sqrt(about.variance / known.variance) - 1))
        off[-1].append([gap, spread])
of_posterior, se_posterior = mean_and_error(off)  # each (walks, 2)

# %% tags=["hide-input"]
plotting.table(
    [[whole, 0, 0], *np.column_stack([seconds_of, of_posterior])],
    [[0, 0, 0], *np.column_stack([np.zeros(len(WALKS)), se_posterior])],
    rows=["exact block, degree 8", *(f"{n:,} walks" for n in WALKS)],
    columns=["seconds", "error of the mean", "of standard deviations"],
    corner="kernel",
    caption="Ours. Posterior at one node in five of the snowball: relative error of "
    "the mean, and mean relative error of the standard deviations; means over "
    f"{N_DRAWS} draws of data and walks. Times are of one call.",
)

# %% [markdown]
# ## A modulation learned on stored walks
#
# Now we learn $f$ itself, nine numbers, by the evidence of the same data, and time 50 gradients. Walks are stored once,
# and weighted by $f$ in every step. Without walks one needs the blocks $(W^k)_{SS}$ of all powers, and for each
# power as many products with the whole graph as there are nodes in $S$; after that a step is cheaper than with walks.

# %%
nodes, watched = snowball[:50], jnp.asarray(data[0, :50])
start = jnp.asarray(modulation.diffusion(3.0)(np.arange(9)))


def log_likelihood(K):
    """Of what was watched, for the kernel K."""
    K = K + noise * jnp.eye(len(watched))
    return multivariate_normal.logpdf(watched, jnp.zeros(len(watched)), K)


def on_walks(f, stored):
    """Log evidence on stored walks."""
    phi = stored.with_modulation(modulation.from_values(f))
    return log_likelihood(phi @ phi.T)


def on_powers(f, powers):
    """Log evidence on exact powers of W."""
    K = jnp.tensordot(jnp.convolve(f, f), powers, axes=1)
    return log_likelihood(K)


def learned(evidence_of, store, *arguments):
    """Seconds to store, and for 50 gradients."""
    step = jax.jit(jax.value_and_grad(evidence_of))
    stored, first = cost(store, *arguments)
    jax.block_until_ready(step(start, stored))  # compile
    _, then = cost(lambda: [step(start, stored)[0].item() for _ in range(50)])
    return [first["wall"], then["wall"]]


key = ledger.key("stored walks")
learning = {
    "64 walks": learned(on_walks, blocks.deposits, key, g, 64, 0.1, 8, nodes),
    "exact powers": learned(on_powers, blocks.powers, g, 17, nodes),
}

# %% tags=["hide-input"]
plotting.table(
    list(learning.values()),
    rows=list(learning),
    columns=["to store, s", "50 gradients, s"],
    corner="stored",
    caption=f"Ours. Learning nine numbers by the evidence, on {g.n_nodes:,} nodes.",
)

# %% [markdown]
# (ugrf-decision)=
# ## What pays when
#
# The table follows from the measurements above by a fixed rule: take the features if they are at least twice as fast
# and their error, a mean over draws, is below a quarter by more than twice its standard error; the rival if it is
# slower or above by as much; in between the measurement does not tell. For a block the rival is the faster of push and
# columns, if it reaches the features' error. The error of a block is that of its entries off the diagonal, because the
# diagonal hides the rest. Learning $f$ has no error to compare, so that speed alone decides there. All this is of one
# graph and one snowball. Products with whole graphs have their table in {doc}`18_products`.

# %% tags=["hide-input"]
table = {}
for (name, sigma), (truth, ways) in found.items():
    ours, *rivals = ways.values()
    enough = [way for way in rivals if way["error"] <= ours["error"]]
    best = min(enough, key=lambda way: way["wall"])
    task = f"block of {len(truth)} {name}, σ = {sigma:g}"
    table[task] = ours["wall"], ours["off"], best["wall"], best["off"], ours["se"]
for n, spent, mean, se in zip(
    WALKS, seconds_of, of_posterior[:, 0], se_posterior[:, 0], strict=True
):
    table[f"posterior, σ = 3, {n:,} walks"] = spent, mean, whole, 0.0, se
ours, theirs = map(sum, learning.values())
table["learn f by the evidence"] = ours, np.nan, theirs, 0.0, 0.0


def advice(ours, error, theirs, _, se):
    if 2 * ours >= theirs or error - 2 * se > 0.25:
        return "take rival"
    return "too close to tell" if error + 2 * se >= 0.25 else "take features"


plotting.table(
    [row[:4] for row in table.values()],
    [[0, row[4], 0, 0] for row in table.values()],
    rows=[f"{task}: {advice(*row)}" for task, row in table.items()],
    columns=["features: s", "error", "best rival: s", "its error"],
    corner="task",
    caption=f"Ours. What to take, on {g.n_nodes:,} nodes of the power-law graph.",
)

# %% tags=["hide-input"]
ledger.close()
