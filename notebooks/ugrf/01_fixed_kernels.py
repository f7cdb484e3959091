# %% [markdown]
# # Can walks estimate any kernel? (Table 1, Theorem 2.2, Equation 2)
#
# * **Any that is a power series.** A kernel decides how much a walk of length $k$
#   counts, and nothing else: the walks do not depend on it.
# * **Three ways to the same numbers.** An explicit sum, a recursion and, for three
#   kernels, closed forms agree in exact fractions.
# * **Not every series is a kernel.** Small weights make it one, and how small they must
#   be has a simple answer. At twice that size most of our series are not kernels.
#
# **What the paper claims.** A kernel between the nodes of a graph is a function of a
# matrix, and computing one exactly costs $O(N^3)$. {cite:t}`reid2023universal` estimate
# it from random walks. Each walker scatters a *load* over the nodes that it visits, and
# a *modulation function* $f$ of the number of steps decides which kernel comes out, by
# one rule: $f * f = \alpha$, where $\alpha$ holds the Taylor coefficients of the kernel
# (Theorem 2.2). This page is about that rule. Whether the estimates are unbiased
# (Theorem 2.1) is the question of {doc}`02_unbiased`, and how far off they are
# (Figure 2) that of {doc}`03_fixed_kernel_errors`.
#
# **The idea.** Let $W = D^{-1/2} A D^{-1/2}$, the normalised adjacency matrix. A walk
# from node $i$ picks a neighbour uniformly, and stops before each hop with probability
# $p_{\text{halt}}$. If its load is multiplied at each hop by the number of neighbours
# times the weight of the edge, divided by $1 - p_{\text{halt}}$, then the load that it
# is expected to bring to node $j$ at step $k$ is exactly $(W^k)_{ij}$: the factor
# undoes the chance of having walked there. So the feature $\phi(i)_j$, the mean over
# walks of $\sum_k \text{load}_k\, f(k)$ left at $j$, obeys
#
# $$
# \begin{aligned}
# \mathbb E\,\phi &= \sum_k f(k)\, W^k, \\
# \mathbb E\, \phi_1 \phi_2^\top &= \Bigl(\sum_k f(k) W^k\Bigr)^2 \\
# &= \sum_k (f * f)(k)\, W^k
# \end{aligned}
# $$
#
# for two *independent* sets of walks. Choose $f$ as the square root of the kernel's
# power series, and the product estimates the kernel.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from fractions import Fraction

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import scipy.sparse as sp
from IPython.display import Markdown

from companion import datasets, evidence, plotting, random_graphs
from companion.papers.ugrf import formulas
from companion.papers.ugrf.definiteness import definite_radius
from rfcore import kernels
from rfcore.features import modulation
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/01_fixed_kernels", profile)

# %% [markdown]
# (ugrf-table-1)=
# ## Table 1: four kernels as power series
#
# All are functions of the normalised Laplacian $L = I - W$. Do the coefficients, as
# printed ({py:mod}`~companion.papers.ugrf.formulas`), rebuild the kernels that
# {py:mod}`rfcore.kernels` computes by eigendecomposition? They should, each up to the
# constant that makes $\alpha_0 = 1$. We sum 60 terms on the karate club, with the
# paper's regularisers $\sigma = 0.25$ and $\alpha = 20$ (a number here, not the
# coefficients). The paper does not say which $d$ and $p$ it uses, and we try
# $d = 1, 2, 3, 5$ and $p = 1, 2, 3$.


# %%
def coefficients(n, sigma, alpha, quarter_pi=np.pi / 4):
    """The first n printed coefficients of nine kernels, exact for fractions."""
    of_name = {
        f"{d}-regularised Laplacian": lambda k, d=d: (
            formulas.alpha_regularised_laplacian(k, sigma, d)
        )
        for d in (1, 2, 3, 5)
    }
    of_name |= {
        f"{p}-step random walk": lambda k, p=p: formulas.alpha_p_step(k, alpha, p)
        for p in (1, 2, 3)
    }
    of_name["diffusion"] = lambda k: formulas.alpha_diffusion(k, sigma)
    of_name["inverse cosine"] = lambda k: formulas.alpha_inverse_cosine(k, quarter_pi)
    return {name: [alpha_k(k) for k in range(n)] for name, alpha_k in of_name.items()}


karate = Graph.from_networkx(datasets.graph("karate", fallback=True))
sigma, alpha = 0.25, 20.0
over_constant = [  # in the same order
    *(
        kernels.regularised_laplacian(karate, sigma, d) * (1 + sigma**2) ** d
        for d in (1, 2, 3, 5)
    ),
    *(kernels.p_step(karate, alpha, p) / (alpha - 1) ** p for p in (1, 2, 3)),
    kernels.diffusion(karate, sigma) * np.exp(sigma**2 / 2),
    kernels.inverse_cosine(karate) * np.sqrt(2),
]
W = karate.normalised().to_scipy().toarray()
powers = np.stack([np.linalg.matrix_power(W, k) for k in range(60)])
series = np.tensordot(list(coefficients(60, sigma, alpha).values()), powers, axes=1)

# %% tags=["hide-input"]
# Tolerance: 60 terms, each good to 34 units of rounding, as is the eigendecomposition.
eps = np.finfo(float).eps
ledger.decide({
    "ugrf/table-1/taylor": evidence.identity(series, over_constant, 60 * 34 * eps)
})

# %% [markdown]
# (ugrf-thm-2-2)=
# ## Theorem 2.2: the square root of a power series
#
# Which $f$ has $f * f = \alpha$? The paper answers twice. Eq. 5 is a sum over all ways
# to write $i$ as a sum of whole numbers, $k_1$ of them equal to 1, $k_2$ of them equal
# to 2, and so on:
#
# $$
# f(i) = \pm \sum_{n=0}^{i} \binom{1/2}{n}
# \sum_{\substack{k_1 + 2 k_2 + 3 k_3 + \dots = i \\ k_1 + k_2 + k_3 + \dots = n}}
# \binom{n}{k_1\, k_2\, k_3 \dots}
# \bigl( \alpha_1^{k_1} \alpha_2^{k_2} \alpha_3^{k_3} \cdots \bigr) .
# $$
#
# Eq. 6 goes term by term:
#
# $$
# f(0) = \pm \sqrt{\alpha_0} = \pm 1,
# \qquad
# f(i + 1) = \frac{\alpha_{i+1} - \sum_{p=0}^{i-1} f(i - p)\, f(p + 1)}{2 f(0)} .
# $$
#
# This second form shows that there is no other solution: once the sign of $f(0)$ is
# chosen, each value follows from those before it. For three of the four kernels Section
# 2 prints closed forms too. Fractions make the comparison exact, up to $f(14)$. The
# library's own recursion ({py:func}`rfcore.walks.modulation.from_taylor`), in
# floating point, is compared with the same numbers.

# %%
n = 15
exact = coefficients(n, Fraction(1, 4), Fraction(20), quarter_pi=Fraction(1))
eq_5 = {name: formulas.f_by_partitions(a) for name, a in exact.items()}
eq_6 = {name: formulas.f_by_iteration(a) for name, a in exact.items()}
squares = {
    name: [sum(f[i - p] * f[p] for p in range(i + 1)) for i in range(n)]
    for name, f in eq_5.items()
}
library = {
    name: modulation.from_taylor([float(a_k) for a_k in a])(np.arange(n))
    for name, a in exact.items()
}

# The closed forms are those of Table 1 without its powers, which multiply f(k) here.
forms, base = {}, {}
for d in (1, 2, 3, 5):
    name = f"{d}-regularised Laplacian"
    forms[name] = [formulas.f_regularised_laplacian(k, d) for k in range(n)]
    base[name] = Fraction(1, 17)  # 1 / (1 + sigma^-2)
for p in (1, 2, 3):
    name = f"{p}-step random walk"
    forms[name] = [formulas.f_p_step(k, p) for k in range(n)]
    base[name] = Fraction(1, 19)  # 1 / (alpha - 1)
forms["diffusion"] = [formulas.f_diffusion(k) for k in range(n)]
base["diffusion"] = Fraction(1, 32)  # sigma^2 / 2
closed = {
    name: [f_k * base[name] ** k for k, f_k in enumerate(f)]
    for name, f in forms.items()
}

# %% tags=["hide-input"]
shown = forms | {"inverse cosine": eq_6["inverse cosine"]}
lines = [
    "Ours. The first values of $f$, the powers of Table 1 set aside.\n",
    "| kernel | " + " | ".join(f"$f({k})$" for k in range(6)) + " |",
    "|---" + 6 * "|--:" + "|",
    *(
        f"| {name} | " + " | ".join(str(f_k) for f_k in f[:6]) + " |"
        for name, f in shown.items()
    ),
]
Markdown("\n".join(lines))


# %% tags=["hide-input"]
def gaps(ours, theirs):
    """Differences of two dictionaries of sequences, name by name, taken exactly."""
    return [
        float(a - b)
        for name in theirs
        for a, b in zip(ours[name], theirs[name], strict=True)
    ]


# f(0) = 1 is the largest value; the library takes n sums of up to n products.
recursions = gaps(eq_6, eq_5) + gaps(library, eq_5)
ledger.decide({
    "ugrf/thm-2.2/explicit-formula": evidence.identity(gaps(squares, exact), 0, eps),
    "ugrf/thm-2.2/iterative-formula": evidence.identity(recursions, 0, n * n * eps),
    "ugrf/thm-2.2/closed-forms": evidence.identity(gaps(eq_5, closed), 0, eps),
})

# %% [markdown]
# **How fast a modulation decays decides how noisy the estimates are.** A walker rarely
# gets far, and where it does, its load has been multiplied up accordingly. Three of the
# modulations fall by an order of magnitude or more per step, faster than loads can
# grow. The inverse cosine's falls only like $k^{-3/2}$, and its estimates have heavy
# tails
# ({ref}`as the page on their errors shows <ugrf-heavy-tail>`).

# %% tags=["hide-input"]
modulations = {
    "regularised_laplacian": modulation.regularised_laplacian(sigma, 2),
    "diffusion": modulation.diffusion(sigma),
    "inverse_cosine": modulation.inverse_cosine(),
    "p_step": modulation.p_step(alpha, 2),
}
fig, ax = plt.subplots(figsize=plotting.WIDE)
steps, lines = np.arange(13), {}
for name, f in modulations.items():
    height = np.abs(f(steps)) / np.abs(f(steps[:1]))
    seen = height > 1e-16
    (lines[plotting.LABELS[name]],) = ax.plot(
        steps[seen], height[seen], "o-", color=plotting.COLOURS[name]
    )
ax.set(yscale="log", xlabel="walk length k", ylabel="|f(k)| / f(0)", ylim=(1e-16, 100))
two_step = lines.pop(plotting.LABELS["p_step"])  # ends at once: its name goes above
above = {"color": two_step.get_color(), "va": "bottom"}
ax.text(0.25, 3, plotting.LABELS["p_step"] + " (two points)", **above)
plotting.label_ends(ax, lines)
plotting.show(
    fig,
    caption="Ours. Modulation functions of the four kernels, by absolute value, for "
    "$\\sigma = 0.25$, $\\alpha = 20$, $d = p = 2$.",
    alt="Semi-log chart of modulation against walk length 0 to 12. Diffusion and "
    "regularised Laplacian drop by orders of magnitude per step and the 2-step walk "
    "ends after one; the inverse cosine falls slowly.",
)

# %% [markdown]
# (ugrf-eq-2)=
# ## Equation 2: when is the result a kernel?
#
# A kernel must be positive semidefinite. "If $\mathcal G$ is an undirected graph [...]
# $\mathbf K_\alpha(\mathbf W)$ is positive semidefinite for any given $\alpha$ provided
# the spectral radius is sufficiently small", says Section 2, and a factor in front of
# $\mathbf W$ can see to that. How small is small? With $\alpha_0 = 1$ no eigenvalue of
# $\mathbf K_\alpha$ is below $1 - \sum_{k \ge 1} |\alpha_k|\, \rho^k$, where $\rho$ is
# the spectral radius. The radius $r$ at which this reaches zero is small enough
# ({py:func}`~companion.papers.ugrf.definiteness.definite_radius`). We try it where nothing
# else helps: random weights of both signs on the eight graphs of Figure 2, and twenty
# series with coefficients of both signs.

# %%
key = ledger.key
drawn = [
    random_graphs.erdos_renyi(key("random graphs", 0), 20, 0.2),
    random_graphs.erdos_renyi(key("random graphs", 1), 100, 0.04),
    Graph.from_networkx(nx.balanced_tree(2, 6)),
    random_graphs.regular(key("random graphs", 2), 100, 4),
]
real = [
    Graph.from_networkx(datasets.graph(name, fallback=True))
    for name in ("karate", "dolphins", "football", "eurosis")
]
rng, SCALES = ledger.rng("weights and series"), (0.5, 0.99, 1.5, 2, 3)
coefficients_tried = np.column_stack([np.ones(20), rng.uniform(-1, 1, (20, 29))])
radii = [definite_radius(a) for a in coefficients_tried]
lowest = np.empty((len(SCALES), len(drawn + real), len(radii)))
for i, g in enumerate(drawn + real):
    upper = sp.triu(g.to_scipy(), 1).tocoo()
    half = sp.coo_array((rng.uniform(-1, 1, upper.nnz), upper.coords), upper.shape)
    eigenvalues = np.linalg.eigvalsh((half + half.T).toarray())
    of_radius_one = eigenvalues / np.abs(eigenvalues).max()
    for j, (a, r) in enumerate(zip(coefficients_tried, radii, strict=True)):
        K = np.polynomial.Polynomial(a)
        lowest[:, i, j] = [K(scale * r * of_radius_one).min() for scale in SCALES]

# %% tags=["hide-input"]
plotting.table(
    100 * (lowest < 0).mean(axis=(1, 2))[None],
    rows=["indefinite"],
    columns=[f"{scale:g} r" for scale in SCALES],
    corner="spectral radius",
    unit="%",
    caption=f"Ours. Share of {lowest[0].size} power series of weights that have a "
    "negative eigenvalue.",
)
ledger.decide({
    "ugrf/eq-2/positive-semidefinite": evidence.bound(
        lowest[SCALES.index(0.99)], 0.0, side="above", exact=True
    )
})

# %% tags=["hide-input"]
ledger.close()
