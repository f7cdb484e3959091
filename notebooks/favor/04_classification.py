# %% [markdown]
# # Do better exponents classify better? (Figure 3)
#
# * **SDERF leads on average, as printed**, over all numbers of features $M$ by 1.5
#   percentage points, and on three quarters of the 32 pairs of set and $M$ no other kind
#   is better. At $M = 16$ alone it is hardly ahead of trigonometric features.
# * **The lead is real and uneven.** Over other splits SDERF is 2.8 ± 0.3 points above
#   GERF, the features with one parameter: seven on wifi, about a point on car and
#   yeast, none on cmc.
# * **On average all stay far below the kernel that they estimate**: with 128 features
#   SDERF reaches 60 % on average, the exact kernel 73 %.
#
# **What the paper claims.** Every training point votes for its class, weighted by a
# kernel. {cite:t}`likhosherstov2023favor` estimate the votes by random features, on eight
# tables of the UCI repository. SDERF, their symmetric dense exponential features, "shows
# the best accuracy across most of the (benchmark, $M$) pairs and also shows the best
# average performance" (Section 5.2).
#
# **The idea.** All kinds of features are unbiased for the same kernel, so that with
# enough of them all kinds classify alike. With few features the variance decides, and
# SDERF fits its parameters to the points so as to have little. It does so about the
# origin: what becomes of the lead where points lie elsewhere is the question of
# {doc}`05_centred_points`.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.favor import exponential_votes
from companion.papers.simplex import classification
from rfcore import features
from rfcore.solvers import exponential

ledger = evidence.open_page("favor/04_classification", profile)
SETS, WIDTHS, N_SEEDS, N_TUNING, N_SPLITS = {
    "paper": (
        ("abalone", "banknote", "car", "yeast", "cmc", "nursery", "wifi", "chess"),
        (16, 32, 64, 128), 1200, 50, 8,
    ),
    "quick": (("banknote", "wifi"), (16, 64), 10, 10, 3),
}[profile]  # fmt: skip
LARGE = ("nursery", "chess")
SMALL = tuple(name for name in SETS if name not in LARGE)
tables = {name: datasets.classification(name, fallback=True) for name in SETS}

# %% [markdown]
# ## The experiment, and what is not printed
#
# A test point $u$ gets the class of the greatest entry of $\sum_i K(\sigma u, \sigma u_i)
# r_i$, with one-hot labels $r_i$ and the Gaussian kernel. The rows are shuffled; 90 %
# are for training, 5 % for validation and 5 % for testing. Of ten scales $\sigma$ from
# $10^{-2}$ to $10^2$, equally spaced in the logarithm, the one with the best validation
# accuracy over 50 seeds is tested with 50 seeds; we test with 1,200. Frequencies are
# orthogonal. All this is printed (Appendix B.2).
#
# Not printed, and our choice: **which eight sets** (those of
# {doc}`../simplex/08_classification`, by some of the same authors); **their columns**
# (words one-hot, all standardised by the training part; or {ref}`raw
# <favor-classification-raw>`); **the split** (seed 42, or {ref}`others
# <favor-classification-splits>`); $\sigma$ is chosen **for each $M$** (the table has
# the other reading); **the points that fit the parameters** (the training points, on
# both sides; but ADERF, which {ref}`would then be GERF
# <favor-classification-same-sets>`, has the held-out inputs on one side); **the kinds
# shown** (SADERF is a special case of ADERF). One economy is ours: on nursery and
# chess, the large sets, ten of the seeds choose $\sigma$.
#
# At $\sigma = 100$ features have exponents of $10^5$. But the greatest entry of a row
# stays the greatest when the row is multiplied by one $e^{-a(u)} > 0$, so we work with
# logarithms and first subtract the greatest of them
# ({py:func}`companion.models.regression.scores_of_logs`). All kinds and all $\sigma$ see
# the same frequencies, and the first $M$ of 128 are used for each $M$
# ({py:func}`~companion.papers.favor.exponential_votes.accuracies`).

# %%
FITS = {  # to the scaled training points, and for ADERF to the held-out ones
    "trigonometric": None,
    "positive": lambda x, held: features.ExponentialParameters(),
    "gerf": lambda x, held: exponential.gerf(x, x),
    "aderf": lambda x, held: exponential.aderf(held, x),
    "sderf": lambda x, held: exponential.sderf(x, x),
}
KINDS = tuple(FITS)


def make_task(name, seed=42):
    part = datasets.split(tables[name], seed=seed, test_fraction=0.1)
    return classification.task(part, len(tables[name].classes), 1.0)


def run(task, key, n_seeds, kinds, n_tuning):
    """Test accuracies (seeds, kinds, widths): sigma chosen per width, and for all."""
    fits = exponential_votes.fitted(task, FITS)
    fits = {kind: fits[kind] for kind in kinds}
    return exponential_votes.accuracies(key, task, fits, WIDTHS, n_seeds, n_tuning)


# %%
readings = []
for s, name in enumerate(tqdm(SETS, desc="sets", leave=False)):
    n_tuning = 10 if name in LARGE else N_TUNING
    key = ledger.key("classification once more", s)
    readings.append(run(make_task(name), key, N_SEEDS, KINDS, n_tuning))
accuracy, of_one_sigma = np.moveaxis(readings, [1, 0, 2], [0, 2, 1])
average = accuracy.mean(axis=1)  # seeds, kinds, widths

# %% [markdown]
# (favor-fig-3)=
# ## Figure 3
#
# The first panel is the paper's last: the average over the sets. Bands are standard
# errors over the seeds alone, for one split of the data.

# %% tags=["hide-input"]
ends = 100 * accuracy[..., -1].mean(axis=0)  # sets, kinds
ahead = ends[:, -1] - ends[:, :-1].max(axis=1)
assert profile == "quick" or ahead.min() > 0
shown = {"average": average, **dict(zip(SETS, accuracy.swapaxes(0, 1), strict=True))}
plotting.show(
    *(plotting.panels(
        WIDTHS, 100 * samples[:, None], panels=[name], lines=KINDS, log="x",
        x_label="number of features M", y_label="test accuracy, %",
    )[0] for name, samples in shown.items()),
    caption="Re-run: Figure 3. Test accuracy of kernel regression by random features. "
    "First panel: average over the sets.",
    alt="Nine charts of accuracy against the number of features, from 16 to 128, with "
    "five lines each: trigonometric, positive, GERF, ADERF and SDERF features. SDERF "
    f"ends highest on average and on every set, by {ahead.min():.1f} to "
    f"{ahead.max():.1f} percentage points.",
)  # fmt: skip

# %% [markdown]
# The paper counts the pairs of set and $M$ on which SDERF is best. We count those on
# which no other kind is better, so that ties count for SDERF; a bootstrap over the
# seeds tells how far such a count is due to chance.


# %% tags=["hide-input"]
def share_first(weights):
    """The share of pairs on which SDERF is as accurate as any other kind."""
    means = np.tensordot(weights / N_SEEDS, accuracy, axes=1)  # .., sets, kinds, widths
    first = means[..., -1, :] >= means[..., :-1, :].max(axis=-2) - 1e-9
    return first.mean(axis=(-2, -1))


equal = np.full(N_SEEDS, 1 / N_SEEDS)
resampled = share_first(ledger.rng("bootstrap").multinomial(N_SEEDS, equal, size=2000))
sderf, others = np.broadcast_arrays(1 - average[:, -1:], 1 - average[:, :-1])
first, first_se = share_first(np.ones(N_SEEDS)), max(resampled.std(), 1e-3)
ledger.decide({
    "favor/fig-3/average": evidence.order(sderf, others),
    "favor/fig-3/overall": evidence.order(sderf.mean(axis=2), others.mean(axis=2)),
    "favor/fig-3/most-pairs": evidence.bound(first - 0.5, 0.0, first_se, side="above"),
})

# %% tags=["hide-input"]
both = 100 * np.concatenate([average, of_one_sigma.mean(axis=1)], axis=2)
plotting.table(
    both.mean(axis=0).T,
    both.std(axis=0, ddof=1).T / np.sqrt(N_SEEDS),
    rows=[f"M = {m}{also}" for also in ("", ", one σ") for m in WIDTHS],
    columns=[plotting.LABELS[kind] for kind in KINDS],
    corner="features",
    unit="percent",
    caption="Ours. Test accuracy, average over the sets. Above: σ chosen for each M; "
    "below: one σ for all M.",
)

# %% [markdown]
# One $\sigma$ for all $M$ changes little: SDERF stays first. **Why?**
# GERF sees the points through one number, the mean eigenvalue of $x + y$'s second
# moments, SDERF through each eigenvalue. Correlated columns spread the eigenvalues, as
# on abalone, banknote and wifi. One-hot columns of a table that lists every combination
# (car, nursery) do not: apart from the zeros all eigenvalues are about equal, and at $M
# = 128$ the gain is about a point.
#
# (favor-classification-references)=
# ## Between the majority class and the exact kernel
#
# Features estimate a vote. The exact vote is the limit of many features, and the most
# frequent class of the training part needs no features at all.

# %%
majority, exact = np.empty((2, len(SETS)))
for s, name in enumerate(tqdm(SETS, desc="exact kernel", leave=False)):
    task = make_task(name)
    exact[s] = exponential_votes.exact(task)
    majority[s] = classification.majority(exponential_votes.without_validation(task))

# %% tags=["hide-input"]
plotting.table(
    100 * np.column_stack([majority, accuracy[..., -1].mean(axis=0), exact]),
    rows=SETS,
    columns=["majority", *(plotting.LABELS[kind] for kind in KINDS), "exact kernel"],
    corner="data set",
    unit="percent",
    caption=f"Ours. Test accuracies; of features with M = {max(WIDTHS)}.",
)
error, constant = 1 - average, np.ones_like(average)
ledger.decide({
    "favor/extra-classification-references/above-majority": evidence.order(
        error, constant * (1 - majority.mean())
    ),
    "favor/extra-classification-references/below-exact": evidence.order(
        constant * (1 - exact.mean()), error
    ),
})

# %% [markdown]
# On average all kinds lie between the two, and far from the upper one. On chess all
# stay at 19 to 21 %, against 71 % for the exact kernel. On cmc nothing beats the
# majority class by more than some two points, and the exact kernel does not beat
# it at all.
#
# (favor-classification-splits)=
# ## Another split
#
# The test part of banknote has only 69 points: another shuffle is another experiment.
# On the six small sets we repeat everything, the choice of $\sigma$ included, with ten
# seeds for each split.

# %%
on_splits = np.empty((N_SPLITS, len(SMALL), 2))
for split in tqdm(range(N_SPLITS), desc="splits", leave=False):
    for s, name in enumerate(SMALL):
        task, key = make_task(name, split), ledger.key("splits", split, s)
        of_two = run(task, key, 10, ("gerf", "sderf"), 10).per_width
        on_splits[split, s] = of_two.mean(axis=(0, 2))

# %% tags=["hide-input"]
gain = 100 * (on_splits[..., 1] - on_splits[..., 0])
plotting.table(
    [gain.mean(axis=0), gain.std(axis=0, ddof=1)],
    rows=["mean over splits", "deviation"],
    columns=SMALL,
    unit="percentage points",
    caption="Ours. Accuracy of SDERF minus that of GERF, averaged over M and seeds, "
    "and its standard deviation over splits.",
)
by_split = 1 - on_splits.mean(axis=1)
ledger.decide({
    "favor/extra-classification-splits/sderf-beats-gerf": evidence.order(
        by_split[:, 1], by_split[:, 0]
    )
})

# %% [markdown]
# On a single split of abalone, car, yeast or cmc either kind may come out ahead: the
# standard deviation over splits is seven tenths of the mean or more. The average over
# sets is safe.

# %% tags=["hide-input"]
ledger.close()
