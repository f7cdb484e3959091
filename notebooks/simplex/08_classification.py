# %% [markdown]
# # Does a better kernel classify better? (Figure 8)
#
# * **On average over eight tables, yes**: simplex beats orthogonal, and orthogonal
#   beats independent, at every number of features up to $10 d$, and on no table is
#   simplex worse by a percentage point.
# * **The gain is real where the kernel's error is what keeps accuracy down.** With $d$
#   features it is six to ten percentage points on banknote, nursery and wifi, and
#   tenths of a point or nothing on the other five.
# * **With few features a classifier can be worse than none.** On the table cmc, always
#   answering the most frequent class beats every coupling with $d$ features by some
#   seven points.
#
# **What the paper claims.** A smaller error of the kernel should pay off somewhere.
# {cite:t}`reid2023simplex` take eight tables of the UCI repository and predict classes
# by kernel regression, with positive random features in place of the kernel. Simplex
# features "consistently perform best", and "in the limit of large $m$ performance tends
# towards the exact kernel result" (Section 5.3).
#
# **The idea.** A test point $x$ asks every training point $x_i$ for its vote, weighted
# by the kernel, $\sum_i K(\sigma x, \sigma x_i)\, y_i$ with one-hot $y_i$; the class
# with the most weight wins. With features $\phi$ the sum over training points is done
# once and for all, $\phi(x)^\top (\Phi^\top Y)$, a matrix of $m$ rows. And since blocks
# of $d$ frequencies are independent, the votes of ten blocks, added up one by one, give
# $m = d, 2d, \dots, 10d$ from one draw.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.simplex import classification
from rfcore import couplings

ledger = evidence.open_page("simplex/08_classification", profile)
# Draws of ten blocks, LARGE on the sets nursery and chess; and on each other split.
SETS, N_DRAWS, LARGE, N_SPLITS, PER_SPLIT = {
    "paper": (
        ("abalone", "banknote", "car", "yeast", "cmc", "nursery", "wifi", "chess"),
        1000, 200, 80, 20,
    ),
    "quick": (("banknote", "cmc"), 60, 60, 4, 10),
}[profile]  # fmt: skip
MECHANISMS = ("iid", "orthogonal", "simplex", "simplex_plus")
DRAWN, N_BLOCKS = [getattr(couplings, name) for name in MECHANISMS], 10

# %% [markdown]
# ## Eight tables, and what is not printed
#
# The paper prints neither the columns, nor $\sigma$, nor the split. Its authors' public
# code has all three. Words become one-hot columns; everything is standardised by the
# mean and deviation of the training part; `numpy.random.default_rng(42)` shuffles; 95 %
# are for training and 5 % for testing. The last line of every file is lost to a slip of
# the loader, and so it is here
# ({py:func}`~companion.papers.simplex.classification.public_task`). How well its values of
# $\sigma$ are chosen is the question of {doc}`09_scale_of_the_data`.
#
# Five sets run in single precision. The last column counts, of 400 accuracies, those
# that differ in double precision.

# %%
tables = {name: datasets.classification(name, fallback=True) for name in SETS}
tasks = {name: classification.public_task(tables[name]) for name in SETS}
exact = {name: classification.exact(task) for name, task in tasks.items()}
majority = {name: classification.majority(task) for name, task in tasks.items()}

# %% tags=["hide-input"]
facts = []
for name, task in tasks.items():
    twice = [task, classification.public_task(tables[name], double=True)]
    key = ledger.key("precision")
    found = [classification.accuracies(key, t, DRAWN, 10, N_BLOCKS) for t in twice]
    facts.append([
        *task.x_train.shape, len(task.labels), task.targets.shape[1],
        np.sum(np.abs(found[0].together - found[1].together) > 1e-6),
    ])  # fmt: skip
plotting.table(
    facts,
    rows=SETS,
    columns=["train", "$d$", "test", "classes", "differ in double precision"],
    corner="data set",
    caption="Ours. Rows and columns of the tables, as the public code reads them.",
)

# %% [markdown]
# (simplex-fig-8)=
# ## Figure 8: accuracy against the number of features
#
# A *draw* is ten blocks per mechanism, from common random numbers, on the split of the
# public code. The paper does not print how often it repeats; the code repeats 500 times
# at $m/d = 1, 2, 4, 10$. We draw 1000 times, and 200 times on nursery and chess, the
# large sets. To see *where* the curves go, we also add up the votes of ten and of a
# hundred draws, which makes $100 d$ and $1000 d$ features.

# %%
drawn = {}
for s, name in enumerate(tqdm(SETS, desc="sets", leave=False)):
    n_draws = LARGE if name in ("nursery", "chess") else N_DRAWS
    drawn[name] = classification.accuracies(
        ledger.key("blocks", s), tasks[name], DRAWN, n_draws, N_BLOCKS
    )


# %% tags=["hide-input"]
WIDTHS = np.array([1, 2, 4, 10])  # m / d


def mean_and_se(samples):
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(len(samples))


def pooled(name, n_votes):
    """Accuracies of votes of ten draws added up, (sums, mechanisms)."""
    votes = drawn[name].votes
    votes = votes[: len(votes) // n_votes * n_votes]
    votes = votes.reshape(-1, n_votes, *votes.shape[1:]).sum(axis=1)
    return np.mean(votes.argmax(axis=-1) == tasks[name].labels, axis=-1)


def curve(name):
    """Numbers of features over d, mean accuracies (mechanisms, numbers), errors."""
    samples = list(np.moveaxis(drawn[name].together[..., WIDTHS - 1], -1, 0))
    samples += [a for a in (pooled(name, 1), pooled(name, 10)) if len(a) >= 5]
    mean, se = np.moveaxis([mean_and_se(a) for a in samples], 1, 0)
    return [*WIDTHS, 100, 1000][: len(mean)], mean.T, se.T


curves = {name: curve(name) for name in SETS}
# Groups of draws, so that each set has as many: (groups, sets, mechanisms, widths).
n_groups = min(len(found.together) for found in drawn.values())
grouped = np.stack([
    found.together.reshape(n_groups, -1, *found.together.shape[1:]).mean(axis=1)
    for found in drawn.values()
], axis=1)  # fmt: skip
errors = 1 - grouped[..., WIDTHS - 1]
average = errors.mean(axis=1)  # groups, mechanisms, widths

# %% tags=["hide-input"]
charts = plotting.panels(
    WIDTHS, 100 * (1 - average)[:, None], panels=["mean of the sets"],
    lines=MECHANISMS, log="x", x_label="m / d", y_label="accuracy, %",
)  # fmt: skip
for name, (widths, mean, se) in curves.items():
    charts += plotting.panels(
        widths, 100 * np.stack([mean - se, mean + se])[:, None], panels=[name],
        lines=MECHANISMS, log="x", x_label="m / d", y_label="accuracy, %",
        levels={"exact": 100 * exact[name], "majority": 100 * majority[name]},
    )  # fmt: skip
plotting.show(
    *charts,
    caption="Re-run: Figure 8, which ends at $m = 10 d$. Accuracy against the number "
    "of features over $d$, on the public split. Bands: one standard error over draws.",
    alt="Nine charts that rise from left to right. In banknote, nursery and wifi "
    "simplex and simplex+ start far above orthogonal and IID, and all meet within ten "
    "to a hundred blocks; in the others the curves can hardly be told apart. Car and "
    "yeast are far below the exact kernel even at a thousand blocks.",
)

# %% tags=["hide-input"]
plotting.table(
    [
        [100 * majority[name], *(100 * mean[2][list(widths).index(w)] if w in widths
         else np.nan for w in (1, 10, 100, 1000)), 100 * exact[name]]
        for name, (widths, mean, _) in curves.items()
    ],
    rows=SETS,
    columns=["majority", "$d$", "$10 d$", "$100 d$", "$1000 d$", "exact"],
    corner="$m$",
    unit="percent",
    caption="Ours. Accuracy of simplex features, between that of always answering the "
    "most frequent class and that of the kernel itself. Public split.",
)  # fmt: skip

# %% [markdown]
# The approach to the exact kernel is visible on some sets only. Wifi, nursery and chess
# arrive within a hundred blocks, abalone and cmc within a thousand; car, whose points
# lie farthest from the origin, is not halfway there after a thousand. The relative
# variance of a positive feature grows like $e^{v^2}$ with $v = \lVert x + y \rVert$,
# and no coupling touches that.

# %% tags=["hide-input"]
iid, orthogonal, simplex, _ = np.moveaxis(errors, 2, 0)  # each (groups, sets, widths)
clear = np.isin(SETS, ("banknote", "nursery", "wifi"))
far = np.stack([
    np.abs(found.together - exact[name]).reshape(n_groups, -1, *grouped.shape[2:])
    .mean(axis=1) for name, found in drawn.items()
], axis=1)  # fmt: skip
ledger.decide({
    "simplex/fig-8/best-on-every-set": evidence.bound(
        simplex[:, None] - np.stack([orthogonal, iid], axis=1), 0.01
    ),
    "simplex/fig-8/average": evidence.order(average[:, [2, 1]], average[:, [1, 0]]),
    "simplex/extra-classification-order/clear-sets": evidence.order(
        np.stack([simplex[:, clear], orthogonal[:, clear]], axis=1),
        np.stack([orthogonal[:, clear], iid[:, clear]], axis=1),
    ),
    "simplex/fig-8/towards-exact": evidence.order(far[..., -1], far[..., 0]),
})

# %% [markdown]
# ## Which orderings can the data resolve?
#
# Differences are paired: both mechanisms see the same random numbers. At $m = d$ each
# of the ten blocks of a draw is a repeat.

# %% tags=["hide-input"]
PAIRS = (("orthogonal", "iid"), ("simplex", "orthogonal"), ("simplex_plus", "simplex"))


def gained(accuracies, a, b):
    a, b = MECHANISMS.index(a), MECHANISMS.index(b)
    return 100 * (accuracies[:, a] - accuracies[:, b])


needed = np.full((len(SETS), len(PAIRS)), np.nan)
for p, pair in enumerate(PAIRS):
    at_widths = [
        mean_and_se(gained(found.together[..., WIDTHS - 1], *pair))
        for found in drawn.values()
    ]
    mean, se = np.moveaxis(at_widths, 1, 0)
    for s, found in enumerate(drawn.values()):
        alone = gained(found.alone, *pair).ravel()  # every block is a repeat
        mean[s, 0], se[s, 0] = mean_and_se(alone)
        squared = (alone.mean() / alone.std(ddof=1)) ** 2
        needed[s, p] = 9 / squared if squared * alone.size >= 9 else np.nan
    first, second = (plotting.LABELS[name] for name in pair)
    plotting.table(
        mean, se, rows=SETS, corner="data set",
        columns=["$m = d$", *(f"$m = {w} d$" for w in WIDTHS[1:])],
        unit="percentage points",
        caption=f"Ours. Accuracy of {first} minus {second} features, public split.",
    )  # fmt: skip
plotting.table(
    np.round(needed), rows=SETS, corner="data set",
    columns=[" − ".join(plotting.LABELS[name] for name in pair) for pair in PAIRS],
    caption="Ours. How many repeats show a difference at $m = d$ at three standard "
    "errors; blank where even all the blocks that we drew do not show it.",
)  # fmt: skip

# %% [markdown]
# So does simplex beat orthogonal? On banknote, nursery and wifi plainly, with 16 to 78
# repeats. (What leaves the claim about these three open is orthogonal against IID on
# banknote at $m = 10 d$, where we see no difference.) On abalone, car and cmc by one to
# four parts in a thousand, which takes thousands of repeats. On yeast and chess the
# difference is at the edge of what thousands of repeats can see; with more,
# {doc}`10_at_m_equal_d` finds it at $m = d$, about one part in a thousand or less.
# Nowhere is the order significantly the other way round. "Consistently" is not
# contradicted, and at larger $m$ cannot be shown: at $m = 10 d$ most of the gain is
# gone, since coupling helps within a block only, and ten blocks wash much of it out.
#
# (simplex-majority)=
# ## Is it classification yet?
#
# What would no features at all achieve? Always answering the most frequent class of the
# training part is a classifier too: the limit $\sigma \to 0$ of every mechanism here. A
# ranking of mechanisms that fall below it says little about classifiers. On cmc all
# four mechanisms do, by some seven points on the public split. Over eighty other splits
# they fall short by less, and not with certainty.

# %%
of_splits = []  # of cmc, mean over single blocks, minus that of the majority
for split in tqdm(range(N_SPLITS), desc="splits of cmc", leave=False):
    task = classification.public_task(tables["cmc"], split)
    key = ledger.key("splits", SETS.index("cmc"), split)
    found = classification.accuracies(key, task, DRAWN, PER_SPLIT, N_BLOCKS)
    of_splits.append(found.alone.mean(axis=(0, 2)) - classification.majority(task))

# %% tags=["hide-input"]
single = drawn["cmc"].alone.mean(axis=2).reshape(n_groups, -1, len(MECHANISMS))
ledger.decide({
    "simplex/extra-majority/cmc-public-split": evidence.bound(
        single.mean(axis=1), majority["cmc"]
    ),
    "simplex/extra-majority/cmc-other-splits": evidence.bound(of_splits, 0.0),
})

# %% tags=["hide-input"]
ledger.close()
