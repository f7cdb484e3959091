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
# All of this holds. But our networks gain more than twice what the paper prints, so we also ask why it gained so little,
# and what the network found: it turns out to need two numbers.

# %% tags=["hide-input"]
import os

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
from scipy import stats
from tqdm import tqdm

from rfcore import datasets, evidence, features, kernels, plotting, theory, walks
from rfcore.couplings import walk_lengths
from rfcore.features import modulation, neural
from rfcore.graphs import Graph
from rfcore.solvers import modulation as solver

plotting.use_style()

# %% tags=["parameters"]
profile = "paper"

# %%
SIZES = {
    "paper": {"n_batches": 30, "per_batch": 1.0, "n_training": 128, "n_steps": 3000, "n_scan": 6, "p_scan": 4, "spread": (60, 1000)},
    "quick": {"n_batches": 10, "per_batch": 0.25, "n_training": 32, "n_steps": 1000, "n_scan": 2, "p_scan": 2, "spread": (40, 200)},
}[profile]
n_starts, n_trainings = 100, 10
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
# by {py:func}`rfcore.solvers.modulation.gram_form`, and then a training costs next to nothing.
#
# ## Conventions that the paper does not state
#
# Table 3 gives no $\sigma$ and no termination probability. We use **squared** errors, one set of walks for rows and
# columns, $p = 0.5$, $\sigma = 0.8$ and a regular graph of degree 4: found by fitting the "unbiased" column, and put to
# the test [below](ugrf-extra-table-3-conventions). Text and table disagree: Section 3.1 defines the error without a
# square. Random graphs are drawn anew for every batch of repeats (edge probabilities 0.2 and 0.04 are ours).

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
fixed = {name: Graph.from_networkx(datasets.graph(name, fallback=True)) for name in real}
fixed["binary_tree"] = Graph.from_networkx(nx.balanced_tree(2, 6))
drawn = {
    "erdos_renyi_small": lambda seed: nx.gnp_random_graph(20, 0.2, seed=seed),
    "erdos_renyi_large": lambda seed: nx.gnp_random_graph(100, 0.04, seed=seed),
    "d_regular": lambda seed: nx.random_regular_graph(4, 100, seed=seed),
}
repeats = {"erdos_renyi_small": 200, "erdos_renyi_large": 32, "binary_tree": 32, "d_regular": 32}
repeats |= {"karate": 100, "dolphins": 60, "football": 32, "eurosis": 4}
repeats = {name: max(1, int(n * SIZES["per_batch"])) for name, n in repeats.items()}


def target(g, beta):
    """The kernel over its constant: the square of sum_k beta^k W^k."""
    return kernels.regularised_laplacian(g, np.sqrt(beta / (1 - beta)), 2) / (1 - beta) ** 2


# %% [markdown]
# ## Training
#
# One graph of 20 nodes, as in the paper, and many sets of 16 walks from each of its nodes, so that $f$ is fitted to the
# law of the walks and not to one draw. We start from the flat $f = 1$ with the hidden unit alive, and let Adam run at
# its stated rate of 0.01 without decay until nothing moves. The walks of the evaluation are others.

# %%
small = Graph.from_networkx(nx.gnp_random_graph(20, 0.2, seed=1))


def walks_of(seed, g, beta, n_walks, n_repeats, p_halt=p_halt):
    """Repeated sets of walks from all nodes, on the scaled graph."""
    key, nodes = jax.random.key(seed), np.tile(np.arange(g.n_nodes), n_repeats)
    lengths = walk_lengths.draw(key, len(nodes), n_walks, p_halt)
    return features.by_step(walks.simulate(key, g.normalised().scaled(beta), lengths, nodes=nodes))


def form_of(seed, n_walks, n_repeats):
    """The loss of shared walks on the small graph; steps from 14 on, one walk in 16,000, change nothing visible."""
    stored = walks_of(seed, small, beta, n_walks, n_repeats)
    return solver.gram_form(stored, stored, target(small, beta), n_steps=14)


training, testing = form_of(1, n_walks, SIZES["n_training"]), form_of(2, n_walks, 4 * SIZES["n_training"])


def loss(f, form):
    return form(f)


flat = neural.flat()
learned = solver.learn(loss, flat, (training,), SIZES["n_steps"]).f
constant = solver.learn(lambda c, form: form(neural.flat(c)), 1.0, (training,), SIZES["n_steps"]).f
constant = neural.flat(float(constant))


def geometric(parameters):
    """Modulation c r^k, from (c, r)."""
    c, r = parameters
    return lambda k: c * r ** jnp.asarray(k)


two = solver.learn(lambda pair, form: form(geometric(pair)), (1.0, 1.0), (training,), SIZES["n_steps"]).f
modulations = {"unbiased": flat, "learned": learned, "two numbers": geometric(two), "best constant": constant}

# %% tags=["hide-input"]
steps = np.arange(8)
print(f"{'f(k), k = 0 to 7':>16}   test error over the unbiased one's")
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
# graph where the graph is random; tests are paired over batches.


# %%
def batch_errors(name, seed, modulations, n_repeats):
    """Squared errors, shape (n_modulations, n_repeats), with one set of walks for all."""
    g = fixed[name] if name in fixed else Graph.from_networkx(drawn[name](1000 + seed))
    if name not in fixed or name not in kernel_of:
        kernel_of[name] = target(g, beta)
    K, W, nodes = kernel_of[name], g.normalised().scaled(beta), np.tile(np.arange(g.n_nodes), n_repeats)
    errors = np.empty((len(modulations), n_repeats))
    for i, f in enumerate(modulations):
        phi = features.walk_features(jax.random.key(seed), W, f, n_walks, p_halt, nodes=nodes).toarray()
        phi = phi.reshape(n_repeats, g.n_nodes, g.n_nodes)
        errors[i] = np.sum((phi @ phi.transpose(0, 2, 1) - K) ** 2, axis=(1, 2)) / np.sum(K**2)
    return errors


kernel_of = {}


def table(seed, modulations):
    """Mean errors, shape (n_batches, n_graphs, n_modulations)."""
    means = np.empty((SIZES["n_batches"], len(names), len(modulations)))
    for j, name in enumerate(tqdm(names, desc="graphs", leave=False)):
        for batch in range(SIZES["n_batches"]):
            means[batch, j] = batch_errors(name, seed + 100 * batch + j, modulations, repeats[name]).mean(axis=1)
    return means


errors = table(10_000, list(modulations.values()))
unbiased, ours, by_two, by_constant = np.moveaxis(errors, 2, 0)

# %% tags=["hide-input"]
size = {r["graph"]: int(r["n_nodes"]) for r in rows}


def with_error(numbers):
    return f"{numbers.mean():.4f} ± {numbers.std(ddof=1) / np.sqrt(len(numbers)):.4f}"


print(f"{'graph':>17} {'N':>5} {'unbiased: ours':>17} {'paper':>10} {'learned: ours':>18} {'paper':>10} {'ratio: ours':>12} {'paper':>6}")
for j, name in enumerate(names):
    (u, su), (v, sv) = printed["unbiased"][j], printed["learned"][j]
    print(
        f"{name:>17} {size[name]:>5} {with_error(unbiased[:, j])} {u:.4f}({1e4 * su:.0f})  {with_error(ours[:, j])}"
        f"  {v:.4f}({1e4 * sv:.0f}) {ours[:, j].mean() / unbiased[:, j].mean():11.3f} {v / u:6.3f}"
    )

# %% [markdown]
# The unbiased column first. Two numbers, $p$ and $\sigma$, were fitted to it, so that agreement on eight graphs leaves
# six degrees of freedom. The paper's error bars hold one draw of each random graph: we add the spread between draws, which
# takes many repeats on many graphs to tell from the scatter of the walks.


# %%
def over_draws(name, seed):
    """Mean error of the unbiased modulation over draws of a random graph, and its spread from draw to draw."""
    n_graphs, n_repeats = SIZES["spread"]
    draws = tqdm(range(n_graphs), desc=name, leave=False)
    errors = np.stack([batch_errors(name, seed + draw, [flat], n_repeats)[0] for draw in draws])
    of_walks = errors.var(axis=1, ddof=1).mean() / n_repeats
    return errors.mean(), np.sqrt(max(0.0, errors.mean(axis=1).var(ddof=1) - of_walks))


graph_spread = np.array([over_draws(name, 20_000 + 1000 * j)[1] if name in drawn else 0.0 for j, name in enumerate(names)])
print("spread between draws: " + ", ".join(f"{name} {graph_spread[names.index(name)]:.5f}" for name in drawn))

# %%
needs = {"requires": list(real), "fallbacks": datasets.fallbacks()}


def standard_error(numbers):
    return numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))


rounding = 0.0001 / np.sqrt(12)
error_bar = np.sqrt(printed["unbiased"][:, 1] ** 2 + rounding**2 + standard_error(unbiased) ** 2 + graph_spread**2)
z = (unbiased.mean(axis=0) - printed["unbiased"][:, 0]) / error_bar
if profile == "paper":
    fit = evidence.bound(np.sum(z**2), stats.chi2.isf(0.001, 6))
else:
    fit = evidence.not_run("The error bars of a quick run hide differences of two per cent.")
ledger.decide("ugrf/table-3/unbiased-column", fit, **needs)

# %% tags=["hide-input"]
print("z by graph: " + ", ".join(f"{name} {x:+.1f}" for name, x in zip(names, z, strict=True)))

# %% [markdown]
# One graph is off: the regular one, whose degree the paper does not print. Is there a better degree?

# %%
for degree in (3, 5, 6):
    drawn[f"degree {degree}"] = lambda seed, degree=degree: nx.random_regular_graph(degree, 100, seed=seed)
of_degree = {degree: over_draws(f"degree {degree}", 30_000 + 1000 * degree)[0] for degree in (3, 5, 6)}
of_degree[4] = unbiased[:, names.index("d_regular")].mean()
print("error by degree: " + ", ".join(f"{degree}: {of_degree[degree]:.4f}" for degree in sorted(of_degree)))

# %% [markdown]
# The learned column: lower by at least 8 % on all eight graphs, for a network that saw one of them. The paper's own gain
# is 10 to 12 %; ours is larger.

# %%
better = evidence.order(ours, 0.92 * unbiased)
ledger.decide("ugrf/table-3/learned-better", better, **needs)

# %%
paper_ratio = printed["learned"][:, 0] / printed["unbiased"][:, 0]
paper_se = paper_ratio * np.hypot(*(printed[c][:, 1] / printed[c][:, 0] for c in ("learned", "unbiased")))
ratio = np.mean(ours.mean(axis=0) / unbiased.mean(axis=0))
each = np.mean(ours / unbiased.mean(axis=0) - unbiased * ours.mean(axis=0) / unbiased.mean(axis=0) ** 2, axis=1)
gain = evidence.value(
    ratio, standard_error(each), paper_ratio.mean(), np.sqrt(np.sum(paper_se**2)) / 8, in_direction=better.verdict.green
)
ledger.decide("ugrf/table-3/size-of-the-gain", gain, **needs)

# %% [markdown]
# **Biased, with a smaller variance**, says the paper. The bias needs no sampling: off the diagonal the features estimate
# $\sum_k \alpha_k W^k$ exactly, and what shared walks add to the diagonal has a closed form
# ({py:func}`rfcore.theory.walk_feature_moments`). What remains of the error is variance. On the graphs that are not
# random:


# %%
def squared_bias(g, f):
    """Squared bias of phi phi^T off and on the diagonal, relative to |K|^2."""
    K = target(g, beta)
    mean, square = theory.walk_feature_moments(g.normalised().scaled(beta), f, n_walks, p_halt, n_terms=30)
    bias = mean @ mean.T - K
    np.fill_diagonal(bias, 0.0)
    return np.array([np.sum(bias**2), np.sum((square.sum(axis=1) - np.diag(K)) ** 2)]) / np.sum(K**2)


split = ("karate", "dolphins", "football", "binary_tree")
bias = np.stack([[squared_bias(fixed[name], f) for f in modulations.values()] for name in split])
columns = [names.index(name) for name in split]
variance = errors[:, columns] - bias.sum(axis=2)
ledger.decide("ugrf/table-3/smaller-variance", evidence.order(variance[..., 1], variance[..., 0]), **needs)

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Where the squared error of each modulation comes from, mean over four graphs: bias off the diagonal, bias on it (what shared walks add, less what f takes away), and variance. Error bars: one standard error of the whole.", "name": "fig-bias-variance"}, "image": {"alt": "Four stacked horizontal bars. The unbiased modulation has the longest bar, mostly variance with some diagonal bias. The learned one and that of two numbers are about a quarter shorter, with some bias off the diagonal. The best constant is a tenth shorter than the unbiased."}}
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
# For each termination probability, and for errors squared or not, we fit $\beta$ to the unbiased column and see what is
# left, with other walks than above. An error is smooth in $\beta$: a few values and a cubic in $\log \beta$ suffice. Error
# bars as before; the spread between draws of a random graph is half as large, relatively, for errors that are not squared.


# %%
def scan(p, seed):
    """Errors of the flat modulation, squared and not, over a grid of beta: shape (2, n_scan, n_graphs, n_betas)."""
    found = np.empty((2, SIZES["n_scan"], len(names), len(grid)))
    for s, j in np.ndindex(found.shape[1:3]):
        name = names[j]
        g = fixed[name] if name in fixed else Graph.from_networkx(drawn[name](seed + s))
        key, nodes = jax.random.key(seed + s), np.tile(np.arange(g.n_nodes), repeats[name])
        for i, b in enumerate(grid):
            if name not in fixed or (name, b) not in scanned:
                scanned[name, b] = target(g, b)
            K, W = scanned[name, b], g.normalised().scaled(b)
            phi = features.walk_features(key, W, flat, n_walks, p, nodes=nodes).to_scipy()
            parts = (phi[k * g.n_nodes : (k + 1) * g.n_nodes] for k in range(repeats[name]))
            squared = np.array([np.sum(((part @ part.T).toarray() - K) ** 2) for part in parts]) / np.sum(K**2)
            found[:, s, j, i] = squared.mean(), np.sqrt(squared).mean()
    return found


scanned, grid, fine = {}, np.array([0.08, 0.12, 0.2, 0.3, 0.4, 0.5]), np.linspace(0.08, 0.5, 500)
readings = {}
for i, p in enumerate(tqdm((0.5, 0.4, 0.6, 0.3)[: SIZES["p_scan"]], desc="p_halt", leave=False)):
    for squared, found in zip((True, False), scan(p, 500 + 10 * i), strict=True):
        mean, se = found.mean(axis=0), standard_error(found)
        curves = [np.polynomial.Polynomial.fit(np.log(grid), np.log(e), 3)(np.log(fine)) for e in mean]
        spread = graph_spread / unbiased.mean(axis=0) / (1 if squared else 2)
        own = np.mean(se / mean, axis=1)
        relative = np.sqrt((printed["unbiased"][:, 1] ** 2 + rounding**2) / printed["unbiased"][:, 0] ** 2 + spread**2 + own**2)
        difference = np.exp(np.stack(curves, axis=1)) / printed["unbiased"][:, 0] - 1
        misfits = np.sum((difference / relative) ** 2, axis=1)
        best = int(np.argmin(misfits))
        readings[p, squared] = misfits[best], fine[best], difference[best]

# %% tags=["hide-input"]
print(f"{'':>25} {'sigma':>6} {'chi^2':>7}   differences in %: " + ", ".join(names))
for (p, squared), (left_over, b, difference) in readings.items():
    kind = "squared" if squared else "not squared"
    shown = " ".join(f"{100 * x:+5.1f}" for x in difference)
    print(f"p_halt = {p}, {kind:>11}: {np.sqrt(b / (1 - b)):6.3f} {left_over:7.1f}   {shown}")

# %%
ours_fits = readings[0.5, True][0]
others = [left_over for reading, (left_over, *_) in readings.items() if reading != (0.5, True)]
if profile == "paper":
    identified = evidence.order([ours_fits] * len(others), others, exact=True)
else:
    identified = evidence.not_run("Two batches a point give no error bars worth weighing by.")
ledger.decide("ugrf/extra-table-3-conventions/identified", identified, **needs)

# %% [markdown]
# (ugrf-extra-gain)=
# ## Why only a tenth?
#
# The paper trains with Adam at a rate of 0.01 that decays by 0.975 per epoch, for 1000 epochs. The sum of those rates is
# 0.4: after a few hundred epochs nothing moves, and no parameter can have moved much further than 0.4. The result then
# depends on the start. The paper does not give one; we take what linear layers usually start from, uniform on
# $(-1, 1)$, many times, and train with the stated schedule and then without decay.

# %%
starts = jax.vmap(neural.random)(jax.random.split(jax.random.key(3), n_starts))


def all_of_them(fs, form):
    """Sum of the losses: Adam treats every number apart, so that this trains each network as if alone."""
    return jnp.sum(jax.vmap(form)(fs))


decaying = optax.adam(optax.exponential_decay(0.01, 1, 0.975))
ends = {
    "start": starts,
    "stated schedule": solver.learn(all_of_them, starts, (training,), 1000, decaying).f,
    "no decay": solver.learn(all_of_them, starts, (training,), SIZES["n_steps"]).f,
}
ratios = {name: np.asarray(jax.vmap(testing)(fs) / testing(flat)) for name, fs in ends.items()}
values = {name: np.asarray(jax.vmap(lambda f: f(np.arange(14)))(fs)) for name, fs in ends.items()}
dead = {name: np.ptp(v, axis=1) < 1e-9 for name, v in values.items()}
reached = float(testing(learned) / testing(flat))
near_best = np.array(ratios["stated schedule"] < reached + 0.02, dtype=float)
ledger.decide("ugrf/extra-gain/schedule", evidence.bound(near_best, 0.5))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Test error over the unbiased one's, of networks from random starts, sorted. Crosses: dead networks, constant functions. Dotted: the best error and the best constant's, beside which the paper's ratio lies.", "name": "fig-starts"}, "image": {"alt": "Sorted error ratios of three groups on a log axis. At the start most are above one, up to a hundred. After the stated schedule a minority is at the best ratio, most still above one. Without decay all are on two plateaus, the best ratio and the best constant's, the second consisting of dead networks."}}
fig, ax = plt.subplots(figsize=(6.4, 3.6))
lines = {}
for name, colour in {"start": "iid", "stated schedule": "simplex", "no decay": "learned"}.items():
    order = np.argsort(ratios[name])
    rank, level, is_dead = np.arange(1, len(order) + 1), ratios[name][order], dead[name][order]
    (lines[name],) = ax.plot(rank, level, color=plotting.COLOURS[colour], linewidth=1)
    ax.plot(rank[~is_dead], level[~is_dead], ".", color=plotting.COLOURS[colour])
    ax.plot(rank[is_dead], level[is_dead], "x", color=plotting.COLOURS[colour])
best_constant = float(testing(constant) / testing(flat))
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
        f"{name:>15}: {dead[name].sum():3d} of {len(found)} dead; {np.sum(found > 1):3d} worse than unbiased; "
        f"{np.sum(found < reached + 0.02):3d} within 0.02 of the best, {near.sum():3d} of the paper's ratio "
        f"({np.sum(near & dead[name])} of them dead)"
    )
print(f"on this graph: learned {reached:.3f}, best constant {best_constant:.3f}, paper {paper_ratio[0]:.3f} ± {paper_se[0]:.3f}")

# %% [markdown]
# A network whose hidden unit is 0 at all lengths is dead: $f$ is a constant, and no gradient wakes it. Trained to the end
# it is the best constant, which gains a good part of what the paper prints. Is that what the paper printed? The eight
# ratios must tell. We compare them with the best constant, with the fully trained network, and with modulations in
# between: $c\, r^k$ with $r$ given and the best $c$ for it. One number, $r$, is fitted to the eight ratios; we chose this
# family after we had seen that a constant falls short by the same two hundredths everywhere.

# %%

def loss_given(c, form, r):
    return form(geometric((c, r)))


between = {}
for r in (0.995, 0.99, 0.98, 0.96):
    c = solver.learn(loss_given, 1.0, (training, r), SIZES["n_steps"]).f
    between[f"r = {r}"] = geometric((float(c), r))
between_errors = table(10_000, list(between.values()))
candidates = {"fully trained": ours, "two numbers": by_two, "best constant": by_constant}
candidates |= dict(zip(between, np.moveaxis(between_errors, 2, 0), strict=True))


def misfit(candidate):
    """Chi-square of the eight ratios against the paper's, with both error bars."""
    own = candidate.mean(axis=0) / unbiased.mean(axis=0)
    own_se = standard_error(candidate / unbiased.mean(axis=0) - unbiased * own / unbiased.mean(axis=0))
    return own, np.sum((own - paper_ratio) ** 2 / (own_se**2 + paper_se**2))


fits = {name: misfit(candidate) for name, candidate in candidates.items()}

# %% tags=["hide-input"]
print(f"{'ratio to the unbiased error':>24} " + " ".join(f"{name[:9]:>9}" for name in names))
print(f"{'paper':>24} " + " ".join(f"{x:9.3f}" for x in paper_ratio))
for name, (own, chi2) in fits.items():
    correlation = np.corrcoef(own, paper_ratio)[0, 1]
    print(f"{name:>24} " + " ".join(f"{x:9.3f}" for x in own) + f"   chi^2 {chi2:7.1f}, correlation {correlation:+.2f}")
for name, f in between.items():
    print(f"{name:>24}: f = " + " ".join(f"{x:.2f}" for x in np.asarray(f(steps))))

# %%
threshold = stats.chi2.isf(0.001, 8)
ledger.decide("ugrf/extra-gain/not-a-constant", evidence.bound(fits["best constant"][1], threshold, side="above"), **needs)

# %%
closest = min(fits[name][1] for name in between)
ledger.decide("ugrf/extra-gain/nearly-constant", evidence.bound(closest, stats.chi2.isf(0.001, 7)), **needs)

# %%
ledger.decide("ugrf/extra-gain/two-numbers", evidence.order(by_two, 1.01 * ours), **needs)

# %% [markdown]
# (ugrf-fig-4)=
# ## Figure 4: more walkers, less bias
#
# The more walkers, the smaller the variance and the less bias is worth paying. The paper shows the learned $f$ for
# several $m$ and calls the flat one $m = \infty$. We train each $m$ several times on independent walks and measure the
# distance from the flat one over the first six lengths.

# %%
walkers = (4, 16, 64, 256)
set_repeats = {m: int(np.clip(4 * SIZES["n_training"] // m, 8, 64)) for m in walkers}
trained = {}
for m in tqdm(walkers, desc="walkers", leave=False):
    forms = [form_of(2000 + 100 * m + i, m, set_repeats[m]) for i in range(n_trainings)]
    forms = jax.tree.map(lambda *leaves: jnp.stack(leaves), *forms)
    many_flat = jax.tree.map(lambda leaf: jnp.stack([leaf] * n_trainings), flat)
    trained[m] = solver.learn(
        lambda fs, forms: jnp.sum(jax.vmap(loss)(fs, forms)), many_flat, (forms,), SIZES["n_steps"]
    ).f
curves = np.stack([np.asarray(jax.vmap(lambda f: f(steps))(trained[m])) for m in walkers], axis=1)
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
# $f_2$ lazy, with almost all its load at the start of the walk. In training they "quickly become very similar (though not
# identical)". The product does not change when one is multiplied by a number and the other divided by it, so we compare
# them after dividing each by its $f(0)$. The start of $f_2$ is ours (the paper gives none); it keeps the unit alive.

# %%
lazy = neural.Neural(*(jnp.asarray(x) for x in ([1.0], [1.0], [-3.0], 3.54)))
forms = jax.tree.map(
    lambda *leaves: jnp.stack(leaves),
    *(form_of(8000 + i, n_walks, SIZES["n_training"] // 2) for i in range(n_trainings)),
)
pairs = jax.tree.map(lambda leaf: jnp.stack([leaf] * n_trainings), (flat, lazy))


def pair_loss(pairs, forms):
    return jnp.sum(jax.vmap(lambda pair, form: form(*pair))(pairs, forms))


pairs_of = {
    "before": pairs,
    "stated schedule": solver.learn(pair_loss, pairs, (forms,), 1000, decaying).f,
    "no decay": solver.learn(pair_loss, pairs, (forms,), SIZES["n_steps"]).f,
}
shapes = {
    name: np.stack([np.asarray(jax.vmap(lambda f: f(steps))(fs)) for fs in pair], axis=1) for name, pair in pairs_of.items()
}
apart = {
    name: np.sqrt(np.mean((v[:, 0] / v[:, 0, :1] - v[:, 1] / v[:, 1, :1])[:, :6] ** 2, axis=1)) for name, v in shapes.items()
}
ledger.decide("ugrf/fig-6/similar", evidence.bound(apart["no decay"], apart["before"][0] / 4))

# %%
ledger.decide("ugrf/fig-6/not-identical", evidence.bound(apart["no decay"], 0.001, side="above"))

# %%
ledger.decide("ugrf/extra-gain/pair", evidence.bound(apart["stated schedule"], apart["before"][0] / 2, side="above"))

# %% tags=["hide-input"] mystnb={"figure": {"caption": "Two separately learned modulations, over their values at 0, before training and after: with the stated schedule and without decay. Bands: one standard deviation over trainings.", "name": "fig-pair"}, "image": {"alt": "Three panels of two curves each. Before training one is flat and the other drops to zero after the first step; after the stated schedule the first rises and the second still drops; without decay they lie close together and fall gently."}}
fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.0), sharey=True)
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
for name in pairs_of:
    error = np.asarray(jax.vmap(lambda pair: testing(*pair))(pairs_of[name])) / float(testing(flat))
    print(f"{name:>15}: distance {apart[name].mean():.3f} ± {apart[name].std(ddof=1):.3f}, error over the flat pair's {error.mean():.3f}")
print(f"      symmetric: {reached:.3f}")

# %% [markdown]
# ## What we found

# %% tags=["hide-input"]
ledger.close(
    seeds={"training": [1, 2], "starts": 3, "graphs and walks": [10_000, 20_000, 30_000], "scan": 500, "figure 4": 2000, "figure 6": 8000},
    data=datasets.provenance(),
    fallbacks=datasets.fallbacks(),
)

# %% [markdown]
# ## What we learned
#
# * **Everything that the paper says about learned modulations holds**: they are biased, have less variance, carry over to
#   all the other graphs, approach the unbiased one as walkers are added, and a pair that starts far apart ends
#   nearly the same, yet not identical. Only the gain is not what Table 3 prints: ours is more than twice as large.
# * **The network needs two numbers.** Trained to the end it is $c\,r^k$, which is the estimator of the same kernel at a
#   shorter length scale, times a constant. Shrinking the length scale is how one trades variance for bias here; no
#   network is needed to find that, and the two numbers carry over to all eight graphs as the network does.
# * **The published column is nearly that of a constant.** Its ratios to the unbiased column are those of a modulation
#   that falls by about one per cent a step, where the best one falls by a sixth. A dead hidden unit gives a constant,
#   which falls short by about two hundredths on every graph; a unit that hardly moved fits, even better than chance
#   would have it (the paper's columns probably share their walks, which makes ratios sharper than we took them for). We
#   cannot know what happened: the start is not printed. What we do know is that rates of 0.01 decaying by 0.975 add up
#   to 0.4, too little for most starts, and that more than a quarter of ours were dead from the beginning.
# * **The table's errors are squared**, though the text defines them without the square. With that, $p = 0.5$ and
#   $\sigma = 0.8$ seven of the eight printed unbiased errors come out within about two standard errors, and no other reading in
#   our scan comes near. **The regular graph does not fit**: two per cent too large at degree 4, as much too small at degree 3,
#   and the paper does not print the degree. An earlier run of this page called the column reproduced, because it took the
#   spread between draws of that graph from too few repeats and found it three times too large. It is a close call: with the best
#   $\sigma$ of the scan, 0.794, $\chi^2$ is 22.3 where our rule allows 22.5, but a paper would have taken 0.8, and so did the
#   rule. Counted honestly we fitted more than two things: also the square, the shared walks and that degree.
# * Lazy walkers have a partner: $f_2 = 1, 0, 0, \dots$ goes with $f_1 = \alpha$, here $1, 2, 3, \dots$ on $\beta W$. Under
#   the stated schedule $f_1$ starts to rise towards it while $f_2$ stays lazy, and the pair is left further apart than it
#   was. Without the decay the two meet.
