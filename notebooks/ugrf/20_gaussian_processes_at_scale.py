# %% [markdown]
# # Gaussian processes on large graphs
#
# * **A million nodes and ten thousand observations take less than a minute**, on two cores and in a fraction of a
#   laptop's memory. Four fifths of that time go into predicting everywhere; what the observations say is found in
#   seconds.
# * **A product on ten million nodes fits as well**, because features need not be
#   stored. They are walked anew for every product, and what stays in memory is little
#   more than the graph. Where neighbours are close to each other in memory, the time is
#   linear.
# * **The price is accuracy, with sixteen walks per node.** The posterior mean is the
#   true one plus noise, which matters more as more nodes are observed. And the exact
#   mean is within reach: Chebyshev products find it in a comparable time.
#
# **What the paper claims.** Random walk features scale "to much larger networks" {cite:p}`reid2023universal`; the
# largest graph of the paper has 4,350 nodes. {doc}`17_large_graphs` builds the features of a million nodes, and stores
# them. Here they do a job that needs a kernel, at sizes at which storing them would fill the memory.
# The authors went on to this job themselves {cite:p}`zhang2026graph`; {doc}`/notebooks/beyond/11_the_sequel` takes two of
# their experiments to the data of this book.
#
# **The idea.** A Gaussian process with the kernel $\phi \phi^\top$ is linear in its features, $h = \phi b$ with
# $b \sim \mathcal N(0, I)$. All that $n$ observations $y$ with noise variance $s^2$ say about it is the mean of the
# weights,
#
# $$
# \bar b = \phi_s^\top (\phi_s \phi_s^\top + s^2 I)^{-1} y ,
# $$
#
# which takes only the features $\phi_s$ of the observed nodes: few rows, and sparse ones. Predicting *all* nodes is one
# product $\phi \bar b$, which needs each row once. So walk a chunk of nodes, multiply, and forget the walks.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import jax
import matplotlib.pyplot as plt
import numpy as np

from companion import evidence, plotting
from companion.evidence import cost, processes
from companion.models import gaussian_processes
from companion.papers.ugrf import large_graphs
from rfcore import features, gp, kernels
from rfcore.features import modulation

ledger = evidence.open_page("ugrf/20_gaussian_processes_at_scale", profile)
SIZES = {
    "paper": {
        "streets": (100_000, 1_000_000, 10_000_000),
        "ring": (100_000, 316_000, 1_000_000, 3_160_000, 10_000_000),
        "stored": 1_000_000,  # largest ring whose features are stored too
        "large": (1000, [10_000]),  # side of a city, observations
        "small": (100, [25, 50, 100, 200, 400]),
        "rounds": 3, "n_repeats": 20,
    },
    "quick": {
        "streets": (20_000,), "ring": (20_000,), "stored": 20_000,
        "large": (60, [144]), "small": (60, [36, 144, 576]),
        "rounds": 2, "n_repeats": 3,
    },
}[profile]  # fmt: skip

# %% [markdown]
# (ugrf-streamed)=
# ## Ten million nodes, and nothing stored
#
# First the product by itself, $\phi (\phi^\top v)$: the estimate of $K v$ that every iterative method asks for. The
# kernel is the diffusion kernel with $\sigma = 1$; 16 walks per node, $p_{\text{halt}} = 0.1$.
# {py:class}`rfcore.features.StreamedFeatures` walk twice with the same random numbers, for $w = \phi^\top v$ and then
# for $\phi w$. A hop costs more the further it goes in memory, so there are two graphs: a city of streets
# ({py:func}`~companion.papers.ugrf.large_graphs.streets`), where neighbours are close together in memory, and, at the
# other extreme, the ring with random chords of {doc}`17_large_graphs`. Each measurement has a process of its own.

# %% tags=["hide-input"]
IMPORTS = """
from functools import partial
import jax
import numpy as np
from rfcore import features, kernels
from companion.evidence import cost
from rfcore.features import modulation
from rfcore import gp
from companion.papers.ugrf import large_graphs
"""


def seed(name, turn):
    """One whole number, which a process of its own can be sent."""
    return int(ledger.rng(name, turn).integers(2**31))


# %%
def through(phi, v):
    return phi @ (phi.T @ v)


def product(graph, n, seed, is_stored):
    """Costs of one product, streamed and stored, and how far the two are apart."""
    keys, f = jax.random.split(jax.random.key(seed)), modulation.diffusion(1.0)
    if graph == "streets":
        g = large_graphs.streets(keys[0], int(n**0.5), 0.8).normalised()
    else:
        g = large_graphs.ring_with_chords(keys[0], n).normalised()
    v = np.random.default_rng(seed).normal(size=g.n_nodes)
    walk = partial(features.walk_features, keys[1], g, f, 16, 0.1, "iid")
    found = {"asked": n, "nodes": g.n_nodes}
    result, found["streamed"] = cost(through, walk(stored=False), v)
    if is_stored:
        phi, found["building"] = cost(walk)
        other, found["product"] = cost(through, phi, v)
        found["apart"] = np.abs(result - other).max() / np.abs(other).max()
    return found


in_a_process = partial(processes.in_a_process, imports=IMPORTS)
measured = {"streets": [], "ring": []}  # what each process found
with evidence.Clock() as clock:
    for graph, found in measured.items():
        for n in SIZES[graph]:
            is_stored = graph == "ring" and n <= SIZES["stored"]
            one = partial(in_a_process, product, graph, n, helpers=[through])
            rounds = range(1 if n == 10_000_000 else SIZES["rounds"])
            found += [one(seed("product", i), is_stored) for i in rounds]

# %% tags=["hide-input"]
columns = [("streets", "streamed"), ("ring", "streamed"), ("ring", "building")]
columns = [(*column, what) for column in columns for what in ("processor", "peak")]
columns.append(("ring", "product", "processor"))


def mean(ones, method, what, **chosen):
    """Of what processes found; NaN where they did not look."""
    ones = [one for one in ones if method in one and chosen.items() <= one.items()]
    return np.mean([one[method][what] for one in ones] or [np.nan])


plotting.table(
    [[mean(measured[g], *what, asked=n) for g, *what in columns] for n in SIZES["ring"]]
    * np.array([1, 2**-30, 1, 2**-30, 1, 2**-30, 1]),
    rows=[f"{n:,}" for n in SIZES["ring"]], corner="nodes",
    columns=["streets: s", "GiB", "ring: s", "GiB", "stored: s", "GiB", "product: s"],
    caption="Ours. Processor seconds, and peak memory of the whole process with its "
    "graph, of a streamed product on streets (a square just below) and on the ring; "
    "there also of storing features, and of a product then. Means over processes.",
)  # fmt: skip

# %% [markdown]
# Streaming doubles the walking, yet takes at most 40 % longer than storing features on
# small graphs and no longer on large ones, and gives the same numbers; what is left in
# memory is the graph, a few vectors, and one chunk of walks per core. On both graphs
# the number of hops is linear. On the streets so is the time, though at a hundred
# thousand nodes it is longer than on the ring, and clearly shorter only at ten million.
# On the ring hops land anywhere in memory, and take longer as graphs outgrow the
# caches.

# %% tags=["hide-input"]
apart = [one["apart"] for one in measured["ring"] if "apart" in one]
memory = evidence.not_run("Ten million nodes at the paper profile only.")
timed = partial(evidence.timed, profile=profile, clock=clock)
growth = dict.fromkeys(measured, memory)
if profile == "paper":
    for graph, ones in measured.items():
        logs = np.log([(one["nodes"], one["streamed"]["processor"]) for one in ones])
        (power, _), covariance = np.polyfit(*logs.T, 1, cov=True)
        growth[graph] = evidence.bound(power, 1.1, se=np.sqrt(covariance[0, 0]))
    *before, peak = [one["streamed"]["peak"] / 2**30 for one in measured["ring"][-4:]]
    share = max(np.std(before, ddof=1) / np.mean(before), 0.01)
    memory = evidence.bound(peak, 24.0, se=share * peak, unit="GiB")
ledger.decide({
    "ugrf/extra-streamed/same": evidence.identity(apart, np.zeros(len(apart)), 1e-12),
    "ugrf/extra-streamed/memory": memory,
    "ugrf/extra-streamed/linear-on-streets": timed(growth["streets"]),
    "ugrf/extra-streamed/linear": timed(growth["ring"]),
})

# %% [markdown]
# (ugrf-gp-scale)=
# ## A million crossings, ten thousand of them observed
#
# A Gaussian process is useful where nodes say something about each other over some distance, and a ring with chords has
# no distances. So the graph is the city: a square of $1000 \times 1000$ crossings, whose streets are open with
# probability 0.8. The kernel is $(1 + \sigma^2 L)^{-2}$, the regularised Laplacian kernel, which is a Matérn kernel on
# a graph. Its modulation is geometric, $f(k) \propto r^k$ with $r = \sigma^2 / (1 + \sigma^2)$. With
# $p_{\text{halt}} = 1 - r$ the loads cancel it, so that every step of a walk counts the same: $p_{\text{halt}} = 0.01$,
# and walks of a hundred hops on average.
#
# The signal has to be known at all nodes: it is a draw from the process, $K^{1/2} z$ with Gaussian $z$, which a
# Chebyshev expansion makes without forming anything. One node in a hundred is observed, with a noise variance of a
# tenth of the signal's. Observed nodes get 64 walks, and for the prediction every node gets 16 more; the walks of the two sides are
# independent, so that the kernel between them is unbiased. Shared walks in $\phi_s \phi_s^\top$ act like noise.


# %%
def posteriors(phi, y, noise, n_seen, everywhere):
    """Means at all nodes from the first n observations, a column for each n; costs."""
    phi = phi.to_scipy()
    first = (gp.posterior_weights(phi[:n], y[:n], noise) for n in n_seen)
    weights, solving = cost(lambda: np.stack(list(first), axis=1))
    means, predicting = cost(lambda: everywhere @ weights)
    return means, solving, predicting


def exact_posteriors(g, kernel, degree, y, noise, n_seen, nodes):
    def columns(seen, x):
        at = np.zeros((g.n_nodes, x.shape[1]))
        at[seen] = x
        return kernels.chebyshev_matvec(g, kernel, at, degree)

    def columns_at(seen, x):
        return columns(seen, x)[seen]

    def mean(seen, y):
        product = partial(columns_at, seen)
        x = gp.conjugate_gradients(product, y, noise, 1e-6 * np.linalg.norm(y))
        return columns(seen, x)[:, 0]

    return np.stack([mean(nodes[:n], y[:n, None]) for n in n_seen], axis=1)


def city(side, n_seen, seed, is_exact, p_halt=0.01, sigma=99**0.5, degree=120):
    """Costs, and mean squared errors at the nodes that are never observed."""
    rng, keys = np.random.default_rng(seed), jax.random.split(jax.random.key(seed), 3)
    g, building = cost(lambda: large_graphs.streets(keys[0], side, 0.8).normalised())
    root, kernel = (kernels.RegularisedLaplacian(sigma, d) for d in (1, 2))
    h = kernels.chebyshev_matvec(g, root, rng.normal(size=side**2), degree)
    nodes, noise = rng.permutation(side**2), 0.1 * np.mean(h**2)
    nodes, held = np.split(nodes, [n_seen[-1]])
    y = h[nodes] + np.sqrt(noise) * rng.normal(size=len(nodes))

    f = modulation.regularised_laplacian(sigma, 2)
    walk = partial(features.walk_features, g=g, f=f, p_halt=p_halt, coupling="iid")
    phi, walking = cost(walk, keys[1], n_walks=64, nodes=nodes)
    everywhere = walk(keys[2], n_walks=16, stored=False)
    means, solving, predicting = posteriors(phi, y, noise, n_seen, everywhere)
    guesses, costs = {"prior": 0 * means, "walks": means}, {
        "the graph": building, "features of the observed nodes": walking,
        "solving for the weights": solving, "predicting everywhere": predicting,
    }  # fmt: skip
    if is_exact:
        guesses["exact"], costs["exact posterior mean"] = cost(
            exact_posteriors, g, kernel, degree, y, noise, n_seen, nodes
        )
    errors = {
        name: np.mean((guess - h[:, None])[held] ** 2, axis=0).tolist()
        for name, guess in guesses.items()
    }
    corner = np.stack([h, means[:, -1]]).reshape(2, side, side)[:, :60, :60]
    return {"costs": costs, "errors": errors, "corner": corner.tolist()}


helpers = [posteriors, exact_posteriors]
one_size = partial(in_a_process, city, *SIZES["large"], helpers=helpers)
with evidence.Clock() as later:
    cities = [one_size(seed("city", i), i == 0) for i in range(SIZES["rounds"])]

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 2, figsize=plotting.WIDE)
side, (*_, n_seen) = SIZES["large"]
corner = np.array(cities[0]["corner"])
top = np.quantile(abs(corner), 0.98)
for ax, values, title in zip(axes, corner, ("signal", "posterior mean"), strict=True):
    ax.imshow(values, vmin=-top, vmax=top, cmap="PuOr")
    ax.set(title=title, xticks=[], yticks=[])
plotting.show(
    fig,
    caption="Ours. A corner of the city, where "
    f"{n_seen / side**2:.0%} of the crossings are observed, and its posterior mean. "
    "White is zero; 2 % are beyond the scale.",
    alt="Two maps of a square of crossings. The signal is a patchwork of positive and "
    "negative regions; the posterior mean shows the larger ones, mostly paler.",
)
costs = [one["costs"] for one in cities]
stages = list(costs[0])
plotting.table(
    [[mean(costs, stage, what) for what in ("wall", "processor")] for stage in stages],
    rows=stages,
    columns=["seconds", "processor seconds"],
    corner="step",
    caption=f"Ours. {SIZES['large'][0]} x {SIZES['large'][0]} crossings, "
    f"{SIZES['large'][1][0]:,} observations; means over processes (exact: only one).",
)

# %% [markdown]
# The last row is the rival: the exact posterior mean, by conjugate gradients in which every step is a product with
# the whole kernel by a Chebyshev expansion ({py:func}`rfcore.gp.conjugate_gradients`). Walks need only the features of
# the observed nodes, so that solving again, for other data or noise, takes seconds, and predicting takes some 25
# seconds on two cores.

# %% tags=["hide-input"]
seconds = [sum(one[stage]["wall"] for stage in stages[1:4]) for one in costs]
peaks = [max(one[stage]["peak"] for stage in stages[1:4]) / 2**30 for one in costs]
memory = evidence.not_run("A million nodes at the paper profile only.")
if profile == "paper":
    memory = evidence.bound(peaks, 12.0, unit="GiB")
walked, prior = ([one["errors"][w] for one in cities] for w in ("walks", "prior"))
ledger.decide({
    "ugrf/extra-gp-scale/million-time": evidence.timed(
        evidence.bound(seconds, 300.0, unit="s"), profile, later
    ),
    "ugrf/extra-gp-scale/million-memory": memory,
    "ugrf/extra-gp-scale/beats-prior": evidence.order(walked, prior),
})

# %% [markdown]
# (ugrf-gp-observations)=
# ## What is lost by walking
#
# We do the same on cities of 10,000 crossings, twenty times, with more and more observations. One set of walks serves
# all numbers of observations: it is multiplied by one column of weights for each. One crossing in 600 has lost all four
# streets ($0.2^4$). Its variance is 1, far above that of others, and no observation says anything about it: such
# crossings make up about a quarter of the prior's squared error, which no method can take away.

# %%
side, n_seen = SIZES["small"]
seeds = [seed("small city", i) for i in range(SIZES["n_repeats"])]
small = [city(side, n_seen, one, True)["errors"] for one in seeds]
prior, walked, exact = (np.array([one[who] for one in small]) for who in small[0])

# %% tags=["hide-input"]
plotting.show_panels(
    100 * np.array(n_seen) / side**2,
    np.stack([walked / prior, exact / prior], axis=1),
    lines={"walks": "first", "exact": "exact"},
    x_label="observed nodes, %", y_label="squared error over the prior's", log="x",
    caption="Ours. Mean squared error of the posterior mean at held-out nodes, over "
    "that of the prior mean. Bands: one standard error of the mean.",
    alt="Two curves fall from just below one as more nodes are observed; that of walks "
    "stays above that of the exact posterior mean, and the gap widens.",
)  # fmt: skip

# %% [markdown]
# The rest of the error falls as observations are added; the noise of sixteen walks grows: the gap widens.
# Last, a check of the arithmetic, on 900 nodes: elimination with dense features gives the same mean.

# %%
g = large_graphs.streets(ledger.key("tiny city"), 30, 0.8).normalised()
nodes, f = np.arange(0, 900, 10), modulation.regularised_laplacian(99**0.5, 2)
seen = features.walk_features(ledger.key("seen"), g, f, 64, 0.01, "iid", nodes)
asked = features.walk_features(ledger.key("asked"), g, f, 16, 0.01, "iid", stored=False)
y, noise = np.sin(nodes), 0.01 * float(np.sum(seen.toarray() ** 2) / 90)
both = np.concatenate([seen.toarray(), asked.toarray()])
dense = gaussian_processes.posterior(both @ both.T, y, noise, 90).mean

# %% tags=["hide-input"]
ours = asked @ gp.posterior_weights(seen, y, noise, rtol=1e-13)
at = n_seen.index(side**2 // 100)  # one node in a hundred
share = ((prior - walked) / (prior - exact))[:, at]
ledger.decide({
    "ugrf/extra-gp-scale/agrees": evidence.identity(ours, dense, 1e-9, relative=True),
    "ugrf/extra-gp-scale/falls": evidence.order(walked[:, 1:], walked[:, :-1]),
    "ugrf/extra-gp-scale/most-of-exact": evidence.bound(share, 0.7, side="above"),
})

# %% tags=["hide-input"]
ledger.close()
