# %% [markdown]
# # What does a good geometry cost? (Table 1, Algorithm 1)
#
# * **Table 1 stands, and the simplex is nearly free.** What is cubic is the QR
#   decomposition, as for orthogonal features: it takes seconds for one block of 4096.
# * **The fast product pays from about a thousand dimensions on.** An attention head of
#   64 dimensions is better served by a plain matrix, drawn once for a whole sequence.
# * **One entry of the table can be improved.** A sweep of simplex+ can be quadratic.
#
# **What the paper claims.** Simplex features cost no more than orthogonal ones, because
# the simplex matrix $\mathbf S$ multiplies a vector in $O(d)$ (Algorithm 1). What is
# expensive is the rotation. {cite:t}`reid2023simplex` list in Table 1:
#
# | | ORFs | SimRFs | SimRFs+ |
# |---|---|---|---|
# | regular | $O(d^3)$ | $O(d^3)$ | $O(d^3)$ |
# | fast | $O(d \log d)$ | $O(d \log d)$ | $O(d^3)$ |
#
# "Fast" replaces the rotation by signs and Hadamard matrices ({doc}`12_fast_variants`).
#
# **The idea.** Big-O is a promise about large $d$, and from above only. So exponents
# are fitted at large $d$, and may exceed the printed ones by a half at most.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import os

# One thread: processor time is then work done, whatever else the machine is busy with.
one_thread = "--xla_cpu_multi_thread_eigen=false"
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {one_thread}"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from functools import cache, partial
from itertools import product

import jax
import numpy as np

from companion import evidence, plotting
from companion.evidence.costs import exponents, seconds_per_call
from companion.papers.simplex import formulas
from rfcore import couplings
from rfcore.couplings import directions, fast, weight_dependent

ledger = evidence.open_page("simplex/11_cost", profile)
DENSE = ("orthogonal", "simplex", "simplex_plus")
FAST = {name: plotting.LABELS[name] for name in ("orthogonal_fast", "simplex_fast")}
EACH = ("matrix", *FAST)
SIZES = {
    "paper": {
        "dense": (8, 64, 256, 512, 1024, 2048), "once": (4096,), "stair": (513,),
        "fast": (8, 256, 4096, 2**14, 2**16, 2**18, 2**20), "sweeps": (128, 256, 512),
        "apply": (8, 64, 256, 512, 1024, 2048, 4096), "beyond": (2**13, 2**14, 2**16),
        "linear": (2**8, 2**10, 2**12, 2**14, 2**16), "from": (512, 2**14, 1024),
    },
    "quick": {
        "dense": (16, 32), "once": (64,), "stair": (17,), "fast": (16, 64),
        "sweeps": (128, 256), "apply": (16, 32), "beyond": (64,), "linear": (256, 1024),
        "from": (16, 16, 16),
    },
}[profile]  # fmt: skip
DRAWS, FAST_DRAWS, ROUNDS = {"paper": (80, 16, 30), "quick": (2, 2, 2)}[profile]

# %% [markdown]
# ## How we measure
#
# Fitted exponents mislead. We take the *processor* time of one thread, in single
# precision and without compilation. There are several rounds, and within a round all
# competitors take their turns ({py:func}`companion.evidence.costs.seconds_per_call`). Each
# exponent is fitted round by round, which gives it an error bar. A failure while the
# machine has other work to do decides nothing.


# %%
def compiled(function, *arguments):
    """The function of these arguments, compiled, as a function without arguments."""
    return partial(jax.jit(function).lower(*arguments).compile(), *arguments)


def law(name):
    as_factors = partial(fast.draw, coupling=name.removesuffix("_fast"))
    return as_factors if name in FAST else getattr(couplings, name)


@cache
def drawing(name, d):
    """A compiled draw of one block of d frequencies, and how many blocks."""
    return compiled(partial(law(name), m=d, d=d), ledger.key("draws", d)), 1


def multiplying(name, d):
    """A compiled product of points with one block, and how many points."""
    n = 256 if d <= 4096 else 16
    x = jax.random.normal(ledger.key("points", d), (n, d))
    if name == "matrix":
        omega = jax.random.normal(ledger.key("matrices", d), (d, d))
        return compiled(lambda x, omega: x @ omega.T, x, omega), n
    return compiled(fast.Frequencies.project, drawing(name, d)[0](), x), n


def measured(make, names, sizes, n_rounds):
    """Seconds per block or point, shape (rounds, names, sizes)."""
    with jax.enable_x64(False):
        todo = [make(name, d) for name in names for d in sizes]
        seconds = seconds_per_call([case for case, _ in todo], n_rounds, "calls")
    seconds = seconds / np.array([n for _, n in todo])
    return seconds.reshape(n_rounds, len(names), len(sizes))


# %% [markdown]
# (simplex-table-1)=
# ## Table 1: drawing a block, and multiplying points with it
#
# **Drawing.** A block of $d$ frequencies needs a rotation, and a rotation needs a QR
# decomposition: $d^3$. The simplex adds $O(d^2)$ to the whole block, simplex+ a few
# sweeps over it. The fast variants put
#
# $$\widetilde{\mathbf R} = \mathbf H \mathbf D_1 \mathbf H \mathbf D_2 \mathbf H \mathbf D_3$$
#
# in place of the rotation, with $\mathbf H$ the normalised Hadamard matrix and
# $\mathbf D_i$ diagonal matrices of random signs. Nothing but $3d$ signs and $d$
# lengths is drawn. (Drawn as lengths of Gaussian vectors, the lengths alone would cost
# $d^2$.)
#
# **Multiplying.** A matrix costs $d^2$ per point; $\mathbf D \mathbf S
# (\widetilde{\mathbf R} \boldsymbol x)$ costs $d \log d$
# ({py:func}`rfcore.couplings.fast.walsh_hadamard`).

# %%
with evidence.Clock() as clock:
    drawn = measured(drawing, DENSE, SIZES["dense"], DRAWS)
    fast_drawn = measured(drawing, FAST, SIZES["fast"], FAST_DRAWS)
    applied = measured(multiplying, EACH, SIZES["apply"], ROUNDS)
    beyond = measured(multiplying, FAST, SIZES["beyond"], ROUNDS)
once = measured(drawing, DENSE, SIZES["once"], 1)  # it takes seconds: a single look

# %% tags=["hide-input"]
LINES = {"matrix": "iid"} | {label: name for name, label in FAST.items()}
figures = []
for sizes, seconds, lines in (
    (SIZES["dense"], drawn, DENSE),
    (SIZES["fast"], fast_drawn, list(FAST)),
    (SIZES["apply"], applied, LINES),
):
    style = {"x_label": "dimension d", "y_label": "seconds", "size": plotting.PANEL}
    figures += plotting.panels(sizes, seconds, lines=lines, **style)
plotting.show(
    *figures,
    caption="Ours. Processor time of one thread, mean over rounds, to draw a block of "
    "frequencies, dense (first) or fast (second), and to multiply a point with it. "
    "Bands: one standard error.",
    alt="Three log-log charts. Three dense lines rise together to half a second at "
    "2048, two fast ones to less than a tenth at a million; the matrix's crosses the "
    "fast ones between 256 and 1024.",
)

# %% [markdown]
# ### The exponents, and space
#
# The paper says after the table that SimRFs are "essentially equal in computational
# cost to ORFs". A round that was held up by other work says nothing about that, so we
# count rounds, in a sign test. As for space, the paper counts $d^2$ numbers for
# $\mathbf R$, and $d$ for a fast block, of which it keeps the lengths alone. Its $3d$
# signs must be kept, too.


# %%
def growth(sizes, seconds, least):
    """Exponent in each round, over the sizes from the least on."""
    large = np.array(sizes) >= least
    return exponents(np.array(sizes)[large], seconds[..., large])


from_dense, from_fast, overtakes = SIZES["from"]
products = np.concatenate([applied[:, 1:], beyond], axis=2)
apply_sizes = np.append(SIZES["apply"], SIZES["beyond"])
of_draws = growth(SIZES["dense"], drawn, from_dense)
of_fast_draws = growth(SIZES["fast"], fast_drawn, from_fast)
of_matrix = growth(SIZES["apply"], applied[:, 0], from_dense)
of_products = growth(apply_sizes, products, from_dense)
logs, apply_logs = (  # of d log d itself, over the same sizes
    float(growth(d, d * np.log2(d), least))
    for d, least in ((np.array(SIZES["fast"]), from_fast), (apply_sizes, from_dense))
)
ratio = (drawn[:, 1] / drawn[:, 0])[:, np.array(SIZES["dense"]) >= from_dense]

# %% tags=["hide-input"]
slopes = (*of_draws.T, *of_fast_draws.T, of_matrix, *of_products.T)
orders = np.array([3, 3, 3, logs, logs, 2, apply_logs, apply_logs])
seconds_once = np.append(once, np.full(5, np.nan))
rows = [f"drawing, {plotting.LABELS[name]}" for name in (*DENSE, *FAST)]
errors = [x.std(ddof=1) / len(x) ** 0.5 for x in slopes]
plotting.table(
    np.column_stack([[x.mean() for x in slopes], orders, seconds_once]),
    np.column_stack([errors, np.zeros((8, 2))]),
    rows=rows + [f"multiplying, {name}" for name in LINES],
    corner="operation",
    columns=["exponent", "of the printed order", f"seconds at d = {SIZES['once'][0]}"],
    caption="Ours. Exponents over large d, mean over rounds; that of $d \\log d$ is "
    "its slope over the same sizes. Last column: single looks.",
)
stored, allowed = [], []
for d, name in product((8, 64, 512, 4096), (*DENSE, *FAST)):
    kept = jax.eval_shape(partial(law(name), m=d, d=d), jax.random.key(0))
    stored.append(sum(leaf.size for leaf in jax.tree.leaves(kept)))
    allowed.append(4 * d if name in FAST else d**2)
as_orthogonal = evidence.order(ratio, 1.2, robust=True, unit="times")
timed = {
    "simplex/table-1/regular-draw": evidence.bound(of_draws, 3.5),
    "simplex/table-1/regular-apply": evidence.bound(of_matrix, 2.5),
    "simplex/table-1/simplex-as-orthogonal": as_orthogonal,
    "simplex/table-1/fast-draw": evidence.bound(of_fast_draws, logs + 0.5),
    "simplex/table-1/fast-apply": evidence.bound(of_products, apply_logs + 0.5),
}
space = evidence.bound(np.array(stored), np.array(allowed), exact=True)
ledger.decide({"simplex/table-1/space": space} | {
    name: evidence.timed(found, profile, clock) for name, found in timed.items()
})  # fmt: skip

# %% [markdown]
# (simplex-crossover)=
# ## Where the lines cross
#
# Table 1 does not say where, and it depends on the machine. Besides, Hadamard matrices
# of this kind exist only for powers of two, so points are padded with zeros, as in the
# paper: the cost is a staircase, and 513 coordinates are treated as 1024. A block then
# holds 1024 rows of that length, whose first 513 coordinates meet the data.

# %%
stair = measured(multiplying, EACH, SIZES["stair"], ROUNDS)
dimensions = np.append(SIZES["apply"], SIZES["stair"])
seconds = np.concatenate([applied, stair], axis=2)[..., np.argsort(dimensions)]

# %% tags=["hide-input"]
plotting.table(
    np.median(np.hstack([1e6 * seconds, seconds[:, :1] / seconds[:, 1:]]), axis=0).T,
    rows=[str(d) for d in np.sort(dimensions)],
    columns=[*LINES, *(f"matrix over {label}" for label in FAST.values())],
    corner="d",
    caption="Ours. Microseconds to multiply a point with a block, and ratios, medians "
    "of rounds: above one, the fast block is ahead.",
)
gain = (applied[:, :1] / applied[:, 1:])[..., np.array(SIZES["apply"]) >= overtakes]
ahead = evidence.order(1.0, gain, robust=True, unit="times")
ahead = evidence.timed(ahead, profile, clock)
ledger.decide({"simplex/extra-crossover/from-1024": ahead})

# %% [markdown]
# (simplex-alg-1)=
# ## Algorithm 1: the simplex costs next to nothing
#
# The rows of $\mathbf S$ (Eq. 9) share one vector of ones; one sum serves them all:
#
# $$y_d = \tfrac{1}{\sqrt{d-1}} \sum_{i<d} x_i, \qquad
#   y_i = \sqrt{\tfrac{d}{d-1}}\, x_i - \tfrac{\sqrt d + 1}{d - 1}\, y_d .$$
#
# {py:func}`~companion.papers.simplex.formulas.product` is the algorithm line by line,
# {py:func}`rfcore.couplings.directions.simplex_product` the library's. We time points
# of $2^{20}$ numbers in all, so that the clock sees neither the cost of a call nor the
# edge of a cache.

# %%
computed, truths, rounding = [], [], []
for d in (2, 3, 4, 7, 64, 257, 1024):
    S, x = formulas.corners(d), ledger.rng("products", d).normal(size=d)
    scale = np.abs(S @ x).max()
    truths.append(np.tile(S @ x, 2) / scale)
    of_library = np.asarray(directions.simplex_product(x[:, None]))[:, 0]
    computed += [formulas.product(x) / scale, of_library / scale]
    # Either sum rounds to d/2 units of the sum of the sizes of its terms, S to 4.
    size = (np.abs(S) @ np.abs(x)).max() / scale
    rounding.append((d + 4) * np.finfo(float).eps * size)


def projecting(_, d):
    x = jax.random.normal(ledger.key("columns", d), (d, 2**20 // d))
    return compiled(directions.simplex_product, x), 2**20 // d


with evidence.Clock() as clock:
    projected = measured(projecting, ["S"], SIZES["linear"], ROUNDS)[:, 0]
linear = evidence.bound(exponents(SIZES["linear"], projected), 1.5)

# %% tags=["hide-input"]
both = (np.concatenate(computed), np.concatenate(truths))
ledger.decide({
    "simplex/alg-1/identity": evidence.identity(*both, max(rounding)),
    "simplex/alg-1/linear": evidence.timed(linear, profile, clock),
})

# %% [markdown]
# (simplex-running-sum)=
# ## Simplex+: cubic as printed, quadratic with a running sum
#
# Table 1 denies simplex+ a fast variant: the iteration of Eq. 17, $\widehat{\boldsymbol
# u}_i \leftarrow - \boldsymbol r_i / \|\boldsymbol r_i\|$ with $\boldsymbol r_i =
# \sum_{j \ne i} w_j \widehat{\boldsymbol u}_j$
# ({py:func}`~companion.papers.simplex.formulas.sweep`), is put at $O(d^3)$: each of $d$
# vectors needs a sum over $d$ others. But the sum changes by one vector at a time. Keep
# it, and a sweep is $O(d^2)$
# ({py:func}`rfcore.couplings.weight_dependent.balance`). So the entry holds, but it is
# not the best one can do. In regular simplex+ the rotation is cubic in any case.
#
# That a sweep as printed is cubic we take from a count of its operations, not from the
# clock: a block of 512 outgrows the caches that one of 128 fits into, and, depending on
# the processor, the time has grown as a power of $d$ between 2.8 and 3.6 in the runs of
# this page.

# %%
sweep_sizes, balance = SIZES["sweeps"], weight_dependent.balance
squares = [ledger.rng("lengths", d).chisquare(d, d) for d in sweep_sizes]
lengths = [jax.device_put(np.sqrt(x)) for x in squares]
starts = [w[:, None] * formulas.corners(len(w)) for w in lengths]
twice = formulas.sweep(formulas.sweep(starts[0], lengths[0]), lengths[0])
same = evidence.identity(balance(lengths[0], 2), twice, 1e-9, relative=True)
cases = [compiled(formulas.sweep, *both) for both in zip(starts, lengths, strict=True)]
cases += [compiled(partial(balance, sweeps=1), w) for w in lengths]
with evidence.Clock() as clock:
    swept = seconds_per_call(cases, DRAWS, "sweeps")
of_sweeps = exponents(sweep_sizes, swept := swept.reshape(DRAWS, 2, -1))


def operations(d):
    """Of a sweep as printed: XLA counts a loop's body once, and it runs d times."""
    both = (jax.ShapeDtypeStruct(shape, float) for shape in ((d, d), (d,)))
    return d * jax.jit(formulas.sweep).lower(*both).cost_analysis()["flops"]


counted = exponents(COUNTED := (128, 256, 512), [operations(d) for d in COUNTED])

# %% tags=["hide-input"]
plotting.table(
    np.column_stack([1e3 * np.median(swept, axis=0), of_sweeps.mean(axis=0)]),
    rows=["as printed", "with a running sum"],
    corner="sweep",
    columns=[*(f"d = {d}" for d in sweep_sizes), "exponent"],
    caption="Ours. Milliseconds of a sweep, median; and the mean exponent.",
)
smaller = evidence.bound(of_sweeps[:, 1] - of_sweeps[:, 0], -0.5)
ledger.decide({
    "simplex/extra-running-sum/identity": same,
    "simplex/table-1/fast-simplex-plus": evidence.bound(counted, 3.1, exact=True),
    "simplex/extra-running-sum/exponent": evidence.timed(smaller, profile, clock),
})

# %% tags=["hide-input"]
ledger.close()
