# %% [markdown]
# # Where should one look next?
#
# * **A drawn function can be climbed.** A search that looks where a function of the
#   posterior is greatest, and finds that place along its gradient, comes nearer to the
#   optimum of a test function in 100 looks than one among a thousand candidates.
# * **Nothing is lost by features.** At the same candidates functions of 256 frequencies
#   are as good as exact draws of the posterior, which cost a Cholesky factor for each look.
# * **A map helps where the answer has a place.** On the roads of San Jose drawn functions
#   find the worst jam sooner than random looks. The fastest road they find no sooner:
#   two fifths of the sensors are nearly as fast. And the map of another day, if there is
#   one, says more than both.
#
# **The question.** Each look at an unknown function is dear: an experiment, a sensor to be
# driven to. *Thompson sampling* looks where a function that the data allow has its
# greatest value, adds what it sees, and draws another. It explores where functions differ,
# and stays where they agree. {doc}`10_functions` draws them.
#
# **What is known.** {cite:t}`wilson2020efficiently` draw functions for searches in this
# way. {cite:t}`zhang2026graph` do so on graphs, by walks; {doc}`11_the_sequel` looks at
# their searches.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import gpjax as gpx
import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
from gpjax.parameters import val
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.models.gaussian_processes import (
    data,
    fit_gaussian,
    fit_process,
    process,
)
from rfcore import gp, kernels
from rfcore.graphs import Graph

ledger = evidence.open_page("beyond/12_where_to_look", profile)
jax.config.update("jax_enable_x64", True)
SIZES = {
    "paper": {
        "searches": 64, "exact searches": 32, "looks": 100, "mondays": 25, "roads": 8,
    },
    "quick": {
        "searches": 2, "exact searches": 2, "looks": 14, "mondays": 4, "roads": 1,
    },
}[profile]  # fmt: skip

# %% [markdown]
# (look-search)=
# ## A hundred looks at a function of six variables
#
# Hartmann's function of six variables is a usual
# test. The rival of random features is a draw of the exact posterior at 1,000
# candidates, by Cholesky; paths may take the best of the same candidates, or climb from
# ten of them along their gradient. All begin with ten random looks, and the
# lengthscale is that at which 400 random values are likeliest.

# %% tags=["hide-input"]
A = np.array([
    [10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
    [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14],
])  # fmt: skip
P = 1e-4 * np.array([
    [1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
    [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381],
])  # fmt: skip
HEIGHTS, BEST = jnp.array([1, 1.2, 3, 3.2]), 3.32237


def hartmann(x):
    return jnp.exp(-jnp.sum(A * (x[:, None] - P) ** 2, axis=2)) @ HEIGHTS


OPTIMUM = [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]
assert abs(hartmann(np.array([OPTIMUM]))[0] - BEST) < 1e-5


# %%
X = ledger.rng("hartmann").uniform(size=(400, 6))
values = hartmann(X)
fitted = fit_gaussian(X, (values - values.mean()) / values.std())
prior = gpx.gps.Prior(
    gpx.kernels.RBF(lengthscale=fitted.lengthscale), gpx.mean_functions.Zero()
)


def after(prior, X, y, n, deviation):
    """GPJax's posterior given the first n rows: the others have too much noise to "
    "count."""
    seen = jnp.arange(len(y)) < n
    z = jnp.where(seen, (y - y.mean(where=seen)) / y.std(where=seen), 0.0)
    noise = gpx.likelihoods.Gaussian(obs_stddev=jnp.where(seen, deviation, 1e6))
    return (prior * noise).condition(gpx.Dataset(X, z[:, None]))


@partial(jax.jit, static_argnames="way")
def next_look(key, X, y, n, way):
    of_candidates, of_draw = jax.random.split(key)
    x = jax.random.uniform(of_candidates, (1000, 6))
    posterior = after(prior, X, y, n, 0.01)
    if way == "exact":
        found = posterior(x)
        root = jnp.linalg.cholesky(found.covariance() + 1e-6 * jnp.eye(1000))
        return x[jnp.argmax(found.mean + root @ jax.random.normal(of_draw, (1000,)))]
    path = gp.sample_paths(of_draw, posterior, m=256)
    if way == "climb":
        x = x[jax.lax.top_k(path(x)[:, 0], 10)[1]]

        def step(i, x):
            slope = jax.grad(lambda x: path(x).sum())(x)
            slope /= jnp.linalg.norm(slope, axis=1, keepdims=True)
            return jnp.clip(x + 0.05 * (1 - i / 50) * slope, 0, 1)

        x = jax.lax.fori_loop(0, 50, step, x)
    return x[jnp.argmax(path(x)[:, 0])]


def regret(way, repeat):
    """How far the best so far is from the optimum, after each look."""
    of_first, of_looks = jax.random.split(ledger.key("search", repeat))
    n_looks = SIZES["looks"]
    X = jax.random.uniform(of_first, (n_looks, 6))
    y = hartmann(X)
    for n in range(10, n_looks if way != "random" else 10):
        x = next_look(jax.random.fold_in(of_looks, n), X, y, n, way)
        X, y = X.at[n].set(x), y.at[n].set(hartmann(x[None])[0])
    return BEST - np.maximum.accumulate(y)


WAYS = {"random": "uniform", "exact": "exact", "candidates": "first", "climb": "third"}
searches = {
    way: np.array([
        regret(way, i)
        for i in range(SIZES["exact searches" if way == "exact" else "searches"])
    ])
    for way in tqdm(WAYS, leave=False)
}

# %% tags=["hide-input"]
n_exact = len(searches["exact"])
shown = np.stack([one[:n_exact, 9:] for one in searches.values()], axis=1)
plotting.show_panels(
    np.arange(10, SIZES["looks"] + 1), shown, lines=WAYS, log="y",
    x_label="looks", y_label="distance from the optimum",
    caption="Ours. Hartmann's function: distance of the best value so far from the "
    "optimum, by random looks, by exact draws at candidates, and by drawn "
    f"functions, at candidates or climbed. Means over {n_exact} searches; bands: one "
    "standard error.",
    alt="Four falling curves. Random looks stay above one. Exact draws and functions "
    "at "
    "candidates fall together; functions that are climbed end lowest.",
)  # fmt: skip
last = {way: one[:, -1] for way, one in searches.items()}
ledger.decide({
    "beyond/extra-look-search/random": evidence.order(last["climb"], last["random"]),
    "beyond/extra-look-search/exact": evidence.bound(
        last["candidates"][:n_exact] - last["exact"], 0.1
    ),
    "beyond/extra-look-search/climb": evidence.order(last["climb"], last["candidates"]),
})

# %% [markdown]
# (look-road)=
# ## The fastest road, and the worst jam
#
# Now the looks are at sensors of San Jose, with the kernel of the first Monday; each of
# the 25 others is a search of its own: five random sensors, then forty that drawn
# functions choose. A sensor's speed has a part of its own, which no map knows, and it
# is drawn, too: the noise of the model. Two questions: where is it fastest, and
# where slowest? Beside random looks stands memory, sensors in the order of their speed
# on the first Monday.


# %%
traffic = datasets.traffic(fallback=True)
graph = Graph.from_networkx(nx.Graph(traffic.graph)).normalised()
eigenvalues, rows = map(jnp.asarray, kernels.spectrum(graph))
at_sensors, first = rows[traffic.sensors], traffic.speeds[0]
model, _ = fit_process(
    process(gp.Diffusion(eigenvalues, 5.0, 1.0), 0.3),
    data(at_sensors, (first - first.mean()) / first.std()),
)


@jax.jit
def next_sensor(key, order, y, n):
    """Which sensor has the greatest value of a function and of what is its own."""
    of_path, of_own = jax.random.split(key)
    deviation = val(model.likelihood.obs_stddev)
    posterior = after(model.prior, at_sensors[order], y, n, deviation)
    drawn = gp.sample_paths(of_path, posterior)(at_sensors)[:, 0]
    drawn += deviation * jax.random.normal(of_own, (325,))
    seen = jnp.zeros(325).at[order].add(jnp.arange(45) < n) > 0
    return jnp.argmax(jnp.where(seen, -jnp.inf, drawn))


def looks(monday, sign, repeat):
    """Miles per hour from the fastest (or slowest) after each look, in three ways."""
    speed = sign * traffic.speeds[1 + monday]
    of_first, of_looks = jax.random.split(ledger.key("sensors", monday, repeat))
    at_random = jax.random.permutation(of_first, 325)[:45]
    order, y = at_random, jnp.asarray(speed)[at_random]
    for n in range(5, 45):
        found = next_sensor(jax.random.fold_in(of_looks, n), order, y, n)
        order, y = order.at[n].set(found), y.at[n].set(speed[found])
    by_memory = np.argsort(-sign * first)[:45]
    each = (speed[np.asarray(x)] for x in (at_random, order, by_memory))
    return speed.max() - np.stack([np.maximum.accumulate(x) for x in each])


mondays = np.array([
    [
        np.mean([looks(monday, sign, i) for i in range(SIZES["roads"])], axis=0)
        for sign in (1, -1)
    ]
    for monday in tqdm(range(SIZES["mondays"]), leave=False)
])  # Mondays, fastest or slowest, ways, looks

# %% tags=["hide-input"]
plotting.show_panels(
    np.arange(5, 46), mondays[..., 4:], panels=["the fastest", "the slowest"],
    lines={"random": "uniform", "drawn functions": "third", "memory": "exact"},
    log="",
    x_label="sensors looked at", y_label="mph from it",
    caption="Ours. San Jose on Mondays, from the fifth look: how far the best sensor "
    "so far is from the "
    "fastest and from the slowest, by random looks, by functions of the posterior, and "
    "in the order of the first Monday. Means over 25 Mondays; bands: one standard "
    "error.",
    alt="Two panels. For the fastest sensor random looks and drawn functions fall "
    "together. "
    "For the slowest drawn functions fall below random looks. Memory is lowest in "
    "both.",
)  # fmt: skip
(fast_random, fast, _), (slow_random, slow, _) = np.moveaxis(mondays[..., -1], 0, -1)
memory = mondays[:, :, 2, -1].mean(axis=0)
if profile == "paper":
    near = traffic.speeds[1:] > traffic.speeds[1:].max(axis=1, keepdims=True) - 10
    assert abs(near.mean() - 0.4) < 0.02
    assert memory[0] < min(fast.mean(), fast_random.mean()) / 8
    assert memory[1] < min(slow.mean(), slow_random.mean()) / 1.8
ledger.decide({
    "beyond/extra-look-road/slowest": evidence.order(slow, slow_random, unit="mph"),
    "beyond/extra-look-road/fastest": evidence.bound(
        fast_random - fast, 0.5, unit="mph"
    ),
})

# %% [markdown]
# A jam has a place: slow sensors have slow neighbours, and functions that are low there
# are drawn again and again. Free flow has none. Two fifths of the sensors are within
# 10 mph of the fastest, and which of them is ahead by a little is a matter of its own
# part, of which neighbours know nothing. There functions were no better than random looks,
# though by our rule, of half a mile per hour, the claim stays open.
#
# And both are poor beside memory. Sensors that were fastest on the first Monday, a public
# holiday, are fast on others: a sensor's own past says more about it than its
# neighbours' present. A map is for what was never measured.

# %% tags=["hide-input"]
ledger.close()
