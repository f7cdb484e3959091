# %% [markdown]
# # What does a learned modulation learn? (Table 3)
#
# * **A modulation learned on 20 nodes works on all eight graphs**, the largest of
#   which is sixty times larger. It is biased and has less variance, as the paper says.
# * **It gains more than twice what the paper prints**: on average more than a quarter
#   of the squared error in place of a tenth, with the stated schedule as well as with
#   training to the end. {doc}`11_why_a_tenth` asks why.
# * **The network needs only two numbers.** Trained to the end it is nearly $c\,r^k$:
#   the estimator of the same kernel at a shorter lengthscale, times a constant.
#
# **What the paper claims.** The modulation $f$ with $f * f = \alpha$ gives unbiased
# estimates of a kernel. {cite:t}`reid2023universal` let a tiny network be the
# modulation (Eq. 16), train it on one Erdős–Rényi graph of 20 nodes to make the error
# of the Gram matrix small, and find an $f$ that is biased and better, on that graph and
# on seven others (Table 3).
#
# **The idea.** The target is the 2-regularised Laplacian kernel $K = (I + \sigma^2
# L)^{-2}$. With $\beta = \sigma^2 / (1 + \sigma^2)$ and $W$ the normalised adjacency
# matrix it is, up to a constant, the square of $\sum_k \beta^k W^k$. So if the walkers
# walk on $\beta W$, as in the paper, the unbiased modulation is **flat**: $f(k) = 1$.
# The network has four numbers:
#
# $$
# f(k) = \operatorname{softplus}\bigl(w_2 \operatorname{ReLU}(w_1 k + b_1) + b_2\bigr) .
# $$

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
from functools import partial

import networkx as nx
import numpy as np
import optax
from tqdm import tqdm

from companion import evidence, plotting, random_graphs
from companion.models import descent
from companion.papers.ugrf import eight_graphs, fits, learned_modulations
from companion.papers.ugrf.eight_graphs import shared_bias
from rfcore.features import neural
from rfcore.graphs import Graph

ledger = evidence.open_page("ugrf/10_learned_modulation", profile)
N_BATCHES, SHARE, N_TRAINING, N_STEPS = {
    "paper": (30, 1.0, 128, 3000),
    "quick": (10, 0.15, 32, 1000),
}[profile]
SIGMAS, SPREAD, REGULAR = {  # other sigmas; draws and repeats of random graphs
    "paper": ((0.74, 0.77, 0.83, 0.86), (60, 200), (30, 100)),
    "quick": ((0.76, 0.84), (5, 10), (3, 5)),
}[profile]

# %% [markdown]
# ## Training
#
# *Not printed*: $\sigma$, the termination probability $p$, how dense the random graphs
# are, which $d$-regular graph it is, where training starts, and how many steps an epoch
# has. We use squared errors, one set of walks for rows and columns, $\sigma = 0.8$ and
# $p = 0.5$, found by fitting the "unbiased" column ([and tested on other
# walks](ugrf-extra-table-3-conventions)); edge probabilities of 0.2 and 0.04; a random
# regular graph of degree 4; a flat start, $f = 1$, with the hidden unit alive; and one
# step per epoch.
#
# The network sees one graph of 20 nodes, as in the paper, and many sets of 16 walks
# from each node, so that $f$ is fitted to the distribution of the walks and not to one
# draw. Features are linear in $f$, so that for given walks the loss is a polynomial of
# degree four in $f(0), f(1), \dots$
# ({py:func}`~companion.papers.ugrf.learned_modulations.loss_of_walks`). Its coefficients
# are computed once. The paper lets Adam run at a rate of 0.01 that decays by a factor
# of 0.975 per epoch: with one step per epoch the rates add up to 0.4, and no parameter
# can move much further than that. We train in this way, and also **without the decay**
# until nothing moves; from other starts that can lead to another minimum
# ({doc}`11_why_a_tenth`). For comparison we take $c\,r^k$, with both numbers learned in
# the same way, and the best constant.

# %%
sigma, n_walks, p_halt = 0.8, 16, 0.5
beta = sigma**2 / (1 + sigma**2)

small = eight_graphs.draw("erdos_renyi_small", ledger.key("small graph"))
on_small = small.scaled(beta), eight_graphs.target(small, beta), n_walks, p_halt
training, testing = (
    learned_modulations.loss_of_walks(ledger.key(name), *on_small, n_repeats)
    for name, n_repeats in (("training", N_TRAINING), ("testing", 4 * N_TRAINING))
)


def learn(start, n_steps, optimiser):
    """Trained on the walks of the small graph."""
    return descent.learn(
        lambda f, loss: loss(f), start, (training,), n_steps, optimiser
    )


adam, flat = optax.adam(0.01), neural.flat()
FS = {
    "unbiased": flat,
    "learned, stated schedule": learn(flat, 1000, learned_modulations.staircase(1)).f,
    "learned, no decay": learn(flat, N_STEPS, adam).f,
    "two numbers": learn(learned_modulations.Geometric(1.0, 1.0), N_STEPS, adam).f,
    "best constant": neural.flat(learned_modulations.best_scale(training, flat)[0]),
}

# %% tags=["hide-input"]
values = [[*f(np.arange(8)), testing(f) / testing(flat)] for f in FS.values()]
c, r = (float(x) for x in FS["two numbers"])
shorter = np.sqrt(r * beta / (1 - r * beta))
plotting.table(
    np.transpose(values),
    rows=[*(f"$f({k})$" for k in range(8)), "test error over the unbiased one's"],
    columns=list(FS),
    caption="Ours. The modulations, and their errors for other walks on the small "
    f"graph. The two numbers are $c = {c:.3f}$ and $r = {r:.3f}$; the estimate is "
    f"$c^2$ times that of the kernel with $\\sigma = {shorter:.3f}$.",
)

# %% [markdown]
# The learned $f$ falls nearly geometrically. A modulation $c\,r^k$ on $\beta W$ is the
# flat one on $r \beta W$, times $c$: up to a constant it is again the estimator of a
# 2-regularised Laplacian kernel, with a **shorter lengthscale**. So shrinking the
# lengthscale is how one trades variance for bias here, and no network is needed to find
# that.

# %% [markdown]
# (ugrf-table-3)=
# ## Table 3: eight graphs
#
# Every modulation meets the same new walks. A batch holds as many repeats as the
# graph's size allows, and a new graph where the graph is random; tests are paired over
# batches. A walk on $\beta W$ deposits $\beta^k$ times what it deposits on $W$ at step
# $k$, so the same walks also serve other values of $\sigma$, whose kernels are other
# targets.

# %%
names = eight_graphs.NAMES
repeats = {"erdos_renyi_small": 200, "karate": 100, "dolphins": 60, "eurosis": 8}
repeats = {name: max(1, int(SHARE * repeats.get(name, 32))) for name in names}


def errors_on(draw, readings, n_repeats, name, i):
    """Squared errors (repeats, readings); a reading is a modulation on b W, and b."""
    g = draw(key=ledger.key(f"graph {name}", i)).normalised()
    key = ledger.key(f"walks {name}", i)
    return eight_graphs.errors(key, g, readings, n_walks, p_halt, n_repeats)


flats = [(flat, s**2 / (1 + s**2)) for s in SIGMAS]
readings = [(f, beta) for f in FS.values()] + flats
errors = np.empty((N_BATCHES, len(readings), len(names)))
for j, name in enumerate(tqdm(names, desc="graphs", leave=False)):
    draw = partial(eight_graphs.draw, name)
    for i in range(N_BATCHES):
        found = errors_on(draw, readings, repeats[name], name, i)
        errors[i, :, j] = found.mean(axis=0)
unbiased, by_schedule, by_learned = np.moveaxis(errors[:, :3], 1, 0)

# %% tags=["hide-input"]
table = evidence.printed("ugrf_table3")
cells = [[r for r in table if r["modulation"] == c] for c in ("unbiased", "learned")]
paper, paper_se = (
    np.array([[float(r[part]) for r in column] for column in cells])
    for part in ("frobenius_error", "std_error")
)
paper_ratio = paper[1] / paper[0]
ratio_se = paper_ratio * np.hypot(*(paper_se / paper))


def mean_and_se(numbers):
    return numbers.mean(axis=0), numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))


ours = [unbiased, by_schedule, by_learned]
ours += [fits.ratios(column, unbiased) for column in ours[1:]]
values, se = np.moveaxis([mean_and_se(column) for column in ours], 0, -1)
shown = [[f"{r['frobenius_error']} ± {r['std_error']}" for r in c] for c in cells]
shown = [*shown, [None] * 8, [f"{x:.3f}" for x in paper_ratio], [None] * 8]
plotting.table(
    values,
    se,
    rows=[f"{r['graph']}, N = {r['n_nodes']}".replace("_", " ") for r in cells[0]],
    columns=["unbiased", "schedule", "no decay", "ratio, schedule", "ratio, no decay"],
    corner="graph",
    printed=np.transpose(shown),
    caption="Re-run: Table 3. Squared relative errors of the Gram matrix, and ratios.",
)

# %% [markdown]
# The error is lower by 21 to 33 % on all eight graphs (our rule required 8 %), with a network
# that saw one of them, whether it was trained by the stated schedule or to the end. The
# gain that the paper prints is 10 to 12 %; ours is larger both ways. The paper also
# says that the estimates are **biased, with a smaller variance**. The bias needs no
# sampling: off the diagonal the features estimate $\sum_k \alpha_k W^k$ exactly, and
# what shared walks add to the diagonal has a closed form
# ({py:func}`~companion.papers.ugrf.eight_graphs.shared_bias`). What remains of the error
# is variance. We split the error in this way on the graphs that are not random (eurosis
# is too large).

# %%
split = ("karate", "dolphins", "football", "binary_tree")
bias = np.empty((len(FS), len(split), 2))  # off the diagonal, and on it
for j, name in enumerate(split):
    g = eight_graphs.draw(name, ledger.key("not random"))
    on_graph, K = g.scaled(beta), eight_graphs.target(g, beta)
    for i, f in enumerate(FS.values()):
        bias[i, j] = shared_bias(on_graph, K, f, n_walks, p_halt)
of_split = [names.index(name) for name in split]
variance = errors[:, : len(FS), of_split] - bias.sum(axis=2)

# %% tags=["hide-input"]
parts = np.array([*bias.mean(axis=1).T, variance.mean(axis=(0, 2))])
plotting.show(
    plotting.bars(
        np.transpose([*parts, parts.sum(axis=0)]), rows=list(FS),
        columns={
            "bias off the diagonal": "first", "bias on it": "second",
            "variance": "third", "whole": "fourth",
        },
        x_label="squared relative error",
    ),
    caption="Ours. What the squared errors consist of, means over four graphs.",
    alt="Five rows of four dots. Most of the error is variance. The whole is largest "
    "for the unbiased modulation, about a quarter less for the learned ones and that "
    "of two numbers, a tenth less for the constant.",
)  # fmt: skip
better = evidence.order(errors[:, 1:3], 0.92 * np.stack([unbiased, unbiased], axis=1))
gain = evidence.value(
    *(float(x) for x in mean_and_se(fits.ratios(by_schedule, unbiased).mean(axis=1))),
    paper_ratio.mean(),
    paper_se=np.sqrt(np.sum(ratio_se**2)) / len(names),
    in_direction=better.verdict.green,
)
ledger.decide({
    "ugrf/table-3/learned-better": better,
    "ugrf/table-3/size-of-the-gain": gain,
    "ugrf/table-3/smaller-variance": evidence.order(variance[:, 2], variance[:, 0]),
})

# %% [markdown]
# ## Are these the errors of the paper?
#
# In the unbiased column seven of our graphs are those of the table, or are drawn as it
# says; $\sigma$ was fitted to them. So that no graph is compared at a $\sigma$ that was
# fitted to it, each is compared at the one that fits the *other six* best. The paper's
# error bars are those of one draw of each random graph: we add the spread between
# draws.


# %%
def over_draws(name, draw, reading, n_graphs, n_repeats):
    """Mean error over draws of a graph, its standard error, and their spread."""
    name = f"{name}, many draws"
    drawn = [errors_on(draw, [reading], n_repeats, name, i) for i in range(n_graphs)]
    return fits.between_draws(np.stack(drawn)[..., 0])


of_draws = np.zeros(len(names))  # which the printed errors leave out
for j, name in enumerate(names[:2]):
    draw = partial(eight_graphs.draw, name)
    of_draws[j] = over_draws(name, draw, (flat, beta), *SPREAD)[2]
bar = np.hypot(paper_se[0], of_draws)
all_sigmas = np.array([sigma, *SIGMAS])
order, fine = np.argsort(all_sigmas), np.linspace(min(SIGMAS), max(SIGMAS), 1201)
at_sigma = errors.mean(axis=0)[[0, *range(len(FS), len(readings))]][order].T
curves = fits.smooth(all_sigmas[order], at_sigma, fine, min(3, len(SIGMAS)))
kept = [j for j, name in enumerate(names) if name != "d_regular"]
own = mean_and_se(unbiased)[1][kept], paper[0, kept], bar[kept]
compared, compared_se, (best, best_se) = fits.held_out(fine, curves[kept], *own)

# %% [markdown]
# The eighth graph is "a $d$-regular graph". The paper does not say which, and it
# matters: among graphs of 100 nodes that deserve the name the errors differ by more
# than the printed error bar of 0.0002. Some have the printed error. As we tried
# several, that does not tell which one it was; it does say that nothing speaks against
# the number.

# %%
kinds = {}
for d in (3, 4, 6, 10):
    kinds[f"random, degree {d}"] = partial(random_graphs.regular, n=100, degree=d)
lattices = {"10 x 10 torus": nx.grid_2d_graph(10, 10, periodic=True)}
for d in (2, 4, 10):
    lattices[f"ring, degree {d}"] = nx.circulant_graph(100, range(1, d // 2 + 1))
for name, G in lattices.items():
    kinds[name] = lambda key, G=G: Graph.from_networkx(G)
at_best = flat, best**2 / (1 + best**2)
regular = np.array([over_draws(*kind, at_best, *REGULAR) for kind in kinds.items()])

# %% tags=["hide-input"]
j = names.index("d_regular")
numbers, numbers_se = np.append([compared, compared_se], regular[:, :2].T, axis=1)
all_rows = [*kept, *[j] * len(kinds)]
theirs, bars = paper[0, all_rows], paper_se[0, all_rows]
more_se = np.append(of_draws[kept], regular[:, 2])
their_se = np.hypot(bars, more_se)
plotting.table(
    numbers[:, None],
    numbers_se[:, None],
    rows=[*(names[j].replace("_", " ") for j in kept), *kinds],
    columns=["squared error, unbiased"],
    corner="graph",
    printed=[[f"{x:.4f} ± {e:.4f}"] for x, e in np.stack([theirs, bars], axis=1)],
    caption="Ours. Seven graphs, each at the $\\sigma$ that fits the others best, and "
    f"regular graphs at the one that fits all seven, {best:.3f} ± {best_se:.3f}. The "
    "paper's error bars leave out the spread between draws, which is added to decide.",
)
first, second = np.triu_indices(len(kept), 1)
apart = theirs[first] - theirs[second]
told_apart = abs(apart) > 3 * np.hypot(their_se[first], their_se[second])
in_order = (compared[first] - compared[second])[told_apart] * apart[told_apart] > 0


def agreement(rows, **more):
    """With the printed errors, on some rows of the table."""
    if profile != "paper":
        return evidence.not_run("The error bars of a quick run hide what matters.")
    more |= {"rounding": 0.00005, "smallest_difference": 0.15 * theirs[rows]}
    found = numbers[rows], numbers_se[rows], theirs[rows]
    more |= {"paper_se": bars[rows], "unprinted_se": more_se[rows]}
    return evidence.agree(*found, **more)


ledger.decide({
    "ugrf/table-3/unbiased-column": agreement(
        slice(len(kept)), in_direction=bool(np.all(in_order))
    ),
    "ugrf/table-3/regular-graph": agreement(slice(len(kept), None)),
})

# %% tags=["hide-input"]
ledger.close()
