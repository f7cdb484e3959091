# %% [markdown]
# # How do you draw a function?
#
# * **With features a Gaussian process becomes a random function that one can write
#   down**, a sum of cosines or of walks with normal weights. Matheron's rule moves it to
#   what was observed. Paths agree with GPJax in mean and covariance on three kernels.
# * **Couplings help before the data, hardly after.** Of a prior, 64 frequencies of a tight
#   frame are as good as 512 independent ones where points are near each other.
#   Conditioning takes away the smooth part, which is what a frame gets right.
# * **A hundred thousand nodes take seconds.** Functions on walk features, by conjugate
#   gradients, doubt as much as they should.
#
# **The question.** The five papers estimate kernels. Most people who use random features
# for Gaussian processes want something else: *functions* that the data allow, in order to
# see what they leave open, or to choose where to look next.
#
# **The idea.** If $\mathbb E[\phi(x)^\top \phi(x')] = k(x, x')$ then $f(x) = \phi(x)^\top b$
# with $b \sim \mathcal N(0, I)$ is a draw of the prior, at all points at once, at a cost
# linear in their number. Matheron's rule makes it one of the posterior
# {cite:p}`wilson2020efficiently`:
#
# $$
# f(x) + k(x, X) \, (K + s^2 I)^{-1} (y - f(X) - \varepsilon),
# \qquad \varepsilon \sim \mathcal N(0, s^2 I) .
# $$
#
# Its mean is the exact one, and its covariance is exact on average over frequencies.
# {py:func}`rfcore.gp.sample_paths` takes a prior or a posterior of GPJax. With a large matrix
# $K$ the cost is in its Cholesky factor, once; then paths may be many, and at any points.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import gpjax as gpx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.evidence import cost
from companion.models.gaussian_processes import data, fit_process, process
from companion.papers.ugrf import large_graphs
from companion.plotting.maps import road_map
from companion.plotting.motion import frames
from rfcore import couplings, features, gp, kernels
from rfcore.graphs import Graph

ledger = evidence.open_page("beyond/10_functions", profile)
jax.config.update("jax_enable_x64", True)
SIZES = {
    "paper": {
        "exact": 1_600, "draws": 600, "widths": (32, 64, 128, 256, 512, 1024),
        "side": 316, "seen": 2_000, "cities": 12,
    },
    "quick": {
        "exact": 12, "draws": 8, "widths": (32, 64),
        "side": 40, "seen": 300, "cities": 3,
    },
}[profile]  # fmt: skip

# %% [markdown]
# (functions-map)=
# ## Ten functions that sixty sensors allow
#
# The highways of San Jose have 325 sensors on a graph of 1,016 nodes
# ({doc}`/notebooks/couplings/22_traffic`), and speeds of 26 Mondays of 2017 at 17:30. The
# first one gives the hyper-parameters of a diffusion kernel, those at which its speeds
# are likeliest. On the second Monday let sixty sensors say their speed. What may the
# roads look like?

# %%
traffic = datasets.traffic(fallback=True)
roads = np.array(list(traffic.graph.edges()))
graph = Graph.from_networkx(nx.Graph(traffic.graph)).normalised()
eigenvalues, rows = map(jnp.asarray, kernels.spectrum(graph))
at_sensors = rows[traffic.sensors]
first, second = traffic.speeds[:2]

model, _ = fit_process(
    process(gp.Diffusion(eigenvalues, 5.0, 1.0), 0.3),
    data(at_sensors, (first - first.mean()) / first.std()),
)
some = ledger.rng("sensors").permutation(325)[:60]
centre, unit = second[some].mean(), second[some].std()
posterior = model.condition(data(at_sensors[some], (second[some] - centre) / unit))
paths = gp.sample_paths(ledger.key("ten functions"), posterior, n_paths=10)
speeds = centre + unit * np.asarray(paths(rows))  # nodes, functions

# %% tags=["hide-input"]
place = np.array([xy for _, xy in traffic.graph.nodes(data="position")])
drawn = partial(road_map, place, roads, label="mph", limits=(20, 70))
maps = [drawn(at=traffic.sensors[some], values=second[some], title="sixty sensors")]
maps += [drawn(values=one, title="one function") for one in speeds.T]
with plt.rc_context({"savefig.dpi": 110}):  # eleven maps weigh as much as four then
    frames(
        maps,
        ["what they say", *map(str, range(1, 11))],
        slider="function",
        caption="Ours. Speeds on the highways of San Jose: at sixty sensors, and ten "
        "functions of the posterior, which agree where sensors are and differ "
        "elsewhere.",
        alt="Eleven maps of a ring of highways. On the first sixty dots are coloured "
        "by "
        "speed. On the others whole roads are, alike near the dots and different away "
        "from them.",
    )
apart = speeds.std(axis=1, ddof=1)
assert apart[traffic.sensors[some]].mean() < apart.mean() / 1.2

# %% [markdown]
# (functions-exact)=
# ## Are they the functions of GPJax?
#
# Draw frequencies many times, few of them, 16 for a kernel of points. Then their
# mean, and the mean of their products, should be GPJax's to within errors, since
# nothing is biased. Here at six points or nodes, given six observations, on three
# kernels.

# %%
POINTS = ledger.rng("points").normal(size=(12, 2))
NODES = rows[ledger.rng("nodes").permutation(1016)[:12]]
KERNELS = {
    "RBF": (gpx.kernels.RBF(lengthscale=0.8), POINTS),
    "Matérn 5/2": (gpx.kernels.Matern52(lengthscale=0.8, n_dims=2), POINTS),
    "diffusion": (gp.Diffusion(eigenvalues, 8.0, 1.0), NODES),
}


def against_gpjax(name, kernel, X):
    """Means and products of paths, and what GPJax says they are."""
    model = process(kernel, 0.04).condition(data(X[:6], np.sin(X[:6].sum(axis=1))))
    exact = model(jnp.asarray(X[6:]))

    def one(key):
        off = (
            gp.sample_paths(key, model, 64, 16, couplings.orthogonal)(X[6:])
            - exact.mean[:, None]
        )
        return jnp.concatenate([off.mean(axis=1), (off @ off.T / 64).ravel()])

    keys = jax.random.split(ledger.key(f"{name}, again"), SIZES["exact"])
    found = np.asarray(jax.jit(partial(jax.lax.map, one))(keys))
    return found[:, :6], found[:, 6:], np.ravel(exact.covariance())


checked = [against_gpjax(name, *of) for name, of in KERNELS.items()]

# %% tags=["hide-input"]
off, products, covariances = (np.stack(x, axis=-2) for x in zip(*checked, strict=True))
ledger.decide({
    "beyond/extra-functions-exact/mean": evidence.unbiased(off, 0.0, 0.05),
    "beyond/extra-functions-exact/covariance": evidence.unbiased(
        products, covariances, 0.05
    ),
})

# %% [markdown]
# Sixteen frequencies are as right as a thousand, on average over draws. What few of them cost
# is in each draw: all functions of one draw share its error.
#
# (functions-how-many)=
# ## How many frequencies?
#
# The covariance of paths with *given* frequencies has a closed form, so that its distance
# from the exact one needs no paths. Take 60 points at random in a cube of six dimensions,
# a root mean square distance of 1, 2 and 4 lengthscales apart, and the functions
# of the prior there; then, at the same points, those of the posterior given 40 more with
# little noise.

# %%
APART, COUPLED = (1.0, 2.0, 4.0), ("iid", "tight")
cube = ledger.rng("cube").uniform(size=(100, 6))  # root mean square distance 1


@partial(jax.jit, static_argnames=("name", "m"))
def relative_errors(keys, X, name, m):
    """Of the covariance of the prior and of the posterior, for each draw, squared."""
    K = kernels.gaussian(X, X)
    weights = jnp.linalg.solve(K[:40, :40] + 0.01 * jnp.eye(40), K[:40, 40:]).T
    given = jnp.concatenate([-weights, jnp.eye(60)], axis=1)  # of the prior's values
    noise = 0.01 * weights @ weights.T

    def squared(estimate, exact):
        return jnp.sum((estimate - exact) ** 2) / jnp.sum(exact**2)

    def one(key):
        phi = features.fourier(X, getattr(couplings, name)(key, m, 6))
        after, exact = given @ phi, given @ K @ given.T + noise
        prior = squared(phi[40:] @ phi[40:].T, K[40:, 40:])
        return jnp.stack([prior, squared(after @ after.T + noise, exact)])

    return jax.lax.map(one, keys)


def keys_of(apart, m):
    return jax.random.split(ledger.key(f"{apart:g}, {m}, again"), SIZES["draws"])


errors = np.array([
    [
        [relative_errors(keys_of(w, m), w * cube, name, m) for m in SIZES["widths"]]
        for name in COUPLED
    ]
    for w in tqdm(APART, leave=False)
])  # distances, couplings, widths, draws, prior or posterior

# %% tags=["hide-input"]
roots = np.sqrt(errors.reshape(3, 2, len(SIZES["widths"]), 8, -1, 2).mean(axis=4))
roots = np.moveaxis(roots, (3, 0, 4), (0, 1, 2)).reshape(8, 6, 2, -1)
plotting.show_panels(
    SIZES["widths"], roots, lines=list(COUPLED), log="xy",
    panels=[f"{what}, {w:g} apart" for w in APART for what in ("prior", "posterior")],
    x_label="frequencies", y_label="error of the covariance",
    caption="Ours. Relative error of the covariance of functions with given "
    "frequencies, "
    "root mean square over draws; points 1, 2 and 4 lengthscales apart, six "
    "dimensions. "
    "Bands: one standard error, from eight groups of draws.",
    alt="Six panels of falling lines. For the prior, at distance 1, tight frames lie "
    "far "
    "below independent frequencies, at 2 below, at 4 hardly. For the posterior all "
    "lines nearly coincide.",
)  # fmt: skip
iid, tight = np.moveaxis(errors, 1, 0)  # distances, widths, draws, kind
fourth = evidence.not_run("At the paper profile only.")
if profile == "paper":
    fourth = evidence.order(tight[0, 1, :, 0], iid[0, 3, :, 0])
    ratio = np.sqrt(tight.mean(axis=2) / iid.mean(axis=2))
    assert (ratio[0, :, 0] < 0.4).all() and (ratio[2, :, 0] > 0.9).all()
    assert (ratio[..., 1] > 0.85).all()
    few, many = tight[0, 1, :, 0].mean(), iid[0, 4, :, 0].mean()
    assert few < 1.1 * many  # 64 of a frame, 512 independent ones
posteriors = tight[..., 1].reshape(-1, SIZES["draws"]).T
ledger.decide({
    "beyond/extra-functions-how-many/prior": fourth,
    "beyond/extra-functions-how-many/posterior": evidence.order(
        0.64 * iid[..., 1].reshape(-1, SIZES["draws"]).T, posteriors
    ),
})

# %% [markdown]
# For a prior it is a matter of distance, as everywhere in this book: a frame gets the
# smooth part of the kernel right. But given data the smooth part is known, and what
# remains open is the rest, where no coupling helps much. So for posteriors take
# as many frequencies as the error allows, about $1 / \text{error}^2$, whichever way they
# are drawn.

# %% [markdown]
# (functions-large)=
# ## A hundred thousand crossings
#
# For more nodes than a matrix of them allows, {py:func}`rfcore.gp.sample_weights` applies
# Matheron's rule to the features of walks, by conjugate gradients. In a city of
# $316 \times 316$ crossings 2,000 are observed; 64 functions are drawn. Do they doubt as
# much as they should?


# %%
def city(repeat, sigma=3.0, n_walks=16):
    """Share of held-out observations in the 95 % interval, costs, and a corner."""
    rng = ledger.rng("city", repeat)
    keys = jax.random.split(ledger.key("city", repeat), 3)
    g = large_graphs.streets(keys[0], SIZES["side"], 0.8).normalised()
    root = kernels.RegularisedLaplacian(sigma, 1)
    h = kernels.chebyshev_matvec(g, root, rng.normal(size=g.n_nodes), 60)
    noise = 0.1 * np.mean(h**2)
    y = h + noise**0.5 * rng.normal(size=g.n_nodes)
    seen, held = np.split(rng.permutation(g.n_nodes), [SIZES["seen"]])

    def functions():
        f = features.modulation.regularised_laplacian(sigma, 2)
        phi = features.walk_features(keys[1], g, f, n_walks, 0.1, "systematic")
        phi = phi.to_scipy()
        return phi @ gp.sample_weights(keys[2], phi[seen], y[seen], noise, 64)

    drawn, spent = cost(functions)
    mean, sd = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
    is_within = abs(y - mean)[held] < 1.96 * np.sqrt(sd**2 + noise)[held]
    maps = np.stack([h, *drawn.T[:2], sd]).reshape(4, SIZES["side"], -1)[:, :40, :40]
    return np.mean(is_within), spent, maps


cities = [city(i) for i in range(SIZES["cities"])]
shares, costs, maps = zip(*cities, strict=True)

# %% tags=["hide-input"]
fig, axes = plt.subplots(2, 2, figsize=(5.2, 5.2))
top = np.quantile(abs(maps[0][0]), 0.98)
names = ("signal", "one function", "another", "doubt of 64")
for ax, values, name in zip(axes.flat, maps[0], names, strict=True):
    ax.imshow(values, cmap="PuOr", vmin=-top, vmax=top)
    ax.set(title=name, xticks=[], yticks=[])
plotting.show(
    fig,
    caption=f"Ours. A corner of a city of {SIZES['side']} x {SIZES['side']} crossings, "
    f"{SIZES['seen']:,} of them observed: the signal, two functions that observations "
    "allow, "
    "and the standard deviation of 64. White is zero; 2 % are beyond the scale.",
    alt="Four maps of a square. The signal and two functions are patchworks of the "
    "same grain "
    "that agree in places. The doubt is even, with pale spots where crossings are "
    "observed.",
)
plotting.table(
    [[
        np.mean([one["wall"] for one in costs]),
        max(one["peak"] for one in costs) / 1e9,
    ]],
    rows=[f"{SIZES['side'] ** 2:,}"], columns=["seconds", "GB"], corner="nodes",
    caption="Ours. Walks, and 64 functions at all nodes: wall time, mean over cities, "
    "and "
    "the peak memory of the whole process.",
)  # fmt: skip
shares = np.array(shares)
ledger.decide({
    "beyond/extra-functions-large/no-fewer": evidence.bound(shares, 0.93, side="above"),
    "beyond/extra-functions-large/no-more": evidence.bound(shares, 0.97),
})

# %% tags=["hide-input"]
ledger.close()
