# %% [markdown]
# # What if walkers knew of each other?
#
# Sixteen walkers set out from one node of the club, and hop to a random neighbour. By chance many take the same door, and some doors
# nobody takes. The estimate suffers for it: what many report is counted many times, and what nobody saw is missing. Let them share out the
# doors among themselves, and go on sharing at every crossing. Each walker by itself still takes a random way.
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
from rfcore.couplings.walk_lengths import Lengths

club = nx.karate_club_graph()
g = graphs.Graph.from_networkx(club).normalised()


def standing(hops, seed=3):
    """How many walkers stand at each node after two hops."""
    lengths = Lengths(np.full((1, n_walks), 2), 0.1, hops)
    left = walks.simulate(jax.random.key(seed), g, lengths, nodes=np.array([node]))
    return np.bincount(left.node[left.step == 2], minlength=g.n_nodes)


# %%
step = np.array(nx.to_numpy_array(club, weight=None))
step /= step.sum(1, keepdims=True)
shown = {
    "independent": standing(None),
    "systematic": standing("systematic"),
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

# %% [markdown]
# On the right are fractions of walkers, as nobody can send them; *systematic* walkers come as near to it as whole numbers can. Now
# measure the error of the kernel against the number of walkers.

# %%
sizes, n_repeats = (2, 4, 8, 16, 32, 64), 30
f, exact = features.modulation.diffusion(1.0), kernels.diffusion(g, 1.0)


def error(n_walks, coupling):
    """The mean squared error of the whole kernel, from pairs of sets of walks."""
    total = 0
    for seed in range(n_repeats):
        keys = jax.random.split(jax.random.key(seed))
        phi, psi = (
            features.walk_features(k, g, f, n_walks, 0.1, coupling) for k in keys
        )
        total += (((phi @ psi.T).toarray() - exact) ** 2).mean()
    return total / n_repeats


# %%
for coupling, colour in (("iid", "C0"), ("stratified", "C1"), ("systematic", "C3")):
    name = {"iid": "independent", "stratified": "lengths coupled"}.get(
        coupling, "hops coupled"
    )
    plt.loglog(
        sizes,
        [error(n, coupling) for n in sizes],
        "o-",
        base=2,
        color=colour,
        label=name,
    )
plt.gca().set(xlabel="walkers from each node", ylabel="mean squared error")
plt.legend()
plt.show()

# %% [markdown]
# Read the picture sideways. Sixteen walkers that share their doors are as good as more than a hundred that do not, and the lead grows with
# every doubling. {verdict}`couplings/extra-hops/grows` The paper couples how *long* walkers walk, which is the blue line: where walks
# are long, you can hardly tell it from the grey one. {verdict}`couplings/extra-hops/lengths-little`
#
# ## Why
#
# A walk is a list of random choices: which door first, which next, when to stop. The first doors decide most of what is seen, and they were
# the choice that nobody had coupled. Independent walkers at a node with $b$ doors make an error of order $\sqrt{n}$ in how many take each;
# walkers that share make one of at most 1.
#
# It costs neither bias nor any optimisation, only some time: a systematic walk takes about twice as long as an independent one.
#
# ## Two exercises
#
# **With a pen.** Sixteen walkers, four doors. What is the standard deviation of how many take the first door, independent and
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
# On the ring each node has two doors, and half of the choices are soon shared out: the gain is large. On the star only the one in the middle
# has a choice at all, and its thirty-three doors are too many to share: the gain sets in at 32 walkers.
# :::
