# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,mystnb
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext,-jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Does a better kernel estimate classify better?
#
# **What the paper claims.** Smaller errors of the kernel should pay off somewhere. {cite:t}`reid2023simplex` take
# eight tables of the UCI repository, predict classes by kernel regression, and replace the kernel by positive random
# features. Simplex features "consistently perform best" (Figure 8); simplex+ adds a marginal gain (Table 2); fast
# Hadamard products in place of rotations do as well (Table 3); Figure 10 shows how the scale of the data was chosen.
#
# We redo all four on the same eight tables. On half of the sets the accuracies come back within the printed errors, and
# with them the gain of the simplex where there is one. What does not come back is the certainty: the printed errors are
# those of the random features alone, on one split of the data, and another split moves every number by fifteen such
# errors or more.

# %% tags=["hide-input"]
import os
from functools import partial
from typing import NamedTuple

# One thread: two notebooks share two cores, and XLA's CPU thread pool can deadlock on LAPACK calls.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_cpu_enable_concurrency_optimized_scheduler=false"
)

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown, display
from tqdm import tqdm

from rfcore import couplings, datasets, evidence, features, plotting
from rfcore.models import regression

plotting.use_style()

# %% tags=["parameters"]
profile = "paper"

# %% [markdown]
# ## The idea in three lines
#
# A test point $x$ asks every training point for its vote, weighted by the kernel,
# $y(x) \propto \sum_i K(\sigma x, \sigma x_i)\, y_i$ with one-hot $y_i$, and the class with most weight wins. With
# features the sum over training points is done once and for all, $\phi(x)^\top (\Phi^\top Y)$: an $m \times c$ matrix,
# $O(nm)$ to build, for $n$ points, $m$ features and $c$ classes. And blocks of $d$ frequencies are independent, so
# that the scores of ten blocks, added up one by one, give $m = d, 2d, \dots, 10d$ from one draw.
#
# ## Eight tables, and what we had to find out about them
#
# The paper prints neither $d$, nor $\sigma$, nor the split. Its authors' public code has them: words become one-hot
# columns, everything is standardised by the training part, `numpy.random.default_rng(42)` shuffles, 95 % train and 5 %
# test, and the last line of every file is lost to a slip of the loader
# ({py:func}`rfcore.datasets.classification` and {py:func}`rfcore.datasets.split` do the same). The $\sigma$ below are
# those of that code. That they lie on a grid of 20 values from 0.1 to 2, equally spaced in the logarithm, is our
# inference, and the first table shows how well they fit it. A second check is the $\bar v$ of Table 2, the mean of
# $\|\sigma x + \sigma x'\|$, which would move with any of these choices.

# %%
SIZES = {
    # Draws of ten blocks, on the public split and on each of the others; padded ones, of one block; to tune.
    "paper": {
        "sets": ("abalone", "banknote", "car", "yeast", "cmc", "nursery", "wifi", "chess"),
        "draws": {"nursery": 200, "chess": 200}, "small": 1000, "per_split": {"nursery": 10, "chess": 5}, "small_per_split": 50,
        "padded": {"nursery": 1500, "chess": 300}, "small_padded": 6000,
        "n_splits": 20, "tuning": 90, "extra_fast": 20_000,
    },
    "quick": {
        "sets": ("banknote", "cmc"),
        "draws": {}, "small": 60, "per_split": {}, "small_per_split": 10,
        "padded": {}, "small_padded": 300,
        "n_splits": 4, "tuning": 30, "extra_fast": 1000,
    },
}[profile]  # fmt: skip
SETS = SIZES["sets"]
GRID = np.exp(np.linspace(np.log(0.1), np.log(2), 20))
SIGMA = {
    "abalone": 0.41331138, "banknote": 1.06445901, "car": 0.77656608, "yeast": 0.90918797,
    "cmc": 0.48389667, "nursery": 0.18788887, "wifi": 0.21997651, "chess": 0.25754408,
}  # fmt: skip
MECHANISMS = ("iid", "orthogonal", "simplex", "simplex_plus")
WITH_FAST = ("iid", "orthogonal", "orthogonal_fast", "simplex", "simplex_fast")
SINGLE = ("car", "cmc", "nursery", "wifi", "chess")  # all points so close to the origin that nothing can underflow
N_BLOCKS = 10
WIDTHS = np.array([1, 2, 4, 10])  # m / d, those of the public code
PUBLIC_SPLIT, OTHER_SPLITS = 42, range(SIZES["n_splits"])
ledger = evidence.Ledger("simplex/03_classification", profile)
tables = {name: datasets.classification(name, fallback=True) for name in SETS}

# %%
class Task(NamedTuple):
    """A split of a table, its points scaled by sigma."""

    x_train: jax.Array
    targets: jax.Array
    x_test: jax.Array
    labels: jax.Array


def make_task(name, split=PUBLIC_SPLIT, sigma=None, n_train=None, n_test=None):
    """The task of one set, at the paper's sigma in single precision where that is safe."""
    dtype = jnp.float32 if name in SINGLE and sigma is None else jnp.float64
    part, sigma = datasets.split(tables[name], seed=split), SIGMA[name] if sigma is None else sigma
    targets = np.eye(len(tables[name].classes))[part.y_train[:n_train]]
    x_train, x_test = sigma * part.X_train[:n_train], sigma * part.X_test[:n_test]
    return Task(*(jnp.asarray(a, dtype) for a in (x_train, targets, x_test)), jnp.asarray(part.y_test[:n_test]))


# Every d is a compilation; at this level of optimisation it takes half as long, and the draws no longer.
@partial(
    jax.jit, static_argnames=("mechanisms", "d", "n_blocks"), compiler_options={"xla_backend_optimization_level": 1}
)
def draw(keys, mechanisms, d, n_blocks):
    """Frequencies in blocks of d, on common random numbers: (draws, mechanisms, blocks, d, d)."""

    def one(key):
        return jnp.stack([getattr(couplings, name)(key, n_blocks * d, d) for name in mechanisms])

    return jax.vmap(one)(keys).reshape(len(keys), len(mechanisms), n_blocks, d, d)


accuracy = jnp.vectorize(regression.accuracy, signature="(l,c),(l)->()")


@jax.jit
def evaluate(task, omega):
    """Accuracy of every block alone, accuracy of the first 1, 2, ... blocks together, and the scores of all together."""

    def scores(block):
        phi, phi_test = features.positive(task.x_train, block), features.positive(task.x_test, block)
        return regression.scores(phi, task.targets, phi_test)

    # A compiled loop is safe here: no LAPACK in it. One block at a time stays in the cache.
    of_blocks = jax.lax.map(scores, omega.reshape(-1, *omega.shape[-2:]))
    of_blocks = of_blocks.reshape(*omega.shape[:-2], *of_blocks.shape[1:])
    running = jnp.cumsum(of_blocks, axis=-3)
    return accuracy(of_blocks, task.labels), accuracy(running, task.labels), running[..., -1, :, :]


def run(task, key, n_draws, mechanisms=MECHANISMS, d=None, n_blocks=N_BLOCKS, batch=5):
    """Results of `evaluate` for many draws; with d above the dimension, points are padded with zeros."""
    columns = task.x_train.shape[1]
    parts = []
    for keys in jax.random.split(key, n_draws).reshape(-1, batch):
        omega = draw(keys, mechanisms, d or columns, n_blocks)
        parts.append(jax.tree.map(np.asarray, evaluate(task, omega[..., :columns].astype(task.x_train.dtype))))
    return [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]


def majority_accuracy(task):
    """Accuracy of always answering the most frequent class of the training part."""
    return float(jnp.mean(task.labels == jnp.argmax(task.targets.sum(axis=0))))


def table(header, rows):
    """Show a table of texts."""
    lines = [header, ["---"] * len(header), *rows]
    display(Markdown("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)))


table_2, table_3 = (
    {(row["dataset"], row["mechanism"]): row for row in evidence.printed(f"simplex_table{number}")} for number in (2, 3)
)

# %%
tasks = {name: make_task(name) for name in SETS}


@jax.jit
def mean_v(task):
    """Mean length of x + y over training points x and test points y."""

    def of_test_point(y):
        return jnp.mean(jnp.linalg.norm(task.x_train + y, axis=1))

    return jnp.mean(jax.lax.map(of_test_point, task.x_test, batch_size=16))


v_ours = {name: float(mean_v(task)) for name, task in tasks.items()}
v_paper = {name: float(table_2[name, "simplex"]["mean_v"]) for name in SETS}
exact = {
    name: float(regression.accuracy(regression.scores_exact(task.x_train, task.targets, task.x_test), task.labels))
    for name, task in tasks.items()
}
majority = {name: majority_accuracy(task) for name, task in tasks.items()}
ledger.decide(
    "simplex/table-2/mean-v",
    evidence.identity(list(v_ours.values()), list(v_paper.values()), tolerance=0.05 + 1e-9),
)

# %% tags=["hide-input"]
rows = []
for name, task in tasks.items():
    index = np.argmin(np.abs(np.log(GRID / SIGMA[name])))
    rows.append([
        name, f"{len(task.x_train)} + {len(task.x_test)}", task.x_train.shape[1], task.targets.shape[1],
        f"{SIGMA[name]:.8f}", f"{index} ({SIGMA[name] / GRID[index] - 1:+.0e})",
        f"{v_ours[name]:.3f}", v_paper[name], f"{majority[name]:.3f}", f"{exact[name]:.3f}",
    ])  # fmt: skip
table(
    ["set", "train + test", "$d$", "classes", "$\\sigma$", "grid index (misfit)", "$\\bar v$", "$\\bar v$ printed",
     "majority class", "exact kernel"],
    rows,
)  # fmt: skip

# %% [markdown]
# Remember the last two columns. Accuracy lives between the majority class, which needs no features at all, and the
# exact kernel, which is the limit of infinitely many.
#
# (simplex-fig-10)=
# ## Figure 10: choosing the scale of the data
#
# For each $\sigma$ of the grid, the accuracy of the exact kernel and of IID features with $m = 10 d$. As in the paper,
# nursery and chess are cut to 1000 training and 100 test points here. The paper speaks of a validation set; in the
# public code that *is* the test set, and we follow it. We draw more often than the paper's ten times, and use one
# third of the draws to find the best $\sigma$ and the rest to measure how much accuracy the paper's $\sigma$ gives away
# against it: the same draws for both would always find some gain.

# %%
CUT = {"nursery": {"n_train": 1000, "n_test": 100}, "chess": {"n_train": 1000, "n_test": 100}}
tuned = np.empty((SIZES["tuning"], len(SETS), len(GRID)))
tuned_exact = np.empty((len(SETS), len(GRID)))
tuned_majority = {}
for s, name in enumerate(tqdm(SETS, desc="sigma", leave=False)):
    for g, sigma in enumerate(GRID):
        task = make_task(name, sigma=sigma, **CUT.get(name, {}))
        key = jax.random.fold_in(jax.random.key(10), s)
        tuned[:, s, g] = run(task, key, SIZES["tuning"], mechanisms=("iid",), batch=10)[1][:, 0, -1]
        in_limit = regression.scores_exact(task.x_train, task.targets, task.x_test)
        tuned_exact[s, g] = regression.accuracy(in_limit, task.labels)
    tuned_majority[name] = majority_accuracy(task)
chosen = np.array([np.argmin(np.abs(np.log(GRID / SIGMA[name]))) for name in SETS])
every = np.arange(len(SETS))

# %%
third = SIZES["tuning"] // 3
best = tuned[:third].mean(axis=0).argmax(axis=1)
loss = tuned[third:, every, best] - tuned[third:, every, chosen]
moved = best != chosen  # elsewhere nothing is given away
flat = np.isin(SETS, ("cmc", "chess"))


def loss_is_small(of_sets):
    """Decide that these sets give away less than 0.03."""
    counted = loss[:, of_sets & moved]
    return evidence.bound(counted, 0.03) if counted.size else evidence.bound(0.0, 0.03, exact=True)


ledger.decide("simplex/fig-10/peak", loss_is_small(~flat))

# %%
ledger.decide("simplex/fig-10/peak-cmc-chess", loss_is_small(flat))

# %%
elsewhere = int(np.sum(tuned_exact.max(axis=1) > tuned_exact[every, chosen]))
ledger.decide(
    "simplex/fig-10/exact-peaks-elsewhere",
    evidence.bound(elsewhere, -(-5 * len(SETS) // 8), side="above", exact=True),
)

# %%
gap = tuned_exact - tuned
ledger.decide("simplex/fig-10/gap-grows", evidence.order(gap[..., 0], gap[..., -1]))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Accuracy against the scale of the data on the public split. Band: IID features with m = 10 d, one standard error of the mean either side. Dashed: the exact kernel. Dotted: the majority class. Vertical line: the sigma of the paper.", "name": "fig-simplex-sigma"}, "image": {"alt": "Eight panels of accuracy against sigma from 0.1 to 2. The exact kernel rises or stays flat; IID features rise to a peak and fall for larger sigma. In most panels the vertical line stands near the peak; in cmc the features' curve starts at the majority class and only falls."}}
def panels(n_rows, n_columns, height, **keywords):
    """A grid of small axes."""
    fig, axes = plt.subplots(n_rows, n_columns, figsize=(9.6, height), **keywords)
    return fig, axes.ravel()


fig, axes = panels(2, 4, 4.6, sharex=True)
for s, (ax, name) in enumerate(zip(axes, SETS, strict=False)):
    ax.axvline(SIGMA[name], color=plotting.INK, linewidth=0.8)
    ax.axhline(tuned_majority[name], color=plotting.INK, linestyle=":", linewidth=1.2)
    (limit,) = ax.plot(GRID, tuned_exact[s], "--", color=plotting.COLOURS["exact"], linewidth=1.4)
    estimated = plotting.band(ax, GRID, tuned[:, s], "iid", marker="o", markersize=3)
    ax.set(xscale="log", title=name)
    ax.set_xticks([0.1, 0.3, 1, 2], ["0.1", "0.3", "1", "2"])
    ax.minorticks_off()
for ax in axes[len(SETS) :]:
    ax.set_visible(False)
majority_line = plt.Line2D([], [], color=plotting.INK, linestyle=":")
fig.legend(
    [estimated, limit, majority_line], ["IID, m = 10 d", "exact kernel", "majority class"],
    loc="outside upper center", ncols=3,
)  # fmt: skip
fig.supxlabel("sigma", fontsize=10)
fig.supylabel("accuracy", fontsize=10)
plt.show()

# %% tags=["hide-input"]
table(
    ["set", "paper's $\\sigma$", "best for IID", "accuracy given away", "exact kernel's best", "exact accuracy there"],
    [
        [name, f"{SIGMA[name]:.3f}", f"{GRID[best[s]]:.3f}",
         f"{loss[:, s].mean():+.4f} ± {loss[:, s].std(ddof=1) / np.sqrt(len(loss)):.4f}",
         f"{GRID[tuned_exact[s].argmax()]:.3f}", f"{tuned_exact[s].max():.3f}"]
        for s, name in enumerate(SETS)
    ],
)  # fmt: skip

# %% [markdown]
# On every set the exact kernel prefers another $\sigma$ than the features, as the paper says: features pay for a sharp
# kernel with variance, and their curves bend down where the dashed ones still rise. On abalone, yeast and nursery no
# $\sigma$ of the grid is better than the paper's; on banknote, car and chess the loss is below 0.01, or not above its own
# error. On wifi two steps further along the grid are better by some two percentage points, which ten repeats could hardly
# see. On cmc there is no peak at all: the smaller $\sigma$, the flatter the kernel, until every point of the training set
# has the same vote and the answer is always the majority class; and that beats everything that $10 d$ features can learn
# there.
#
# (simplex-fig-8)=
# ## Figure 8: accuracy against the number of features
#
# First the split of the public code. A *draw* is ten blocks for each mechanism, on common random numbers. The paper
# does not print how often it repeats; its public code repeats 500 times, at $m/d = 1, 2, 4, 10$. Our 1000 draws become
# 200 on the two big sets. Five sets run in single precision; the results cannot tell (checked below).
#
# The paper's last panel, in its code, is the mean of the eight sets. It is where the ordering is safest: noise averages
# out, and the three sets with a large gain carry it.

# %%
def size(what, name):
    """Number of draws of a kind for a set: "draws", "per_split" or "padded"."""
    return SIZES[what].get(name, SIZES["small" if what == "draws" else f"small_{what}"])


single, running, totals = {}, {}, {}
for s, name in enumerate(tqdm(SETS, desc="public split", leave=False)):
    key = jax.random.fold_in(jax.random.key(8), s)
    single[name], running[name], totals[name] = run(tasks[name], key, size("draws", name))
print({name: len(results) for name, results in running.items()}, "draws of ten blocks")

# %%
def by_group(results, n_groups):
    """Means of equally many draws, so that all sets have the same number of independent repeats."""
    return results.reshape(n_groups, -1, *results.shape[1:]).mean(axis=1)


n_groups = min(len(results) for results in running.values())
grouped = np.stack([by_group(running[name], n_groups)[..., WIDTHS - 1] for name in SETS], axis=1)
errors = dict(zip(MECHANISMS, np.moveaxis(1 - grouped, 2, 0), strict=True))  # each (repeats, sets, widths)
others = np.stack([errors["orthogonal"], errors["iid"]], axis=1)
ledger.decide(
    "simplex/fig-8/best-on-every-set", evidence.bound(errors["simplex"][:, None] - others, 0.01)
)

# %%
average = {name: e.mean(axis=1) for name, e in errors.items()}
better = np.stack([average["simplex"], average["orthogonal"]], axis=1)
worse = np.stack([average["orthogonal"], average["iid"]], axis=1)
ledger.decide("simplex/fig-8/average", evidence.order(better, worse))

# %%
clear = np.isin(SETS, ("banknote", "nursery", "wifi"))
better = np.stack([errors["simplex"][:, clear], errors["orthogonal"][:, clear]], axis=1)
worse = np.stack([errors["orthogonal"][:, clear], errors["iid"][:, clear]], axis=1)
ledger.decide("simplex/fig-8/clear-sets", evidence.order(better, worse))

# %%
far = np.stack([by_group(np.abs(running[name] - exact[name]), n_groups) for name in SETS], axis=1)
ledger.decide("simplex/fig-8/towards-exact", evidence.order(far[..., -1], far[..., 0]))

# %% [markdown]
# To see *where* the curves go we add the scores of ten and of a hundred draws, which is an estimate with $m = 100 d$
# and $1000 d$ features (where there are enough draws for five such sums).

# %%
def pooled_accuracy(name, n_pooled):
    """Accuracy of n_pooled draws taken together: (sums, mechanisms)."""
    together = totals[name].reshape(-1, n_pooled, *totals[name].shape[1:]).sum(axis=1)
    return np.asarray(accuracy(together, tasks[name].labels))


curves = {}
for name in SETS:
    pools = [k for k in (10, 100) if len(totals[name]) // k >= 5]
    points = [(w, running[name][..., w - 1]) for w in range(1, N_BLOCKS + 1)]
    points += [(N_BLOCKS * k, pooled_accuracy(name, k)) for k in pools]
    widths, samples = zip(*points, strict=True)
    mean = np.stack([a.mean(axis=0) for a in samples])
    se = np.stack([a.std(axis=0, ddof=1) / np.sqrt(len(a)) for a in samples])
    curves[name] = np.array(widths), mean, se

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Accuracy against the number of features over d, on the public split. Bands: one standard error over the draws either side. Dashed grey: the exact kernel; dotted: the majority class. The paper's figure ends at 10 (grey line). Last panel: the mean of all sets.", "name": "fig-simplex-classification"}, "image": {"alt": "Nine panels of accuracy against m over d from 1 to 1000. In banknote, nursery and wifi simplex and simplex+ start far above orthogonal and IID and all meet within ten to a hundred blocks; in abalone, car, yeast, cmc and chess the curves can hardly be told apart. All rise towards the dashed line of the exact kernel; car and yeast are still far below it at 1000 blocks."}}
fig, axes = panels(3, 3, 7.4, sharex=True)
for ax, name in zip(axes, SETS, strict=False):
    widths, mean, se = curves[name]
    ax.axvline(10, color=plotting.INK, linewidth=0.8, alpha=0.5)
    ax.axhline(exact[name], color=plotting.COLOURS["exact"], linestyle="--", linewidth=1.4)
    ax.axhline(majority[name], color=plotting.INK, linestyle=":", linewidth=1.2)
    lines = {}
    for k, mechanism in enumerate(MECHANISMS):
        colour = plotting.COLOURS[mechanism]
        ax.fill_between(widths, mean[:, k] - se[:, k], mean[:, k] + se[:, k], color=colour, alpha=0.25, linewidth=0)
        (lines[plotting.LABELS[mechanism]],) = ax.plot(widths, mean[:, k], color=colour, linewidth=1.4)
    ax.set(xscale="log", title=name)
for ax in axes[len(SETS) :]:
    ax.set_visible(False)
axes[-1].set_visible(True)
for mechanism in MECHANISMS:
    plotting.band(axes[-1], WIDTHS, 1 - average[mechanism], mechanism)
axes[-1].set(xscale="log", title="mean of the sets")
for ax in axes:
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    ax.minorticks_off()
lines |= {"exact kernel": plt.Line2D([], [], color=plotting.COLOURS["exact"], linestyle="--"), "majority": majority_line}
fig.legend(lines.values(), lines, loc="outside upper center", ncols=6)
fig.supxlabel("m / d", fontsize=10)
fig.supylabel("accuracy", fontsize=10)
plt.show()

# %% tags=["hide-input"]
show = [1, 10, 100, 1000]
table(
    ["simplex features", *(f"$m = {w} d$" if w > 1 else "$m = d$" for w in show), "exact kernel"],
    [
        [name, *(f"{mean[list(widths).index(w), 2]:.3f}" if w in widths else "" for w in show), f"{exact[name]:.3f}"]
        for name, (widths, mean, _) in curves.items()
    ],
)

# %% tags=["hide-input"]
checked = [name for name in SETS if tasks[name].x_train.dtype == jnp.float32]
for name in checked:
    omega = draw(jax.random.split(jax.random.key(8), 5), MECHANISMS, tasks[name].x_train.shape[1], N_BLOCKS)
    double = Task(*(a.astype(jnp.float64) for a in tasks[name][:3]), tasks[name].labels)
    classes = [
        np.argmax(evaluate(task, omega.astype(task.x_train.dtype))[2], axis=-1) for task in (tasks[name], double)
    ]
    print(f"{name}: {np.sum(classes[0] != classes[1])} of {classes[0].size} predictions differ in double precision")

# %% [markdown]
# ## Which orderings can the data resolve?
#
# On one split, the paired difference of two mechanisms has a mean and a standard deviation per repeat, and
# $(3 \cdot \text{deviation} / \text{mean})^2$ repeats show it at three standard errors. At $m = d$, where the
# differences are largest:

# %% tags=["hide-input"]
PAIRS = (("orthogonal", "iid"), ("simplex", "orthogonal"), ("simplex_plus", "simplex"))
at_d = {name: np.moveaxis(single[name], 1, 0).reshape(len(MECHANISMS), -1) for name in SETS}  # blocks are repeats


def resolution(difference):
    """Mean, standard deviation and the number of repeats for three standard errors, as text."""
    n, mean, sd = len(difference), difference.mean(), difference.std(ddof=1)
    t = mean / sd * np.sqrt(n)
    needed = f"{(3 * sd / mean) ** 2:.2g}" if abs(t) >= 3 else f"not with {n}"
    needed = f"{float(needed):,.0f}" if abs(t) >= 3 else needed
    return f"{mean:+.4f} (sd {sd:.3f}, t {t:+.1f}): {needed}"


table(
    ["set", *(f"{plotting.LABELS[a]} minus {plotting.LABELS[b]}: repeats needed" for a, b in PAIRS)],
    [
        [name, *(resolution(at_d[name][MECHANISMS.index(a)] - at_d[name][MECHANISMS.index(b)]) for a, b in PAIRS)]
        for name in SETS
    ],
)

# %% tags=["hide-input"]
def t_of(difference):
    """Student's t of each column."""
    return difference.mean(axis=0) / difference.std(axis=0, ddof=1) * np.sqrt(len(difference))


rows = []
for name in SETS:
    at_widths = running[name][..., WIDTHS - 1]
    for a, b in PAIRS:
        t = t_of(at_widths[:, MECHANISMS.index(a)] - at_widths[:, MECHANISMS.index(b)])
        rows.append([name, f"{plotting.LABELS[a]} minus {plotting.LABELS[b]}", *(f"{value:+.1f}" for value in t)])
table(["set", "t of the paired difference", *(f"$m = {w} d$" if w > 1 else "$m = d$" for w in WIDTHS)], rows)

# %% [markdown]
# So the answer to "does simplex beat orthogonal?" is: on banknote, nursery and wifi, plainly, with a few dozen repeats;
# on abalone, car and cmc, yes, by one to four parts in a thousand, which takes thousands; on yeast and chess the
# difference is at the edge of what thousands of repeats can see, or below. Nowhere is it significantly the other way
# round. "Consistently" is not contradicted, and cannot be shown. At $m = 10 d$ the gain has shrunk on all sets:
# coupling helps within a block only, and ten blocks wash much of it out.
#
# (simplex-table-2)=
# ## Table 2: simplex and simplex+ at $m = d$
#
# A printed accuracy is compared with ours on the split of the public code, where the only errors are those of the
# features. The paper does not print its split, so that a difference is no failure of its numbers; but on any other split
# all of them would be off by tens of their errors. Twenty others follow, drawn with seeds 0 to 19 by the same rule, each
# with fresh features: they show what a split does.

# %%
def over_splits():
    """Mean accuracy of single blocks on each split, and its standard error: {set: two of (splits, mechanisms)}."""
    means = {}
    for s, name in enumerate(tqdm(SETS, desc="splits", leave=False)):
        rows = []
        for split in OTHER_SPLITS:
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(20), s), split)
            rows.append(run(make_task(name, split), key, size("per_split", name))[0])
        repeats = np.moveaxis(np.stack(rows), 2, 1).reshape(len(rows), len(MECHANISMS), -1)  # blocks are repeats
        means[name] = repeats.mean(axis=-1), repeats.std(axis=-1, ddof=1) / np.sqrt(repeats.shape[-1])
    return means


splits = over_splits()

# %%
def printed(rows, mechanisms):
    """Printed accuracies and their standard errors, each (sets, mechanisms)."""
    return (
        np.array([[float(rows[name, m][column]) for m in mechanisms] for name in SETS])
        for column in ("accuracy", "std_error")
    )


def mean_and_se(draws):
    """Mean over the last axis and its standard error."""
    return draws.mean(axis=-1), draws.std(axis=-1, ddof=1) / np.sqrt(draws.shape[-1])


def same_signs(ours, paper, paper_se):
    """Whether every printed difference of two mechanisms above three printed errors has the printed sign in ours."""
    first, second = np.triu_indices(paper.shape[1], 1)
    change = paper[:, first] - paper[:, second]
    clear = np.abs(change) > 3 * np.hypot(paper_se[:, first], paper_se[:, second])
    return bool(np.all((np.sign(ours[:, first] - ours[:, second]) == np.sign(change)) | ~clear))


BOTH = ("simplex", "simplex_plus")
one_percent = {"rounding": 0.00005, "false_alarm": 0.01}
paper_2, paper_2_se = printed(table_2, BOTH)
ours_2, ours_2_se = (np.stack(a) for a in zip(*(mean_and_se(at_d[name][2:]) for name in SETS), strict=True))
ledger.decide(
    "simplex/table-2/accuracies",
    evidence.agree(
        ours_2, ours_2_se, paper_2, paper_se=paper_2_se, smallest_difference=0.02,
        in_direction=same_signs(ours_2, paper_2, paper_2_se), **one_percent,
    ),
)  # fmt: skip

# %%
gain, gain_se = (np.array(a) for a in zip(*(mean_and_se(at_d[name][3] - at_d[name][2]) for name in SETS), strict=True))
ledger.decide(
    "simplex/table-2/gain-of-plus",
    evidence.agree(
        gain, gain_se, paper_2[:, 1] - paper_2[:, 0], paper_se=np.hypot(*paper_2_se.T), smallest_difference=0.016,
        in_direction=same_signs(ours_2, paper_2, paper_2_se), **one_percent,
    ),
)  # fmt: skip

# %%
blocks = {name: by_group(single[name].mean(axis=-1), n_groups) for name in SETS}  # at m = d: (repeats, mechanisms)
at_d_grouped = np.stack(list(blocks.values()), axis=1)  # repeats, sets, mechanisms
plus = at_d_grouped[..., 3] - at_d_grouped[..., 2]
ledger.decide("simplex/table-2/plus-marginal", evidence.bound(np.stack([plus, -plus], axis=1), 0.03))

# %% [markdown]
# "Improvements tend to occur where $v$ is small", says the paper of simplex+.

# %%
small_v = np.array([v_paper[name] < 2.15 for name in SETS])
ledger.decide(
    "simplex/table-2/plus-where-v-is-small",
    evidence.order(plus[:, ~small_v].mean(axis=1), plus[:, small_v].mean(axis=1)),
)

# %%
gain = at_d_grouped[..., 2:] - at_d_grouped[..., 1:2]
ledger.decide("simplex/table-2/both-beat-orthogonal", evidence.order(-gain, 0.0))

# %% [markdown]
# "Both variants substantially outperform ORFs on every dataset", says the caption of Table 2. The paper's own Table 3
# has orthogonal features at $m = d$ beside simplex ones. On yeast they are ahead, by less than either printed error:

# %%
of_simplex, of_orthogonal = (
    np.array([[float(table_3[name, mechanism][column]) for name in SIGMA] for column in ("accuracy", "std_error")])
    for mechanism in ("simplex", "orthogonal")
)
ahead, ahead_se = of_simplex[0] - of_orthogonal[0], np.hypot(of_simplex[1], of_orthogonal[1])
least = np.argmin(ahead / ahead_se)
one_of_eight = 1 - 0.001 / len(SIGMA)
ledger.decide(
    "simplex/table-2/substantially",
    evidence.bound(ahead[least], 0.0, se=ahead_se[least], side="above", confidence=one_of_eight),
)

# %% tags=["hide-input"]
print("Table 3 as printed, simplex minus orthogonal accuracy:")
for name, gap, error in zip(SIGMA, ahead, ahead_se, strict=True):
    print(f"{name:>9}: {gap:+.4f} ± {error:.4f}")

# %% tags=["hide-input"]
def with_se(numbers):
    """Mean and its standard error, as text."""
    return f"{np.mean(numbers):.4f} ± {np.std(numbers, ddof=1) / np.sqrt(len(numbers)):.4f}"


z_2 = (ours_2 - paper_2) / np.hypot(ours_2_se, paper_2_se)
rows = []
for s, name in enumerate(SETS):
    for k, mechanism in enumerate(BOTH):
        of_splits = splits[name][0][:, 2 + k]
        rows.append([
            name, plotting.LABELS[mechanism], f"{paper_2[s, k]:.4f} ± {paper_2_se[s, k]:.4f}",
            with_se(at_d[name][2 + k]), f"{z_2[s, k]:+.1f}", f"{of_splits.mean():.3f} ({of_splits.std(ddof=1):.3f})",
        ])  # fmt: skip
table(["set", "features", "paper", "ours, public split", "z", "ours, other splits (sd of a split)"], rows)

# %% [markdown]
# (simplex-split-scatter)=
# ## What the printed errors leave out
#
# Read the column z first. On banknote, car, yeast and chess both accuracies come back within the errors, four digits of
# them, though splits scatter by tens of those errors: so this *is* the paper's split, and its $\sigma$. On abalone, cmc and nursery ours differ by two to five parts in a thousand, four to eight standard errors;
# on wifi by four in a hundred. These are the four sets with the smallest $\bar v$. We do not know why: IID features in
# Table 3 are off the same way on abalone and wifi, so it is not the coupling; the mean of $v$ is right, so it is not the
# scale.
#
# Then read the last column. A classifier is tested on as few as 68 points, and other points give another accuracy. The
# printed errors are right for the question they answer, how well the mean over random features is known, and say
# nothing about the data set.

# %%
ratio = []
for name in SETS:
    mean, noise = (a[:, 2] for a in splits[name])
    scatter = np.sqrt(max(mean.var(ddof=1) - np.mean(noise**2), 0)), mean.std(ddof=1) / np.sqrt(2 * (len(mean) - 1))
    ratio.append(np.array(scatter) / float(table_2[name, "simplex"]["std_error"]))
least, least_se = min(ratio, key=lambda pair: (pair[0] - 5) / pair[1])
ledger.decide(
    "simplex/extra-split-scatter/many-times-the-printed-error",
    evidence.bound(least, 5, se=least_se, side="above"),
)

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Accuracy of simplex features at m = d, minus that printed in Table 2. Small dots: 20 splits, averaged over features. Ring: the split of the public code. Bar at zero: three printed standard errors either side.", "name": "fig-simplex-splits"}, "image": {"alt": "Strip chart for the data sets. Dots scatter over a range of about 0.05 to 0.15 on the small sets and less on nursery and chess; the printed error bars are far smaller. Rings lie at zero except for wifi, where the ring is 0.04 below."}}
fig, ax = plt.subplots(figsize=(7.6, 3.6))
jitter = np.linspace(-0.2, 0.2, SIZES["n_splits"])
for s, name in enumerate(SETS):
    paper, paper_se = (float(table_2[name, "simplex"][column]) for column in ("accuracy", "std_error"))
    ax.plot(s + jitter, splits[name][0][:, 2] - paper, ".", color=plotting.COLOURS["simplex"], alpha=0.6)
    ax.errorbar(s, 0, 3 * paper_se, color=plotting.INK, capsize=9, linewidth=1.5)
    ax.plot(s, at_d[name][2].mean() - paper, "o", markersize=9, fillstyle="none", color=plotting.COLOURS["simplex"])
ax.set_xticks(range(len(SETS)), SETS)
ax.set(ylabel="accuracy minus printed accuracy")
plt.show()

# %% tags=["hide-input"]
table(
    ["set", "printed error", "sd over splits", "ratio", "IID", "orthogonal", "simplex", "simplex+", "majority", "simplex > orthogonal on"],
    [
        [name, table_2[name, "simplex"]["std_error"], f"{of_splits[:, 2].std(ddof=1):.3f}",
         f"{of_splits[:, 2].std(ddof=1) / float(table_2[name, 'simplex']['std_error']):.0f}",
         *(f"{a:.3f}" for a in of_splits.mean(axis=0)),
         f"{np.mean([majority_accuracy(make_task(name, split)) for split in OTHER_SPLITS]):.3f}",
         f"{np.sum(of_splits[:, 2] > of_splits[:, 1])} of {len(of_splits)} splits"]
        for name, (of_splits, _) in splits.items()
    ],
)  # fmt: skip

# %% [markdown]
# (simplex-table-3)=
# ## Table 3: fast variants
#
# A Hadamard matrix needs a power of two, so points are padded with zeros and $m = d$ becomes $m = 16, 4, 32, 8, 16, 32,
# 8, 64$, for *all* mechanisms (Appendix B.2). That is why Tables 2 and 3 print different accuracies for the same simplex
# features, and why they nearly agree on banknote and yeast, whose $d$ is a power of two already.

# %%
padded = {}
for s, name in enumerate(tqdm(SETS, desc="padded", leave=False)):
    key, p = jax.random.fold_in(jax.random.key(30), s), couplings.fast.padded(tasks[name].x_train.shape[1])
    padded[name] = run(tasks[name], key, size("padded", name), WITH_FAST, p, n_blocks=1, batch=10)[0][..., 0]
print({name: len(results) for name, results in padded.items()}, "draws of one block")

# %%
paper_3, paper_3_se = printed(table_3, WITH_FAST)
ours_3, ours_3_se = (np.stack(a) for a in zip(*(mean_and_se(padded[name].T) for name in SETS), strict=True))
in_direction = same_signs(ours_3, paper_3, paper_3_se)
ledger.decide(
    "simplex/table-3/accuracies",
    evidence.agree(
        ours_3, ours_3_se, paper_3, paper_se=paper_3_se, smallest_difference=0.03, in_direction=in_direction, **one_percent
    ),
)

# %%
over_iid = [mean_and_se((padded[name][:, 1:] - padded[name][:, :1]).T) for name in SETS]
gain_3, gain_3_se = (np.stack(a) for a in zip(*over_iid, strict=True))
paper_gain, paper_gain_se = paper_3[:, 1:] - paper_3[:, :1], np.hypot(paper_3_se[:, 1:], paper_3_se[:, :1])
ledger.decide(
    "simplex/table-3/gains",
    evidence.agree(
        gain_3, gain_3_se, paper_gain, paper_se=paper_gain_se, smallest_difference=0.03, in_direction=in_direction,
        **one_percent,
    ),
)  # fmt: skip

# %%
between, between_se = ours_3[:, 3] - ours_2[:, 0], np.hypot(ours_3_se[:, 3], ours_2_se[:, 0])
paper_between, paper_between_se = paper_3[:, 3] - paper_2[:, 0], np.hypot(paper_3_se[:, 3], paper_2_se[:, 0])
ledger.decide(
    "simplex/table-3/padding",
    evidence.agree(
        between, between_se, paper_between, paper_se=paper_between_se, smallest_difference=0.02, **one_percent
    ),
)

# %%
n_groups_padded = min(len(results) for results in padded.values())
padded_grouped = np.stack([by_group(padded[name], n_groups_padded) for name in SETS], axis=1)
change = padded_grouped[..., [2, 4]] - padded_grouped[..., [1, 3]]  # fast minus regular: orthogonal, simplex
ledger.decide("simplex/table-3/fast-as-good", evidence.bound(np.stack([change, -change], axis=1), 0.02))

# %% tags=["hide-input"]
z_3 = (ours_3 - paper_3) / np.hypot(ours_3_se, paper_3_se)
z_gain = (gain_3 - paper_gain) / np.hypot(gain_3_se, paper_gain_se)
rows = []
for s, name in enumerate(SETS):
    for k, mechanism in enumerate(WITH_FAST):
        rows.append([
            name, plotting.LABELS[mechanism], f"{paper_3[s, k]:.4f} ± {paper_3_se[s, k]:.4f}",
            f"{ours_3[s, k]:.4f} ± {ours_3_se[s, k]:.4f}", f"{z_3[s, k]:+.1f}", f"{z_gain[s, k - 1]:+.1f}" if k else "",
        ])  # fmt: skip
table(["set", "features", "paper", "ours, public split", "z", "z of gain over IID"], rows)

# %% tags=["hide-input"]
z_between = (between - paper_between) / np.hypot(between_se, paper_between_se)
table(
    ["set", "$d$", "padded", "Table 3 minus Table 2, paper", "ours", "z"],
    [
        [name, tasks[name].x_train.shape[1], couplings.fast.padded(tasks[name].x_train.shape[1]),
         f"{paper_between[s]:+.4f} ± {paper_between_se[s]:.4f}", f"{between[s]:+.4f} ± {between_se[s]:.4f}",
         f"{z_between[s]:+.1f}"]
        for s, name in enumerate(SETS)
    ],
)  # fmt: skip

# %% [markdown]
# (simplex-extra-fast)=
# ### Where the fast variants do differ
#
# "Does not change the accuracy", says the caption. The Hadamard product is not a uniform rotation, and the fewer its
# dimensions the more that shows; banknote has four. The paper's own table has 0.7296 ± 0.0017 for the fast simplex there
# and 0.7196 ± 0.0019 for the regular one.

# %%
banknote = run(
    tasks["banknote"], jax.random.key(4), SIZES["extra_fast"], ("simplex", "simplex_fast"), 4, n_blocks=1, batch=100
)[0][..., 0]
print("mean accuracy: regular {:.4f}, fast {:.4f}".format(*banknote.mean(axis=0)))
ledger.decide(
    "simplex/extra-fast-accuracy/banknote",
    evidence.order(1 - banknote[:, 1], 1 - banknote[:, 0]),
)

# %% tags=["hide-input"]
table(
    ["set", "fast minus regular, orthogonal", "t", "fast minus regular, simplex", "t"],
    [
        [name, *(
            text
            for fast, regular in ((2, 1), (4, 3))
            for difference in [padded[name][:, fast] - padded[name][:, regular]]
            for text in (
                f"{difference.mean():+.4f}",
                f"{t_of(difference):+.1f}",
            )
        )]
        for name in SETS
    ],
)  # fmt: skip

# %% [markdown]
# (simplex-majority)=
# ## Is it classification yet?
#
# What would no features at all achieve? Always answering the most frequent class of the training part is a classifier
# too. It is the limit $\sigma \to 0$ of every mechanism on this page.

# %%
cmc = list(SETS).index("cmc")
ledger.decide(
    "simplex/extra-majority/cmc-public-split",
    evidence.bound(at_d_grouped[:, cmc], majority["cmc"]),
)

# %%
majority_of_splits = {
    name: np.array([majority_accuracy(make_task(name, split)) for split in OTHER_SPLITS]) for name in SETS
}
ledger.decide(
    "simplex/extra-majority/cmc-other-splits",
    evidence.bound(splits["cmc"][0] - majority_of_splits["cmc"][:, None], 0.0),
)

# %% tags=["hide-input"]
table(
    ["set", "majority, public split", *(f"{plotting.LABELS[m]}" for m in MECHANISMS), "other splits, minus majority: IID", "simplex"],
    [
        [name, f"{majority[name]:.3f}", *(f"{a:.3f}" for a in at_d[name].mean(axis=1)),
         *(f"{np.mean(splits[name][0][:, k] - majority_of_splits[name]):+.3f}" for k in (0, 2))]
        for name in SETS
    ],
)  # fmt: skip

# %% [markdown]
# ## What we found

# %% tags=["hide-input"]
ledger.close(
    seeds={"public split": 42, "splits": [0, 19], "sigma": 10, "figure 8": 8, "table 2": 20, "table 3": 30, "banknote": 4},
)

# %% [markdown]
# ## What we learned
#
# * **The gain is real, and it is where theory puts it.** Simplex beats orthogonal beats IID in the mean over the sets at
#   every number of features. It is worth six to ten percentage points on banknote, nursery and wifi, and tenths of a
#   point or nothing on the other five. That "both variants substantially outperform ORFs on every dataset" the paper's own
#   Table 3 does not bear out on yeast, where the two agree within their errors. Small $\bar v$ helps (wifi, nursery)
#   but does not suffice (abalone, cmc): a better kernel only pays where its error is what keeps the accuracy down.
# * **Split scatter is 15 to 120 times the printed error.** A paired comparison survives it, since both mechanisms see the
#   same split: simplex beats orthogonal on 20 of 20 splits on the three clear sets. A single accuracy does not.
# * **Tables 2 and 3 differ by padding, not by chance.** More columns of zeros mean more features, and accuracies rise
#   by what the two tables differ, within the errors.
# * **"Tends to the exact kernel" is a statement about the small-$\bar v$ sets.** wifi, nursery, abalone and chess arrive
#   within a hundred or a thousand blocks; car, with $\bar v = 5$, is not half way after a thousand: the
#   relative variance of a positive feature grows like $e^{v^2}$, and no coupling touches that.
# * **On cmc $d$ features are worse than none.** Always answering the majority class is more accurate, by seven percentage
#   points on the public split; over the other splits by four, and on car by one, which twenty splits cannot make certain.
#   A ranking of mechanisms down there says little about classifiers.
# * The caption of Table 3 says that fast products do not change the accuracy. To two percentage points that holds; on
#   banknote, where Hadamard matrices have four rows, the fast simplex is better by 0.008, as in the printed table. It is
#   a bias, for once a lucky one.
# * In the public code "validation" and test set are one, so that $\sigma$ was chosen on the points that are tested.
