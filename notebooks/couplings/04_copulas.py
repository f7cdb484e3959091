# %% [markdown]
# # What does a learned copula find? (Figure 5, Equation 34)
#
# * **Figure 5 holds.** A copula learned from noisy gradients gains what pairwise norm
#   coupling (PNC) gains, and hardly more: on Boston, as the paper shows, and on two
#   more sets.
# * **There is hardly more to gain.** No learned copula is better than equal
#   correlations of $-1/(d - 1)$, which need no learning ({doc}`05_best_norm_coupling`
#   says why).
# * **Equation 34 needs two corrections**: its indices are exchanged, and its
#   parameters, being positive, allow no negative correlation. Once corrected, it has
#   PNC as a limit.
#
# **What the paper claims.** PNC is the best coupling of *two* norms. For more than two
# no analytic solution is known, and {cite:t}`reid2025couplings` learn a coupling by
# gradient descent on the error of the kernel. "[r]emarkably, this [...] does not [...]
# find couplings much better than PNC".
#
# **The idea.** A Gaussian copula (their Figure 1 draws one) takes $d$ correlated
# normals $g \sim \mathcal N(0, \Sigma)$ and pushes each through its own distribution
# function and then through the inverse of that of the $\chi_d$ law,
# $w_i = F^{-1}(\Phi(g_i))$. Every norm keeps its distribution, so that features stay
# unbiased whatever $\Sigma$ is, and $\Sigma$ can be learned. PNC is such a copula, with
# correlations of $-1$ within pairs and 0 elsewhere.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import numpy as np
import optax
from matplotlib.figure import Figure
from scipy import signal
from scipy.spatial.distance import cdist

from companion import datasets, evidence, plotting
from companion.models import gaussian_processes
from companion.papers.couplings import copula, formulas, gram_norms
from rfcore import copulas, couplings, features, kernels
from rfcore.couplings import directions, norms

ledger = evidence.open_page("couplings/04_copulas", profile)
SETS, N_STEPS, N_EVALUATED, N_NODES, N_MATRICES = {
    "paper": (("boston", "concrete", "power"), 400, 4000, 7, 1000),
    "quick": (("boston",), 80, 300, 5, 50),
}[profile]


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
# Eq. 34 prints $i \leq j$: an upper triangle, divided by the lengths of the lower one.
# And with $\theta_{ij} \in \mathbb R^+$, as the text asks, no entry of $L$ is negative,
# and neither is any correlation. Both are slips of the pen: the code behind Figure 5
# must differ, and our {py:func}`~companion.papers.couplings.copula.correlation_factor`
# does. Even with both corrected, PNC is only a limit: as $L_{ii} = 1/s_i$ is not zero,
# $\Sigma$ is positive *definite*, as Definition A.7 asks, and that of PNC is singular.
# For two norms $1 + \Sigma_{12}$ falls like $1/(2 \theta_{21}^2)$.

# %%
rng = ledger.rng("parameters")
below = np.tril_indices(5, -1)
positive = rng.exponential(size=(N_MATRICES, 5, 5))
positive[:, np.arange(5), np.arange(5)] = 1
printed = [formulas.correlation_factor(theta) for theta in positive]
lengths = np.sum(np.square(printed), axis=2)

to_factor = jax.vmap(copula.correlation_factor)
allowed = np.asarray(to_factor(positive[:, *below]))
free = rng.normal(size=(N_MATRICES, 10))
correlations = np.asarray([L @ L.T for L in np.asarray(to_factor(free))])
lower = np.linalg.cholesky(correlations)
again = (lower / np.diagonal(lower, axis1=1, axis2=2)[..., None])[:, *below]
two = np.asarray(to_factor(-(10.0 ** np.arange(4))[:, None]))  # theta = -1 ... -1000
above = 1 + min(correlations.min(), (two @ two.mT).min())

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
    "couplings/eq-34/pnc": evidence.erratum(
        evidence.bound(above, 0.0, exact=True),
        "L L^T is positive definite: the correlation of PNC, -1, is only a limit.",
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
# The loss is the root mean squared error of the Gram matrix of the training points, $(
# \frac1{N^2} \sum_{i,j} ( \phi(x_i)^\top \phi(x_j) - k(x_i, x_j) )^2 )^{1/2}$, averaged
# over draws of the features [Eq. 35]. A draw of normals is turned into norms by
# differentiable functions, so that the gradient of a sample is a sample of the
# gradient. Appendix B.1 gives the rest: inputs standardised, at most 256 points, $d$
# orthogonal frequencies. For Fourier features (RFFs) the lengthscale maximises the
# evidence of a Gaussian process; for positive features (RLFs) it is twice the mean of
# $\lVert x_i + x_j \rVert$, and these come with their $d$ antiparallel vectors. Whether
# they did in Figure 5 is not said, nor are the steps, the step size and the number of
# samples: we take 400 steps of Adam, 8 samples, and show RLFs without opposites too.

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
    fit = gaussian_processes.fit_gaussian(X, (y - y.mean()) / y.std())
    by_evidence = fit.lengthscale
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
cases = cases if profile == "paper" else cases[:1]
learned = {c: learn(i, points[c[0]][c[1]], c[1]) for i, c in enumerate(cases)}

# %% [markdown]
# The mean of the *square* under the root has a closed form for every coupling of norms:
# Lemma 3.1 at every pair of points
# ({py:func}`~companion.papers.couplings.gram_norms.gram_rmse`).

# %%
LAWS = ("independent", "stratified", "PNC", "learned", "simplex")


def expected_errors(case):
    x, R = points[case[0]][case[1]], learned[case].correlation
    laws = ("independent", "stratified", "pnc", R, simplex(x.shape[1]))
    kind = IN_THEORY[case[1]]
    return np.array([
        gram_norms.gram_rmse(x, law, *kind, n_nodes=N_NODES) for law in laws
    ])


expected = {case: expected_errors(case) for case in cases}

# %% [markdown]
# The loss itself, with the root inside the mean, is measured on fresh draws that share
# rotations and normals. The closed form removes most of the noise: with $E$ the
# expected square and $r$ a draw of the root, $r - (r^2 - E) / (4 \sqrt E)$ has the mean
# of $r$ and half its standard deviation.


# %%
def evaluate(kind):
    """Eq. 35 on Boston, a row per draw and a column per coupling of norms."""
    x, R, d = points["boston"][kind], learned["boston", kind].correlation, 13
    laws = [copulas.gaussian(C) for C in (np.eye(d), in_pairs(d), R)]

    def losses(key):
        key_rotation, key_norms = jax.random.split(key)
        Q = directions.orthogonal(key_rotation, d, d)
        levels = [law(copulas.uniforms(key_norms), (d, 1))[:, 0] for law in laws]
        w = norms.chi(jnp.stack(levels), d)
        return jax.lax.map(lambda w: gram_error(x, kind, w[:, None] * Q), w)

    key = ledger.key("evaluation", list(MAPS).index(kind))
    keys = jax.random.split(key, N_EVALUATED)
    drawn = evidence.in_batches(losses, keys, 50, f"{kind} on Boston")
    root = expected["boston", kind][[0, 2, 3]]
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
    shown = {"orthogonal": "orthogonal", "PNC": "orthogonal_pnc"}
    for i, (name, colour) in enumerate(shown.items()):
        level, style = on_boston[kind][:, i].mean(), {"color": plotting.COLOURS[colour]}
        both = [0, N_STEPS - 1], [level, level]
        lines[name] = ax.plot(*both, "--", **style, linewidth=1.4)[0]
    ax.set(title=kind, xlabel="step", ylabel="loss (Eq. 35)")
    ax.set_ylim(losses.min(), np.quantile(losses, 0.985))
    ax.figure.draw_without_rendering()
    plotting.label_ends(ax, lines, gap=12)
    return ax.figure


plotting.show(
    *map(training_curve, on_boston),
    caption="Re-run: Figure 5. Training loss of the learned copula on Boston: the mean "
    "of 8 samples at every step, and its moving average. Dashed: losses of orthogonal "
    "frequencies with independent norms, and with PNC. The highest spikes are cut off.",
    alt="Very noisy curves. From the first steps on their moving averages lie about "
    "the dashed line of PNC, mostly below that of independent norms; for RLFs without "
    "opposites the two dashed lines coincide.",
)

# %% tags=["hide-input"]
decided = np.stack([on_boston[k] for k in on_boston if "no" not in k], axis=1)
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
# (couplings-learned-copula)=
# ## What was learned, on three sets
#
# A correlation matrix has a budget: the sum of its entries is a variance, so its
# correlations sum to at least $-d$. PNC spends it on a few pairs, equal correlations
# spend it on all pairs. What was learned scatters widely: the cost of a pair is almost
# linear in its correlation, so that hardly anything but their sum matters.

# %% tags=["hide-input"]
errors = np.array([expected[case] for case in cases])
budget = [1 - learned[case].correlation.mean(axis=0).sum() for case in cases]
over, rows = errors / errors[:, :1], [f"{name}, {kind}" for name, kind in cases]
plotting.table(
    100 * np.column_stack([over, budget]),
    rows=rows,
    columns=(*LAWS, "budget"),
    corner="data set, features",
    unit="percent",
    caption="Ours. Expected root mean squared error of the Gram matrix of the training "
    "points over that with independent norms, in closed form; and how much of the "
    "budget of negative correlation the learned copula spends.",
)
columns = ("orthogonal_pnc", "learned", "orthogonal_copula")
found = learned["boston", "RFF"].correlation[~np.eye(13, dtype=bool)]
plotting.show(
    plotting.bars(
        over[:, 2:],
        rows=rows,
        columns=dict(zip(("PNC", "learned", "simplex copula"), columns, strict=True)),
        x_label="error over that with independent norms",
    ),
    caption="Ours. What learning buys: the learned copula has the error of PNC, and "
    "nowhere less than the simplex copula, whose correlations are all equal and need "
    f"no learning. Those learned on Boston, RFF, lie between {found.min():.1f} and "
    f"{found.max():.1f}.",
    alt="Three dots in each of seven rows, all left of 1: from 81.5 to 96.2 per cent, "
    "but for RLFs without opposites, where they are nearly at 1. In each row the three "
    "nearly coincide; the simplex copula is leftmost.",
)
if profile == "paper":  # what is said of the figure
    assert np.ptp(over[:, 2:], axis=1).max() < 0.02
    assert np.all(over[:, 4] < over[:, 2:4].T)

# %% tags=["hide-input"]
plain = [i for i, c in enumerate(cases) if "no" not in c[1]]
gains = errors[plain, :1] - errors[plain]
ledger.decide({
    "couplings/extra-learned-copula/three-sets": evidence.bound(
        np.abs(gains[:, 3] / gains[:, 2] - 1), 0.25, exact=True
    ),
    "couplings/extra-learned-copula/equal-correlations": evidence.order(
        errors[plain, 4], errors[plain, 3], exact=True
    ),
})

# %% [markdown]
# Learned copulas stop up to one and a half points short of equal correlations
# ("simplex"). For RLFs without opposites, most of what little there is to gain is lost
# in the noise. Norms that are simply *stratified*, one in each of $d$ cells of equal
# probability, do about as well as PNC everywhere, without any learning, and best of all
# on Boston.

# %% tags=["hide-input"]
ledger.close()
