# %% [markdown]
# # Primer: what is a random feature?
#
# * **A random feature is a number** $f(\omega, x)$ computed from a point and a random frequency. Products of
#   features are, on average, a kernel.
# * **The average does not care how the frequencies depend on each other; the error does.** In the example below two
#   frequencies that point in opposite directions do the work of more than four independent ones.
# * **A random walk is a frequency too**, and the nodes of a graph are its points.
#
# Everything in this book is a variation on these three sentences. If you know kernels
# and Monte Carlo, start with {doc}`the main road </book/main_road>`; if not, here is a
# short course.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from companion import evidence, plotting
from companion.papers.simplex import two_frequencies
from companion.plotting import motion
from rfcore import couplings, features, graphs, kernels, walks
from rfcore.walks import Lengths

ledger = evidence.open_page("start/01_primer", profile)
N_REPEATS, N_WALKED = {"paper": (20_000, 4_000), "quick": (4_000, 400)}[profile]

# %% [markdown]
# ## A kernel says how alike two points are
#
# The **Gaussian kernel** of two points is $k(x, y) = e^{-|x - y|^2 / 2}$: one where they coincide, close to zero where
# they are far apart. Put the kernel of every pair of $N$ points into a matrix, the **Gram matrix**, and a good
# part of machine learning is linear algebra with it: regression, Gaussian processes, clustering, attention in
# transformers. That is also the trouble. The matrix has $N^2$ entries, and solving with it takes $N^3$ operations.
#
# Suppose instead that every point had a short list of numbers $\phi(x)$, its **features**, with
# $k(x, y) = \phi(x)^\top \phi(y)$. Then the Gram matrix would be $\Phi \Phi^\top$, and one would never have to write
# it down: multiplying by it takes two thin products. For most kernels no short list does this exactly. A random
# short list does it *on average*.
#
# ## Draw cosines at random, and take the average
#
# Take the simplest points, numbers on a line, and draw $\omega$ from the standard normal distribution. The average of
# $\cos \omega(x - y)$ over all $\omega$ is $e^{-(x - y)^2 / 2}$, the Gaussian kernel. And a cosine of a difference is a product:
# $\cos \omega(x - y) = \cos \omega x \cos \omega y + \sin \omega x \sin \omega y$. So the pair
# $(\cos \omega x, \sin \omega x)$ is a feature of $x$. Take $m$ of these pairs, over $\sqrt m$, and you have the **Fourier
# features** with which it all began {cite:p}`rahimi2007random`; the numbers $\omega$ are called **frequencies**. In code:

# %%
line = jnp.linspace(-4, 4, 81)[:, None]


def phi_of(key, m):
    """Fourier features of the points of a line, from m frequencies."""
    return features.fourier(line, couplings.iid(key, m, 1))


# %% [markdown]
# How good is that? Below is the likeness of every point to the one in the middle: the kernel, thick, and four draws of the features,
# thin. Ten cosines make a poor bell, a thousand a good one.

# %% tags=["hide-input"]
FOUR = jax.random.split(ledger.key("bells"), 4)


def bells(m):
    """The kernel on a line, and its estimates from m frequencies."""
    ax = Figure(figsize=plotting.PANEL).subplots()
    for one in FOUR:
        phi = phi_of(one, m)
        ax.plot(line, phi @ phi[40], color=plotting.COLOURS["iid"], lw=1)
    ax.plot(line, jnp.exp(-(line**2) / 2), color=plotting.INK, lw=2.5)
    ax.set(ylim=(-0.8, 1.2), title=f"m = {m}", xlabel="x")
    return ax.figure


plotting.show(
    *map(bells, (10, 100, 1000)),
    caption="Ours. The Gaussian kernel of $x$ and 0 (thick), and four estimates of it "
    "from $m$ random frequencies each (thin).",
    alt="Three panels with a bell. Ten frequencies give wavy lines that miss it by a "
    "quarter, a hundred lines that wobble around it, a thousand lines that hide behind "
    "it.",
)

# %% [markdown]
# The same for all pairs of points at once, which is the Gram matrix $\Phi \Phi^\top$; and what one wants it for, a curve through noisy
# dots (ridge regression, with features in place of the kernel):

# %% tags=["hide-input"]
seen = np.arange(2, 81, 6)
dots = np.sin(2 * np.asarray(line[seen, 0])) + 0.2 * np.asarray(
    jax.random.normal(ledger.key("noise"), (len(seen),))
)


def gram(m):
    """A Gram matrix as a picture; the exact one for None."""
    phi = None if m is None else phi_of(FOUR[0], m)
    K = kernels.gaussian(line, line) if m is None else phi @ phi.T
    ax = Figure(figsize=plotting.PANEL).subplots()
    ax.imshow(K, vmin=-0.3, vmax=1, extent=(-4, 4, 4, -4))
    ax.set(title="exact" if m is None else f"m = {m}")
    return ax.figure


def fit():
    """Curves through dots, by ridge regression."""
    ax = Figure(figsize=plotting.PANEL).subplots()
    for m, colour in ((10, "iid"), (100, "first"), (1000, "exact")):
        phi = np.asarray(phi_of(FOUR[0], m))
        K = phi @ phi[seen].T
        ridge = K[seen] + 0.04 * np.eye(len(seen))
        ax.plot(line, K @ np.linalg.solve(ridge, dots), color=plotting.COLOURS[colour])
    ax.plot(line[seen], dots, "o", color=plotting.INK)
    ax.set(title="m = 10, 100, 1000", xlabel="x", ylim=(-2, 2))
    return ax.figure


plotting.show(
    gram(None), gram(10), gram(100), fit(),
    caption="Ours. The Gram matrix of 81 points on a line, and two estimates of it; "
    "right, curves through fourteen noisy dots by ridge regression with 10 (grey), 100 "
    "(blue) and 1000 (dark) frequencies.",
    alt="Three heat maps with a bright diagonal band; with ten frequencies there are "
    "stripes beside it, with a hundred faint ones. Right, three curves through dots of "
    "which two nearly coincide and one is off.",
)  # fmt: skip

# %% [markdown]
# ## An average of random numbers
#
# This is **Monte Carlo**, an average in place of an expectation. Draw $\omega_1, \dots, \omega_m$, compute a number $z_i$ from each, and
# $\frac1m \sum_i z_i$ estimates the expectation $\mathbb E[z]$. It is **unbiased**: right on average, however small $m$ is. Its
# squared error is, on average, the variance of one $z$ divided by $m$. So a hundred times as many draws buy one more digit.
#
# Cosines are not the only choice. Attention needs features that are never negative, and $f(\omega, x) = e^{\omega^\top x - |x|^2}$ does
# as well: $\mathbb E[f(\omega, x) f(\omega, y)] = k(x, y)$, in any dimension. These are **positive random features**. The error of
# Fourier features depends on $|x - y|$; that of positive features also on how far out the points are, through $|x + y|$. In code:

# %%
d, m = 2, 2
x, y = jnp.array([[0.4, 0.1]]), jnp.array([[0.1, 0.3]])


def estimate(draw, key):
    """The kernel of x and y, estimated from m frequencies of a coupling."""
    omega = draw(key, m, d)
    return (features.positive(x, omega) @ features.positive(y, omega).T)[0, 0]


# %% [markdown]
# Draw frequencies, turn both points into features, multiply. The word *draw* hides the one question that
# three of the five papers ask.
#
# ## Draw them how?
#
# The obvious way is to draw the $m$ frequencies independently. Nothing requires it. What the average needs is that
# *each frequency by itself* is normal. How they depend on each other is free, because the expectation of a sum is the
# sum of the expectations.
#
# Two words for this recur on every page. The distribution of one frequency alone is its **marginal** distribution.
# The distribution of all of them together is their **joint** distribution, also called their joint law. A
# **coupling** is a joint distribution with given marginals.
#
# Here is the simplest coupling that is not independent. In the plane, draw $\omega_1$, and let $\omega_2$ point
# exactly the opposite way, with a length of its own. It is still normal by itself. The picture shows both kinds of
# pair. Circles alone are distributed alike left and right, and so are squares; the lines that join them are not.

# %%
DRAWS = {"iid": couplings.iid, "simplex": couplings.simplex}


def pairs_of(name, draw):
    """Pairs of frequencies, each joined by a line."""
    omega = np.asarray(
        jax.vmap(lambda key: draw(key, m, d))(jax.random.split(ledger.key("seen"), 12))
    )
    ax = Figure(figsize=plotting.PANEL).subplots()
    ax.plot(
        *omega.transpose(2, 1, 0), color=plotting.COLOURS[name], linewidth=1, alpha=0.6
    )
    for k, marker in enumerate("os"):
        ax.plot(*omega[:, k].T, marker, color=plotting.COLOURS[name], markersize=5)
    ax.plot(0, 0, "+", color=plotting.INK)
    ax.set(xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), aspect="equal", title=TITLES[name])
    return ax.figure


TITLES = {"iid": "independent", "simplex": "opposite"}
plotting.show(
    *(pairs_of(*pair) for pair in DRAWS.items()),
    caption="Ours. Twelve pairs of frequencies in the plane, each joined by a line.",
    alt="Left, pairs of points at random, the lines crossing anyhow. Right, every line "
    "runs through the origin, its ends on opposite sides at unequal distances.",
)

# %% [markdown]
# ## Why opposite is better
#
# Write $z_i = f(\omega_i, x) f(\omega_i, y)$ for what one frequency contributes. The error of the average of two is
#
# $$
# \operatorname{Var}\Bigl[\frac{z_1 + z_2}{2}\Bigr]
# = \underbrace{\tfrac12 \operatorname{Var}[z]}_{\text{one frequency}}
# + \underbrace{\tfrac12 \operatorname{Cov}[z_1, z_2]}_{\text{the coupling}} .
# $$
#
# The first term is the same for every coupling. The second is zero for independent frequencies, and *negative* if $z_2$
# tends to be small where $z_1$ is large. Here $z$ grows with $\omega^\top (x + y)$: when $\omega_1$ points along $x + y$
# its contribution is large, and that of $\omega_2$, which points the other way, is small. One makes up for the other. All
# the geometry in this book is about that covariance.
#
# Our two points lie close to the origin. Farther out the first term outgrows the second, and couplings matter less;
# {doc}`/notebooks/simplex/01_conformity_and_error` shows the whole curve.

# %%
keys = jax.random.split(ledger.key("frequencies"), N_REPEATS)
drawn = np.stack([
    np.asarray(jax.jit(jax.vmap(lambda key, draw=draw: estimate(draw, key)))(keys))
    for draw in DRAWS.values()
], axis=1)  # fmt: skip
truth = float(kernels.gaussian(x, y)[0, 0])
squared = (drawn - truth) ** 2

# %% tags=["hide-input"]
plotting.table(
    np.stack([drawn.mean(0), squared.mean(0)], axis=1),
    rows=list(TITLES.values()),
    corner="pairs",
    columns=["mean estimate", "mean squared error"],
    caption=f"Ours. Two frequencies, {N_REPEATS} draws. The kernel is {truth:.4f}.",
)

# %% [markdown]
# (start-coupling)=
# ### Both are right on average; one is closer

# %% tags=["hide-input"]
ledger.decide({
    "simplex/extra-primer/unbiased": evidence.unbiased(drawn, truth, truth / 10),
    "simplex/extra-primer/opposite": evidence.order(squared[:, 1], squared[:, 0]),
})

# %% [markdown]
# ### From beside to opposite
#
# Opposite directions are one end of a scale. Fix the angle between the two frequencies, turn the pair at random, and leave
# the lengths independent: each frequency is still normal, and the estimate is still unbiased. Its error has a closed form
# ({py:func}`~companion.papers.simplex.two_frequencies.squared_error_at_angle`). Below 90 degrees one is worse off than with
# right angles, above 90 degrees better, and the best angle is the widest.

# %%
degrees = np.arange(0, 181, 15)
at_angle = two_frequencies.squared_error_at_angle(x[0], y[0], np.radians(degrees))

# %% tags=["hide-input"]
independent = squared[:, 0].mean()


def at(k):
    """A pair of frequencies at an angle, and the curve of errors."""
    fig = Figure(figsize=plotting.WIDE)
    pair, curve = fig.subplots(1, 2, width_ratios=(1, 1.25))
    for turn, length in ((20, 1.3), (20 + degrees[k], 1.0)):
        tip = length * np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
        pair.annotate(
            "", tip, (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": plotting.COLOURS["simplex"]},
        )  # fmt: skip
    pair.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal", title="one pair")
    pair.axis("off")
    curve.plot(degrees, at_angle, color=plotting.COLOURS["simplex"])
    curve.plot(degrees[k], at_angle[k], "o", color=plotting.COLOURS["simplex"], ms=8)
    curve.axhline(independent, color=plotting.COLOURS["iid"], ls="--", lw=1.2)
    words = {"color": plotting.COLOURS["iid"], "ha": "right"}
    curve.text(180, 1.03 * independent, "independent", **words)
    curve.set(ylim=(0, 0.4), xlabel="angle in degrees", title="mean squared error")
    curve.set_xticks(range(0, 181, 45))
    return fig


motion.frames(
    [at(k) for k in range(len(degrees))],
    [f"{angle}°: error {e:.3f}" for angle, e in zip(degrees, at_angle, strict=True)],
    slider="angle",
    caption="Ours. Two frequencies at an angle, and the error of the estimate; dashed, "
    "that of independent ones, measured.",
    alt="Left two arrows at an angle, right a curve of the error against that angle. "
    "It falls from 0.36 at 0 degrees through 0.21 at a right angle, just below that of "
    "independent frequencies, to 0.10 at 180 degrees.",
)  # fmt: skip

# %% [markdown]
# (start-angle)=
# ### The closed form is what was measured

# %% tags=["hide-input"]
fresh = jax.random.split(ledger.key("opposite pairs"), 5 * N_REPEATS)
opposite = jax.jit(jax.vmap(lambda key: estimate(couplings.simplex, key)))(fresh)
ledger.decide({
    "simplex/extra-primer/angle": evidence.unbiased(
        (np.asarray(opposite) - truth) ** 2, at_angle[-1], at_angle[-1] / 4
    ),
})

# %% [markdown]
# In the plane, two opposite vectors are the corners of a **simplex**, the most symmetric figure with one corner more
# than it has dimensions. One of $d - 1$ dimensions has $d$ corners, fits into $d$ dimensions, and $d$ frequencies can point to
# its corners: that is the first paper,
# {doc}`/book/simplex`. Lengths can be coupled as well as directions: for vectors at right angles, a long one with a short one.
# That is the third,
# {doc}`/book/couplings`. The second term of the error is one handle on it. Two more papers turn the first term: with a
# better function $f$ ({doc}`/book/favor`), or with a better distribution to draw $\omega$ from, and weights that keep
# the average right ({doc}`/book/equivalence`).
#
# ## Walks instead of frequencies
#
# On a graph the points are nodes, and two nodes are alike when many short paths join them. Kernels of this kind are
# power series in the matrix of edge weights $W$: $(W^k)_{ij}$ counts the paths of $k$ steps from $i$ to $j$, each with
# its weight.
#
# A random walk samples paths. Start a walker at node $i$; before each hop let it stop with probability $p_{\text{halt}}$, or
# else send it to a random neighbour. At each node that it visits it leaves a number: a *load*, which makes up for how unlikely
# it was to come this way, times $f(k)$, where $k$ counts its steps. The numbers that it leaves on the nodes make up the feature
# vector of node $i$. The function $f$ is called the **modulation**. It alone decides which kernel comes out, and it is the
# subject of the second paper, {doc}`/book/ugrf`.
#
# Here is one walk, on a graph of six nodes. The slider takes it from hop to hop.

# %% tags=["hide-input"]
PLACE = np.array([(0, 0), (-1.1, 0.8), (0.7, 0.9), (-1.1, -0.8), (0.7, -0.9), (1.7, 0)])
SIX = nx.Graph([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 4), (4, 5), (2, 5)])
six, of_six = (
    graphs.Graph.from_networkx(SIX).normalised(),
    features.modulation.diffusion(1.0),
)
edges = np.array(SIX.edges)


def walk_of(name, n_walks, n_hops, hops):
    """Nodes and loads of walks from node 0, one a row, of so many hops each."""
    lengths = Lengths(np.full((1, n_walks), n_hops), 0.3, hops)
    left = walks.simulate(ledger.key(name), six, lengths, nodes=np.array([0]))
    first = np.zeros((1, n_walks))
    return (
        np.vstack([start + first, part[1:].reshape(n_hops, n_walks)]).T
        for start, part in ((0, left.node), (1, left.load))
    )


(path,), (loads,) = walk_of("one walk", 1, 4, walks.hops.Independent())
path, left = path.astype(int), loads * of_six(np.arange(5))


def total(node, k):
    """What k hops have left on a node."""
    return left[: k + 1][path[: k + 1] == node].sum()


def hop(k):
    """The graph after k hops, and what was left on the way."""
    ax = Figure(figsize=plotting.PANEL).subplots()
    ax.plot(*PLACE[edges].transpose(2, 1, 0), color=plotting.INK, lw=1, alpha=0.5)
    ax.plot(*PLACE[path[: k + 1]].T, color=plotting.COLOURS["first"], lw=3, alpha=0.7)
    ax.plot(*PLACE.T, "o", color=plotting.INK, ms=12, mfc="none")
    ax.plot(*PLACE[path[k]], "o", color=plotting.COLOURS["first"], ms=12)
    for node in set(path[: k + 1]):
        ax.annotate(
            f"{total(node, k):.3f}",
            PLACE[node],
            (0, 10),
            textcoords="offset points",
            ha="center",
        )
    ax.set(xlim=(-1.5, 2.1), ylim=(-1.2, 1.3), aspect="equal")
    ax.axis("off")
    return ax.figure


motion.frames(
    [hop(k) for k in range(5)],
    [
        f"{k} hop{'s' * (k != 1)}: it leaves {left[k]:.3f} where it stands, "
        f"which makes {total(path[k], k):.3f} there"
        for k in range(5)
    ],
    slider="hops",
    caption="Ours. A walk from the middle, and what it has left on the nodes so far: a "
    "row of features. Diffusion kernel, $p_{\\text{halt}} = 0.3$.",
    alt="Six nodes joined by eight lines. A thick line follows the walk from the node "
    "in the middle; numbers stand at the nodes that it has visited.",
)  # fmt: skip

# %% [markdown]
# The length of a walk is a random number, and so it can be coupled: let one walk be long where the other is
# short. Seven nodes in a ring, two walkers per node. Each product of features takes one from each of two sets of walks: if
# both came from one set, a node's walk would meet itself, and the diagonal would come out too large.

# %%
ring = graphs.Graph.from_networkx(nx.cycle_graph(7)).normalised()
f = features.modulation.diffusion(1.0)
K = np.asarray(kernels.diffusion(ring, 1.0))


def walked(coupling):
    """The kernel of the ring's nodes, many times, from two sets of walks."""
    phi, psi = (
        features.walk_features(
            ledger.key(f"walks {k}"), ring, f, 2, 0.3, coupling,
            nodes=np.tile(np.arange(7), N_WALKED),
        ).toarray().reshape(N_WALKED, 7, 7)
        for k in range(2)
    )  # fmt: skip
    return phi @ psi.transpose(0, 2, 1)


on_ring = np.stack([walked(coupling) for coupling in ("iid", "antithetic")], axis=1)
ring_errors = ((on_ring - K) ** 2).mean((2, 3))

# %% tags=["hide-input"]
plotting.table(
    np.stack([np.einsum("rcii->rc", on_ring).mean(0) / 7, ring_errors.mean(0)], axis=1),
    rows=["independent lengths", "long with short"],
    corner="walkers",
    columns=["mean estimate, diagonal", "mean squared error"],
    caption=f"Ours. Diffusion kernel of a ring of seven nodes, {N_WALKED} repeats. "
    f"Its diagonal is {K[0, 0]:.4f}.",
)

# %% [markdown]
# (start-walks)=
# ### Walks are right on average too

# %% tags=["hide-input"]
ledger.decide({
    "simplex/extra-primer/walks": evidence.unbiased(
        on_ring, np.stack([K, K]), K[0, 0] / 4
    ),
    "simplex/extra-primer/lengths": evidence.order(
        ring_errors[:, 1], ring_errors[:, 0]
    ),
})

# %% [markdown]
# ### Walkers that know of each other
#
# Lengths are one thing to couple, and *where* walkers go is another. Sixteen walkers leave the node in the middle, which has four
# neighbours. On average four go to each. Independent walkers scatter around that; systematic ones keep to it, at every hop, and
# each by itself is still a proper random walk. {doc}`/notebooks/couplings/17_walks_that_know` measures what this saves.

# %% tags=["hide-input"]
HOPS = {"independent": walks.hops.Independent(), "systematic": walks.hops.Systematic()}
seen = {
    title: next(walk_of("sixteen walks", 16, 3, hops)).astype(int)
    for title, hops in HOPS.items()
}
first = {
    title: np.bincount(nodes[:, 1], minlength=6)[1:5] for title, nodes in seen.items()
}
told = [
    f"{', '.join(map(str, n[:-1]))} and {n[-1]} ({title})" for title, n in first.items()
]
motion.walkers(
    PLACE, edges, seen, colours=("iid", "systematic"),
    caption="Ours. Sixteen walkers, three hops, over again. After the first hop the "
    f"four neighbours have {'; '.join(told)}.",
    alt="Two drawings of the graph of six nodes, on which sixteen dots start in the "
    "middle and hop three times. Left they crowd at some nodes and leave others, right "
    "they spread evenly.",
)  # fmt: skip

# %% [markdown]
# ## Three exercises
#
# **1.** Show that $\mathbb E[f(\omega, x) f(\omega, y)] = k(x, y)$ for $f(\omega, x) = e^{\omega^\top x - |x|^2}$.
#
# :::{dropdown} Solution
# The product is $e^{\omega^\top (x + y) - |x|^2 - |y|^2}$. For a normal $\omega$ and any vector $v$, $\mathbb E\, e^{\omega^\top v} =
# e^{|v|^2 / 2}$. With $v = x + y$ the exponent is $\tfrac12 |x + y|^2 - |x|^2 - |y|^2 = -\tfrac12 |x - y|^2$.
# :::
#
# **2.** Let $\omega_2 = -\omega_1$: opposite, and of the same length. Is the estimate unbiased? What is the covariance of $z_1$ and
# $z_2$, and is it better than that of opposite frequencies with independent lengths?
#
# :::{dropdown} Solution
# Unbiased: $-\omega_1$ is normal. Now $z_1 z_2 = e^{-2 |x|^2 - 2 |y|^2}$, in which $\omega$ does not occur: the product is a constant.
# With lengths $w_1$ and $w_2$ it is the same constant times $e^{(w_1 - w_2)\, u^\top (x + y)}$, where $u$ is a random direction; the mean
# of that over $u$ is at least one, as $\cosh \ge 1$. So equal lengths are better, and for opposite directions no other choice of lengths
# is better still. The mean of each $z$ is $k(x, y)$, so the covariance is $e^{-2 |x|^2 - 2 |y|^2} - k(x, y)^2$: for the points above,
# $0.583 - 0.878 = -0.295$. At right angles it is the other way round, and a long vector goes best with a short one
# ({doc}`/notebooks/couplings/01_norm_coupling`).
# :::
#
# **3.** Of sixteen independent walkers, how many reach a given one of the four neighbours of their node at the first hop, and give or
# take how many? And of systematic ones? Why does an estimate that adds up what walkers leave gain from that?
#
# :::{dropdown} Solution
# Their number is binomial: $16 \cdot \tfrac14 = 4$ on average, with standard deviation $\sqrt{16 \cdot \tfrac14 \cdot \tfrac34} =
# \sqrt 3$. Systematic ones: exactly four. What is left at a node after one hop is proportional to that number, so its error is
# gone. Later hops add errors of their own, and so do lengths.
# :::
#
# ## Where next
#
# * **To learn**: {doc}`the main road </book/main_road>`, twelve lessons, of which the first is {doc}`the whole curve of
#   errors </notebooks/road/01_directions>`.
# * **To choose**: {doc}`which features to use </notebooks/start/02_which_features>`, with a line to paste.
# * **To check a paper**: {doc}`every claim </book/scorecard>`, or {doc}`all of them at a glance </book/landscape>`.
#
# The verdicts above have the form of every verdict in this book: a claim, the rule that decides it, written down before the
# first run, and what was found. {doc}`/book/how_to_read` explains them. The symbols of the five papers stand side by side on
# {doc}`/book/notation`, and the words are explained on {doc}`/book/glossary`.

# %% tags=["hide-input"]
ledger.close()
