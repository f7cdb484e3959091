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
# # Does a better kernel make a better Gaussian process? (Tables 3 and 4, Figure 6)
#
# * **Orthogonal directions help a posterior; coupled norms add next to nothing.** PNC
#   lowers the error of the kernel, and leaves divergences and predictions about where
#   orthogonal features have them; the exception is Laplace features on power, where the
#   printed table has it, too. All 48 ratios of Table 4 agree with ours.
# * **Why: it removes an error that a posterior forgives.** Independent norms put all
#   lengthscales off by one common factor. On its own that makes 10 to 47 per cent of
#   the kernel's squared error, and at most 3 per cent of the divergence.
# * **Two standard errors are 95 %, not 98 %**, and a printed mean on CPU contradicts the
#   caption of Table 3. Of its 48 divergences 36 agree with ours; those of CPU, and of
#   airfoil with Fourier features, do not, and hang on a fit that is not printed.
#
# **What the paper claims.** Coupled norms lower the variance of every entry of a Gram
# matrix. "It would be natural to assume that this would result in more accurate
# approximations of the predictive mean and covariance", write
# {cite:t}`reid2025couplings` in Appendix B.2, and find that it does not: on six UCI
# sets orthogonal directions help, and pairwise norm coupling (PNC) adds nothing.
#
# **The idea.** A posterior is no average of kernel values. It inverts their matrix, and
# an error that all entries share may cancel where errors that differ do not. So we
# look at three things side by side, for the same frequencies: the error of the kernel,
# the divergence of the posterior, and the error of its predictions.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial
from typing import NamedTuple

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
from scipy import special, stats
from scipy.spatial.distance import cdist
from tqdm import tqdm

from rfcore import couplings, datasets, evidence, features, kernels, plotting, theory
from rfcore.models import gp

plotting.use_style()
ALL = ("concrete", "abalone", "cpu", "power", "airfoil", "boston")
SETS, N_SPLITS, N_DRAWS, WIDTHS, N_CURVE = {
    "paper": (ALL, 20, 50, (4, 8, 16, 32, 64), 600),
    "quick": (("power",), 4, 20, (4, 8), 100),
}[profile]
ledger = evidence.Ledger("couplings/03_posteriors", profile)

# %% [markdown]
# ## The experiment
#
# As in Appendix B.1: 20 random splits of each set, at most 256 points to train on and
# as many to test, hyper-parameters at a maximum of the exact evidence, then fixed. For
# Laplace features (RLFs) the lengthscale is set by Eq. 36 instead, twice the mean of
# $\lVert x_i + x_j \rVert$, and only variance and noise are fitted. Fourier features
# (RFFs) have $d$ frequencies. Laplace features have $2d$; coupled ones point in $d$
# orthogonal directions and their opposites, with independent norms or, in the row PNC,
# those of the opposite.
#
# Not printed: how inputs are scaled (we standardise inputs and targets by the training
# part), how small sets are split (half and half), which local maximum of the evidence
# Adam ended in (we use L-BFGS from $\ell \approx \sqrt d$), and how Halton points are
# randomised (a random shift).


# %%
class Task(NamedTuple):
    """A split: points over the lengthscale, those to train on first; a fitted GP."""

    x: jax.Array
    y: jax.Array
    y_test: jax.Array
    variance: float
    noise: float


def task_of(table, seed, kind):
    part = datasets.small_split(table, seed)
    X = part.X_train
    # Eq. 36; the distance of x to -x' is the length of x + x'.
    lengthscale = 2 * cdist(X, -X).mean() if kind == "laplace" else None
    fit = gp.fit_gaussian(X, part.y_train, lengthscale=lengthscale)
    x = np.concatenate([X, part.X_test]) / fit.lengthscale
    return Task(
        *map(jnp.asarray, (x, part.y_train, part.y_test)), fit.variance, fit.noise
    )


def with_opposites(draw):
    return lambda key, m, d: couplings.antithetic(draw(key, m // 2, d))


NAMES = ("iid", "halton", "sobol", "orthogonal", "orthogonal_pnc")
IID, HALTON, SOBOL, ORTHOGONAL, PNC = range(5)
fourier = [getattr(couplings, name) for name in NAMES]
directions = with_opposites(couplings.directions.orthogonal)
antiparallel = couplings.compose(directions, couplings.norms.independent)
laplace = [*fourier[:3], antiparallel, with_opposites(couplings.orthogonal_pnc)]
KINDS = {
    "fourier": (features.fourier, 1, fourier),
    "laplace": (features.positive, 2, laplace),
}

# %% [markdown]
# The paper does not say in which direction it takes the divergence, nor whether it is
# of observations or of the function behind them. Without noise the posterior of $m < n$
# features is singular, so that both directions are infinite: noise has to be in the
# approximate law, as it is in Eq. 41. In the exact law, Eq. 42, it is missing; its
# divergence then hangs on the jitter that keeps a numerically singular matrix positive.
# Three readings remain: $\mathrm{KL}(\text{exact} \mid \text{features})$ with noise in
# both, which decides; the other direction; and Eq. 42 against Eq. 41 as printed, with a
# jitter of $10^{-6}$ of the variance. {py:func}`rfcore.models.gp.divergences` uses that
# features are few, and costs $O(n^2 m)$ per draw.

# %%
KERNEL, DIVERGENCE, PREDICTION, OTHER_WAY, AS_PRINTED = range(5)


def measures(phi, task, exact, K):
    """Errors of one set of features; divergences in nats per test point."""
    n = len(task.y)
    few = gp.factored_posterior(phi, task.y, task.noise, np.arange(n))
    both = gp.divergences(exact, few, task.noise)
    printed = gp.divergences(exact, few, task.noise, 1e-6 * task.variance)
    error = (phi[n:] @ phi[n:].T - K[n:, n:]) / task.variance
    off = few.mean - task.y_test
    kl = jnp.stack([both.of_exact, both.of_approximate, printed.of_exact]) / len(off)
    rmse = [jnp.sqrt(jnp.mean(e**2)) for e in (error, off)]
    return jnp.stack([rmse[0], kl[0], rmse[1], kl[1], kl[2]])


def of_figure(phi, task, exact, K):
    """The first three measures, and the divergence of priors."""
    n, zero = len(task.y), jnp.zeros(len(task.y_test))
    prior = gp.Posterior(zero, K[n:, n:])
    off = gp.divergences(
        prior, gp.FactoredPosterior(zero, phi[n:]), task.noise
    ).of_exact
    return jnp.append(measures(phi, task, exact, K)[:3], off / len(zero))


@partial(jax.jit, static_argnames=("kind", "chosen", "m", "d"))
def drawn(keys, kind, chosen, m, d):
    """Frequencies of each coupling, from the same keys: (draws, couplings, m, d)."""
    draws = [KINDS[kind][2][c] for c in chosen]
    return jax.vmap(lambda key: jnp.stack([draw(key, m, d) for draw in draws]))(keys)


# Every d is a compilation, which takes half as long at this level.
FAST = {"xla_backend_optimization_level": 1}


@partial(jax.jit, static_argnames=("kind", "widths", "of"), compiler_options=FAST)
def measured(omega, task, kind, widths, of):
    """(draws, couplings, widths, measures)."""
    K = task.variance * kernels.gaussian(task.x, task.x)
    exact = gp.posterior(K, task.y, task.noise, np.arange(len(task.y)))

    def of_draw(omega):
        phis = (task.variance**0.5 * KINDS[kind][0](task.x, omega[:m]) for m in widths)
        return jnp.stack([of(phi, task, exact, K) for phi in phis])

    return jax.vmap(jax.vmap(of_draw))(omega)


tables = {name: datasets.regression(name, fallback=True) for name in SETS}
dimensions = [tables[name].X.shape[1] for name in SETS]
tasks, found = {}, np.empty((N_SPLITS, N_DRAWS, 2, len(SETS), 5, 5))
for i, s, k in tqdm(np.ndindex(N_SPLITS, len(SETS), 2), "splits", leave=False):
    (kind, (_, per_d, _)), d = list(KINDS.items())[k], dimensions[s]
    task = tasks[i, s, k] = task_of(tables[SETS[s]], i, kind)
    keys = jax.random.split(ledger.key("frequencies", s, i), N_DRAWS)
    omega = drawn(keys, kind, range(5), per_d * d, d)
    found[i, :, k, s] = measured(omega, task, kind, (per_d * d,), measures)[:, :, 0]
of_split = found.mean(axis=1)  # (splits, kinds, sets, couplings, measures)

# %% [markdown]
# (couplings-table-3)=
# ## Table 3: divergences of posteriors

# %% tags=["hide-input"]
columns = [f"{name} (d = {d})" for name, d in zip(SETS, dimensions, strict=True)]
ROWS = np.array([plotting.LABELS[name] for name in NAMES])
LABELS = ("RFFs", "RLFs")


def paper(number, sets=SETS):
    """Printed numbers and errors, as texts: (kinds, couplings, sets, 2)."""
    rows = [
        list(row.values())[3:] for row in evidence.printed(f"couplings_table{number}")
    ]
    return np.array(rows).reshape(2, -1, len(ALL), 2)[
        :, :, [ALL.index(s) for s in sets]
    ]


def mean_and_se(values):
    """Over splits, (kinds, c, sets); of values (splits, kinds, sets, c)."""
    values = values.swapaxes(2, 3)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def beside(values, rows, printed, caption):
    ours, se = mean_and_se(values)
    for k, label in enumerate(LABELS):
        plotting.table(
            ours[k, rows], se[k, rows], rows=ROWS[rows], columns=columns, corner=label,
            printed=printed[k, ..., 0], caption=f"Paper's {caption} {label}.",
        )  # fmt: skip


OF_3 = [IID, HALTON, ORTHOGONAL, PNC]
caption = "Table 3. KL(exact | features), nats per test point; errors are over splits."
beside(of_split[..., DIVERGENCE], OF_3, paper(3), caption)

# %% [markdown]
# Two statements about this table can be checked without running anything. Its caption
# calls two standard errors 98 % (so does that of Table 4); they are 95 %. And it says
# that orthogonal features are better than IID ones on every split. Then the mean over
# splits would be smaller, too; on CPU, with Fourier features, the table has the larger.

# %% tags=["hide-input"]
theirs = paper(3, ALL)[..., 0].astype(float)
share = float(special.ndtr(2) - special.ndtr(-2))
wrong_share = evidence.value(share, 0.0, 0.98, paper_se=0.0, rounding=0.005)
wrong_order = evidence.order(theirs[:, 2], theirs[:, 0], exact=True)
negative = "Differences that are all negative cannot have a mean above zero."
ledger.decide({
    "couplings/table-3/confidence": evidence.erratum(
        wrong_share, "98 % takes 2.33 standard errors."
    ),
    "couplings/table-3/means-follow": evidence.erratum(wrong_order, negative),
})

# %% [markdown]
# The posterior itself is printed twice, in the weights of the features (Eqs. 39 and 41)
# and by their kernel (Eq. 43), the first "rewritten" as the second. They differ: the
# mean by a factor $\sigma_n^2$, the covariance by $\sigma_n^2 I$.


# %%
@jax.jit
def both_ways(key, task):
    """Eqs. 39 and 41, and Eq. 43, as vectors, each part over its largest entry."""
    n, d = len(task.y), task.x.shape[1]
    phi = jnp.sqrt(task.variance) * features.fourier(task.x, couplings.iid(key, d, d))
    right = gp.posterior(phi @ phi.T, task.y, task.noise, np.arange(n))
    of_weights = theory.printed.posterior_by_weights
    printed = of_weights(phi[:n], phi[n:], task.y, task.noise)
    sizes = [jnp.abs(part).max() for part in right]
    scaled = [jax.tree.map(jnp.divide, list(law), sizes) for law in (printed, right)]
    return [jnp.concatenate([mean, covariance.ravel()]) for mean, covariance in scaled]


power = tasks[0, SETS.index("power"), 0]
apart = evidence.identity(*both_ways(ledger.key("one draw"), power), tolerance=1e-8)
lacking = "Eq. 39 lacks 1 / s^2; Eq. 41 has s^2 I, which Eq. 43 lacks."
ledger.decide("couplings/table-3/rewritten", evidence.erratum(apart, lacking))

# %% [markdown]
# Ours agree with the caption in direction: on no split of any set are orthogonal
# features significantly worse. They are not significantly better on each, with 50 draws
# per split: on airfoil and Boston Fourier features are too poor for it to matter much.
#
# Within a split all couplings have the same keys, so that those made of rotations share
# them, and differences are tested split by split.

# %% tags=["hide-input"]
every = found[..., DIVERGENCE]
gain = every[..., IID] - every[..., ORTHOGONAL]  # (splits, draws, kinds, sets)
score = gain.mean(axis=1) / (gain.std(axis=1, ddof=1) / np.sqrt(N_DRAWS))
plotting.table(
    np.concatenate([np.sum(score > 3.1, axis=0), np.sum(score < -3.1, axis=0)]),
    rows=[f"{kind} {how}" for how in ("better", "worse") for kind in LABELS],
    columns=columns,
    caption=f"Ours. Of {N_SPLITS} splits, those on which orthogonal features are "
    "better or worse than IID ones by 3.1 standard errors over draws.",
)

# %% tags=["hide-input"]
by_draw = every.swapaxes(0, 1)
change = of_split[..., PNC, :] / of_split[..., ORTHOGONAL, :]
off = change[..., DIVERGENCE, None] - 1
ledger.decide({
    "couplings/table-3/every-split": evidence.order(
        by_draw[..., ORTHOGONAL], by_draw[..., IID]
    ),
    "couplings/table-3/pnc": evidence.bound(off * [1, -1], 0.05),
})

# %% tags=["hide-input"]


def agreement(values, printed):
    ours, se = values
    number, error = np.moveaxis(printed.astype(float), -1, 0)
    return evidence.agree(
        ours, se, number, paper_se=(error + 0.0005) / 2, rounding=0.0005,
        smallest_difference=4 * (error + 0.0005), degrees=N_SPLITS - 1,
    )  # fmt: skip


ours_3 = np.stack(mean_and_se(of_split[..., DIVERGENCE]))[:, :, OF_3]
ledger.decide({
    f"couplings/table-3/values-{kind}": agreement(ours_3[:, k], paper(3)[k])
    for k, kind in enumerate(KINDS)
})

# %% [markdown]
# The cells that differ are whole columns: CPU for both kinds of features, and airfoil for
# Fourier ones. A column shares its hyper-parameters, so the fit is what to suspect, and
# it is not printed. A divergence is measured in units of the noise, so that another
# maximum of the evidence, with less noise, could make it much larger; we did not find one
# and cannot say that it is the reason. Neither
# the other direction nor Eqs. 42 and 41 as printed bring the columns back.

# %% tags=["hide-input"]
readings = {DIVERGENCE: "KL(exact | features)", OTHER_WAY: "KL(features | exact)"}
readings |= {AS_PRINTED: "Eq. 42 against 41"}
ours, se = mean_and_se(of_split[..., ORTHOGONAL, :][..., list(readings)])
plotting.table(
    np.concatenate(ours),
    np.concatenate(se),
    rows=[f"{kind}: {name}" for kind in LABELS for name in readings.values()],
    columns=columns,
    printed=np.repeat(paper(3)[:, 2, :, 0], 3, axis=0),
    caption="Ours. What each reading gives for orthogonal features.",
)

# %% [markdown]
# (couplings-table-4)=
# ## Table 4: predictions
#
# Errors of predictions, over those of IID features on the same split. Ours are mean
# ratios over splits, with the error of a ratio; the printed errors are those of single
# rows over splits, and several times as large.

# %% tags=["hide-input"]
OF_4 = [HALTON, SOBOL, ORTHOGONAL, PNC]
over_iid = of_split[..., PREDICTION] / of_split[..., :1, PREDICTION]
caption = "Table 4. Predictive RMSE over that of IID features."
beside(over_iid, OF_4, paper(4)[:, OF_4], caption)

# %% tags=["hide-input"]
kernel, prediction = change[..., KERNEL], change[..., PREDICTION]
sides = np.stack([kernel - 1, prediction - 1.02, 0.98 - prediction], axis=-1)
ours_4 = np.stack(mean_and_se(over_iid))[:, :, OF_4]
ledger.decide({
    "couplings/table-4/no-worse": evidence.bound(
        over_iid[..., [ORTHOGONAL, PNC]], 1.02
    ),
    "couplings/table-4/no-guarantee": evidence.bound(sides, 0.0),
    "couplings/table-4/values": agreement(ours_4, paper(4)[:, OF_4]),
})

# %% tags=["hide-input"]
shown = change[..., :3].reshape(N_SPLITS, -1, 3)
plotting.show(
    plotting.bars(
        shown.mean(axis=0),
        shown.std(axis=0, ddof=1) / np.sqrt(N_SPLITS),
        rows=[f"{kind}, {name}" for kind in LABELS for name in SETS],
        columns={"kernel": "first", "posterior": "second", "prediction": "third"},
        x_label="PNC over orthogonal",
    ),
    caption="Ours. What coupled norms change: RMSE of the kernel, divergence of the "
    "posterior and RMSE of predictions, over those of orthogonal features. Bars: one "
    "standard error over splits.",
    alt="Three ratios on each set, for two kinds of features.",
)

# %% [markdown]
# (couplings-fig-6)=
# ## Figure 6: more features, on one split of power
#
# The paper prints neither the split nor the numbers of features. Ours is the first
# split, with Fourier features, up to 64 frequencies in four dimensions.

# %%
CHOSEN = (IID, ORTHOGONAL, PNC)
curve = np.concatenate([
    measured(
        drawn(keys, "fourier", CHOSEN, WIDTHS[-1], 4),
        power,
        "fourier",
        WIDTHS,
        of_figure,
    )
    for keys in jax.random.split(ledger.key("figure 6"), (N_CURVE // 20, 20))
])
iid, orthogonal, pnc = np.moveaxis(curve, 1, 0)  # (draws, widths, 4)

# %% tags=["hide-input"]
titles = (
    "RMSE of the kernel",
    "KL of posteriors",
    "RMSE of predictions",
    "KL of priors",
)
figures = [
    plotting.panels(
        WIDTHS, curve[..., at], lines=[NAMES[c] for c in CHOSEN],
        x_label="frequencies m", y_label=title, size=(3.0, 2.6),
    )[0]
    for at, title in enumerate(titles)
]  # fmt: skip
plotting.show(
    *figures,
    caption="Paper's Figure 6. One split of power: error of the kernel, divergence of "
    "posteriors, error of predictions, divergence of priors (nats per point).",
    alt="Four charts of curves that fall with the number of frequencies.",
)

# %% tags=["hide-input"]
gains, by_pnc = (iid - orthogonal)[..., 1:], (orthogonal - pnc)[..., 1:]
either_way = np.stack([by_pnc - gains / 10, -by_pnc - gains / 10], axis=-1)
three = np.stack([iid, orthogonal, pnc], axis=1)  # (draws, couplings, widths, 4)
ledger.decide({
    "couplings/fig-6/kernel": evidence.order(
        three[:, :0:-1, :, 0], three[:, 1::-1, :, 0]
    ),
    "couplings/fig-6/more-features": evidence.order(three[:, :, 1:], three[:, :, :-1]),
    "couplings/fig-6/orthogonal": evidence.order(orthogonal, iid),
    "couplings/fig-6/pnc": evidence.bound(either_way, 0.0),
})

# %% [markdown]
# (couplings-common-scale)=
# ## Why: an error that a posterior forgives
#
# What does PNC change? In a block of $d$ orthogonal frequencies of lengths $r_i$ the
# mean squared length per dimension is $c^2 = \sum_i r_i^2 / d^2$. It should be 1. If
# it is not, all lengthscales are off together, by a factor $c$. Pairing a long frequency with
# a short one holds $c$ near 1, and does little else. So how much does a factor $c$
# harm? Take the *exact* kernel with its lengthscale divided by $c$, at eight quantiles of the
# law that $c$ has for independent norms, and compare with orthogonal features.


# %%
@jax.jit
def of_scales(scales, task):
    """Squared error of the kernel and divergence per point, means over scales."""
    n = len(task.y)

    def law(scale):
        K = task.variance * kernels.gaussian(scale * task.x, scale * task.x)
        return K[n:, n:], gp.posterior(K, task.y, task.noise, np.arange(n))

    def at(scale):
        error = jnp.mean((law(scale)[0] - law(1.0)[0]) ** 2) / task.variance**2
        kl = gp.predictive_kl(law(1.0)[1], law(scale)[1], task.noise)
        return jnp.stack([error, kl / len(task.y_test)])

    return jax.lax.map(at, scales).mean(axis=0)


eighths = (np.arange(8) + 0.5) / 8
by_scale = np.empty((N_SPLITS, len(SETS), 2))
for i, s in tqdm(np.ndindex(N_SPLITS, len(SETS)), "scales", leave=False):
    squares = stats.chi2(dimensions[s] ** 2).ppf(eighths) / dimensions[s] ** 2
    by_scale[i, s] = of_scales(np.sqrt(squares), tasks[i, s, 0])
ours = found[:, :, 0, :, ORTHOGONAL]  # (splits, draws, sets, measures)
shares = by_scale / np.stack(
    [(ours[..., KERNEL] ** 2).mean(axis=1), ours[..., DIVERGENCE].mean(axis=1)], axis=-1
)

# %% tags=["hide-input"]
plotting.table(
    100 * shares.mean(axis=0).T,
    100 * shares.std(axis=0, ddof=1).T / np.sqrt(N_SPLITS),
    rows=["squared error of the kernel", "divergence of the posterior"],
    columns=columns,
    unit="percent",
    caption="Ours. What the common scale alone does to the exact kernel, of what "
    "orthogonal Fourier features do.",
)


def left_over(d):
    """Variance of the sum of d squared norms with PNC over that of independent ones."""
    squares = stats.chi2(d).ppf((np.arange(4000) + 0.5) / 4000)
    return 1 + np.corrcoef(squares, squares[::-1])[0, 1] * 2 * (d // 2) / d


left = [left_over(d) for d in (4, 5, 6, 7, 8, 10, 13)]
ledger.decide({
    "couplings/extra-common-scale/norms": evidence.bound(left, 0.5, exact=True),
    "couplings/extra-common-scale/share": evidence.order(
        shares[..., 1], shares[..., 0]
    ),
})

# %% [markdown]
# On every set the common scale weighs far more in the kernel than in the posterior: a
# posterior that has seen data hardly cares whether its lengthscale is a tenth too long.
# (The verdict is open for one reason: on abalone the shares are so skewed that twenty
# splits cannot rule out a tail.) What a posterior does care about, we suppose, is which
# functions the features span, and on that pairs of norms have little influence. This
# last step is a reading of the numbers, and is not tested here.

# %% tags=["hide-input"]
ledger.close()
