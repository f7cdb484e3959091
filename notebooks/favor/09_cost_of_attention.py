# %% [markdown]
# # What does attention by features cost?
#
# * **Features pay off where inputs are long.** From a thousand positions on, linear
#   attention is faster in every way that we timed, and from two thousand on several
#   times as fast. Up to 65,536 its memory stays in proportion to the length; its time
#   per position grows somewhat, by how much changes from run to run.
# * **A short encoder gains little from them.** At 512 positions, the most that
#   all-MiniLM-L6-v2 has, 256 features save a tenth of the time of exact attention at
#   most, orthogonal ones that are drawn anew none, at a relative error of 0.65 to 0.79.
#   64 landmarks take less time and have a smaller error.
# * **At equal time the map decides.** Centred ADERF with half as many features has
#   a smaller error than the maps of Table 1, in less time. Orthogonal frequencies, whose rotations
#   are drawn anew for each text, gain under none.
# * **In bfloat16 features are as accurate as in single precision.**
#
# **What the paper claims.** Performers replace attention that takes $O(L^2)$ time by one
# that takes $O(L)$; {cite:t}`likhosherstov2023favor` change the map and keep the cost,
# up to a matrix product per query and key. The paper does not say how many features
# that is worth, nor from which length on it pays.
#
# **The idea.** $O(L)$ hides a factor: a position costs $4 L d$ operations in exact
# attention and $8 m d$ with $m$ features, so that the two should meet near $L = 2 m$. But
# processors have caches, and errors have a price too. So we let a clock decide, twice:
# how long does it take, and how long does it take to be right?

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
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.evidence.costs import seconds_per_call
from companion.evidence.ledger import environment
from companion.models import encoder
from companion.papers.favor import attention_costs, real_heads
from rfcore import attention, couplings

ledger = evidence.open_page("favor/09_cost_of_attention", profile)
jax.config.update("jax_enable_x64", False)  # as encoders compute
D, M = 64, 256
# Lengths that both programs run at, and that only features do; rounds of either clock.
BOTH, ALONE, ROUNDS, TURNS = {
    "paper": ((256, 512, 1024, 2048, 4096), (16_384, 65_536), 25, 40),
    "quick": ((512, 1024, 2048), (), 2, 2),
}[profile]
# Texts measured and fitted to, their word pieces, every which head, features.
(N_TEXTS, N_FITTED), LENGTH, STRIDE, WIDTHS = {
    "paper": ((20, 16), 512, 6, (32, 64, 128, 256)),
    "quick": ((3, 4), 128, 12, (64, 128, 256)),
}[profile]
MAPS, COUPLINGS = {
    "paper": (
        tuple(real_heads.FITS),
        (
            "iid", "orthogonal", "simplex", "simplex_plus", "orthogonal_pnc",
            "orthogonal_pm", "halton", "sobol", "orthogonal_fast", "simplex_fast",
        ),
    ),
    "quick": (("positive", "gerf", "saderf", "aderf_centred"), ("iid", "orthogonal")),
}[profile]  # fmt: skip
MACHINE = f"Processor time of one thread on a CPU ({environment()['device']['cpu']})"


def chart(curves, title, xlabel, ylabel, log, xticks, size=plotting.PANEL, **axes):
    """Curves by what is written beside them: x, samples (repeats, k), colour, style."""
    ax = Figure(figsize=size).subplots()
    ends = {
        label: plotting.band(ax, x, np.asarray(samples), colour, label, **style)
        for label, (x, samples, colour, style) in curves.items()
    }
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, **axes)
    for axis, ticks in (("x", xticks), ("y", [1, 10, 100, 1000])):
        if axis in log:
            ax.set(**{f"{axis}scale": "log"})
            low, high = getattr(ax, f"get_{axis}lim")()
            ticks = [tick for tick in ticks if low < tick < high]
            getattr(ax, f"set_{axis}ticks")(ticks, [f"{tick:g}" for tick in ticks])
            getattr(ax, f"{axis}axis").set_minor_formatter("")
    if size is plotting.WIDE:  # more lines than names can stand beside
        ax.figure.legend(loc="outside right upper", labelcolor="linecolor")
    else:
        ax.figure.draw_without_rendering()
        for label in [x for x, line in ends.items() if len(line.get_xdata()) == 1]:
            plotting.label_ends(ax, {label: ends.pop(label)})  # beside its point
        plotting.label_ends(ax, ends, gap=11)
    return ax.figure


# %% [markdown]
# (favor-cost-length)=
# ## Where linear attention overtakes
#
# We time one head of 64 columns with 256 positive features (FAVOR+) of fixed orthogonal
# frequencies, in single precision. The rival is JAX's own exact attention,
# `jax.nn.dot_product_attention`; ours is what
# {py:class}`~rfcore.attention.FeatureAttention` calls, in logarithms, and
# causally in chunks of 64 positions. Queries, keys and values are random normal
# numbers, as no time depends on their values. There are four ways: bidirectional or
# causal; the outputs alone, or gradients for all three inputs, too. All programs take
# turns within a round, and compilation is not counted.

# %%
WAYS = list(product((False, True), (False, True)))  # causal, with gradients
omega = couplings.orthogonal(ledger.key("frequencies"), M, D)[None]
PROGRAMS = {
    "exact": attention_costs.exact,
    "FAVOR+": lambda q, k, v, causal: attention.random_feature_attention(
        q, k, v, omega, causal=causal
    ),
}


@cache
def points(length):
    keys = jax.random.split(ledger.key("points", length), 3)
    q, k, v = (jax.random.normal(key, (1, length, D)) for key in keys)
    return q / D**0.25, k / D**0.25, v


@cache
def compiled(name, length, way):
    """A program of a length and a way, not yet run."""
    causal, backward = way

    def outputs(*inputs):
        return PROGRAMS[name](*inputs, causal)

    def loss(*inputs):
        return jnp.sum(outputs(*inputs) ** 2)

    call = jax.grad(loss, (0, 1, 2)) if backward else outputs
    shape = jax.ShapeDtypeStruct((1, length, D), jnp.float32)
    return jax.jit(call).lower(shape, shape, shape).compile()


def calls(name, lengths):
    return [
        partial(compiled(name, length, way), *points(length))
        for way in WAYS
        for length in lengths
    ]


n_exact = len(WAYS) * len(BOTH)
both = [*calls("exact", BOTH), *calls("FAVOR+", BOTH + ALONE)]
with evidence.Clock() as clock:
    seconds = seconds_per_call(both, ROUNDS, "rounds")
exact, linear = (  # rounds, ways, lengths
    s.reshape(ROUNDS, len(WAYS), -1) for s in np.split(seconds, [n_exact], axis=1)
)

# %% tags=["hide-input"]
figures = []
for title, ways in (("bidirectional", (0, 1)), ("causal", (2, 3))):
    curves = {}
    for w, suffix, style in zip(ways, ("", " + grad."), ("-", "--"), strict=True):
        for name, s, lengths, colour in (
            ("exact", exact, BOTH, "exact"),
            ("FAVOR+", linear, BOTH + ALONE, "positive"),
        ):
            per_position = 1e6 * s[:, w] / np.array(lengths)
            style_of = {"linestyle": style, "marker": "o"}
            curves[name + suffix] = lengths, per_position, colour, style_of
    figures.append(
        chart(
            curves, title, "positions L", "µs per position", "xy", (256, 4096, 65_536)
        )
    )  # fmt: skip
plotting.show(
    *figures,
    caption=f"Ours. {MACHINE}, mean over {ROUNDS} rounds, per position: outputs "
    "(solid), and outputs with gradients (dashed). Bands: one standard error.",
    alt="Two log-log charts of microseconds per position against the number of "
    "positions. Lines of exact attention rise with the length and end early; lines of "
    "FAVOR+ stay nearly level to the right end, far below the continued rise.",
)

# %% [markdown]
# A causal pass needs the sums before each chunk and pairs within it, and beyond 2,048
# positions its gradient forms both again to save memory, so that causal features cost
# more than bidirectional ones. Exact attention gains nothing from the mask: this
# program forms all scores and hides half.
#
# ### Memory, and where exact attention ends
#
# Exact attention is timed up to 4,096 positions, beyond which it would take most of the
# time of this page; the table has what XLA would reserve beyond that length. (Programs
# exist that never form them, and take memory in proportion to the length; their time is
# quadratic still.)

# %% tags=["hide-input"]
SHOWN = [1024, *(length for length in (4096, *ALONE) if length in BOTH + ALONE)]


def reserved(name, length, way):
    """Bytes of temporary arrays; nothing is run."""
    return compiled(name, length, way).memory_analysis().temp_size_in_bytes


plotting.table(
    [
        [reserved(name, length, way) / 2**20 for length in SHOWN]
        for name in PROGRAMS
        for way in WAYS
    ],
    rows=[
        f"{name}, {'causal' if causal else 'bidirectional'}{', gradients' * backward}"
        for name in PROGRAMS
        for causal, backward in WAYS
    ],
    columns=[f"L = {length:,}" for length in SHOWN],
    corner="attention",
    caption="Ours. Memory for temporary arrays of one head, as XLA reserves it; "
    "programs of exact attention for lengths without a time were compiled, not run. "
    "In MiB.",
)
longer = [length for length in BOTH + ALONE if length > 1024]
bytes_at = np.array([
    [reserved("FAVOR+", length, way) / length for length in (1024, *longer)]
    for way in WAYS
])
both = [BOTH.index(length) for length in BOTH if length >= 1024]
ratio = exact[..., both] / linear[..., both]
at_2048 = ratio[:, [1, 3], BOTH.index(2048) - both[0]]
growth = linear[..., -1] / linear[..., -2] * (BOTH + ALONE)[-2] / (BOTH + ALONE)[-1]
plotting.table(
    np.median(growth, axis=0)[:, None],
    rows=[
        f"FAVOR+, {'causal' if causal else 'bidirectional'}{', gradients' * backward}"
        for causal, backward in WAYS
    ],
    columns=["time over time, per position"],
    corner="attention",
    caption=f"Ours. Time per position at {(BOTH + ALONE)[-1]:,} positions over that at "
    f"{(BOTH + ALONE)[-2]:,}, median of {ROUNDS} rounds. It changes with the caches of "
    "the hour, and no verdict hangs on it.",
)
timed = {
    "overtakes": evidence.order(1.0, ratio, robust=True, unit="times"),
    "four-times": evidence.bound(at_2048, 4.0, side="above", robust=True, unit="times"),
}
ledger.decide({
    f"favor/extra-cost-length/{name}": evidence.timed(found, profile, clock)
    for name, found in timed.items()
} | {
    "favor/extra-cost-length/memory": evidence.bound(
        bytes_at[:, 1:] / bytes_at[:, :1], 1.25, exact=True
    )
})  # fmt: skip

# %% [markdown]
# ### On an accelerator
#
# A GPU changes both sides. Exact attention there never forms its scores (cuDNN's, in
# bfloat16), and features wait longer for their turn; small blocks would leave a GPU
# idle, so that the library takes 16,384 positions at once. "Plain" is a program of ten
# lines in which the past knows the future. Causal features are ahead at 65,536, and no
# program of features is at 16,384. The commit below is older than this page: gradients
# have become cheaper since, which was not timed again.

# %% tags=["hide-input"]
kept, milliseconds = attention_costs.on_an_accelerator()
LENGTHS_THERE = (4096, 16_384, 65_536)
plotting.table(
    [
        [milliseconds.get((name, length, way), np.nan) for length in LENGTHS_THERE]
        for way in WAYS
        for name in ("exact", "plain", "ours")
    ],
    rows=[
        f"{name}, {'causal' if causal else 'bidirectional'}{', gradients' * backward}"
        for causal, backward in WAYS
        for name in ("exact (cuDNN)", "plain", "FAVOR+")
    ],
    columns=[f"L = {length:,}" for length in LENGTHS_THERE],
    corner="attention",
    caption=f"Ours, kept of a run on {kept['date']}, commit {kept['commit']}. "
    f"Milliseconds on one {kept['device']} with JAX {kept['jax']}: 8 heads of 64 "
    "columns, 256 features, bfloat16.",
)

# %% [markdown]
# (favor-cost-error)=
# ## Error against time
#
# Now the queries and keys are real: reviews of 512 word pieces in all-MiniLM-L6-v2, two
# heads of each of its six layers, as in {doc}`06_real_queries`. What is timed is what a
# head does for a new text: it draws frequencies, makes features of queries and keys, and
# attends. Drawing, and features with attention, are timed apart and added, so that every
# coupling meets every map. Fits are not counted; they are made once, on other reviews.
#
# *Landmarks* are those of Nyströmformer {cite:p}`xiong2021nystromformer`: means of
# neighbouring queries and keys, 16 to 128 of them. *Uniform* attention is the mean of all
# values. *Exact* attention is the point at error zero.

# %%
minilm = encoder.minilm(fallback=True)
pool, chosen = datasets.reviews(fallback=True).texts, []
for i in ledger.rng("texts").permutation(len(pool)):
    if len(minilm.tokenizer(pool[i], LENGTH)) == LENGTH:
        chosen.append(pool[i])
    if len(chosen) == N_TEXTS + N_FITTED:
        break


def some_heads(texts):
    of = real_heads.texts(minilm, texts, LENGTH)
    return of._replace(**{
        x: getattr(of, x)[::STRIDE] for x in ("q", "k", "v", "exact")
    })


texts, others = some_heads(chosen[:N_TEXTS]), some_heads(chosen[N_TEXTS:])
N_HEADS, HEAD = len(texts.q), texts.q.shape[-1]
both = others.q[:, others.mask], others.k[:, others.mask]
# Not filled to one structure: positive features have no matrix, and do not pay for one.
fits = {kind: jax.vmap(real_heads.FITS[kind])(*both) for kind in MAPS}
seen = jnp.ones(LENGTH, bool)


@partial(jax.jit, static_argnames=("coupling", "m"))
def drawn(key, coupling, m):
    draw = getattr(couplings, coupling)
    return jax.vmap(lambda key: draw(key, m, HEAD))(jax.random.split(key, N_HEADS))


attend = jax.jit(attention.random_feature_attention)
relative_errors = jax.jit(real_heads.relative_errors)
RIVALS = {
    "uniform": real_heads.uniform,
    "ELU + 1": real_heads.elu,
    "exact": lambda q, k, v, mask: attention_costs.exact(q, k, v),
}
COUNTS = (16, 32, 64, 128)
RIVALS |= {c: partial(real_heads.landmarks, count=c) for c in COUNTS}
RIVALS = {name: jax.jit(f) for name, f in RIVALS.items()}


def of_text(i):
    return texts.q[:, i], texts.k[:, i], texts.v[:, i]


def error(out, i):
    """Relative error of the outputs for text i, mean over heads."""
    out = out.astype(jnp.float32)
    return float(relative_errors(out, texts.exact[:, i], seen).mean())


def errors_of(coupling):
    """Of every map with fresh frequencies, (maps, widths, texts), mean over heads."""
    draw, key = getattr(couplings, coupling), ledger.key("draws")
    omega = real_heads.frequencies(key, texts, WIDTHS[-1], draw)
    found = [real_heads.feature_errors(omega, texts, fits[k], WIDTHS) for k in MAPS]
    return np.stack(found).mean(axis=2)


errors = np.stack([
    errors_of(c) for c in tqdm(COUPLINGS, desc="couplings", leave=False)
])
errors = np.moveaxis(errors, -1, 0)  # texts, couplings, maps, widths
rivals = np.array([
    [error(f(*of_text(i), seen), i) for f in RIVALS.values()] for i in range(N_TEXTS)
])
rivals[:, list(RIVALS).index("exact")] = 0  # rounding

# %%
draws = [partial(drawn, ledger.key("timed"), c, m) for c in COUPLINGS for m in WIDTHS]
omega = drawn(ledger.key("timed"), "orthogonal", WIDTHS[-1])
attends = [
    partial(attend, *of_text(0), omega[:, :m], fits[kind])
    for kind in MAPS
    for m in WIDTHS
]
others = [partial(f, *of_text(0), seen) for f in RIVALS.values()]
with evidence.Clock() as later:
    seconds = seconds_per_call([*draws, *attends, *others], TURNS, "turns")
ends = np.cumsum([len(draws), len(attends)])
to_draw, to_attend, to_rival = np.split(1e3 * seconds / N_HEADS, ends, axis=1)
to_draw = to_draw.reshape(TURNS, len(COUPLINGS), 1, len(WIDTHS))
to_attend = to_attend.reshape(TURNS, 1, len(MAPS), len(WIDTHS))
times = to_draw + to_attend  # milliseconds per head; turns, couplings, maps, widths

# %% tags=["hide-input"]
typical, rival_time = np.median(times, axis=0), np.median(to_rival, axis=0)
ORTHOGONAL, NAMES = COUPLINGS.index("orthogonal"), list(RIVALS)


def base(kind):
    return kind.removesuffix("_centred")


def rivals_drawn():
    at = [NAMES.index(c) for c in COUNTS]
    found = {"landmarks": (rival_time[at], rivals[:, at], "nystroem", {"marker": "s"})}
    for name, colour in (("uniform", "uniform"), ("exact", "exact")):
        j = [NAMES.index(name)]
        found[name] = rival_time[j], rivals[:, j], colour, {"marker": "D"}
    return found


AXES = {
    "xlabel": "ms per head", "ylabel": "relative error", "log": "x",
    "xticks": [0.01, 0.03, 0.1, 0.3, 1, 3],
}  # fmt: skip
figures = []
for title, centred in (("points as they come", False), ("centred", True)):
    curves = {
        plotting.LABELS[base(kind)]: (
            typical[ORTHOGONAL, j], errors[:, ORTHOGONAL, j],
            base(kind), {"marker": "o"},
        )
        for j, kind in enumerate(MAPS)
        if kind.endswith("_centred") == centred
    }  # fmt: skip
    limits = {"ylim": (-0.05, 1.05 * errors[:, ORTHOGONAL].mean(axis=0).max())}
    figures.append(chart(curves | rivals_drawn(), title, **AXES, **limits))
plotting.show(
    *figures,
    caption=f"Ours. Error of attention's outputs against time, orthogonal frequencies, "
    f"m = {WIDTHS[0]} to {WIDTHS[-1]} along each line, landmarks {COUNTS[0]} to "
    f"{COUNTS[-1]}. {MACHINE}, median of {TURNS} rounds. Bands: one standard error "
    "over texts.",
    alt="Two charts of relative error against time. Five lines of feature maps fall "
    "slowly from left to right, centred ones below those of points as they come. A "
    "line of landmarks falls far below them; exact attention is a point at error zero, "
    "no further right than the ends of the lines.",
)
aderf = MAPS.index("aderf_centred")
curves = {
    plotting.LABELS[name].replace("orthogonal + ", "+ "): (
        typical[c, aderf], np.repeat(errors[:, c, aderf].mean(axis=0)[None], 2, axis=0),
        name, {"linestyle": "--" if name.endswith("fast") else "-", "marker": "."},
    )
    for c, name in enumerate(COUPLINGS)
}  # fmt: skip
plotting.show(
    chart(
        curves, "", **AXES | {"xticks": [0.1, 0.2, 0.5, 1, 2]}, size=plotting.WIDE
    ),
    caption=f"Ours. Couplings under centred ADERF, each with m = {WIDTHS[0]} to "
    f"{WIDTHS[-1]}; + PNC and + PM are norms of orthogonal directions. Time includes "
    "the drawing of frequencies. Means over texts.",
    alt="Chart of relative error against time, one line for each of the couplings. The "
    "lines fall slowly and lie close together, those that cost more to draw further "
    "right: Halton, Sobol' and independent frequencies on the left, those that need a "
    "rotation on the right.",
)  # fmt: skip

# %% [markdown]
# ### Every coupling and every map, at equal time
#
# The table has the error of each pair of coupling and map in the time that the cheapest
# pair takes with 256 features. Between two numbers of features, errors are interpolated
# against the logarithm of the time. Reading down a column tells what a coupling is
# worth, and along a row what a map is worth. Frequencies are drawn anew here for each
# head and each text, and a rotation for each block of them is expensive. Where they are
# kept, drawing is free, and the errors of {doc}`06_real_queries`, at equal numbers of
# features, are what counts.

# %% tags=["hide-input"]
budget = typical[..., -1].min()
rising = np.maximum.accumulate(np.log(typical), axis=-1)
equal = np.array([
    [
        np.interp(np.log(budget), rising[c, j], errors[:, c, j].mean(axis=0))
        for j in range(len(MAPS))
    ]
    for c in range(len(COUPLINGS))
])
spread = errors[..., -1].std(axis=0, ddof=1).max() / np.sqrt(N_TEXTS)
SHORT = [
    plotting.LABELS[base(kind)] + ", centred" * kind.endswith("_centred")
    for kind in MAPS
]
plotting.table(
    np.column_stack([1e3 * np.median(to_draw[:, :, 0, -1], axis=0), equal]),
    rows=[plotting.LABELS[name] for name in COUPLINGS],
    columns=["µs to draw 256", *SHORT],
    corner="coupling",
    caption=f"Ours. Relative error in {budget:.2g} ms per head, drawing included; "
    f"standard errors over texts at most {spread:.2g}.",
)
plotting.table(
    np.column_stack([
        np.median(to_attend[:, 0, :, -1], axis=0),
        errors[:, ORTHOGONAL, :, -1].mean(axis=0),
    ]).tolist() + np.column_stack([rival_time, rivals.mean(axis=0)]).tolist(),
    rows=[f"{name}, m = {WIDTHS[-1]}" for name in SHORT]
    + [f"{name} landmarks" if name in COUNTS else name for name in NAMES],
    columns=["ms per head", "relative error"], corner="attention",
    caption=f"Ours. {LENGTH} positions; features of orthogonal frequencies that are "
    "drawn beforehand, and ways without random features.",
)  # fmt: skip


def of(names, m):
    return errors[:, ORTHOGONAL, [MAPS.index(name) for name in names]][..., m]


def time_of(names, m):
    return times[:, ORTHOGONAL, [MAPS.index(name) for name in names]][..., m]


TABLE_1, OURS = ("positive", "gerf", "saderf"), ("aderf_centred",) * 3
few, many = [WIDTHS.index(m) for m in (64, 128)], [WIDTHS.index(m) for m in (128, 256)]
best, theirs = of(OURS, few), of(TABLE_1, many)
marks, all_maps = NAMES.index(64), times[:, ORTHOGONAL, :, -1]
exact_time = to_rival[:, NAMES.index("exact")]
timed = {
    "in-less-time": evidence.order(
        1.0, time_of(TABLE_1, many) / time_of(OURS, few), robust=True, unit="times"
    ),
    "landmarks-time": evidence.order(
        1.0, all_maps / to_rival[:, [marks]], robust=True, unit="times"
    ),
    "no-room": evidence.bound(
        time_of(("positive",), -1)[:, 0] / exact_time,
        0.5, side="above", robust=True, unit="times",
    ),
}  # fmt: skip
ledger.decide({
    "favor/extra-cost-error/half-as-many": evidence.order(best, theirs),
    "favor/extra-cost-error/landmarks": evidence.order(
        np.repeat(rivals[:, [marks]], len(MAPS), axis=1), errors[:, ORTHOGONAL, :, -1]
    ),
} | {
    f"favor/extra-cost-error/{name}": evidence.timed(found, profile, later)
    for name, found in timed.items()
})  # fmt: skip

# %% [markdown]
# (favor-cost-bfloat16)=
# ## Half the bits
#
# In bfloat16 a number has eight bits of precision and the range of single precision, so
# that exponentials neither overflow nor underflow earlier. Here queries, keys, values,
# frequencies, features, sums over keys and outputs are bfloat16; every sum is made in
# single precision, and so are the logarithms of features
# ({py:func}`companion.papers.favor.attention_costs.narrow`). Exact attention is JAX's, given
# bfloat16. Graphics processors have units for it, a CPU may have none; the table says
# what bfloat16 saves on this one, for the heads of {doc}`06_real_queries` and for a
# longer one.

# %%
KINDS = ("exact", "positive", "aderf_centred")
by_narrow = jax.jit(attention_costs.narrow)
narrowed = partial(jax.tree.map, lambda x: x.astype(jnp.bfloat16))


def pair(kind, heads, omega, parameters):
    """A call in float32, and one in bfloat16."""
    if kind == "exact":
        return [partial(RIVALS[kind], *x, None) for x in (heads, narrowed(heads))]
    wide, narrow = (heads, omega), narrowed((heads, omega))
    return [
        partial(f, *q_k_v, of, parameters)
        for f, (q_k_v, of) in ((attend, wide), (by_narrow, narrow))
    ]


def pairs(i):
    omega = drawn(ledger.key("draws", i), "orthogonal", M)
    return [pair(kind, of_text(i), omega, fits.get(kind)) for kind in KINDS]


rounded = np.array([
    [[error(call(), i) for call in calls] for calls in pairs(i)]
    for i in tqdm(range(N_TEXTS), desc="bfloat16", leave=False)
])  # texts, kinds, float32 or bfloat16
rounded[:, 0, 0] = 0
LONG = BOTH[-1]
of_long = couplings.orthogonal(ledger.key("frequencies"), M, D)[None], fits["positive"]
long = [pair(kind, points(LONG), *of_long) for kind in KINDS[:2]]
cases = [call for calls in (*pairs(0), *long) for call in calls]
spent = 1e3 * np.median(seconds_per_call(cases, TURNS, "turns"), axis=0).reshape(-1, 2)
spent[: len(KINDS)] /= N_HEADS

# %% tags=["hide-input"]
NAMED = {"exact": "exact", "positive": "FAVOR+", "aderf_centred": "ADERF, centred"}
found = np.full((len(spent), 2), np.nan)
found[: len(KINDS)] = rounded.mean(axis=0)
plotting.table(
    np.column_stack([found, spent]),
    rows=[f"{NAMED[kind]}, {LENGTH} positions" for kind in KINDS]
    + [f"{NAMED[kind]}, {LONG:,} positions" for kind in KINDS[:2]],
    columns=["error, float32", "error, bfloat16", "ms, float32", "ms, bfloat16"],
    corner="attention",
    caption=f"Ours. Relative error on reviews and milliseconds per head, m = {M}, "
    f"without drawing; the longer head has {D} columns of normal numbers. {MACHINE}, "
    f"median of {TURNS} rounds.",
)
gap = rounded[:, 1:, 1] - rounded[:, 1:, 0]
ledger.decide({
    "favor/extra-cost-bfloat16/error": evidence.bound(
        np.stack([gap, -gap], axis=-1), 0.01
    ),
})

# %% tags=["hide-input"]
ledger.close()
