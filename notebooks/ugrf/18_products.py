# %% [markdown]
# # Is a product worth a walk?
#
# * **No.** The paper compares with the exact kernel matrix, and wins. **But that is the wrong comparison.** Hardly
#   anybody needs the exact matrix. Six sparse products give a product $Kv$ with seven correct digits. They take a small
#   part of the time that building the features takes, and less than *one product through finished features* takes. And
#   even with the features at hand the noise stays at a tenth.
# * **Nor is a task of four products worth it.** On the labels of a million nodes Chebyshev is more than ten times as
#   fast as 16 walks with $p_{\text{halt}} = 0.1$, and right more often than any of our walks; four short walks are
#   faster, and wrong every second time.
# * **The estimate is good enough all the same**: labels spread by walks are right far more often than a vote of the
#   known neighbours. What walks are for is another question: {doc}`19_what_pays_when`.
#
# **What the paper claims.** {cite:t}`reid2023universal` compare random walk features with the exact kernel matrix,
# which has a cubic cost, and {doc}`17_large_graphs` confirms that they win. But most uses of a kernel are products
# $Kv$, and for those numerical analysis has had better tools for decades.
#
# **The idea.** On normalised weights the diffusion kernel is a smooth function of a matrix $W$ whose spectrum lies
# between $-1$ and $1$. A Chebyshev polynomial of low degree equals that function to many digits there, and takes one
# sparse product per degree ({py:func}`rfcore.kernels.chebyshev_matvec`).

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import jax
import numpy as np
from scipy.sparse.linalg import expm_multiply
from tqdm import tqdm

from companion import evidence, plotting
from companion.evidence import cost, processes
from companion.papers.ugrf import large_graphs
from rfcore import features, kernels
from rfcore.features import modulation

ledger = evidence.open_page("ugrf/18_products", profile)
SIZES = {
    "paper": {
        "rounds": {10_000: 3, 100_000: 3, 1_000_000: 10},  # processes, by nodes
        "task": 1_000_000,
        "small task": 200_000,
        "n_repeats": 5,
    },
    "quick": {
        "rounds": {10_000: 1, 30_000: 2},
        "task": 20_000,
        "small task": 10_000,
        "n_repeats": 3,
    },
}[profile]
IMPORTS = """
import jax
import numpy as np
from scipy.sparse.linalg import expm_multiply
from rfcore import features, kernels
from companion.evidence import cost
from rfcore.features import modulation
from companion.papers.ugrf import large_graphs
"""

# %% [markdown]
# (ugrf-products)=
# ## For one product, do not walk
#
# The graph is a ring with twice as many random chords as nodes, the kernel the diffusion kernel with $\sigma = 1$. The
# Chebyshev expansion multiplies by the sparse $W$ six times. Features first have to be built, from 16 walks per node
# with $p_{\text{halt}} = 0.1$, and then multiply twice by a matrix with some hundred entries per row. SciPy's
# `expm_multiply` computes the same product for any matrix. Each measurement has a process of its own; errors are those
# of ten thousand random entries of the product, from two independent sets of features.


# %%
def one_product(n, seed):
    """Costs of the ways to a product, each in its first call, and their errors."""
    rng, keys = np.random.default_rng(seed), jax.random.split(jax.random.key(seed), 3)
    g = large_graphs.ring_with_chords(keys[0], n).normalised()
    f, heat, v = modulation.diffusion(1.0), kernels.Diffusion(1.0), rng.normal(size=n)
    some = rng.choice(n, 10_000, replace=False)
    truth = kernels.chebyshev_matvec(g, heat, v, 20)[some]
    features.walk_features(
        keys[1], g, f, 1, 0.5, "iid"
    )  # what only the first call does
    phi, building = cost(features.walk_features, keys[1], g, f, 16, 0.1, "iid")
    _, product = cost(lambda phi: phi @ (phi.T @ v), phi)
    halfway = phi.T @ v
    del phi
    walked = features.walk_features(keys[2], g, f, 16, 0.1, "iid", some) @ halfway
    calls = [cost(kernels.chebyshev_matvec, g, heat, v, 6) for _ in range(3)]
    (fast, _), spent = calls[0], [spent for _, spent in calls]
    chebyshev = {what: min(one[what] for one in spent) for what in spent[0]}
    _, general = cost(expm_multiply, 0.5 * g.to_scipy(), v, traceA=0.0)
    building["error"] = np.linalg.norm(walked - truth) / np.linalg.norm(truth)
    chebyshev["error"] = np.linalg.norm(fast[some] - truth) / np.linalg.norm(truth)
    return {
        "features": building,
        "product": product,
        "chebyshev": chebyshev,
        "expm_multiply": general,
    }


in_a_process = partial(processes.in_a_process, one_product, imports=IMPORTS)
with evidence.Clock() as clock:
    measured = {
        n: [
            in_a_process(n, int(ledger.rng("product", i).integers(2**31)))
            for i in range(rounds)
        ]
        for n, rounds in tqdm(SIZES["rounds"].items(), desc="sizes", leave=False)
    }


# %% tags=["hide-input"]
def of(method, what):
    """One quantity of one method in every process: a vector per size."""
    return [np.array([one[method][what] for one in ones]) for ones in measured.values()]


LINES = {
    "building features": ("features", "third"),
    "expm_multiply": ("expm_multiply", "fourth"),
    "with features at hand": ("product", "first"),
    "Chebyshev": ("chebyshev", "chebyshev"),
}
least = [[1e3 * np.min(x) for x in of(way, "wall")] for way, _ in LINES.values()]
plotting.show_panels(
    list(measured), [least, least],
    lines={label: colour for label, (_, colour) in LINES.items()}, log="xy",
    x_label="nodes", y_label="milliseconds",
    caption="Ours. One product with the diffusion kernel, σ = 1, by Chebyshev "
    "polynomials, by SciPy's expm_multiply and through features; and building these. "
    "Least wall time over processes.",
    alt="Four rising lines on log-log axes. Building features lies far above all "
    "others; a product through finished features and Chebyshev's are the lowest.",
)  # fmt: skip

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The same in numbers, and errors", "code_prompt_hide": "The same in numbers, and errors"}
columns = {
    "building, s": [np.min(x) for x in of("features", "wall")],
    "product, ms": [1e3 * np.min(x) for x in of("product", "wall")],
    "Chebyshev, ms": [1e3 * np.min(x) for x in of("chebyshev", "wall")],
    "expm_multiply, ms": [1e3 * np.min(x) for x in of("expm_multiply", "wall")],
    "error": [np.mean(x) for x in of("features", "error")],
    "Chebyshev's": [np.mean(x) for x in of("chebyshev", "error")],
}
plotting.table(
    np.transpose(list(columns.values())),
    rows=[f"{n:,}" for n in measured],
    columns=list(columns),
    corner="nodes",
    caption="Ours. Building features, a product with them at hand, and the same "
    "product in two deterministic ways: least time over processes; relative errors.",
)

# %% [markdown]
# It is no contest, and it does not become one when the same features are used again: each further product through
# features costs more than a Chebyshev product from scratch.

# %% tags=["hide-input"]
theirs = of("chebyshev", "processor")
building, again = (
    [x / y for x, y in zip(of(which, "processor"), theirs, strict=True)]
    for which in ("features", "product")
)
plotting.table(
    [
        [np.exp(np.log(x).mean()) for x in ratios]
        for ratios in zip(building, again, strict=True)
    ],
    rows=[f"{n:,}" for n in measured],
    columns=["building features", "a product with them"],
    corner="nodes",
    caption="Ours. Processor time in units of a Chebyshev product's, geometric means.",
)
wins = evidence.bound(building[-1], 10.0, side="above", geometric=True, unit="times")
ledger.decide({
    "ugrf/extra-products/chebyshev-wins": evidence.timed(wins, profile, clock)
})

# %% [markdown]
# `expm_multiply` gives the same answer more slowly: it is made for matrices of which nothing is known, and does not use
# the fact that this spectrum lies between $-1$ and $1$.

# %% [markdown]
# (ugrf-spreading)=
# ## A task for a million nodes: who belongs to which community?
#
# The second graph is wild: degrees follow a power law, four communities share the nodes, and hubs have thousands of
# neighbours ({py:func}`~companion.papers.ugrf.large_graphs.communities`). One node in twenty says to which community it
# belongs. Label spreading guesses the rest: spread the known labels with a kernel, $K Y$ with one column per community,
# and take the largest entry. We use the diffusion kernel with $\sigma = 2$, and find the same four products in several
# ways. For comparison we take a vote of the known neighbours, $W Y$.

# %%
SIGMA = 2.0


def task(name, n, *repeat):
    """A graph, who belongs where, whose label is asked for, and the known labels."""
    g, community = large_graphs.communities(ledger.key(name), n)
    known = ledger.rng(f"{name}: who is known", *repeat).random(n) < 0.05
    labels = np.zeros((n, 4))
    labels[known, community[known]] = 1.0
    return g.normalised(), community, ~known & (g.neighbour_counts > 0), labels


def by_walks(key, g, labels, n_walks, p_halt):
    """The products from two independent sets of features, never both in memory."""
    f, keys = modulation.diffusion(SIGMA), jax.random.split(key)
    halfway = features.walk_features(keys[0], g, f, n_walks, p_halt, "iid").T @ labels
    return features.walk_features(keys[1], g, f, n_walks, p_halt, "iid") @ halfway


g, community, asked, labels = task("communities", SIZES["task"])
W, heat, half = g.to_scipy(), kernels.Diffusion(SIGMA), SIGMA**2 / 2
walk, key = partial(by_walks, g=g, labels=labels), ledger.key("walks")
ways = {
    "Chebyshev, degree 12": lambda: kernels.chebyshev_matvec(g, heat, labels, 12),
    "vote of the neighbours": lambda: W @ labels,
    "expm_multiply": lambda: expm_multiply(half * W, labels, traceA=0.0) / np.exp(half),
    "16 walks, p_halt = 0.1": lambda: walk(key, n_walks=16, p_halt=0.1),
    "16 walks, p_halt = 0.5": lambda: walk(key, n_walks=16, p_halt=0.5),
    "4 walks, p_halt = 0.5": lambda: walk(key, n_walks=4, p_halt=0.5),
}
spread, truth = {}, None
for name, way in tqdm(ways.items(), desc="ways", leave=False):
    scores, spent = cost(way)
    truth = scores if truth is None else truth
    right = np.mean(scores[asked].argmax(axis=1) == community[asked])
    error = np.linalg.norm(scores - truth) / np.linalg.norm(truth)
    spread[name] = {**spent, "right": right, "error": error}
    del scores

# %% tags=["hide-input"]
plotting.table(
    [
        [one[what] for what in ("wall", "processor", "error", "right")]
        for one in spread.values()
    ],
    rows=list(spread),
    columns=["seconds", "processor s", "relative error", "share right"],
    corner="method",
    caption=f"Ours. Labels of {asked.sum():,} nodes; the largest hub has "
    f"{g.neighbour_counts.max():,} neighbours. One run each.",
)

# %% [markdown]
# One run decides nothing about accuracy. Here are several, with walks and known labels drawn anew, on a graph of a
# fifth of the size.

# %%
wrong = np.empty((SIZES["n_repeats"], 2))
for repeat in tqdm(range(SIZES["n_repeats"]), desc="repeats", leave=False):
    g, community, asked, labels = task("a smaller graph", SIZES["small task"], repeat)
    walked = by_walks(ledger.key("more walks", repeat), g, labels, 16, 0.1)
    for i, scores in enumerate((walked, g.to_scipy() @ labels)):
        wrong[repeat, i] = np.mean(scores[asked].argmax(axis=1) != community[asked])

# %% tags=["hide-input"]
by_walking, by_vote = wrong.T
ledger.decide({"ugrf/extra-spreading/accuracy": evidence.order(by_walking, by_vote)})

# %% [markdown]
# (ugrf-decision-products)=
# ## What to take
#
# We decide by a fixed rule: take the features if they are at least twice as fast and their error is at most a quarter;
# otherwise take the rival.

# %% tags=["hide-input"]
last = {name: values[-1] for name, values in columns.items()}
again, chebyshev = last["product, ms"] / 1e3, last["Chebyshev, ms"] / 1e3
walked, rival = spread["16 walks, p_halt = 0.1"], spread["Chebyshev, degree 12"]
errors = last["error"], last["Chebyshev's"]
cases = {
    "one product": (last["building, s"] + again, chebyshev, *errors),
    "a further product": (again, chebyshev, *errors),
    "four products: labels": (
        walked["wall"], rival["wall"], walked["error"], rival["error"]
    ),
}  # fmt: skip
take = {
    name: "features" if 2 * ours < theirs and error <= 0.25 else "Chebyshev"
    for name, (ours, theirs, error, _) in cases.items()
}
plotting.table(
    list(cases.values()),
    rows=[f"{name}: take {best}" for name, best in take.items()],
    columns=["features: s", "Chebyshev: s", "error of features", "Chebyshev's"],
    corner="task",
    caption=f"Ours. Which way to take. Products: {list(measured)[-1]:,} nodes; labels: "
    f"{SIZES['task']:,}.",
)

# %% tags=["hide-input"]
ledger.close()
