# %% [markdown]
# # What travels between many machines?
#
# * **Walks take any executor, and the key alone decides the features.** On the workers of
#   a Dask cluster they are the same to the bit as on the threads of one process.
# * **A job carries the graph**, and little else: for 100,000 nodes with six neighbours
#   each, 21 MB of graph and 90 kB of start nodes, key and recipe. Nine jobs send 188 MB
#   in all, and features of 128 MB come back. Features that are not stored are a bad
#   bargain on a cluster: one product sends 541 MB.
# * **Points need no executor.** Share them out over JAX devices, and features and products
#   stay where their points are. A product with $m$ features per point moves $m$ numbers
#   per column between devices.
#
# **What a user has.** A graph, or a table of points, that one machine takes too long for
# or cannot hold. Walks from different nodes are independent, and so are the features of
# different points: the work can be cut anywhere. Whether it pays is a question of what has
# to be sent.
#
# **The idea.** Start nodes are cut into chunks of a few thousand. Each chunk draws from
# a random stream of its own, determined by the key and the number of the chunk. So it
# does not matter who walks a chunk, or when, or after which other chunk. If a worker is
# lost, Dask gives its chunks to another, and nothing changes.

# %% tags=["parameters", "hide-input"]
profile = "paper"

# %% tags=["hide-input"]
import pickle
from concurrent.futures import Executor

import dask
import jax
import numpy as np
from dask.distributed import Client, LocalCluster
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from companion import evidence, plotting, random_graphs
from rfcore import couplings, features

# Four JAX devices of one processor; JAX asks to be told before its first array.
jax.config.update("jax_num_cpu_devices", 4)
ledger = evidence.open_page("beyond/04_many_machines", profile)
SIZES, N_POINTS = {
    "paper": ((10_000, 30_000, 100_000), 20_000),
    "quick": ((5_000, 10_000), 2_000),
}[profile]
COUPLINGS = ("iid", "stratified", "systematic")
f = features.modulation.diffusion(1.0)
# Dask advises against jobs of 10 MB and more: below we see what there is to send.
dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})


def build(key, g, coupling, executor=None):
    """Features from 16 walks of mean length 9 per node."""
    return features.walk_features(key, g, f, 16, 0.1, coupling, executor=executor)


# %% [markdown]
# (many-machines)=
# ## Nine lines
#
# This is all that a user writes. For a cluster that runs elsewhere the client is
# `Client("tcp://scheduler:8786")`, and `rfcore` must be installed where the workers
# are.
#
# ```python
# import jax
# from dask.distributed import Client, LocalCluster
# from companion import random_graphs
# from rfcore import features
#
# if __name__ == "__main__":
#     g = random_graphs.regular(jax.random.key(0), 100_000, 6).normalised()
#     f = features.modulation.diffusion(1.0)
#     with LocalCluster(n_workers=2) as cluster, Client(cluster) as client:
#         pool, key = client.get_executor(), jax.random.key(1)
#         phi = features.walk_features(key, g, f, 16, 0.1, executor=pool)
# ```
#
# An executor is any `concurrent.futures.Executor`. To see what goes through, we put one of
# our own between `rfcore` and Dask; it weighs each part of a job as it is pickled.


# %%
class Weighing(Executor):
    """Hands jobs on, and notes the bytes of their parts."""

    def __init__(self, executor):
        self.executor, self.jobs = executor, []

    def submit(self, function, *job):
        self.jobs.append([len(pickle.dumps(part)) for part in (function, *job)])
        return self.executor.submit(function, *job)


# %%
apart, sent = [], []
with (
    LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs="ERROR",
    ) as cluster,
    Client(cluster) as client,
):
    for n in SIZES:
        g = random_graphs.regular(ledger.key("graph", n), n, 6).normalised()
        key, v = ledger.key("walks", n), ledger.rng("vector", n).normal(size=n)
        for coupling in COUPLINGS:
            weighing = Weighing(client.get_executor())
            there = build(key, g, coupling, weighing).matrix
            here = build(key, g, coupling).matrix
            apart += [
                np.count_nonzero(getattr(there, part) != getattr(here, part))
                for part in ("indptr", "indices", "data")
            ]
            if coupling == "stratified":
                back = here.data.nbytes + here.indices.nbytes + here.indptr.nbytes
                sent.append((f"features, {n:,} nodes", weighing.jobs, back))
    weighing = Weighing(client.get_executor())
    streamed = features.walk_features(
        key, g, f, 16, 0.1, executor=weighing, stored=False
    )
    product = streamed @ v
    sent.append((f"product, {n:,} nodes", weighing.jobs, product.nbytes))

# %% [markdown]
# ## What travels
#
# On the way there: the graph with the factors of its edges, the numbers of the start
# nodes, the key as one whole number, the name of the coupling's function, and a table
# of the modulation. On the way back: the features, 12 bytes for each that is not zero.
# No walk travels, and no code, unless the coupling is a function of yours.
#
# The graph goes along with every job, since an executor offers no other way. A job is
# therefore as many chunks as it takes until about as much comes back as was sent. Even
# so, up to 1.5 times as much is sent: the plan counts a feature for every deposit, and
# deposits at one node from the same start become one feature. Dask advises leaving
# large data on the workers instead; that would take an interface other than an
# executor's.
#
# Features that are *not stored* (`stored=False`) are walked again for every product,
# chunk by chunk, and each chunk takes the graph and the vector along, to bring back a
# few thousand numbers. The threads of one machine share both. So build features on a
# cluster, and stream them at home. And measure first: the threads of one machine send
# nothing at all.

# %% tags=["hide-input"]
rows = []
for _, jobs, back in sent:
    parts = np.array(jobs)
    graph, whole = parts.max(), parts.sum()  # the graph is a job's largest part
    rest = whole / len(jobs) - graph
    rows.append([len(jobs), graph / 1e6, rest / 1e3, whole / 1e6, back / 1e6])
plotting.table(
    rows,
    rows=[name for name, *_ in sent],
    corner="task",
    columns=[
        "jobs",
        "graph per job, MB",
        "all else per job, kB",
        "sent in all, MB",
        "back in all, MB",
    ],
    caption="Ours. What goes to the workers, pickled, and what comes back. Regular "
    "graphs of degree 6, 16 walks of mean length 9 per node, stratified lengths; last, "
    "the product of features that are not stored with one vector.",
)

# %% [markdown]
# ## Points
#
# Vectors are JAX arrays, and JAX has its own way to many machines: an array whose rows
# are shared out over devices. Couplings, maps and products follow. Here the devices are
# four parts of one processor; on accelerators the lines of code are the same.

# %%
mesh = jax.make_mesh((4,), ("points",), axis_types=(AxisType.Auto,))
x = jax.random.normal(ledger.key("points"), (N_POINTS, 64)) / 8
shared = jax.device_put(x, NamedSharding(mesh, PartitionSpec("points")))
omega = couplings.simplex(ledger.key("omega"), 256, 64)
phi = features.positive(shared, omega)
print("features on each device:", *(part.data.shape for part in phi.addressable_shards))

# %% [markdown]
# What travels between devices can be read in the program that XLA compiles. The lines
# below show, for a product of the kernel's estimate with two columns, the only
# operation that crosses devices.

# %%
compiled = jax.jit(lambda phi, v: phi @ (phi.T @ v)).lower(phi, shared[:, :2]).compile()
for line in compiled.as_text().splitlines():
    if "all-reduce(" in line or "all-gather(" in line:
        print(line.split("=")[1].split("{")[0].strip(), line.split("(")[0].split()[-1])

# %% [markdown]
# ## Verdicts

# %% tags=["hide-input"]
ledger.decide({
    "beyond/extra-many-machines/same": evidence.bound(np.array(apart), 0, exact=True),
    "beyond/extra-many-machines/bytes": evidence.bound(
        np.array([whole / back for *_, whole, back in rows[:-1]]), 2.0, exact=True
    ),
    "beyond/extra-many-machines/devices": evidence.identity(
        phi, features.positive(x, omega), tolerance=1e-12, relative=True
    ),
})

# %% tags=["hide-input"]
ledger.close()
