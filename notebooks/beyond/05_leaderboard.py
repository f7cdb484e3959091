# %% [markdown]
# # A leaderboard of couplings and maps
#
# * **On tables a pair that no paper tried leads**: SDERF (symmetric dense exponential
#   features), centred or not, with Sobol' points has 0.16 and 0.25 times the error of
#   independent Fourier features. The best coupling of Fourier features has 0.36 and 0.54
#   times it.
# * **On digits Fourier features with orthogonal or simplex frequencies lead** (0.35 to
#   0.38). Centred SDERF comes to 0.54 with simplex directions, and to 0.48 with Sobol'
#   points.
# * **On real queries and keys the map decides**: centred SDERF has 0.65 times the
#   error of FAVOR+. Couplings take off 5 % at most.
# * **Centring and the optimal law remove the same error**, draw by draw. Equal norms
#   help nowhere under SDERF.
# * **Systematic walkers and learned modulations help together**, if less than their gains
#   combined. The error falls to between 0.58 and 0.66 with the walkers alone, to about
#   0.87 with the modulation alone, and to between 0.54 and 0.61 with both.
#
# **The question.** Each of the five papers changes one thing: the coupling, the map, or
# the law of frequencies. Each compares with independent features of its own kind. Which
# *pair* of a coupling and a map leads, with as many features, on one scale?
#
# **The idea.** A map and a coupling are separate choices, and the error has a term for
# each ({eq}`eq-two-terms`). So any coupling goes with any map.
# Three pairs look promising and are in none of the papers. *SDERF with simplex
# directions*, or with directions whose norms are equal (a shell): a dense map shortens
# the points, and couplings help where points are short. *Centring with the optimal
# law*: the law makes up for long points, and so for a mean among other things. *Coupled
# walkers with a learned modulation*: the learned modulation accepts bias to save
# variance, and coupled walkers have less variance to save.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import jax
import numpy as np
import optax
from matplotlib import pyplot as plt
from scipy.spatial.distance import pdist
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.models import descent, encoder
from companion.papers.couplings import leaderboard
from companion.papers.favor import real_heads
from companion.papers.ugrf import eight_graphs
from rfcore import copulas, couplings, walks
from rfcore.features import neural

ledger = evidence.open_page("beyond/05_leaderboard", profile)
N_POINTS, N_REPEATS, N_TEXTS, N_FITTED, N_DRAWS = {
    "paper": (200, 60, 60, 96, 2),
    "quick": (60, 4, 4, 8, 1),
}[profile]
SETS = {"paper": ("power", "abalone", "digits"), "quick": ("power", "digits")}[profile]
GRAPHS, N_TRAINING, N_STEPS = {
    "paper": ({"karate": 200, "dolphins": 200, "football": 200}, 128, 3000),
    "quick": ({"karate": 20, "football": 20}, 16, 600),
}[profile]
M, SIZE = 256, 8  # features; pixels of the side of a digit

# %% [markdown]
# (leaderboard-points)=
# ## Points: tables, digits, queries and keys
#
# Two tables of the UCI repository, standardised, and handwritten digits of 8 × 8
# pixels, which are not centred, so that their mean is not zero. The kernel is the
# Gaussian one, with a lengthscale of the median distance; queries and keys are those of
# {doc}`/notebooks/favor/06_real_queries`, on sentences, and their kernel is the softmax
# one. Every map has 256 features: positive ones have as many frequencies, Fourier
# features half as many. Errors are relative errors of the Gram matrix, or of the
# outputs of attention. What has to be fitted is fitted to the points themselves, and
# for attention to other texts.

# %%
COUPLINGS = {
    "independent": couplings.iid,
    "orthogonal": couplings.orthogonal,
    "orthogonal, PNC norms": couplings.orthogonal_pnc,
    "orthogonal shells": couplings.orthogonal_pm,
    "simplex": couplings.simplex,
    "simplex shells": leaderboard.simplex_shells,
    "Sobol'": couplings.sobol,
}
if profile == "quick":
    FEW = ("independent", "orthogonal", "simplex", "simplex shells", "Sobol'")
    COUPLINGS = {name: COUPLINGS[name] for name in FEW}
MAPS = {
    "fourier": "Fourier",
    "positive": "positive",
    "positive_centred": "positive, centred",
    "optimal": "optimal law",
    "optimal_centred": "optimal law, centred",
    "sderf": "SDERF",
    "sderf_centred": "SDERF, centred",
}
IN_HEADS = ("positive", "positive_centred", "sderf", "sderf_centred")


def points_of(name):
    """Points at a median distance of one."""
    if name == "digits":
        images = datasets.images("mnist", fallback=True).images[:, 0] / 255
        rows = ledger.rng(f"fresh {name}").permutation(len(images))[:N_POINTS]
        x = datasets.resize(images[rows], SIZE).reshape(N_POINTS, -1)
    else:
        x = datasets.split(datasets.regression(name, fallback=True)).X_train
        x = x[ledger.rng(f"fresh {name}").permutation(len(x))[:N_POINTS]]
    return x / np.median(pdist(x))


errors = {
    name: leaderboard.of_points(
        ledger.key(f"fresh {name}"),
        points_of(name),
        list(MAPS),
        COUPLINGS.values(),
        M,
        N_REPEATS,
    )
    for name in tqdm(SETS, leave=False)
}

# %% tags=["hide-input"]
minilm = encoder.minilm(fallback=True)
pool = datasets.sentences("test", fallback=True).texts
chosen = []
for i in ledger.rng("fresh texts").permutation(len(pool)):
    if len(minilm.tokenizer(pool[i], 64)) >= 12:
        chosen.append(pool[i])
    if len(chosen) == N_TEXTS + N_FITTED:
        break
texts, others = (
    real_heads.texts(minilm, part, 64) for part in (chosen[:N_TEXTS], chosen[N_TEXTS:])
)
fits = [real_heads.fitted(real_heads.FITS[name], others) for name in IN_HEADS]
in_heads = np.zeros((N_TEXTS, len(IN_HEADS), len(COUPLINGS)))
for k, draw in enumerate(tqdm(COUPLINGS.values(), leave=False)):
    for key in jax.random.split(ledger.key("fresh frequencies"), N_DRAWS):
        omega = real_heads.frequencies(key, texts, M, draw)
        for i, fit in enumerate(fits):
            (found,) = real_heads.feature_errors(omega, texts, fit, (M,))
            in_heads[:, i, k] += np.asarray(found).mean(axis=0) / N_DRAWS

# %% [markdown]
# The table has the error of each pair divided by that of plain independent features:
# Fourier features for tables and digits, FAVOR+ (positive features) for queries and
# keys. A click on the head of a column sorts the table.
#
# **Centring and the optimal law remove the same error.** For one set of points the law draws a
# point and adds twice that point to a normal frequency. Subtract $c$ from all points,
# and every frequency moves by $-2c$; then $\phi(x - c, \omega - 2c)$ is
# $\phi(x, \omega)$ times a factor that depends on $\omega$ and not on $x$. It cancels
# against the weight. So each single draw gives the same estimate, centred or not.

# %% tags=["hide-input"]
TASKS = [*SETS, "queries and keys"]
shape = (len(MAPS), len(COUPLINGS), len(TASKS), 3)
board = np.full(shape, np.nan)
for t, name in enumerate(SETS):
    board[:, :, t] = leaderboard.over(errors[name], errors[name][:, 0, 0])
rows = [list(MAPS).index(name) for name in IN_HEADS]
board[rows, :, -1] = leaderboard.over(in_heads, in_heads[:, 0, 0])
numbers = {"number": ["mean", "low", "high"]}
axes = {"map": list(MAPS.values()), "coupling": list(COUPLINGS), "task": TASKS}
ledger.keep("error over independent", board, axes | numbers)
flat = board.reshape(-1, *shape[2:])
plotting.table(
    flat[..., 0], flat[..., 2] - flat[..., 0],
    rows=[f"{kind}, {name}" for kind in MAPS.values() for name in COUPLINGS],
    columns=TASKS, corner="map, coupling",
    caption="Ours. Error over that of plain independent features, 256 features each, "
    "and half the width of its 95 % interval. Empty where untested.",
)  # fmt: skip

# %% tags=["hide-input"]
twice = [list(MAPS).index(name) for name in ("optimal", "optimal_centred")]
assert np.allclose(*board[twice, :, :-1])


def chart(t):
    """The errors of one task: a tile for each coupling and each map that was tried."""
    kinds = [i for i, name in enumerate(MAPS) if name != "optimal_centred"]
    kinds = [i for i in kinds if np.isfinite(board[i, 0, t, 0])]
    shown = board[kinds, :, t, 0].T
    fig, ax = plt.subplots(figsize=(1.5 + 0.58 * len(kinds), 0.7 + 0.36 * len(shown)))
    for (k, i), x in np.ndenumerate(shown):
        colour = plotting.COLOURS["first" if x < 1 else "second"]
        shade = colour, min(abs(np.log(x)) / 2, 0.7)
        ax.add_patch(plt.Rectangle((i - 0.48, k - 0.46), 0.96, 0.92, facecolor=shade))
        least = {"weight": "bold"} if x == shown.min() else {}
        ax.text(i, k, f"{x:.2f}", ha="center", va="center", **least)
    heads = [list(MAPS.values())[i].replace(" ", "\n") for i in kinds]
    ax.set_xticks(range(len(kinds)), heads)
    ax.set_yticks(range(len(shown)), [name.replace(", ", ",\n") for name in COUPLINGS])
    ax.set(xlim=(-0.5, len(kinds) - 0.5), ylim=(len(shown) - 0.5, -0.5), title=TASKS[t])
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return fig


plotting.show(
    *(chart(t) for t in range(len(TASKS))),
    caption="Ours. The same as tiles: blue is less than 1, brown more, and the least "
    "is bold. The optimal law gives the same numbers, centred or not. On queries and "
    "keys four maps were tried.",
    alt="Four charts of tiles with a number on each, a row per coupling and a column "
    "per map. On both tables the darkest blue is SDERF's with Sobol' points, centred "
    "or not. On digits it is that of Fourier features with orthogonal or simplex "
    "frequencies, and positive features that are not centred are dark brown. On "
    "queries and keys the columns differ and the rows hardly do; centred SDERF has the "
    "least numbers.",
)

# %% tags=["hide-input"]
at, named = list(MAPS).index, list(COUPLINGS).index
digits = errors["digits"]


def under(coupling):
    """Of SDERF, as it is and centred, on digits and on queries and keys."""
    kinds = ("sderf", "sderf_centred")
    k = named(coupling)
    return [digits[:, at(kind), k] for kind in kinds], [
        in_heads[:, IN_HEADS.index(kind), k] for kind in kinds
    ]


def order(better, worse):
    """Paired over draws on digits and over sentences in attention, as many of both."""
    pairs = [np.stack([*of[0], *of[1]], axis=1) for of in (better, worse)]
    return evidence.order(*pairs)


sampled = [named(name) for name in ("independent", "orthogonal", "simplex")]
of_maps = np.stack([errors[name] for name in SETS], axis=1)
tables = of_maps[:, :-1]  # repeats, tables, maps, couplings
rivals = [
    tables[:, :, at(kind), k]
    for kind in list(MAPS)[:-1]
    for k, name in enumerate(COUPLINGS)
    if (kind, name) != ("sderf", "Sobol'")
]
leader = tables[:, :, at("sderf"), named("Sobol'")]
ledger.decide({
    "beyond/extra-leaderboard/simplex-sderf": order(
        under("simplex"), under("independent")
    ),
    "beyond/extra-leaderboard/shells": order(under("simplex shells"), under("simplex")),
    "beyond/extra-leaderboard/sampling": evidence.order(
        digits[:, at("optimal_centred"), sampled],
        digits[:, at("positive_centred"), sampled],
    ),
    "beyond/extra-leaderboard/invariant": evidence.identity(
        digits[:, at("optimal_centred")], digits[:, at("optimal")], 1e-10
    ),
    "beyond/extra-leaderboard/fourier": evidence.order(
        np.broadcast_to(of_maps[:, :, :1, :1], of_maps[:, :, 1:].shape),
        of_maps[:, :, 1:],
    ),
    "beyond/extra-leaderboard/sobol": evidence.order(
        np.stack([leader] * len(rivals), axis=1), np.stack(rivals, axis=1)
    ),
})

# %% [markdown]
# (leaderboard-walks)=
# ## Graphs: walkers and modulations
#
# Table 3 of {doc}`/book/ugrf` learns a modulation on one graph of 20 nodes, with
# independent walkers ({doc}`/notebooks/ugrf/10_learned_modulation`). Its network is
# trained here twice, from the same start: on the errors of independent walkers, and on
# those of systematic ones ({doc}`/notebooks/couplings/17_walks_that_know`). Then both
# are used on other graphs, under seven couplings. All runs have sixteen walkers per
# node, the kernel and the settings of that page, and separate sets of walks for rows
# and for columns.

# %%
sigma, n_walks, p_halt = 0.8, 16, 0.5
beta = sigma**2 / (1 + sigma**2)
WALKERS = {
    "independent": "iid",
    "antithetic": "antithetic",
    "reversal (σ)": "reversal",
    "stratified": "stratified",
    "Sobol'": walks.Coupling(copulas.sobol, walks.hops.First(2)),  # and two hops
    "array-RQMC": walks.Coupling(copulas.stratified, walks.hops.ArrayRQMC()),
    "systematic": "systematic",
}


def learned(name):
    """The network of Table 3, trained on walkers of one coupling."""
    small = eight_graphs.draw("erdos_renyi_small", ledger.key("small graph"))
    loss = leaderboard.loss_of_walks(
        ledger.key("training"), small.scaled(beta), eight_graphs.target(small, beta),
        WALKERS[name], n_walks, p_halt, N_TRAINING,
    )  # fmt: skip
    adam = optax.adam(0.01)
    return descent.learn(lambda f, of: of(f), neural.flat(), (loss,), N_STEPS, adam).f


FS = {
    "flat": neural.flat(),
    "learned, independent": learned("independent"),
    "learned, systematic": learned("systematic"),
}
walked = {}
for name, n_repeats in GRAPHS.items():
    g = eight_graphs.draw(name, ledger.key("not random"))
    on_graph = partial(
        leaderboard.of_walks, ledger.key(name), g.scaled(beta),
        eight_graphs.target(g, beta), list(FS.values()),
        n_walks=n_walks, p_halt=p_halt, n_repeats=n_repeats,
    )  # fmt: skip
    of = [on_graph(coupling=law) for law in WALKERS.values()]
    walked[name] = np.stack(of, axis=2)  # repeats, modulations, couplings

# %% tags=["hide-input"]
on_graphs = np.stack(
    [leaderboard.over(found, found[:, 0, 0]) for found in walked.values()], axis=2
)
axes = {"modulation": list(FS), "coupling": list(WALKERS), "graph": list(GRAPHS)}
ledger.keep("error over independent walkers", on_graphs, axes | numbers)
flat = on_graphs.reshape(-1, len(GRAPHS), 3)
plotting.table(
    flat[..., 0], flat[..., 2] - flat[..., 0],
    rows=[f"{kind}; {name}" for kind in FS for name in WALKERS],
    columns=list(GRAPHS), corner="modulation; walkers",
    caption="Ours. Error of the Gram matrix over that of independent walkers with the "
    "flat modulation, sixteen walkers per node, and half the width of its 95 % "
    "interval.",
)  # fmt: skip
plotting.table(
    [f(np.arange(6)) for f in FS.values()], rows=list(FS),
    columns=[f"$f({k})$" for k in range(6)], corner="modulation",
    caption="Ours. The modulations, on weights $\\beta W$.",
)  # fmt: skip
first, last = list(WALKERS).index("independent"), list(WALKERS).index("systematic")
of_graphs = np.stack(list(walked.values()), axis=1)
systematic = of_graphs[..., last]  # repeats, graphs, modulations
ledger.decide({
    "beyond/extra-leaderboard-walks/hops": evidence.order(
        systematic[:, :, 1], of_graphs[:, :, 1, first]
    ),
    "beyond/extra-leaderboard-walks/learned-for-them": evidence.order(
        systematic[:, :, [2, 2]], systematic[:, :, :2]
    ),
    "beyond/extra-leaderboard-walks/too-much": evidence.order(
        systematic[:, :, 0], systematic[:, :, 1]
    ),
})

# %% [markdown]
# ## What to take
#
# *Few dimensions, and points at hand*: SDERF fitted to them, with Sobol' points; its
# price is one eigenvalue problem of size $d$, and a product with a $d \times d$ matrix
# for each point. *Many dimensions*: Fourier features with orthogonal frequencies, or
# with norms in opposite pairs (PNC); tight frames, which are not in this table, are held
# against them on {doc}`/notebooks/couplings/11_choosing`.
# *Attention*: subtract means and take a dense map before you think of couplings.
# *Graphs*: systematic walkers; with 16 of them and $p_{\text{halt}} = 0.5$, as here,
# array-RQMC ties with them, with more or longer walks it falls behind
# ({doc}`/notebooks/couplings/17_walks_that_know`). A learned modulation beside them where
# a bias does no harm.
#
# Whoever holds all the points need not sample the kernel's frequencies at all:
# Nystroem's columns are better ({doc}`/notebooks/beyond/01_in_a_pipeline`). Not tested
# here: the optimal law for queries and keys, which are two sets; SDERF on graphs; other
# numbers of features.

# %% tags=["hide-input"]
ledger.close()
