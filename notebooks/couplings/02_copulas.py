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
# # How good is pairwise norm coupling? (Figure 5, Equation 34)
#
# * **Figure 5 holds.** A copula learned by noisy gradients gains what PNC gains, and
#   hardly more. There is hardly more to gain: correlations of $d$ norms share one
#   budget, and how it is spread matters little.
# * **Up to distance 1 the best Gaussian copula needs no learning**: equal correlations
#   of $-1/(d - 1)$. On three data sets it takes at most a sixth more off the error than
#   PNC does. Farther out we expected the same, and were wrong.
# * **No coupling of four norms does much better, if points are close**: PNC's error is
#   within 5 % of the best of all up to distance 1; for RFFs at distance 2 it is 11 %
#   above. Of three norms PNC leaves one alone, and RFFs could err 11 to 17 % less.
#
# **What the paper claims.** Pairwise norm coupling (PNC) is the best coupling of *two*
# norms. For more, "an analytic solution to the multi-marginal OT variance reduction
# problem is (for now) out of reach", say {cite:t}`reid2025couplings`. They learn a
# coupling instead, by gradient descent on the error of the kernel, and
# "[r]emarkably, this data-dependent optimisation does not [...] find couplings much
# better than PNC". So PNC "may already be close optimal". How close? A copula can be
# optimised without noise, and for few norms so can the coupling itself.
#
# **The idea.** A Gaussian copula (their Figure 1 draws one) takes $d$ correlated
# normals $g \sim \mathcal N(0, \Sigma)$ and pushes each through its own distribution
# function and back through the $\chi_d$ law, $w_i = F^{-1}(\Phi(g_i))$. Every norm
# keeps its law, so that features stay unbiased whatever $\Sigma$ is, and $\Sigma$ can
# be learned. PNC is one of them: correlations of $-1$ in pairs, and 0 elsewhere.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from dataclasses import replace

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure
from scipy import signal
from scipy.spatial.distance import cdist

from rfcore import couplings, datasets, evidence, features, kernels
from rfcore import models, plotting, theory
from rfcore.couplings import chi, copulas, directions
from rfcore.solvers import copula, multi_marginal

plotting.use_style()
N_STEPS, N_EVALUATED, N_NODES, N_MATRICES = {
    "paper": (400, 4000, 7, 1000),
    "quick": (80, 300, 5, 50),
}[profile]
SETS, DIMENSIONS, DISTANCES, BINS = {
    "paper": (
        ("boston", "concrete", "power"),
        (4, 8, 13),
        (0.5, 1.0, 2.0),
        {2: 12, 3: 24, 4: 18},
    ),
    "quick": (("boston", "concrete"), (4,), (1.0, 2.0), {2: 4, 3: 8, 4: 10}),
}[profile]
ledger = evidence.Ledger("couplings/02_copulas", profile)


def simplex(d):
    """Equal correlations of -1/(d - 1): those of the corners of a simplex."""
    return (d * np.eye(d) - 1) / (d - 1)


def in_pairs(d):
    """Those of PNC: -1 within pairs; an odd last norm stands alone."""
    correlation, first = np.eye(d), np.arange(0, d - 1, 2)
    correlation[first, first + 1] = correlation[first + 1, first] = -1
    return correlation


# %% [markdown]
# (couplings-eq-34)=
# ## A correlation matrix from free parameters
#
# Gradient descent wants parameters without constraints. The paper takes a lower
# triangular factor with rows of length one, so that $LL^\top$ has ones on its diagonal:
#
# $$
# L_{ij} = \theta_{ij} / s_i \ \text{ for } j \leq i, \qquad
# s_i^2 = \sum_{j \leq i} \theta_{ij}^2, \qquad \theta_{ii} = 1 .
# $$
#
# Eq. 34 prints the condition as $i \leq j$: an upper triangle, divided by the lengths
# of the lower one. And the text asks for $\theta_{ij} \in \mathbb R^+$. With positive
# parameters no entry of $L$ is negative, so no correlation is, and there is nothing
# to gain. Both are slips of the pen: the code that drew Figure 5 must have done
# otherwise, and {py:func}`rfcore.solvers.copula.correlation_factor` does.

# %%
rng = ledger.rng("parameters")
below = np.tril_indices(5, -1)
positive = rng.exponential(size=(N_MATRICES, 5, 5))
positive[:, np.arange(5), np.arange(5)] = 1
printed = [theory.printed.correlation_factor(theta) for theta in positive]
lengths = np.sum(np.square(printed), axis=2)

to_factor = jax.vmap(copula.correlation_factor)
allowed = np.asarray(to_factor(positive[:, *below]))
free = rng.normal(size=(N_MATRICES, 10))
correlations = np.asarray([L @ L.T for L in np.asarray(to_factor(free))])
lower = np.linalg.cholesky(correlations)
again = (lower / np.diagonal(lower, axis1=1, axis2=2)[..., None])[:, *below]

# %% tags=["hide-input"]
ledger.decide({
    "couplings/eq-34/printed": evidence.erratum(
        evidence.identity(lengths, 1.0, tolerance=1e-12),
        "The indices are exchanged: it must read j <= i.",
    ),
    "couplings/eq-34/positive": evidence.erratum(
        evidence.order(np.min(allowed @ allowed.mT, axis=(1, 2)), 0.0, exact=True),
        "The parameters must be real: positive ones make no negative correlation.",
    ),
    "couplings/eq-34/mended": evidence.identity(
        np.column_stack([np.diagonal(correlations, axis1=1, axis2=2), again]),
        np.column_stack([np.ones((N_MATRICES, 5)), free]),
        tolerance=1e-7,
    ),
})

# %% [markdown]
# (couplings-fig-5)=
# ## Learning a copula
#
# The loss is the root mean squared error of the Gram matrix of the training points, in
# the mean over features [Eq. 35]:
#
# $$
# \mathcal L(\theta) = \mathbb E \sqrt{ \frac1{N^2} \sum_{i,j} \bigl( \phi(x_i)^\top
# \phi(x_j) - k(x_i, x_j) \bigr)^2 } .
# $$
#
# A draw of normals is turned into norms by differentiable functions, so that the
# gradient of a sample is a sample of the gradient. Appendix B.1 gives the rest: inputs
# standardised, at most 256 points, $d$ orthogonal frequencies. The lengthscale of
# Fourier features (RFFs) makes the evidence of a Gaussian process greatest; that of
# positive features (RLFs) is twice the mean of $\lVert x_i + x_j \rVert$, and they come
# with their $d$ antiparallel vectors. Whether they did in Figure 5 is not said, nor
# are steps, step size and samples: we take 400 steps of Adam with 8 samples, and show
# RLFs without opposites too.

# %%
MAPS = {
    "RFF": features.fourier,
    "RLF": lambda x, omega: features.positive(x, couplings.antithetic(omega)),
    "RLF, no opposites": features.positive,
}
IN_THEORY = {
    "RFF": ("fourier", "none"),
    "RLF": ("positive", "equal"),
    "RLF, no opposites": ("positive", "none"),
}


def training_points(name):
    """Those of RFFs and of RLFs, over their lengthscales."""
    table = datasets.regression(name, fallback=True)
    parts = datasets.split(table, seed=0, test_fraction=0.1)
    X, y = parts.X_train[:256], parts.y_train[:256]
    by_evidence = models.gp.fit_gaussian(X, (y - y.mean()) / y.std()).lengthscale
    by_sums = 2 * cdist(X, -X).mean()
    return {name: X / (by_evidence if name == "RFF" else by_sums) for name in MAPS}


def gram_error(x, feature_map, omega):
    phi = MAPS[feature_map](x, omega)
    return jnp.sqrt(jnp.mean((phi @ phi.T - kernels.gaussian(x, x)) ** 2))


def learn(case, x, feature_map):
    d, keys = x.shape[1], jax.random.split(ledger.key("rotations", case), 2000)
    rotations = jax.jit(jax.vmap(lambda key: directions.orthogonal(key, d, d)))(keys)

    def loss(key, w):
        Q = rotations[jax.random.randint(key, (), 0, len(rotations))]
        return gram_error(x, feature_map, w[:, None] * Q)

    adam = optax.adam(optax.cosine_decay_schedule(0.05, N_STEPS))
    key = ledger.key("learning", case)
    return copula.learn(key, loss, d, N_STEPS, n_draws=8, optimiser=adam)


points = {name: training_points(name) for name in SETS}
cases = [(name, kind) for name in SETS for kind in MAPS]
cases = [(name, kind) for name, kind in cases if name == "boston" or "no" not in kind]
cases = cases if profile == "paper" else [cases[0], cases[3]]
to_learn = cases if profile == "paper" else cases[:1]
learned = {
    case: learn(i, points[case[0]][case[1]], case[1]) for i, case in enumerate(to_learn)
}

# %% [markdown]
# The mean of the *square* under the root has a closed form for every coupling of norms:
# Lemma 3.1 at every pair of points ({py:func}`rfcore.theory.gram_rmse`).

# %%
LAWS = ("independent", "stratified", "PNC", "learned", "simplex")


def expected_errors(case):
    name, kind = case
    x = points[name][kind]
    d = x.shape[1]
    laws = dict(zip(LAWS, ("independent", "stratified", "pnc"), strict=False))
    laws["learned"] = learned[case].correlation if case in learned else None
    laws["simplex"] = simplex(d)
    return np.array([
        np.nan
        if law is None
        else theory.gram_rmse(x, law, *IN_THEORY[kind], n_nodes=N_NODES)
        for law in laws.values()
    ])


expected = {case: expected_errors(case) for case in cases}


# %% [markdown]
# The loss itself, with the root inside the mean, is measured on fresh draws that share
# rotations and normals. The closed form takes most of the noise off: with $E$ the
# expected square and $r$ a draw of the root, $r - (r^2 - E) / (4 \sqrt E)$ has the mean
# of $r$ and half its deviation.

# %%
COLOURS = {"orthogonal": "orthogonal", "PNC": "orthogonal_pnc", "learned": "learned"}


def evaluate(kind):
    """Eq. 35 on Boston, a row per draw and a column per coupling of norms."""
    case = "boston", kind
    x, R, d = points["boston"][kind], learned[case].correlation, 13
    laws = [copulas.gaussian(C) for C in (np.eye(d), in_pairs(d), R)]

    def losses(key):
        key_rotation, key_norms = jax.random.split(key)
        Q = directions.orthogonal(key_rotation, d, d)
        levels = [law(copulas.uniforms(key_norms), (d, 1))[:, 0] for law in laws]
        w = chi.chi_quantile(jnp.stack(levels), d)
        return jax.lax.map(lambda w: gram_error(x, kind, w[:, None] * Q), w)

    key = ledger.key("evaluation", list(MAPS).index(kind))
    keys = jax.random.split(key, N_EVALUATED)
    drawn = evidence.in_batches(losses, keys, 50, f"{kind} on Boston")
    root = expected[case][[0, 2, 3]]
    return drawn - (drawn**2 - root**2) / (4 * root)


on_boston = {kind: evaluate(kind) for name, kind in learned if name == "boston"}

# %% tags=["hide-input"]


def smooth(losses, share=0.05):
    """Exponential moving average."""
    start = [(1 - share) * losses[:10].mean()]
    return signal.lfilter([share], [1, share - 1], losses, zi=start)[0]


def training_curve(kind):
    losses, colour = learned["boston", kind].losses, plotting.COLOURS["learned"]
    ax = Figure(figsize=plotting.PANEL).subplots()
    ax.plot(losses, color=colour, alpha=0.3, linewidth=0.6)
    (lines := {})["learned"] = ax.plot(smooth(losses), color=colour)[0]
    for i, name in ((0, "orthogonal"), (1, "PNC")):
        level, style = on_boston[kind][:, i].mean(), {"linestyle": "--"}
        style |= {"color": plotting.COLOURS[COLOURS[name]], "linewidth": 1.4}
        lines[name] = ax.plot([0, N_STEPS - 1], [level, level], **style)[0]
    ax.set(title=kind, xlabel="step", ylabel="loss (Eq. 35)")
    ax.figure.draw_without_rendering()
    plotting.label_ends(ax, lines, gap=12)
    return ax.figure


plotting.show(
    *map(training_curve, on_boston),
    caption="Paper's Figure 5. Training loss of the learned copula on Boston: the mean "
    "of 8 samples at every step, and its moving average. Dashed: losses of independent "
    "norms and of PNC.",
    alt="Very noisy curves. Their moving averages leave the dashed line of independent "
    "norms within a few steps, and then wander about the dashed line of PNC.",
)

# %% tags=["hide-input"]
decided = np.stack(
    [on_boston[kind] for kind in ("RFF", "RLF") if kind in on_boston], axis=1
)
independent, pnc, ours = np.moveaxis(decided, -1, 0)
ledger.decide({
    "couplings/fig-5/recovers": evidence.bound(
        ours - independent + 0.75 * (independent - pnc), 0.0
    ),
    "couplings/fig-5/not-much-better": evidence.bound(
        pnc - ours - 0.5 * (independent - pnc), 0.0
    ),
})

# %% [markdown]
# (couplings-best-copula)=
# ## The best Gaussian copula
#
# No descent is needed to know where it goes. The expected *squared* error is a constant
# plus the mean over pairs of norms of one function $h$ of their correlation
# ({py:func}`rfcore.theory.gram_pair_excess`), and a correlation matrix has little to
# give: since the sum of all its entries is a variance, $\mathbf 1^\top \Sigma \mathbf 1
# \geq 0$, correlations have at least the mean $-1/(d - 1)$. Suppose that a line that
# does not fall touches $h$ from below at $-1/(d - 1)$. Then
#
# $$
# \text{mean of } h(\Sigma_{ij}) \ \geq\ h\bigl(\tfrac{-1}{d - 1}\bigr) + \text{slope}
# \cdot \bigl( \text{mean of } \Sigma_{ij} + \tfrac1{d - 1} \bigr)\ \geq\
# h\bigl(\tfrac{-1}{d - 1}\bigr) ,
# $$
#
# and equal correlations $-1/(d - 1)$, those of the corners of a simplex, are the best
# of all. PNC spends the same budget (all of it for even $d$) on a few pairs. So the
# difference between the two is what $h$ bends, and it bends little: a straight line
# would not care how a budget is spread. That is the paper's "one cannot simultaneously
# anticorrelate too many random variables", as an inequality.

# %%
GRID = np.linspace(-1, 1, 200)


def supporting_slopes(h, d):
    """What the slope of such a line must be above, and below."""
    here = -1 / (d - 1)
    slopes = (h(GRID) - h(np.array([here]))) / (GRID - here)
    return max(slopes[here > GRID].max(), 0.0), slopes[here < GRID].min()


def at_distance(z, d, kind):
    return lambda r: np.exp(theory.log_pair_excess(r, z, d, kind))


at = [
    (z, d, kind)
    for z in DISTANCES
    for d in DIMENSIONS
    for kind in ("fourier", "positive")
]
slopes = np.array([supporting_slopes(at_distance(*case), case[1]) for case in at])
found, claimed = np.array([
    (
        copula.optimal(ledger.key("start", i), *case).ratio,
        theory.norm_coupling_ratio(*case[:2], case[1], simplex(case[1]), case[2]),
    )
    for i, case in enumerate(at)
    if case[1] < 13
]).T

opposed = np.outer([1, -1, 1, -1], [1, -1, 1, -1])  # two equal against two equal
far = np.array([
    theory.norm_coupling_ratio(2.0, 4, 4, law, "fourier")
    for law in (opposed, "pnc", simplex(4))
])

# %% [markdown]
# The same for data, with $h$ averaged over all pairs of training points.


# %%
def on_data(case):
    x = points[case[0]][case[1]]
    return lambda r: theory.gram_pair_excess(x, r, IN_THEORY[case[1]][0], N_NODES)


errors = np.array(list(expected.values()))
plain = [i for i, (_, kind) in enumerate(cases) if kind in ("RFF", "RLF")]
of_data = np.array([
    supporting_slopes(on_data(cases[i]), points[cases[i][0]]["RFF"].shape[1])
    for i in plain
])

# %% tags=["hide-input"]
case = "boston", "RFF"
d = points["boston"]["RFF"].shape[1]
h = on_data(case)(GRID)
left = Figure(figsize=plotting.PANEL).subplots()
unit = on_data(case)(np.array([0.0]))
left.plot(GRID, h / unit, color=plotting.COLOURS["learned"])
line = np.interp(-1 / (d - 1), GRID, h) + of_data[0, 1] * (GRID + 1 / (d - 1))
left.plot(GRID, line / unit, "--", color=plotting.COLOURS["simplex"], linewidth=1.2)
left.plot(
    -1 / (d - 1),
    np.interp(-1 / (d - 1), GRID, h) / unit,
    "o",
    color=plotting.COLOURS["simplex"],
)
left.set(
    xlabel="correlation of two norms",
    ylabel="cost of the pair",
    title="Cost of a pair, RFF on Boston",
)
right = Figure(figsize=plotting.PANEL).subplots()
shown = np.where(np.eye(d) == 1, np.nan, learned[case].correlation)
image = right.pcolormesh(shown, cmap="PuOr", vmin=-0.5, vmax=0.5)
right.set(aspect="equal", xticks=[], yticks=[], title="Learned correlations")
right.figure.colorbar(image, ax=right)
plotting.show(
    left.figure,
    right.figure,
    caption="Ours. Left: cost of a pair of norms against the correlation of their "
    "normals, averaged over Boston, over that of an independent pair. Dashed: the "
    "line that touches it at $-1/(d - 1)$. Right: what was learned.",
    alt="A rising curve, so straight that a dashed line which touches it left of zero "
    "covers it. A checkered square of pale colours, most of them negative.",
)


# %% tags=["hide-input"]
def budget(case):
    """The sum of a learned matrix's correlations, over the least that there can be."""
    if case not in learned:
        return np.nan
    R = learned[case].correlation
    return 1 - R.sum() / len(R)


plotting.table(
    100 * np.column_stack([errors / errors[:, :1], list(map(budget, cases))]),
    rows=[f"{name}, {kind}" for name, kind in cases],
    columns=(*LAWS, "budget"),
    unit="percent",
    caption="Ours. Expected root mean squared error of the Gram matrix of the training "
    "points over that with independent norms, in closed form; and how much of the "
    "budget of negative correlation the learned copula spends.",
)
share = (errors[:, :1] - errors) / (errors[:, :1] - errors[:, 2:3])

# %% tags=["hide-input"]
certificate = evidence.order(*of_data.T, exact=True)
if not certificate.verdict.green:  # the line suffices, and is not necessary
    why = "A missing line does not mean that there is a better copula."
    certificate = replace(certificate, verdict="inconclusive", why=why)
ledger.decide({
    "couplings/extra-best-copula/simplex": evidence.order(*slopes.T, exact=True),
    "couplings/extra-best-copula/near": evidence.order(
        *slopes[[case[0] < 2 for case in at]].T, exact=True
    ),
    "couplings/extra-best-copula/far": evidence.order(far[:2], far[1:], exact=True),
    "couplings/extra-best-copula/descent": evidence.bound(
        found, claimed * (1 - 1e-6), side="above", exact=True
    ),
    "couplings/extra-best-copula/on-data": certificate,
    "couplings/extra-best-copula/beats-pnc": evidence.order(
        errors[plain, 4], errors[plain, 2], exact=True
    ),
    "couplings/extra-best-copula/little": evidence.bound(
        share[plain, 4], 1.2, exact=True
    ),
})

# %% [markdown]
# Up to distance 1 the line exists in every case. At distance 2 it does not for Fourier
# features in four dimensions. Their cost is convex in the squared norms only up to
# $z \sqrt{w_1^2 + w_2^2} = 6.4$ ({py:func}`rfcore.theory.fourier_convex_radius`); a
# typical pair now stands at $2 \sqrt 8 = 5.7$. There $h$ bends down, and the budget is
# best spent on extremes: two equal norms against two equal ones. On concrete, where
# all distances mix, the bends cancel so well that no line exists for Fourier features,
# and the argument is silent.
#
# The table has more lessons. What was learned looks like no simplex: its correlations
# scatter widely, since where $h$ is straight only their sum matters, and the noise of
# the gradient blurs the rest. Learned copulas stop short of the simplex, by up to a
# point and a half; for RLFs without opposites, whose error norms hardly touch, nearly
# everything drowns in that noise. And norms that are simply
# *stratified*, one in each of $d$ cells of equal probability, have nothing to learn,
# do about as well as PNC everywhere, and best of all on Boston.

# %% [markdown]
# (couplings-norm-bound)=
# ## What any coupling of the norms could do
#
# Gaussian copulas are a small family. For few norms we can do without it: cut the
# $\chi_d$ law into bins of equal probability, and the coupling that costs least is a
# linear programme ({py:func}`rfcore.solvers.multi_marginal.norm_bound`). Its unknowns
# are not $k^m$ but one weight per multiset of bins, because the cost knows no order.
# With independent places within the bins its optimum is the error of a coupling that
# exists; with opposite places for every pair at once it is an optimistic estimate. The
# best of all couplings lies at most at the first, and about at the second.

# %%
BOUNDED = [
    (d, z, kind) for d in (2, 3, 4) for kind in ("RFF", "RLF") for z in DISTANCES
]
NAMES = ("independent", "stratified", "PNC", "simplex copula", "achieved", "optimistic")


def bounded(d, z, kind):
    """Squared errors over those of IID frequencies: four laws, the programme's two."""
    map_ = {"RFF": "fourier", "RLF": "positive"}[kind]
    laws = ("independent", "stratified", "pnc", simplex(d))
    ratios = [theory.norm_coupling_ratio(z, d, d, law, map_) for law in laws]
    ratios += multi_marginal.norm_bound(z, d, d, map_, BINS[d])[:2]
    return ratios if kind == "RFF" else [theory.cosh_ratio(r, z) for r in ratios]


squares = np.array([bounded(*case) for case in BOUNDED])
relative = dict(zip(BOUNDED, np.sqrt(squares), strict=True))

# %% tags=["hide-input"]
four = [case for case in BOUNDED if case[0] == 4]
plotting.show(
    plotting.bars(
        np.array([relative[case][[0, 1, 2, 3, 5]] for case in four]),
        rows=[f"{kind}, distance {z:g}" for _, z, kind in four],
        columns={
            "independent norms": "orthogonal",
            "stratified": "stratified",
            "PNC": "orthogonal_pnc",
            "simplex copula": "orthogonal_copula",
            "any coupling": "fault",
        },
        x_label="RMSE over that of IID frequencies",
    ),
    caption="Ours. Four orthogonal frequencies in four dimensions, at three distances: "
    "errors under couplings of their norms, and what the best of all could do.",
    alt="Rows of dots. Independent norms lie to the right; stratified norms, PNC and "
    "the simplex copula lie together at the left; the best of all couplings lies a "
    "little farther left, and much farther for RFFs at distance 2.",
)

# %% tags=["hide-input"]
plotting.table(
    squares**0.5,
    rows=[f"d = m = {d}, {kind}, {z:g}" for d, z, kind in BOUNDED],
    columns=NAMES,
    caption="Ours. Root mean squared error over that of IID frequencies (RLFs: with "
    "opposites, on both sides), by closed forms and linear programmes.",
)

# %% tags=["hide-input"]
two = np.array([squares[i] for i, case in enumerate(BOUNDED) if case[0] == 2])
odd = np.array([
    relative[case]
    for case in BOUNDED
    if case[0] == 3 and case[1] < 2 and case[2] == "RFF"
])
even = np.array([relative[case] for case in four])
chain = even[:, [0, 2, 3, 4]]
both = np.column_stack([chain, 1.05 * even[:, 5]])
near = both[[z < 2 for _, z, _ in four]]
ledger.decide({
    "couplings/extra-norm-bound/near": evidence.order(
        near[:, [1, 2, 3, 1]], near[:, [0, 1, 2, 4]], exact=True
    ),
    "couplings/extra-norm-bound/two": evidence.identity(
        two[:, 5], two[:, 2], tolerance=1e-6
    ),
    "couplings/extra-norm-bound/even": evidence.bound(
        even[:, 2] / even[:, 5], 1.05, exact=True
    ),
    "couplings/extra-norm-bound/odd": evidence.bound(
        odd[:, 4] / odd[:, 2], 0.9, exact=True
    ),
    "couplings/extra-norm-bound/chain": evidence.order(
        chain[:, 1:], chain[:, :-1], exact=True
    ),
})

# %% [markdown]
# Two norms: PNC is optimal, as Theorem 3.2 says, and the programme knows. Four norms,
# close points: PNC takes off seven to nine tenths of what any coupling could. Three
# norms: a pair and a lonely one are no good team. A simplex copula treats all alike,
# and up to distance 1 closes some two thirds of the gap or more. Far points: for RFFs
# the theorem asks for "sufficiently small" $z$, and here one sees why; what is best
# there is neither PNC nor a simplex.

# %% tags=["hide-input"]
ledger.close()
