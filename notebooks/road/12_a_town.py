# %% [markdown]
# # What is it all for? A map from a few sensors
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

rng, bridges = np.random.default_rng(0), (side // 4, side - 4)
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
    """Best guess and its error bar at the crossings without a sensor."""
    found = gp.posterior(K / K.diagonal().mean(), y, noise**2, seen, rest)
    return np.asarray(found.mean), np.sqrt(np.diag(found.covariance_matrix))


exact = posterior(gp.diffusion_covariance(g, lengthscale))
guess, doubt = truth.copy(), np.zeros(len(at))
guess[seen], guess[rest], doubt[rest] = y, *exact
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

# %% [markdown]
# Blue is quiet, red is busy, and the white dots on the right are the sensors, where there is no doubt. The river shows in the guess without
# anybody having told the process where it is. The most doubt is in corners that few streets lead to.
#
# ## With walkers
#
# This kernel was computed exactly. On a graph too large for that, let walkers estimate it. How near do they come to the exact answer?

# %%
f = features.modulation.diffusion(lengthscale * 2**0.5)
walkers, colours = (4, 8, 16, 32, 64), {"iid": "C0", "systematic": "C3"}
for coupling, colour in colours.items():
    apart = []
    for n_walks in walkers:
        errors = []
        for seed in range(5):
            key = jax.random.key(seed)
            phi = features.walk_features(key, g, f, n_walks, 0.1, coupling)
            errors.append(((posterior(phi @ phi.T)[0] - exact[0]) ** 2).mean() ** 0.5)
        apart.append(np.mean(errors))
    name = coupling.replace("iid", "independent")
    plt.loglog(walkers, apart, "o-", base=2, color=colour, label=name)
wrong = ((exact[0] - truth[rest]) ** 2).mean() ** 0.5
plt.axhline(wrong, color="k", ls="--", label="exact guess against the truth")
plt.gca().set(
    xlabel="walkers from each crossing", ylabel="distance from the exact guess"
)
plt.legend()
plt.show()

# %% [markdown]
# Sixteen walkers that share their doors come as near as sixty-four that do not. But look at the dashed line: that far the *exact* guess is
# from the truth. Once an estimate is much nearer to the exact guess than that, a better one changes little in the prediction. A better kernel
# is one thing, a better answer is another, and only where the kernel is what limits the answer do they go together. It is where this course
# began, in {doc}`lesson 2 <02_classification>`.
#
# ## When not to walk
#
# The exact kernel of this town took a fraction of a second. Up to some ten thousand nodes compute it. Beyond, for a few products with the kernel,
# `kernels.expm_multiply` is exact and faster than any walk. Walks pay where you want features themselves, where the modulation is
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
# :::
