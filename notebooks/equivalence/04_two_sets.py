# %% [markdown]
# # Two sets of points
#
# * **For two sets the feature matters.** For a single pair of points positive features
#   can be without any variance, but cosines of random phase cannot.
# * **A feature of its own for each side pays** where two sets differ in spread. For one
#   set it gains nothing.
# * **The optimal law removes at most a third** of the second moment of cosines; of
#   positive features it can remove any share.
#
# **What the paper claims.** "Every random features representation has the same sample
# error as every other" {cite:p}`sernau2024equivalent`. For one law of both points and
# the optimal law of frequencies {doc}`this is so <02_corollaries>`.
#
# **The idea.** Attention has two distributions, of queries and of keys, and then
# nothing ties the least variances of two features together. And features that tie under
# their optimal laws start from very different places. As {doc}`before
# <02_corollaries>`, $q(\omega) = \sqrt{\mathbb E_x \phi(x, \omega)^2 \; \mathbb E_y
# \phi(y, \omega)^2}$, $C = \mathbb E_p\, q$, and the least mean square of an estimate
# is $C^2$.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import numpy as np

from companion import datasets, evidence, plotting
from companion.papers.favor import trigonometric
from rfcore import couplings, features, kernels, theory

ledger = evidence.open_page("equivalence/04_two_sets", profile)
N_POINTS, N_DRAWS = 120, {"paper": 100, "quick": 20}[profile]

SETS, KERNELS = ("wifi", "banknote", "yeast"), ("gaussian", "softmax")
CASES = [(name, kernel) for name in SETS for kernel in KERNELS]


def rows(name):
    """Standardised points, the longest of length 2; zeros fill them up to one shape."""
    x = datasets.split(datasets.classification(name, fallback=True)).X_train
    x = np.pad(x, ((0, 0), (0, 8 - x.shape[1])))
    return (2 * x / np.linalg.norm(x, axis=1).max())[:N_POINTS]


points = {name: rows(name) for name in SETS}
GRAM = {(n, k): np.asarray(getattr(kernels, k)(points[n], points[n])) for n, k in CASES}

# %% [markdown]
# (equivalence-two-sets)=
# ## Two sets: the feature matters
#
# Corollary 2 needs one law of queries and keys. The extreme case of two laws is one
# query and one key. Positive features then have *no* variance: under $\mathcal N(x + y,
# I)$ every frequency gives $k(x, y)$ exactly. Cosines of random phase change sign,
# which no weight can mend: $C = \mathbb E\, \lvert \phi(x) \phi(y) \rvert$ exceeds the
# kernel, by up to $8 / \pi^2$ at large distances
# ({py:func}`companion.papers.favor.trigonometric.trigonometric_least_variance`).
#
# Two sets also reward what Definition 1 excludes: a feature of its own for each side.
# If $x$ is scaled by $c$ and $y$ by $1 / c$, their product is the same, and where the
# spreads differ it pays to make them equal. That is SADERF's move
# {cite:p}`likhosherstov2023favor`. For one set it gains nothing: $C \geq \mathbb E_p
# \mathbb E_x \lvert \phi(x) \psi(x) \rvert \geq \mathbb E\, k(x, x)$, whatever $\phi$
# and $\psi$.

# %%
AT = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
x, others = np.zeros((1, 3)), AT[:, None] * np.eye(3)[0]
of_cosines = np.asarray(trigonometric.trigonometric_least_variance(x, others))[0]
plain, single = couplings.iid(ledger.key("single pairs"), N_DRAWS, 3), []
for y in others:
    omega = features.frequencies.weighted_gaussian(plain, y, np.eye(3))
    both = [features.positive(point[None], omega) for point in (x[0], y)]
    single.append(N_DRAWS * both[0][0] * both[1][0] / np.exp(-y @ y / 2))


def log_constant(scale_x, scale_y):
    """log C of positive features, points of these covariances, softmax kernel."""
    zeros = np.zeros(3)
    return theory.optimal_gaussian(
        zeros, scale_x, zeros, scale_y, "softmax"
    ).log_constant


spreads = [(0.1 / np.sqrt(r), 0.1 * np.sqrt(r)) for r in (2.0, 4.0, 8.0, 16.0)]
alike = np.exp([log_constant(a * np.eye(3), b * np.eye(3)) for a, b in spreads])
apart = np.exp(float(log_constant(*2 * (0.1 * np.eye(3),))))
S, rng = np.diag([0.02, 0.05, 0.1]), ledger.rng("transformations")
maps = np.eye(3) + 0.3 * rng.uniform(-1, 1, (20, 3, 3))
inverses = np.linalg.inv(maps)
bent = [
    log_constant(T @ S @ T.T, back.T @ S @ back) - log_constant(S, S)
    for T, back in zip(maps, inverses, strict=True)
]

# %% tags=["hide-input"]
least = np.stack([of_cosines, np.zeros(len(AT))])
plotting.show_panels(
    AT,
    np.stack([least, least]),  # closed forms, without repeats
    lines={"cosines of random phase": "trigonometric", "positive features": "positive"},
    levels={"64/π⁴": (8 / np.pi**2) ** 2},
    x_label="distance of the two points",
    y_label="least variance",
    log="x",
    caption="Ours. Least variance of an estimate of the Gaussian kernel for a single "
    "pair of points, in closed form. Dashed: its limit at large distances, (8/π²)².",
    alt="The line of cosines rises from 0.01 at distance a quarter to its limit of 0.66"
    " at distance four; the line of positive features is zero throughout.",
)
ledger.decide({
    "equivalence/extra-two-sets/pair": evidence.order(0.0, of_cosines, exact=True),
    "equivalence/extra-two-sets/exact": evidence.identity(single, 1.0, 1e-10),
    "equivalence/extra-two-sets/sides": evidence.order(apart, alike, exact=True),
    "equivalence/extra-two-sets/no-gain": evidence.bound(
        np.exp(bent), 1.0, side="above", exact=True
    ),
})

# %% [markdown]
# (equivalence-third)=
# ## What there is to gain
#
# For cosines $q = \mathbb E_x k(x, x)\, (1 + \cos 2(\omega^\top x + \theta))$, and with
# $g$ the Gaussian kernel plain draws have the mean square
#
# $$
# \begin{aligned}
# \mathbb E\, q^2 &= C^2 + \tfrac12 \mathbb E\, k(x, x)\, k(y, y)\, g(x, y)^4 \\
# &\leq \tfrac32 C^2 :
# \end{aligned}
# $$
#
# **sampling optimally removes a third at most**. Positive features have no such limit.
# Optimal sampling makes a useless feature as good as the others; it hardly improves a
# good one.

# %%
constants = np.array([np.diag(GRAM[case]).mean() for case in CASES])
plain = np.array([
    np.exp(trigonometric.trigonometric_log_relative_variance(points[n], points[n]))
    for n, _ in CASES
])
squares = np.mean([GRAM[case] ** 2 for case in CASES] * (1 + plain), axis=(1, 2))
wide = theory.optimal_gaussian(*2 * (np.zeros(8), 0.166 * np.eye(8)), "softmax")
cost = np.exp(float(theory.log_sampling_cost(wide, np.zeros(8), np.eye(8))))

# %% tags=["hide-input"]
ledger.decide({
    "equivalence/extra-third/trigonometric": evidence.bound(
        squares / constants**2, 1.5, exact=True
    ),
    "equivalence/extra-third/positive": evidence.bound(
        cost, 1e6, side="above", exact=True
    ),
})

# %% tags=["hide-input"]
ledger.close()
