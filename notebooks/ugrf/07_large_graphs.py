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
# # A million nodes, and when random walks are worth it
#
# **What the paper claims.** {cite:t}`reid2023universal` promise "subquadratic time complexity with respect to the
# number of nodes, overcoming the notoriously prohibitive cubic scaling of exact graph kernel evaluation", and
# learning "on much larger networks" (abstract). No experiment of theirs has more than 4,350 nodes, and no time is
# printed.
#
# So we measure: time, memory and error of the features from ten thousand nodes to a million, beside the
# exact kernel for as long as that can be had. Then we ask the question that the paper does not ask. The exact
# kernel *matrix* is out of reach, but who needs it? Most uses of a kernel are products $Kv$, and for those numerical
# analysis has had better tools for decades. We give a million nodes a useful task, solve it with features, with
# Chebyshev polynomials and with SciPy's `expm_multiply`, and end with a table of what pays when.

# %% tags=["hide-input"]
import inspect
import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from IPython.display import Markdown, display
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import expm_multiply
from tqdm import tqdm

from rfcore import evidence, features, kernels, plotting, walks
from rfcore.couplings import walk_lengths
from rfcore.evidence import cost
from rfcore.features import modulation
from rfcore.features.graph import modulation_table
from rfcore.graphs import Graph
from rfcore.kernels import spectral
from rfcore.models import gp

plotting.use_style()

# %% tags=["parameters"]
profile = "paper"

# %%
SIZES = {
    "paper": {
        "rounds": 5,
        "rounds_of_products": 10,
        "rounds_of_few": [[turn] for turn in range(15)],  # of each process
        "calls": {10_000: 4, 50_000: 4, 200_000: 4, 1_000_000: 1},  # of each process
        "exact": (500, 1000, 2000),
        "n_task": 1_000_000,
        "n_table": 200_000,
        "n_repeats": 5,
        "n_timed": 20,
        "n_hubs": 50,
        "n_observed": 100,
    },
    "quick": {
        "rounds": 1,
        "rounds_of_products": 1,
        "rounds_of_few": [[0, 1]],
        "calls": {10_000: 3, 50_000: 3},
        "exact": (250, 500),
        "n_task": 30_000,
        "n_table": 10_000,
        "n_repeats": 3,
        "n_timed": 3,
        "n_hubs": 30,
        "n_observed": 60,
    },
}[profile]
ledger = evidence.Ledger("ugrf/07_large_graphs", profile)
largest = max(SIZES["calls"])

# %% [markdown]
# ## Two graphs to grow
#
# No real graph that we may ship is large enough, so both are generated, with fixed seeds. The first is tame: a ring
# with twice as many chords as nodes, mean degree 6, like a road map with shortcuts. The second is wild: degrees follow
# a power law, four communities share the nodes, and hubs know thousands of others.


# %%
def ring_with_chords(n):
    """A ring of n nodes and 2n chords between random ones, normalised."""
    rng, ring = np.random.default_rng(0), np.arange(n)
    i, j = np.append(ring, rng.integers(n, size=2 * n)), np.append(ring + 1, rng.integers(n, size=2 * n)) % n
    W = sp.coo_array((np.ones(3 * n), (i, j)), shape=(n, n)).tocsr()
    return Graph.from_scipy(W + W.T).normalised()


def power_law(n, n_communities=4, mixing=0.3):
    """3n edges between nodes of Pareto weight (tail 3/2), 70 % of them within a community; and who is in which."""
    rng = np.random.default_rng(2)
    weight = np.minimum((1 - rng.random(n)) ** (-2 / 3), 10 * np.sqrt(n))
    community = np.sort(rng.integers(n_communities, size=n))
    total = np.append(0.0, np.cumsum(weight))
    border = total[np.searchsorted(community, np.arange(n_communities + 1))]

    def drawn(low, high):  # nodes in proportion to their weights, between two borders
        return np.searchsorted(total, low + (high - low) * rng.random(3 * n), side="right").clip(1, n) - 1

    i = drawn(0.0, total[-1])
    inside = rng.random(3 * n) > mixing
    j = drawn(np.where(inside, border[community[i]], 0.0), np.where(inside, border[community[i] + 1], total[-1]))
    W = sp.coo_array((np.ones(3 * n), (i, j)), shape=(n, n)).tocsr()
    W = W + W.T
    W.setdiag(0.0)
    W.data[:] = W.data > 0  # no parallel edges, no loops
    return Graph.from_scipy(W), community


# %% [markdown]
# (ugrf-scale)=
# ## Time, memory and error from ten thousand nodes to a million
#
# The kernel is the diffusion kernel with $\sigma = 1$; 16 walks per node, $p = 0.1$, sparse features, all cores. Each size
# gets a process of its own, in each of several rounds, so that its memory is its own: the operating system's record
# of the process's peak is reset before each method and read afterwards. The error is that of one product, $\|\hat K v - Kv\| / \|Kv\|$
# for Gaussian $v$, on ten thousand random nodes, from two independent sets of features; a Chebyshev expansion of degree 20,
# exact to rounding, stands for the truth.


# %%
def least(costs):
    """Least of each quantity over repeats."""
    return {what: min(one[what] for one in costs) for what in costs[0]}


def through(phi, v):
    """The product of v with the kernel that one set of features estimates."""
    return phi @ (phi.T @ v)


def approximate(n, calls, turn):
    """One process of one round on n nodes: for each call, costs of features and their rivals, and errors of products."""
    g, f, v = ring_with_chords(n), modulation.diffusion(1.0), np.random.default_rng(1).normal(size=n)
    W, truth = g.to_scipy(), kernels.chebyshev_product(g, spectral.diffusion(1.0), v, 20)
    some = np.random.default_rng(2).choice(n, 10_000, replace=False)
    features.walk_features(jax.random.key(0), g, f, 1, 0.5)  # what only the first call does
    found = []
    for call in range(calls):
        keys = jax.random.split(jax.random.fold_in(jax.random.key(turn), call))
        phi, building = cost(features.walk_features, keys[0], g, f, 16, 0.1)
        _, product = cost(through, phi, v)
        halfway = phi.T @ v
        del phi
        estimate = features.walk_features(keys[1], g, f, 16, 0.1, nodes=some) @ halfway
        fast = kernels.chebyshev_product(g, spectral.diffusion(1.0), v, 6)
        one = {
            "features": building,
            "product": product,
            "chebyshev": least([cost(kernels.chebyshev_product, g, spectral.diffusion(1.0), v, 6)[1] for _ in range(3)]),
            "expm_multiply": cost(expm_multiply, 0.5 * W, v, traceA=0.0)[1],
        }
        errors = {"features": estimate - truth[some], "chebyshev": (fast - truth)[some]}
        one["errors"] = {name: np.linalg.norm(gap) / np.linalg.norm(truth[some]) for name, gap in errors.items()}
        found.append(one)
    return found


def exactly(sizes):
    """Cost of the exact kernel matrix at each size, by eigendecomposition."""
    kernels.diffusion(ring_with_chords(300), 1.0)  # what only the first call does
    return [least([cost(kernels.diffusion, ring_with_chords(n), 1.0)[1] for _ in range(3)]) for n in sizes]


# %%
IMPORTS = """
import json, sys
import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import expm_multiply
from rfcore import features, kernels
from rfcore.evidence import cost
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.kernels import spectral
"""


def in_a_process(function, *arguments):
    """Result of one of the functions above in a process of its own, as JSON."""
    parts = (ring_with_chords, least, through, function)
    call = f"print(json.dumps({function.__name__}(*json.loads(sys.argv[1]))))"
    source = "\n\n".join([IMPORTS, *map(inspect.getsource, parts), call])
    command = [sys.executable, "-c", source, json.dumps(arguments)]
    one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # LAPACK's threads spin while they wait: that is no work
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread).stdout)


with evidence.Clock() as clock:
    # For each size the calls of each process, one process per round.
    measured = {n: [] for n in SIZES["calls"]}
    for turn in tqdm(range(SIZES["rounds"]), desc="rounds", leave=False):
        for n, calls in SIZES["calls"].items():
            measured[n].append(in_a_process(approximate, n, calls, turn))
exact = in_a_process(exactly, SIZES["exact"])

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Least processor time over the rounds, mean memory, and error of one product against the number of nodes; diffusion kernel, sigma = 1, ring with chords. Features: 16 walks per node, p = 0.1. The exact kernel matrix ends where we stopped; dotted, the cube and the square of N, up to where it would fill 4 GiB. Chebyshev's memory, five vectors, is too little to read off a process.", "name": "fig-ugrf-scale"}, "image": {"alt": "Three log-log panels against the number of nodes. Time and memory of the features rise along straight lines of slope one; the exact kernel's rise much more steeply and stop early; Chebyshev's product takes far less time. In the third panel the error of features is flat near a tenth, and Chebyshev's flat near one in a hundred million."}}
nodes = np.array(list(measured))
first_calls = min(SIZES["calls"].values())  # as many of each process as every size has


def of(method, what):
    """One quantity of one method, shape (repeats, sizes)."""
    return np.array([[call[method][what] for calls in rounds for call in calls[:first_calls]] for rounds in measured.values()]).T


def exponents(n, y):
    """Slopes of lines fitted to the logs by least squares, one per row of y."""
    return np.polyfit(np.log(n), np.log(y).T, 1)[0]


full = np.sqrt(4 * 2**30 / 24)  # where weights, eigenvectors and kernel, float64, fill 4 GiB
fig, (left, middle, right) = plt.subplots(1, 3, figsize=(9.6, 3.7))
for ax, what, unit, power in ((left, "processor", 1, 3), (middle, "bytes", 2**-20, 2)):
    small, y = np.array(SIZES["exact"]), unit * np.array([spent[what] for spent in exact])
    seen = y > 0  # what fits into memory that the process had anyway does not show
    ax.plot(small[seen], y[seen], "o-", color=plotting.COLOURS["exact"])
    ahead = np.array([small[-1], full])
    law = y[-1] * (ahead / small[-1]) ** power
    ax.plot(ahead, law, ":", color=plotting.COLOURS["exact"])
    ax.annotate("exact matrix", (full, law[-1]), xytext=(6, -4), textcoords="offset points", color=plotting.COLOURS["exact"])
    of_features = of("features", what).min(axis=0) if what == "processor" else of("features", what).mean(axis=0)
    ax.plot(nodes, unit * of_features, "o-", color=plotting.COLOURS["diffusion"])
left.plot(nodes, of("chebyshev", "processor").min(axis=0), "o-", color=plotting.COLOURS["chebyshev"])
left.set(xlabel="nodes", ylabel="processor seconds", xscale="log", yscale="log", title="time")
middle.set(xlabel="nodes", ylabel="MiB above the graph", xscale="log", yscale="log", title="memory")
for name, colour, label in (("features", "diffusion", "features"), ("chebyshev", "chebyshev", "Chebyshev, degree 6")):
    errors = of("errors", name).mean(axis=0)
    right.plot(nodes, errors, "o-", color=plotting.COLOURS[colour])
    right.annotate(label, (nodes[0], errors[0]), xytext=(0, 8), textcoords="offset points", color=plotting.COLOURS[colour])
right.set(xlabel="nodes", ylabel="relative error of Kv", xscale="log", yscale="log", title="error", ylim=(1e-9, 3))
plt.show()

# %% tags=["hide-input"]
rows = ["| nodes | features: s | processor s | peak of the process, GiB | product, ms | Chebyshev, ms | expm_multiply, ms | error |"]
rows.append("|---|---|---|---|---|---|---|---|")
for i, n in enumerate(nodes):
    features_s, product, chebyshev, general = (of(name, "wall")[:, i].min() for name in ("features", "product", "chebyshev", "expm_multiply"))
    rows.append(
        f"| {n:,} | {features_s:.2f} | {of('features', 'processor')[:, i].min():.2f} | {of('features', 'peak')[:, i].mean() / 2**30:.2f} "
        f"| {1e3 * product:.1f} | {1e3 * chebyshev:.1f} | {1e3 * general:.1f} | {of('errors', 'features')[:, i].mean():.3f} |"
    )
display(Markdown("\n".join(rows)))
exact_power = exponents(SIZES["exact"], np.array([[spent["processor"] for spent in exact]]))[0]
years = exact[-1]["processor"] * (largest / SIZES["exact"][-1]) ** 3 / 86400 / 365
print(f"exact matrix: time ~ N^{exact_power:.2f}")
print(f"the exact matrix at {largest:,} nodes: {years:.2g} years at the cube of N, and {8e-12 * largest**2:,.2g} TB")

# %% [markdown]
# (ugrf-abstract)=
# ### Subquadratic?
#
# The claims on time are about processor seconds, of all threads: other work on the machine adds little to them. The time of the
# *first* call of a process is what a user waits for. The *least* time of many calls is that of a warm cache, which small graphs
# fit into and large ones do not: measured so, small graphs are faster, and the exponent larger.

# %%
first = exponents(nodes, of("features", "processor"))
warm = np.array([min(call["features"]["processor"] for calls in measured[n] for call in calls) for n in nodes])
warm = exponents(nodes, warm[None])[0]
ledger.decide("ugrf/text-abstract/subquadratic", evidence.timed(evidence.bound(first, 2.0), profile, clock))

# %% tags=["hide-input"]
print(f"exponent of the time, first call of each process: {first.mean():.2f}, from {first.min():.2f} to {first.max():.2f}")
print(f"exponent of the time, least of all calls: {warm:.2f}")
memory_powers = exponents(nodes, of("features", "bytes"))
print(f"exponent of the memory: {memory_powers.mean():.2f}, from {memory_powers.min():.2f} to {memory_powers.max():.2f}")

# %% [markdown]
# Far below two, then. Whether it is *one* depends on which of the two is meant; half their difference counts as uncertainty.

# %%
scatter, apart = first.std(ddof=1) / np.sqrt(len(first)), abs(first.mean() - warm) / 2
linear = evidence.bound((first.mean() + warm) / 2, 1.1, se=np.hypot(scatter, apart))
ledger.decide("ugrf/extra-scale/time", evidence.timed(linear, profile, clock))

# %%
if profile == "paper":
    memory_grows = evidence.bound(memory_powers, 1.1)
else:
    memory_grows = evidence.not_run("Only the first call of a process shows its memory, and quick has one process per size.")
ledger.decide("ugrf/extra-scale/memory", memory_grows)

# %%
growth = of("errors", "features")[:, -1] / of("errors", "features")[:, 0]
ledger.decide("ugrf/extra-scale/error", evidence.bound(growth, 1.1))

# %%
seconds = of("features", "processor")[:, -1] + of("product", "processor")[:, -1]
if largest == 1_000_000:
    peak = evidence.bound(of("features", "peak")[:, -1] / 2**30, 4.0, unit="GiB")
else:
    peak = evidence.not_run("A million nodes at the paper profile only.")
ledger.decide("ugrf/extra-scale/million-memory", peak)

# %%
million = evidence.timed(evidence.bound(seconds, 30.0, unit="s"), profile, clock)
ledger.decide("ugrf/extra-scale/million-time", million)

# %% [markdown]
# (ugrf-workers)=
# ### Trivially distributed?
#
# "It can also be trivially distributed across machines", says the abstract. Yes: walkers never meet. Ours go in
# chunks, each with random numbers of its own, so that the features depend on the key alone and not on who walks. Threads
# of this process, or other processes, which must first be sent the graph and then send features back:

# %%
tame, turns, first = ring_with_chords(SIZES["n_table"]), {}, None
pools = {name: ThreadPoolExecutor(n) for n, name in enumerate(("one thread", "two threads", "three threads"), start=1)}
pools["two processes"] = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
for name, pool in pools.items():
    with pool:
        list(pool.map(modulation_table, [np.exp] * 8, [1] * 8, [True] * 8))  # workers start and import
        walk = partial(features.walk_features, jax.random.key(9), tame, modulation.diffusion(1.0), 16, 0.1, executor=pool)
        phi, spent = cost(walk)
    first = phi.matrix if first is None else first
    same = [np.array_equal(getattr(phi.matrix, part), getattr(first, part)) for part in ("indptr", "indices", "data")]
    turns[name] = {**spent, "same": all(same)}
    print(f"{name}: {spent['wall']:.2f} s on {tame.n_nodes:,} nodes, bit-equal to one thread: {all(same)}")
del phi, first

# %%
ledger.decide("ugrf/extra-workers/bit-equal", evidence.bound(sum(not turn["same"] for turn in turns.values()), 0, exact=True))

# %% [markdown]
# (ugrf-spreading)=
# ## A task for a million nodes: whose community is whose?
#
# On the power-law graph every node belongs to one of four communities, and one node in twenty says which. Label
# spreading guesses the rest: spread the known labels with a kernel, $K Y$ with one column per community, and take the
# largest entry. We use the diffusion kernel with $\sigma = 2$, and find the same four products in several ways. To compare
# with: a vote of the known neighbours, $WY$.

# %%
g, community = power_law(SIZES["n_task"])
degree, g, sigma = g.neighbour_counts, g.normalised(), 2.0
known = np.random.default_rng(3).random(g.n_nodes) < 0.05
labels = np.zeros((g.n_nodes, 4))
labels[known, community[known]] = 1.0
asked = ~known & (degree > 0)


def spread_by_features(key, n_walks, p_halt, g=g, labels=labels):
    """The products from two independent sets of features, never both in memory."""
    f, keys = modulation.diffusion(sigma), jax.random.split(key)
    halfway = features.walk_features(keys[0], g, f, n_walks, p_halt).T @ labels
    return features.walk_features(keys[1], g, f, n_walks, p_halt) @ halfway


ways = {
    "Chebyshev, degree 12": lambda: kernels.chebyshev_product(g, spectral.diffusion(sigma), labels, 12),
    "vote of the neighbours": lambda: g.to_scipy() @ labels,
    "expm_multiply": lambda: expm_multiply(sigma**2 / 2 * g.to_scipy(), labels, traceA=0.0) * np.exp(-(sigma**2) / 2),
    "features, 16 walks, p = 0.1": lambda: spread_by_features(jax.random.key(0), 16, 0.1),
    "features, 16 walks, p = 0.5": lambda: spread_by_features(jax.random.key(1), 16, 0.5),
    "features, 4 walks, p = 0.5": lambda: spread_by_features(jax.random.key(2), 4, 0.5),
}
spread, truth = {}, None
for name, way in tqdm(ways.items(), desc="ways", leave=False):
    scores, spent = cost(way)
    truth = scores if truth is None else truth
    right_answers = np.mean(scores[asked].argmax(axis=1) == community[asked])
    spread[name] = {**spent, "right": right_answers, "error": np.linalg.norm(scores - truth) / np.linalg.norm(truth)}
    del scores

# %% tags=["hide-input"]
rows = ["| way | seconds | processor s | relative error | right answers |", "|---|---|---|---|---|"]
for name, one in spread.items():
    numbers = f"{one['wall']:.1f} | {one['processor']:.1f} | {one['error']:.1e} | {one['right']:.3f}"
    rows.append(f"| {name} | {numbers} |")
display(Markdown("\n".join(rows)))
print(f"{g.n_nodes:,} nodes, {len(g.weights) // 2:,} edges, largest degree {degree.max():,}, {asked.sum():,} labels asked for")

# %% [markdown]
# One draw each. Several, of walks and of the labels that are known, on a graph of a fifth of that size at most:

# %%
wild, communities = power_law(SIZES["n_table"])
wild_degree, wild = wild.neighbour_counts, wild.normalised()
wrong = np.empty((SIZES["n_repeats"], 2))
for repeat in tqdm(range(SIZES["n_repeats"]), desc="repeats", leave=False):
    given = np.random.default_rng((4, repeat)).random(wild.n_nodes) < 0.05
    one_hot, rest = np.zeros((wild.n_nodes, 4)), ~given & (wild_degree > 0)
    one_hot[given, communities[given]] = 1.0
    by_walks = spread_by_features(jax.random.fold_in(jax.random.key(4), repeat), 16, 0.1, wild, one_hot)
    for i, scores in enumerate((by_walks, wild.to_scipy() @ one_hot)):
        wrong[repeat, i] = np.mean(scores[rest].argmax(axis=1) != communities[rest])
ledger.decide("ugrf/extra-spreading/accuracy", evidence.order(wrong[:, 0], wrong[:, 1]))

# %% [markdown]
# (ugrf-products)=
# ## For one product, do not walk
#
# The Chebyshev expansion multiplies by the sparse $W$ six times and has seven correct digits. Features multiply by a
# matrix with some hundred entries a row, twice, after they were built. It is no contest, and it does not become
# one when the same features are used again: each further product through features costs more than a Chebyshev product
# from nothing.

# %%
faster = of("features", "processor") / of("chebyshev", "processor")
again = of("product", "processor") / of("chebyshev", "processor")
print("building features takes", ", ".join(f"{r:.0f}" for r in faster.mean(axis=0)), "times a Chebyshev product's time")
print("a further product with them takes", ", ".join(f"{r:.1f}" for r in again.mean(axis=0)), "times")

# %% [markdown]
# Five processes are few where times are skewed. Five more, on the largest graph alone, and the geometric mean of the ratios:

# %%
with evidence.Clock() as later:
    more = [in_a_process(approximate, largest, 1, turn)[0] for turn in range(SIZES["rounds"], SIZES["rounds_of_products"])]
ratios = np.append(faster[:, -1], [one["features"]["processor"] / one["chebyshev"]["processor"] for one in more])
print(f"on {largest:,} nodes, {len(ratios)} processes: from {ratios.min():.0f} to {ratios.max():.0f} times")
wins = evidence.bound(ratios, 10.0, side="above", geometric=True, unit="times")
wins = evidence.timed(wins, profile, clock)
ledger.decide("ugrf/extra-products/chebyshev-wins", evidence.timed(wins, profile, later))

# %% [markdown]
# (ugrf-subsets)=
# ## Where the walks are worth it: a few nodes of a large graph
#
# What Chebyshev cannot do is to look at a few nodes only: the block $K_{SS}$ between 100 nodes costs it 100
# products with the whole graph. Walks start where one wants them. Here are the features of 100 random nodes
# of the tame graph, as that grows a hundredfold, in processes of their own:


# %%
def few_nodes(sizes, turns):
    """Least processor time of 20 calls for the features of 100 nodes, in each turn, at each size."""
    f, seconds = modulation.diffusion(1.0), []
    graphs = [ring_with_chords(n) for n in sizes]
    few = [np.random.default_rng(2).choice(n, 100, replace=False) for n in sizes]
    for turn in turns:
        keys = jax.random.split(jax.random.key(turn), 21)
        seconds.append([])
        for g, nodes in zip(graphs, few, strict=True):
            features.walk_features(keys[0], g, f, 16, 0.1, nodes=nodes)  # makes the tables by which walkers read the graph
            calls = [cost(features.walk_features, key, g, f, 16, 0.1, nodes=nodes)[1] for key in keys[1:]]
            seconds[-1].append(least(calls)["processor"])
    return seconds


with evidence.Clock() as later:
    rounds = [in_a_process(few_nodes, list(map(int, nodes)), turns) for turns in SIZES["rounds_of_few"]]
of_few = np.concatenate(rounds)

# %% tags=["hide-input"]
columns = 100 * of("chebyshev", "processor").min(axis=0)
for n, seconds, whole in zip(nodes, np.median(of_few, axis=0), columns, strict=True):
    print(f"{n:>9,} nodes: features of 100 of them {1e3 * seconds:6.1f} ms; 100 Chebyshev products {whole:6.1f} s")

# %%
block_powers = exponents(nodes, of_few)
cheap = evidence.bound(block_powers, 0.5, robust=True)
ledger.decide("ugrf/extra-subsets/cost", evidence.timed(cheap, profile, later))

# %% [markdown]
# There is another deterministic rival, which also stays local: *push* the power series of $K^{1/2}$ out from the
# nodes of $S$, as sparse rows, $\sum_{k \le d} f(k)\, W^k[S, :]$, and multiply the rows with each other. These are the features
# without the randomness. Push wins while few hops matter. Its cost grows with the number of nodes within $d$ hops,
# and on a graph with hubs that is soon everybody.
#
# The blocks: the largest hubs of a power-law graph; and a snowball, the first nodes that a breadth-first search
# meets. Short range is $\sigma = 1$, long range $\sigma = 3$. Features get 256 walks per node; push and the Chebyshev columns get
# the least degree with no larger error, push up to degree 3.

# %%
degree = wild_degree
hubs = np.argsort(-degree)[: SIZES["n_hubs"]]
n_snowball = SIZES["n_observed"] * 5 // 4
centre = int(np.flatnonzero(degree == 6)[0])
snowball = breadth_first_order(wild.to_scipy(), centre, return_predecessors=False)[:n_snowball]


def by_columns(nodes, sigma, degree):
    """K[S, S] from |S| Chebyshev products."""
    unit = np.zeros((wild.n_nodes, len(nodes)))
    unit[nodes, np.arange(len(nodes))] = 1.0
    return kernels.chebyshev_product(wild, spectral.diffusion(sigma), unit, degree)[nodes]


def by_push(nodes, sigma, degree):
    """K[S, S] from the power series of the root of K, to the given degree, in sparse rows."""
    rows = kernels.power_series_rows(wild, modulation.diffusion(sigma)(np.arange(degree + 1)), nodes)
    return (rows @ rows.T).toarray()


def by_features(nodes, sigma, n_walks=256):
    """K[S, S] from two independent sets of features of S."""
    f, keys = modulation.diffusion(sigma), jax.random.split(jax.random.key(5))
    left, right = (features.walk_features(key, wild, f, n_walks, 0.1, nodes=nodes) for key in keys)
    return (left @ right.T).toarray()


def errors_of(estimate, truth):
    """Relative Frobenius errors, of all entries and of those off the diagonal."""
    off, gap = ~np.eye(len(truth), dtype=bool), estimate - truth
    norm = np.linalg.norm
    return {"error": norm(gap) / norm(truth), "off": norm(gap[off]) / norm(truth[off])}


def least_degree(way, degrees, truth, enough):
    """Cost, degree and error of a way to a block, at the first degree with small enough an error."""
    for degree in degrees:
        estimate, spent = cost(way, degree)
        found = errors_of(estimate, truth)
        if found["error"] <= enough:
            break
    return {**spent, **found, "degree": degree}


def block(nodes, sigma):
    """Errors and costs of the three ways to one block."""
    truth = by_columns(nodes, sigma, 14)
    by_features(nodes, sigma, 1)  # the tables by which walkers read the graph are made once
    estimate, walked = cost(by_features, nodes, sigma)
    found = errors_of(estimate, truth)
    error = found["error"]
    return {
        "truth": truth,
        "features": {**walked, **found},
        "push": least_degree(partial(by_push, nodes, sigma), range(1, 4), truth, error),
        "columns": least_degree(partial(by_columns, nodes, sigma), range(2, 13, 2), truth, error),
    }


blocks = {}
for name, chosen in tqdm({"hubs": hubs, "snowball": snowball}.items(), desc="blocks", leave=False):
    for sigma in (1.0, 3.0):
        blocks[name, sigma] = block(chosen, sigma)

# %% tags=["hide-input"]
rows = ["| block | sigma | features, s | error | off the diagonal | push, s | degree | error | columns, s | degree | error |"]
rows.append("|---|---|---|---|---|---|---|---|---|---|---|")
for (name, sigma), one in blocks.items():
    walked, push, columns = one["features"], one["push"], one["columns"]
    rows.append(
        f"| {len(one['truth'])} {name} | {sigma:g} | {walked['wall']:.3f} | {walked['error']:.3f} | {walked['off']:.2f} "
        f"| {push['wall']:.3f} | {push['degree']} | {push['error']:.3f} "
        f"| {columns['wall']:.2f} | {columns['degree']} | {columns['error']:.3f} |"
    )
display(Markdown("\n".join(rows)))
print(f"{wild.n_nodes:,} nodes, mean degree {degree.mean():.1f}, the hubs' {degree[hubs].min():,} to {degree[hubs].max():,}")

# %%
far = blocks["hubs", 3.0]
enough = [far[way] for way in ("push", "columns") if far[way]["error"] <= far["features"]["error"]]
ratios = []
with evidence.Clock() as clock:
    for _ in range(SIZES["n_timed"]):
        rivals = [cost(by_columns, hubs, 3.0, far["columns"]["degree"])[1], *(way for way in enough if way is not far["columns"])]
        walked = cost(by_features, hubs, 3.0)[1]
        ratios.append(min(way["processor"] for way in rivals) / walked["processor"])
quicker = evidence.bound(np.array(ratios), 5.0, side="above", unit="times")
ledger.decide("ugrf/extra-subsets/long-range-hubs", evidence.timed(quicker, profile, clock))

# %% [markdown]
# ### A posterior, with its covariance
#
# A Gaussian process on the snowball at long range: four nodes in five are observed, the others predicted, mean and
# covariance. The kernel comes from the exact block, or from one shared set of features, which keeps it positive
# semidefinite at the price of a bias on the diagonal. The data are drawn from the exact process.

# %%
seen = np.arange(SIZES["n_observed"])
truth = blocks["snowball", 3.0]["truth"]
noise = 0.1 * np.mean(np.diag(truth))
rng = np.random.default_rng(6)
y = rng.multivariate_normal(np.zeros(len(truth)), truth + noise * np.eye(len(truth)))


def posterior(K):
    """Mean and covariance at the unseen nodes."""
    return jax.block_until_ready(gp.posterior(K, y[seen], noise, seen))


def shared(n_walks):
    """phi phi^T from one set of features of the snowball."""
    phi = features.walk_features(jax.random.key(7), wild, modulation.diffusion(3.0), n_walks, 0.1, nodes=snowball)
    return (phi @ phi.T).toarray()


posterior(truth)  # compile
(mean, covariance), gp_columns = cost(lambda: posterior(by_columns(snowball, 3.0, 8)))
posteriors = {}
for n_walks in (256, 1024, 4096):
    (about, spread_about), spent = cost(lambda n_walks=n_walks: posterior(shared(n_walks)))
    posteriors[n_walks] = {
        **spent,
        "mean": np.linalg.norm(about - mean) / np.linalg.norm(mean),
        "sd": np.mean(np.abs(np.sqrt(np.diag(spread_about) / np.diag(covariance)) - 1)),
    }

# %% tags=["hide-input"]
print(f"{n_snowball} Chebyshev columns and solve: {gp_columns['wall']:.1f} s")
for n_walks, one in posteriors.items():
    print(
        f"features, {n_walks:4d} walks: {one['wall']:.2f} s; error of the mean {one['mean']:.2f} of its norm, "
        f"standard deviations off by {100 * one['sd']:.0f} % on average"
    )

# %% [markdown]
# ### A modulation learned on stored walks
#
# Learn $f$ itself, nine numbers, by the evidence of the same data: 50 gradients. Walks are stored once, weighted by $f$
# in every step. Without walks one needs the blocks $(W^k)_{SS}$ of eight powers, from as many products with all of the
# graph as there are nodes in $S$; after that a step is cheaper than with walks.


# %%
few, y_few, start = snowball[:50], jnp.asarray(y[:50]), jnp.asarray(modulation.diffusion(3.0)(np.arange(9)))


@jax.jit
def step_on_walks(f, deposits):
    """Log evidence and its gradient in f, kernel from stored walks."""

    def value(f):
        return gp.log_evidence_of_features(deposits.with_modulation(modulation.from_values(f)), y_few, noise)

    return jax.value_and_grad(value)(f)


@jax.jit
def step_on_powers(f, powers):
    """Log evidence and its gradient in f, kernel from exact powers of W."""

    def value(f):
        return gp.log_evidence(jnp.tensordot(jnp.convolve(f, f), powers, axes=1), y_few, noise)

    return jax.value_and_grad(value)(f)


def stored_walks():
    """Deposits of 64 walks from each node of S, on the nodes that were visited."""
    lengths = walk_lengths.draw(jax.random.key(8), len(few), 64, 0.1)
    cut = lengths._replace(values=np.minimum(lengths.values, len(start) - 1))
    deposits = walks.simulate(jax.random.key(8), wild, cut, nodes=few)
    visited, node = np.unique(deposits.node, return_inverse=True)
    return features.by_step(deposits._replace(node=node.astype(np.int32), n_nodes=len(visited)))


def powers_of_weights():
    """(W^k)[S, S] for all k that f * f reaches."""
    W, column, found = wild.to_scipy(), np.zeros((wild.n_nodes, len(few))), []
    column[few, np.arange(len(few))] = 1.0
    for _ in range(2 * len(start) - 1):
        found.append(column[few])
        column = W @ column
    return jnp.asarray(np.stack(found))


def learned(store, step):
    """Cost of storing, and of 50 gradients."""
    stored, first = cost(store)
    jax.block_until_ready(step(start, stored))  # compile
    _, after = cost(lambda: [jax.block_until_ready(step(start, stored)) for _ in range(50)])
    return first["wall"], after["wall"]


learning = {"walks": learned(stored_walks, step_on_walks), "powers": learned(powers_of_weights, step_on_powers)}
for name, (first, after) in learning.items():
    print(f"{name}: {first:.2f} s to store, {after:.2f} s for 50 gradients, on {wild.n_nodes:,} nodes")

# %% [markdown]
# (ugrf-decision)=
# ## What pays when
#
# From the measurements above, by a fixed rule: take the features if they are at least twice as fast
# and their error is at most a quarter; otherwise the rival. The error of a block is that of its entries off the
# diagonal: the diagonal is large and easy, and hides the rest.

# %% tags=["hide-input"]
top = {name: of(name, "wall")[:, -1].min() for name in ("features", "product", "chebyshev")}


def fastest(one):
    """The faster deterministic way to a block, of those that reach the features' error: its name, seconds, error."""
    ways = {"push": one["push"], "Chebyshev columns": one["columns"]}
    ways = {name: way for name, way in ways.items() if way["error"] <= one["features"]["error"]}
    name = min(ways, key=lambda name: ways[name]["wall"])
    return f"{name}, degree {ways[name]['degree']}", ways[name]["wall"], ways[name]["off"]


n = f"{largest:,} nodes"
small = f"{wild.n_nodes:,} nodes, hubs"
cheb = ("Chebyshev, degree 6", top["chebyshev"], of("errors", "chebyshev")[:, -1].mean())
error = of("errors", "features")[:, -1].mean()
spreads = [spread["Chebyshev, degree 12"], spread["features, 16 walks, p = 0.1"]]
cases = [
    ("one product Kv", n, top["features"] + top["product"], error, cheb),
    ("a further product, features at hand", n, top["product"], error, cheb),
    ("four products: spread labels", f"{SIZES['n_task']:,} nodes, hubs", spreads[1]["wall"], spreads[1]["error"],
     ("Chebyshev, degree 12", spreads[0]["wall"], spreads[0]["error"])),
    *((f"block of {len(one['truth'])} {name}, sigma = {sigma:g}", small, one["features"]["wall"], one["features"]["off"], fastest(one))
      for (name, sigma), one in blocks.items()),
    ("posterior with covariance, sigma = 3", small, posteriors[1024]["wall"], posteriors[1024]["mean"],
     ("Chebyshev columns, degree 8", gp_columns["wall"], 0.0)),
    ("learn f by the evidence, 50 gradients", small, sum(learning["walks"]), np.nan,
     ("exact powers", sum(learning["powers"]), 0.0)),
]  # fmt: skip
rows = ["| task | graph | features: s | error | best rival | s | error | take |", "|---|---|---|---|---|---|---|---|"]
for task, graph, ours, our_error, (name, theirs, their_error) in cases:
    take = "features" if 2 * ours < theirs and not our_error > 0.25 else "rival"
    shown = "" if np.isnan(our_error) else f"{our_error:.2g}"
    exact_or_not = f"{their_error:.1g}" if their_error else "exact"
    rows.append(f"| {task} | {graph} | {ours:.3g} | {shown} | {name} | {theirs:.3g} | {exact_or_not} | **{take}** |")
display(Markdown("\n".join(rows)))

# %% [markdown]
# ## What we found

# %% tags=["hide-input"]
ledger.close(
    seeds={"graphs": [0, 2], "vector": 1, "subsets": 2, "known labels": [3, 4], "blocks": 5, "posterior": [6, 7], "learning": 8, "workers": 9},
)

# %% [markdown]
# ## What we learned
#
# * **The promise holds.** Time grows far more slowly than the square of the nodes, and so does memory; a million nodes take
#   seconds and about two GiB, the error does not care how large the graph is, and one, two or three threads and two
#   processes give the same bits. The exact matrix would take years, and terabytes.
# * **"Linear" needs a definition.** The number of hops is linear. But once the graph outgrows the processor's cache, each hop
#   waits for memory, so that the exponent depends on whether the small graphs were timed with a warm cache or a cold one.
# * **And it is the wrong comparison.** Hardly anybody needs the exact matrix. A product $Kv$ by six sparse
#   products has seven correct digits, in a small part of the time that building the features takes and less than *one
#   product through finished features* takes; with the features at hand the noise stays at a tenth. On the labels of a
#   million nodes Chebyshev is faster by more than an order of magnitude and right more often; `expm_multiply` gives the
#   same answer more slowly: it is made for matrices of which nothing is known, and does not use that this spectrum
#   lies between -1 and 1.
# * **What walks have that products lack is a place.** The features of a hundred nodes take a millisecond or two in a
#   graph of ten thousand nodes and in one of a million. So they pay where a task needs many entries of $K$ between *few*
#   nodes: covariance blocks, posteriors with covariance, likelihoods with a $\log\det$, a modulation learned on
#   stored walks. There the rival pays one pass over the whole graph for each node and degree.
# * **The other local method sets the limit.** Pushing the same power series out without randomness beats walks
#   at short range, where a hop or two is all that counts. At long range its sparse rows fill the graph, on a graph
#   with hubs already at the third hop, while walks stay as sparse as they are.
# * **Blocks look better than they are.** The diagonal makes up most of the norm. Between distant hubs the entries off
#   the diagonal are small, walks rarely meet, and 256 of them per node leave errors of half the entries at long range and
#   of more than all at short: hence "rival" in two rows where walks are more than ten times faster. Neighbours share many
#   places, and for them the same number of walks is enough.
