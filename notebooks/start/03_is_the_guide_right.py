# %% [markdown]
# # Is the guide right?
#
# * **In all cases but one it keeps its word**: at sizes picked by chance,
#   the error is what `choose` promises, to a tenth (in attention, to a
#   fifth). With 20 frequencies in 3 dimensions, at distance 2, it is an eighth larger.
# * **Whoever holds the points should take Nystroem.** With as many columns, and in the
#   same time, it beats random features, on every table tried.
# * **The lengthscale matters more than the coupling.** Close points gain most, far ones
#   little in many dimensions.
#
# {doc}`The guide <02_which_features>` is for use; this page checks it.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import jax
import networkx as nx
import numpy as np
from IPython.display import Markdown
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from tqdm import tqdm

from companion import datasets, evidence, plotting
from companion.evidence import cost
from companion.models import gaussian_processes
from companion.papers.couplings import choices
from companion.papers.ugrf import large_graphs
from rfcore import choose, choosing, features, graphs, kernels, theory
from rfcore.estimators import RandomFeatures
from rfcore.features import modulation

ledger = evidence.open_page("start/03_is_the_guide_right", profile)
SIZES = {
    "paper": {"draws": 1000, "rows": 100, "sizes": (12, 8, 5), "walked": 100,
              "points": 2000, "rounds": 14, "cuts": 60,
              "widths": (64, 256, 1024, 4096), "sets": ("power", "abalone", "nursery"),
              "tables": ("power", "concrete", "abalone"), },
    "quick": {"draws": 60, "rows": 2, "sizes": (1, 1, 1), "walked": 12,
              "points": 400, "rounds": 8, "cuts": 11,
              "widths": (16, 64, 256), "sets": ("power",), "tables": ("power",)},
}[profile]  # fmt: skip
N_POINTS, WIDTHS = (SIZES[what] for what in ("points", "widths"))

# %% [markdown]
# (guide-table)=
# ## What to take
#
# The table shows what `choose` answers, for $m$ frequencies in $d$
# dimensions. *Error left* is the root mean squared error divided by that of independent
# frequencies, for close, middle and far points: a half is worth four times as many
# frequencies, a tenth a hundred times as many. It is measured on draws, at pairs of
# points in random directions. For kernels $m$ need be no multiple of $d$, as in the row
# of 784 dimensions. For attention take one of $2 d$: a cut block brings much of the
# error of close points back. For vectors the three are distances of 0.5, 1 and 2
# lengthscales (for positive features, lengths of $x + y$, and a dash where the error is
# not known; for attention, lengths of queries and keys); for graphs they are a node and
# itself, neighbours, and nodes farther apart. Write
# `omega = choose(...).coupling(key, m, d)`, and give `omega` to the map. The price is
# paid in drawing: rotations take some $m d^2$ operations once, and features made from
# them cost as much as any others.
#
# Which of the three is yours? Your points are
# `np.median(pdist(X[:500])) / lengthscale` lengthscales apart; read the share nearest to
# that. With `gamma` for the lengthscale it is
# `np.median(pdist(X[:500])) * np.sqrt(2 * gamma)`, and scikit-learn's `gamma="scale"`
# puts standardised columns about two lengthscales apart, where couplings save least.
#
# In scikit-learn say `RandomFeatures(512, gamma=gamma,
# coupling=choose(m=256, d=d).coupling)`, from `rfcore.estimators`. Its 512 columns
# are the cosines and sines of 256 frequencies. `RBFSampler` makes one column of each
# frequency, with a random phase, and is worse with as many columns, before any
# coupling: {doc}`/notebooks/beyond/01_in_a_pipeline`. For attention, $d$ is the
# dimension of a head.

# %% tags=["hide-input"]
ROWS = [  # d, m, features
    (4, 256, "fourier"), (16, 256, "fourier"), (64, 256, "fourier"),
    (784, 1024, "fourier"), (64, 256, "positive"), (64, 256, "attention"),
]  # fmt: skip
TASKS = {
    "fourier": "Gaussian kernel: `features.fourier`",
    "positive": "without negative values: `features.positive`",
    "attention": "attention: `attention.FeatureAttention`",
}
PAGES = {
    "fourier": "couplings/11_choosing",
    "positive": "couplings/11_choosing",
    "attention": "couplings/12_couplings_for_attention",
}


def left(ratios):
    """Shares with no line break between them."""
    shown = ("–" if np.isnan(r) else f"{r:.2f}".lstrip("0") for r in ratios)
    return "\u00a0·\u00a0".join(shown)


DISTANCES, AT_ONCE = (0.5, 1.0, 2.0), 20 if profile == "paper" else 2


def squared(d, m, kind, choice, n_draws):
    """Squared errors of the chosen and of independent frequencies: draws, distances."""
    key = ledger.key(f"draws anew of {kind}, {d}, {m}")
    if kind == "attention":
        errors = choices.attention_errors(key, d, m, n_draws)
        return errors[..., list(choosing.ATTENTION).index(choice.name)], errors[..., -1]
    of_one, sign = {"fourier": (np.cos, -1), "positive": (np.exp, 1)}[kind]
    draw = jax.jit(
        lambda keys: jax.lax.map(lambda key: choice.coupling(key, m, d), keys)
    )
    rng, found = ledger.rng(f"directions of {kind}, {d}, {m}"), []
    for keys in jax.random.split(key, (n_draws // AT_ONCE, AT_ONCE)):
        u = rng.normal(size=(AT_ONCE, d, 16))
        along = np.asarray(draw(keys)) @ (u / np.linalg.norm(u, axis=1, keepdims=True))
        gaps = [
            of_one(z * along).mean(axis=1) - np.exp(sign * z**2 / 2) for z in DISTANCES
        ]
        found += np.mean(np.square(gaps), axis=2).T.tolist()
    one = np.array([theory.one_frequency_mse(z, kind) for z in DISTANCES])
    if kind == "positive":  # in units of the features, not of the kernel
        one = one * np.exp(np.square(DISTANCES))
    return np.array(found), np.broadcast_to(one / m, (len(found), len(DISTANCES)))


chosen = {(d, m, kind): choose(m=m, d=d, features=kind) for d, m, kind in ROWS}
cut, whole = (choose(m=m, d=64, features="attention") for m in (192, 256))
assert cut.rmse_over_iid[0.5] > 1.5 * whole.rmse_over_iid[0.5]
lines = []
for (d, m, kind), choice in chosen.items():
    n = SIZES["rows"] * max(1, min(32, 1024 // d))
    ours, theirs = squared(d, m, kind, choice, n)
    shares = np.sqrt(ours.mean(axis=0) / theirs.mean(axis=0))
    if kind == "positive":  # of far points what is known: rare draws make their error
        shares[-1] = choice.rmse_over_iid[2.0]
    call = f"m={m}, d={d}"
    call += "" if kind == "fourier" else f', features="{kind}"'
    price = "m a power of two" if choice.name == "Sobol'" else "m d² once"
    lines.append(
        f"| {TASKS[kind]} | {d}, {m:,} "
        f"| {{doc}}`{choice.name} </notebooks/{PAGES[kind]}>` "
        f"| {left(shares)} | `choose({call})` | {price} |"
    )

# %% [markdown]
# For graphs the errors are measured. The diffusion kernel with $\sigma = 1$, which looks
# little farther than the neighbours, and with $\sigma = 3$, whose diffusion lasts nine
# times as long, is estimated from two sets of 64 walkers per node, which halt before
# each hop with probability $p_{\text{halt}} = 0.1$. Their lengths and hops are drawn
# either independently or systematically, so that they spread evenly over the
# neighbours. Two sets of walks, `phi @ psi.T`, make the estimate unbiased; a Gaussian
# process, which needs a symmetric kernel, takes one, `phi @ phi.T`.

# %% tags=["hide-input"]
GRAPHS = {
    "karate": graphs.Graph.from_networkx(nx.karate_club_graph()).normalised(),
    "ring with chords": large_graphs.ring_with_chords(
        ledger.key("ring"), 200
    ).normalised(),
}
SIGMAS = 1.0, 3.0


def walked(name, g, coupling):
    """Mean squared errors: repeats, sigmas; same node, neighbours, farther apart."""
    heats = [(modulation.diffusion(s), kernels.diffusion(g, s)) for s in SIGMAS]
    hops, found = shortest_path(g.to_scipy(), unweighted=True), []
    classes = (hops == 0, hops == 1, (hops > 1) & np.isfinite(hops))
    for repeat in range(SIZES["walked"]):
        walks = [
            features.walk_features(
                ledger.key(f"{name} {k}", repeat), g, heats[0][0], 64, 0.1, coupling
            )
            for k in range(2)
        ]
        found.append([])
        for f, K in heats:  # on the same walks
            phi, psi = (each.with_modulation(f).toarray() for each in walks)
            squared = np.asarray((phi @ psi.T - K) ** 2)
            found[-1].append([squared[pairs].mean() for pairs in classes])
    return found


on_graphs = np.array([
    [walked(name, g, coupling) for coupling in ("systematic", "iid")]
    for name, g in tqdm(GRAPHS.items(), desc="graphs", leave=False)
])  # graphs, couplings, repeats, sigmas, classes
of_graphs = np.sqrt(on_graphs[:, 0].mean(axis=1) / on_graphs[:, 1].mean(axis=1))
PAGE = "/notebooks/couplings/17_walks_that_know"
lines += [
    f"| kernel of nodes, σ = {sigma:g}, {name}: `features.walk_features` "
    f"| {g.n_nodes} nodes, 64 | {{doc}}`systematic walkers <{PAGE}>` "
    f'| {left(ratios)} | `coupling="systematic"` | twice the time |'
    for (name, g), rows in zip(GRAPHS.items(), of_graphs, strict=True)
    for sigma, ratios in zip(SIGMAS, rows, strict=True)
]
HEADS = "| task, and map | d, m | take | error left | say | price |"
Markdown("\n".join([HEADS, "|---|---|---|---|---|---|", *lines]))

# %% [markdown]
# (guide-promise)=
# ### Is it kept?
#
# `choose` also says what it expects, `choose(...).rmse_over_iid`, from closed forms
# and stored tables. We let chance pick the sizes, up to 128 dimensions and 2,048
# frequencies, cut blocks and all, and draw: is the error that is left within a tenth of
# what was promised, and in attention within a fifth? Far points are left out for
# positive features, whose error there is made by draws too rare to meet.

# %%
SPANS = {"fourier": 2048, "positive": 2048, "attention": 512}  # m at most
sizes = ledger.rng("sizes that nobody picked")
above, below = {kind: [] for kind in SPANS}, {kind: [] for kind in SPANS}
for (kind, most), n_sizes in zip(SPANS.items(), SIZES["sizes"], strict=True):
    for _ in range(n_sizes):
        d = int(np.exp(sizes.uniform(np.log(2), np.log(129))))
        m = int(np.exp(sizes.uniform(np.log(max(2, d / 2)), np.log(most))))
        choice, n = choose(m=m, d=d, features=kind), SIZES["draws"]
        # Means of so many: few features that are exponentials have heavy tails.
        times = 1 if kind == "fourier" else 4 if d * m > 1000 else 16
        ours, theirs = (
            of_draws.reshape(n, times, -1).mean(axis=1)
            for of_draws in squared(d, m, kind, choice, times * n)
        )
        within = 1.2 if kind == "attention" else 1.1
        for j, z in enumerate(DISTANCES[: 2 if kind == "positive" else 3]):
            promised = choice.rmse_over_iid[z] ** 2 * theirs[:, j]
            scale = promised.mean()
            above[kind].append((ours[:, j] / scale, within**2 * promised / scale))
            below[kind].append((promised / within**2 / scale, ours[:, j] / scale))


def pairs(*of_kinds):
    """Better and worse of an order, each (draws, cases)."""
    return np.moveaxis(np.array([case for kind in of_kinds for case in kind]), 0, 2)


# %% tags=["hide-input"]
near = on_graphs[..., 0, :].transpose(2, 1, 0, 3)  # repeats, couplings, graphs, classes
ledger.decide({
    "start/extra-guide/no-more": evidence.order(
        *pairs(above["fourier"], above["positive"])
    ),
    "start/extra-guide/no-less": evidence.order(
        *pairs(below["fourier"], below["positive"])
    ),
    "start/extra-guide/attention": evidence.order(
        *pairs(above["attention"], below["attention"])
    ),
    "start/extra-guide/walkers": evidence.order(near[:, 0], near[:, 1] / 4),
})

# %% [markdown]
# (guide-nystroem)=
# ## You hold the points
#
# Nystroem's method takes some of the points as landmarks, and kernels with them as
# columns {cite:p}`williams2001nystroem`. It sees where the points are; random features
# do not. We compare scikit-learn's `Nystroem` with Fourier features with the chosen
# coupling where both can be had: on Gram matrices of 2,000 points in 4, 10 and 27
# dimensions, with a lengthscale of the median distance, and of half of it. We do so
# once with equally many columns, and once at equal time: that of computing the columns,
# without what is fitted or drawn once beforehand.


# %%
def points(name):
    """Standardised points of a table, indicators as they are; shuffled."""
    if name == "nursery":
        X = datasets.classification(name, fallback=True)[0]
    else:
        X = datasets.regression(name, fallback=True)[0]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[ledger.rng(f"rows of {name}").permutation(len(X))[:N_POINTS]].astype(float)


def ways(d, gamma, seed):
    """Sines and cosines with the chosen coupling, and kernels with landmarks."""
    chosen = [
        RandomFeatures(
            n, gamma=gamma, coupling=choose(m=n // 2, d=d).coupling, random_state=seed
        )
        for n in WIDTHS
    ]
    marks = [
        Nystroem(gamma=gamma, n_components=n, random_state=seed) for n in WIDTHS[:2]
    ]
    return chosen + marks


def compared(name, X, gamma):
    """Relative errors of the Gram matrix, and milliseconds: rounds, ways."""
    errors, clocks, truth = [], [], rbf_kernel(X[:500], X, gamma=gamma)
    for turn in tqdm(range(-1, SIZES["rounds"]), desc=name, leave=False):
        seed = int(ledger.rng(f"columns of {name}", turn + 1).integers(2**31))
        fitted = [way.fit(X) for way in ways(X.shape[1], gamma, seed)]
        found = [cost(way.transform, X) for way in fitted]
        errors.append([np.linalg.norm(phi[:500] @ phi.T - truth) for phi, _ in found])
        clocks.append([1e3 * spent["processor"] for _, spent in found])
    # The first turn compiles.
    return np.array(errors[1:]) / np.linalg.norm(truth), np.array(clocks[1:])


CASES = [(name, factor) for name in SIZES["sets"] for factor in (0.5, 1.0)]
found = []
with evidence.Clock() as clock:
    for name, factor in CASES:
        X = points(name)
        gamma = 1 / (2 * (factor * np.median(pdist(X[:500]))) ** 2)
        found.append(compared(f"{name}, {factor:g}", X, gamma))
errors, clocks = np.moveaxis(np.array(found), 0, 2)  # each rounds, cases, ways
n, marks = len(WIDTHS), slice(len(WIDTHS), None)

# %% tags=["hide-input"]
HEADS = [f"{name}, {factor:g}" for name, factor in CASES]
plotting.table(
    errors.mean(axis=0)[:, [0, n, 1, n + 1]],
    errors.std(axis=0, ddof=1)[:, [0, n, 1, n + 1]] / np.sqrt(len(errors)),
    rows=HEADS, corner="set, lengthscale",
    columns=[f"{way}, {m}" for m in WIDTHS[:2] for way in ("chosen", "Nystroem")],
    caption="Ours. At equal columns: relative error of the Gram matrix of "
    f"{N_POINTS:,} points (500 of its rows), means over {len(errors)} rounds of fresh "
    "frequencies and landmarks.",
)  # fmt: skip

# %% [markdown]
# Columns do not all cost the same: one of Nystroem's takes a kernel with a landmark,
# and a product with the root of a matrix. The last columns of the table say how long
# random features take.

# %% tags=["hide-input"]
logs = np.log(errors)
level = np.array([
    [np.interp(np.log(t[-1]), np.log(t[:n]), e[:n]) for t, e in zip(*of, strict=True)]
    for of in zip(clocks, logs, strict=True)
])  # what random features reach in the time of Nystroem's last: rounds, cases
plotting.table(
    np.column_stack([
        np.median(clocks[..., -1], axis=0), np.exp(logs[..., -1].mean(axis=0)),
        np.exp(level.mean(axis=0)), np.median(clocks[..., 1:n], axis=0),
    ]),
    rows=HEADS, corner="set, lengthscale",
    columns=[f"Nystroem, {WIDTHS[1]}: ms", "its error", "chosen in that time: error"]
    + [f"chosen, {width:,}: ms" for width in WIDTHS[1:]],
    caption="Ours. At equal time: what random features with the chosen coupling reach "
    "in the time of Nystroem's columns, between their own numbers of columns on a line "
    "of logarithms. Geometric means of errors over rounds; processor milliseconds for "
    "all points, medians, float64.",
)  # fmt: skip
quicker = evidence.order(logs[..., -1], level, robust=True)
ledger.decide({
    "start/extra-landmarks/columns": evidence.order(
        errors[..., marks], errors[..., :2]
    ),
    "start/extra-landmarks/time": evidence.timed(quicker, profile, clock),
})

# %% [markdown]
# (guide-gp)=
# ## Does my Gaussian process improve?
#
# On each of three tables a Gaussian process sees at most 1,000 points and predicts at
# up to 500 others; its lengthscale, variance and noise are chosen by the evidence (the
# marginal likelihood) of 300 points. We compute the posterior mean from 256 columns,
# and show its squared test error beside that of the exact mean, and the squared error
# of the kernel.


# %%
def posterior_mean(phi, y, noise, asked):
    """From features, by the normal equations."""
    A = phi.T @ phi + noise * np.eye(phi.shape[1])
    return asked @ cho_solve(cho_factor(A), phi.T @ y)


def improved(name):
    """Errors of kernel and of prediction: cuts; IID, chosen, Nystroem."""
    X, y = datasets.regression(name, fallback=True)[:2]
    X, y = ((a - a.mean(axis=0)) / a.std(axis=0) for a in (X, y))
    order = ledger.rng(f"aside of {name}").permutation(len(X))
    fit = gaussian_processes.fit_gaussian(X[order[:300]], y[order[:300]])
    gamma, ratio = 1 / (2 * fit.lengthscale**2), fit.noise / fit.variance
    d, found, truth = X.shape[1], [], None
    for cut in tqdm(range(SIZES["cuts"]), desc=name, leave=False):
        rng = ledger.rng(f"fresh cuts of {name}", cut)
        rows = rng.permutation(order[300:])
        seen, asked = rows[: 2 * len(rows) // 3][:1000], rows[-len(rows) // 3 :][:500]
        truth, seed = rbf_kernel(X[asked], gamma=gamma), int(rng.integers(2**31))
        K = rbf_kernel(X[seen], gamma=gamma) + ratio * np.eye(len(seen))
        exact = rbf_kernel(X[asked], X[seen], gamma=gamma) @ np.linalg.solve(K, y[seen])
        of_exact = np.mean((exact - y[asked]) ** 2)
        found.append([])
        for way in (
            RandomFeatures(256, gamma=gamma, coupling="iid", random_state=seed),
            RandomFeatures(256, gamma=gamma, coupling=choose(m=128, d=d).coupling,
                           random_state=seed),
            Nystroem(gamma=gamma, n_components=256, random_state=seed),
        ):  # fmt: skip
            phi, psi = way.fit(X[seen]).transform(X[seen]), way.transform(X[asked])
            mean = posterior_mean(phi, y[seen], ratio, psi)
            loss = np.mean((mean - y[asked]) ** 2) / of_exact
            off = np.mean((mean - exact) ** 2) / of_exact
            found[-1].append([np.mean((psi @ psi.T - truth) ** 2), loss, off])
    return np.array(found)


on_tables = np.stack(
    [improved(name) for name in SIZES["tables"]], axis=1
)  # cuts, sets, ways, what

# %% tags=["hide-input"]
plotting.table(
    np.hstack([
        on_tables[..., 0].mean(axis=0), 100 * (on_tables[..., 1].mean(axis=0) - 1)
    ]),
    rows=list(SIZES["tables"]), corner="table",
    columns=[f"{what}: {way}" for what in ("kernel", "prediction")
             for way in ("IID", "chosen", "Nystroem")],
    caption="Ours. Mean squared error of the kernel; and by how many per cent the "
    "squared test error exceeds that of the exact posterior mean: 256 columns, "
    f"means over {len(on_tables)} cuts.",
)  # fmt: skip
kernel, off = on_tables[..., 0], on_tables[..., 2]  # cuts, sets, ways
reach = kernel[:, :, 1].mean(axis=0) / kernel[:, :, 0].mean(axis=0)
half = np.sqrt(reach)  # half of the logarithm of the kernel's gain
ledger.decide({
    "start/extra-posterior-gain/distance": evidence.order(
        half * off[:, :, 0], off[:, :, 1]
    )
})

# %% tags=["hide-input"]
ledger.close()
