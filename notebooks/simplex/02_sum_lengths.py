# %% [markdown]
# # Sums of two frequencies (Figure 5, Theorem 4.3, Lemmas 4.1 and 4.2)
#
# * **Coupling cuts off the long sums.** Any length beyond the upper quartile of
#   independent frequencies is exceeded less often by orthogonal ones, and least often
#   by simplex ones.
# * **All closed forms hold**: the density of the length, and the mean over it that is
#   the conformity, agree with draws and with integrals computed in other ways.
# * **One misprinted line and one warning.** The first line of Equation 56 gets two
#   square roots wrong; Equation 24 is right, but must not be summed as it stands.
#
# **What the paper claims.** The error of positive features depends on one mean over the
# length $w_{ij} = \lVert \omega_i + \omega_j \rVert$ of the sum of a pair, the
# conformity $\rho(v)$ ({doc}`01_conformity_and_error`). {cite:t}`reid2023simplex`
# derive the density of this length for independent frequencies (Lemma 4.1) and for any
# fixed angle (Lemma 4.2), and closed forms of the conformity (Theorem 4.3). "Conformity
# is penalised by tails at large $w_{ij}$, which we suppress with geometrical coupling."
#
# **The idea.** By the law of cosines $w_{ij}^2 = w_i^2 + w_j^2 + 2 w_i w_j \cos\theta$.
# The norms $w_i$ have the law $\chi_d$; a coupling chooses the angle. Obtuse angles
# shorten the sum.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import gammaln, hyp0f1, hyp1f1, roots_legendre

from companion import evidence, plotting
from companion.papers.simplex import conformities, formulas, pair_densities
from rfcore import couplings, theory

ledger = evidence.open_page("simplex/02_sum_lengths", profile)
N_DRAWS, N_PRINTED, CHECKED_D = {
    "paper": (100_000, 24, (2, 6, 64)),
    "quick": (5_000, 6, (2, 64)),
}[profile]
MECHANISMS = ("iid", "orthogonal", "simplex")

# Compiled whole: one by one, the operations in it take longer to compile than to run.
log_density_at_angle = jax.jit(
    pair_densities.log_pair_density_at_angle, static_argnums=1
)

# %% [markdown]
# (simplex-fig-5)=
# ## Three densities (Figure 5)
#
# The paper draws the density for the three couplings without saying in which dimension.
# We take $d = 6$, that of its Figure 4: at $d = 64$ the curves of orthogonal and
# simplex frequencies could not be told apart by eye. We cut the axis into 20 pieces,
# each of mass 1/20 under the claimed density, draw, and count. A repeat is a block of
# three pairs.
#
# The sums of independent and of orthogonal pairs have the same mean square length,
# $2d$, and differ in the tail; those of simplex pairs are shorter altogether. The
# probabilities of long sums need no draws: for the first two the length has a chi law,
# whose tail is known, and for simplex pairs we integrate the density.

# %%
d, n_bins = 6, 20
w_grid = np.linspace(0, 20, 20_001)[1:]
step = w_grid[0]


def norms_and_sums(key):
    """Norms of two independent frequencies; lengths of sums of disjoint pairs."""
    drawn = jnp.stack([getattr(couplings, name)(key, d, d) for name in MECHANISMS])
    sums = drawn[:, ::2] + drawn[:, 1::2]
    return jnp.linalg.norm(drawn[0, :2], axis=1), jnp.linalg.norm(sums, axis=-1)


def in_bins(lengths, density):
    """Indicators of n_bins bins of equal mass under a density on the grid."""
    cuts = np.arange(1, n_bins) / n_bins
    edges = np.interp(cuts, np.cumsum(density) * step, w_grid + step / 2)
    return np.searchsorted(edges, lengths)[..., None] == np.arange(n_bins)


keys = jax.random.split(ledger.key("frequencies"), N_DRAWS)
two, lengths = evidence.in_batches(norms_and_sums, keys, 5000, "frequencies")
densities = np.stack([
    np.exp(pair_densities.log_pair_density(w_grid, d, "iid")),
    np.exp(pair_densities.log_pair_density(w_grid, d, "orthogonal")),
    np.exp(log_density_at_angle(w_grid, d, -1 / (d - 1))),
])
counted = np.stack(
    [in_bins(lengths[:, i], p).mean(axis=1) for i, p in enumerate(densities)], axis=1
)

# %%
upper_quartile = stats.chi(d, scale=np.sqrt(2)).ppf(0.75)
tail = np.linspace(upper_quartile, stats.chi(2 * d).isf(1e-6), 200)
longer = np.cumsum(densities[2][::-1])[::-1] * step
beyond = np.stack([
    stats.chi(d, scale=np.sqrt(2)).sf(tail),
    stats.chi(2 * d).sf(tail),
    np.interp(tail, w_grid - step / 2, longer),
])

# %% tags=["hide-input"]
figure = Figure(figsize=plotting.WIDE)
ax, shown = figure.subplots(), w_grid <= 8
places = [(5.5, 0.12, "left"), (4.35, 0.43, "left"), (2.0, 0.5, "right")]
for i, (name, (at, height, side)) in enumerate(zip(MECHANISMS, places, strict=True)):
    colour = plotting.COLOURS[name]
    ax.plot(w_grid[shown], densities[i, shown], color=colour)
    counts, edges = np.histogram(lengths[:, i], bins=60, range=(0, 8), density=True)
    ax.stairs(counts, edges, color=colour, alpha=0.2, fill=True)
    ax.text(at, height, plotting.LABELS[name], color=colour, ha=side)
ax.set(xlabel="length of the sum", ylabel="density", xlim=(0, 8), ylim=(0, None))
plotting.show(
    figure,
    caption="Re-run: Figure 5. Density of the length of the sum of two frequencies of "
    "one block, $d = 6$. Lines: Eqs. 18 and 20. Shaded: histograms of drawn blocks.",
    alt="Three bell-shaped densities over lengths from 0 to 8. IID is the widest, with "
    "the heaviest right tail; orthogonal is narrower with the same centre; simplex is "
    "shifted to the left. Histograms follow the lines.",
)
ledger.decide({
    "simplex/fig-5/histograms": evidence.unbiased(
        counted, 1 / n_bins, smallest_bias=0.1 / n_bins
    ),
    "simplex/fig-5/tails": evidence.order(beyond[[2, 1]], beyond[[1, 0]], exact=True),
})

# %% [markdown]
# (simplex-lemma-4-1)=
# ## Independent frequencies (Lemma 4.1)
#
# The sum of two is $\mathcal N(0, 2 I_d)$, its length has the density of Eq. 18, and
# the mean of ${}_0F_1$ over it is $e^{v^2}$. Here the formula as printed is compared
# with SciPy's density, and an integral with 500 nodes with its closed form.

# %%
v_checked = np.array([0.5, 1.0, 2.0, 3.0])
nodes, weights = roots_legendre(500)
w_nodes, w_weights = 25 * (nodes + 1), 25 * weights  # no density has mass beyond 50


def mean_0f1(log_density, of):
    """Mean of 0F1(; of/2; v^2 w^2 / 4) over a density of w, for each checked v."""
    values = hyp0f1(of / 2, (v_checked[:, None] * w_nodes) ** 2 / 4)
    return values @ (np.exp(log_density) * w_weights)


as_printed = np.array([formulas.pair_density(w_nodes, of) for of in CHECKED_D])
known = np.array([stats.chi(of, scale=np.sqrt(2)).pdf(w_nodes) for of in CHECKED_D])
means = np.array([
    mean_0f1(pair_densities.log_pair_density(w_nodes, of, "iid"), of)
    for of in CHECKED_D
])

# %% tags=["hide-input"]
# Either density is the exponential of a sum of logarithms of these sizes in all; three
# units of rounding of that in each.
sizes = np.array([
    (of - 1) * (np.abs(np.log(w_nodes)) + np.log(2))
    + w_nodes**2 / 4
    + abs(gammaln(of / 2))
    for of in CHECKED_D
])
rounding = 6 * np.finfo(float).eps * np.max(sizes * known) / known.max()
ledger.decide({
    "simplex/lemma-4.1/density": evidence.identity(
        as_printed, known, tolerance=rounding, relative=True
    ),
    "simplex/lemma-4.1/conformity": evidence.identity(
        means / np.exp(v_checked**2), np.ones(means.shape), tolerance=1e-9
    ),
})

# %% [markdown]
# (simplex-lemma-4-2)=
# ## Two vectors at a fixed angle (Lemma 4.2)
#
# Two norms are drawn from $\chi_d$, and the angle is fixed. Eq. 20 gives the density of
# the length of the sum as an integral, Eq. 21 the conformity.

# %%
cosines = (-0.9, -0.2, 0.5)
at_angle = [np.sqrt(np.sum(two**2, axis=1) + 2 * two.prod(axis=1) * c) for c in cosines]
counted_at_angle = np.stack(
    [
        in_bins(w, np.exp(log_density_at_angle(w_grid, d, c)))
        for w, c in zip(at_angle, cosines, strict=True)
    ],
    axis=1,
)
ratios = np.array([
    mean_0f1(log_density_at_angle(w_nodes, of, c), of)
    / np.exp(conformities.log_conformity_at_angle(v_checked, of, c))
    for of in CHECKED_D
    for c in cosines
])

# %% tags=["hide-input"]
ledger.decide({
    "simplex/lemma-4.2/density": evidence.unbiased(
        counted_at_angle, 1 / n_bins, smallest_bias=0.1 / n_bins
    ),
    "simplex/lemma-4.2/conformity": evidence.identity(
        ratios, np.ones(ratios.shape), tolerance=1e-9
    ),
})

# %% [markdown]
# (simplex-eq-56)=
# ### Misprint: the first line of Equation 56
#
# Eq. 20 is right, and the appendix derives it by differentiating
#
# $$
# p(w < w') = \int d\phi \int_0^{w'/\sqrt s} dr\, r\, p_\chi(r \cos\phi)\,
# p_\chi(r \sin\phi), \qquad s = 1 + \sin 2\phi \cos\theta .
# $$
#
# The chain rule gives $(w/\sqrt s)(1/\sqrt s) = w / s$ in front. The first line of Eq.
# 56 prints $w / \sqrt s$, and its second density has the argument $w \sin\phi / s$,
# where the square root of $s$ has gone missing. At right angles $s = 1$, and nobody
# notices; at the angle of a simplex the printed line is no density:

# %%
dimensions = (3, 6, 64)
at_simplex = [(w_nodes, of, -1 / (of - 1)) for of in dimensions]
first_line = np.stack([formulas.pair_density_at_angle(*at) for at in at_simplex])
second_line = np.exp([log_density_at_angle(*at) for at in at_simplex])

# %% tags=["hide-input"]
plotting.table(
    np.stack([first_line @ w_weights, second_line @ w_weights], axis=1),
    rows=[f"d = {of}" for of in dimensions],
    columns=["first line", "second line"],
    caption="Ours. Total mass of the density by the two lines of Equation 56.",
)
ledger.decide({
    "simplex/lemma-4.2/eq-56": evidence.erratum(
        evidence.identity(first_line, second_line, tolerance=1e-9, relative=True),
        "A Jacobian w/s and a root are misprinted.",
    ),
})

# %% [markdown]
# (simplex-thm-4-3)=
# ## Closed forms (Theorem 4.3)
#
# Orthogonal frequencies: Eq. 23 is Kummer's function ${}_1F_1(d; d/2; v^2/2)$, which
# SciPy knows. Simplex: Eq. 24 is a double series with alternating signs.
# {py:func}`rfcore.theory.log_conformity` sums series of one sign, in logarithms, and
# {py:mod}`~companion.papers.simplex.formulas` has the formulas letter by letter; here the
# two are compared. The closed forms are compared with draws, too: with the lengths of
# Figure 5, the rotation integrated out.

# %%
v_series, series_d = np.array([0.1, 0.5, 1.0, 2.0, 5.0, 10.0]), (2, 3, 6, 16, 64)
kummer = np.log([hyp1f1(of, of / 2, v_series**2 / 2) for of in series_d])
letter_by_letter = np.log([
    [formulas.orthogonal_conformity(v, of) for v in v_series] for of in series_d
])
ours = np.stack([theory.log_conformity(v_series, of, "orthogonal") for of in series_d])

stable = [(v, of) for of in (3, 4, 6, 16, 64) for v in (0.1, 0.5, 1.0, 2.0, 3.0)]
alternating = np.array([formulas.simplex_conformity(v, of) for v, of in stable])
one_sign = np.exp([theory.log_conformity(v, of, "simplex") for v, of in stable])

v_drawn = np.array([0.75, 1.0, 1.5, 2.0])
averages = np.stack(
    [hyp0f1(d / 2, (v * lengths[:, 1:]) ** 2 / 4).mean(axis=-1) for v in v_drawn],
    axis=-1,
)
closed = np.exp([theory.log_conformity(v_drawn, d, name) for name in MECHANISMS])

# %% tags=["hide-input"]
ledger.decide({
    "simplex/thm-4.3/orthogonal": evidence.identity(
        np.stack([letter_by_letter, ours]),
        np.stack([kummer, letter_by_letter]),
        tolerance=1e-10,
    ),
    "simplex/thm-4.3/simplex": evidence.identity(
        alternating / one_sign, np.ones(len(stable)), tolerance=1e-9
    ),
    "simplex/thm-4.3/simulated": evidence.unbiased(
        averages, closed[1:], smallest_bias=(closed[0] - closed[1:]) / 4
    ),
})

# %% [markdown]
# (simplex-eq-24)=
# ### A warning about Equation 24
#
# What is right on paper need not be right in floating point. The inner sum of Eq. 24
# alternates, and for small $d$ and large $v$ its terms exceed their sum by more than
# the sixteen digits of a double. Summed as printed, it has no correct digit at $d = 2$
# and $v = 10$.

# %%
printed_at_ten = formulas.simplex_conformity(10.0, 2, 400)
off = abs(printed_at_ten / np.exp(theory.log_conformity(10.0, 2, "simplex")) - 1)
v_range = np.linspace(0.5, 12, N_PRINTED)
wrong_by = np.stack([
    [formulas.simplex_conformity(v, of, 500) for v in v_range]
    / np.exp(theory.log_conformity(v_range, of, "simplex"))
    - 1
    for of in (2, 4, 16, 64)
])

# %% tags=["hide-input"]
digits = np.clip(-np.log10(np.abs(wrong_by) + 1e-16), 0, None)
plotting.show_panels(
    v_range,
    np.stack([digits, digits]),
    lines={
        "d = 2": "first",
        "d = 4": "second",
        "d = 16": "third",
        "d = 64": "fourth",
    },
    x_label="v = |x + y|",
    y_label="correct digits of Eq. 24",
    log="",
    caption="Ours. Correct decimal digits of Equation 24, summed as printed in double "
    "precision.",
    alt="Four falling curves. For d = 2 the digits fall from 15 to none by v = 8, for "
    "d = 4 by v = 12; for d = 16 some 9 are left there, for d = 64 some 12.",
)
ledger.decide({
    "simplex/extra-eq-24/noise": evidence.bound(
        float(off), 0.5, side="above", exact=True, only_rounding=True
    ),
})

# %% tags=["hide-input"]
ledger.close()
