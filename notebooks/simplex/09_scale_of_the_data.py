# %% [markdown]
# # How sharp a kernel? (Figure 10)
#
# * **A blunter one than is best for the kernel itself**: on every set the exact kernel
#   is most accurate at a larger scale of the data than the one that the paper uses.
# * **Features pay for sharpness with variance.** They fall further behind the exact
#   kernel at the largest scale than at the smallest, on every set.
# * **On six sets the paper's scale is within two steps of the best for IID features**,
#   and on five of them it is as good to within a percentage point. On no set does it
#   give away three points; but on cmc there is no peak to find.
#
# **What the paper claims.** Points are multiplied by $\sigma$ before the kernel sees
# them. {cite:t}`reid2023simplex` choose "the value of $\sigma$ at which the i.i.d. PRF
# classification accuracy [...] peaks", which "does not generically coincide with where
# the exact kernel performance [...] peaks" (Appendix B.1). Its two reasons pull
# against each other: some $\sigma$ suits the data, and positive features "tend to
# perform worse" at large $\sigma$.
#
# **The idea.** The variance of a positive feature, in units of the kernel squared,
# grows like $e^{\sigma^2 \lVert x + y \rVert^2}$. So a sharp kernel needs many
# features, and a small number of them does better with a blunt one, which suits the
# data less and is easier to estimate.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.simplex import classification
from rfcore import couplings

ledger = evidence.open_page("simplex/09_scale_of_the_data", profile)
# Draws for each scale; draws that measure a loss, and how many times as many on cmc.
SETS, N_DRAWS, N_MEASURED, ON_CMC = {
    "paper": (
        ("abalone", "banknote", "car", "yeast", "cmc", "nursery", "wifi", "chess"),
        100, 1200, 16,
    ),
    "quick": (("banknote", "cmc"), 10, 20, 1),
}[profile]  # fmt: skip

# %% [markdown]
# ## The scales of the public code
#
# The paper prints no $\sigma$; its authors' public code has one per set. That these lie
# on a grid of 20 values from 0.1 to 2, equally spaced in the logarithm, is our
# inference. The last column shows how well they fit the grid.

# %%
GRID = np.exp(np.linspace(np.log(0.1), np.log(2), 20))
papers = np.array([datasets.find(name).sigma for name in SETS])
chosen = np.abs(np.log(GRID / papers[:, None])).argmin(axis=1)

# %% tags=["hide-input"]
plotting.table(
    np.stack([papers, chosen + 1, papers / GRID[chosen] - 1], axis=1),
    rows=SETS,
    corner="data set",
    columns=["σ of the public code", "its place among 20", "relative misfit"],
    caption="Ours. The grid that the paper's scales come from.",
)

# %% [markdown]
# (simplex-fig-10)=
# ## Figure 10: accuracy against the scale
#
# For each $\sigma$ of the grid: the accuracy of the exact kernel, and of IID features
# with $m = 10 d$. As in the paper, nursery and chess are cut to 1000 training and 100
# test points. The paper speaks of a validation set. The authors' public loader returns
# the test set in its place ({doc}`/book/choices` has the line), and we follow it: with
# it, $\sigma$ is chosen on the very points that are tested. What was run to choose the
# printed values is not public.
#
# The paper averages over ten draws. We take a hundred for each $\sigma$, and use them
# to find the best one. Then 1,200 other draws, and sixteen times as many on cmc, where
# the loss is near what we allow, measure how much accuracy the paper's $\sigma$ gives
# away against the best one. If the same draws did both, they would always find some
# gain.

# %%
tuned = np.empty((N_DRAWS, len(SETS), len(GRID)))
exact = np.empty((len(SETS), len(GRID)))
majority = np.empty(len(SETS))
parts = {}  # split and number of classes
for s, name in enumerate(tqdm(SETS, desc="sets", leave=False)):
    table = datasets.classification(name, fallback=True)
    part = datasets.split(table, seed=42)
    if name in ("nursery", "chess"):
        train, test = (part[:2], part[2:])
        part = datasets.Split(*(a[:1000] for a in train), *(a[:100] for a in test))
    parts[name] = part, len(table.classes)
    for g, sigma in enumerate(GRID):
        task = classification.task(*parts[name], sigma)
        key = ledger.key("scales", s)  # the same for each sigma
        found = classification.accuracies(key, task, [couplings.iid], N_DRAWS, 10)
        tuned[:, s, g] = found.together[:, 0, -1]
        exact[s, g] = classification.exact(task)
    majority[s] = classification.majority(task)

best = tuned.mean(axis=0).argmax(axis=1)
loss = np.zeros((N_MEASURED, len(SETS)))  # none where the best scale is the paper's
for s in tqdm(np.flatnonzero(best != chosen), desc="losses", leave=False):
    of_each = N_MEASURED * (ON_CMC if SETS[s] == "cmc" else 1)
    key = ledger.key("losses", s)  # the same for both
    pair = [
        classification.accuracies(
            key, classification.task(*parts[SETS[s]], GRID[g]), [couplings.iid],
            of_each, 10,
        ).together[:, 0, -1] for g in (best[s], chosen[s])
    ]  # fmt: skip
    loss[:, s] = (pair[0] - pair[1]).reshape(N_MEASURED, -1).mean(axis=1)

# %% tags=["hide-input"]
charts = []
for s, name in enumerate(SETS):
    both = np.stack([tuned[:, s], np.broadcast_to(exact[s], tuned[:, s].shape)], axis=1)
    charts += plotting.panels(
        GRID, 100 * both[:, None], panels=[name],
        lines={"IID": "iid", "exact": "exact"}, levels={"majority": 100 * majority[s]},
        log="x", x_label="scale σ of the data", y_label="accuracy, %",
    )  # fmt: skip
    ax = charts[-1].axes[0]
    low, high = ax.get_ylim()
    ax.set_ylim(low, top := high + 0.15 * (high - low))  # room for a name
    style = {"color": plotting.COLOURS["paper"]}
    ax.axvline(papers[s], **style)
    side = "right" if papers[s] > 0.6 else "left"
    ax.text(papers[s], top, " paper's σ ", ha=side, va="top", fontsize=9, **style)
    ax.set_xticks([0.1, 0.2, 0.5, 1, 2], ["0.1", "0.2", "0.5", "1", "2"])
plotting.show(
    *charts,
    caption="Re-run: Figure 10. Accuracy against the scale of the data on the public "
    "split, of the kernel and of IID features with $m = 10 d$. Bands: one standard "
    "error of the mean.",
    alt="Eight charts of accuracy against sigma from 0.1 to 2. The exact kernel rises "
    "on most sets; on nursery it falls again from 92 to 73, on cmc it goes up and "
    "down. IID features rise to a peak and fall. In most charts the vertical line is "
    "near the peak; in cmc the features stay at the majority class up to about 0.3 "
    "and then fall.",
)

# %% tags=["hide-input"]
every = np.arange(len(SETS))
at_best = exact.argmax(axis=1)
plotting.table(
    np.stack([
        papers, GRID[best], 100 * loss.mean(axis=0),
        GRID[at_best], 100 * exact[every, chosen], 100 * exact.max(axis=1),
    ], axis=1),
    np.stack([
        0 * papers, 0 * papers, 100 * loss.std(axis=0, ddof=1) / np.sqrt(len(loss)),
        *3 * [0 * papers],
    ], axis=1),
    rows=SETS, corner="data set",
    columns=[
        "paper's σ", "best σ, IID", "given away", "best σ, exact", "exact there, %",
        "at best, %",
    ],
    caption="Ours. The scale that is best for IID features, the accuracy that the "
    "paper's gives away against it, in points; the exact kernel at the paper's and at "
    "its own best.",
)  # fmt: skip

# %% [markdown]
# On abalone, car, yeast and nursery we find no scale that is better than the paper's.
# On banknote a scale one step smaller is better by some seven tenths of a percentage
# point, on chess one three steps larger by 1.3, and on wifi a scale two steps larger by
# two points, which ten repeats could hardly see. On cmc there is no peak to speak of:
# the smaller $\sigma$, the flatter the kernel, until every training point has the same
# vote and the answer is always the majority class; and at no scale are $10 d$ features
# better than that by more than some 0.2 points ({ref}`simplex-majority`).

# %% tags=["hide-input"]
moved = best != chosen  # elsewhere nothing is given away
flat = np.isin(SETS, ("cmc", "chess"))


def loss_is_small(of_sets):
    """Decide that these sets give away less than 0.03."""
    counted = loss[:, of_sets & moved]
    if counted.size == 0:
        return evidence.bound(0.0, 0.03, exact=True)
    return evidence.bound(counted, 0.03)


elsewhere = int(np.sum(exact.max(axis=1) > exact[every, chosen]))
gap = exact - tuned
ledger.decide({
    "simplex/fig-10/peak": loss_is_small(~flat),
    "simplex/fig-10/peak-cmc-chess": loss_is_small(flat),
    "simplex/fig-10/exact-peaks-elsewhere": evidence.bound(
        elsewhere, -(-5 * len(SETS) // 8), side="above", exact=True
    ),
    "simplex/fig-10/gap-grows": evidence.order(gap[..., 0], gap[..., -1]),
})

# %% tags=["hide-input"]
ledger.close()
