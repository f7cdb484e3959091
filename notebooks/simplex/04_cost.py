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
# # What does a good geometry cost?
#
# **What the paper claims.** Simplex features cost no more than orthogonal ones, because the simplex matrix
# $\mathbf S$ multiplies a vector in $O(d)$ (Algorithm 1). What costs is the rotation. {cite:t}`reid2023simplex`
# list in Table 1:
#
# | | ORFs | SimRFs | SimRFs+ |
# |---|---|---|---|
# | regular | $O(d^3)$ | $O(d^3)$ | $O(d^3)$ |
# | fast | $O(d \log d)$ | $O(d \log d)$ | $O(d^3)$ |
#
# "Fast" means that the rotation $\mathbf R$ gives way to a product of random signs and Hadamard matrices. We
# measure both rows with a clock, and then ask what the table does not: whether the fast features still estimate
# the kernel.

# %% tags=["hide-input"]
import os

# One thread: processor time is then work done, whatever else the machine is busy with.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_cpu_enable_concurrency_optimized_scheduler=false")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from dataclasses import replace
from functools import cache, partial

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import hyp1f1
from tqdm import tqdm

from rfcore import couplings, evidence, plotting, theory
from rfcore.couplings import directions, fast, weight_dependent

plotting.use_style()
DENSE = ("orthogonal", "simplex", "simplex_plus")
FAST = ("orthogonal_fast", "simplex_fast")

# %% tags=["parameters"]
profile = "paper"

# %%
SIZES = {
    "paper": {
        "dense": (8, 64, 256, 512, 1024, 2048, 4096), "dense_fit": (512, 2048), "beyond": 2048,
        "fast_draw": (8, 256, 4096, 2**14, 2**16, 2**18, 2**20), "fast_draw_fit": 2**14,
        "apply": (8, 64, 256, 512, 1024, 2048, 4096, 2**13, 2**14, 2**16), "apply_fit": 512, "overtakes": 1024,
        "stairs": (512, 513, 1024), "linear": (2**8, 2**10, 2**12, 2**14, 2**16), "sweeps": (128, 256, 512),
        "products": (2, 3, 4, 7, 64, 257, 1024),
        "dense_rounds": 40, "rounds": 16, "apply_rounds": 30, "sweep_rounds": 40, "biased": (4, 8, 16, 32), "n_blocks": 40_000, "n_directions": 400,
    },
    "quick": {
        "dense": (16, 32), "dense_fit": (16, 32), "beyond": 32,
        "fast_draw": (16, 64), "fast_draw_fit": 16,
        "apply": (16, 64), "apply_fit": 16, "overtakes": 16,
        "stairs": (16, 17), "linear": (2**8, 2**10), "sweeps": (128, 256), "products": (2, 7, 1024),
        "dense_rounds": 2, "rounds": 2, "apply_rounds": 2, "sweep_rounds": 2, "biased": (4,), "n_blocks": 4000, "n_directions": 40,
    },
}[profile]  # fmt: skip
ledger = evidence.Ledger("simplex/04_cost", profile)

# %% [markdown]
# ## How we measure
#
# Time on a shared machine is noisy, and fitted exponents mislead. We take *processor* time of one thread, in
# single precision, without compilation; all competitors in turn within a round, several rounds; each exponent is
# fitted in every round by itself, so that the rounds give it an error bar. Big-O is a promise about large $d$, and
# fits use the large end alone: at small $d$ the clock sees the cost of starting a program, not of the mathematics.
#
# Big-O is also a promise from above only: an exponent may exceed the printed one by half at most, wide enough for
# caches, narrow enough to tell $d \log d$, $d^2$ and $d^3$ apart. The clock decides at the paper profile alone, and a
# failure beside other work on the machine decides nothing.


# %%
def processor_seconds(cases, rounds, description):
    """Seconds per call of compiled cases on one thread, one after the other within a round: (rounds, cases)."""
    for run in cases:
        jax.block_until_ready(run())
    seconds = np.empty((rounds, len(cases)))
    for i, j in tqdm(np.ndindex(seconds.shape), total=seconds.size, desc=description, leave=False):
        calls, start = 0, time.process_time()
        while not calls or time.process_time() - start < 3e-3:  # what is over at once is repeated
            jax.block_until_ready(cases[j]())
            calls += 1
        seconds[i, j] = (time.process_time() - start) / calls
    return seconds


def compiled(function, *arguments):
    """The function of these arguments, compiled, as a function without arguments."""
    return partial(jax.jit(function).lower(*arguments).compile(), *arguments)


def exponents(sizes, seconds):
    """Log-log slope in each round; sizes run along the last axis."""
    x = np.log(sizes) - np.log(sizes).mean()
    return np.log(seconds) @ x / (x @ x)


def d_log_d(sizes):
    """Log-log slope of d log d itself over these sizes."""
    return float(exponents(sizes, sizes * np.log2(sizes)))


def stated(slopes):
    """Mean of the rounds with its standard error."""
    return f"{slopes.mean():.2f} ± {slopes.std(ddof=1) / np.sqrt(len(slopes)):.2f}"

# %% [markdown]
# (simplex-table-1)=
# ## Table 1, regular row: drawing
#
# A block of $d$ frequencies needs a rotation, and a rotation needs a QR decomposition: $d^3$. The simplex adds
# $O(d^2)$ to the whole block, simplex+ a few sweeps over it.


# %%
@cache
def drawing(name, d):
    """A compiled draw of one block: a function without arguments."""
    if name in FAST:
        draw = partial(fast.draw, m=d, d=d, coupling=name.removesuffix("_fast"))
    else:
        draw = partial(getattr(couplings, name), m=d, d=d)
    return compiled(draw, jax.random.key(d))


sizes = np.array(SIZES["dense"])
fitted = sizes[sizes <= SIZES["dense_fit"][1]]
with jax.enable_x64(False), evidence.Clock() as clock:
    cases = [drawing(name, d) for name in DENSE for d in fitted.tolist()]
    drawn = processor_seconds(cases, SIZES["dense_rounds"], "dense draws").reshape(-1, len(DENSE), len(fitted))
large = fitted >= SIZES["dense_fit"][0]
slopes = exponents(fitted[large], drawn[:, :, large])
for i, name in enumerate(DENSE):
    print(f"{plotting.LABELS[name]:12s} exponent {stated(slopes[:, i])} over d = {fitted[large]}")
ledger.decide("simplex/table-1/regular-draw", evidence.timed(evidence.bound(slopes, 3.5), profile, clock))

# %% [markdown]
# The paper says after the table that SimRFs are "essentially equal in computational cost to ORFs". A round in which
# something else held up one of the two says nothing of either, so that we count the rounds: a sign test.

# %%
ratio = drawn[:, 1, large] / drawn[:, 0, large]
print(f"simplex over orthogonal, medians: {np.round(np.median(ratio, axis=0), 3)} at d = {fitted[large]}")
ledger.decide(
    "simplex/table-1/simplex-as-orthogonal", evidence.timed(evidence.order(ratio, 1.2, robust=True, unit="times"), profile, clock)
)

# %% [markdown]
# One block at $d = 4096$ takes seconds: a single look at each coupling, outside of the fit, for the figure.

# %%
beyond = sizes[sizes > SIZES["beyond"]]
with jax.enable_x64(False):
    once = [[drawing(name, d) for d in beyond.tolist()] for name in DENSE]
    drawn_once = np.empty((len(DENSE), len(beyond)))
    for i, j in np.ndindex(drawn_once.shape):
        start = time.process_time()
        jax.block_until_ready(once[i][j]())
        drawn_once[i, j] = time.process_time() - start
for name, row in zip(DENSE, drawn_once, strict=True):
    for d, seconds in zip(beyond, row, strict=True):
        print(f"{plotting.LABELS[name]:12s} d = {d}: {seconds:.2f} s")

# %% [markdown]
# ## Table 1, fast row: drawing
#
# $$\widetilde{\mathbf R} = \mathbf H \mathbf D_1 \mathbf H \mathbf D_2 \mathbf H \mathbf D_3,$$
#
# with $\mathbf H$ the normalised Hadamard matrix and $\mathbf D_i$ diagonal, random signs. Nothing but $3d$ signs
# and $d$ lengths is drawn, and no matrix is formed. (The lengths are $\chi_d$. Drawn as lengths of Gaussian
# vectors they alone would cost $d^2$.)

# %%
fast_sizes = np.array(SIZES["fast_draw"])
with jax.enable_x64(False), evidence.Clock() as clock:
    cases = [drawing(name, d) for name in FAST for d in fast_sizes.tolist()]
    fast_drawn = processor_seconds(cases, SIZES["rounds"], "fast draws").reshape(-1, len(FAST), len(fast_sizes))
large = fast_sizes >= SIZES["fast_draw_fit"]
slopes = exponents(fast_sizes[large], fast_drawn[:, :, large])
for i, name in enumerate(FAST):
    print(f"{plotting.LABELS[name]:17s} exponent {stated(slopes[:, i])} over d = {fast_sizes[large]}")
print(f"d log d itself    exponent {d_log_d(fast_sizes[large]):.2f}")
found = evidence.bound(slopes, d_log_d(fast_sizes[large]) + 0.5)
ledger.decide("simplex/table-1/fast-draw", evidence.timed(found, profile, clock))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Processor time to draw one block of d frequencies: medians over rounds, bars over the middle half of them, mostly hidden by the dots. Solid: a Haar rotation by QR; the dots at d = 4096 are single measurements. Dashed: fast variants, which nearly coincide. Dotted guides: the powers d^3 and d log d.", "name": "fig-simplex-cost-draw"}, "image": {"alt": "Log-log chart of seconds against d. The three dense couplings rise together, parallel to d cubed, to several seconds at 4096. The fast variants stay below a millisecond at 4096 and reach a tenth of a second at a million."}}
def draw_curve(ax, x, seconds, name, dashed=False):
    """Medians over rounds, with bars over the middle half of them."""
    lower, middle, upper = np.quantile(seconds, [0.25, 0.5, 0.75], axis=0)
    spread = np.stack([middle - lower, upper - middle])
    return ax.errorbar(x, middle, spread, fmt="o--" if dashed else "o-", color=plotting.COLOURS[name]).lines[0]


fig, ax = plt.subplots()
lines = {}
for i, name in enumerate(DENSE):
    all_drawn = np.column_stack([drawn[:, i], np.tile(drawn_once[i], (len(drawn), 1))])
    lines[plotting.LABELS[name]] = draw_curve(ax, sizes, all_drawn, name)
for i, name in enumerate(FAST):
    lines[plotting.LABELS[name]] = draw_curve(ax, fast_sizes, fast_drawn[:, i], name, dashed=True)
dense_end, fast_end = np.median(drawn[:, 0, -1]), np.median(fast_drawn[:, 0, -1])
d_cubed, d_logs = np.array([256, 4096]), np.array([2**12, 2**20])
guides = {
    "$d^3$ ": (d_cubed, 4 * dense_end * (d_cubed / fitted[-1]) ** 3.0),
    r"$d \log d$ ": (d_logs, 0.25 * fast_end * d_logs * np.log2(d_logs) / (fast_sizes[-1] * np.log2(fast_sizes[-1]))),
}
for text, (x, y) in guides.items():
    ax.plot(x, y, ":", color=plotting.INK, linewidth=1)
    ax.text(x[0], y[0], text, color=plotting.INK, ha="right")
ax.set(xscale="log", yscale="log", xlabel="dimension d", ylabel="seconds per block, drawing")
plotting.label_ends(ax, lines)
plt.show()

# %% [markdown]
# **Space.** The paper counts $d^2$ numbers to store $\mathbf R$, and $d$ for a fast block, whose lengths alone must be
# kept. Its $3d$ signs must be, too, which changes nothing about the order. Here is what the library keeps:

# %%
stored, allowed = [], []
for d in (8, 64, 512, 4096):
    kept = [getattr(couplings, name) for name in DENSE] + [partial(fast.draw, coupling=n.removesuffix("_fast")) for n in FAST]
    for draw, limit in zip(kept, [d**2] * len(DENSE) + [4 * d] * len(FAST), strict=True):
        shapes = jax.eval_shape(partial(draw, m=d, d=d), jax.random.key(0))
        stored.append(sum(leaf.size for leaf in jax.tree.leaves(shapes)))
        allowed.append(limit)
ledger.decide("simplex/table-1/space", evidence.bound(np.array(stored), np.array(allowed), exact=True))

# %% [markdown]
# ## Applying a block to points
#
# A matrix costs $d^2$ per point; $\mathbf D \mathbf S (\widetilde{\mathbf R} \boldsymbol x)$ costs $d \log d$. The
# library writes $\mathbf H$ as a Kronecker product of factors of at most $64 \times 64$, each one a small matrix
# product: more operations than the textbook's butterflies, but far fewer trips to memory.

# %%
def applying(name, d):
    """A compiled product of points with one block; the number of points, fewer where a point is huge."""
    n = 256 if d <= 4096 else 16
    key_x, key_omega = jax.random.split(jax.random.key(d))
    x = jax.random.normal(key_x, (n, d))
    if name == "dense":
        return compiled(lambda x, omega: x @ omega.T, x, jax.random.normal(key_omega, (d, d))), n
    return compiled(fast.Frequencies.project, drawing(name, d)(), x), n


apply_sizes = np.array(SIZES["apply"])
dense_sizes = apply_sizes[apply_sizes <= 4096]
with jax.enable_x64(False), evidence.Clock() as clock:
    todo = [("dense", d) for d in dense_sizes.tolist()] + [(name, d) for name in FAST for d in apply_sizes.tolist()]
    cases, n_points = zip(*(applying(name, d) for name, d in todo), strict=True)
    per_point = processor_seconds(cases, SIZES["apply_rounds"], "products") / np.array(n_points)
dense_applied = per_point[:, : len(dense_sizes)]
fast_applied = per_point[:, len(dense_sizes) :].reshape(-1, len(FAST), len(apply_sizes))

# %%
large = dense_sizes >= SIZES["apply_fit"]
slopes = exponents(dense_sizes[large], dense_applied[:, large])
print(f"matrix             exponent {stated(slopes)}")
ledger.decide("simplex/table-1/regular-apply", evidence.timed(evidence.bound(slopes, 2.5), profile, clock))

# %%
large = apply_sizes >= SIZES["apply_fit"]
slopes = exponents(apply_sizes[large], fast_applied[:, :, large])
for i, name in enumerate(FAST):
    print(f"{plotting.LABELS[name]:17s}  exponent {stated(slopes[:, i])} over d = {apply_sizes[large]}")
print(f"d log d itself     exponent {d_log_d(apply_sizes[large]):.2f}")
found = evidence.bound(slopes, d_log_d(apply_sizes[large]) + 0.5)
ledger.decide("simplex/table-1/fast-apply", evidence.timed(found, profile, clock))

# %% [markdown]
# (simplex-crossover)=
# ### Where the lines cross
#
# Table 1 does not say, and it depends on the machine.

# %%
gain = dense_applied[:, None, :] / fast_applied[:, :, : len(dense_sizes)]
judged = dense_sizes >= SIZES["overtakes"]
found = evidence.order(1.0, gain[..., judged], robust=True, unit="times")
ledger.decide("simplex/extra-crossover/from-1024", evidence.timed(found, profile, clock))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Processor time to multiply one point with one block of d frequencies: medians over rounds, bars over the middle half of them, mostly hidden by the dots. Solid grey: any coupling held as a matrix. Dashed: fast variants, which nearly coincide.", "name": "fig-simplex-cost-apply"}, "image": {"alt": "Log-log chart of microseconds per point against d. The matrix is faster up to a few hundred dimensions; then its line, of slope two, crosses the two fast lines, of slope about one, which continue to 65536 dimensions."}}
fig, ax = plt.subplots()
lines = {"matrix": draw_curve(ax, dense_sizes, 1e6 * dense_applied, "iid")}
for i, name in enumerate(FAST):
    lines[plotting.LABELS[name]] = draw_curve(ax, apply_sizes, 1e6 * fast_applied[:, i], name, dashed=True)
ax.set(xscale="log", yscale="log", xlabel="dimension d", ylabel="microseconds per point")
plotting.label_ends(ax, lines)
plt.show()

# %% tags=["hide-input"]
for i, name in enumerate(FAST):
    row = np.median(gain[:, i], axis=0)
    gains = ", ".join(f"{d}: {g:.2f}" for d, g in zip(dense_sizes, row, strict=True))
    ahead = dense_sizes[np.cumprod(row[::-1] > 1)[::-1].astype(bool)]
    ahead = f"ahead from d = {ahead[0]} on" if len(ahead) else "not ahead at the end"
    print(f"{plotting.LABELS[name]}: matrix time over fast time at d = {gains}; {ahead}")

# %% [markdown]
# **Padding.** Hadamard matrices of this kind exist for powers of two, and points of dimension $d$ are padded with
# zeros to $p = 2^{\lceil \log_2 d \rceil}$. The cost is a staircase: 513 coordinates are treated as 1024. A block
# then holds $p$ rows with lengths $\chi_p$; what meets the data is their first $d$ coordinates. The paper pads in
# the same way, for its Table 3.

# %% tags=["hide-input"]
with jax.enable_x64(False):
    cases, n_points = zip(*(applying("simplex_fast", d) for d in SIZES["stairs"]), strict=True)
    stairs = np.median(processor_seconds(cases, SIZES["apply_rounds"], "padding"), axis=0) / np.array(n_points)
stairs = ", ".join(f"{1e6 * seconds:.1f} at d = {d}" for d, seconds in zip(SIZES["stairs"], stairs, strict=True))
print(f"microseconds per point, fast simplex, m = d: {stairs}")

# %% [markdown]
# (simplex-alg-1)=
# ## Algorithm 1: the simplex costs next to nothing
#
# The rows of $\mathbf S$ (Eq. 9) share one vector of ones, so that one sum serves them all:
#
# $$y_d = \tfrac{1}{\sqrt{d-1}} \sum_{i<d} x_i, \qquad
#   y_i = \sqrt{\tfrac{d}{d-1}}\, x_i - \tfrac{\sqrt d + 1}{d - 1}\, y_d .$$


# %%
def algorithm_1(x):
    """As printed, loop and all."""
    d = len(x)
    y = np.empty(d)
    y[d - 1] = sum(x[: d - 1]) / np.sqrt(d - 1)
    for i in range(d - 1):
        y[i] = np.sqrt(d / (d - 1)) * x[i] - (np.sqrt(d) + 1) / (d - 1) * y[d - 1]
    return y


def equation_9(d):
    """The rows of S as printed."""
    ones = np.append(np.ones(d - 1), 0.0)
    corners = np.sqrt(d / (d - 1)) * np.eye(d)[:-1] - (np.sqrt(d) + 1) / (d - 1) ** 1.5 * ones
    return np.vstack([corners, ones / np.sqrt(d - 1)])


rng, eps = np.random.default_rng(0), np.finfo(float).eps
products, truths, rounding = [], [], []
for d in SIZES["products"]:
    S, x = equation_9(d), rng.normal(size=d)
    scale = np.abs(S @ x).max()
    truths.append(np.tile(S @ x, 2) / scale)
    products += [algorithm_1(x) / scale, np.asarray(directions.simplex_product(x[:, None]))[:, 0] / scale]
    # A sum of d products rounds to d/2 units of the sum of their sizes, in each of the two ways; 4 are for the entries of S.
    rounding.append((d + 4) * eps * (np.abs(S) @ np.abs(x)).max() / scale)
ledger.decide(
    "simplex/alg-1/identity", evidence.identity(np.concatenate(products), np.concatenate(truths), max(rounding))
)

# %% [markdown]
# To see the product and neither the cost of a call (small $d$) nor the edge of a cache (large $d$), we give it as many
# points as make $2^{20}$ numbers in all, and count the time per point.

# %%
linear_sizes = np.array(SIZES["linear"])
n_columns = 2**20 // linear_sizes
with jax.enable_x64(False), evidence.Clock() as clock:
    points = [jax.random.normal(jax.random.key(0), (d, n)) for d, n in zip(linear_sizes, n_columns, strict=True)]
    cases = [compiled(directions.simplex_product, x) for x in points]
    projected = processor_seconds(cases, SIZES["apply_rounds"], "simplex products") / n_columns
slopes = exponents(linear_sizes, projected)
print(f"exponent {stated(slopes)} over d = {linear_sizes}")
ledger.decide("simplex/alg-1/linear", evidence.timed(evidence.bound(slopes, 1.5), profile, clock))

# %% [markdown]
# (simplex-running-sum)=
# ## Simplex+: cubic as printed, quadratic with a running sum
#
# Table 1 denies simplex+ a fast variant: the iteration of Eq. 17, $\widehat{\boldsymbol u}_i \leftarrow -
# \boldsymbol r_i / \|\boldsymbol r_i\|$ with $\boldsymbol r_i = \sum_{j \ne i} w_j \widehat{\boldsymbol u}_j$, is
# put at $O(d^3)$, because each of $d$ vectors needs a sum over $d$ others of $d$ coordinates. But the sum changes
# by one vector at a time. Keep it, and a sweep is $O(d^2)$.


# %%
def sweep_as_printed(vectors, lengths):
    """One pass of Eq. 17, each sum from scratch."""

    def update(i, vectors):
        rest = vectors.sum(axis=0) - vectors[i]
        return vectors.at[i].set(-lengths[i] * rest / jnp.linalg.norm(rest))

    return jax.lax.fori_loop(0, len(vectors), update, vectors)


sweep_sizes = np.array(SIZES["sweeps"])
lengths = [jnp.asarray(np.sqrt(rng.chisquare(d, d))) for d in sweep_sizes]
starts = [w[:, None] * equation_9(len(w)) for w in lengths]
sweep_as_printed = jax.jit(sweep_as_printed)
printed_twice = sweep_as_printed(sweep_as_printed(starts[0], lengths[0]), lengths[0])
ledger.decide(
    "simplex/extra-running-sum/identity",
    evidence.identity(weight_dependent.balance(lengths[0], sweeps=2), printed_twice, 1e-9, relative=True),
)

# %%
cases = [compiled(sweep_as_printed, start, w) for start, w in zip(starts, lengths, strict=True)]
cases += [compiled(partial(weight_dependent.balance, sweeps=1), w) for w in lengths]
with evidence.Clock() as clock:
    swept = processor_seconds(cases, SIZES["sweep_rounds"], "sweeps").reshape(-1, 2, len(sweep_sizes))
slopes = exponents(sweep_sizes, swept)
print(f"as printed       exponent {stated(slopes[:, 0])} over d = {sweep_sizes}")
gain = np.median(swept[:, 0, -1] / swept[:, 1, -1])
print(f"with running sum exponent {stated(slopes[:, 1])}, and {gain:.0f} times faster at d = {sweep_sizes[-1]}")
found = evidence.order(slopes[:, 0], 3.5, robust=True)
ledger.decide("simplex/table-1/fast-simplex-plus", evidence.timed(found, profile, clock))

# %%
found = evidence.order(slopes[:, 1] + 0.5, slopes[:, 0])
ledger.decide("simplex/extra-running-sum/exponent", evidence.timed(found, profile, clock))

# %% [markdown]
# Table 1's entry for fast simplex+ holds for the formula as it stands, and as an upper bound; it is not the best one
# can do. In regular simplex+ the rotation is cubic in any case.

# %% [markdown]
# (simplex-fast-bias)=
# ## The price of speed: fast features are biased
#
# What does the paper say? Its abstract and conclusion speak of "unbiased approximation", of SimRFs in general.
# Section 4.2 calls $\widetilde{\mathbf R}$ "a proxy [...] which is approximately sampled from the orthogonal group
# according to Haar measure", Appendix B.2 "an orthogonal proxy [...] that is only approximately sampled from Haar
# measure", and the caption of Table 3 says that it "does not change the accuracy of nonparametric classification".
# Nowhere does it say that the fast features are unbiased, and nowhere that they are not. They are not.
#
# Positive features estimate $k(\boldsymbol x, \boldsymbol y)$ without bias if
# $\mathbb E\, e^{\boldsymbol\omega^\top \boldsymbol v} = e^{\|\boldsymbol v\|^2 / 2}$ for
# $\boldsymbol v = \boldsymbol x + \boldsymbol y$. There are $2^{3d}$ sign patterns. At $d = 4$ that makes 4096, and
# {py:func}`rfcore.theory.fast_bias` averages over all of them, with the lengths in closed form: no sampling at all.

# %%
v_diagonal, v_axis = np.ones(4), 2 * np.eye(4)[0]
for v, text in [(v_diagonal, "v = (1, 1, 1, 1)"), (v_axis, "v = (2, 0, 0, 0)")]:
    print(f"{text}: " + ", ".join(f"{plotting.LABELS[n]} {100 * (theory.fast_bias(v, n) - 1):+.2f} %" for n in FAST))
ledger.decide(
    "simplex/extra-fast-bias/biased",
    evidence.bound(theory.fast_bias(v_diagonal, "orthogonal_fast") - 1, 0.1, side="above", exact=True),
)

# %% [markdown]
# Do the frequencies that the library draws have this bias? We draw blocks and average over their lengths in closed
# form: a direction $\boldsymbol u$ is as likely as $-\boldsymbol u$, and for a $\chi_d$ length $w$,
# $\mathbb E_w \cosh(w t) = {}_1F_1(\tfrac d2; \tfrac12; \tfrac{t^2}2)$. The same estimate goes to dimensions where
# nobody can enumerate.


# %%
def towards(d):
    """Two vectors of length 2: along the diagonal, and along the first axis."""
    return np.stack([np.full(d, 2 / np.sqrt(d)), 2 * np.eye(d)[0]])


def fast_blocks(key, d, name):
    """Bias of each of many fast blocks in both directions, (n_blocks, 2), and one coordinate of one of its frequencies."""

    def draw(key):
        frequencies = fast.draw(key, d, d, name.removesuffix("_fast"))
        unit = replace(frequencies, norms=jnp.ones(d))
        cosines = unit.project(towards(d))
        return cosines, frequencies.norms[0] * cosines[1, 0] / 2

    cosines, coordinate = map(np.asarray, jax.jit(jax.vmap(draw))(jax.random.split(key, SIZES["n_blocks"])))
    return np.mean(hyp1f1(d / 2, 0.5, cosines**2 / 2), axis=-1) / np.exp(2), coordinate


dimensions = SIZES["biased"]
blocks = {(name, d): fast_blocks(jax.random.key(d), d, name) for name in FAST for d in tqdm(dimensions, leave=False)}
biases = np.array([[blocks[name, d][0] for d in dimensions] for name in FAST]).transpose(2, 0, 3, 1)
biases.shape  # blocks, variants, directions, dimensions

# %%
enumerated = np.array([[[theory.fast_bias(towards(d)[axis], name) for d in (2, 4)] for axis in (0, 1)] for name in FAST])
ledger.decide("simplex/extra-fast-bias/drawn", evidence.unbiased(biases[..., 0], enumerated[..., 1], smallest_bias=0.05))

# %%
at_two = np.full(len(biases), enumerated[0, 0, 0])
diagonal = np.column_stack([at_two, biases[:, 0, 0, :3]])  # d = 2 exactly, then 4, 8 and 16 drawn
ledger.decide("simplex/extra-fast-bias/falls", evidence.order(diagonal[:, 1:], diagonal[:, :-1]))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Mean of fast positive features over the true kernel value for |x + y| = 2, along the diagonal (left) and along an axis (right). d = 2 and 4: exact enumeration. From d = 8 on: independent blocks, bars of three standard errors.", "name": "fig-simplex-fast-bias"}, "image": {"alt": "Two charts of mean over truth against dimension. Along the diagonal both variants start a third too high at d = 2; orthogonal is 23 percent high at 4 and 4 percent at 8; from 16 on all lie on 1. Along the axis biases are a few percent of either sign."}}
fig, axes = plt.subplots(1, 2, sharey=True)
shown = np.array([2, *dimensions])
for axis, ax in enumerate(axes):
    ax.axhline(1, color=plotting.INK, linewidth=0.8)
    for i, name in enumerate(FAST):
        mean = np.append(enumerated[i, axis], biases[:, i, axis, 1:].mean(axis=0))
        bar = 3 * biases[:, i, axis, 1:].std(axis=0) / np.sqrt(len(biases))
        ax.errorbar(shown, mean, np.append([0, 0], bar), fmt="o--", color=plotting.COLOURS[name])
        if not axis:
            ax.text(4.4, mean[1] + (0.0 if i == 0 else -0.03), plotting.LABELS[name], color=plotting.COLOURS[name], va="center")
    ax.set(xscale="log", xlabel="dimension d", title=("along the diagonal", "along an axis")[axis])
    ax.set_xticks(shown, [str(d) for d in shown])
    ax.minorticks_off()
axes[0].set_ylabel("mean over truth")
plt.show()

# %% tags=["hide-input"]
for i, name in enumerate(FAST):
    for axis in (0, 1):
        mean, error = biases[:, i, axis].mean(axis=0) - 1, biases[:, i, axis].std(axis=0) / np.sqrt(len(biases))
        text = ", ".join(f"{d}: {100 * m:+.2f} ± {100 * e:.2f} %" for d, m, e in zip(dimensions[1:], mean[1:], error[1:], strict=True))
        exact = ", ".join(f"{d}: {100 * (b - 1):+.2f} %" for d, b in zip((2, 4), enumerated[i, axis], strict=True))
        print(f"{plotting.LABELS[name]:17s} {('diagonal', 'axis')[axis]:8s} exact {exact}; sampled {text}")

# %% [markdown]
# ### Why: three factors do not fill the sphere
#
# The rotation can take finitely many values. At $d = 4$ a vector of signs is, half of the time, a row of the
# Hadamard matrix itself (up to sign), and the transform then puts *all* of it on one axis. Coordinates of the
# frequencies are exactly zero far too often, and a Gaussian number never is.


# %%
exact_zeros = {case: np.abs(coordinate) < 1e-9 for case, (_, coordinate) in blocks.items()}
for name in FAST:
    shares = ", ".join(f"d = {d}: {100 * exact_zeros[name, d].mean():.1f} %" for d in dimensions)
    print(f"{plotting.LABELS[name]:17s} exactly zero, {shares}")
zeros = np.stack([exact_zeros[name, d] for name in FAST for d in dimensions[:2]], axis=1).astype(float)
ledger.decide("simplex/extra-fast-bias/marginal", evidence.bound(zeros, 0.01, side="above"))

# %% [markdown]
# ### It depends on the direction, and averages out
#
# $\widetilde{\mathbf R}$ is orthogonal, so for a *uniformly* random direction of $\boldsymbol v$ the direction of
# $\widetilde{\mathbf R} \boldsymbol v$ is uniform as well, whatever the signs: the bias, averaged over directions,
# must be nil. Too much along the diagonal is too little elsewhere.

# %%
uniform = rng.normal(size=(SIZES["n_directions"], 4))
uniform *= 2 / np.linalg.norm(uniform, axis=1, keepdims=True)
by_direction = np.array([[theory.fast_bias(v, name) for name in FAST] for v in tqdm(uniform, leave=False)])
for name, column in zip(FAST, by_direction.T, strict=True):
    tenth, ninetieth = np.quantile(column - 1, [0.1, 0.9])
    print(
        f"{plotting.LABELS[name]:17s} mean {100 * (column.mean() - 1):+.2f} %, least {100 * (column.min() - 1):+.1f} %, "
        f"most {100 * (column.max() - 1):+.1f} %, eight in ten between {100 * tenth:+.1f} and {100 * ninetieth:+.1f} %"
    )
ledger.decide("simplex/extra-fast-bias/averages-out", evidence.unbiased(by_direction, np.ones(2), smallest_bias=0.05))

# %% [markdown]
# ## What we found

# %% tags=["hide-input"]
ledger.close(seeds={"times": "the dimension", "points": 0, "blocks": "the dimension"})

# %% [markdown]
# ## What we learned
#
# * Table 1 stands. Simplex costs what orthogonal costs, and the cubic term is the QR decomposition alone: seconds for
#   one block of 4096. One entry can be bettered: with a running sum, simplex+ is quadratic beside its rotation.
# * The fast product pays from 512 to 1024 dimensions on. An attention head of 64 dimensions is better served by a plain
#   matrix, which is drawn once and used for a whole sequence.
# * The measured exponent of the fast product lies a little above that of $d \log d$: long before the operations, it is
#   memory that counts.
# * Speed has a price that the paper does not name. Fast orthogonal features are biased: along the diagonal by a third
#   at $d = 2$, by 23 % at $d = 4$ and by 4 % at $d = 8$; elsewhere with either sign. Simplex is less so in most
#   places, not in all. At $d = 32$ the means show nothing any more, though one coordinate in fourteen of orthogonal
#   frequencies is still exactly zero.
# * More repeats never cure a bias. A random rotation of the data does, at the price of one dense product.
# * A surprise: at $d = 8$ it is a quarter of all coordinates.
# * On a shared machine, time the processor, and one thread. The clock on the wall times the neighbours.
