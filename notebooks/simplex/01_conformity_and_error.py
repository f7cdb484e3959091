# %% [markdown]
# # How far apart should frequencies point? (Figure 6, Theorem 3.2, Corollaries 3.3 and 4.4, Equation 8)
#
# * **One number carries the error**: the *conformity* of a pair of frequencies, a mean
#   over the length of their sum. Simulation agrees with Theorem 3.2.
# * **Away from each other is best.** At $d = 64$ the corners of a simplex leave less
#   than a hundredth of the error near the origin, though their angles are hardly wider
#   than right ones. Where $\lVert x + y \rVert$ is above about 2.5, no coupling of
#   directions helps.
# * **One misprint.** Equation 25, the gain of right angles, has lost a factor of
#   $2^{-k}$. As printed it is negative; mended, it is positive everywhere, as the paper
#   says.
#
# **What the paper claims.** Draw $m$ random frequencies to estimate a Gaussian kernel
# with positive random features. Nobody forces you to draw them independently: as long
# as each on its own is $\mathcal N(0, I_d)$ the estimate is unbiased, and the *joint*
# distribution is yours to choose. {cite:t}`reid2023simplex` reduce the error to the
# conformity, and prove that simplex frequencies always have a smaller error than orthogonal
# ones (Corollary 3.3), and these a smaller one than independent ones (Corollary 4.4).
#
# **The idea.** An estimate averages products of features, and the squared error is a
# sum over *pairs* of frequencies. A uniform rotation averages away all but one number
# of each pair, $w_{ij} = \lVert \omega_i + \omega_j \rVert$: the shorter the sum, the
# smaller the error. Independent vectors often have a long sum, vectors at right angles
# less often, and vectors that point away from each other least often of all.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import hyp0f1

from companion import evidence, plotting
from companion.papers.simplex import formulas
from rfcore import couplings, features, kernels, theory

ledger = evidence.open_page("simplex/01_conformity_and_error", profile)
N_DRAWS, N_BLOCKS, GAP_D, ALL_D = {
    "paper": (100_000, 20_000, (2, 4, 16, 64), (2, 3, 4, 6, *2 ** np.arange(3, 10))),
    "quick": (5_000, 200, (4, 16), (2, 512)),
}[profile]
MECHANISMS = ("iid", "orthogonal", "simplex")

# %% [markdown]
# (simplex-thm-3-2)=
# ## One number carries the error (Theorem 3.2)
#
# The positive feature of frequency $\omega$ is $\exp(\omega^\top x - \lVert x
# \rVert^2)$. With $v = \lVert x + y \rVert$, the mean squared error of an estimate from
# $m$ of them is
#
# $$
# \begin{aligned}
# \mathrm{MSE} &= \frac{e^{-2\lVert x \rVert^2 - 2\lVert y \rVert^2}}{m} \Bigl[
# \bigl(e^{2v^2} - e^{v^2}\bigr) \\
# &\qquad + (m - 1) \bigl(\rho(v) - e^{v^2}\bigr) \Bigr], \\
# \rho(v) &= \mathbb E\, {}_0F_1\Bigl(; \tfrac d2; \tfrac{v^2 w_{ij}^2}{4}\Bigr) .
# \end{aligned}
# $$
#
# Here $\rho$ is the conformity, and a *block* is $d$ frequencies that are drawn together.
# ${}_0F_1(; \tfrac d2; \tfrac{s^2}{4})$ is the mean of $e^{s u^\top e}$ over all
# directions $u$, for any unit vector $e$: it is 1 at $s = 0$ and grows with $s$.
#
# First the blunt test: draw frequencies, estimate $k(x, y)$, square the error, average.
# It works only close to the origin. **Simulating the error head on is a trap**: the
# squared error of positive features is so heavy-tailed that a sample mean soon says
# more about its largest term than about the expectation, and even its standard error is
# wrong. So we keep to $v \le 0.6$ here; afterwards we integrate the rotation out, and
# average the ${}_0F_1$ of $\rho$ instead. With $m = 4, 6, 9$ in $d = 6$ we have a cut
# block, a whole one, and one and a half, where only pairs *within* a block count.

# %%
d, sizes = 6, (4, 6, 9)
v_near = np.array([0.2, 0.4, 0.6])
towards = np.array([0.6, 0.2, -0.4, 0.5, 0.4, 0.2])  # uneven, to show a wrong rotation
unit = towards / np.linalg.norm(towards)
offset = np.array([0.1, -0.2, 0.1, 0.15, -0.1, 0.05])
x, y = (v_near[:, None] / 2 * unit + sign * offset for sign in (1, -1))
kernel = jnp.diag(kernels.gaussian(x, y))


def squared_errors(omega):
    """Of the estimates of k(x, y) by the first m frequencies: (v, m)."""
    products = [
        features.positive(x, omega[:m]) * features.positive(y, omega[:m]) for m in sizes
    ]
    estimates = jnp.stack([each.sum(axis=1) for each in products], axis=1)
    return (estimates - kernel[:, None]) ** 2


def block_and_a_half(key):
    """Squared errors; lengths of sums of disjoint pairs; simplex along one axis."""
    drawn = [getattr(couplings, name)(key, 9, d) for name in MECHANISMS]
    sums = jnp.stack([omega[0:d:2] + omega[1:d:2] for omega in drawn])
    errors = jnp.stack([squared_errors(omega) for omega in drawn])
    return errors, jnp.linalg.norm(sums, axis=-1), drawn[2][:d] @ unit


keys = jax.random.split(ledger.key("frequencies"), N_DRAWS)
errors, lengths, along = evidence.in_batches(block_and_a_half, keys, 5000, "draws")
expected = np.array([
    theory.positive_mse(*pair, m, name)
    for name in MECHANISMS
    for pair in zip(x, y, strict=True)
    for m in sizes
]).reshape(3, 3, 3)

# %% tags=["hide-input"]
ledger.decide({
    "simplex/thm-3.2/mse": evidence.unbiased(
        errors, expected, smallest_bias=expected / 10
    ),
})

# %% [markdown]
# (simplex-eq-8)=
# ## Unbiased? (Equation 8)
#
# The first line of the abstract says that simplex features are unbiased. A row of
# $\mathbf W = \mathbf D \mathbf S \mathbf R$ is a corner of the simplex, turned by a
# uniform rotation and multiplied by a length with the law $\chi_d$: each row by itself
# is Gaussian. To test this, we project every row on one fixed direction with unequal
# coordinates, and count the projections in 20 bins of equal probability. We also
# average the estimates of the kernel.

# %%
n_bins = 20
edges = stats.norm.ppf(np.arange(1, n_bins) / n_bins)
in_bins = np.searchsorted(edges, along)[..., None] == np.arange(n_bins)
v_mean = np.array([0.5, 1.0, 1.5])
over_kernel = np.exp(v_mean * along[..., None] - v_mean**2 / 2).mean(axis=1)

# %% tags=["hide-input"]
ledger.decide({
    "simplex/eq-8/marginal": evidence.unbiased(
        in_bins, 1 / n_bins, smallest_bias=0.1 / n_bins
    ),
    "simplex/eq-8/unbiased": evidence.unbiased(
        over_kernel, np.ones(3), smallest_bias=0.05
    ),
})

# %% [markdown]
# (simplex-cor-3-3)=
# ## Simplex against orthogonal (Corollary 3.3)
#
# The angle of a simplex is obtuse, so *every* pair has a shorter sum than the
# orthogonal pair of the same norms, and ${}_0F_1$ grows with the length. That is a
# proof, in any dimension; the closed forms had better agree
# ({py:func}`rfcore.theory.log_conformity`; {doc}`02_sum_lengths` tests them).

# %%
v_all = np.geomspace(0.01, 25, 60)
logs = {
    name: np.stack([theory.log_conformity(v_all, of, name) for of in ALL_D])
    for name in ("orthogonal", "simplex")
}

# %% tags=["hide-input"]
ledger.decide({
    "simplex/cor-3.3/order": evidence.order(
        logs["simplex"], logs["orthogonal"], exact=True
    ),
})

# %% [markdown]
# (simplex-cor-4-4)=
# ## Orthogonal against independent, and a misprint (Corollary 4.4, Equation 25)
#
# The orthogonality gap is the difference of two errors, that is, of $e^{v^2}$ and
# $\rho_{\text{orth}}$. The appendix has it right (Eq. 69); Eq. 25 lacks a factor:
#
# $$
# \begin{aligned}
# & e^{v^2} - \frac{\Gamma(d/2)}{\Gamma(d)} \sum_k \frac{v^{2k}}{k!}
# \frac{\Gamma(k + d)}{\Gamma(k + d/2)} \\
# \text{must read}\quad & e^{v^2} - \frac{\Gamma(d/2)}{\Gamma(d)} \sum_k
# \frac{v^{2k}}{\mathbf{2^k}\, k!} \frac{\Gamma(k + d)}{\Gamma(k + d/2)} .
# \end{aligned}
# $$
#
# To first order in $v^2$ the printed bracket is $1 + v^2 - (1 + 2 v^2) = -v^2$:
# negative at once, while the sentence that follows it says "This is positive
# everywhere". The sentence is right, term by term: with the factor, the bracket is
# $\sum_k \frac{v^{2k}}{k!} (1 - c_k)$ with $c_0 = c_1 = 1$ and $c_k = \prod_{j<k}
# \frac{d + j}{d + 2j} < 1$ afterwards. In this sum nothing cancels, and even a tiny gap
# keeps its sign.

# %%
v_gap = (0.1, 0.5, 1.0, 2.0)
cases = [(np.full(of, v / 2 / np.sqrt(of)), of) for of in GAP_D for v in v_gap]
as_printed = np.array([formulas.positive_gap(p, p, of) for p, of in cases])
iid, orthogonal = (
    np.array([theory.positive_mse(p, p, of, name) for p, of in cases])
    for name in MECHANISMS[:2]
)
v_drawn = np.array([0.75, 1.0, 1.5, 2.0])
pair_means = hyp0f1(d / 2, (v_drawn[:, None, None] * lengths[:, None, :2]) ** 2 / 4)
drawn_gap = np.diff(pair_means.mean(axis=-1)[..., ::-1], axis=-1)[..., 0]
gap = np.exp(v_drawn**2) - np.exp(theory.log_conformity(v_drawn, d, "orthogonal"))


def gaps(of):
    """The gap along an axis of R^of, from nearly 0 to 15."""
    halves = jnp.geomspace(0.01, 15, 40)[:, None] / 2 * jnp.eye(of)[:1]
    return jax.jit(jax.vmap(lambda p: theory.positive_gap(p, p, of)))(halves)


everywhere = np.array([gaps(of) for of in ALL_D])

# %% tags=["hide-input"]
both = np.stack([as_printed, iid - orthogonal], axis=-1).reshape(len(GAP_D), 4, 2)
plotting.table(
    np.concatenate([both[GAP_D.index(4)], both[GAP_D.index(16)]], axis=1),
    rows=[f"v = {v}" for v in v_gap],
    columns=["Eq. 25, d = 4", "truth, d = 4", "Eq. 25, d = 16", "truth, d = 16"],
    caption="Ours. The gap as printed, and the difference of the two errors.",
)
ledger.decide({
    "simplex/cor-4.4/printed": evidence.erratum(
        evidence.identity(as_printed, iid - orthogonal, tolerance=1e-9),
        "The factor 2^-k is missing.",
    ),
    "simplex/cor-4.4/gap": evidence.unbiased(drawn_gap, gap, smallest_bias=gap / 2),
    "simplex/cor-4.4/positive": evidence.order(0.0, everywhere, exact=True),
})

# %% [markdown]
# (simplex-fig-6)=
# ## How much does it buy? (Figure 6)
#
# At $d = 64$ the angle of a simplex is only a degree past ninety. We simulate whole
# blocks and look twice: *with the rotation integrated out*, averaging ${}_0F_1$ over
# the pairs of a block, which decides the claim; and *head on*, from squared errors of
# the estimate at small $v$, divided by the closed-form error of IID features, so that
# the dots share no noise from a denominator. The curves themselves need no sampling.

# %%
d_large = 64
v_checked = jnp.array([0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0])


def whole_block(key):
    """Lengths of sums of disjoint pairs, and estimates over a common factor."""
    drawn = [getattr(couplings, name)(key, d_large, d_large) for name in MECHANISMS]
    sums = jnp.stack([omega[::2] + omega[1::2] for omega in drawn])
    along = jnp.stack([omega[:, 0] for omega in drawn])
    means = jnp.exp(v_checked[:, None] * along[:, None]).mean(axis=-1)
    return jnp.linalg.norm(sums, axis=-1), means


keys = jax.random.split(ledger.key("blocks"), N_BLOCKS)
large_lengths, means = evidence.in_batches(whole_block, keys, 500, "blocks")
conformities = np.stack(
    [
        hyp0f1(d_large / 2, (v * large_lengths) ** 2 / 4).mean(axis=-1)
        for v in v_checked
    ],
    axis=-1,
)
of_all = np.exp([theory.log_conformity(v_checked, d_large, c) for c in MECHANISMS])
v = np.concatenate([[0.0], np.linspace(0.02, 4, 200)])
ratio = np.stack([
    theory.mse_ratio(name, "positive", v, m=d_large, d=d_large) for name in MECHANISMS
])

# %% tags=["hide-input"]
near = np.asarray(v_checked)[:6]
iid_error = np.exp(near**2) * np.expm1(near**2) / d_large
relative = (means[..., :6] - np.exp(near**2 / 2)) ** 2 / iid_error
se = relative.std(axis=0, ddof=1) / np.sqrt(N_BLOCKS)
figure = Figure(figsize=plotting.WIDE)
ax = figure.subplots()
places = [(1.62, 1.02), (0.9, 0.6), (0.72, 0.22)]
for i, (name, place) in enumerate(zip(MECHANISMS, places, strict=True)):
    colour = {"color": plotting.COLOURS[name]}
    ax.plot(v[v <= 3], ratio[i, v <= 3], **colour)
    ax.errorbar(near, relative[:, i].mean(axis=0), se[i], fmt="o", **colour)
    ax.text(*place, plotting.LABELS[name], **colour, va="bottom")
ax.set(xlabel="v = |x + y|", ylabel="MSE over MSE of IID", xlim=(0, 3), ylim=(0, 1.12))
plotting.show(
    figure,
    caption="Re-run: Figure 6. Mean squared error of 64 positive features at $d = 64$, "
    "over the closed-form error of independent ones. Lines: closed forms. Dots: "
    "simulated squared errors, with bars of one standard error.",
    alt="IID is flat at 1; orthogonal starts at 1, dips to 0.7 near v = 1.2, and "
    "returns to 1; simplex starts near 0, rises, and joins orthogonal near v = 2.5. "
    "The dots lie on the lines.",
)

# %% [markdown]
# Both of the paper's curves are found again. At small $v$ the simplex removes *almost
# all* of the error, though its angles are hardly wider than right ones: the $d$ vectors
# nearly cancel, $\sum_i \omega_i \approx 0$, and for small $v$ the error *is* the
# square of that sum. The orthogonal curve is another matter: its gain is *not* largest
# at small $v$, where it vanishes, but near $v = 1.2$. And past $v \approx 2.5$ nothing
# helps: the error is dominated by the tail of a single frequency, which no coupling may
# change.
#
# So the gain is a *small-$v$* gain. Attention with normalised queries and keys, or a
# kernel with a long lengthscale, lives there; a sharp kernel does not, and gains
# little.
#
# Section 5.1 gives the limits for every $d = m$: errors proportional to $v^2$ for IID
# and orthogonal features, and to $v^2$ times a ratio of Gamma functions for simplex.

# %%
prefactor_d = (2, 3, 6, 16, 64, 512)
half = 0.5e-4 * np.array([0.6, 0.8])  # x = y, |x + y| = 1e-4
of_iid = theory.positive_mse(half, half, 2, "iid") / (np.exp(-4 * half @ half) / 2)
limits = [
    theory.mse_ratio(name, "positive", 0.0, m=of, d=of)
    for name in MECHANISMS[1:]
    for of in prefactor_d
]
printed = [1.0] * 6 + [formulas.error_prefactor(of) for of in prefactor_d]

# %% tags=["hide-input"]
ledger.decide({
    "simplex/fig-6/formula": evidence.unbiased(
        conformities, of_all, smallest_bias=(of_all[1] - of_all[2]) / 5
    ),
    "simplex/fig-6/order": evidence.order(
        ratio[[2, 1], 1:], ratio[[1, 0], 1:], exact=True
    ),
    "simplex/fig-6/small-v": evidence.value(
        float(limits[-2]), 0.0, paper=0.0078, paper_se=0.0, rounding=0.00005
    ),
    "simplex/fig-6/prefactor": evidence.identity(
        np.array([of_iid / 1e-8, *limits]), [1.0, *printed], tolerance=1e-7
    ),
    "simplex/fig-6/gain-at-small-v": evidence.order(
        ratio[2, :-1], ratio[2, 1:], exact=True
    ),
})

# %% tags=["hide-input"]
ledger.close()
