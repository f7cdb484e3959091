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
# # How much of the gain is the mean?
#
# * **Nearly all of it.** Subtract the means from the points, put them back exactly, and
#   plain GERF gains nine tenths or more of what SDERF gains over it. At $\sigma = 1$ it
#   even beats SDERF in three of four regimes.
# * **Both together are best**: centred SDERF is ahead of GERF, ADERF, SDERF and centred
#   GERF at every $\sigma$, at $\sigma = 1$ on images by one to two nats over SDERF.
# * **Among digits and among photographs trigonometric features beat SDERF at
#   intermediate $\sigma$.** Images have no negative pixels, so that $x - y$ is short
#   where $x + y$ is long.
#
# **What the paper claims.** Dense exponential features have about $e^5$ to $e^{10}$ times
# less variance than GERFs, on images and on two Gaussian sets of different means
# ({cite:t}`likhosherstov2023favor`; {doc}`02_variance` has the figures). The paper fits to
# the points as they are.
#
# **The idea.** Where all points lie to one side of the origin, the one direction in which
# $x + y$ is long is that of the mean. A mean can be subtracted.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from rfcore import datasets, evidence, plotting, theory
from rfcore.solvers import exponential

ledger = evidence.open_page("favor/05_centred_points", profile)
N_POINTS, N_SIGMAS = {"paper": (1024, 10), "quick": (192, 4)}[profile]
N_DRAWS, SIGMAS = 5, np.linspace(0.1, 1.0, N_SIGMAS)

# %% [markdown]
# ## Four kinds of points
#
# Those of Figure 2 ({doc}`02_variance`) whose mean is not zero, and the same draws: in
# *heterogen* one of two Gaussian sets has the mean $(\sigma, \dots, \sigma)$; *mnist* and
# *cifar10* are grey images of $8 \times 8$ box means, times $\sigma$; in *mnist/cifar10* one
# set are digits, the other photographs. Parameters are fitted anew to every pair of sets.

# %%
IMAGES = {"mnist": ("mnist", "mnist"), "cifar10": ("cifar10", "cifar10")}
IMAGES |= {"mnist/cifar10": ("mnist", "cifar10")}
REGIMES = ("heterogen", *IMAGES)
images = {}
for name in ("mnist", "cifar10"):
    grey = datasets.grey(datasets.images(name, fallback=True).images / 255, "mean")
    images[name] = datasets.resize(grey, 8, "area").reshape(-1, 64)


def draw(regime, i):
    """Two sets of points for sigma = 1."""
    rng, n = ledger.rng(f"points {regime}", i), N_POINTS
    if regime == "heterogen":
        x, y = rng.standard_normal((2, n, 64))
        return x, y + 1
    x, y = (images[name] for name in IMAGES[regime])
    order = rng.permutation(len(x))
    if regime != "mnist/cifar10":
        return x[order[:n]], x[order[n : 2 * n]]
    return x[order[:n]], y[rng.permutation(len(y))[:n]]


FITS = {
    "gerf": exponential.gerf,
    "aderf": exponential.aderf,
    "sderf": exponential.sderf,
    "gerf_centred": partial(exponential.gerf, centred=True),
    "sderf_centred": partial(exponential.sderf, centred=True),
}
LINES = ("trigonometric", *FITS)


@jax.jit
def mean_logs(x, y):
    """Mean log relative variance of LINES, in closed form."""
    logs = [theory.trigonometric_log_relative_variance(x, y)]
    logs += [theory.log_relative_variance(x, y, fit(x, y)) for fit in FITS.values()]
    return jnp.stack([jnp.mean(log) for log in logs])


logs = np.array([
    [[mean_logs(sigma * x, sigma * y) for sigma in SIGMAS]
     for x, y in (draw(regime, i) for regime in REGIMES)]
    for i in tqdm(range(N_DRAWS), leave=False)
])  # fmt: skip
of = dict(zip(LINES, np.moveaxis(logs, -1, 0), strict=True))  # draws, regimes, sigmas

# %% [markdown]
# (favor-centring)=
# ## How much of the gain is the mean
#
# The paper fits to the mean of $(x + y)(x + y)^\top$, which is $\mathrm{Cov}_x +
# \mathrm{Cov}_y + (\mu_x + \mu_y)(\mu_x + \mu_y)^\top$. On images the last term is most
# of it, one direction, on which SDERF can spend a wide Gaussian and GERF cannot. But
# the mean needs no Gaussian. With $a = \mu_x$ and $b = \mu_y$
#
# $$
# e^{x^\top y} = e^{(x - a)^\top (y - b)} \; e^{b^\top x} \; e^{a^\top y - a^\top b} :
# $$
#
# features of the centred points, times factors that each depend on one point only. They
# stay unbiased and positive, and cost nothing (`centred=True` in
# {py:func}`rfcore.solvers.exponential.gerf` and its neighbours).

# %% tags=["hide-input"]
trigonometric, gerf, aderf, sderf, centred, best = of.values()
columns = [gerf, centred, sderf, best, trigonometric]
at_one = np.stack([column[..., -1] for column in columns], axis=-1)
plotting.table(
    at_one.mean(axis=0), at_one.std(axis=0, ddof=1) / np.sqrt(N_DRAWS),
    rows=REGIMES,
    columns=["GERF", "GERF, centred", "SDERF", "SDERF, centred", "trigonometric"],
    caption="Ours. Mean log of Var / K² at σ = 1, with and without the means.",
)  # fmt: skip
lost = (gerf - centred) - 0.9 * (gerf - sderf)
three = [REGIMES.index(name) for name in ("heterogen", "mnist", "mnist/cifar10")]
ledger.decide({
    "favor/extra-centring/mostly-the-mean": evidence.bound(
        lost.mean(axis=2), 0.0, side="above", unit="nats"
    ),
    "favor/extra-centring/gerf-beats-sderf": evidence.order(
        centred[:, three, -1], sderf[:, three, -1], unit="nats"
    ),
    "favor/extra-centring/centred-sderf-best": evidence.order(
        np.stack(4 * [best], axis=-1),
        np.stack([gerf, aderf, sderf, centred], axis=-1), unit="nats",
    ),
})  # fmt: skip

# %% [markdown]
# (favor-trigonometric)=
# ## Where trigonometric features win
#
# The log of the relative variance is about $\lVert x + y \rVert^2$ for positive
# features and $\lVert x - y \rVert^2$ for trigonometric ones. Images have no negative
# pixels: between two digits, or two photographs, $x + y$ is long and $x - y$ short. At
# small $\sigma$ a random phase leaves half the squared kernel as variance, where
# positive features have next to none; at large $\sigma$ SDERF's wide Gaussians pay. In
# between trigonometric features win. This takes nothing away from the reason why
# attention avoids them: they can be negative.

# %% tags=["hide-input"]
others = ("trigonometric", "gerf_centred", "sderf_centred")
at = [REGIMES.index("mnist"), REGIMES.index("cifar10")]
plotting.show_panels(
    SIGMAS,
    np.stack([of[name] - of["sderf"] for name in others], axis=2)[:, at],
    panels=("mnist", "cifar10"), lines=others, levels={"sderf": 0.0},
    x_label="σ", y_label="log variance, SDERF = 0", log="",
    caption="Ours. The mean log variance of trigonometric features, and of features of "
    "centred points, above that of SDERF.",
    alt="Two charts with SDERF as a level line at zero. Trigonometric features start "
    "above it, lie up to about one nat below it in the middle, and end at it in mnist "
    "and one nat above it in cifar10. Centred SDERF stays one to two nats below it. "
    "Centred GERF starts with centred SDERF and rises, to half a nat below the line in "
    "mnist and just above it in cifar10.",
)  # fmt: skip
middle = (SIGMAS > 0.25) & (SIGMAS < 0.75)
ledger.decide({
    "favor/extra-trigonometric/images": evidence.order(
        of["trigonometric"][:, at][..., middle],
        of["sderf"][:, at][..., middle], unit="nats",
    )
})  # fmt: skip

# %% tags=["hide-input"]
ledger.close()
