# %% [markdown]
# # What does a walk cost? (Algorithm 1, Equation 18)
#
# * **A feature vector costs only its own walks**: $m$ walkers with $1/p$ deposits each
#   on average, where $p$ is the termination probability, in a graph of any size. The
#   time per feature grows about as the sixth root of the number of nodes; we take it
#   that the processor's caches are the reason.
# * **Drawing all lengths first changes nothing but the speed.** Our engine has the
#   same moments as a plain loop of Algorithm 1, entry by entry, and is more than ten
#   times as fast.
# * **Few values of $f$ are needed.** For 16 walks from each of a million nodes fewer
#   than two hundred will do, and ten times as many walks need about twenty more.
#
# **What the paper claims.** "The time complexity of Alg. 1 is subquadratic in the number
# of nodes" {cite:p}`reid2023universal`, Section 2, where exact kernels cost $O(N^3)$.
# The walks need $f$ up to the length of the longest, and "the minimum value of $b$ to
# ensure that all walkers are shorter than $b$ with high probability scales
# logarithmically with $m$" (Appendix A.1).
#
# **The idea.** A loop and an engine that are the same algorithm have features with the
# same mean, $\sum_k f(k) W^k$, and the same mean square, which has a closed form
# ({py:func}`rfcore.theory.walk_feature_moments`). The clock tells what each of them
# costs.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import inspect
import itertools
import random
import time
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import scipy.sparse as sp
from IPython.display import Markdown
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.ugrf import formulas, reference
from rfcore import features, theory, walks
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/06_engine", profile)
N_LOOPS, N_BATCHES, NODES, N_TURNS, N_RACES = {
    "paper": (4000, 4000, (10_000, 30_000, 100_000, 300_000), 60, 40),
    "quick": (1000, 2000, (10_000, 30_000), 3, 2),
}[profile]


def python_rng(name):
    """A generator of Python's own, for the loop."""
    return random.Random(int(ledger.rng(name).integers(2**32)))


# %% [markdown]
# (ugrf-alg-1)=
# ## Algorithm 1, line by line
#
# As printed it is a loop over walkers and steps: {py:mod}`~companion.papers.ugrf.reference`,
# in plain Python, on lists. One line differs. The paper hops first and halts
# afterwards, which throws the last hop away (and has nowhere to go from an isolated
# node); we halt first.

# %% tags=["hide-input"]
body = inspect.getsource(reference.walk_features).split('"""')[2].strip("\n")
Markdown(f"```python\n{body}\n```")

# %% [markdown]
# Our engine draws all lengths up front, sorts the walkers by length, and moves all
# those still walking at once. Is it the same algorithm? The graph is a wheel of six
# nodes with weights between 1/2 and 2: every node is near every other, so that each
# entry is well sampled, and numbers of neighbours differ from weighted degrees.
#
# Weights and modulation meet in one place only, the product of load and $f$. So "taking
# $\widetilde{\mathbf W} \to \beta \widetilde{\mathbf W}$ is identical to
# $f(i) \to f(i)\, \beta^i$" (Section 3.5), walk by walk and not just on average: a
# modulation that is learned contains the kernel's lengthscale.

# %%
f, rng = modulation.diffusion(1.0), python_rng("loop")
spokes = nx.to_numpy_array(nx.wheel_graph(6))
half = np.triu(spokes * ledger.rng("weights").uniform(0.5, 2, (6, 6)))
wheel = Graph.from_scipy(half + half.T).normalised()
looped, lists = np.zeros((N_LOOPS, 6, 6)), reference.as_lists(wheel)
for repeat in tqdm(range(N_LOOPS), desc="loops", leave=False):
    rows = reference.walk_features(rng, lists, f, 4, 0.2, range(6))
    for start, row in enumerate(rows):
        looped[repeat, start, list(row)] = list(row.values())
nodes = np.tile(np.arange(6), N_LOOPS)
engine = features.walk_features(ledger.key("engine"), wheel, f, 4, 0.2, "iid", nodes)
engine = engine.toarray().reshape(N_LOOPS, 6, 6)
mean, square = theory.walk_feature_moments(wheel, f, 4, 0.2)

karate = Graph.from_networkx(datasets.graph("karate", fallback=True)).normalised()
lengths, apart = np.arange(walks.lengths.longest(0.1) + 1), []
three = (
    modulation.diffusion(1.0),
    modulation.regularised_laplacian(1.0, 2),
    modulation.p_step(20.0, 2),
)
for beta, of_karate in itertools.product((0.3, 0.9, 1.5), three):
    values = of_karate(lengths)
    by_weights, by_f = (
        features.walk_features(
            ledger.key("scaled"), g, modulation.from_values(v), 16, 0.1, "iid"
        ).toarray()
        for g, v in ((karate.scaled(beta), values), (karate, values * beta**lengths))
    )
    apart.append(np.abs(by_weights - by_f).max() / np.abs(by_f).max())

# %% tags=["hide-input"]
found = np.stack([looped, looped**2, engine, engine**2], axis=1)
wanted = np.stack([mean, square] * 2)
largest = wanted.max(axis=(1, 2), keepdims=True)
# Two products per step on either side.
rounding = 4 * len(lengths) * np.finfo(float).eps
ledger.decide({
    "ugrf/alg-1/same-law": evidence.unbiased(found, wanted, largest / 20),
    "ugrf/alg-1/scaled-weights": evidence.identity(apart, 0.0, rounding),
})

# %% [markdown]
# ## The time per feature
#
# The cost of one feature vector is that of its own walks: $m$ times $1/p$ deposits on
# average, whatever $N$. We time it on graphs that are two random rings laid over each
# other (degree about four): the features of 200 nodes with the loop, of all nodes with
# the engine, on one core, with four walks per node and $p = 0.1$. We take processor
# time, on which other programs have little effect. Below ten thousand nodes the
# engine's time is that of making a call, not of the features.


# %%
def two_rings(n):
    """Nodes on two random rings: degree 4, but for a few edges that both share."""
    rng = ledger.rng("rings", n)
    rings = [rng.permutation(n) for _ in range(2)]
    i, j = np.concatenate(rings), np.concatenate([np.roll(ring, 1) for ring in rings])
    ends = np.r_[i, j], np.r_[j, i]
    return Graph.from_scipy(sp.coo_array((np.ones(4 * n), ends), shape=(n, n)))


rings = {n: two_rings(n).normalised() for n in NODES}
ring_lists = {n: reference.as_lists(g) for n, g in rings.items()}
per_node = np.empty((N_TURNS, 2, len(rings)))  # seconds, of the loop and of the engine
rng = python_rng("starts and walks of the loop")
with evidence.Clock() as clock, ThreadPoolExecutor(1) as one_core:
    for turn in tqdm(range(N_TURNS), desc="turns", leave=False):
        key = ledger.key("timed walks", turn)
        for column, (n, g) in enumerate(rings.items()):
            chosen = [rng.randrange(n) for _ in range(200)]
            began = time.process_time()
            reference.walk_features(rng, ring_lists[n], f, 4, 0.1, chosen)
            middle = time.process_time()
            features.walk_features(key, g, f, 4, 0.1, "iid", executor=one_core)
            ended = time.process_time()
            per_node[turn, :, column] = (middle - began) / 200, (ended - middle) / n
logs = np.log(per_node).reshape(-1, len(rings))
powers = np.polyfit(np.log(NODES), logs.T, 1)[0].reshape(N_TURNS, 2)

# %% tags=["hide-input"]
plotting.show_panels(
    NODES, 1e6 * per_node, lines={"plain Python": "exact", "engine": "first"},
    x_label="number of nodes N", y_label="microseconds per node",
    caption="Ours. Processor time for the feature vector of one node, four walks, "
    "p = 0.1, degree about four, one core. Bands: one standard error of the mean over "
    "the turns.",
    alt="Two nearly flat lines on log-log axes: the plain Python loop far above the "
    "engine, both rising a little with N.",
)  # fmt: skip
subquadratic = evidence.bound(powers, 1.0)
ledger.decide({"ugrf/alg-1/subquadratic": evidence.timed(subquadratic, profile, clock)})

# %% [markdown]
# (ugrf-engine)=
# ## How fast do the walkers walk?
#
# The time per feature grows slowly: in the median of the turns (some are held up by
# other work) it grows with the number of nodes like a power of about 0.16. Walks on
# larger graphs miss the processor's caches more often.
#
# Then the loop and the engine take turns at building all features of one citation graph
# (cora, $p = 0.1$, 16 walks per node), sparse assembly included, and wall-clock time
# decides.

# %%
cora = Graph.from_networkx(datasets.graph("cora", fallback=True)).normalised()
cora_lists, rng = reference.as_lists(cora), python_rng("loop on cora")
seconds = np.empty((N_RACES, 2))  # of the loop and of the engine
with evidence.Clock() as race:
    for turn in tqdm(range(N_RACES), desc="turns", leave=False):
        key, began = ledger.key("walks on cora", turn), time.perf_counter()
        reference.walk_features(rng, cora_lists, f, 16, 0.1, range(cora.n_nodes))
        middle = time.perf_counter()
        features.walk_features(key, cora, f, 16, 0.1, "iid")
        seconds[turn] = middle - began, time.perf_counter() - middle
ratios = seconds[:, 0] / seconds[:, 1]

# %% tags=["hide-input"]
best = seconds.min(axis=0)
plotting.table(
    np.stack([1000 * best, 16 * cora.n_nodes / best / 1000], axis=1),
    rows=["plain Python", "engine"],
    columns=["milliseconds", "thousand walks per second"],
    corner="program",
    caption=f"Ours. All features of cora, {cora.n_nodes} nodes, best of the turns.",
)
cost = evidence.slope(NODES, per_node, expected=0.0, resolution=0.2, robust=True)
faster = evidence.bound(ratios, 10, side="above", robust=True, unit="times")
ledger.decide({
    "ugrf/extra-engine/cost-per-feature": evidence.timed(cost, profile, clock),
    "ugrf/extra-engine/ten-times-faster": evidence.timed(faster, profile, race),
})

# %% [markdown]
# (ugrf-eq-18)=
# ## Equations 17 and 18: how many values of f are needed?
#
# A walk is shorter than $b$ with probability $1 - (1 - p)^b$, so all of $m$ independent
# walks are with probability $(1 - (1 - p)^b)^m$. (Eq. 17 prints a union of events where
# an intersection is meant, and Section 2 prints "$< 1 - \delta$" for
# "$\geq 1 - \delta$".) We draw lengths and count how often all walks are shorter than
# the $b$ that Eq. 18 gives for $\delta = 0.1$. Eq. 18 solves for the least $b$ at which
# this has a probability of at least $1 - \delta$, exactly and then with an
# approximation that is linear in $\log m$. We search for it instead, one step after
# another, and compare.

# %%
delta = 0.1
ensembles = list(itertools.product((1, 16, 16 * karate.n_nodes), (0.1, 0.5)))
batch = np.array([formulas.batch_size(m, p, delta) for m, p in ensembles])
longest = [
    walks.lengths.draw(ledger.key("lengths", i), N_BATCHES, m, p, "iid").values.max(
        axis=1
    )
    for i, (m, p) in enumerate(ensembles)
]
shorter = np.stack(longest, axis=1) < batch
m, p = np.array(ensembles).T
probability = (1 - (1 - p) ** batch) ** m


def least_batch(m, p, delta):
    """The least b for which m walks are all shorter with probability 1 - delta."""
    for b in itertools.count(1):
        if m * np.log1p(-((1 - p) ** b)) >= np.log1p(-delta):
            return b


cases = list(itertools.product([10**i for i in range(9)], (0.1, 0.5), (0.1, 0.01)))
searched = np.array([least_batch(*case) for case in cases])
formula = np.array([formulas.batch_size(*case) for case in cases])
second_form = [formulas.batch_size_approximation(*case) for case in cases]

# %% tags=["hide-input"]
million = formulas.batch_size(16 * 10**6, 0.1, delta)
chance = (1 - 0.9**million) ** (16 * 10**6)
plotting.table(
    [*zip(batch, probability, strict=True), (million, chance)],
    rows=[
        *(f"m = {m}, p = {p}" for m, p in ensembles),
        "m = 16 million, p = 0.1",
    ],
    columns=["b", "probability that all are shorter"],
    caption="Ours. The least b of Eq. 18 for $\\delta = 0.1$.",
)
off = np.abs(np.ceil(second_form).astype(int) - searched)
ledger.decide({
    "ugrf/eq-18/probability": evidence.unbiased(
        shorter.astype(float), probability, 0.05
    ),
    "ugrf/eq-18/exact": evidence.bound(np.abs(formula - searched), 0, exact=True),
    "ugrf/eq-18/logarithm": evidence.bound(off, 1, exact=True),
})

# %% tags=["hide-input"]
ledger.close()
