# %% [markdown]
# # Does a Gaussian process improve? (Tables 3 and 4)
#
# * **Orthogonal directions help a posterior; coupled norms add next to nothing.**
#   Pairwise norm coupling (PNC) lowers the error of the kernel; divergences and
#   predictions stay about where they are without it; the exception is Laplace features
#   on power, in the printed table too. {doc}`07_common_scale` says why.
# * **All 48 ratios of Table 4 agree with ours.** Of the 48 divergences of Table 3, 36
#   are two standard errors or more from ours, most of all those of Fourier features on
#   airfoil: a divergence depends on the fit of each split, which is not printed.
# * **Two standard errors are 95 %, not 98 %** as the caption says. Nor can orthogonal
#   features be better on every split, as it also says: a printed mean on CPU
#   contradicts that.
#
# **What the paper claims.** Coupled norms lower the variance of every entry of a Gram
# matrix. "It would be natural to assume that this would result in more accurate
# approximations of the predictive mean and covariance", write
# {cite:t}`reid2025couplings` in Appendix B.2, and find that it does not: on six UCI
# sets orthogonal directions help, and PNC adds nothing.
#
# **The idea.** A posterior is not an average of kernel values. It inverts their matrix,
# and an error that all entries share may cancel where errors that differ do not. So we
# look at three things side by side, for the same frequencies: the error of the kernel,
# the divergence of the posterior, and the error of its predictions.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial
from typing import NamedTuple

import gpjax as gpx
import jax
import jax.numpy as jnp
import numpy as np
from scipy import special
from scipy.spatial.distance import cdist
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.models import gaussian_processes
from companion.models.gaussian_processes import data, predict, process
from companion.papers.couplings import formulas, predictives
from rfcore import couplings, features, kernels

ledger = evidence.open_page("couplings/06_posteriors", profile)
ALL = ("concrete", "abalone", "cpu", "power", "airfoil", "boston")
SIZES = {"paper": (ALL, 80, 300), "quick": (("power",), 4, 20)}
SETS, N_SPLITS, N_DRAWS = SIZES[profile]
SPLITS = range(20, 20 + N_SPLITS)  # twenty were spent on a first run

# %% [markdown]
# ## The experiment
#
# As in Appendix B.1, but with 80 random splits of each set in place of 20: at most 256
# points to train on and as many to test, hyper-parameters at a maximum of the exact
# evidence, then fixed. For Laplace features (RLFs) the lengthscale is set by Eq. 36
# instead, twice the mean of $\lVert x_i + x_j \rVert$, and only variance and noise are
# fitted. Fourier features (RFFs) have $d$ frequencies. Laplace features have $2d$;
# coupled ones point in $d$ orthogonal directions and their opposites, whose norms PNC
# makes equal.
#
# The paper does not print how inputs are scaled (we standardise inputs and targets by
# the training part), how small sets are split (ours half and half), in which local
# maximum of the evidence Adam ended (we use L-BFGS from $\ell \approx \sqrt d$), or how
# Halton points are shifted.


# %%
class Task(NamedTuple):
    """A split: points over the lengthscale, those to train on first; a fitted GP."""

    x: jax.Array
    y: jax.Array
    y_test: jax.Array
    variance: float
    noise: float


def task_of(table, seed, kind, mean=0.0):
    """Targets have their mean in the training part taken off, and `mean` put on."""
    part = datasets.small_split(table, seed)
    X = part.X_train
    # Eq. 36; the distance of x to -x' is the length of x + x'.
    lengthscale = 2 * cdist(X, -X).mean() if kind == "laplace" else None
    y, y_test = part.y_train + mean, part.y_test + mean
    fit = gaussian_processes.fit_gaussian(X, y, lengthscale=lengthscale)
    x = np.concatenate([X, part.X_test]) / fit.lengthscale
    return Task(*map(jnp.asarray, (x, y, y_test)), fit.variance, fit.noise)


def with_opposites(draw):
    return lambda key, m, d: couplings.antithetic(draw(key, m // 2, d))


NAMES = ("iid", "halton", "sobol", "orthogonal", "orthogonal_pnc")
IID, HALTON, SOBOL, ORTHOGONAL, PNC = range(5)
fourier = [getattr(couplings, name) for name in NAMES]
directions = with_opposites(couplings.directions.orthogonal)
antiparallel = couplings.compose(directions)
laplace = [*fourier[:3], antiparallel, with_opposites(couplings.orthogonal_pnc)]
KINDS = {
    "fourier": (features.fourier, 1, fourier),
    "laplace": (features.positive, 2, laplace),
}

# %% [markdown]
# The paper does not say in which direction it takes the divergence, nor whether it is
# that of the observations or of the function behind them. Without noise the posterior
# of $m < n$ features is singular and both directions are infinite, so noise has to be
# in the approximate distribution, as in Eq. 41. In the exact one, Eq. 42, it is
# missing, and the divergence depends on the jitter that keeps a singular matrix
# positive. Three readings remain: $\mathrm{KL}(\text{exact} \mid \text{features})$ with
# noise in both, by which we decide; the other direction; and Eqs. 42 and 41 as printed,
# with a jitter of $10^{-6}$ of the variance. They are computed by
# {py:func}`companion.papers.couplings.predictives.divergences`.

# %%
KERNEL, DIVERGENCE, PREDICTION = range(3)
READINGS = ("KL(exact | features)", "KL(features | exact)", "Eq. 42 against 41")
# Every d is a compilation, which takes half as long at this level.
FAST = {"xla_backend_optimization_level": 1}


@partial(jax.jit, static_argnames=("kind", "m", "d"), compiler_options=FAST)
def drawn(keys, kind, m, d):
    """Frequencies of each coupling, from the same keys: (draws, couplings, m, d)."""
    draws = KINDS[kind][2]
    return jax.vmap(lambda key: jnp.stack([draw(key, m, d) for draw in draws]))(keys)


@partial(jax.jit, static_argnames="kind", compiler_options=FAST)
def measured(omega, task, kind):
    """Errors, (draws, couplings, 3); divergences of orthogonal features, (draws, 3)."""
    n, n_test = len(task.y), len(task.y_test)
    K = task.variance * kernels.gaussian(task.x, task.x)
    kernel = gpx.kernels.RBF(lengthscale=1.0, variance=task.variance)
    model, seen = process(kernel, task.noise), data(task.x[:n], task.y)
    exact = predict(model, task.x[n:], seen)

    def of(omega):
        """Errors, and divergences by all readings; what nobody uses is not computed."""
        phi = jnp.sqrt(task.variance) * KINDS[kind][0](task.x, omega)
        few = gaussian_processes.low_rank_posterior(phi, task.y, task.noise, n)
        off = (phi[n:] @ phi[n:].T - K[n:, n:]) / task.variance, few.mean - task.y_test
        kernel, prediction = (jnp.sqrt(jnp.mean(e**2)) for e in off)
        both = predictives.divergences(exact, few, task.noise)
        printed = predictives.divergences(exact, few, task.noise, 1e-6 * task.variance)
        readings = jnp.stack([*both, printed.of_exact]) / n_test
        return jnp.stack([kernel, both.of_exact / n_test, prediction]), readings

    errors = jax.lax.map(lambda draw: jax.lax.map(lambda w: of(w)[0], draw), omega)
    return errors, jax.lax.map(lambda w: of(w)[1], omega[:, ORTHOGONAL])


tables = {name: datasets.regression(name, fallback=True) for name in SETS}
found = np.empty((N_SPLITS, N_DRAWS, 2, len(SETS), 5, 3))
read = np.empty((N_SPLITS, N_DRAWS, 2, len(SETS), 3))
for i, s, k in tqdm(np.ndindex(N_SPLITS, len(SETS), 2), "splits", leave=False):
    (kind, (_, per_d, _)), d = list(KINDS.items())[k], tables[SETS[s]].X.shape[1]
    keys = jax.random.split(ledger.key("frequencies", s, SPLITS[i]), N_DRAWS)
    task = task_of(tables[SETS[s]], SPLITS[i], kind)
    both = measured(drawn(keys, kind, per_d * d, d), task, kind)
    found[i, :, k, s], read[i, :, k, s] = both
of_split = found.mean(axis=1)  # (splits, kinds, sets, couplings, measures)

# %% [markdown]
# (couplings-table-3)=
# ## Table 3: divergences of posteriors

# %% tags=["hide-input"]
HEADS = np.array([plotting.LABELS[name] for name in NAMES])
LABELS = ("RFFs", "RLFs")
ROWS = [f"{name}, d = {table.X.shape[1]}" for name, table in tables.items()]


def paper(number, sets=SETS):
    """Printed numbers and errors, as texts: (kinds, sets, couplings, 2)."""
    printed = evidence.printed(f"couplings_table{number}")
    rows = np.array([list(row.values())[3:] for row in printed], dtype=object)
    of_all = rows.reshape(2, -1, len(ALL), 2).swapaxes(1, 2)
    return of_all[:, [ALL.index(name) for name in sets]]


def mean_and_se(values):
    """Over splits, stacked."""
    return np.stack([values.mean(axis=0), values.std(axis=0, ddof=1) / N_SPLITS**0.5])


def beside(values, which, printed, caption):
    mean, se = mean_and_se(values)
    for k, label in enumerate(LABELS):
        plotting.table(
            mean[k][..., which], 2 * se[k][..., which], rows=ROWS, columns=HEADS[which],
            printed=printed[k, ..., 0] + " ± " + printed[k, ..., 1], corner=label,
            caption=f"Re-run: {caption.format(label)}; ± two standard errors, as in "
            "print.",
        )  # fmt: skip


OF_3 = [IID, HALTON, ORTHOGONAL, PNC]
table_3 = paper(3).astype(float)
mean_3, se_3 = mean_and_se(of_split[..., OF_3, DIVERGENCE])
far = np.abs(mean_3 - table_3[..., 0]) > np.hypot(2 * se_3, table_3[..., 1])

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Table 3, cell by cell: the paper's numbers beside ours", "code_prompt_hide": "Table 3, cell by cell"}
caption = "Table 3, {}. KL(exact | features), nats per test point, over splits; "
caption += f"{far.sum()} of both tables' {far.size} are two errors or more apart"
beside(of_split[..., DIVERGENCE], OF_3, paper(3), caption)

# %% [markdown]
# Two statements about this table can be checked without running anything. Its caption
# calls two standard errors 98 % (so does that of Table 4); they are 95 %. And it says
# that orthogonal features are better than IID ones on every split. Then their mean over
# splits would be smaller, too; but on CPU, with Fourier features, the table prints a
# larger one.

# %% tags=["hide-input"]
theirs = paper(3, ALL)[..., 0].astype(float)
share = float(special.ndtr(2) - special.ndtr(-2))
wrong_share = evidence.value(share, 0.0, 0.98, paper_se=0.0, rounding=0.005)
wrong_order = evidence.order(theirs[..., 2], theirs[..., 0], exact=True)
more = "98 % takes 2.33 standard errors."
negative = "Differences that are all negative cannot have a mean above zero."
ledger.decide({
    "couplings/table-3/confidence": evidence.erratum(wrong_share, more),
    "couplings/table-3/means-follow": evidence.erratum(wrong_order, negative),
})

# %% [markdown]
# The posterior itself is printed twice, once in the weights of the features (Eqs. 39
# and 41) and once in terms of their kernel (Eq. 43), the first "rewritten" as the
# second. The two differ: the mean by a factor $\sigma_n^2$, the covariance by
# $\sigma_n^2 I$.


# %%
@partial(jax.jit, compiler_options=FAST)
def both_ways(key, task):
    """Eqs. 39 and 41, and Eq. 43, as vectors, each part over its largest entry."""
    n, d = len(task.y), task.x.shape[1]
    phi = jnp.sqrt(task.variance) * features.fourier(task.x, couplings.iid(key, d, d))
    right = gaussian_processes.posterior(phi @ phi.T, task.y, task.noise, n)
    of_weights = formulas.posterior_by_weights
    printed = of_weights(phi[:n], phi[n:], task.y, task.noise)
    sizes = [jnp.abs(part).max() for part in right]
    scaled = [jax.tree.map(jnp.divide, list(law), sizes) for law in (printed, right)]
    return [jnp.concatenate([mean, covariance.ravel()]) for mean, covariance in scaled]


power = task_of(tables["power"], 0, "fourier")
apart = evidence.identity(*both_ways(ledger.key("one draw"), power), tolerance=1e-8)
lacking = "Eq. 39 lacks 1 / s^2; Eq. 41 has s^2 I, which Eq. 43 lacks."
ledger.decide({"couplings/table-3/rewritten": evidence.erratum(apart, lacking)})

# %% [markdown]
# In our hands, with 300 draws per split, orthogonal features are significantly better
# on most splits and not on every one. With Fourier features on CPU they are better on
# 16 of 80 and worse on one; next come airfoil and Boston, where $d$ of them are too few
# for it to matter much. Within a split all couplings share their random keys.

# %% tags=["hide-input"]
every = np.moveaxis(found[..., DIVERGENCE], 1, 0)  # draws first
gain = every[..., IID] - every[..., ORTHOGONAL]
score = gain.mean(axis=0) / (gain.std(axis=0, ddof=1) / np.sqrt(N_DRAWS))
plotting.table(
    np.concatenate([np.sum(score > 3.1, axis=0), np.sum(score < -3.1, axis=0)]),
    rows=[f"{kind} {how}" for how in ("better", "worse") for kind in LABELS],
    columns=SETS,
    corner="features",
    caption=f"Ours. Of {N_SPLITS} splits, those on which orthogonal features are "
    "better or worse than IID ones by 3.1 standard errors over draws.",
)

# %% tags=["hide-input"]
change = of_split[..., PNC, :] / of_split[..., ORTHOGONAL, :]
off = change[..., DIVERGENCE, None] - 1


def agreement(ours, printed):
    number, error = np.moveaxis(printed.astype(float), -1, 0)
    return evidence.agree(
        *ours, number, paper_se=(error + 0.0005) / 2, rounding=0.0005,
        smallest_difference=4 * (error + 0.0005), degrees=N_SPLITS - 1,
    )  # fmt: skip


ours_3 = mean_and_se(of_split[..., OF_3, DIVERGENCE])
ledger.decide({
    "couplings/table-3/every-split": evidence.order(
        every[..., ORTHOGONAL], every[..., IID]
    ),
    "couplings/table-3/pnc": evidence.bound(off * [1, -1], 0.05),
    "couplings/table-3/values-fourier": agreement(ours_3[:, 0], paper(3)[0]),
    "couplings/table-3/values-laplace": agreement(ours_3[:, 1], paper(3)[1]),
})

# %% [markdown]
# The printed divergences differ from ours most on airfoil with Fourier features. Each
# split of a set has one fit, which is not printed and is the likely cause. A divergence is measured in units of the
# noise, so that another maximum of the evidence, with more noise, could make it
# smaller; we found none and cannot say that it is the reason. Nor does another reading
# (the other direction, or Eq. 42 against 41) bring airfoil back into agreement. CPU
# differed too, until we undid the logarithm that the public copy takes of its targets.

# %% tags=["hide-input"]
plotting.table(
    *mean_and_se(read.mean(axis=1)).reshape(2, -1, len(READINGS)),
    rows=[f"{kind}, {name}" for kind in LABELS for name in SETS],
    columns=READINGS,
    corner="features, data set",
    printed=np.repeat(paper(3)[:, :, 2, 0].reshape(-1, 1), len(READINGS), axis=1),
    caption="Ours. What each reading gives for orthogonal features; ± one standard "
    "error, where the table above has two.",
)

# %% [markdown]
# On airfoil the printed divergence of Fourier features is that of a smoother fit than
# ours, and so are the ratios of Table 1. Targets that keep their mean, eighteen of their
# standard deviations, would explain Table 1 ({ref}`couplings-airfoil`). They do not
# explain Table 3: for Laplace features, whose lengthscale does not depend on the
# targets, divergences would be several times what is printed. What was fitted on
# airfoil remains open.

# %% tags=["hide-input"]
airfoil = datasets.regression("airfoil", fallback=True)
MEANS = 0.0, 124.8 / 6.90  # of the targets, in standard deviations
kept, d = np.empty((N_SPLITS, 2)), airfoil.X.shape[1]
for i, j in np.ndindex(kept.shape):
    keys = jax.random.split(ledger.key("targets", SPLITS[i]), N_DRAWS)
    task = task_of(airfoil, SPLITS[i], "laplace", MEANS[j])
    errors, _ = measured(drawn(keys, "laplace", 2 * d, d), task, "laplace")
    kept[i, j] = errors[:, ORTHOGONAL, DIVERGENCE].mean()
plotting.table(
    *mean_and_se(kept[:, None]), rows=["RLFs, airfoil"],
    columns=["targets centred", "mean kept"], corner="features, data set",
    printed=np.repeat(paper(3, ["airfoil"])[1:, 0, 2, :1], 2, axis=1),
    caption="Ours. Divergence of orthogonal Laplace features by the first reading, "
    "with other draws; ± one standard error.",
)  # fmt: skip

# %% [markdown]
# (couplings-table-4)=
# ## Table 4: predictions
#
# The table gives errors of predictions over those of independent (IID) features on the
# same split. Ours are ratios averaged over splits, with the error of a ratio; the
# printed errors are those of single rows over splits, and are several times as large.
# All 48 ratios agree within these errors. Together they say more. Their mean, weighted by the printed errors, is known to half a per cent, even if
# the errors of the eight ratios on one set were all one and the same.

# %% tags=["hide-input"]
OF_4 = [HALTON, SOBOL, ORTHOGONAL, PNC]
over_iid = of_split[..., PREDICTION] / of_split[..., :1, PREDICTION]
kernel, prediction = change[..., KERNEL], change[..., PREDICTION]
sides = np.stack([kernel - 1, prediction - 1.02, 0.98 - prediction], axis=-1)
rotated, ours_4 = over_iid[..., [ORTHOGONAL, PNC]], mean_and_se(over_iid[..., OF_4])


def weighted(number, error, weights):
    """Mean of (kinds, sets, couplings); on a set all errors count as one."""
    of_sets = np.sum(weights * error, axis=(0, 2))
    return np.sum(weights * number), np.linalg.norm(of_sets)


theirs_4, two_errors = np.moveaxis(paper(4)[:, :, OF_4].astype(float), -1, 0)
weights = two_errors**-2 / np.sum(two_errors**-2)
mean, error = weighted(theirs_4, (two_errors + 0.0005) / 2, weights)
on_average = evidence.value(
    *weighted(*ours_4, weights), mean, paper_se=error, resolution=0.005
)
mean_left = evidence.bound(rotated.mean(axis=(1, 2, 3)), 1.0)
ledger.decide({
    "couplings/extra-predictive-gain/orthogonal": mean_left,
    "couplings/table-4/no-worse": evidence.bound(rotated, 1.02),
    "couplings/table-4/no-guarantee": evidence.bound(sides, 0.0),
    "couplings/table-4/on-average": on_average,
    "couplings/table-4/values": agreement(ours_4, paper(4)[:, :, OF_4]),
})

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Table 4, cell by cell: the paper's numbers beside ours", "code_prompt_hide": "Table 4, cell by cell"}
caption = "Table 4, {}. Predictive RMSE over that of IID features"
beside(over_iid, [IID, *OF_4], paper(4), caption)

# %% tags=["hide-input"]
ratios = change.mean(axis=0)
of_kernel, on_power = ratios[..., KERNEL], ratios[1, SETS.index("power"), DIVERGENCE]
plotting.show(
    plotting.bars(
        *mean_and_se(change).reshape(2, -1, 3),
        rows=[f"{kind}, {name}" for kind in LABELS for name in SETS],
        columns={"kernel": "first", "posterior": "second", "prediction": "third"},
        x_label="with coupled norms (PNC), over without",
    ),
    caption="Ours. What coupled norms change: RMSE of the kernel, divergence of the "
    "posterior and RMSE of predictions, over those of orthogonal features. Bars: one "
    "standard error over splits.",
    alt=f"The kernel's ratio is {of_kernel.min():.2f} to {of_kernel.max():.2f} in all "
    "rows. Those of posterior and prediction lie within 4 % of one, but for the "
    f"posterior of Laplace features on power, {on_power:.2f}.",
)

# %% tags=["hide-input"]
ledger.close()
