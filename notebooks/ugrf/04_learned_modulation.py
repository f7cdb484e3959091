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
# # What does a learned modulation learn?
#
# **What the paper claims.** The modulation $f$ with $f * f = \alpha$ gives unbiased estimates of a kernel, but
# nobody asked for unbiased ones. {cite:t}`reid2023universal` let a tiny network be the modulation (Eq. 16), train it
# on one Erdős–Rényi graph of 20 nodes to make the error of the Gram matrix small, and find an $f$ that is biased and
# better: on that graph and on seven others, up to 60 times larger (Table 3). With more walkers it approaches the
# unbiased one (Figure 4), and of two networks that start far apart both end nearly the same (Figure 6).
#
# The improvement carries over, and training to the end does the rest of what is said. But our networks gain more than twice
# what the paper prints, and the schedule that it states leaves our pair of networks apart. So we also ask what hangs on the settings
# that are not printed, and what the network found: it turns out to need two numbers.

# %% tags=["hide-input"]
import itertools
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of small products mostly wait, and waiting costs time too
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_cpu_enable_concurrency_optimized_scheduler=false"
)
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import optax
import scipy.sparse as sp
from tqdm import tqdm

from rfcore import datasets, evidence, features, kernels, plotting, random_graphs, theory, walks
from rfcore.couplings import walk_lengths
from rfcore.features import modulation, neural
from rfcore.graphs import Graph
from rfcore.solvers import descent, gram

plotting.use_style()

# %% tags=["parameters"]
profile = "paper"

# %%
SIZES = {
    "paper": {"n_batches": 30, "per_batch": 1.0, "n_training": 128, "n_steps": 3000, "n_starts": 100, "n_trainings": 30}
    | {"n_epochs": 1000, "steps_per_epoch": (1, 10), "walkers": (4, 16, 64, 256), "spread": (60, 200), "regular": (30, 100)}
    | {"sigmas": (0.74, 0.77, 0.83, 0.86), "n_scan": 10, "per_scan": 2, "p_scan": 4, "betas": (0.08, 0.12, 0.2, 0.3, 0.4, 0.5)},
    "quick": {"n_batches": 6, "per_batch": 0.25, "n_training": 32, "n_steps": 1000, "n_starts": 15, "n_trainings": 5}
    | {"n_epochs": 250, "steps_per_epoch": (1,), "walkers": (4, 16, 64), "spread": (5, 10), "regular": (3, 5)}
    | {"sigmas": (0.76, 0.84), "n_scan": 2, "per_scan": 1, "p_scan": 2, "betas": (0.08, 0.2, 0.5)},
}[profile]
ledger = evidence.Ledger("ugrf/04_learned_modulation", profile)

# %% [markdown]
# ## The idea
#
# The target is the 2-regularised Laplacian kernel $K = (I + \sigma^2 L)^{-2}$. With
# $\beta = \sigma^2 / (1 + \sigma^2)$ and $W$ the normalised adjacency matrix it is
# $(1 - \beta)^2 (I - \beta W)^{-2}$, the square of $\sum_k \beta^k W^k$. So if the walkers walk on $\beta W$, as in
# the paper, the unbiased modulation is **flat**: $f(k) = 1$. The network is
#
# $$
# f(k) = \operatorname{softplus}\bigl(w_2 \operatorname{ReLU}(w_1 k + b_1) + b_2\bigr),
# $$
#
# four numbers in all. Its loss is the squared relative Frobenius error of $\phi \phi^\top$. Features are linear in $f$,
# so for given walks the loss is a polynomial of degree four in $f(0), f(1), \dots$; its coefficients are computed once,
# by {py:func}`rfcore.solvers.gram.form`, and then a training costs next to nothing.
#
# ## Conventions that the paper does not state
#
# Table 3 gives no $\sigma$ and no termination probability. We use **squared** errors, one set of walks for rows and
# columns, $p = 0.5$ and $\sigma = 0.8$: found by fitting the "unbiased" column, and put to the test
# [below](ugrf-extra-table-3-conventions). Text and table disagree: Section 3.1 defines the error without a square. Nor does
# the paper say how dense its random graphs are (we take edge probabilities of 0.2 and 0.04, and draw a new graph for every
# batch of repeats), which $d$-regular graph it took (ours is random, of degree 4; others follow), where a training
# starts, and how many steps it makes per epoch.

# %%
sigma, n_walks, p_halt = 0.8, 16, 0.5
beta = sigma**2 / (1 + sigma**2)

rows = evidence.printed("ugrf_table3")
printed = {
    column: np.array([[float(r["frobenius_error"]), float(r["std_error"])] for r in rows if r["modulation"] == column])
    for column in ("unbiased", "learned")
}
names = [r["graph"] for r in rows if r["modulation"] == "unbiased"]

# How each graph is drawn, and how many repeats a batch holds.
real = ("karate", "dolphins", "football", "eurosis")
fixed = {name: Graph.from_networkx(datasets.graph(name, fallback=True)).normalised() for name in real}
fixed["binary_tree"] = Graph.from_networkx(nx.balanced_tree(2, 6)).normalised()
drawn = {
    "erdos_renyi_small": lambda key: random_graphs.erdos_renyi(key, 20, 0.2),
    "erdos_renyi_large": lambda key: random_graphs.erdos_renyi(key, 100, 0.04),
    "d_regular": lambda key: random_graphs.regular(key, 100, 4),
}
repeats = {"erdos_renyi_small": 200, "karate": 100, "dolphins": 60, "eurosis": 8}
repeats = {name: max(1, int(repeats.get(name, 32) * SIZES["per_batch"])) for name in names}
stated = [j for j, name in enumerate(names) if name != "d_regular"]  # graphs whose kind the paper states


def target(g, beta):
    """The kernel over its constant: the square of sum_k beta^k W^k."""
    return kernels.regularised_laplacian(g, np.sqrt(beta / (1 - beta)), 2) / (1 - beta) ** 2


# %% [markdown]
# ## Training
#
# One graph of 20 nodes, as in the paper, and many sets of 16 walks from each of its nodes, so that $f$ is fitted to the
# distribution of the walks and not to one draw. The start is the flat $f = 1$ with the hidden unit alive. The paper lets
# Adam run at a rate of 0.01 that decays by 0.975 per epoch: with one step per epoch, the rates add up to 0.4, and
# no parameter can move much further. We train so, and also **without the decay** until nothing moves: where the loss is
# least does not depend on the start, which the paper does not print. "Learned" below means the second, unless the schedule
# is named. The walks of the evaluation are others. Beside the flat start we train from a hundred random ones, uniform on
# $(-1, 1)$ as linear layers usually start; they wait for [their section](ugrf-extra-gain).

# %%
small = random_graphs.erdos_renyi(jax.random.key(1), 20, 0.2).normalised()


def form_of(seed, n_walks, n_repeats):
    """The loss of shared walks on the small graph; steps from 10 on, one walk in a thousand, change no digit that is shown."""
    key, nodes = jax.random.key(seed), np.tile(np.arange(small.n_nodes), n_repeats)
    lengths = walk_lengths.draw(key, len(nodes), n_walks, p_halt)
    stored = features.by_step(walks.simulate(key, small.scaled(beta), lengths, nodes=nodes))
    return gram.form(stored, stored, target(small, beta), n_steps=10)


training, testing = form_of(1, n_walks, SIZES["n_training"]), form_of(2, n_walks, 4 * SIZES["n_training"])
adam = optax.adam(0.01)


def schedule(steps_per_epoch):
    """Section 3.4: Adam at 0.01, times 0.975 per epoch."""
    return optax.adam(optax.exponential_decay(0.01, steps_per_epoch, 0.975, staircase=True))


def all_of_them(fs, form):
    """Sum of the losses: Adam treats every number apart, so that this trains each network as if alone."""
    return jnp.sum(jax.vmap(form)(fs))


flat = neural.flat()
starts = jax.vmap(neural.random)(jax.random.split(jax.random.key(3), SIZES["n_starts"]))
starts = jax.tree.map(lambda first, others: jnp.concatenate([first[None], others]), flat, starts)
# By the rates that are left after 400 epochs nothing moves by a thousandth.
schedules = {
    "stated schedule" if n == 1 else f"{n} steps per epoch": (min(n * SIZES["n_epochs"], 400 * n + 600), schedule(n))
    for n in SIZES["steps_per_epoch"]
} | {"no decay": (SIZES["n_steps"], adam)}
ends = {"start": starts}
for name, (n_steps, optimiser) in schedules.items():
    ends[name] = descent.learn(all_of_them, starts, (training,), n_steps, optimiser).f
scheduled, learned = (jax.tree.map(lambda x: x[0], ends[name]) for name in ("stated schedule", "no decay"))

# %% [markdown]
# To compare with: a constant, and the family $c\, r^k$, both with $c$ and $r$ learned in the same way.

# %%
def geometric(parameters):
    """Modulation c r^k, from (c, r)."""
    c, r = parameters
    return lambda k: c * r ** jnp.asarray(k)


def loss_given(c, form, r):
    return form(geometric((c, r)))


two = descent.learn(lambda pair, form: form(geometric(pair)), (1.0, 1.0), (training,), SIZES["n_steps"], adam).f
rs = (1.0, 0.995, 0.99, 0.98, 0.96)  # what lies between the constant and the learned one is for later, too
families = [(float(descent.learn(loss_given, 1.0, (training, r), SIZES["n_steps"], adam).f), r) for r in rs]
modulations = {"unbiased": flat, "learned": learned, "two numbers": geometric(two)}
modulations |= {"best constant": geometric(families[0]), "stated schedule": scheduled}

# %% tags=["hide-input"]
steps = np.arange(8)
print(f"{'f(k), k = 0 to 7':>16}   test error over that of the unbiased one")
for name, f in modulations.items():
    values = " ".join(f"{x:.2f}" for x in np.asarray(f(steps)))
    print(f"{name:>16}: {values}   {float(testing(f) / testing(flat)):.3f}")

# %% [markdown]
# ## What did it learn?
#
# The learned $f$ falls nearly geometrically. A modulation $c\, r^k$ on $\beta W$ is the flat one on $r \beta W$: up to
# a constant it is again a 2-regularised Laplacian kernel, of a **shorter length scale**. So the network could have been
# two numbers, $c$ and $r$, and trained as such they do what it does (line "two numbers"). The Taylor coefficients that
# a modulation implies, $\alpha = f * f$, say which kernel the features estimate now:

# %% tags=["hide-input"]
c, r = (float(x) for x in two)
shorter = np.sqrt(r * beta / (1 - r * beta))
print(f"c = {c:.3f}, r = {r:.3f}: the kernel of sigma = {shorter:.3f} in place of {sigma}")
alpha = {name: modulation.to_taylor(f, n_terms=8) * beta**steps for name, f in modulations.items()}
for name in ("unbiased", "learned", "two numbers"):
    print(f"{name:>12} alpha_k: " + " ".join(f"{x:.4f}" for x in alpha[name]))

# %% [markdown]
# (ugrf-table-3)=
# ## Table 3: eight graphs
#
# Every modulation meets the same new walks. A batch holds as many repeats as the graph's size allows, and a new random
# graph where the graph is random; tests are paired over batches. A walk on $\beta W$ deposits $\beta^k$ times what it
# deposits on $W$ at step $k$, so the same walks also serve other values of $\sigma$, whose kernels are other targets.

# %%
step = np.arange(walk_lengths.longest(0.3) + 1)


def reading(f, beta):
    """What a set of walks on W is weighted by for modulation f on beta W, and beta."""
    return np.asarray(f(step)) * beta**step, beta


def gram_errors(phi, K):
    """Squared relative errors of phi phi^T for repeated sets of walks, stacked: a sum over the entries where walks meet."""
    n, repeat = len(K), np.repeat(np.arange(phi.shape[0] // len(K)), np.diff(phi.indptr).reshape(-1, len(K)).sum(axis=1))
    apart = sp.csr_array((phi.data, phi.indices + n * repeat, phi.indptr), shape=(phi.shape[0],) * 2)
    G = (apart @ apart.T).tocoo()
    beyond = G.data * (G.data - 2 * K[G.row % n, G.col % n])
    return 1 + np.bincount(G.row // n, beyond, minlength=phi.shape[0] // n) / np.sum(K**2)


def batch_errors(name, seed, readings, n_repeats, p_halt=p_halt):
    """Squared errors, shape (n_readings, n_repeats), from one set of walks for all readings."""
    g = fixed[name] if name in fixed else drawn[name](jax.random.key(1000 + seed)).normalised()
    key, nodes, errors = jax.random.key(seed), np.tile(np.arange(g.n_nodes), n_repeats), []
    lengths = walk_lengths.draw(key, len(nodes), n_walks, p_halt)
    deposits = walks.simulate(key, g, lengths, nodes=nodes)
    for values, b in readings:
        if name not in fixed or (name, b) not in kernel_of:
            kernel_of[name, b] = target(g, b)
        phi = features.weigh(deposits, lambda k, values=values: values[k])
        errors.append(gram_errors(phi, kernel_of[name, b]))
    return np.stack(errors)


kernel_of = {}


def table(seed, readings):
    """Mean errors, shape (n_batches, n_graphs, n_readings)."""
    means = np.empty((SIZES["n_batches"], len(names), len(readings)))
    for j, name in enumerate(tqdm(names, desc="graphs", leave=False)):
        for batch in range(SIZES["n_batches"]):
            means[batch, j] = batch_errors(name, seed + 100 * batch + j, readings, repeats[name]).mean(axis=1)
    return means


# With the modulations: four that lie between the constant and the learned one, and the unbiased one at other sigmas.
sigmas = np.array(SIZES["sigmas"])
flats = [reading(flat, b) for b in sigmas**2 / (1 + sigmas**2)]
betweens = [reading(geometric(pair), beta) for pair in families[1:]]
everything = table(10_000, [*(reading(f, beta) for f in modulations.values()), *betweens, *flats])
errors, between_errors, flat_errors = np.split(everything, [len(modulations), len(modulations) + len(betweens)], axis=2)
unbiased, ours, by_two, by_constant, by_schedule = np.moveaxis(errors, 2, 0)

# %% tags=["hide-input"]
size = {r["graph"]: int(r["n_nodes"]) for r in rows}


def with_error(numbers):
    return f"{numbers.mean():.4f} ± {numbers.std(ddof=1) / np.sqrt(len(numbers)):.4f}"


print(f"{'':>24}{'unbiased':>28} {'learned':>29}{'their ratio':>32}")
print(f"{'graph':>17} {'N':>5} {'ours':>17} {'paper':>10} {'ours':>18} {'paper':>10} {'no decay':>11} {'schedule':>8} {'paper':>6}")
for j, name in enumerate(names):
    (u, su), (v, sv) = printed["unbiased"][j], printed["learned"][j]
    print(
        f"{name:>17} {size[name]:>5} {with_error(unbiased[:, j])} {u:.4f}({1e4 * su:.0f})  {with_error(ours[:, j])}"
        f"  {v:.4f}({1e4 * sv:.0f}) {ours[:, j].mean() / unbiased[:, j].mean():11.3f}"
        f" {by_schedule[:, j].mean() / unbiased[:, j].mean():8.3f} {v / u:6.3f}"
    )

# %% [markdown]
# The unbiased column first. Seven of its graphs are those of the table, or are drawn as it says; $\sigma$ was fitted to the
# column. So that a graph is not compared at a $\sigma$ that was fitted to it, each is compared at the one that
# fits the *other six* best, among squared errors at $p = 0.5$. The paper's error bars hold one draw of each
# random graph: we add the spread between draws, which takes many repeats on many graphs to tell from the scatter of the
# walks.


# %%
def standard_error(numbers):
    return numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))


def over_draws(name, seed, reading, n_graphs, n_repeats):
    """Errors over draws of a graph: mean, its standard error, and the spread from draw to draw."""
    draws = tqdm(range(n_graphs), desc=name, leave=False)
    found = np.stack([batch_errors(name, seed + draw, [reading], n_repeats)[0] for draw in draws])
    of_walks = found.var(axis=1, ddof=1).mean() / n_repeats
    between = np.sqrt(max(0.0, found.mean(axis=1).var(ddof=1) - of_walks))
    return found.mean(), standard_error(found.mean(axis=1)), between


random_kinds = ("erdos_renyi_small", "erdos_renyi_large")
graph_spread = np.zeros(len(names))
for j, name in enumerate(random_kinds):
    graph_spread[names.index(name)] = over_draws(name, 20_000 + 1000 * j, reading(flat, beta), *SIZES["spread"])[2]
rounding = 0.0001 / 2
paper, paper_bar = printed["unbiased"][:, 0], np.hypot(printed["unbiased"][:, 1], graph_spread)

# The error of each graph as a smooth function of sigma.
order = np.argsort(np.append(sigma, sigmas))
at_sigma = np.concatenate([unbiased[..., None], flat_errors], axis=2)[..., order]
fine = np.linspace(sigmas.min(), sigmas.max(), 1201)
own_bar = standard_error(unbiased)
degree = min(3, len(sigmas))
curves = [np.polynomial.Polynomial.fit(np.sort(np.append(sigma, sigmas)), e, degree)(fine) for e in at_sigma.mean(axis=0)]
misfits = ((np.stack(curves) - paper[:, None]) / np.hypot(paper_bar, own_bar)[:, None]) ** 2


def fitted(graphs):
    """Place in `fine` of the sigma that fits these graphs best, and its standard error."""
    total = misfits[graphs].sum(axis=0)
    inside = fine[total <= total.min() + 1]
    return int(np.argmin(total)), (inside.max() - inside.min()) / 2


compared, bars = [], []
for j in stated:
    i, sigma_bar = fitted([other for other in stated if other != j])
    compared.append(curves[j][i])
    bars.append(np.hypot(own_bar[j], sigma_bar * abs(np.gradient(curves[j], fine)[i])))
best, best_bar = fitted(stated)
compared, bars = np.array(compared), np.array(bars)

# %% tags=["hide-input"]
print("spread between draws: " + ", ".join(f"{name} {graph_spread[names.index(name)]:.5f}" for name in random_kinds))
print(f"sigma that fits the seven best: {fine[best]:.3f} ± {best_bar:.3f}; there, in order of the errors")
for place in np.argsort(paper[stated]):
    j, apart = stated[place], (compared[place] - paper[stated[place]]) / np.hypot(bars[place], paper_bar[stated[place]])
    print(f"{names[j]:>18}: {compared[place]:.4f} ± {bars[place]:.4f}, printed {paper[j]:.4f} ± {paper_bar[j]:.4f}, z = {apart:+.1f}")

# %%
first, second = np.array(list(itertools.combinations(range(len(stated)), 2))).T
apart = paper[stated][first] - paper[stated][second]
told_apart = np.abs(apart) > 3 * np.hypot(paper_bar[stated][first], paper_bar[stated][second])
same_order = bool(np.all((compared[first] - compared[second])[told_apart] * apart[told_apart] > 0))
if profile == "paper":
    fit = evidence.agree(
        compared, bars, paper[stated], paper_se=paper_bar[stated], rounding=rounding,
        smallest_difference=0.15 * paper[stated], in_direction=same_order,
    )  # fmt: skip
else:
    fit = evidence.not_run("The error bars of a quick run hide differences of two per cent.")
ledger.decide("ugrf/table-3/unbiased-column", fit)

# %% [markdown]
# The eighth graph is "a $d$-regular graph". The paper does not say which, and it matters: among graphs of 100 nodes that deserve the
# name the errors differ by more than the printed error bar of 0.0002. Some have the printed error. As we tried several, that does not
# tell which one it was; it does say that nothing speaks against the number.

# %%
regular = {f"random, degree {d}": (lambda key, d=d: random_graphs.regular(key, 100, d)) for d in (3, 4, 6, 10)}
torus = Graph.from_networkx(nx.grid_2d_graph(10, 10, periodic=True))
regular["10 x 10 torus, degree 4"] = lambda key: torus
for d in (2, 4, 10):
    ring = Graph.from_networkx(nx.circulant_graph(100, range(1, d // 2 + 1)))
    regular[f"ring lattice, degree {d}"] = lambda key, ring=ring: ring
drawn |= regular
at_best = reading(flat, fine[best] ** 2 / (1 + fine[best] ** 2))
found = np.array([over_draws(name, 30_000 + 1000 * i, at_best, *SIZES["regular"]) for i, name in enumerate(regular)])
j = names.index("d_regular")

# %% tags=["hide-input"]
for name, (error, bar, spread) in zip(regular, found, strict=True):
    apart = (error - paper[j]) / np.sqrt(bar**2 + spread**2 + printed["unbiased"][j, 1] ** 2)
    print(f"{name:>24}: {error:.4f} ± {bar:.4f}, spread between draws {spread:.4f}; printed {paper[j]:.4f}(2), z = {apart:+.1f}")

# %%
if profile == "paper":
    any_of_them = evidence.agree(
        found[:, 0], found[:, 1], np.full(len(found), paper[j]), rounding=rounding,
        paper_se=np.hypot(printed["unbiased"][j, 1], found[:, 2]), smallest_difference=0.15 * paper[j],
    )  # fmt: skip
else:
    any_of_them = evidence.not_run("The error bars of a quick run hide differences of two per cent.")
ledger.decide("ugrf/table-3/regular-graph", any_of_them)

# %% [markdown]
# The learned column: lower by at least 8 % on all eight graphs, for a network that saw one of them, whether it was trained by the
# stated schedule or to the end. The gain that the paper prints is 10 to 12 %; ours is larger both ways.

# %%
both = np.stack([ours, by_schedule], axis=1)
better = evidence.order(both, 0.92 * np.stack([unbiased, unbiased], axis=1))
ledger.decide("ugrf/table-3/learned-better", better)

# %%
paper_ratio = printed["learned"][:, 0] / printed["unbiased"][:, 0]
paper_se = paper_ratio * np.hypot(*(printed[c][:, 1] / printed[c][:, 0] for c in ("learned", "unbiased")))


def mean_ratio(learned):
    """Mean over the graphs of the ratio to the unbiased error, and its standard error."""
    below, above = unbiased.mean(axis=0), learned.mean(axis=0)
    each = np.mean(learned / below - unbiased * above / below**2, axis=1)
    return np.mean(above / below), standard_error(each)


gain = evidence.value(
    *mean_ratio(by_schedule), paper_ratio.mean(), paper_se=np.sqrt(np.sum(paper_se**2)) / 8, in_direction=better.verdict.green
)
ledger.decide("ugrf/table-3/size-of-the-gain", gain)

# %% tags=["hide-input"]
print("mean ratio over the eight graphs:")
for name, columns in {"stated schedule": by_schedule, "no decay": ours}.items():
    print(f"{name:>16}: {mean_ratio(columns)[0]:.3f} ± {mean_ratio(columns)[1]:.3f}")
print(f"{'paper':>16}: {paper_ratio.mean():.3f} ± {np.sqrt(np.sum(paper_se**2)) / 8:.3f}")

# %% [markdown]
# **Biased, with a smaller variance**, says the paper. The bias needs no sampling: off the diagonal the features estimate
# $\sum_k \alpha_k W^k$ exactly, and what shared walks add to the diagonal has a closed form
# ({py:func}`rfcore.theory.walk_feature_moments`). What remains of the error is variance. On the graphs that are not
# random:


# %%
def squared_bias(g, f):
    """Squared bias of phi phi^T off and on the diagonal, relative to |K|^2."""
    K = target(g, beta)
    mean, square = theory.walk_feature_moments(g.scaled(beta), f, n_walks, p_halt, n_terms=16)
    bias = mean @ mean.T - K
    np.fill_diagonal(bias, 0.0)
    return np.array([np.sum(bias**2), np.sum((square.sum(axis=1) - np.diag(K)) ** 2)]) / np.sum(K**2)


split = ("karate", "dolphins", "football", "binary_tree")
bias = np.stack([[squared_bias(fixed[name], f) for f in modulations.values()] for name in split])
columns = [names.index(name) for name in split]
variance = errors[:, columns] - bias.sum(axis=2)
ledger.decide("ugrf/table-3/smaller-variance", evidence.order(variance[..., 1], variance[..., 0]))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Where the squared error of each modulation comes from, mean over four graphs: bias off the diagonal, bias on it (what shared walks add, minus what f takes away), and variance. Error bars: one standard error of the whole.", "name": "fig-bias-variance"}, "image": {"alt": "Five stacked horizontal bars. The unbiased modulation has the longest bar, mostly variance with some diagonal bias. The learned one and that of two numbers are about a quarter shorter, with some bias off the diagonal. The best constant is a tenth shorter than the unbiased, and that of the stated schedule close to the learned one."}}
fig, ax = plt.subplots(figsize=(6.4, 2.6))
parts = np.concatenate([bias.mean(axis=0), variance.mean(axis=(0, 1))[:, None]], axis=1)
start = np.zeros(len(parts))
shades = {"bias off the diagonal": "fault", "bias on the diagonal": "simplex_plus", "variance": "iid"}
for part, (label, colour) in zip(parts.T, shades.items(), strict=True):
    ax.barh(np.arange(len(parts)), part, left=start, color=plotting.COLOURS[colour], label=label, height=0.6)
    start = start + part
ax.errorbar(start, np.arange(len(parts)), xerr=standard_error(variance.mean(axis=1)), fmt="none", color=plotting.INK)
ax.set_yticks(np.arange(len(parts)), modulations)
ax.invert_yaxis()
ax.grid(False, axis="y")
ax.set(xlabel="squared relative error")
fig.legend(loc="outside upper center", ncols=3)
plt.show()

# %% tags=["hide-input"]
for name, part in zip(modulations, parts, strict=True):
    print(f"{name:>13}: bias off diagonal {part[0]:.4f}, on diagonal {part[1]:.4f}, variance {part[2]:.4f}, sum {part.sum():.4f}")

# %% [markdown]
# (ugrf-extra-table-3-conventions)=
# ## How well are the conventions known?
#
# For each termination probability, and for errors squared or not, we fit $\beta$ to the seven errors and see what is
# left, with other walks than above, several times over. An error is smooth in $\beta$: a few values and a cubic in
# $\log \beta$ suffice. The spread between draws of a random graph is half as large, relatively, for errors that are not
# squared.

# %%
grid = np.array(SIZES["betas"])
dense, degree = np.linspace(grid.min(), grid.max(), 500), min(3, len(grid) - 1)
spread = graph_spread / unbiased.mean(axis=0)
readings = {}
for i, p in enumerate(tqdm((0.5, 0.4, 0.6, 0.3)[: SIZES["p_scan"]], desc="p_halt", leave=False)):
    found = np.empty((2, SIZES["n_scan"], len(stated), len(grid)))  # squared and not
    for s, (place, j) in itertools.product(range(SIZES["n_scan"]), enumerate(stated)):
        n_repeats, scanned_at = SIZES["per_scan"] * repeats[names[j]], [reading(flat, b) for b in grid]
        scanned = batch_errors(names[j], 50_000 + 1000 * i + 10 * s + j, scanned_at, n_repeats, p)
        found[:, s, place] = scanned.mean(axis=1), np.sqrt(scanned).mean(axis=1)
    for squared, errors_found in zip((True, False), found, strict=True):
        relative = np.hypot(printed["unbiased"][:, 1] / paper, spread / (1 if squared else 2))[stated]
        curve = [[np.polynomial.Polynomial.fit(np.log(grid), np.log(e), degree)(np.log(dense)) for e in one] for one in errors_found]
        difference = np.exp(np.array(curve)) / paper[stated, None] - 1  # scans, graphs, betas
        distances = np.sum((difference / relative[:, None]) ** 2, axis=1)
        together = np.sum((difference.mean(axis=0) / relative[:, None]) ** 2, axis=0)
        best_beta = int(np.argmin(together))
        readings[p, squared] = distances.min(axis=1), dense[best_beta], difference.mean(axis=0)[:, best_beta]

# %% tags=["hide-input"]
print(f"{'':>25} {'sigma':>6} {'distance':>13}   differences in %: " + ", ".join(names[j] for j in stated))
for (p, squared), (distances, b, difference) in readings.items():
    kind = "squared" if squared else "not squared"
    shown = " ".join(f"{100 * x:+5.1f}" for x in difference)
    mean, bar = distances.mean(), standard_error(distances)
    print(f"p_halt = {p}, {kind:>11}: {np.sqrt(b / (1 - b)):6.3f} {mean:6.1f} ± {bar:4.1f}   {shown}")

# %%
others = np.stack([distances for one, (distances, *_) in readings.items() if one != (0.5, True)], axis=1)
if profile == "paper":
    identified = evidence.order(np.repeat(readings[0.5, True][0][:, None], others.shape[1], axis=1), others, robust=True)
else:
    identified = evidence.not_run("Two scans give no error bars worth weighing by.")
ledger.decide("ugrf/extra-table-3-conventions/identified", identified)

# %% [markdown]
# (ugrf-extra-gain)=
# ## Why only a tenth?
#
# From our flat start the stated schedule comes near the best error. From other starts it may not: the rates add up to 0.4
# with one step per epoch, so that after a few hundred epochs nothing moves, wherever it is. The paper does not give its
# start; here is what comes of the hundred random ones, by the stated schedule, with ten steps in each of its epochs, and
# without decay.

# %%
random_ends = {name: jax.tree.map(lambda x: x[1:], fs) for name, fs in ends.items()}
error_of = jax.jit(jax.vmap(testing))
ratios = {name: np.asarray(error_of(fs) / testing(flat)) for name, fs in random_ends.items()}
values = {name: np.asarray(jax.vmap(lambda f: f(step))(fs)) for name, fs in random_ends.items()}
dead = {name: np.ptp(v, axis=1) < 1e-9 for name, v in values.items()}
reached = float(testing(learned) / testing(flat))
far = ratios["stated schedule"]
ledger.decide("ugrf/extra-gain/schedule", evidence.order(np.full_like(far, reached + 0.02), far, robust=True))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Test error over that of the unbiased modulation, for networks from random starts, sorted. Crosses: dead networks, constant functions. Dotted: the best error and the best constant's, beside which the paper's ratio lies.", "name": "fig-starts"}, "image": {"alt": "Sorted error ratios of four groups on a log axis. At the start most are above one, up to a hundred. After the stated schedule a minority is at the best ratio, most still above one; with ten steps per epoch many more are near it. Without decay all are on two plateaus, the best ratio and the best constant's, the second consisting of dead networks."}}
fig, ax = plt.subplots(figsize=(6.4, 3.6))
lines = {}
colours = {"start": "iid", "stated schedule": "simplex", "10 steps per epoch": "orthogonal", "no decay": "learned"}
for name, colour in ((name, colours[name]) for name in ratios):
    order = np.argsort(ratios[name])
    rank, level, is_dead = np.arange(1, len(order) + 1), ratios[name][order], dead[name][order]
    (lines[name],) = ax.plot(rank, level, color=plotting.COLOURS[colour], linewidth=1)
    ax.plot(rank[~is_dead], level[~is_dead], ".", color=plotting.COLOURS[colour])
    ax.plot(rank[is_dead], level[is_dead], "x", color=plotting.COLOURS[colour])
best_constant = float(testing(modulations["best constant"]) / testing(flat))
for level in (reached, best_constant):
    ax.axhline(level, color=plotting.INK, linewidth=0.8, linestyle=":")
top = 1.3 * max(found.max() for found in ratios.values())
ax.set(yscale="log", xlabel="networks, sorted", ylabel="error / unbiased error", ylim=(0.6, top))
plotting.label_ends(ax, lines)
plt.show()

# %% tags=["hide-input"]
for name, found in ratios.items():
    near = np.abs(found - paper_ratio[0]) < 0.02
    print(
        f"{name:>19}: {dead[name].sum():3d} of {len(found)} dead; {np.sum(found > 1):3d} worse than unbiased; "
        f"{np.sum(found < reached + 0.02):3d} within 0.02 of the best, {near.sum():3d} of the paper's ratio "
        f"({np.sum(near & dead[name])} of them dead)"
    )
print(f"on this graph: learned {reached:.3f}, best constant {best_constant:.3f}, paper {paper_ratio[0]:.3f} ± {paper_se[0]:.3f}")

# %% [markdown]
# A network whose hidden unit is 0 at all lengths is dead: $f$ is a constant, and no gradient wakes it. Trained to the end
# it is the best constant, which gains a good part of what the paper prints. Is that what the paper printed? The eight
# ratios must tell. We fit the family $c\, r^k$ to them, with the best $c$ for each $r$: at $r = 1$ it is the
# constant, at the other end the fully trained modulation.

# %%
candidates = {"fully trained": ours, "two numbers": by_two, "stated schedule": by_schedule, "best constant": by_constant}
candidates |= dict(zip((f"r = {r}" for r in rs[1:]), np.moveaxis(between_errors, 2, 0), strict=True))


def ratio_of(candidate):
    """The eight ratios to the unbiased error, and their standard errors."""
    own = candidate.mean(axis=0) / unbiased.mean(axis=0)
    return own, standard_error((candidate - unbiased * own) / unbiased.mean(axis=0))


def misfit(candidate):
    """The eight ratios, and chi-square against the paper's, with both error bars."""
    own, own_se = ratio_of(candidate)
    return own, np.sum((own - paper_ratio) ** 2 / (own_se**2 + paper_se**2))


fits = {name: misfit(candidate) for name, candidate in candidates.items()}
along = np.array([fits[name][0] for name in ("best constant", *(f"r = {r}" for r in rs[1:]))])
fine_r = np.linspace(min(rs), 1.02, 3001)
ratio_curves = np.stack([np.polynomial.Polynomial.fit(rs, column, 2)(fine_r) for column in along.T])
left_over = np.sum(((ratio_curves - paper_ratio[:, None]) / np.hypot(paper_se, ratio_of(by_constant)[1])[:, None]) ** 2, axis=0)
inside = fine_r[left_over <= left_over.min() + 1]
fitted_r, r_bar = fine_r[np.argmin(left_over)], (inside.max() - inside.min()) / 2

# %% tags=["hide-input"]
print(f"{'ratio to the unbiased error':>24} " + " ".join(f"{name[:9]:>9}" for name in names))
print(f"{'paper':>24} " + " ".join(f"{x:9.3f}" for x in paper_ratio))
for name, (own, chi2) in fits.items():
    correlation = np.corrcoef(own, paper_ratio)[0, 1]
    print(f"{name:>24} " + " ".join(f"{x:9.3f}" for x in own) + f"   chi^2 {chi2:7.1f}, correlation {correlation:+.2f}")
print(f"fitted r: {fitted_r:.4f} ± {r_bar:.4f}, chi^2 {left_over.min():.1f} over eight ratios")

# %%
constant_r = evidence.bound(float(fitted_r), 1.0, se=float(r_bar))
ledger.decide("ugrf/extra-gain/not-a-constant", constant_r)

# %%
ledger.decide("ugrf/extra-gain/nearly-constant", evidence.bound(float(fitted_r), 0.96, se=float(r_bar), side="above"))

# %%
ledger.decide("ugrf/extra-gain/two-numbers", evidence.order(by_two, 1.01 * ours))

# %% [markdown]
# (ugrf-fig-4)=
# ## Figure 4: more walkers, less bias
#
# The more walkers, the smaller the variance and the less bias is worth paying. The paper shows the learned $f$ for
# several $m$ and calls the flat one $m = \infty$. We train each $m$ several times on independent walks, to the minimum of the
# loss, and measure the distance from the flat one over the first six lengths.

# %%
walkers, n_trainings = SIZES["walkers"], SIZES["n_trainings"]
set_repeats = {m: int(np.clip(4 * SIZES["n_training"] // m, 8, 64)) for m in walkers}
forms = [form_of(2000 + 100 * m + i, m, set_repeats[m]) for m in tqdm(walkers, desc="walkers", leave=False) for i in range(n_trainings)]
forms = jax.tree.map(lambda *leaves: jnp.stack(leaves), *forms)
many_flat = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(walkers) * n_trainings), flat)


def each_its_own(fs, forms):
    """Sum of the losses, one network per set of walks."""
    return jnp.sum(jax.vmap(lambda f, form: form(f))(fs, forms))


trained = descent.learn(each_its_own, many_flat, (forms,), SIZES["n_steps"], adam).f
curves = np.asarray(jax.vmap(lambda f: f(steps))(trained)).reshape(len(walkers), n_trainings, -1).transpose(1, 0, 2)
distance = np.sqrt(np.mean((curves[..., :6] - 1) ** 2, axis=-1))
ledger.decide("ugrf/fig-4/approaches-unbiased", evidence.order(distance[:, 1:], distance[:, :-1]))

# %%
ledger.decide("ugrf/fig-4/biased", evidence.bound(distance[:, walkers.index(16)], 0.05, side="above"))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Learned modulation by number of walkers m. Bands: one standard deviation over trainings on independent walks. The unbiased modulation is flat.", "name": "fig-learned-f"}, "image": {"alt": "Four falling curves of f against walk length 0 to 7, all near 1 at length 0: the curve of 4 walkers falls fastest, that of 256 walkers stays close to the flat line at 1."}}
fig, ax = plt.subplots(figsize=(6.4, 3.6))
lines = {}
for i, m in enumerate(walkers):
    mean, spread = curves[:, i].mean(axis=0), curves[:, i].std(axis=0, ddof=1)
    opacity = 0.55 + 0.15 * i
    ax.fill_between(steps, mean - spread, mean + spread, color=plotting.COLOURS["learned"], alpha=0.15, linewidth=0)
    (lines[f"m = {m}"],) = ax.plot(steps, mean, "o-", color=plotting.COLOURS["learned"], alpha=opacity)
(lines["m = ∞"],) = ax.plot(steps, np.ones(len(steps)), color=plotting.COLOURS["exact"], linestyle="--")
ax.set(xlabel="walk length k", ylabel="f(k)", ylim=(0, 1.15))
plotting.label_ends(ax, lines)
plt.show()

# %% tags=["hide-input"]
for i, m in enumerate(walkers):
    print(f"m = {m:3d}: distance from flat {distance[:, i].mean():.3f} ± {distance[:, i].std(ddof=1):.3f} (standard deviation over trainings)")

# %% [markdown]
# (ugrf-fig-6)=
# ## Figure 6: two networks
#
# Nothing demands $f_1 = f_2$. Appendix A.5 gives each side a network of its own and starts them far apart: $f_1$ flat,
# $f_2$ lazy, with almost all its load at the start of the walk. In training, with "the same optimisation hyperparameters", they
# "quickly become very similar (though not identical)". The product does not change when one is multiplied by a number
# and the other divided by it, so we compare them after dividing each by its $f(0)$. The start of $f_2$ is ours (the
# paper gives none); it keeps the unit alive. Two other lazy starts stand beside it, one less lazy, one whose unit dies after
# the first step.

# %%
lazy = {
    "lazy": ([1.0], [1.0], [-3.0], 3.54),
    "less lazy": ([1.0], [1.0], [-1.0], 1.54),
    "lazy, flat beyond length 0": ([-1.0], [1.0], [3.54], -3.0),
}
lazy = {name: neural.Neural(*map(jnp.asarray, numbers)) for name, numbers in lazy.items()}
n_trainings = min(10, n_trainings)
forms = [form_of(8000 + i, n_walks, SIZES["n_training"] // 2) for i in range(n_trainings)]
seconds = [lazy["lazy"]] * n_trainings + list(lazy.values())[1:]  # several trainings from ours, one from each other
forms = jax.tree.map(lambda *leaves: jnp.stack(leaves), *forms, *forms[: len(lazy) - 1])
pairs = jax.tree.map(lambda *leaves: jnp.stack(leaves), *((flat, second) for second in seconds))


def pair_loss(pairs, forms):
    return jnp.sum(jax.vmap(lambda pair, form: form(*pair))(pairs, forms))


pairs_of = {"before": pairs}
for name, (n_steps, optimiser) in schedules.items():
    pairs_of[name] = descent.learn(pair_loss, pairs, (forms,), n_steps, optimiser).f
shapes = {
    name: np.stack([np.asarray(jax.vmap(lambda f: f(steps))(fs)) for fs in pair], axis=1) for name, pair in pairs_of.items()
}
apart = {
    name: np.sqrt(np.mean((v[:, 0] / v[:, 0, :1] - v[:, 1] / v[:, 1, :1])[:, :6] ** 2, axis=1)) for name, v in shapes.items()
}
from_ours = {name: distances[:n_trainings] for name, distances in apart.items()}
quarter = float(apart["before"][0] / 4)
ledger.decide("ugrf/fig-6/similar", evidence.bound(from_ours["no decay"], quarter))

# %%
ledger.decide("ugrf/fig-6/not-identical", evidence.bound(from_ours["no decay"], 0.001, side="above"))

# %%
ledger.decide("ugrf/fig-6/stated-schedule", evidence.bound(from_ours["stated schedule"], quarter))

# %% [markdown]
# With the stated schedule and one step per epoch, our pair does not meet; with ten steps per epoch it does. So it hangs on what
# the paper does not print, and is no failure:

# %% tags=["hide-input"]
print(f"{'distance of the pair':>28}  " + "  ".join(f"{name:>19}" for name in apart))
for row, name in zip([slice(n_trainings), *range(n_trainings, len(seconds))], lazy, strict=True):
    print(f"{name:>28}  " + "  ".join(f"{np.mean(distances[row]):19.3f}" for distances in apart.values()))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Two separately learned modulations, over their values at 0, before training and after: with the stated schedule and one or ten steps per epoch, and without decay. Bands: one standard deviation over trainings.", "name": "fig-pair"}, "image": {"alt": "Four panels of two curves each. Before training one is flat and the other drops to zero after the first step; after the stated schedule the first rises and the second still drops; without decay they lie close together and fall gently."}}
fig, axes = plt.subplots(1, len(shapes), figsize=(9.6, 3.0), sharey=True)
shapes = {name: v[:n_trainings] for name, v in shapes.items()}
top = 1.05 * max((v / v[..., :1]).mean(axis=0).max() for v in shapes.values())
for ax, (name, v) in zip(axes, shapes.items(), strict=True):
    lines = {}
    for i, colour in enumerate(("learned", "simplex")):
        scaled = v[:, i] / v[:, i, :1]
        mean, spread = scaled.mean(axis=0), scaled.std(axis=0, ddof=1)
        ax.fill_between(steps, mean - spread, mean + spread, color=plotting.COLOURS[colour], alpha=0.2, linewidth=0)
        (lines[f"f{i + 1}"],) = ax.plot(steps, mean, "o-", color=plotting.COLOURS[colour])
    ax.set(title=name, xlabel="walk length k", ylim=(-0.05, top))
    plotting.label_ends(ax, lines)
axes[0].set_ylabel("f(k) / f(0)")
plt.show()

# %% tags=["hide-input"]
pair_error = jax.jit(jax.vmap(lambda pair: testing(*pair)))
for name, pair in pairs_of.items():
    error = np.asarray(pair_error(pair))[:n_trainings] / float(testing(flat))
    near = f"{from_ours[name].mean():.3f} ± {from_ours[name].std(ddof=1):.3f}"
    print(f"{name:>19}: distance {near}, error over that of the flat pair {error.mean():.3f}")
print(f"{'symmetric':>19}: {reached:.3f}")

# %% [markdown]
# ## What we found

# %% tags=["hide-input"]
ledger.close(
    seeds={"training": [1, 2], "starts": 3, "graphs and walks": [10_000, 20_000, 30_000], "scan": 50_000, "figure 4": 2000, "figure 6": 8000},
)

# %% [markdown]
# ## What we learned
#
# * **Learned modulations do what the paper says**: they are biased, have less variance, carry over to all the other graphs,
#   and approach the unbiased one as walkers are added. The gain is not the one that Table 3 prints: ours is more than twice as
#   large, by the stated schedule from a flat start and by training to the end.
# * **The network needs two numbers.** Trained to the end it is $c\,r^k$, which is the estimator of the same kernel at a
#   shorter length scale, times a constant. Shrinking the length scale is how one trades variance for bias here; no
#   network is needed to find that, and the two numbers carry over to all eight graphs as the network does.
# * **The published column is nearly that of a constant.** Its ratios to the unbiased column are those of a modulation
#   that falls by about one per cent per step, where the best one falls by a sixth. A dead hidden unit gives a constant,
#   which falls short by about two hundredths on every graph; a unit that hardly moved fits. (The paper's columns probably
#   share their walks, which makes ratios sharper than we took them for.) We cannot know what happened: neither the start nor
#   the number of steps per epoch is printed. With one step per epoch the rates add up to 0.4, too little for most starts; with
#   ten, most networks that are not dead come near the best error, which is not the printed one.
# * **The table's errors are squared**, though the text defines them without the square. With that, $p = 0.5$ and
#   $\sigma = 0.8$, the errors of the seven graphs whose kind is stated come out, and no other reading in our scan comes
#   near. The eighth, "a $d$-regular graph", has the printed error or not, depending on which one is meant. Counted honestly we
#   fitted more than $\sigma$ and $p$: also the square and the shared walks.
# * **A pair of networks meets at the minimum of the loss.** Lazy walkers have a partner: $f_2 = 1, 0, 0, \dots$ goes with
#   $f_1 = \alpha$, here $1, 2, 3, \dots$ on $\beta W$. Under the stated schedule, with one step per epoch, our $f_1$ starts to rise
#   towards it while $f_2$ stays lazy, and the pair is left further apart than it was. With ten steps per epoch, or without the
#   decay, the two meet, from every start that we tried. Probably the paper's epochs have several steps.
