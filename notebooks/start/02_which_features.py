# %% [markdown]
# # Which features should I use?
#
# ::::{grid} 1 1 3 3
# :gutter: 2
#
# :::{grid-item-card} A table of 100,000 rows
# :link: guide-points
# :link-type: ref
#
# To predict, Nystroem's columns; where rows arrive later or live elsewhere, random features, four times as many.
# :::
# :::{grid-item-card} A graph of a million nodes
# :link: guide-graph
# :link-type: ref
#
# Products and predictions are exact by sparse matrices, in seconds. Walk to learn a kernel, or a graph that you meet node by node.
# :::
# :::{grid-item-card} Attention to 4,096 tokens
# :link: guide-attention
# :link-type: ref
#
# The exact one, unless inputs are long. A calibrated `FeatureAttention` is faster there; is it nearer than a plain mean?
# :::
# ::::
#
# Every answer below is a few lines to paste, what they print, what they cost on a machine with two cores, and the rival to beat. Whether
# the promises hold is checked on {doc}`03_is_the_guide_right`.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import json
from functools import partial
from html import escape

import jax
import numpy as np
from IPython.display import HTML, Markdown
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import rbf_kernel

from companion import plotting
from companion.evidence import cost
from rfcore import choose, choosing, n_frequencies, theory

QUICK = profile == "quick"


def rows(heads, lines):
    """A table in Markdown; numbers with two digits."""

    def shown(value):
        if isinstance(value, str):
            return value
        return f"{float(f'{value:.2g}'):,g}"

    body = [f"| {' | '.join(map(shown, line))} |" for line in lines]
    rule = "|".join(["---", *["---:"] * (len(heads) - 1)])
    return Markdown("\n".join([f"| {' | '.join(heads)} |", f"|{rule}|", *body]))


def taken(found):
    """Seconds and GiB of what ``cost`` found."""
    return found["wall"], round(found["bytes"] / 2**30, 2)


# %% tags=["hide-input"]
NEAR = np.linspace(0.5, 2, 16)  # lengthscales
SIZES = ((4, 256), (64, 256), (784, 1024))
ax, ends = Figure(figsize=plotting.WIDE).subplots(), []
for i, (d, m) in enumerate(SIZES):
    name = choose(m=m, d=d).name
    left = [choosing.rmse_over_iid(name, "fourier", z, m=m, d=d) for z in NEAR]
    worth = 1 / np.array(left) ** 2
    assert (np.diff(worth) < 0).all()
    ends += [float(f"{worth[at]:.2g}") for at in (0, -1)]
    colour = plotting.COLOURS[("first", "second", "third")[i]]
    ax.semilogy(NEAR, worth, color=colour)
    side, away = ("right", (-6, -12)) if i == 2 else ("left", (6, 6))
    ax.annotate(
        f"{d} dimensions", (NEAR[7], worth[7]), away, color=colour, ha=side,
        textcoords="offset points",
    )  # fmt: skip
ax.set_yticks([1, 10, 100], ["1", "10", "100"])
ax.set(
    xlabel="distance of two points, in lengthscales",
    ylabel="worth so many times the features",
)
plotting.show(
    ax.figure,
    caption="Ours. What choose is worth: how many times as many independent "
    "frequencies have the error of 256 chosen ones (in 784 dimensions of 1,024).",
    alt="Three falling curves against the distance of two points. From half a "
    "lengthscale to two, 4 dimensions go from {:g} to {:g}, 64 dimensions from {:g} to "
    "{:g}, and 784 dimensions from {:g} to {:g}.".format(*ends),
)
assert min(ends[::2]) > 5 and max(ends[3::2]) < 2  # "much further", "hardly"

# %% [markdown]
# ## How many?
#
# The error of chosen frequencies is known before they are drawn. Say how many columns your table has, how far apart its points are in
# lengthscales (`np.median(pdist(X[:500])) / lengthscale`), and how wrong a value of the kernel may be:

# %% tags=["hide-input"]
ASKED = {
    "dimensions": [2, 4, 8, 16, 32, 64, 128, 256, 784],
    "distance in lengthscales": [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0],
    "error of the kernel": [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001],
}
START = (64, 1.0, 0.01)
if QUICK:
    ASKED = {name: [one] for name, one in zip(ASKED, START, strict=True)}


def needed(d, z, error):
    """Frequencies, chosen and independent, and the name of the choice."""
    m = n_frequencies(error, d=d, distance=z)
    of_one = theory.one_frequency_mse(z, "fourier")
    return m, int(np.ceil(of_one / error**2)), choose(m=m, d=d, distance=z).name


def said(d, z, error):
    """The sentence below the sliders; ``page.js`` says the same."""
    m, independent, name = needed(d, z, error)
    return (
        f"In {d} dimensions, at distance {z:g}, an error of {error:g} takes {m:,} "
        f"frequencies ({name}), which are {2 * m:,} columns; independent ones, "
        f"{independent:,}."
    )


answers = [
    [[needed(d, z, error) for error in ASKED["error of the kernel"]]
     for z in ASKED["distance in lengthscales"]] for d in ASKED["dimensions"]
]  # fmt: skip
sliders = "".join(
    f'<label class="front-slider"><span>{name}</span><input type="range" min="0" '
    f'max="{len(values) - 1}" value="{values.index(start)}" disabled></label>'
    for (name, values), start in zip(ASKED.items(), START, strict=True)
)
data = escape(json.dumps({"asked": list(ASKED.values()), "answers": answers}))
HTML(
    f'<div class="how-many" data-answers="{data}">{sliders}'
    f"<output>{said(*START)}</output></div>"
)

# %% [markdown]
# As lines to paste, with the features that they are for:

# %%
import jax
import jax.numpy as jnp

from rfcore import choose, features, kernels, n_frequencies

m = n_frequencies(0.01, d=64, distance=1.0)
omega = choose(m=m, d=64, distance=1.0).coupling(jax.random.key(1), m, 64)

x = jax.random.normal(jax.random.key(0), (1000, 64))
lengthscale = 11.3  # the median distance of two of them
phi = features.fourier(x / lengthscale, omega)
K = kernels.gaussian(x / lengthscale, x / lengthscale)
print(f"{m} frequencies, error {jnp.sqrt(((phi @ phi.T - K) ** 2).mean()):.3f}")

# %% [markdown]
# Close points gain most: at half a lengthscale features go much further, at two lengthscales in many dimensions hardly; the picture above
# says how far. (scikit-learn's `gamma="scale"` puts standardised columns about two apart, where a coupling saves least. Ask whether so
# sharp a kernel is the one that you want.) Where features must not be negative, `features.positive` and
# `n_frequencies(..., features="positive")`.
#
# (guide-points)=
# ## I have a table of 100,000 rows
#
# A kernel machine would need all pairs of rows, 80 GB of them. A linear model on features does not:

# %%
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import make_friedman1
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rfcore.estimators import RandomFeatures

X, y = make_friedman1(110_000, noise=1.0, random_state=0)  # ten columns
_, truth = make_friedman1(110_000, noise=0.0, random_state=0)  # of the same rows
known, new = slice(100_000), slice(100_000, None)

# %% tags=["hide-input"]
if QUICK:
    known = slice(4000)

# %%
gamma = 1 / (2 * np.median(pdist(StandardScaler().fit_transform(X[:500]))) ** 2)
columns = RandomFeatures(1024, gamma=gamma, coupling="choose", random_state=0)
model = make_pipeline(StandardScaler(), columns, Ridge(0.01)).fit(X[known], y[known])
error = np.sqrt(np.mean((model.predict(X[new]) - truth[new]) ** 2))
print(f"error {error:.2f}, standard deviation {truth.std():.1f}")

# %% [markdown]
# In the place of `columns` you may put others. *Density* is another use of the same columns, a sum over all rows without weights to fit: the mean
# of the kernel between a new row and every old one, $\phi(x) \cdot \frac1n \sum_i \phi(x_i)$.

# %% tags=["hide-input"]
few, some, many = (64, 128, 256) if QUICK else (256, 1024, 4096)
scaler = StandardScaler().fit(X[known])
points, asked = (scaler.transform(X[at]) for at in (known, new))
density = rbf_kernel(asked[:1000], points, gamma=gamma).mean(axis=1)


def tried(columns):
    """Cost of fit and predictions, their error, and that of the density."""
    model = make_pipeline(StandardScaler(), columns, Ridge(0.01))
    guess, found = cost(lambda: model.fit(X[known], y[known]).predict(X[new]))
    total = sum(columns.transform(part).sum(axis=0) for part in np.split(points, 20))
    of_density = columns.transform(asked[:1000]) @ total / len(points)
    off = np.sqrt(np.mean((of_density / density - 1) ** 2))
    return *taken(found), np.sqrt(np.mean((guess - truth[new]) ** 2)), 100 * off


same = {"gamma": gamma, "random_state": 0}
ways = {
    f"`RBFSampler`, {some:,}": RBFSampler(n_components=some, **same),
    f"`RandomFeatures`, chosen, {some:,}": RandomFeatures(
        some, coupling="choose", **same
    ),
    f"`RandomFeatures`, chosen, {many:,}": RandomFeatures(
        many, coupling="choose", **same
    ),
    f"`Nystroem`, {few:,}": Nystroem(n_components=few, **same),
    f"`Nystroem`, {some:,}": Nystroem(n_components=some, **same),
}
measured = {name: tried(columns) for name, columns in ways.items()}
trees = HistGradientBoostingRegressor(random_state=0)
guess, found = cost(lambda: trees.fit(X[known], y[known]).predict(X[new]))
measured["boosted trees (no kernel)"] = (
    *taken(found), np.sqrt(np.mean((guess - truth[new]) ** 2)), "",
)  # fmt: skip
if not QUICK:  # what the text says
    sampler, chosen, wide, _, marks = (measured[name] for name in ways)
    assert abs(sampler[2] - chosen[2]) < 0.05 and chosen[3] < sampler[3] / 5
    assert marks[2] < 1.15 * wide[2] < chosen[2] and marks[3] < wide[3] / 50
    assert (
        marks[0] < wide[0] / 2 and marks[2] < measured["boosted trees (no kernel)"][2]
    )
lines = [[name, *values] for name, values in measured.items()]
rows(
    [f"{len(points):,} rows; columns", "seconds", "GiB", "error", "density, % off"],
    lines,
)

# %% [markdown]
# **If the rows are at hand, take `Nystroem`**: it sees where they are, and random features do not. Its 1,024 columns predict about as well as
# four times as many random ones, in less than half of the time, and sums are hundreds of times nearer. (Boosted trees need less than a second for
# an error between those of 256 and of 1,024 columns; ask them first.)
#
# **Where it is not the best:** rows that arrive later or live on machines which share no more than a key; estimates that have to be unbiased; and many
# columns, since landmarks cost the cube of their number. On a table of 27 columns 1,024 random features beat 256 of Nystroem's in less
# time ({doc}`/notebooks/beyond/01_in_a_pipeline`).
#
# **Does a coupling pay?** In the density, at no price: less than a fifth of `RBFSampler`'s error. In the prediction it is not felt, here as in
# {doc}`most regressions </notebooks/beyond/08_where_it_is_felt>`. Float32 rows have
# float32 features, in half of the memory; for more rows than fit, `RandomFeatures` takes Dask arrays.
#
# (guide-graph)=
# ## I have a graph of a million nodes
#
# A city of $1000 \times 1000$ crossings, whose streets are open with probability 0.9. **A product with its kernel** is exact:

# %%
import scipy.sparse as sp
from scipy.sparse.linalg import cg

from rfcore import features, gp, graphs, kernels

side, rng = 1000, np.random.default_rng(0)

# %% tags=["hide-input"]
if QUICK:
    side = 100

# %%
at = np.arange(side**2).reshape(side, side)
across, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
streets = np.concatenate([np.reshape(pair, (2, -1)) for pair in (across, down)], 1)
streets = streets[:, rng.random(streets.shape[1]) < 0.9]
g = graphs.Graph.from_edges(streets, n_nodes=side**2).normalised()

v = rng.normal(size=g.n_nodes)
product = np.exp(-0.5) * kernels.expm_multiply(g, 0.5, v)  # diffusion, sigma = 1

# %% [markdown]
# **Values everywhere, from one crossing in ten.** The regularised Laplacian kernel $(I + \sigma^2 L)^{-2}$ has a sparse inverse, so that a
# Gaussian process is one sparse system:

# %%
identity = sp.eye_array(g.n_nodes)
root = identity + 25 * (identity - g.to_scipy())  # of the inverse; sigma = 5
h = cg(root, v)[0]  # the values: a draw from the process
seen = rng.choice(g.n_nodes, g.n_nodes // 10, replace=False)
noise = 0.1 * h.var()
y = h[seen] + noise**0.5 * rng.normal(size=len(seen))


def posterior_mean(y):
    weight, right = np.zeros((2, g.n_nodes))
    weight[seen], right[seen] = 1 / noise, y / noise
    system = root @ root + sp.diags_array(weight)
    return cg(system, right, M=sp.diags_array(1 / system.diagonal()))[0]


mean = posterior_mean(y)

# %% [markdown]
# **Features of nodes**, made by walking: here of all nodes, for the product, and twice, since two sets of walks make the estimate unbiased.
# (A Gaussian process needs a symmetric one, and takes `phi @ phi.T`.)

# %%
f, keys = features.modulation.diffusion(1.0), jax.random.split(jax.random.key(0))
phi, psi = (features.walk_features(key, g, f, 16, 0.1, "systematic") for key in keys)
estimate = phi @ (psi.T @ v)


# %% tags=["hide-input"]
def relative(estimate, exact):
    return np.linalg.norm(estimate - exact) / np.linalg.norm(exact)


def walked(coupling):
    """The posterior mean, where observed nodes and all nodes walk apart."""
    f, p_halt = features.modulation.regularised_laplacian(5, 2), 1 / 26
    walk = partial(features.walk_features, g=g, f=f, n_walks=16, p_halt=p_halt)
    seen_from = walk(keys[0], coupling=coupling, nodes=seen)
    weights = gp.posterior_weights(seen_from, y, noise, rtol=1e-4)
    return walk(keys[1], coupling=coupling, stored=False) @ weights


def from_all():
    return [features.walk_features(k, g, f, 16, 0.1, "systematic") for k in keys]


hidden = np.setdiff1d(np.arange(g.n_nodes), seen)
exactly = cost(lambda: kernels.expm_multiply(g, 0.5, v))[1]
making, multiplying = cost(from_all)[1], cost(lambda: phi @ (psi.T @ v))[1]
lines = [
    ["product: `expm_multiply`", *taken(exactly), "exact"],
    ["product: walks of all nodes", *taken(making), relative(estimate, product)],
    ["... once they are there", *taken(multiplying), relative(estimate, product)],
]
errors = {}
for name, work in {
    "values: sparse system": lambda: posterior_mean(y),
    "values: systematic walkers": lambda: walked("systematic"),
    "values: independent walkers": lambda: walked("iid"),
}.items():
    guess, found = cost(work)
    errors[name] = relative(guess[hidden], h[hidden])
    lines.append([name, *taken(found), errors[name]])
best, ours, plain = errors.values()
assert best < ours < plain and (QUICK or 1.1 * best < ours)
rows([f"{g.n_nodes:,} nodes", "seconds", "GiB", "relative error"], lines)

# %% [markdown]
# **Before you walk.** Neither a product nor a map of values needs it: the exact answers come sooner. (An error of 1 is that of the prior mean; the sparse
# system is exact, and what it leaves is what the data do not say.) Features once made multiply about as fast as `expm_multiply`, at
# an error of two per cent, and to make them takes some hundred times as long. Among nodes that are near each other take the exact kernel of their neighbourhood.
#
# **Where walks pay:** a kernel that is to be learned from data, since walks do not depend on it; a graph that can only be met from node to node;
# columns for a linear model. {doc}`/notebooks/ugrf/19_what_pays_when` has the measurements. Let walkers be systematic, and
# {doc}`take the first hop exactly </notebooks/ugrf/21_exact_hops>`; on graphs with hubs systematic walkers gain less
# ({doc}`/notebooks/couplings/19_where_hops_help`). Up to some ten thousand nodes compute the whole kernel:
# {py:class}`rfcore.gp.Diffusion` is one for GPJax.
#
# (guide-attention)=
# ## I have attention to 4,096 tokens
#
# A layer of equinox, replaced in one line, fitted to one input and asked for another. (For flax, `attention.dot_product_attention`:
# {doc}`/book/in_your_own_work`.)

# %%
import equinox as eqx
import jax
import jax.numpy as jnp

from rfcore import choose
from rfcore.attention import FeatureAttention

layer = eqx.nn.MultiheadAttention(8, 512, key=jax.random.key(0))  # heads of 64
fit = jax.random.normal(jax.random.key(1), (1024, 512))
x = jax.random.normal(jax.random.key(3), (4096, 512))

chosen = choose(m=512, d=64, features="attention").coupling
fast = FeatureAttention(layer, 512, chosen, key=jax.random.key(2))
fast = fast.calibrated(fit, fit, fit)
exact = layer(x, x, x)
error = jnp.linalg.norm(fast(x, x, x) - exact) / jnp.linalg.norm(exact)
print(f"relative error {error:.2f}")

# %% [markdown]
# **Is that good?** Ask what it costs to do nothing. Below, on other inputs, the same layer with plain positive features (FAVOR+, the median
# of nine draws, which scatter), and with all weights equal, so that each output is the mean of the values: that is free.

# %% tags=["hide-input"]
twice = choose(m=1024, d=64, features="attention").coupling
wide = FeatureAttention(layer, 1024, twice, key=jax.random.key(2))
wide = wide.calibrated(fit, fit, fit)
favors = [
    FeatureAttention(layer, 512, key=key)
    for key in jax.random.split(jax.random.key(2), 1 if QUICK else 9)
]


def mean(x):
    """The layer with equal weights: every position gets the mean of the values."""
    values = jax.vmap(layer.value_proj)(x).mean(axis=0)
    return jnp.broadcast_to(layer.output_proj(values), x.shape)


def compiled(way, x):
    """What a layer says of x; milliseconds, the best of three, and MiB beside x.

    The memory is what XLA allots, or how far the process grew, if that is more.
    """
    program = jax.jit(lambda x: way(x, x, x)).lower(x).compile()
    out = program(x)
    found = [cost(lambda: jax.block_until_ready(program(x)))[1] for _ in range(3)]
    clock, memory = (min(one[what] for one in found) for what in ("wall", "bytes"))
    allotted = program.memory_analysis().temp_size_in_bytes
    return out, 1e3 * clock, max(memory, allotted) / 2**20


def lengths(n):
    """Milliseconds, MiB and errors at n positions."""
    x = jax.random.normal(jax.random.key(n), (n, 512))
    outs, clock, memory = zip(
        *(compiled(way, x) for way in (layer, fast, wide)), strict=True
    )
    want, *outs = *outs, mean(x)
    errors = [float(relative(out, want)) for out in outs]
    errors.insert(2, np.median([relative(one(x, x, x), want) for one in favors]))
    return [f"{n:,}", *clock, *memory, *errors]


WAYS = ("exact", "512", "1,024")
HEADS = ["positions", *(f"{what}: {way}" for what in ("ms", "MiB") for way in WAYS),
         *(f"error: {way}" for way in (*WAYS[1:], "FAVOR+", "mean"))]  # fmt: skip
measured = [lengths(n) for n in ((256,) if QUICK else (512, 1024, 2048, 4096))]
if not QUICK:
    columns = np.array([row[1:] for row in measured]).T
    ours, more, _, means = columns[6:]
    assert ((means < ours) == [True, True, False, False]).all() and (more < means).all()
    assert columns[1, -1] < 0.8 * columns[0, -1] and columns[5, -1] < columns[3, -1]
    assert columns[2, 2] > columns[0, 2]
rows(HEADS, measured)

# %% [markdown]
# **How many features?** With 512 of them the plain mean
# is nearer at 512 and at 1,024 positions, and the features are from 2,048. Twice as many are nearer than the mean at every length, and are
# worth their time from about 4,096 positions only; then they need less memory as well.
#
# **Before you take it.** This layer is untrained, and attends to everything alike; a plain mean is then hard to beat. On
# {doc}`trained heads </notebooks/favor/06_real_queries>` couplings change next to nothing, and 256 plain features are about as far off as the
# mean. What helps is to subtract means, to fit the map (`calibrated` does both), and to take the
# {doc}`greatest keys exactly </notebooks/beyond/02_attention_maps>`. In short contexts take attention itself; on a GPU it is faster for
# longer: {doc}`/book/benchmarks`.
