# %% [markdown]
# # In a vision transformer (Figure 9)
#
# * **On fixed weights, yes, a little.** Put in the place of trained attention, simplex
#   frequencies have 0.5 to 1.8 % less error than orthogonal ones, and on average keep one
#   percentage point more of the answers right.
# * **After training from scratch nothing is left to see.** On digits the two end 0.08 ±
#   0.10 points apart, in ten pairs of runs. So simplex is not worse by half a point or
#   more; and the half point that the paper prints for ImageNet is not there on digits.
# * **Training matters more than the coupling.** Swapped in afterwards, with any
#   features more than half of the digits are answered wrongly. Trained with features,
#   the model is as good as the exact one.
#
# **What the paper claims.** A Performer replaces the attention of a transformer by
# positive features, so that its cost grows linearly with the number of patches.
# {cite:t}`reid2023simplex` train vision Performers of twelve layers on ImageNet2012,
# Fashion-MNIST, I_naturalist2021 and Places365, with 130 frequencies for heads of 64
# dimensions, orthogonal or simplex. The simplex "often achieves gains over the regular
# ORFs-Performer – and is certainly never worse"; on ImageNet it "saturates at an
# accuracy which is greater [...] by 0.5%". The curves carry no error bars, and the
# number of seeds is not printed.
#
# **The idea.** Accuracy is a blunt instrument. Two training runs that differ only in
# their seeds end tenths of a point apart, or more, and a better estimate of attention
# has to show through that. So we ask twice. First on weights that stay as they are:
# train with exact attention, put features in its place, and draw the frequencies again
# and again. Seeds add no noise there, and what the coupling does is all that is left.
# Then the paper's question, on our scale: train Performers from scratch, in pairs with
# the same initial weights and the same batches.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.simplex import vision
from rfcore import couplings

ledger = evidence.open_page("simplex/13_vision_transformer", profile)
# Paired seeds; models with uniform attention; trained models and draws of each swap.
N_SEEDS, N_UNIFORM, N_MODELS, N_DRAWS = {
    "paper": (10, 6, 2, 100),
    "quick": (2, 2, 1, 5),
}[profile]
SIZES = {
    "paper": vision.Sizes(n_epochs=10, rate=3e-3),
    "quick": vision.Sizes(n_epochs=2, rate=3e-3),
}[profile]
N_TRAIN, N_TEST = {
    "paper": ((8_000, 4_506), (2_000, 1_000)),
    "quick": ((160, 160), (100, 100)),
}[profile]
WIDTHS, N_SHOWN = (16, 32), {"paper": 200, "quick": 100}[profile]

# %% [markdown]
# ## A small stand-in
#
# Three of the four data sets are out of reach of a laptop. The fourth, Fashion-MNIST,
# would fit, but not with a transformer of twelve layers, and we have not run it. We
# take the 10,000 test digits of MNIST, 8,000 to train on and 2,000 to test on, and
# 5,506 photographs of CIFAR-10, 4,506 of them to train on. Each image is cut into 16
# square patches. The transformer has two layers of 64 columns and four heads of 16
# dimensions. The paper has about two frequencies per dimension, so we take $m = 32$,
# and for the first question $m = 16$ too. Training is AdamW on cross-entropy with
# warm-up and cosine decay; frequencies are drawn anew in each step.

# %%
tasks = {
    name: vision.task(datasets.images(name, fallback=True), patch, n_train, n_test)
    for name, patch, n_train, n_test in zip(
        ("mnist", "cifar10"), (7, 8), N_TRAIN, N_TEST, strict=True
    )
}


def models(name, kind, n):
    """The first n models of a kind of attention, and their curves (n, epochs)."""
    keys = [ledger.key(f"vision {name}", i) for i in range(n)]
    runs = [
        vision.trained(key, tasks[name], kind, SIZES)
        for key in tqdm(keys, desc=name, leave=False)
    ]
    return [run.model for run in runs], 100 * np.stack([run.accuracy for run in runs])


trained = {name: models(name, vision.exact, N_MODELS) for name in tasks}

# %% [markdown]
# (simplex-vision-swap)=
# ## Other frequencies on the same weights
#
# The error of a layer is that of its output, $\lVert \hat O - O \rVert / \lVert O
# \rVert$, from states that exact attention gave it, so that no layer answers for the
# errors of those below. The accuracy is that of the model with both layers swapped.
# *Uniform* attention looks at all patches alike: it is the yardstick for errors that
# are too large.

# %%
COUPLINGS = ("iid", "orthogonal", "simplex")


def shown(name):
    """The test images that models are read on, and their labels."""
    return tasks[name].x_test[:N_SHOWN], tasks[name].y_test[:N_SHOWN]


def swaps(name, coupling):
    """Errors and wrong answers in percent, (m, 2, draws), mean over layers and models.

    The frequencies of m = d are the first block of those of m = 2 d.
    """
    found = []
    for i, model in enumerate(trained[name][0]):
        keys = jax.random.split(ledger.key(f"vision swap {name}", i), N_DRAWS)
        omega = vision.draws(keys, getattr(couplings, coupling), SIZES)
        runs = [vision.swapped(model, *shown(name), omega[..., :m, :]) for m in WIDTHS]
        found.append([(x.error.mean(axis=1), 100 * (1 - x.accuracy)) for x in runs])
    return np.mean(found, axis=0)


swap = np.array([
    [swaps(name, coupling) for coupling in COUPLINGS]
    for name in tqdm(tasks, desc="swaps", leave=False)
])  # data sets, couplings, m, error or wrong answers, draws
CASES = [(name, m) for name in tasks for m in WIDTHS]
swap = np.moveaxis(swap, (3, 4, 1), (0, 1, 4)).reshape(2, N_DRAWS, len(CASES), -1)
error, wrong = swap


# %% tags=["hide-input"]
def of_kind(name, kind):
    """Relative error and share of wrong answers of a kind that draws nothing."""
    x, y, attentions = *shown(name), kind(None, SIZES)
    found = [
        (
            vision.output_errors(model, x, attentions).mean(),
            1 - vision.accuracy(model, x, y, attentions),
        )
        for model in trained[name][0]
    ]
    return np.mean(found, axis=0) * [1, 100]


def standard_error(x):
    return x.std(axis=0, ddof=1) / np.sqrt(len(x))


flat = {
    kind: np.array([of_kind(name, getattr(vision, kind)) for name, _ in CASES])
    for kind in ("exact", "uniform")
}
HEADS = [plotting.LABELS[name] for name in COUPLINGS]
for i, (values, what) in enumerate((
    (error, "Relative error of the attention's output"),
    (wrong, "Wrong answers of the swapped model, in percent"),
)):
    noise = standard_error(values)
    plotting.table(
        np.column_stack([values.mean(axis=0), *(x[:, i] for x in flat.values())]),
        np.column_stack([noise, np.zeros((len(CASES), len(flat)))]),
        rows=[f"{name}, m = {m}" for name, m in CASES],
        columns=[*HEADS, *flat],
        corner="data set, m",
        caption=f"Ours. {what}, mean over {N_DRAWS} draws and {N_MODELS} models.",
    )
iid, orthogonal, simplex = np.moveaxis(error, -1, 0)
ledger.decide({
    "simplex/extra-vision-swap/simplex": evidence.order(simplex, orthogonal),
    "simplex/extra-vision-swap/orthogonal": evidence.order(orthogonal, iid),
    "simplex/extra-vision-swap/accuracy": evidence.order(
        wrong[..., 2].mean(axis=1), wrong[..., 1].mean(axis=1), unit="%"
    ),
})

# %% [markdown]
# The order is that of the kernel: simplex before orthogonal before independent
# frequencies, in every case. The steps are small. Simplex frequencies leave 98.2 to
# 99.5 % of the error of orthogonal ones, and the gain in accuracy that comes with it is
# 1.0 points in the mean over the four cases, most of it on digits at $m = d$. Norms
# that are coupled change the error as little
# ({doc}`../couplings/25_trained_performers`).
#
# The scale of the table says more than its order. On digits, with 16 features,
# the error of estimated attention is 0.89 to 0.92 of its output, that of uniform
# attention 0.92.
# A model that was trained with exact attention is lost with any of them: more than half
# of the digits are answered wrongly, against 3.5 % before (of the 200 digits that these
# tables use). A coupling cannot mend that. We did not measure why; the likely reason is
# that trained queries and keys are long, and far from the origin all couplings are
# alike ({doc}`01_conformity_and_error`).
#
# (simplex-fig-9)=
# ## From scratch
#
# Now the features are there from the first step, and the weights learn to live with
# them. Runs with the same seed share initial weights and batches. What we compare is
# the accuracy over the last three epochs, in which the learning rate is all but zero.

# %%
curves = {
    name: models("mnist", vision.performer(getattr(couplings, name)), N_SEEDS)[1]
    for name in ("orthogonal", "simplex")
}
uniform = models("mnist", vision.uniform, N_UNIFORM)[1]


def final(curve):
    """Accuracy at the end, (seeds,), in percent."""
    return curve[:, -3:].mean(axis=1)


# %% tags=["hide-input"]
exact = trained["mnist"][1]
plotting.show_panels(
    1 + np.arange(SIZES.n_epochs),
    np.stack(list(curves.values()), axis=1),
    lines=tuple(curves),
    levels={"exact": final(exact).mean(), "uniform attention": final(uniform).mean()},
    x_label="epoch",
    y_label="test accuracy, %",
    log="",
    caption=f"Ours. Performers of m = 32 frequencies, trained on {N_TRAIN[0]:,} of "
    f"MNIST's test digits and tested on {N_TEST[0]:,} others, {N_SEEDS} paired seeds. "
    f"Bands: one standard error over the seeds. Levels: where "
    f"exact and uniform attention end ({len(exact)} and {N_UNIFORM} seeds).",
    alt="Chart of test accuracy against the epoch. The lines of orthogonal and of "
    "simplex frequencies lie close together: both rise steeply at first, and then "
    "flatten. Two horizontal lines mark where exact and uniform attention end.",
)
gain = final(curves["simplex"]) - final(curves["orthogonal"])
ends = {**curves, "exact": exact, "uniform attention": uniform}
spread = np.array([final(curve).std(ddof=1) for curve in ends.values()])
plotting.table(
    np.column_stack([
        [final(curve).mean() for curve in ends.values()], spread,
        np.ceil(16 * (spread / 0.5) ** 2),
    ]),
    np.column_stack([
        [standard_error(final(curve)) for curve in ends.values()],
        np.zeros((len(ends), 2)),
    ]),
    rows=[plotting.LABELS.get(name, name) for name in ends], corner="attention",
    columns=["final accuracy, %", "deviation s between seeds", "seeds to see 0.5"],
    caption="Ours. Final accuracy on the digits. The last column is $16 (s / 0.5)^2$: "
    "unpaired seeds for each system that show half a point in four of five cases, at "
    f"level 0.05. Paired, the deviation of the gain is {gain.std(ddof=1):.2f}.",
)  # fmt: skip
STAND_IN = "digits and two layers stand in for four large image sets and twelve layers."
ledger.decide({
    "simplex/fig-9/never-worse": evidence.scaled(
        evidence.bound(-gain, 0.5, unit="points"), STAND_IN
    ),
    "simplex/fig-9/better": evidence.scaled(
        evidence.order(
            100 - final(curves["simplex"]), 100 - final(curves["orthogonal"]), unit="%"
        ),
        STAND_IN,
    ),
    "simplex/extra-vision-room/uniform": evidence.order(
        100 - final(curves["orthogonal"])[:N_UNIFORM], 100 - final(uniform), unit="%"
    ),
})  # fmt: skip

# %% [markdown]
# From seed to seed the difference within a pair varies by 0.33 points (one standard
# deviation), so ten pairs would show a gain of half a point, at five standard errors.
# There is no gain of that size on digits. To show the 0.08 points that we found, were
# they real, would take some 130 pairs at level 0.05. All this says nothing about
# ImageNet. On digits attention has 16 patches to choose from, and a model that attends
# to all of them alike loses about 1.8 points: that is all the room that a better
# estimate of attention has here.
#
# The Performers end a point above the models with exact attention; those were trained
# with two seeds only, so we make no claim of it. Frequencies that change in each step
# are noise, and noise in training can regularise.

# %% tags=["hide-input"]
ledger.close()
