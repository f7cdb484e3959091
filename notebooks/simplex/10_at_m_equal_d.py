# %% [markdown]
# # What does the split decide? (Table 2)
#
# * **Simplex+ changes little**, as printed: by less than three percentage points on
#   every set, and our runs agree with all eight printed differences within their
#   errors.
# * **On half of the sets the accuracies agree too**, on the split of the public code.
#   On abalone, cmc and nursery they are off by a few parts in a thousand, on wifi by
#   four in a hundred. We do not know why.
# * **The printed errors leave out the split.** Another split of the data moves every
#   accuracy by 15 to 120 times its printed error. A paired comparison survives that; a
#   single accuracy does not.
#
# **What the paper claims.** Simplex+ lets the directions depend on the lengths, so that
# each block of frequencies sums to little. On the eight tables of
# {doc}`08_classification`, with $m = d$ features, "any gain provided by using SimRFs+
# is marginal", and "improvements tend to occur where $v$ is small"
# {cite:p}`reid2023simplex`; here $v = \lVert \sigma x + \sigma x' \rVert$, and the
# table prints its mean. The caption adds that "both variants substantially outperform
# ORFs on every dataset".
#
# **The idea.** A printed $0.7229 \pm 0.0012$ answers one question: how well is the mean
# over random features known, on these 68 test points? It says nothing of the next 68.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.evidence import statistics
from companion.papers.simplex import classification
from rfcore import couplings

ledger = evidence.open_page("simplex/10_at_m_equal_d", profile)
# Draws of ten blocks, on some sets another number; and on each other split.
SETS, N_DRAWS, ON_SOME, N_SPLITS, PER_SPLIT = {
    "paper": (
        ("abalone", "banknote", "car", "yeast", "cmc", "nursery", "wifi", "chess"),
        1000, {"nursery": 200, "yeast": 9000}, 20, 50,
    ),
    "quick": (("banknote", "cmc"), 60, {}, 4, 10),
}[profile]  # fmt: skip
MECHANISMS = ("iid", "orthogonal", "simplex", "simplex_plus")
DRAWN, N_BLOCKS = [getattr(couplings, name) for name in MECHANISMS], 10
BIG = ("nursery", "chess")
tables = {name: datasets.classification(name, fallback=True) for name in SETS}
tasks = {name: classification.public_task(table) for name, table in tables.items()}

# %% [markdown]
# (simplex-table-2)=
# ## Table 2: the split of the public code
#
# The paper prints neither the split nor $\sigma$; we take both from its authors' public
# code ({doc}`08_classification` says what else). On one split the only errors are those
# of the features. Every block of $d$ frequencies is a repeat, and there are ten of them
# in each of 1000 draws (200 draws on nursery, where couplings differ most, and 9000 on
# yeast, where they hardly do). If the split is the paper's, our accuracies must agree
# with the printed ones within the errors, and so must the mean of $v$, which is without
# noise.

# %%
at_d = {}  # (mechanisms, repeats); IID features are not in the table
for s, name in enumerate(tqdm(SETS, desc="public split", leave=False)):
    n_draws = ON_SOME.get(name, N_DRAWS)
    found = classification.accuracies(
        ledger.key("blocks", s), tasks[name], DRAWN[1:], n_draws, N_BLOCKS
    )
    at_d[name] = np.moveaxis(found.alone, 1, 0)  # mechanisms, draws, blocks
v = np.array([classification.mean_v(task) for task in tasks.values()])

# %% tags=["hide-input"]
BOTH = MECHANISMS[2:]
printed = {
    (r["dataset"], r["mechanism"]): r for r in evidence.printed("simplex_table2")
}


def of_paper(column, mechanisms=BOTH):
    """Printed numbers, (sets, mechanisms)."""
    return np.array([[float(printed[n, m][column]) for m in mechanisms] for n in SETS])


def mean_and_se(repeats):
    repeats = repeats.reshape(*repeats.shape[:-2], -1)
    se = repeats.std(axis=-1, ddof=1) / np.sqrt(repeats.shape[-1])
    return np.stack([repeats.mean(axis=-1), se])


paper, paper_se, paper_v = map(of_paper, ("accuracy", "std_error", "mean_v"))
ours, ours_se = np.moveaxis([mean_and_se(at_d[name][1:]) for name in SETS], 1, 0)
gain, gain_se = np.array([mean_and_se(a[2] - a[1]) for a in at_d.values()]).T
paper_gain, paper_gain_se = paper[:, 1] - paper[:, 0], np.hypot(*paper_se.T)
z = np.round((ours - paper) / np.hypot(ours_se, paper_se), 1) + 0.0  # no -0

# %% tags=["hide-input"]
blank = np.zeros(len(SETS))
plotting.table(
    np.stack([v, ours[:, 0], z[:, 0], ours[:, 1], z[:, 1], gain], axis=1),
    np.stack([blank, ours_se[:, 0], blank, ours_se[:, 1], blank, gain_se], axis=1),
    rows=SETS, corner="data set",
    columns=["mean of $v$", "simplex", "$z$", "simplex+", "$z$", "difference"],
    printed=[
        [f"{paper_v[s, 0]}", *(
            text for k in (0, 1)
            for text in (f"{paper[s, k]:.4f} ± {paper_se[s, k]:.4f}", "")
        ), f"{paper_gain[s]:.4f} ± {paper_gain_se[s]:.4f}"]
        for s in range(len(SETS))
    ],
    caption="Re-run: Table 2. Accuracy with $m = d$ features on the public split. $z$: "
    "ours minus printed, over both standard errors.",
)  # fmt: skip

# %% [markdown]
# Read the columns of $z$ first. On banknote, car, yeast and chess both accuracies agree
# with the printed ones ($|z|$ below 3.4, the threshold for sixteen numbers), though
# from split to split they scatter by 16 to 117 times those errors: so this *is* the
# paper's split, and its $\sigma$. The other four are the sets with the smallest $v$.
# IID features of {doc}`Table 3 <12_fast_variants>` are off in the same way on abalone,
# cmc and wifi, so there it is not the coupling (on nursery they agree); the mean of $v$
# is right, so it is not the scale either.

# %% tags=["hide-input"]
agrees = {"rounding": 0.00005, "false_alarm": 0.01}
kept = statistics.kept(ours, paper, paper_se)
n_groups = min(a.shape[1] for a in at_d.values())
# Groups of draws, so that each set has as many: (groups, sets, mechanisms).
grouped = np.stack([
    a.mean(axis=2).reshape(len(a), n_groups, -1).mean(axis=2).T for a in at_d.values()
], axis=1)  # fmt: skip
plus = grouped[..., 2] - grouped[..., 1]
small_v = paper_v[:, 0] < 2.15
ledger.decide({
    "simplex/table-2/mean-v": evidence.identity(v, paper_v[:, 0], 0.05 + 1e-9),
    "simplex/table-2/accuracies": evidence.agree(
        ours, ours_se, paper, paper_se=paper_se, smallest_difference=0.02,
        in_direction=kept, **agrees,
    ),
    "simplex/table-2/gain-of-plus": evidence.agree(
        gain, gain_se, paper_gain, paper_se=paper_gain_se, smallest_difference=0.016,
        in_direction=kept, **agrees,
    ),
    "simplex/table-2/plus-marginal": evidence.bound(
        np.stack([plus, -plus], axis=1), 0.03
    ),
    "simplex/table-2/plus-where-v-is-small": evidence.order(
        plus[:, ~small_v].mean(axis=1), plus[:, small_v].mean(axis=1)
    ),
})  # fmt: skip

# %% [markdown]
# ## Do both outperform orthogonal features on every set?
#
# We ask it of our runs, and of the paper itself: its Table 3 has orthogonal features at
# $m = d$ beside simplex ones. There the orthogonal ones are ahead on yeast, within the
# printed errors. In our runs simplex and simplex+ features are ahead on all eight sets:
# by five to twelve points on banknote, nursery and wifi, by about half a point or less
# on the others.

# %% tags=["hide-input"]
third = {
    (r["dataset"], r["mechanism"]): [float(r["accuracy"]), float(r["std_error"])]
    for r in evidence.printed("simplex_table3")
}
sets_printed = list(dict.fromkeys(name for name, _ in third))
pairs = [(third[n, "simplex"], third[n, "orthogonal"]) for n in sets_printed]
ahead, ahead_se = np.array([[a - b, np.hypot(c, e)] for (a, c), (b, e) in pairs]).T
least = np.argmin(ahead / ahead_se)
beats = np.array([
    np.ravel([mean_and_se(a[k] - a[0]) for k in (1, 2)], order="F")
    for a in at_d.values()
])
theirs = dict(zip(sets_printed, np.stack([ahead, ahead_se], axis=1), strict=True))
plotting.table(
    100 * np.column_stack([[theirs[n][0] for n in SETS], beats[:, :2]]),
    100 * np.column_stack([[theirs[n][1] for n in SETS], beats[:, 2:]]),
    rows=SETS,
    corner="data set",
    columns=["simplex, printed in Table 3", "simplex, ours", "simplex+, ours"],
    unit="percentage points",
    caption="Ours, and the paper's Table 3. Accuracy of simplex and "
    "simplex+ features minus that of orthogonal ones.",
)
ledger.decide({
    "simplex/table-2/both-beat-orthogonal": evidence.order(
        grouped[..., :1] - grouped[..., 1:], 0.0
    ),
    "simplex/table-2/substantially": evidence.bound(
        ahead[least], 0.0, se=ahead_se[least], side="above",
        confidence=1 - 0.001 / len(ahead),
    ),
})  # fmt: skip

# %% [markdown]
# (simplex-split-scatter)=
# ## What the printed errors leave out
#
# We take twenty other splits, drawn with seeds 0 to 19 by the same rule, each with
# fresh features. A classifier is tested on as few as 68 points, and other points give
# another accuracy. On most of these splits an accuracy is off by ten times its printed
# error or more. A paired comparison survives, since all mechanisms see the same split:
# on banknote, nursery and wifi simplex features beat orthogonal ones on all twenty.

# %%
splits = {}  # {set: mean and standard error, each (splits, mechanisms)}
of_majority = {}
for s, name in enumerate(tqdm(SETS, desc="splits", leave=False)):
    rows, of_majority[name] = [], []
    for split in range(N_SPLITS):
        task = classification.public_task(tables[name], split)
        found = classification.accuracies(
            ledger.key("splits", s, split), task, DRAWN,
            10 if name in ("abalone", *BIG) else PER_SPLIT, N_BLOCKS,
        )  # fmt: skip
        rows.append(mean_and_se(np.moveaxis(found.alone, 1, 0)))
        of_majority[name].append(classification.majority(task))
    splits[name] = np.moveaxis(rows, 1, 0)

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(plotting.WIDE[0], 4.0))
jitter, colour = np.linspace(-0.25, 0.25, N_SPLITS), plotting.COLOURS["simplex"]
for s, name in enumerate(SETS):
    of_split = 100 * (splits[name][0][:, 2] - paper[s, 0])
    ax.plot(of_split, s + jitter, ".", color=colour, label="" if s else "a split")
    public = 100 * (ours[s, 0] - paper[s, 0])
    ax.plot(
        public, s, "o", markersize=9, fillstyle="none", color=plotting.INK,
        label="" if s else "the public split",
    )  # fmt: skip
    ax.errorbar(
        0, s, xerr=300 * paper_se[s, 0], color=plotting.COLOURS["paper"], capsize=8,
        linewidth=2, label="" if s else "three printed errors",
    )  # fmt: skip
ax.set_yticks(range(len(SETS)), SETS)
ax.set(xlabel="accuracy minus the printed one, percentage points")
ax.invert_yaxis()
fig.legend(loc="outside upper left", ncols=3)
plotting.show(
    fig,
    caption="Ours. Accuracy of simplex features at $m = d$, minus that printed in "
    "Table 2. Dots: splits, averaged over features.",
    alt="A row of dots for each set. Dots scatter over 6 to 20 percentage points on "
    "the small sets and over 3 on chess; the printed errors are far smaller. Rings are "
    "near zero except for wifi, where the ring is 4 points below.",
)

# %% tags=["hide-input"]
scatter = []
for name in SETS:
    mean, noise = splits[name][..., 2]
    sd = np.sqrt(max(mean.var(ddof=1) - np.mean(noise**2), 0))
    scatter.append([sd, mean.std(ddof=1) / np.sqrt(2 * (len(mean) - 1))])
scatter, scatter_se = np.transpose(scatter)
ratio, ratio_se = scatter / paper_se[:, 0], scatter_se / paper_se[:, 0]
wins = [np.sum(splits[n][0][:, 2] > splits[n][0][:, 1]) for n in SETS]
plotting.table(
    np.stack([100 * paper_se[:, 0], 100 * scatter, ratio, wins], axis=1),
    np.stack([blank, 100 * scatter_se, ratio_se, blank], axis=1),
    rows=SETS,
    corner="data set",
    columns=["printed error", "sd of a split", "ratio", "splits that simplex wins"],
    caption="Ours. Simplex features at $m = d$: what the random features and what the "
    f"split contribute, in percentage points; and on how many of {N_SPLITS} splits "
    "they beat orthogonal ones.",
)
plotting.table(
    [
        [100 * a for a in (np.mean(of_majority[n]), *splits[n][0].mean(axis=0))]
        for n in SETS
    ],
    rows=SETS,
    corner="data set",
    columns=["majority", *(plotting.LABELS[name] for name in MECHANISMS)],
    unit="percent",
    caption=f"Ours. Accuracy at $m = d$, mean over {N_SPLITS} splits; first that of "
    "always answering the most frequent class.",
)
least = np.argmin((ratio - 5) / ratio_se)
ledger.decide({
    "simplex/extra-split-scatter/many-times-the-printed-error": evidence.bound(
        ratio[least], 5, se=ratio_se[least], side="above"
    )
})

# %% tags=["hide-input"]
ledger.close()
