# %% [markdown]
# # Which pair of modulations is best?
#
# * **The symmetric pair is always a stationary point of the error**, by an argument of
#   two lines, and in all cases that we tried a minimum among its neighbours.
# * **The lazy walker costs a factor of two or three** in squared error: letting one side
#   do all the walking wastes what the other could add.
# * **Bad pairs are easy to make.** With $f_2 = (1, c, 0, \dots)$ the error has no
#   finite value once $c^2 > 1 - p$, where $p$ is the termination probability, although
#   the pair fulfils everything that Theorem 2.1 asks.
#
# **What the paper claims.** Any pair with $f_1 * f_2 = \alpha$ estimates the same kernel
# (Theorem 2.1, {doc}`02_unbiased`). "Rigorously proving the best possible choice of
# $(f_1, f_2)$, including whether e.g. a symmetric pair is optimal, is left as an
# exciting open theoretical problem", says Appendix A.5 {cite:p}`reid2023universal`,
# where two modulations, learned separately, came out very similar.
#
# **The idea.** The loads of a walk have second moments in closed form, and they give
# the expected squared error $\mathbb E \|\widehat K - K\|_F^2$ of *any* pair
# ({py:func}`rfcore.theory.walk_gram_mse`). So pairs can be compared, and derivatives
# can be taken, without sampling.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import networkx as nx
import numpy as np
from tqdm import tqdm

from companion import datasets, evidence, plotting, random_graphs
from companion.papers.ugrf import modulation_pairs
from companion.papers.ugrf.modulation_pairs import hessian
from rfcore import features, kernels, theory
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/04_best_pair", profile)
N_REPEATS, N_SHARES = {"paper": (1500, 21), "quick": (400, 5)}[profile]
N_WALKS, P_HALT = 16, 0.2

# %% [markdown]
# (ugrf-pairs)=
# ## Is the closed form right?
#
# We try five pairs for each of two kernels on the karate club, at $\sigma = 1$: the
# symmetric one; the paper's *lazy* walker, who leaves everything at home, so that $f_1$
# is $\alpha$ itself; a *quarter share* of the kernel's exponent, with three quarters
# left to the partner; an $f_2$ that is *cut* after two hops; and a modulation of
# *another kernel*. {py:func}`~companion.papers.ugrf.modulation_pairs.deconvolve` finds
# the partners.
# The squared errors of many estimates are compared with the formula.


# %%
def shared_out(name, sigma, share):
    """f2 with a share of a kernel's exponent; one half is symmetric, zero lazy."""
    if share == 0:
        return modulation.from_values([1.0])
    if name == "regularised_laplacian":
        return modulation.regularised_laplacian(sigma, 4 * share)
    return modulation.diffusion(sigma * np.sqrt(2 * share))


def pair(name, sigma, f2):
    """The partner of f2, and f2."""
    alpha = modulation.to_taylor(shared_out(name, sigma, 0.5), n_terms=200)
    return modulation_pairs.deconvolve(alpha, f2), f2


KERNELS = ("diffusion", "regularised_laplacian")
choices = {
    "symmetric": lambda name: shared_out(name, 1.0, 0.5),
    "lazy": lambda name: modulation.from_values([1.0]),
    "quarter share": lambda name: shared_out(name, 1.0, 0.25),
    "cut after two hops": lambda name: modulation.from_values([1.0, 0.5, 0.25]),
    "another kernel": lambda name: modulation.diffusion(2.0),
}
karate = Graph.from_networkx(datasets.graph("karate", fallback=True)).normalised()
exact = {
    "diffusion": kernels.diffusion(karate, 1.0),
    "regularised_laplacian": kernels.regularised_laplacian(karate, 1.0, 2),
}


def feature_matrices(key, f):
    """Independent feature matrices of all nodes, shape (N_REPEATS, N, N)."""
    nodes = np.tile(np.arange(karate.n_nodes), N_REPEATS)
    phi = features.walk_features(key, karate, f, N_WALKS, P_HALT, "iid", nodes)
    return phi.toarray().reshape(N_REPEATS, karate.n_nodes, karate.n_nodes)


def squared_errors(name, f1, f2):
    """Of independent estimates, each from two sets of walks."""
    sides = enumerate((f1, f2))
    left, right = (feature_matrices(ledger.key("walks", i), f) for i, f in sides)
    return ((left @ right.transpose(0, 2, 1) - exact[name]) ** 2).sum(axis=(1, 2))


def expected_error(f1, f2, n_terms=200):
    """In closed form."""
    return theory.walk_gram_mse(karate, f1, f2, N_WALKS, P_HALT, n_terms)


measured, expected = [], []
for name in KERNELS:
    for f2 in choices.values():
        measured.append(squared_errors(name, *pair(name, 1.0, f2(name))))
        expected.append(expected_error(*pair(name, 1.0, f2(name))))
measured, expected = np.stack(measured, axis=1), np.array(expected)

# %% tags=["hide-input"]
by_kernel = expected.reshape(2, -1)
plotting.table(
    (by_kernel / by_kernel[:, :1]).T,
    rows=list(choices),
    columns=[plotting.LABELS[name] for name in KERNELS],
    corner="second modulation",
    caption="Ours. Expected squared error over that of the symmetric pair, karate, "
    f"$\\sigma = 1$, $p = {P_HALT}$, {N_WALKS} walks.",
)
ledger.decide({
    "ugrf/extra-pairs/formula": evidence.unbiased(measured, expected, expected / 10)
})

# %% [markdown]
# ## The symmetric pair is stationary. Is it a minimum?
#
# Write the pair as $f_1 = f * e^{-g}$ and $f_2 = f * e^{g}$, with exponentials of
# sequences under convolution. That reaches every pair near the symmetric one, $g = 0$.
# Swapping the two sides transposes $\widehat K$ and leaves the error what it is, and it
# turns $g$ into $-g$. So the error is an even function of $g$: **the symmetric pair is
# always stationary.** The Hessian tells whether it is a minimum
# ({py:func}`~companion.papers.ugrf.modulation_pairs.hessian`), in the six directions
# $g(1), \dots, g(6)$; $g(0)$ only moves a factor from one side to the other.

# %%
four = {
    "Erdős–Rényi, N = 20": random_graphs.erdos_renyi(
        ledger.key("random graphs", 0), 20, 0.2
    ),
    "binary tree, N = 31": Graph.from_networkx(nx.balanced_tree(2, 4)),
    "4-regular, N = 30": random_graphs.regular(ledger.key("random graphs", 3), 30, 4),
    "karate": karate,
}
cases = [(name, sigma) for name in KERNELS for sigma in (0.25, 1.0)]
smallest = np.array([
    [
        np.linalg.eigvalsh(
            hessian(g.normalised(), shared_out(*case, 0.5), N_WALKS, P_HALT)
        )[0]
        for case in cases
    ]
    for g in tqdm(four.values(), desc="Hessians", leave=False)
])

# %% tags=["hide-input"]
plotting.table(
    smallest.T,
    rows=[f"{plotting.LABELS[name]}, $\\sigma = {s:g}$" for name, s in cases],
    columns=list(four),
    corner="kernel, $\\sigma$",
    caption="Ours. Smallest eigenvalue of the Hessian of the expected squared error, "
    "over that error.",
)
ledger.decide({
    "ugrf/extra-pairs/symmetric-local-minimum": evidence.bound(
        smallest, 0.0, side="above", exact=True
    )
})

# %% [markdown]
# This is a step towards the open problem, and a possible reason why the paper's two
# separately learned modulations came out alike.
#
# ## A bad choice
#
# Take $f_2 = (1, c, 0, 0, \dots)$: walkers that deposit at home and next door. The
# partner has the generating function $\alpha(z) / (1 + c z)$, so that $f_1(k)$ grows or
# decays as $(-c)^k$. The second moment of its features is finite only while
# $c^2 < 1 - p$. Past that, the error keeps growing as more steps are counted.


# %%
def error_with(c, n_terms):
    """Expected squared error for f2 = (1, c), counting n_terms steps."""
    f1, f2 = pair("diffusion", 1.0, modulation.from_values([1.0, c]))
    return expected_error(modulation.from_values(f1(np.arange(n_terms))), f2)


threshold = np.sqrt(1 - P_HALT)
growth = {
    share: error_with(share * threshold, 120) / error_with(share * threshold, 60)
    for share in (0.9, 1.1)
}
shares = np.linspace(0, 1, N_SHARES)
bowls = np.array([
    [expected_error(*pair(n, 1.0, shared_out(n, 1.0, s)), 120) for s in shares]
    for n in KERNELS
])
near = np.linspace(-0.85, 0.88, 2 * N_SHARES - 1)
of_c = np.array([[error_with(c, 200) for c in near]]) / expected[0]

# %% tags=["hide-input"]
SIZE = (3.4, 2.5)
bowls /= bowls[:, [N_SHARES // 2]]
left = plotting.panels(
    shares, np.stack([bowls] * 2), lines=KERNELS, log="", size=SIZE,
    x_label="share of the second modulation", y_label="error over symmetric",
)  # fmt: skip
right = plotting.panels(
    near, np.stack([of_c] * 2), lines={"": "diffusion"}, log="y", size=SIZE,
    x_label="c, for second modulation (1, c)", y_label="error over symmetric",
)  # fmt: skip
for line in (*left[0].axes[0].lines, *right[0].axes[0].lines):
    line.set_marker("")
right[0].axes[0].axvline(threshold, ls=":", color=plotting.INK)
plotting.show(
    *left, *right,
    caption="Ours. Expected squared error of asymmetric pairs over that of the "
    f"symmetric one, karate, $\\sigma = 1$, $p = {P_HALT}$, {N_WALKS} walks, in "
    "closed form. First: by the share of the kernel's exponent that the second "
    "modulation takes; one half is symmetric, zero the lazy walker. Second: "
    "diffusion kernel with the second modulation $(1, c)$; dotted: the positive $c$ "
    "past which there is no variance.",
    alt="Left, two bowls with their bottom at one half, at most two or three times as "
    "high at zero. Right, a curve with a minimum shoots up as c approaches the dotted "
    "line at 0.89.",
)  # fmt: skip
plotting.table(
    [list(growth.values())],
    rows=["120 steps over 60"],
    columns=[f"c = {share:g} of the threshold" for share in growth],
    caption="Ours. By how much the expected squared error grows as more steps count.",
)
ledger.decide({
    "ugrf/extra-pairs/bad-partner": evidence.bound(
        growth[1.1], 10, side="above", exact=True, unit="times"
    )
})

# %% tags=["hide-input"]
ledger.close()
