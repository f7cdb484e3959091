# %% [markdown]
# # Features of a node
#
# Everything so far was about vectors. Now let the points be the nodes of a graph: people in a club, crossings of roads, faces of a surface.
# How alike are two nodes? As alike as there are short paths between them. A *kernel* on a graph weighs all paths from one node to
# another, the long ones less. To compute it exactly takes the cube of the number of nodes.
#
# Below is a club of 34 people, and the likeness of each to the one with the ring: left exactly, and then as found by four walkers, and
# by sixty-four, who set out from every node and wander at random.

# %% tags=["parameters"]
n_walks = 64  # from each node
p_halt = 0.1  # the chance to stop before each hop
node = 0  # the one with the ring

# %%
import jax
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from rfcore import features, graphs, kernels

club = nx.karate_club_graph()
g = graphs.Graph.from_networkx(club).normalised()
f = features.modulation.diffusion(1.5)


def walked(n_walks, seed):
    """The kernel of all pairs of nodes, from two independent sets of walks."""
    keys = jax.random.split(jax.random.key(seed))
    phi, psi = (features.walk_features(key, g, f, n_walks, p_halt) for key in keys)
    return (phi @ psi.T).toarray()


# %% tags=["hide-input"]
place = nx.spring_layout(club, seed=2, k=0.35)
exact = kernels.diffusion(g, 1.5)
shown = {
    "exact": exact,
    "4 walkers": walked(4, 1),
    f"{n_walks} walkers": walked(n_walks, 1),
}
fig, axes = plt.subplots(1, 3, figsize=(5.2, 2.1))
style = {"node_size": 35, "cmap": "viridis", "vmin": 0, "vmax": sorted(exact[node])[-2]}
for ax, (name, kernel) in zip(axes, shown.items()):
    nx.draw_networkx_edges(club, place, ax=ax, alpha=0.25, width=0.7)
    nx.draw_networkx_nodes(club, place, ax=ax, node_color=kernel[node], **style)
    ax.scatter(*place[node], s=120, facecolors="none", edgecolors="C2", linewidths=2)
    ax.set_title(name)
    ax.axis("off")
plt.show()
few, many = (abs(shown[name] - exact)[node].mean() for name in list(shown)[1:])
if (n_walks, p_halt, node) == (64, 0.1, 0):
    assert many < few / 2 and many < 0.25 * exact[node].mean()

# %% [markdown]
# ## How a walk becomes a feature
#
# A walker leaves node $i$. Before each hop it stops with probability $p_{\text{halt}}$; otherwise it goes to a random neighbour. At every
# node it visits it leaves a number: a *load*, which makes up for how unlikely it was to come this way, times $f(k)$, where $k$ counts
# its hops. What it has left on all nodes is the feature vector of node $i$.
#
# On average, the load after $k$ hops is the power $W^k$ of the matrix of weights. Where two walkers meet, one after $j$ hops and the other after
# $l$, they have found a path of $j + l$ hops. So the scalar product of two feature vectors is, on average,
# $\sum_k (f * f)(k)\, W^k$ with the *convolution* $(f * f)(k) = \sum_{j + l = k} f(j) f(l)$: **any power series, by the choice of $f$.** The
# function $f$ is called the *modulation*, and the walks do
# not depend on it. {verdict}`ugrf/thm-2.2/closed-forms`
#
# Right on average, for every entry? Here are three entries, many times over:

# %%
pairs = [(0, 1), (0, 33), (16, 26)]
drawn = np.array([[walked(8, seed)[pair] for pair in pairs] for seed in range(1000)])
share = drawn / [exact[pair] for pair in pairs]
mean, error = share.mean(0), share.std(0) / len(share) ** 0.5
for i, (pair, values) in enumerate(zip(pairs, share.T)):
    counts, edges = np.histogram(values, 24, (0, 4))
    plt.stairs(counts, edges, color=f"C{i}", label=f"nodes {pair[0]} and {pair[1]}")
    plt.errorbar(mean[i], -20, xerr=2 * error[i], fmt=f"^C{i}", markersize=8)
plt.gca().set(
    xlabel="estimate / kernel (triangles: the mean)", ylabel="draws", ylim=(-40, 800)
)
plt.legend()
plt.show()
# %% tags=["hide-input"]
hops = [nx.shortest_path_length(club, *pair) for pair in pairs]
zero, spread = (share == 0).mean(0), share.std(0)
assert hops == [1, 2, 5] and (np.diff(spread) > 0).all()
if p_halt == 0.1:
    assert (abs(mean - 1) < 3.5 * error).all()
    assert spread[2] > 2 * spread[1] and np.median(share[:, 2]) < 0.5
    assert np.histogram(share[:, 2], 24, (0, 4))[0].argmax() == 0

# %% [markdown]
# The means are right, give or take two standard errors or so. {verdict}`ugrf/thm-2.1/unbiased-karate` The single estimates scatter, and the
# farther two nodes are apart, the more so. Nodes 16 and 26 are five hops apart: most of their estimates are less than half of the kernel,
# and a few are many times too large.
#
# ## A trap
#
# Why two sets of walks? With one set, a node's walk meets *itself*, and the diagonal comes out too large. But the matrix $\phi\phi^\top$ of
# one set is always positive semidefinite, which a Gaussian process needs, and that of two sets is not.

# %%
phi = features.walk_features(jax.random.key(0), g, f, 2, p_halt)
once = (phi @ phi.T).toarray()
print("mean of the diagonal, exact:          ", np.diag(exact).mean().round(2))
print("mean of the diagonal, from one set:   ", np.diag(once).mean().round(2))
# %% tags=["hide-input"]
two = walked(2, 0)
assert np.diag(once).mean() > 1.1 * np.diag(exact).mean()
assert np.linalg.eigvalsh(once)[0] > -1e-6
assert np.linalg.eigvalsh(two + two.T)[0] < -1e-3

# %% [markdown]
# ## Two exercises
#
# **With a pen.** Which $f$ belongs to the kernel $(I - \beta W)^{-2}$?
#
# :::{dropdown} Solution
# $(I - \beta W)^{-1} = \sum_k \beta^k W^k$, and the square of this series is the kernel. So $f(k) = \beta^k$, exactly.
# :::
#
# **To run.** Set `p_halt = 0.5`, so that walks are short. Which of the three entries suffers most?
#
# :::{dropdown} What you should see
# That of nodes 16 and 26, five hops apart: nine estimates in ten are zero, since hardly any walk comes halfway, and the few that do have to
# carry huge loads.
#
# ```python
# p_halt = 0.5  # and all cells again
# assert zero[2] > 0.9 and zero[2] > 2 * zero[1] > 2 * zero[0]
# assert spread[2] > 4 * spread[1]
# ```
# :::
