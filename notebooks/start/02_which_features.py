# %% [markdown]
# # Which features should I use?
#
# ::::{grid} 1 1 3 3
# :gutter: 2
#
# :::{grid-item-card} Points
# :link: guide-points
# :link-type: ref
#
# `choose(m=m, d=d)`, which for close points is worth many times the features. If you hold all the points:
# Nystroem.
# :::
# :::{grid-item-card} A graph
# :link: guide-graph
# :link-type: ref
#
# Up to some ten thousand nodes the exact kernel; for products `expm_multiply`; systematic walkers for features.
# :::
# :::{grid-item-card} Attention
# :link: guide-attention
# :link-type: ref
#
# The exact one, unless inputs are long. A calibrated `FeatureAttention` is faster there; is it nearer than a plain mean?
# :::
# ::::
#
# Every answer below is a few lines to paste, what they print, and what they cost on a machine with two cores. Whether they hold is
# checked on {doc}`03_is_the_guide_right`.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import time

import jax
import numpy as np
from IPython.display import Markdown
from matplotlib.figure import Figure
from sklearn.kernel_approximation import Nystroem, RBFSampler

from companion import plotting
from rfcore import choose, choosing

QUICK = profile == "quick"


def milliseconds(call, n=3):
    """Of the first call, which compiles, and the best of those after it."""
    taken = []
    for _ in range(n + 1):
        began = time.perf_counter()
        jax.block_until_ready(call())
        taken.append(1e3 * (time.perf_counter() - began))
    return taken[0], min(taken[1:])


def rows(heads, lines):
    """A table in Markdown; numbers with two digits."""

    def shown(value):
        if isinstance(value, str):
            return value
        return f"{float(f'{value:.2g}'):,g}"

    body = [f"| {' | '.join(map(shown, line))} |" for line in lines]
    rule = "|".join(["---", *["---:"] * (len(heads) - 1)])
    return Markdown("\n".join([f"| {' | '.join(heads)} |", f"|{rule}|", *body]))


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
# (guide-points)=
# ## I have points
#
# The Gaussian kernel of points in 64 dimensions, from 256 frequencies:

# %%
import jax
import jax.numpy as jnp

from rfcore import choose, couplings, features, kernels

x = jax.random.normal(jax.random.key(0), (1000, 64))
lengthscale = 11.3  # the median distance of two of them

choice = choose(m=256, d=64)
omega = choice.coupling(jax.random.key(1), 256, 64)
phi = features.fourier(x / lengthscale, omega)  # (1000, 512)

K = kernels.gaussian(x / lengthscale, x / lengthscale)
error = jnp.linalg.norm(phi @ phi.T - K) / jnp.linalg.norm(K)
print(f"{choice.name}: relative error {error:.3f}")

# %% [markdown]
# **What it is worth** depends on how far apart your points are, in lengthscales: `np.median(pdist(X[:500])) / lengthscale`. At half a
# lengthscale features go much further, at two lengthscales in many dimensions hardly; the picture above says how far. (scikit-learn's
# `gamma="scale"` puts standardised columns about two apart, where a coupling saves least. Ask whether so sharp a kernel is the one that you
# want.)
#
# **How many for an error of 0.01?** The error of the chosen frequencies is known before they are drawn, so ask; Fourier features have two
# columns for each frequency ({doc}`/notebooks/beyond/06_tight_frames` has a table):

# %%
from rfcore import n_frequencies

for distance in (0.5, 1.0, 2.0):
    m = n_frequencies(0.01, d=64, distance=distance)
    print(f"distance {distance:g}: {m:,} frequencies, {2 * m:,} columns")

# %% [markdown]
# **What it costs.** The first call compiles, once for each shape:

# %% tags=["hide-input"]
points = np.asarray(x)
same = {"gamma": 0.5 / lengthscale**2, "n_components": 512, "random_state": 0}
marks, sampler = Nystroem(**same).fit(points), RBFSampler(**same).fit(points)
DRAWN = jax.jit(lambda key: choice.coupling(key, 256, 64))
IID = jax.jit(lambda key: couplings.iid(key, 256, 64))
MAP = jax.jit(lambda x: features.fourier(x / lengthscale, omega))


def off(phi):
    """Relative error of the Gram matrix."""
    return float(jnp.linalg.norm(phi @ phi.T - K) / jnp.linalg.norm(K))


plain = features.fourier(x / lengthscale, couplings.iid(jax.random.key(1), 256, 64))
assert off(marks.transform(points)) < off(phi) < off(plain)
rows(
    ["512 columns for 1,000 points", "first call, ms", "next, ms", "relative error"],
    [
        ["`choice.coupling`", *milliseconds(lambda: DRAWN(jax.random.key(2))), ""],
        ["`couplings.iid`", *milliseconds(lambda: IID(jax.random.key(2))), ""],
        ["`features.fourier`, chosen", *milliseconds(lambda: MAP(x)), off(phi)],
        ["`features.fourier`, independent", "", "", off(plain)],
        ["scikit-learn: `RBFSampler`", *milliseconds(lambda: sampler.transform(points)),
         off(sampler.transform(points))],
        ["scikit-learn: `Nystroem`", *milliseconds(lambda: marks.transform(points)),
         off(marks.transform(points))],
    ],
)  # fmt: skip

# %% [markdown]
# **Before you take it.** If you hold the points and want their Gram matrix, take `Nystroem`: it sees where they are, and random features do
# not. Features pay where points arrive later, from elsewhere or all the time, where estimates have to be unbiased, or where columns are
# many (landmarks cost the cube of their number). And a kernel ten times better may leave a prediction where it was:
# {doc}`/notebooks/road/12_a_town`.
#
# In scikit-learn: `RandomFeatures(512, gamma=gamma, coupling="choose")` from `rfcore.estimators`
# ({doc}`/notebooks/beyond/01_in_a_pipeline`). Where features must not be negative: `features.positive`, and
# `choose(m=256, d=64, features="positive")`.
#
# (guide-graph)=
# ## I have a graph
#
# What do you want of its kernel? **All of it, on up to some ten thousand nodes:** compute it. **Its product with a few vectors**, on any graph:
# `expm_multiply` never forms it, and is exact.

# %%
import jax
import networkx as nx
import numpy as np

from rfcore import features, graphs, kernels

g = graphs.Graph.from_networkx(nx.random_regular_graph(6, 10_000, seed=0)).normalised()
v = np.random.default_rng(0).normal(size=g.n_nodes)
product = np.exp(-0.5) * kernels.expm_multiply(g, 0.5, v)  # diffusion, sigma = 1

# %% [markdown]
# **Features of nodes**, to learn a kernel, or where a graph can only be explored from node to node: systematic walkers, which share out the
# neighbours among themselves.

# %%
f, keys = features.modulation.diffusion(1.0), jax.random.split(jax.random.key(0))
phi, psi = (features.walk_features(key, g, f, 16, 0.1, "systematic") for key in keys)
estimate = phi @ (psi.T @ v)
error = np.linalg.norm(estimate - product) / np.linalg.norm(product)
print(f"relative error {error:.3f}")


# %% tags=["hide-input"]
def regular(n):
    """A random graph of degree 6, without going through networkx."""
    rng = np.random.default_rng(n)
    turns = [rng.permutation(n) for _ in range(3)]
    pairs = np.concatenate([np.stack([turn, np.roll(turn, 1)], 1) for turn in turns])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    return graphs.Graph.from_edges(pairs.T, n_nodes=n).normalised()


def on(n):
    """Milliseconds and errors on a graph of n nodes."""
    g, v = regular(n), np.random.default_rng(0).normal(size=n)
    exact = np.exp(-0.5) * kernels.expm_multiply(g, 0.5, v)

    def walked(coupling):
        return [features.walk_features(k, g, f, 16, 0.1, coupling) for k in keys]

    def error(walks):
        return np.linalg.norm(walks[0] @ (walks[1].T @ v) - exact) / np.linalg.norm(
            exact
        )

    walks = walked("systematic")
    once = milliseconds(lambda: kernels.expm_multiply(g, 0.5, v), 1)[1]
    walking = [milliseconds(lambda c=c: walked(c), 1)[1] for c in ("iid", "systematic")]
    product = milliseconds(lambda: walks[0] @ (walks[1].T @ v), 1)[1]
    # A clock does not tell a tenth.
    repaid = walking[1] / (once - product) if product < 0.9 * once else "never"
    errors = error(walked("iid")), error(walks)
    assert errors[1] < errors[0] / 2
    return [f"{n:,}", once, *walking, product, repaid, *errors]


HEADS = ["nodes", "`expm_multiply`, ms", "walks, independent, ms", "systematic, ms",
         "a product by features, ms", "repaid after, products", "error, independent",
         "systematic"]  # fmt: skip
rows(HEADS, [on(n) for n in ((10_000,) if QUICK else (10_000, 100_000, 1_000_000))])

# %% [markdown]
# **Before you walk.** For products alone, look at *repaid*: after so many of them systematic walks have saved the time that they took, and
# never where a product by features is not a tenth faster than the exact one. (Errors are relative, of one product.) On graphs with hubs
# systematic walkers gain less ({doc}`/notebooks/couplings/19_where_hops_help`); {doc}`/notebooks/ugrf/19_what_pays_when` has the tasks for
# which walks pay. Two sets of walks, `phi @ psi.T`, make the estimate unbiased; a Gaussian process needs a symmetric one and takes
# `phi @ phi.T`. On a graph that fits into memory, {py:class}`rfcore.gp.Diffusion` is an exact kernel for GPJax.
#
# (guide-attention)=
# ## I have attention
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
# **Is that good?** Ask what it costs to do nothing. Below, on other inputs, the same layer with plain positive features (FAVOR+), and with
# all weights equal, so that each output is the mean of the values: that is free.

# %% tags=["hide-input"]
favor = FeatureAttention(layer, 512, key=jax.random.key(2))


def mean(x):
    """The layer with equal weights: every position gets the mean of the values."""
    values = jax.vmap(layer.value_proj)(x).mean(axis=0)
    return jnp.broadcast_to(layer.output_proj(values), x.shape)


def lengths(n):
    """Milliseconds and errors at n positions."""
    x = jax.random.normal(jax.random.key(n), (n, 512))
    ways = {"exact": layer, "calibrated": fast, "FAVOR+": favor}
    calls = {
        name: eqx.filter_jit(lambda x, w=way: w(x, x, x)) for name, way in ways.items()
    }
    out = {name: call(x) for name, call in calls.items()} | {"mean": mean(x)}
    taken = [
        milliseconds(lambda n=name: calls[n](x))[1] for name in ("exact", "calibrated")
    ]
    scale = jnp.linalg.norm(out["exact"])
    errors = [
        float(jnp.linalg.norm(out[name] - out["exact"]) / scale)
        for name in ("calibrated", "FAVOR+", "mean")
    ]
    return [f"{n:,}", *taken, *errors]


HEADS = ["positions", "exact, ms", "calibrated, ms", "its error", "error, FAVOR+",
         "error, plain mean"]  # fmt: skip
measured = [lengths(n) for n in ((256,) if QUICK else (512, 1024, 2048, 4096))]
if not QUICK:
    exact_ms, fast_ms, ours, _, means = np.array([row[1:] for row in measured]).T
    assert ((means < ours) == [True, True, False, False]).all()
    assert fast_ms[-1] < 0.8 * exact_ms[-1]
rows(HEADS, measured)

# %% [markdown]
# **Before you take it.** This layer is untrained, and attends to everything alike; a plain mean is then hard to beat. Up to a thousand
# positions it is nearer than 512 features; at two thousand the features are, and at four thousand they are faster than exact attention too. On
# {doc}`trained heads </notebooks/favor/06_real_queries>` couplings change next to nothing, and 256 plain features are about as far off as the
# mean. What helps is to subtract means, to fit the map (`calibrated` does both), and to take the
# {doc}`greatest keys exactly </notebooks/beyond/02_attention_maps>`. In short contexts take attention itself; on a GPU it is faster for
# longer: {doc}`/book/benchmarks`.
