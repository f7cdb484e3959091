# %% [markdown]
# # How should Fourier frequencies point? (Theorem 4.5, Corollary 4.6)
#
# * **At right angles, and not at the corners of a simplex**, for points closer together
#   than 2. A Fourier feature cannot tell $\omega$ from $-\omega$, so an obtuse angle is
#   as good as an acute one.
# * **And only up to a threshold**, a distance that grows with the dimension from $d =
#   8$ on. The paper's formula for the gain holds, and so does its expansion in $1/d$.
# * **In few dimensions it is not so simple.** The threshold falls until $d = 7$, and at
#   $d = 2$ there is none; beyond the threshold the gain can turn positive and then
#   negative again, as it does at $d = 8$. One formula of the proof, Equation 77, has a
#   wrong sign.
#
# **What the paper claims.** {cite:t}`reid2023simplex` carry their theory of orthogonal
# positive features over to Fourier features. The gain of right angles is an exact
# series (Theorem 4.5), and "the MSE of ORFs is smaller than IIDRFs up to some threshold
# $z_{\text{crit}}(d)$, the value of which diverges as $d \to \infty$", where ORFs are
# orthogonal and IIDRFs independent features. To first order in $1/d$ the gain is
# positive at any fixed distance (Corollary 4.6).
#
# **The idea.** Sines and cosines see $z = \lVert x - y \rVert$, and the conformity of
# positive features extends to imaginary arguments: the series is the same, with $-z^2$
# in place of $v^2$, and now it alternates. What alternates may change sign.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import jax.numpy as jnp
import numpy as np

from companion import evidence, plotting
from companion.papers.simplex import formulas, sign_change
from rfcore import couplings, theory

ledger = evidence.open_page("simplex/05_fourier", profile)
N_DRAWS, EVEN_D = {"paper": (100_000, (3, 6, 16, 64)), "quick": (5_000, (3, 6))}[
    profile
]

# %% [markdown]
# (simplex-thm-4-5)=
# ## The orthogonality gap (Theorem 4.5)
#
# The products of Fourier features add up to the mean of $\cos(\omega_i^\top (x - y))$.
# Its errors are bounded, so the blunt experiment is safe: draw, square, subtract. The
# gap that it should show is [SimRF Eq. 26]
#
# $$
# \mathrm{MSE}_{\text{IID}} - \mathrm{MSE}_{\text{orth}} = \frac{m - 1}{m} \Bigl(
# e^{-z^2} - \frac{\Gamma(d/2)}{\Gamma(d)} \sum_k \frac{(-z^2)^k}{2^k\, k!}
# \frac{\Gamma(k + d)}{\Gamma(k + d/2)} \Bigr) .
# $$
#
# {py:func}`rfcore.theory.fourier_gap` evaluates it without cancellation. Here it is
# compared with the series as printed, at moderate $z$, where the oscillation does no
# harm.

# %%
d = 6
z_drawn = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
towards = np.array([0.6, 0.2, -0.4, 0.5, 0.4, 0.2])  # uneven, to show a wrong rotation
unit = towards / np.linalg.norm(towards)


def squared_errors(key):
    """Of d IID and d orthogonal frequencies, (2, distances)."""
    drawn = [draw(key, d, d) @ unit for draw in (couplings.iid, couplings.orthogonal)]
    cosines = jnp.cos(jnp.stack(drawn)[:, None] * z_drawn[:, None])
    return (cosines.mean(axis=-1) - jnp.exp(-(z_drawn**2) / 2)) ** 2


keys = jax.random.split(ledger.key("frequencies"), N_DRAWS)
errors = evidence.in_batches(squared_errors, keys, 5000, "frequencies")
gap = np.array([theory.fourier_gap(z * unit, 0 * unit, d) for z in z_drawn])
iid_error = np.array([
    theory.fourier_mse(z * unit, 0 * unit, d, "iid") for z in z_drawn
])

pairs = [
    (np.r_[z, np.zeros(of - 1)], np.zeros(of), of)
    for of in (2, 4, 16, 64)
    for z in (0.1, 0.5, 1.0, 2.0, 3.0)
]
as_printed = np.array([formulas.fourier_gap(*pair) for pair in pairs])
calm = np.array([theory.fourier_gap(*pair) for pair in pairs])

# %% [markdown]
# Past the threshold the gap is a tiny number, so finding where it changes sign at
# $d = 256$ takes two hundred digits
# ({py:func}`~companion.papers.simplex.sign_change.fourier_threshold`).

# %%
threshold = {
    of: sign_change.fourier_threshold(of)
    for of in (3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256)
}
doubled = np.array([threshold[of] for of in (8, 16, 32, 64, 128, 256)])

# %% tags=["hide-input"]
shown = (3, 4, 6, 8, 16, 32, 64, 256)
thresholds = np.array([[threshold[of] for of in shown]])
plotting.show_panels(
    shown, np.stack([thresholds, thresholds]), lines=["orthogonal"],
    x_label="dimension d", y_label="threshold of z",
    caption="Ours. The first distance at which independent Fourier frequencies become "
    "the better ones.",
    alt="A curve falls from 3.3 at d = 3 to just below 3 at d = 6, then rises to 13 at "
    "d = 256.",
)  # fmt: skip
ledger.decide({
    "simplex/thm-4.5/gap": evidence.unbiased(
        errors[:, 0] - errors[:, 1], gap, smallest_bias=iid_error / 10
    ),
    "simplex/thm-4.5/series": evidence.identity(calm, as_printed, tolerance=4e-10),
    "simplex/thm-4.5/threshold": evidence.order(doubled[:-1], doubled[1:], exact=True),
})

# %% [markdown]
# (simplex-fourier-threshold)=
# ## The threshold in few dimensions
#
# There is more to it than one threshold that grows. In the plane there is none:
# ${}_1F_1(2; 1; -s) = e^{-s} (1 - s)$ makes the gap proportional to
# $e^{-s} (e^{-s} - 1 + s) > 0$ with $s = z^2 / 2$. From $d = 3$ to $7$ the threshold
# *falls*. And beyond it the gap may turn positive and then negative again.

# %%
falls = np.array([threshold[of] for of in (3, 4, 5, 6, 7)])
rises = np.array([threshold[of] for of in (7, 8, 10, 12, 16)])


def along_axis(z, of):
    """The gap of `of` frequencies at distances along an axis."""
    gaps = jax.vmap(lambda x: theory.fourier_gap(x, jnp.zeros(of), of))
    return np.asarray(gaps(z[:, None] * jnp.eye(of)[:1]))


in_plane = along_axis(np.linspace(0.1, 5, 50), 2)
again = along_axis(np.array([3.5, 4.6, 5.7]), 8)

# %% tags=["hide-input"]
plotting.table(
    again[None],
    rows=["gap"],
    columns=["z = 3.5", "z = 4.6", "z = 5.7"],
    caption="Ours. The gap at three distances beyond the threshold, d = m = 8.",
)
ledger.decide({
    "simplex/extra-fourier-threshold/falls-then-rises": evidence.order(
        np.r_[falls[1:], rises[:-1]], np.r_[falls[:-1], rises[1:]], exact=True
    ),
    "simplex/extra-fourier-threshold/none-in-the-plane": evidence.order(
        0.0, in_plane, exact=True
    ),
    "simplex/extra-fourier-threshold/again": evidence.order(
        0.0, again * np.array([-1, 1, -1]), exact=True
    ),
})

# %% [markdown]
# (simplex-fourier-simplex)=
# ## And the simplex?
#
# The paper leaves it out, for a good reason: $\omega$ and $-\omega$ have the same
# cosine, and no two lines can stand wider apart than at right angles.
# {py:func}`rfcore.theory.mse_ratio` covers the case. Orthogonal frequencies are
# the better ones up to $z = 2$. Further out, near the threshold of the orthogonal gap,
# the order is reversed for a while. In three dimensions the simplex then leads by up to
# a twelfth of the error of independent features, in six by a fiftieth, and in 64 by
# nothing that could be seen.

# %%
z = np.linspace(0.1, 6, 60)
ratios = {
    name: np.array([theory.mse_ratio(name, "fourier", z, m=of, d=of) for of in EVEN_D])
    for name in ("orthogonal", "simplex")
}

# %% tags=["hide-input"]
near, spaced = z <= 2, slice(0, 50, 4)
curves = np.stack([ratios["orthogonal"], ratios["simplex"]], axis=1)[..., spaced]
plotting.show_panels(
    z[spaced], np.stack([curves, curves]), lines=("orthogonal", "simplex"),
    panels=[f"m = d = {of}" for of in EVEN_D], log="", x_label="z = |x - y|",
    y_label="MSE over MSE of IID",
    caption="Ours. Mean squared error of $d$ Fourier features over that of independent "
    "ones.",
    alt="In each chart both curves dip and then rise to about one, orthogonal below "
    "simplex up to z = 2. Between z = 2.5 and 4 simplex is lower, clearly at m = d = 3 "
    "and hardly at 6.",
)  # fmt: skip
ledger.decide({
    "simplex/extra-fourier-simplex/order": evidence.order(
        ratios["orthogonal"][:, near], ratios["simplex"][:, near], exact=True
    ),
})

# %% [markdown]
# (simplex-cor-4-6)=
# ## Many dimensions (Corollary 4.6)
#
# To first order in $1/d$ the ratio of errors is [SimRF Eq. 27]
#
# $$
# \frac{\mathrm{MSE}_{\text{orth}}}{\mathrm{MSE}_{\text{IID}}}
# = 1 - (m - 1) \Bigl( \frac{z^4 e^{-z^2}}{d\, (1 - e^{-z^2})^2} + O(d^{-2}) \Bigr) .
# $$
#
# If the remainder is of second order, $d^2$ times the remainder converges as $d$ grows.
# Mind the factor $(m - 1)$ in front of *both* terms. For a whole block, $m = d$, the
# "correction" is no longer small: at $z \to 0$ it takes away all of the error but
# $3 / (d + 2)$, of which the first-order formula sees a third.
#
# And the sentence that follows it in the paper, that the gap is "positive everywhere
# when $d \to \infty$", is to be read at a fixed $z$: at every finite $d > 2$ that we
# looked at there are distances $z$ at which it is not.

# %%
used = z[(z >= 0.25) & (z <= 3)]


def remainder(of):
    """d^2 times what Eq. 27 leaves out for two frequencies."""
    exact = theory.mse_ratio("orthogonal", "fourier", used, m=2, d=of)
    first_order = formulas.fourier_mse_ratio_asymptotic(used, of, 2)
    return of**2 * np.asarray(exact - first_order)


remainders = {of: remainder(of) for of in (16, 64, 256, 512)}
whole = np.array([
    [
        theory.mse_ratio("orthogonal", "fourier", 0.0, m=of, d=of),
        formulas.fourier_mse_ratio_asymptotic(0.0, of, of),
    ]
    for of in remainders
])

# %% tags=["hide-input"]
largest = np.array([np.abs(each).max() for each in remainders.values()])
plotting.table(
    np.column_stack([largest, whole]),
    rows=[f"d = {of}" for of in remainders],
    columns=["$d^2$ × remainder, m = 2", "whole block, exact", "first order"],
    caption="Ours. Largest remainder of Equation 27 for two frequencies, and the ratio "
    "for a whole block, m = d, at z = 0.",
)
ledger.decide({
    "simplex/cor-4.6/rate": evidence.identity(
        remainders[256], remainders[512], tolerance=0.1, relative=True
    ),
})

# %% [markdown]
# (simplex-eq-77)=
# ### Misprint: a sign in Equation 77
#
# The proof starts from the ratio of two errors of the form of Eq. 74, whose first term
# is $(1 - e^{-z^2})^2 / 2$. Eq. 77 prints $(1 + e^{-z^2})^2$ in the denominator. At the
# end of the proof, in Eq. 86, the minus sign is back.

# %%
z_wrong, wrong_d = np.array([0.25, 0.5, 1.0, 1.75, 2.5, 3.0]), (4, 16, 64)
eq_77 = np.array([formulas.fourier_mse_ratio(z_wrong, of, 2) for of in wrong_d])


def error_at(z, of, name):
    return theory.fourier_mse(np.r_[z, np.zeros(of - 1)], np.zeros(of), 2, name)


of_errors = np.array([
    [error_at(z, of, "orthogonal") / error_at(z, of, "iid") for z in z_wrong]
    for of in wrong_d
])

# %% tags=["hide-input"]
plotting.table(
    np.stack([eq_77[0], of_errors[0]]),
    rows=["Equation 77", "ratio of errors"],
    columns=[f"z = {z}" for z in z_wrong],
    caption="Ours. Equation 77 as printed and what it should be, d = 4, m = 2.",
)
ledger.decide({
    "simplex/cor-4.6/eq-77": evidence.erratum(
        evidence.identity(eq_77, of_errors, tolerance=1e-9),
        "1 + exp(-z^2) stands for 1 - exp(-z^2).",
    ),
})

# %% tags=["hide-input"]
ledger.close()
