# %% [markdown]
# # Better, or only quieter?
#
# * **On the torus the learned kernel wins by being quiet, not by being right.** Most of the error there is noise of
#   the walks. Take it away, and all three fixed kernels predict better than the learned one; with four times as many
#   walks the diffusion kernel already does.
# * **On the four other meshes it is better, with or without walks.**
# * **The printed sizes are within reach, and their settings are missing.** One pair of settings, with $f$ stopped early
#   and kernels a little wider than ours, brings all fifteen of our numbers near those of Table 4 at once.
#
# **What the paper claims.** A kernel learned on a cylinder predicts the normals of five meshes better than three fixed
# kernels do (Table 4 of {cite:t}`reid2023universal`; {doc}`13_meshes`): "a good kernel [...] which generalises well
# across topologies".
#
# **The idea.** The error of an estimate has two parts: what the exact kernel would get wrong as well, and what the
# walks add. The paper reports their sum. We take the walks away to see what was learned: a good kernel, or a good way
# to live with few walks.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import optax
from tqdm import tqdm

from companion import datasets, evidence, gram_errors, plotting
from companion.models import descent
from companion.papers.ugrf import hidden_values
from rfcore import walks
from rfcore.features import modulation, neural
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/14_mesh_noise", profile)
N_REPEATS, N_MORE, N_SETTINGS, N_COPIES, STOPPED, BETAS, WALKS = {
    "paper": (
        *(100, 40, 50, 32, (20, 25, 30, 40), (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7)),
        ((4, 0.5), (8, 0.5), (32, 0.5), (64, 0.5), (16, 0.1), (16, 0.3), (16, 0.7)),
    ),
    "quick": (4, 3, 2, 8, (30,), (0.3, 0.5, 0.7), ((16, 0.3),)),
}[profile]

# %% [markdown]
# ## The experiment
#
# Everything is as on {doc}`13_meshes`: the meshes, the training on copies of the cylinder, the three fixed kernels with
# $\sigma = 1$, sixteen walks per vertex, and the hidden vertices. In each repeat the exact kernels,
# $\hat v = f(W)\,f(W)\,v$ with $f(W) = \sum_k f(k) W^k$, meet the same hidden vertices as the walks
# ({py:func}`~companion.papers.ugrf.hidden_values.exact_error`).

# %% tags=["hide-input"]
NAMES = ("cylinder", "teapot", "idler_riser", "busted", "torus")
meshes = {name: datasets.mesh(name, fallback=True) for name in NAMES}
graphs = {name: Graph.from_mesh(mesh).normalised() for name, mesh in meshes.items()}
normals = {name: np.array(mesh.vertex_normals) for name, mesh in meshes.items()}
ADAM = optax.adam(0.05)


def learned(n_walks=16, p_halt=0.5, n_steps=300, optimiser=ADAM):
    key, cylinder = ledger.key("training", 0), (graphs["cylinder"], normals["cylinder"])
    lesson = hidden_values.lesson(key, *cylinder, N_COPIES, n_walks, p_halt)
    start = neural.flat()
    return descent.learn(hidden_values.loss, start, lesson, n_steps, optimiser).f


def with_walks(name, repeat, modulations, n_walks=16, p_halt=0.5, what=""):
    """Errors of several modulations, with common walks and hidden vertices."""
    g, key = graphs[name], ledger.key(f"{name} {what}walks", repeat)
    lengths = walks.lengths.draw(key, g.n_nodes, n_walks, p_halt, "iid")
    deposits = walks.simulate(key, g, lengths)
    known = hidden_values.hide(ledger.key(f"{name} {what}hidden", repeat), g.n_nodes)
    given = normals[name], known
    return [hidden_values.error(deposits, f, *given) for f in modulations]


def without_walks(name, repeat, modulations):
    """Errors of the exact kernels."""
    g = graphs[name]
    known = hidden_values.hide(ledger.key(f"{name} hidden", repeat), g.n_nodes)
    given = normals[name], known
    return [hidden_values.exact_error(g, f, *given) for f in modulations]


# %%
kernels = {
    "learned": learned(),
    "diffusion": modulation.diffusion(1.0),
    "regularised_laplacian_1": modulation.regularised_laplacian(1.0, 1),
    "regularised_laplacian": modulation.regularised_laplacian(1.0, 2),
}
walked, exact = (  # repeats, meshes, kernels
    np.array([
        [errors(name, i, kernels.values()) for name in NAMES]
        for i in tqdm(range(N_REPEATS), desc=errors.__name__, leave=False)
    ])
    for errors in (with_walks, without_walks)
)

# %% [markdown]
# (ugrf-extra-mesh-noise)=
# ## Without walks: kernel or noise?
#
# On the torus nearly everything is noise of the walks. Its surface is smooth and its mesh fine, so that a wide kernel
# averages over more neighbours that all agree, and there the exact learned kernel is the worst of the four.

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=plotting.WIDE)
for rank, kernel in enumerate(kernels):
    colour, x = plotting.COLOURS[kernel], np.arange(5) + 0.16 * (rank - 1.5)
    low, high = (e[..., rank].mean(axis=0) for e in (exact, walked))
    ax.vlines(x, low, high, color=colour, linewidth=1.2)
    ax.plot(x, high, "o", color=colour, label=plotting.LABELS[kernel])
    ax.plot(x, low, "o", color=colour, markerfacecolor="none")
ax.set(yscale="log", ylabel="mean of 1 − cos")
ax.set_xticks(range(5), [name.replace("_", "\n") for name in NAMES])
ax.grid(visible=False, axis="x")
fig.legend(loc="outside upper left", ncols=2, labelcolor="linecolor")
plotting.show(
    fig,
    caption="Ours. Mean prediction error on five meshes. Filled: with 16 walks per "
    "vertex. Open: the exact kernel. The line between them is what the walks add. "
    "Standard errors are smaller than the marks.",
    alt="Five groups of four vertical segments on a log scale. On four meshes open and "
    "filled marks rise from learned over diffusion and 1-regularised to 2-regularised "
    "Laplacian. On the torus open marks lie a factor of 6 to 24 below the filled ones, "
    "and the learned kernel's is the highest.",
)
mean, se = gram_errors.mean_and_se(exact)
share = 100 * (1 - mean / walked.mean(axis=0))
labels = [plotting.LABELS[name] for name in kernels]
plotting.table(
    mean, se, rows=NAMES, columns=labels, corner="mesh",
    caption="Ours. Mean of $1 - \\cos$ with the exact kernels.",
)  # fmt: skip
plotting.table(
    share, rows=NAMES, columns=labels, corner="mesh", unit="%",
    caption="Ours. Share of the error that 16 walks per vertex add.",
)  # fmt: skip

# %% [markdown]
# So more walks should turn the paper's claim around. We try 64 walks per vertex, and compare the same learned $f$ with
# the diffusion kernel on the torus.

# %%
pair = kernels["learned"], kernels["diffusion"]
more = np.array([with_walks("torus", i, pair, 64, what="more ") for i in range(N_MORE)])

# %% tags=["hide-input"]
others, torus = exact[:, :-1], exact[:, -1]
ledger.decide({
    "ugrf/extra-mesh-noise/exact-order-on-four": evidence.order(
        np.repeat(others[..., :1], 3, axis=-1), others[..., 1:]
    ),
    "ugrf/extra-mesh-noise/exact-order-on-torus": evidence.order(
        torus[:, 1:], np.repeat(torus[:, :1], 3, axis=1)
    ),
    "ugrf/extra-mesh-noise/torus-is-noise": evidence.order(torus, walked[:, -1] / 3),
    "ugrf/extra-mesh-noise/more-walks-turn-it": evidence.order(more[:, 1], more[:, 0]),
})

# %% [markdown]
# (ugrf-mesh-settings)=
# ## Which settings did the paper use?
#
# The numbers of Table 4 depend on what the paper does not print. We first vary the walks, both their number and their
# termination probability, each time with an $f$ learned under the same setting, and with $\sigma = 1$ as before.
#
# The order depends on them too. With more walks, or longer ones, the diffusion kernel overtakes the learned one
# on the torus, and one of the fifteen differences is negative. With shorter walks all of them have the right sign, and
# those of the two Laplacians come closest to the paper's sizes.

# %% tags=["hide-input"]
COLUMNS = ["diffusion", "1-regularised laplacian", "2-regularised laplacian"]
printed = np.empty((5, 3))
for row in evidence.printed("ugrf_table4"):
    place = NAMES.index(row["mesh"]), COLUMNS.index(row["kernel"])
    printed[place] = float(row["normalised_difference"])


# %%
def differences(modulations, n_first, n_walks=16, p_halt=0.5):
    """Of the others over each of the first, minus one: (first, meshes, others)."""
    given = modulations, n_walks, p_halt, "settings "
    found = np.array([
        [with_walks(name, i, *given) for name in NAMES] for i in range(N_SETTINGS)
    ])
    first, others = np.split(found, [n_first], axis=2)
    return np.mean(others[:, None] / np.moveaxis(first, 2, 1)[..., None] - 1, axis=0)


fixed = [f for name, f in kernels.items() if name != "learned"]
by_walks = {}
for pair in tqdm(sorted({*WALKS, (16, 0.5)}), desc="walks", leave=False):
    by_walks[pair] = differences([learned(*pair), *fixed], 1, *pair)[0]

# %% tags=["hide-input"]
ratios = [found / printed for found in by_walks.values()]
plotting.table(
    [
        [*np.stack([r.min(axis=0), r.max(axis=0)], axis=1).ravel(), np.sum(r > 0)]
        for r in ratios
    ],
    rows=[f"{n_walks}, {p_halt}" for n_walks, p_halt in by_walks],
    corner="walks, p_halt",
    columns=[f"{name}, {end}" for name in labels[1:] for end in ("least", "most")]
    + ["positive, of 15"],
    caption="Ours. Our normalised difference over the paper's, smallest and largest "
    "over the five meshes, and how many of the fifteen differences are positive.",
)

# %% [markdown]
# Then there are the factor $\beta$ per step that the fixed kernels have (our $\sigma = 1$ is $\beta = 1/2$), and how
# far $f$ was trained. We vary both, with new walks, and look for the pair that comes closest to all fifteen numbers.
# This is a fit, and proves nothing about what was run; it says what would explain the numbers. Our own trainings stop
# after 20 to 300 steps. One more follows the schedule that the paper states for its preceding experiment, in Section
# 3.4 (Adam at a rate of 0.01, times 0.975 per step).

# %%
betas = np.array(BETAS)
stopped = {f"{n} steps": learned(n_steps=n) for n in STOPPED}
stopped["300 steps"] = kernels["learned"]
schedule = optax.adam(optax.exponential_decay(0.01, 1, 0.975))
stopped["Section 3.4"] = learned(n_steps=1000, optimiser=schedule)
family = [
    f
    for beta in betas
    for f in (
        modulation.diffusion((2 * beta) ** 0.5),
        modulation.regularised_laplacian((beta / (1 - beta)) ** 0.5, 1),
        modulation.regularised_laplacian((beta / (1 - beta)) ** 0.5, 2),
    )
]
grid = differences([*stopped.values(), *family], len(stopped))
grid = grid.reshape(len(stopped), 5, len(betas), 3)  # trainings, meshes, betas, kernels
off = np.abs(np.log(np.maximum(grid, 1e-3) / printed[:, None])).mean(axis=(1, 3))
best_f, best_beta = np.unravel_index(off.argmin(), off.shape)

# %% tags=["hide-input"]
plotting.table(
    off.T,
    rows=[rf"$\beta = {beta:.2f}$" for beta in betas],
    columns=list(stopped),
    corner="training",
    caption="Ours. Mean of $|\\log(\\text{ours} / \\text{paper})|$ over the fifteen "
    "numbers; negative differences are counted as 0.001.",
)
half = list(BETAS).index(0.5)
plotting.table(
    [
        [f(np.arange(2))[1] / f(np.arange(2))[0], *np.sum(grid[s] > 0, axis=(0, 2))[at]]
        for s, f in enumerate(stopped.values())
        for at in [[half, best_beta]]
    ],
    rows=list(stopped),
    columns=["$f(1) / f(0)$", r"positive at $\beta = 0.5$", "at the closest"],
    corner="training",
    caption="Ours. Where $f$ stops, and how many of the fifteen differences are "
    rf"positive: with our kernels, and with those of $\beta = {betas[best_beta]:.2f}$.",
)

# %% tags=["hide-input"]
end = list(stopped).index("300 steps")
lines = np.moveaxis(1 + grid, 2, 3)  # trainings, meshes, kernels, betas
figures = plotting.panels(
    betas,
    [lines[end], lines[end]],
    panels=NAMES,
    lines=list(kernels)[1:],
    predicted=lines[best_f],
    x_label="factor per step",
    y_label="error over the learned",
    log="y",
)
for figure, values in zip(figures, printed, strict=True):
    for kernel, value in zip(list(kernels)[1:], values, strict=True):
        style = {"color": plotting.COLOURS[kernel], "markerfacecolor": "none"}
        figure.axes[0].plot(betas[best_beta], 1 + value, "o", markersize=8, **style)
    figure.axes[0].set_xticks([0.3, 0.5, 0.7])
plotting.show(
    *figures,
    caption="Ours. Error of the fixed kernels over that of the learned one, against "
    "their factor per step. Solid: $f$ trained to the end. Dashed: $f$ stopped where "
    "the fit is closest. Circles: the paper's numbers, drawn at the fitted factor.",
    alt="Five panels with three pairs of rising curves. The circles lie near the "
    "dashed curves; on the torus, whose curves are the steepest, two lie well above.",
)
plotting.table(
    grid[best_f, :, best_beta],
    rows=NAMES,
    columns=labels[1:],
    printed=printed,
    corner="mesh",
    caption=f"Ours. Normalised differences at the closest settings: f trained for "
    rf"{list(stopped)[best_f]}, $\beta = {betas[best_beta]:.2f}$.",
)

# %% [markdown]
# So the sizes of the differences say as much about unprinted settings as about kernels. This is truest on the torus,
# which looked out of reach at our settings: being noise, its numbers rise most steeply with the factor per step. At the
# closest pair every one of the fifteen numbers is within a factor of about one and a half of the paper's. We conclude
# that the numbers can be reached and that their settings are missing, not that these were the settings.
#
# The schedule of Section 3.4, started from our flat $f$ with one step per epoch, stops so early that at our settings
# all three fixed kernels beat the learned one. Here the paper must have trained otherwise, started elsewhere, or taken
# more steps per epoch.

# %% tags=["hide-input"]
ledger.close()
