# %% [markdown]
# # A map from a few sensors
#
# A town has a street grid, some closed streets, and a river with two bridges. At one crossing in six a sensor counts the traffic. What goes
# on at the others, and how sure can one be? Two crossings that face each other across the river are near as the crow flies, and far
# apart for a car. So it is the *graph* that must say who is near whom.
#
# A *Gaussian process* answers both questions at once, from the kernel of the graph: a best guess for every crossing, and an error bar.

# %% tags=["parameters"]
side = 24  # crossings along a side of the town
share = 0.17  # of the crossings that have a sensor
lengthscale = 2.5

# %%
import jax
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from rfcore import features, gp, graphs

rng = np.random.default_rng(0)
bridges = (side // 4, side - 4)
town = nx.grid_2d_graph(side, side)
river = [((side // 2 - 1, y), (side // 2, y)) for y in range(side) if y not in bridges]
streets = list(town.edges)
closed = rng.choice(len(streets), len(streets) // 8, replace=False)
town.remove_edges_from(river + [streets[i] for i in closed])
town = town.subgraph(max(nx.connected_components(town), key=len))
at = np.array(town.nodes)
g = graphs.Graph.from_networkx(town).normalised()

# %%
bank = np.where(at[:, 0] < side // 2, -1, 1)  # busy on the right, quiet on the left
truth = bank * (1 + 0.5 * np.sin(at[:, 1] / 4)) + 0.3 * np.cos(at.sum(1) / 5)
seen = np.sort(rng.choice(len(at), int(share * len(at)), replace=False))
rest = np.setdiff1d(np.arange(len(at)), seen)
noise = 0.2
y = truth[seen] + noise * rng.normal(size=len(seen))


# %%
def posterior(K):
    """Best guess and its error bar at every crossing."""
    everywhere = np.arange(len(at))
    found = gp.posterior(K / K.diagonal().mean(), y, noise**2, seen, everywhere)
    return np.asarray(found.mean), np.sqrt(np.diag(found.covariance_matrix))


guess, doubt = posterior(gp.diffusion_covariance(g, lengthscale))
# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(5.2, 2.3))
gap = (np.nan, np.nan)  # the pen is lifted between streets
drawn = np.array([[*street, gap] for street in town.edges]).reshape(-1, 2)
maps = {"truth": truth, "best guess": guess, "doubt": doubt}
for ax, (name, values) in zip(axes, maps.items()):
    picture = np.full((side, side), np.nan)
    picture[tuple(at.T)] = values
    colours = {} if name == "doubt" else {"cmap": "coolwarm", "vmin": -2, "vmax": 2}
    ax.imshow(picture.T, origin="lower", **colours)
    ax.plot(*drawn.T, color="k", lw=0.5, alpha=0.5)
    ax.set_title(name)
    ax.axis("off")
axes[2].plot(*at[seen].T, "w.", markersize=3)
plt.show()
sensors = {tuple(place) for place in at[seen].tolist()}
away = nx.multi_source_dijkstra_path_length(town, sensors)
away = np.array([away[tuple(place)] for place in at.tolist()])
by_hops = [doubt[away == hops].mean() for hops in range(5)]
number = {tuple(place): i for i, place in enumerate(at.tolist())}
cut = [(number[a], number[b]) for a, b in river if a in number and b in number]
jumps = [guess[b] - guess[a] for a, b in cut]
if (side, share, lengthscale) == (24, 0.17, 2.5) and len(river) == side - 2:
    assert doubt[seen].max() < noise < doubt[rest].min()
    assert away.max() == 4 and (np.diff(by_hops) > 0.1).all()
    assert np.mean(jumps) > 1.3  # the truth jumps by 2 on average
    assert abs(by_hops[0] - 0.19) < 0.005 and abs(by_hops[4] - 1.0) < 0.05

# %% [markdown]
# Blue is quiet, red is busy. The white dots on the right are the sensors: there the doubt is smallest, just below the 0.2 by which a
# sensor errs. It grows with every street that lies between a crossing and the nearest sensor. The river shows in the guess: nobody
# marked it, but the streets that would cross it are missing.
#
# ## With walkers
#
# This kernel was computed exactly. On a graph too large for that, let walkers estimate it. How near do they come to the exact answer?

# %%
f = features.modulation.diffusion(lengthscale * 2**0.5)
walkers, colours = (4, 8, 16, 32, 64), {"iid": "C0", "systematic": "C3"}
n_repeats, apart = 5, {}
for coupling in colours:
    for n_walks in walkers:
        for seed in range(n_repeats):
            key = jax.random.key(seed)
            phi = features.walk_features(key, g, f, n_walks, 0.1, coupling)
            off = (posterior(phi @ phi.T)[0] - guess)[rest]
            apart.setdefault((coupling, n_walks), []).append((off**2).mean() ** 0.5)
# %%
for coupling, colour in colours.items():
    mean = [np.mean(apart[coupling, n]) for n in walkers]
    bar = [2 * np.std(apart[coupling, n], ddof=1) / n_repeats**0.5 for n in walkers]
    name = coupling.replace("iid", "independent")
    plt.errorbar(walkers, mean, bar, fmt="o-", capsize=2, color=colour, label=name)
wrong = ((guess - truth)[rest] ** 2).mean() ** 0.5
plt.axhline(wrong, color="k", ls="--", label="exact guess against the truth")
plt.xscale("log", base=2)
plt.yscale("log", base=2)
plt.gca().set(
    xlabel="walkers from each crossing", ylabel="distance from the exact guess"
)
plt.legend()
plt.show()
# %% tags=["hide-input"]
if (side, share, lengthscale) == (24, 0.17, 2.5) and len(river) == side - 2:
    few, many = (np.array(apart[key]) for key in (("systematic", 16), ("iid", 64)))
    error = ((few.var(ddof=1) + many.var(ddof=1)) / n_repeats) ** 0.5
    assert few.mean() - many.mean() < 3 * error
    assert abs(wrong - 0.38) < 0.005 and many.mean() < wrong / 2

# %% [markdown]
# Sixteen walkers that share out the streets come at least as near as sixty-four that do not. But look at the dashed line: that far the *exact* guess is
# from the truth. Once an estimate is much nearer to the exact guess than that, a better one changes little in the prediction. A better kernel
# is one thing, a better answer is another, and only where the kernel is what limits the answer do they go together. It is where this course
# began, in {doc}`lesson 2 <02_classification>`.
#
# ## When not to walk
#
# The exact kernel of this town is quick to compute, and so it is up to some ten thousand nodes. Beyond, for a few products with the kernel,
# there is `kernels.expm_multiply`, which is exact. Walks pay where you want features themselves, where the modulation is
# learned from data, or where the graph can only be met by walking: {doc}`/notebooks/ugrf/19_what_pays_when` has the table.
#
# On the highways of San Jose, with real sensors, the paper's coupled walkers have a better kernel than independent ones. Whether they predict
# better is open: the gain is too small to be sure of.
# {verdict}`couplings/fig-11/kernel-iid` {verdict}`couplings/fig-11/rmse-iid`
#
# ## Two exercises
#
# **With a pen.** One crossing has prior variance 1, and its neighbour, correlated with it by $\rho$, is seen with noise $\sigma^2$. What is
# left of the variance? How large is the doubt for $\rho = 0.9$ and $\sigma = 0.2$?
#
# :::{dropdown} Solution
# $1 - \rho^2 / (1 + \sigma^2) = 1 - .81 / 1.04 = .22$, and its root is $.47$.
# :::
#
# **To run.** Let `bridges = range(side)`, so that there is no river. What happens to the guess along the middle?
#
# :::{dropdown} What you should see
# The truth still jumps at the river, and the process no longer knows. It blurs the two banks into each other, and the error of the exact guess,
# the dashed line, rises.
#
# ```python
# bridges = range(side)  # and all cells again
# assert wrong > 0.42
# off, near = abs(guess - truth)[rest], abs(at[rest, 0] - side / 2 + 0.5) < 1
# assert off[near].mean() > 1.5 * off.mean()
# ```
# :::
