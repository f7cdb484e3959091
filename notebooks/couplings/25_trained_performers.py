# %% [markdown]
# # Norms in a trained Performer (Table 2)
#
# * **The printed gain is 1.9 of its own standard errors.** Norms all equal within a
#   block (positive monotone, PM) are ahead of plain orthogonal frequencies on ImageNet
#   by 0.80 ± 0.42 percentage points. The one firm difference in Table 2 is not named in
#   the paper: PM is ahead of norms coupled in pairs (PNC) by 3.1 standard errors.
# * **In trained models the error with PM is smaller, as in Appendix B.3**, by 0.9 to
#   2.0 %, and PNC changes next to nothing. Simplex directions with PM norms have the
#   smallest error. It is the error of attention's output: no fewer answers are wrong on
#   photographs, rather more.
# * **After training from scratch 24 pairs of runs do not decide about PM**, which gains
#   0.14 ± 0.14 points on digits. PNC changes accuracy by less than 0.8 points: 0.19 ±
#   0.12.
#
# **What the paper claims.** PM norms raise the variance of every kernel estimate and
# lower the error of attention ({doc}`08_attention`). {cite:t}`reid2025couplings` train
# vision Performers on ImageNet: twelve layers of twelve heads of 64 dimensions, 128
# orthogonal frequencies, 90 epochs, 34 to 48 seeds. PM "increases the average test
# accuracy of Performers trained on ImageNet by +0.8%, whereas PNC makes no
# statistically significant difference" (Table 2).
#
# **The idea.** A gain in accuracy has to be told from the scatter between seeds. So
# this page asks three questions in turn: what the printed errors allow, what the
# couplings do to attention in models whose weights stay as they are, and what is left
# of that after training from scratch, in pairs with the same initial weights and
# batches.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.papers.simplex import vision
from rfcore import couplings
from rfcore.couplings import compose

ledger = evidence.open_page("couplings/25_trained_performers", profile)
# Paired seeds; trained models and draws of each swap.
N_SEEDS, N_MODELS, N_DRAWS = {"paper": (24, 2, 100), "quick": (2, 1, 5)}[profile]
SIZES = {
    "paper": vision.Sizes(n_epochs=10, rate=3e-3),
    "quick": vision.Sizes(n_epochs=2, rate=3e-3),
}[profile]
N_TRAIN, N_TEST = {
    "paper": ((8_000, 4_506), (2_000, 1_000)),
    "quick": ((160, 160), (100, 100)),
}[profile]
WIDTHS, N_SHOWN = (16, 32), {"paper": 200, "quick": 100}[profile]


def standard_error(x):
    return x.std(axis=0, ddof=1) / np.sqrt(len(x))


# %% [markdown]
# (couplings-table-2-printed)=
# ## What the printed errors allow
#
# Each system's accuracy has a standard error of 0.003. A difference between two
# independent systems has $\sqrt{2}$ times that, 0.0042.

# %% tags=["hide-input"]
printed = {row["coupling"]: row for row in evidence.printed("couplings_table2")}
PAIRS = (
    ("orthogonal_pm", "orthogonal"),
    ("orthogonal_pnc", "orthogonal"),
    ("orthogonal_pm", "orthogonal_pnc"),
)
rows = []
for pair in PAIRS:
    mean, noise = (
        np.array([float(printed[name][column]) for name in pair])
        for column in ("test_accuracy", "std_error")
    )
    difference, its_error = mean[0] - mean[1], np.hypot(*noise)
    rows.append((100 * difference, difference / its_error))
plotting.table(
    np.array(rows), np.array([[100 * its_error, 0.0]] * len(PAIRS)),
    rows=[
        f"{plotting.LABELS[a].removeprefix('orthogonal + ')} − "
        f"{plotting.LABELS[b].removeprefix('orthogonal + ')}" for a, b in PAIRS
    ],
    columns=["difference, points", "in its standard errors"],
    corner="pair",
    caption="Re-run: Table 2, the differences of its accuracies, as independent.",
)  # fmt: skip

# %% [markdown]
# PM is ahead of plain orthogonal frequencies by 1.9 standard errors. The printed digits
# leave room: with all roundings against it this ratio is 1.4, with all in its favour
# 2.5. So the headline gain lies between what the paper calls no difference (PNC, 1.2)
# and a clear result (3). The pair that the paper does not compare is the firm one: PM
# is ahead of PNC by 3.1.
#
# (couplings-vision-norms)=
# ## Norms on the same weights
#
# Models, data and errors are those of {doc}`../simplex/13_vision_transformer`: two
# layers, four heads of $d = 16$, trained with exact attention on 8,000 digits (MNIST)
# or 4,506 photographs (CIFAR-10) cut into 16 patches. Then features take the place of
# attention. The paper has $m = 2 d$; we take $m = d$ as well. Its Appendix B.3 has this
# error for normal queries and keys; here they are those of a trained model. We add
# simplex directions with PM norms, which {doc}`12_couplings_for_attention` recommends.

# %%
NAMES = ("orthogonal", "orthogonal_pnc", "orthogonal_pm")
COUPLINGS = [getattr(couplings, name) for name in NAMES]
COUPLINGS += [couplings.simplex, compose("simplex", "comonotone")]

tasks = {
    name: vision.task(datasets.images(name, fallback=True), patch, n_train, n_test)
    for name, patch, n_train, n_test in zip(
        ("mnist", "cifar10"), (7, 8), N_TRAIN, N_TEST, strict=True
    )
}


def models(name, kind, seeds):
    """Models of a kind of attention, and their curves (seeds, epochs)."""
    keys = [ledger.key(f"vision {name}", i) for i in seeds]
    runs = [
        vision.trained(key, tasks[name], kind, SIZES)
        for key in tqdm(keys, desc=name, leave=False)
    ]
    return [run.model for run in runs], 100 * np.stack([run.accuracy for run in runs])


trained = {name: models(name, vision.exact, range(N_MODELS))[0] for name in tasks}


def swaps(name, coupling):
    """Errors and wrong answers in percent, (m, 2, draws), mean over layers and models.

    The frequencies of m = d are the first block of those of m = 2 d.
    """
    task, found = tasks[name], []
    shown = task.x_test[:N_SHOWN], task.y_test[:N_SHOWN]
    for i, model in enumerate(trained[name]):
        keys = jax.random.split(ledger.key(f"vision swap {name}", i), N_DRAWS)
        omega = vision.draws(keys, coupling, SIZES)
        runs = [vision.swapped(model, *shown, omega[..., :m, :]) for m in WIDTHS]
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
HEADS = ["orthogonal", "+ PNC", "+ PM", "simplex", "simplex + PM"]
for values, what in (
    (error, "Relative error of the attention's output"),
    (wrong, "Wrong answers of the swapped model, in percent"),
):
    plotting.table(
        values.mean(axis=0),
        standard_error(values),
        rows=[f"{name}, m = {m}" for name, m in CASES],
        columns=HEADS,
        corner="data set, m",
        caption=f"Ours. {what}, mean over {N_DRAWS} draws and {N_MODELS} models.",
    )
plain, pnc, pm, _, both = np.moveaxis(error, -1, 0)
change = (pnc - plain) / plain.mean(axis=0)
ledger.decide({
    "couplings/extra-vision-norms/pm": evidence.order(pm, plain),
    "couplings/extra-vision-norms/pnc": evidence.bound(
        np.stack([change, -change], axis=1), 0.05
    ),
    "couplings/extra-vision-norms/both": evidence.order(both, pm),
})

# %% [markdown]
# Appendix B.3 carries over from normal to trained queries and keys. PM norms lower the
# error in every case, by 0.9 to 2.0 %, PNC changes it by less than half a per cent, and
# with simplex directions and PM norms it is smaller than with all others, by 1.5 to
# 3.9 % than with plain orthogonal frequencies. For normal keys PM took 6 to 17 % off
# the mean squared error, here 2 to 4 %: the error of all features is three quarters of
# the output's size, or more, and a coupling cannot mend that.
#
# A smaller error does not always mean more right answers. On photographs PM has a
# smaller error than orthogonal frequencies and answers no better; on digits it may be
# ahead by half a point, within the noise of the draws. Simplex directions, whose errors
# are about those of PM, are the ones that keep more answers.
#
# (couplings-table-2)=
# ## From scratch
#
# Now each system is trained with its own frequencies, drawn anew in every step. We
# compare accuracies over the last three epochs, in which the learning rate is all but
# zero. For one seed the initial weights and batches are the same for all three systems.

# %%
FRESH = range(24, 24 + N_SEEDS)  # 24 were spent on first runs
kinds = [vision.performer(getattr(couplings, name)) for name in NAMES]
curves = np.stack([models("mnist", kind, FRESH)[1] for kind in kinds], axis=1)
ends = curves[..., -3:].mean(axis=2)

# %% tags=["hide-input"]
plotting.show_panels(
    1 + np.arange(SIZES.n_epochs),
    curves[:, 1:] - curves[:, :1],
    lines=NAMES[1:],
    levels={NAMES[0]: 0.0},
    x_label="epoch",
    y_label="gain in accuracy, points",
    log="",
    caption="Ours. Gain over orthogonal frequencies of the same seeds, of Performers "
    f"of m = 32 frequencies trained on {N_TRAIN[0]:,} of MNIST's test digits and "
    f"tested on {N_TEST[0]:,} others; mean over {N_SEEDS} seeds. Bands: one standard "
    "error.",
    alt="Chart of the gain with PNC and PM norms against the epoch, around a dashed "
    "level of zero. Both lines stray from it by a point or so in the first epochs and "
    "stay within half a point of it in the last ones.",
)
gain = ends - ends[:, :1]
deviation, paired = ends.std(axis=0, ddof=1), gain.std(axis=0, ddof=1)
paired[0] = np.nan
none = np.zeros(len(NAMES))
plotting.table(
    np.stack([
        ends.mean(axis=0), gain.mean(axis=0), deviation,
        np.ceil(16 * (deviation / 0.8) ** 2), paired,
    ], axis=1),
    np.stack([standard_error(ends), standard_error(gain), none, none, none], axis=1),
    rows=HEADS[:3],
    columns=["final accuracy, %", "gain, points", "deviation s between seeds",
             "seeds to see 0.8", "deviation of the gain"],
    corner="coupling",
    caption="Ours. Final accuracy on the digits, and the gain over orthogonal "
    "frequencies of the same seeds. $16 (s / 0.8)^2$ unpaired seeds for each system "
    "show 0.8 points in four of five cases, at level 0.05.",
)  # fmt: skip
STAND_IN = "digits and two layers stand in for ImageNet and twelve layers."
ledger.decide({
    "couplings/table-2/pm": evidence.scaled(
        evidence.order(100 - ends[:, 2], 100 - ends[:, 0], unit="%"), STAND_IN
    ),
    "couplings/table-2/pnc": evidence.scaled(
        evidence.bound(
            np.stack([gain[:, 1], -gain[:, 1]], axis=1), 0.8, unit="points"
        ),
        STAND_IN,
    ),
})  # fmt: skip

# %% [markdown]
# Paired differences have a standard deviation of 0.6 to 0.7 points from seed to seed,
# more than the 0.3 between orthogonal and simplex frequencies in
# {doc}`../simplex/13_vision_transformer`. The error of 24 pairs, 0.14 points, is a
# third of that of Table 2: a gain of 0.8 would be nearly six of them, and would have
# shown. To show the 0.15 points found, if they were real, would take some 170 pairs at
# level 0.05. PNC makes no difference of 0.8 points, the gain that the paper calls an
# improvement: for digits, that is shown. It takes as many pairs: with sixteen others
# the verdict hung on rounding, which sends training on other paths. With these 24 it is
# the same on an AMD and on an Intel processor.
#
# So digits neither confirm nor contradict Table 2, and they could not contradict it:
# twelve layers on ImageNet are another task. The paper's own experiment with four times
# its seeds would decide it: that halves the printed errors and puts a gain of 0.8 at
# 3.8 standard errors.

# %% tags=["hide-input"]
ledger.close()
