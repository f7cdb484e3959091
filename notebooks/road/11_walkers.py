# %% [markdown]
# # What if walkers shared their work?
#
# Sixteen walkers set out from one node of the club, and hop to a random neighbour. By chance many choose the same one, and some neighbours
# nobody visits. The estimate suffers for it: what many report is counted many times, and what nobody saw is missing. Let them share out the
# neighbours among themselves, and go on sharing wherever some of them meet. Each walker by itself still takes a random way. Walkers that
# share like this are called *systematic*.
#
# The picture shows how many walkers stand where after two hops, independent and sharing; and the number that one should expect.

# %% tags=["parameters"]
n_walks = 16
node = 0

# %%
import jax
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from rfcore import features, graphs, kernels, walks
from rfcore.walks import Lengths

club = nx.karate_club_graph()
g = graphs.Graph.from_networkx(club).normalised()


def standing(hops, seed=3, step=2):
    """How many walkers stand at each node after a number of hops."""
    lengths = Lengths(np.full((1, n_walks), 2), 0.1, hops)
    left = walks.simulate(jax.random.key(seed), g, lengths, nodes=np.array([node]))
    return np.bincount(left.node[left.step == step], minlength=g.n_nodes)


# %%
step = np.array(nx.to_numpy_array(club, weight=None))
step /= step.sum(1, keepdims=True)
shown = {
    "independent": standing(walks.hops.Independent()),
    "systematic": standing(walks.hops.Systematic()),
    "expected": n_walks * (step @ step)[node],
}
# %% tags=["hide-input"]
place = nx.spring_layout(club, seed=2, k=0.35)
fig, axes = plt.subplots(1, 3, figsize=(5.2, 2.1))
for ax, (name, count), colour in zip(axes, shown.items(), ("C0", "C3", "k")):
    nx.draw_networkx_edges(club, place, ax=ax, alpha=0.2, width=0.7)
    size = 45 * count + 0.5
    nx.draw_networkx_nodes(
        club, place, ax=ax, node_size=size, node_color=colour, alpha=0.8
    )
    ax.scatter(*place[node], s=170, facecolors="none", edgecolors="C2", linewidths=2)
    ax.set_title(name)
    ax.axis("off")
plt.show()


def away(hops, after):
    """From the expected numbers, summed over nodes, in a hundred draws."""
    expected = n_walks * np.linalg.matrix_power(step, after)[node]
    counts = np.array([standing(hops, seed, after) for seed in range(100)])
    return abs(counts - expected).sum(1)


if club.name and (n_walks, node) == (16, 0):  # the club
    assert club.degree[0] == 16 and (away(walks.hops.Systematic(), 1) < 1e-9).all()
    gain = away(walks.hops.Independent(), 2) - away(walks.hops.Systematic(), 2)
    assert (
        gain.mean() > 3 * gain.std() / 10
        and away(walks.hops.Independent(), 1).mean() > 10
    )
    places = [np.count_nonzero(shown[name]) for name in ("independent", "systematic")]
    assert places == [6, 12]

# %% [markdown]
# On the right are the expected counts, which are fractions. After the first hop *systematic* walkers match the expected numbers
# exactly: the node has sixteen neighbours, and one stands at each. After the second hop they no longer can, yet on average they are nearer
# than independent ones. Now measure the error of the kernel against the number of walkers.

# %%
sizes, n_repeats = (2, 4, 8, 16, 32, 64, 128), 30
f, exact = features.modulation.diffusion(1.0), kernels.diffusion(g, 1.0)


def errors(n_walks, coupling):
    """Mean squared errors of the whole kernel, each from a pair of sets of walks."""
    found = []
    for seed in range(n_repeats):
        keys = jax.random.split(jax.random.key(seed))
        phi, psi = (
            features.walk_features(k, g, f, n_walks, 0.1, coupling) for k in keys
        )
        found.append((((phi @ psi.T).toarray() - exact) ** 2).mean())
    return np.array(found)


# %%
mean, error = {}, {}
names = {
    "iid": "independent",
    "stratified": "lengths coupled",
    "systematic": "hops coupled",
}
for (coupling, name), colour in zip(names.items(), ("C0", "C1", "C3")):
    drawn = np.stack([errors(n, coupling) for n in sizes])
    mean[coupling], error[coupling] = drawn.mean(1), drawn.std(1) / n_repeats**0.5
    bars = 2 * error[coupling]
    style = {"fmt": "o-", "capsize": 2, "color": colour, "label": name}
    plt.errorbar(sizes, mean[coupling], bars, **style)
plt.xscale("log", base=2)
plt.yscale("log", base=2)
plt.gca().set(xlabel="walkers from each node", ylabel="mean squared error")
plt.legend()
plt.show()
# %% tags=["hide-input"]
gain = mean["iid"] / mean["systematic"]
of_gain = gain * np.hypot(*(error[key] / mean[key] for key in ("iid", "systematic")))
if club.name and sizes[-1] == 128:  # what the text and the description say
    assert (np.diff(gain)[1:] > 0).all()  # from four walkers on
    assert abs(gain[3] * mean["iid"][6] / mean["iid"][3] - 1) < 0.25
    assert abs(gain[5] - 20) < 3 * of_gain[5] + 1
    lengths = mean["stratified"] / mean["iid"]
    of_lengths = np.hypot(*(error[key] / mean[key] for key in ("stratified", "iid")))
    assert (abs(lengths - 1) < 0.19 + 3 * of_lengths).all()
    logs = {key: np.log(mean[key][2:6]) for key in mean}
    slope = {key: np.polyfit(np.log(sizes[2:6]), logs[key], 1)[0] for key in logs}
    assert 1.5 < slope["systematic"] / slope["iid"] < 2.1

# %% [markdown]
# Read the picture sideways. Sixteen walkers that share are about as good as 128 that do not, and from four walkers on the lead
# grows with every doubling. {verdict}`couplings/extra-hops/grows` The paper couples how *long* walkers walk, which is the blue line: where
# walks are long, you can hardly tell it from the grey one. {verdict}`couplings/extra-hops/lengths-little`
#
# ## Why
#
# A walk is a list of random choices: which edge first, which next, when to stop. The first edges decide most of what is seen, and the
# paper leaves them to chance. Of $n$ independent walkers at a node with $b$ edges the number that take each is off by some $\sqrt{n / b}$;
# that of walkers which share, by less than 1.
#
# It costs neither bias nor any optimisation, only some time.
#
# ## Two exercises
#
# **With a pen.** Sixteen walkers, four edges. What is the standard deviation of how many take the first edge, independent and
# systematic? And with 18 walkers?
#
# :::{dropdown} Solution
# Independent: $\sqrt{16 \cdot \frac14 \cdot \frac34} = \sqrt 3$, systematic: 0. With 18 it is $\sqrt{18 \cdot 3 / 16} = 1.84$; systematic
# walkers send four or five, and the deviation is $\frac12$.
# :::
#
# **To run.** Replace the club by a ring of 34, `nx.cycle_graph(34)`, and then by a star, `nx.star_graph(33)`. Where do walkers that
# share gain most, and why?
#
# :::{dropdown} What you should see
# On the ring each node has two edges, and half of the choices are soon shared out: the gain is large. On the star only the one in the middle
# has a choice at all, and its thirty-three edges are too many for few walkers: the gain sets in at 32.
#
# ```python
# club = nx.cycle_graph(34)  # and all cells again
# assert gain[3] > 15 and gain[5] > 50
# ```
#
# ```python
# club = nx.star_graph(33)  # and all cells again
# assert gain[1] < 1.5 and gain[3] < 2.2 and gain[4] > 4
# ```
# :::
