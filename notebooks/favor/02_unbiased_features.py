# %% [markdown]
# # Are dense exponential features unbiased? (Theorem 4.1, Equations 7 and 11)
#
# * **Yes, with the printed variance** (Theorem 4.1): to the last digits of a quadrature
#   that leaves nothing to chance.
# * **Two older features that the paper recalls are misprinted.** A wrong sign in Eq. 7
#   makes the pair of features estimate $e^{-x^\top y}$; an extra factor of one half in
#   Eq. 11 makes the estimate too large, the more so the longer the points.
# * **Neither slip reaches a theorem.** Once mended, both formulas pass the same
#   quadrature.
#
# **What the paper claims.** Positive features of a very general kind estimate the kernel
# $K(x, y) = e^{x^\top y}$ without bias, under printed conditions on their matrices
# {cite:p}`likhosherstov2023favor`. Which matrices are best is the question of
# {doc}`01_optimal_parameters`.
#
# **The idea.** An exponential of a quadratic form has a Gaussian mean in closed form, and
# so has its square. Whether the printed conditions are the right ones can then be decided
# without random numbers.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import numpy as np

from companion import evidence, plotting
from companion.papers.favor import formulas
from rfcore import features, kernels

ledger = evidence.open_page("favor/02_unbiased_features", profile)
N_FEATURES = {"paper": 60, "quick": 6}[profile]

# %% [markdown]
# (favor-thm-4-1)=
# ## Unbiased, with the printed variance
#
# With $\omega \sim \mathcal N(0, I)$ the features of $x$ and $y$ are [FAVOR#, Section 4]
#
# $$
# f^{(k)}(\omega, x) = D \exp\bigl( \omega^\top A\, \omega + \omega^\top B^{(k)} x
#     + x^\top C^{(k)} x \bigr),
# $$
#
# and they are unbiased where $8A \prec I$, $B^{(1)\top} (I - 4A)^{-1} B^{(2)} = I$, and
# $C$ and $D$ follow. The mean is a Gaussian integral, which in two dimensions
# Gauss-Hermite quadrature computes to the last digits, without random numbers. Its
# nodes take the place of the frequencies in the library's own feature map
# ({py:func}`rfcore.features.exponential`), and its weights are theirs. A symmetric $A$
# and a matrix $B^{(1)}$ are drawn at random, and {py:func}`rfcore.features.dense`
# completes them. The eigenvalues of $A$ stay below $1/20$ and the singular values of
# $B^{(1)}$ between $1/2$ and $2$, so that the nodes cover the whole integral.

# %%
points, weights = np.polynomial.hermite_e.hermegauss(120)
omega = np.stack(np.meshgrid(points, points), axis=-1).reshape(-1, 2)
shares = np.outer(weights, weights).ravel() / (2 * np.pi)
nodes = features.frequencies.weighted(omega, np.log(shares * len(shares)))

rng = ledger.rng("features in the plane")
x, y = 0.3 * rng.standard_normal((2, 4, 2))
K = np.asarray(kernels.softmax(x, y))
means, log_moments, printed = [], [], []
for _ in range(N_FEATURES):
    Q, U, V = np.linalg.qr(rng.standard_normal((3, 2, 2)))[0]
    A = Q @ np.diag(rng.uniform(-0.5, 0.05, 2)) @ Q.T
    p = features.dense(A, U @ np.diag(rng.uniform(0.5, 2, 2)) @ V)
    phi = np.asarray(features.exponential(x, nodes, p, "x", "softmax"))
    psi = np.asarray(features.exponential(y, nodes, p, "y", "softmax"))
    means.append(phi @ psi.T / K)
    log_moments.append(np.log((phi**2 / shares) @ (psi**2).T))
    printed.append(formulas.log_second_moment(x, y, p))

# %% tags=["hide-input"]
ledger.decide({
    "favor/thm-4.1/unbiased": evidence.identity(means, 1.0, tolerance=1e-9),
    "favor/thm-4.1/variance": evidence.identity(log_moments, printed, tolerance=1e-9),
})

# %% [markdown]
# (favor-eq-7)=
# ## Two slips before the theorems
#
# The paper first recalls older features. Eq. 7 has $\cos(-\omega^\top y + \theta)$
# where Eq. 6 has $\cos(\omega^\top x + \theta)$. The mean of the product over the phase
# $\theta$ is then $\tfrac12 \cos \omega^\top (x + y)$, and the pair estimates
# $e^{-x^\top y}$. Eq. 11 has the exponent $C \lVert x \rVert^2 / 2$ with $C = -\frac12$:
# an extra factor of one half, which leaves $e^{(\lVert x \rVert^2 + \lVert y \rVert^2) /
# 4}$ in the estimate. The same quadrature, with five phases, shows both slips, and
# shows that the mended formulas are right.

# %%
five = 2 * np.pi * np.arange(5) / 5
phases, many = np.tile(five, len(omega)), np.repeat(omega, 5, axis=0)
both = np.repeat(shares / 5, 5) * len(phases)  # features carry 1 / number of nodes
right = [features.trigonometric(z, many, phases, kernel="softmax") for z in (x, y)]
eq_7 = (right[0] * both) @ formulas.trigonometric(y, many, phases).T
mended_7 = (right[0] * both) @ right[1].T

A, plain = -0.1, np.ones(2)
f, g = (formulas.generalised_exponential(z, omega, A) for z in (x, y))
eq_11 = (f * shares * len(shares)) @ g.T
p = features.dense(A * plain, np.diag(np.sqrt(1 - 4 * A) * plain))
f = features.exponential(x, nodes, p, "x", "softmax")
mended_11 = f @ features.exponential(y, nodes, p, "y", "softmax").T

# %% tags=["hide-input"]
estimates = {"Eq. 7": eq_7, "Eq. 11": eq_11, "Eq. 7, mended": mended_7}
estimates |= {"Eq. 11, mended": mended_11}
plotting.show(
    plotting.bars(
        np.column_stack([np.diagonal(means / K) for means in estimates.values()]),
        rows=[f"kernel {value:.3g}" for value in np.diagonal(K)],
        columns=dict(
            zip(estimates, ("first", "second", "third", "fourth"), strict=True)
        ),
        x_label="mean of the products of features over the kernel",
    ),
    caption="Ours. Four of the sixteen pairs of points that the claims take: what the "
    "features of Eqs. 7 and 11 estimate, as printed and mended, over the kernel.",
    alt="In each of four rows the two mended features lie at 1, Eq. 7 as printed to the"
    " left of it, down to 0.56, and Eq. 11 to the right, up to 1.37.",
)
ledger.decide({
    "favor/eq-7/as-printed": evidence.erratum(
        evidence.identity(eq_7 / K, 1.0, tolerance=1e-9),
        "The sign does not belong there: it estimates exp(-x . y).",
    ),
    "favor/eq-11/as-printed": evidence.erratum(
        evidence.identity(eq_11 / K, 1.0, tolerance=1e-9),
        "One half too many: C = -1/2 goes with C |x|^2, or C = -1 with C |x|^2 / 2.",
    ),
    "favor/extra-mended/both": evidence.identity(
        np.stack([mended_7 / K, mended_11 / K]), 1.0, tolerance=1e-9
    ),
})

# %% tags=["hide-input"]
ledger.close()
