# %% [markdown]
# # The best coupling of two walks (Theorem D.1, Table 5)
#
# * **It is known in closed form**: levels $u$ and $1 - u$. No joint distribution (law)
#   of two lengths gives any kernel value a smaller variance, on any graph, if neither
#   weights nor modulation are negative.
# * **Permutations approach it**, for walks too: Theorem D.1 says so for continuous
#   variables only, and lengths are discrete.
# * **Table 5 means the normalised Laplacian.** With the one that it prints, two of its
#   four forms are not kernels.
#
# **What the paper claims.** {cite:t}`reid2025couplings` seek, among permutations of $n$
# quantile bins, the coupling of the lengths of two walks that has the least variance.
# Theorem D.1 says that nothing is lost by this in the limit: for a continuous variable
# $X$ and a continuous function $f$, permutations come arbitrarily near the joint law of
# least $\mathbb{E}\, f(X_1) f(X_2)$. For walks "not all the assumptions (...) hold",
# the authors add. Table 5 lists the graph kernels that walks are to estimate.
#
# **What is known.** The bound below is that of Fréchet and Hoeffding
# {cite:p}`nelsen2006introduction`, and that it gives monotone functions of two levels
# their least covariance is why antithetic variates work {cite:p}`whitt1976bivariate`.
# New is that features of walks, whose hops are random too, come under it in all entries
# at once.
#
# **The idea.** Two levels $u_1, u_2$ that are uniform on $[0, 1]$ exceed $a$ and $b$
# together with a probability of at least $\max(0, 1 - a - b)$, whatever their joint
# law. For $u_2 = 1 - u_1$ the probability is exactly that, for all $a$ and $b$ at once.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from itertools import permutations

import networkx
import numpy as np
from scipy.linalg import expm
from scipy.special import ndtri
from tqdm import tqdm

from companion import datasets, evidence, plotting
from rfcore import kernels, theory
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.solvers import transport

ledger = evidence.open_page("couplings/16_best_coupling", profile)
GRAPHS, N_RANDOM = {
    "paper": (("karate", "dolphins", "football"), 200),
    "quick": (("karate", "dolphins"), 40),
}[profile]
P_HALTS, N_TERMS = np.arange(1, 6) / 10, 30

# %% [markdown]
# (couplings-best-of-all)=
# ## No coupling does better
#
# Let $A(i) = \mathbb{E}\, \phi(i) \phi(i)^\top$, with independent hops. The second
# moment of $\phi(i) \cdot \phi(j)$, the product of two independent features, is
# $\sum_{ab} A_{ab}(i) A_{ab}(j)$, and for two walks
#
# $$
# \begin{aligned}
# A_{ab}(i) &= \text{what one walk has}
# + \tfrac12 \sum_{k, l} f(k) f(l) \, K_{kl} \, (W^k)_{ia} (W^l)_{ib} , \\
# K_{kl} &= \frac{\mathrm{P}(\ell_1 \geq k, \ell_2 \geq l)}{\mathrm{P}(\ell_1 \geq k)
# \mathrm{P}(\ell_2 \geq l)} .
# \end{aligned}
# $$
#
# A coupling enters through $K$ alone ({py:func}`rfcore.theory.joint_survival`). If
# neither the weights $W$ nor the modulation $f$ have negative values, every term is an
# increasing function of every $K_{kl}$. Levels $u$ and $1 - u$, the *reversal*, make
# all $K_{kl}$ as small as any joint law can (the bound of Fréchet and Hoeffding). Their
# variance is therefore the least, for every pair of nodes: they solve Eq. 12, of
# which Eqs 13, 55 and 56 are successive simplifications.

# %%
graphs = {
    name: Graph.from_networkx(datasets.graph(name, fallback=True)) for name in GRAPHS
}
walked = {name: graph.normalised() for name, graph in graphs.items()}
POSITIVE = {
    "regularised_laplacian": modulation.regularised_laplacian(sigma=1.0, d=2),
    "diffusion": modulation.diffusion(1.0),
    "p_step": modulation.p_step(alpha=2.0, p=2),
}


def reversal(n):
    """Of n bins."""
    return np.arange(n)[::-1]


rng = ledger.rng("permutations")
others = [rng.permutation(rng.integers(2, 31)) for _ in range(N_RANDOM)]
below, ratios = [], []
for p in tqdm(P_HALTS, desc="p_halt", leave=False):
    least = theory.joint_survival("reversal", 2, p, N_TERMS)
    laws = ["iid", "antithetic", reversal(30), *others]
    below += [least - theory.joint_survival(law, 2, p, N_TERMS) for law in laws]
    for g in walked.values():
        for f in POSITIVE.values():
            mses = theory.walk_gram_mses(
                g, f, f, 2, p, ["reversal", *laws[:23]], n_terms=N_TERMS
            )
            ratios.append(mses[0] / mses[1:])

# %% [markdown]
# The sign is needed. A three-step random walk has a modulation with negative values:
# $(1 + x)^{3/2}$ is not a polynomial, and its coefficients alternate in sign from the
# third power on. All permutations of six bins are tried at $p_{\text{halt}} = 0.3$.

# %%
three_step = modulation.p_step(alpha=2.0, p=3)
f = modulation.from_values(three_step(np.arange(N_TERMS)))  # of the rest no sum ends
sixes = [list(sigma) for sigma in permutations(range(6))]
signed = np.array([
    theory.walk_gram_mses(g, f, f, 2, 0.3, ["reversal", *sixes], n_terms=N_TERMS)
    for g in tqdm(walked.values(), desc="permutations", leave=False)
])

# %% tags=["hide-input"]
ledger.decide({
    "couplings/extra-best-of-all/frechet": evidence.bound(
        below, 1e-9, exact=True, only_rounding=True
    ),
    "couplings/extra-best-of-all/error": evidence.bound(ratios, 1 + 1e-9, exact=True),
    "couplings/extra-best-of-all/sign": evidence.order(
        signed[:, 1:].min(axis=1), signed[:, 0], exact=True
    ),
})

# %% [markdown]
# (couplings-table-5)=
# ## Table 5: four kernels
#
# The table prints their forms (in the code below), and exponential and cosine as power
# series of matrices. They are computed as printed, by products, inverses and
# exponentials of matrices, and compared with {py:mod}`rfcore.kernels`, which takes
# functions of eigenvalues, and with the power series in the weights $W = I - \widetilde
# L$, with $\widetilde L$ the normalised Laplacian, that walks sum: its coefficients are
# $f * f$.


# %%
def forms(L):
    """As printed, with sigma = 1, d = 2, alpha = 2 and p = 3."""
    one = np.eye(len(L))
    return {
        "regularised Laplacian": np.linalg.matrix_power(np.linalg.inv(one + L), 2),
        "3-step random walk": np.linalg.matrix_power(2 * one - L, 3),
        "diffusion": expm(-L / 2),
        "inverse cosine": expm(1j * np.pi / 4 * L).real,
    }


def laplacians(graph):
    """Of Eq. 47, and of Eq. 48."""
    W = graph.to_scipy().toarray()
    degrees = W.sum(axis=1)
    L = np.diag(degrees) - W
    return L, L / np.sqrt(np.outer(degrees, degrees))


MODULATIONS = (
    modulation.regularised_laplacian(sigma=1.0, d=2),
    modulation.p_step(alpha=2.0, p=3),
    modulation.diffusion(1.0),
    modulation.inverse_cosine(),
)
as_kernels, as_series = [], []
for g in list(graphs.values())[:2]:
    ours = (
        kernels.regularised_laplacian(g, sigma=1.0, d=2),
        kernels.p_step(g, alpha=2.0, p=3),
        kernels.diffusion(g, sigma=1.0),
        kernels.inverse_cosine(g),
    )
    printed = forms(laplacians(g)[1]).values()
    for form, ours_of_it, f in zip(printed, ours, MODULATIONS, strict=True):
        series = kernels.power_series(
            g.normalised(), modulation.to_taylor(f, n_terms=200)
        )
        as_kernels.append(np.abs(ours_of_it - form).max() / np.abs(form).max())
        as_series.append(np.abs(series - form).max() / np.abs(form).max())
path = Graph.from_networkx(networkx.path_graph(20))
eigenvalues = np.array([
    [np.linalg.eigvalsh(form)[0] for form in forms(L).values()]
    for L in (
        laplacians(graphs["karate"])[0],
        *(laplacians(g)[1] for g in (path, graphs["karate"], graphs["dolphins"])),
    )
])

# %% tags=["hide-input"]
least = [np.min(np.asarray(f(np.arange(N_TERMS)))) for f in MODULATIONS]
plotting.table(
    np.stack([least, *np.where(np.abs(eigenvalues) < 1e-12, 0, eigenvalues)[2::-1]], 1),
    rows=list(forms(np.eye(2))),
    columns=["least f(k)", "karate, Eq. 48", "path, Eq. 48", "karate, Eq. 47"],
    corner="kernel",
    caption="Ours. The least value of the modulation over 30 steps, and least "
    "eigenvalues of the printed forms with the normalised Laplacian (Eq. 48) and with "
    "the one that is not (Eq. 47).",
)
ledger.decide({
    "couplings/table-5/forms": evidence.identity(as_kernels, 0.0, 1e-12),
    "couplings/table-5/series": evidence.identity(as_series, 0.0, 1e-12),
    "couplings/table-5/positive": evidence.bound(
        eigenvalues[1:], -1e-9, side="above", exact=True, only_rounding=True
    ),
    "couplings/table-5/unnormalised": evidence.erratum(
        evidence.bound(eigenvalues[0], -1e-9, side="above", exact=True),
        "The spectrum of L = D - W reaches beyond 2; the normalised one does not.",
    ),
})

# %% [markdown]
# The proof above covers the first and the third form, and random walks of an even
# number of steps; the modulation of the cosine has negative values.
#
# (couplings-thm-D.1)=
# ## Theorem D.1: the limit of many bins
#
# For a normal $X$ the cost of a permutation is
# $\frac1n \sum_q \bar f_q \bar f_{\sigma(q)}$, with $\bar f_q$ the mean of $f$ over bin
# $q$. The best permutation is an assignment, and the optimal coupling pairs the sorted
# values of $f$ with the same values in reverse order. Of the two $f$ tried, $e^{x / 2}$
# is monotone and $x + \sin 3x$ is not. For an even function, such as $x^2$, "the"
# optimal coupling would not be one: the signs of $X_1$ and $X_2$ are free.

# %%
orders = 2 ** np.arange(2, 10)
levels = (np.arange(2**17) + 0.5) / 2**17
FUNCTIONS = {
    "exp(x / 2)": lambda x: np.exp(x / 2),
    "x + sin 3x": lambda x: x + np.sin(3 * x),
}
gaps = np.empty((len(FUNCTIONS), len(orders)))
for i, function in enumerate(FUNCTIONS.values()):
    values = function(ndtri(levels))
    in_order = np.sort(values)
    optimum = np.mean(in_order * in_order[::-1])
    for j, n in enumerate(orders):
        means = values.reshape(n, -1).mean(axis=1)
        sigma = transport.assignment(np.outer(means, means))
        gaps[i, j] = (np.mean(means * means[sigma]) - optimum) / values.var()


def cdf_gap(sigma):
    """Largest difference of the joint CDFs of tiles and of midpoints, on half cells."""
    n = len(sigma)
    x, q = np.arange(2 * n + 1)[:, None] / 2, np.arange(n)
    parts, counts = np.clip(x - q, 0, 1), (x >= q + 0.5).astype(float)
    tiles, points = (m @ m[:, np.argsort(sigma)].T / n for m in (parts, counts))
    here = np.abs(tiles - points).max()  # points are constant up to the next corner
    return max(here, np.abs(tiles[1:, 1:] - points[:-1, :-1]).max())


rng = ledger.rng("tiles")
cdf_gaps = [n * cdf_gap(rng.permutation(n)) for n in orders[:5] // 2 for _ in range(20)]

# %% tags=["hide-input"]
plotting.show_panels(
    orders,
    np.stack([gaps, gaps]),
    lines=dict(zip(FUNCTIONS, ("first", "second"), strict=True)),
    x_label="bins n",
    y_label="excess over the optimum",
    guide=-1.0,
    caption="Ours. Mean product under the best permutation of n bins minus that of the "
    "optimal coupling, over the variance of f(X).",
    alt="Two lines fall on logarithmic axes, from a tenth and more at 4 bins to below "
    "a thousandth at 512; in the end with a slope near -1.",
)
ledger.decide({
    "couplings/thm-D.1/converges": evidence.bound(gaps[:, -1], 0.001, exact=True),
    "couplings/thm-D.1/falls": evidence.order(gaps[:, 1:], gaps[:, :-1], exact=True),
    "couplings/thm-D.1/cdf": evidence.bound(cdf_gaps, 1 + 1e-9, exact=True),
})

# %% [markdown]
# (couplings-bins)=
# ## How many bins for walks
#
# Lengths are whole numbers, which the theorem excludes. Where a bin begins and ends
# within the walks of one length, its tile mixes that length with the next.

# %%
f = POSITIVE["regularised_laplacian"]
n_bins = 2 ** np.arange(1, 10)
share, over = np.empty((2, len(graphs), len(P_HALTS), len(n_bins) + 1))
for i, g in enumerate(walked.values()):
    for j, p in enumerate(P_HALTS):
        laws = ["iid", "reversal", reversal(10), *(reversal(n) for n in n_bins)]
        iid, best, *of_bins = theory.walk_gram_mses(
            g, f, f, 2, p, laws, n_terms=N_TERMS
        )
        share[i, j] = (iid - np.array(of_bins)) / (iid - best)
        over[i, j] = np.array(of_bins) / best

# %% tags=["hide-input"]
plotting.show_panels(
    n_bins[:6],
    np.stack(2 * [share[:, ::2, 1:7]]),
    panels=[f"{name}, N = {g.n_nodes}" for name, g in graphs.items()],
    lines={"0.1": "first", "0.3": "second", "0.5": "third"},  # P_HALTS[::2]
    x_label="bins n",
    y_label="share of the best gain",
    log="x",
    caption="Ours. What the reversal of n bins takes off the mean squared error of "
    "independent walks, over what the best coupling takes off, for p_halt = 0.1, 0.3 "
    "and 0.5. Exact.",
    alt="A panel per graph. Curves rise to one within sixteen bins; that of 0.5 is one "
    "from the start.",
)
ledger.decide({
    "couplings/extra-bins/ten": evidence.bound(
        share[..., 0], 0.9, side="above", exact=True
    ),
    "couplings/extra-bins/limit": evidence.bound(over[..., -1], 1.001, exact=True),
})

# %% tags=["hide-input"]
ledger.close()
