# %% [markdown]
# # Gaussian processes with coupled hops
#
# * **Yes: the whole gain carries over to the posterior.** Sixteen walkers with
#   systematic hops and stratified lengths come as close to the exact posterior as more
#   than a hundred independent ones, and 64 as close as more than a thousand.
# * **Hops alone are not enough.** Repelling walks with independent lengths take more
#   than half off the squared error of the kernel of a mesh, but less off the
#   divergence: on a sphere less than a quarter. In the smoothest direction only lengths
#   count.
# * **The prediction gains what there is to gain**: on meshes nearly all that walks had
#   lost, on the roads nothing, since walks had lost nothing there.
#
# **What is known.** Walkers from one node that choose their hops together estimate a
# kernel far better than independent ones ({doc}`17_walks_that_know`,
# {doc}`19_where_hops_help`). But the kernel is a means to an end.
# {cite:t}`reid2025couplings` judge their σ-coupled lengths by Gaussian processes on
# meshes and on roads, where a smaller error of the kernel did not always mean a better
# prediction ({doc}`21_meshes`, {doc}`22_traffic`).
#
# **The idea.** Take their Gaussian processes as they are: their graphs, their
# $p_{\text{halt}}$, hyper-parameters learned on independent walks and then frozen.
# Change nothing but how the walkers walk, and ask how many independent walkers it would
# take for the same posterior.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from companion import datasets, evidence, gram_errors, plotting
from companion.papers.couplings import equal_walkers, predictives, repelling
from rfcore import copulas, features, gp, walks
from rfcore.graphs import Graph
from rfcore.kernels import Diffusion

ledger = evidence.open_page("couplings/23_gps_with_hops", profile)
MESHES, N_SPLITS, N_DRAWS, MORE = {
    "paper": (("teapot", "unit_sphere", "idler_riser"), 36, 4, (256, 1024)),
    "quick": (("unit_sphere",), 6, 2, (256,)),
}[profile]

# %% [markdown]
# (couplings-hops-posteriors)=
# ## The experiment
#
# **Meshes.** The nodes are the faces of a triangle mesh; one face in twenty is hidden,
# and the vertical component of its normal vector is predicted.
#
# **Roads.** 325 sensors on the highways of San Jose, of which 250 are seen; the speed
# on the first Monday is predicted at the others, with edges weighted by one over their
# length. Speeds are in units of the standard deviation of those seen.
#
# For every split, the diffusion kernel and the noise are learned from eight independent
# walkers per node ({py:func}`rfcore.gp.fit_diffusion`). Then that kernel is
# estimated anew from one set of walks, with $p_{\text{halt}} = 0.4$ as in the paper,
# and compared with the exact one: by the kernel itself; by the divergence
# $\mathrm{KL}(\text{approximate} \mid \text{exact})$ of new observations at all hidden
# nodes; by how far the posterior mean is from the exact mean; and by the test error.
#
# *Reversal* stands for σ, because here it is the optimal permutation
# ({doc}`21_meshes`). *Repelling* walks, with independent lengths, are those of
# {doc}`20_repelling_walks`; *systematic* hops go with stratified lengths.

# %%
p_halt, WALKERS = 0.4, (4, 16, 64)
LAWS = {
    "IID": lambda g: "iid",
    "reversal (σ)": lambda g: "reversal",
    "repelling": lambda g: walks.Coupling(copulas.independent, repelling.blocks(g)),
    "systematic": lambda g: "systematic",
}
COLOURS = ("iid", "reversal", "first", "systematic")


def mesh_problem(name):
    """A graph, a value for each node, the nodes that may be observed; how many hide."""
    mesh = datasets.mesh(name, fallback=True)
    g = Graph.from_mesh(mesh, nodes="faces").normalised()
    return g, mesh.face_normals[:, 2], np.arange(g.n_nodes), g.n_nodes // 20


def road_problem():
    traffic = datasets.traffic(fallback=True)
    u, v, length = np.array(list(traffic.graph.edges(data="length"))).T
    n = traffic.graph.number_of_nodes()
    W = sp.coo_array((1 / length, (u.astype(int), v.astype(int))), shape=(n, n))
    values = np.zeros(n)
    values[traffic.sensors] = traffic.speeds[0]
    g = Graph.from_scipy((W + W.T).tocsr()).normalised()
    return g, values, traffic.sensors, len(traffic.sensors) - 250


problems = {name: mesh_problem(name) for name in MESHES} | {"roads": road_problem()}
MEASURES = ("kernel", "divergence", "mean", "test error")


def one_split(name, split):
    """Measures of every law at every number of walkers, and the exact test error."""
    g, values, pool, n_asked = problems[name]
    order = ledger.rng(f"{name} split", split).permutation(pool)
    asked, seen = np.split(order, [n_asked])
    centre, unit = 0, 1
    if name == "roads":
        centre, unit = values[seen].mean(), values[seen].std()
    y, truth = ((values[nodes] - centre) / unit for nodes in (seen, asked))
    key = ledger.key(f"{name} fit", split)
    lengths = walks.lengths.draw(key, len(seen), 8, p_halt, "iid")
    theta = gp.fit_diffusion(key, walks.simulate(key, g, lengths, nodes=seen), y)
    f = features.modulation.of_kernel(Diffusion.from_lengthscale(theta.lengthscale))
    K = gp.diffusion_covariance(g, theta.lengthscale, theta.variance)
    noise = theta.noise
    exact = gp.posterior(K, y, noise, seen, asked)

    def rms(difference):
        return np.sqrt(np.mean(np.asarray(difference) ** 2))

    def measured(law, m, *draw):
        key = ledger.key(f"{name} walks", split, m, *draw)
        phi = features.walk_features(key, g, f, m, p_halt, LAWS[law](g))
        K_hat = theta.variance * (phi @ phi.T)
        found = gp.posterior(K_hat, y, noise, seen, asked)
        return (
            gram_errors.gram_error(K_hat, K),
            predictives.predictive_kl(found, exact, noise),
            rms(found.mean - exact.mean),
            rms(found.mean - truth),
        )

    of_laws = np.array([[measured(law, m) for m in WALKERS] for law in LAWS])
    more = np.array([measured("IID", m) for m in MORE])
    again = [  # with the fewest walkers, of the two laws that are compared
        sum(measured(law, WALKERS[0], draw)[2] for draw in range(1, N_DRAWS))
        for law in ("reversal (σ)", "systematic")
    ]
    return of_laws, more, rms(exact.mean - truth), again


drawn = [
    [one_split(name, i) for i in tqdm(range(N_SPLITS), desc=name, leave=False)]
    for name in problems
]
found, more, exact, again = (
    np.array([[split[part] for split in splits] for splits in drawn]).swapaxes(0, 1)
    for part in range(4)
)  # splits, graphs, then laws, walkers, measures

# %% tags=["hide-input"]
titles = [f"{name}, N = {problem[0].n_nodes:,}" for name, problem in problems.items()]
for k, y_label, caption in (
    (1, "divergence, nats", "Kullback-Leibler divergence from the exact posterior"),
    (2, "distance of means", "Root mean squared distance from the exact mean"),
):
    plotting.show_panels(
        np.array(WALKERS),
        found[..., k],
        panels=titles,
        lines=dict(zip(LAWS, COLOURS, strict=True)),
        x_label="walkers per node",
        y_label=y_label,
        caption=f"Ours. {caption} at the hidden nodes, $p_{{\\text{{halt}}}} = 0.4$. "
        "Bands: one standard error of the mean over splits.",
        alt="A panel for each graph. All curves fall as walkers are added, that of "
        "independent walkers highest and that of systematic hops lowest.",
    )

# %% [markdown]
# ## What is left
#
# A divergence is a *squared* error: near zero it is a quadratic form in the errors of
# mean and covariance. So we show it beside the squared error of the kernel and the
# squared distance of the means, each over that of as many independent walkers. For the
# mean, the closest pair is systematic hops and reversed lengths with four walkers, a
# tenth apart on the sphere; with so few walkers, each split takes the mean of four
# draws of walks.

# %% tags=["hide-input"]
squared = found[..., :3] ** np.array([2, 1, 2])
logs = np.log(squared[:, :, 1:] / squared[:, :, :1])  # splits, graphs, laws, walkers
left = np.exp(logs.mean(axis=0))
error = left * logs.std(axis=0, ddof=1) / np.sqrt(N_SPLITS)
names = list(problems)
plotting.table(
    left[:, :, 1].reshape(-1, 3),
    error[:, :, 1].reshape(-1, 3),
    rows=[f"{name}, {law}" for name in names for law in list(LAWS)[1:]],
    columns=["kernel, squared", "divergence", "means, squared"],
    corner="what is left",
    caption="Ours. Squared error of the kernel, divergence and squared distance of the "
    "means with 16 walkers over those of 16 independent ones: geometric means over "
    "splits.",
)
EXTRA = "couplings/extra-hops-posteriors/"
iid, sigma, _, systematic = np.moveaxis(found, 2, 0)
n_meshes = len(MESHES)
means = found[..., 2][:, :, [1, 3]]
means[..., 0] = (means[..., 0] + again) / N_DRAWS
excess = found[:, :n_meshes, :, 1, 3] - exact[:, :n_meshes, None]
ledger.decide({
    EXTRA + "kernel": evidence.order(systematic[:, :, 1, 0] ** 2, iid[:, :, 2, 0] ** 2),
    EXTRA + "divergence": evidence.order(
        systematic[..., 1], sigma[..., 1], robust=True
    ),
    EXTRA + "quarter": evidence.order(
        systematic[:, :, 1, 1], iid[:, :, 2, 1], robust=True
    ),
    EXTRA + "carries": evidence.bound(
        np.exp(logs[:, :, 2, 1:, 1] - logs[:, :, 2, 1:, 0]), 1.25, geometric=True
    ),
    EXTRA + "mean": evidence.order(means[:, :, 1], means[:, :, 0], robust=True),
    EXTRA + "prediction": evidence.bound(excess[:, :, 3] - excess[:, :, 0] / 2, 0),
})

# %% [markdown]
# (couplings-hops-smooth)=
# ## Why hops alone are not enough
#
# Repelling hops take more than half off the squared error of the kernel of a mesh, and
# less off the divergence; coupled lengths take more off the divergence than off the
# squared error of the kernel. Here is why. Where edges have no weights of their own, a
# walk's load at node $j$ after $k$ hops from $i$ is $\sqrt{d_i / d_j}\,(1 -
# p_{\text{halt}})^{-k}$, whichever way it went. So
#
# $$
# \sum_j \phi(i)_j \sqrt{d_j} = \sqrt{d_i}\, \frac1m \sum_{\text{walks}} \sum_{k \leq
# \text{length}} \frac{f(k)}{(1 - p_{\text{halt}})^k} ,
# $$
#
# where $d$ holds the numbers of neighbours: in the direction of $\sqrt d$, the first
# eigenvector of $W$ and the smoothest, features depend on the *lengths* alone. Hops
# cannot mend an error there, and the posterior of a smooth function suffers from it. So
# coupled hops have to come with coupled lengths.

# %%
off = []
for name in MESHES:
    g, key = problems[name][0], ledger.key(f"{name} same lengths")
    f, v = features.modulation.diffusion(2.0), np.sqrt(g.neighbour_counts)
    free, repelled = (
        features.walk_features(key, g, f, 16, p_halt, LAWS[law](g)) @ v
        for law in ("IID", "repelling")
    )
    off.append(np.abs(repelled / free - 1).max())

# %% tags=["hide-input"]
ledger.decide({
    "couplings/extra-hops-smooth/hops-alone": evidence.identity(
        np.array(off), 0.0, 1e-9
    ),
    "couplings/extra-hops-smooth/less": evidence.order(
        logs[:, :n_meshes, 1, 1:, 0], logs[:, :n_meshes, 1, 1:, 1]
    ),
})

# %% [markdown]
# ## Walkers saved
#
# How many independent walkers have the same error of the kernel, the same divergence?
# Their errors are interpolated between the numbers of walkers that were run, and beyond
# the largest number they fall as one over it
# ({py:func}`~companion.papers.couplings.equal_walkers.of_curve`).

# %%
cases = [(i, j) for i in range(len(names)) for j in (1, 2)]
run = np.array([*WALKERS, *MORE])
beyond = more[..., :3] ** np.array([2, 1, 2])
curves = np.concatenate([squared[:, :, 0], beyond], axis=2)
curves = np.exp(np.log(curves).mean(axis=0))  # graphs, walkers, measures
worth = np.array([
    [
        equal_walkers.of_curve(run, curves[i, :, k], left[i, :, j, k] * curves[i, j, k])
        for k in (0, 1)
    ]
    for i, j in cases
]).reshape(len(cases), -1)
spread = np.array([(error / left)[i, :, j, :2].T.ravel() for i, j in cases])

# %% tags=["hide-input"]
plotting.table(
    worth,
    worth * spread,
    rows=[f"{names[i]}, {WALKERS[j]}" for i, j in cases],
    columns=[
        f"{by}: {law}"
        for by in ("kernel", "KL")
        for law in ("σ", "repelling", "systematic")
    ],
    corner="walkers",
    caption="Ours. Independent walkers with the same error of the kernel, and with the "
    "same divergence (KL).",
)

# %% [markdown]
# ## The prediction
#
# On the roads there is nothing to win: independent walkers, too, predict as well as the
# exact kernel. What is lost on the roads is lost when the hyper-parameters are learned
# ({doc}`22_traffic`).

# %% tags=["hide-input"]
rmse = np.concatenate([found[..., 1, 3], exact[..., None]], axis=2)
plotting.table(
    rmse.mean(axis=0),
    rmse.std(axis=0, ddof=1) / np.sqrt(N_SPLITS),
    rows=names,
    columns=[*LAWS, "exact kernel"],
    corner="graph",
    caption="Ours. Test error with 16 walkers per node and with the exact kernel, "
    "means over splits. Roads: in units of the deviation of the speeds.",
)

# %% [markdown]
# ## What to do
#
# * For a Gaussian process on a graph of low degree take `coupling="systematic"`,
#   stratified lengths and systematic hops together, in
#   {py:func}`rfcore.features.walk_features`.
# * Count on a sixth of the divergence or less with 16 walkers. A systematic walk takes
#   about twice as long ({doc}`/book/benchmarks`) and does the work of six or
#   more, so that walking takes less time for the same posterior; solving takes as long
#   as before.
# * Do not expect a better prediction where independent walkers already predict like the
#   exact kernel, or where the fault lies with the hyper-parameters.
# * All this was seen on graphs with two or three neighbours per node, at
#   $p_{\text{halt}} = 0.4$; {doc}`19_where_hops_help` says where the gain in the kernel
#   ends.

# %% tags=["hide-input"]
ledger.close()
