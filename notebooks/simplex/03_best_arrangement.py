# %% [markdown]
# # Can any arrangement beat the simplex? (Theorem 3.4, Lemma A.1)
#
# * **No.** Arrangements at random, arrangements close to a simplex, and an optimiser
#   from random starts never get below the corners of a simplex, whether the norms are
#   equal or drawn independently of the directions.
# * **The reason is Jensen's inequality, twice**: the conformity of a pair is an
#   increasing, convex function of the cosine between the two.
# * **The argument says more than the paper takes from it.** For $m < d$ frequencies the
#   simplex to use has $m$ corners. At $d = 64$ and $\lVert x + y \rVert = 0.5$, eight
#   such frequencies have less than a seventh of the error of independent ones; eight of
#   the 64 corners of a full block, the usual choice, have nearly nine tenths.
#
# **What the paper claims.** Simplex frequencies "provide the lowest kernel estimator
# MSE of any weight-independent geometrically-coupled PRF mechanism", write
# {cite:t}`reid2023simplex`, who call the norms of frequencies weights and positive
# features PRFs: as long as directions do not depend on norms, no arrangement of them
# beats the corners of a simplex (Theorem 3.4). Lemma A.1 says so for equal norms.
#
# **The idea.** The error is an increasing function of the conformity $\rho$
# ({doc}`01_conformity_and_error`), a mean over pairs. If each pair's share is a convex
# function of its cosine, the mean is least when all cosines are equal. And if it
# increases, the common cosine should be as low as it can be: the mean cosine of $m$
# vectors is at least $-1/(m - 1)$, because the square of their sum is at least zero.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import numpy as np

from companion import evidence, plotting
from companion.papers.simplex import arrangements, best_directions, conformities
from rfcore import couplings, theory

ledger = evidence.open_page("simplex/03_best_arrangement", profile)
N_TRIED, N_STARTS, DIMENSIONS, DISTANCES, CHECKED_D = {
    "paper": (60, 3, (3, 6), (1.0, 2.5), (2, 6, 64)),
    "quick": (10, 1, (3,), (1.0,), (2, 64)),
}[profile]

# Compiled whole: one by one, the operations in it take longer to compile than to run.
log_conformity_at_angle = jax.jit(
    conformities.log_conformity_at_angle, static_argnums=1
)

# %% [markdown]
# (simplex-lemma-A-1)=
# ## Equal norms (Lemma A.1)
#
# Fix all norms at one value. The conformity is then a mean over pairs of a function of
# the cosine that is increasing and convex. By Jensen's inequality, it is at least the
# value of that function at the *mean* cosine. And the mean cosine of $m$ unit vectors
# is at least $-1/(m - 1)$, because $0 \le \lVert \sum_i u_i \rVert^2 = m + m (m - 1)
# \overline{\cos}$. A simplex attains both bounds at once: equal cosines, zero sum. ∎
#
# We try to beat it all the same: with arrangements drawn at random and others drawn
# close to a simplex, then with an optimiser from random starts
# ({py:func}`~companion.papers.simplex.best_directions.optimised`).


# %%
def arranged(d):
    """The corners of a simplex; arrangements near them; and ones at random."""
    rng = ledger.rng("arrangements", d)
    corners = np.asarray(couplings.directions.simplex_product(np.eye(d)))
    apart = 10 ** rng.uniform(-3, 0, size=(N_TRIED // 2, 1, 1))
    near, far = rng.normal(size=(2, N_TRIED // 2, d, d))
    tried = np.concatenate([corners[None], corners + apart * near, far])
    return tried / np.linalg.norm(tried, axis=2, keepdims=True)


def excesses(log_conformity, d):
    """Conformities of arrangements over the simplex's, minus 1: (distances, n)."""
    of_all = jax.jit(
        lambda tried, v: jax.lax.map(lambda u: log_conformity(u, v), tried)
    )
    found = np.array([of_all(arranged(d), v) for v in DISTANCES])
    return np.expm1(found[:, 1:] - found[:, :1])


def log_conformity_of_equals(u, v):
    """Of frequencies along the rows of u, whose norms are the square root of d."""
    return conformities.log_conformity_of(len(u) ** 0.5 * u, v)


starts = {
    (d, v): ledger.rng("starts", d, int(10 * v)).normal(size=(N_STARTS, d, d))
    for d in DIMENSIONS
    for v in DISTANCES
}
equal = np.stack([excesses(log_conformity_of_equals, d) for d in DIMENSIONS])
equal_ends = []
for (d, v), several in starts.items():
    least = log_conformity_of_equals(arranged(d)[0], v)
    for start in several:
        found = best_directions.optimised(np.full(d, d**0.5), v, start=start)
        equal_ends.append(float(conformities.log_conformity_of(found, v) - least))

# %% tags=["hide-input"]
ledger.decide({
    "simplex/lemma-A.1/search": evidence.bound(equal, 0.0, side="above", exact=True),
    "simplex/lemma-A.1/optimum": evidence.identity(
        equal_ends, np.zeros(len(equal_ends)), tolerance=1e-9
    ),
})

# %% [markdown]
# (simplex-thm-3-4)=
# ## Directions that do not depend on the norms (Theorem 3.4)
#
# Now the norms are random and independent of the directions. Average over the norms
# *first*: what is left of a pair is the conformity at a fixed angle, $\rho_\theta(v)$
# ({ref}`simplex-lemma-4-2`), a function of its cosine alone. If that function is
# increasing and convex, the proof of Lemma A.1 goes through word for word. It is: given
# the norms, ${}_0F_1\bigl(; \tfrac d2; \tfrac{v^2}4 (w_i^2 + w_j^2 + 2 w_i w_j
# \cos\theta)\bigr)$ is an increasing convex function of a linear function of
# $\cos\theta$, and a mean of such functions is again one. (The paper's own proof sums
# over all permutations of the norms, to the same end.) A coupling that randomises its
# arrangement averages such values, and an average is no better than its best term.

# %%
cosines = np.linspace(-1, 1, 41)
at_angles = {
    (d, v): np.exp(
        log_conformity_at_angle(v, d, cosines)
        - float(theory.log_conformity(v, d, "orthogonal"))
    )
    for d in CHECKED_D
    for v in (0.5, 1.0, 3.0)
}
steps = [[np.diff(c).min(), np.diff(c, 2).min()] for c in at_angles.values()]

of_directions = jax.jit(conformities.log_conformity_of_directions)
independent = np.stack([
    excesses(conformities.log_conformity_of_directions, d) for d in DIMENSIONS
])
ends = []
for (d, v), several in starts.items():
    least = theory.log_conformity(v, d, "simplex")
    for start in several:
        found = best_directions.weight_independent(start, v)
        ends.append(float(of_directions(found, v) - least))

# %% tags=["hide-input"]
curves = np.stack([at_angles[CHECKED_D[-1], v] for v in (0.5, 1.0)])
plotting.show_panels(
    cosines[::4],
    np.stack([curves, curves])[..., ::4],
    lines={"v = 0.5": "first", "v = 1": "second"},
    x_label="cosine between two frequencies",
    y_label="conformity over that at a right angle",
    log="",
    caption="Ours. Conformity of two frequencies against the cosine between them, "
    "$d = 64$, with $v = |x + y|$.",
    alt="Two rising curves that bend upwards, the one of v = 1 far more steeply.",
)
ledger.decide({
    "simplex/thm-3.4/convex": evidence.order(0.0, steps, exact=True),
    "simplex/thm-3.4/search": evidence.bound(
        independent, 0.0, side="above", exact=True
    ),
    "simplex/thm-3.4/optimum": evidence.identity(
        ends, np.zeros(len(ends)), tolerance=1e-9
    ),
})

# %% [markdown]
# (simplex-small-block)=
# ## An unused corollary: fewer frequencies than dimensions
#
# The proof speaks of $m$ vectors and bounds the mean cosine by $-1/(m - 1)$. For
# $m < d$ the paper, like everybody else, cuts a block of $d$: its cosine is
# $-1/(d - 1)$, and its angles are closer to right angles. A simplex of just $m$
# corners, rotated into $d$ dimensions, costs the same and is better.

# %%
v_cut = np.array([0.1, 0.5, 1.0, 4.0])
blocks = [(6, m) for m in (2, 3, 4, 5)] + [(64, m) for m in (2, 4, 8, 16, 32, 48)]
own = np.stack([log_conformity_at_angle(v_cut, d, -1 / (m - 1)) for d, m in blocks])
cut = np.stack([theory.log_conformity(v_cut, d, "simplex") for d, _ in blocks])

# %% tags=["hide-input"]
widths, shown = np.array([2, 4, 8, 16, 32, 64]), np.array([0.5, 1.0])


def over_iid(m):
    """Errors over those of independent frequencies: (lines, distances)."""
    own_simplex = log_conformity_at_angle(shown, 64, -1 / (m - 1))
    whole = [theory.log_conformity(shown, 64, c) for c in ("orthogonal", "simplex")]
    return arrangements.mse_ratio(np.stack([*whole, own_simplex]), shown, m)


ratios = np.moveaxis(np.stack([over_iid(int(m)) for m in widths]), (0, 1), (2, 1))
plotting.show_panels(
    widths,
    np.stack([ratios, ratios]),
    panels=[f"|x + y| = {v}" for v in shown],
    lines={
        "orthogonal": "orthogonal",
        "m of 64 corners": "simplex",
        "m corners": "third",
    },
    x_label="number of features m",
    y_label="MSE over MSE of IID",
    log="x",
    caption="Ours. Mean squared error of $m$ features in 64 dimensions over that of "
    "independent ones: orthogonal, cut from a simplex block, and a simplex of $m$ "
    "corners.",
    alt="Two charts. The simplex of m corners starts low at m = 2 and falls slowly; "
    "cut blocks start near 1 and fall to the same value at m = 64; orthogonal ones "
    "stay above both.",
)
ledger.decide({
    "simplex/extra-small-block/order": evidence.order(own, cut, exact=True),
})

# %% tags=["hide-input"]
ledger.close()
