"""Walks on a Dask cluster of this machine's processes: the features that a single process gives, bit for bit."""

import dask
import jax
import networkx as nx
import numpy as np
import pytest
from distributed import Client, LocalCluster

from rfcore import features
from rfcore.features import modulation
from rfcore.graphs import Graph
from rfcore.walks import streams


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    gives_up_at_once = {"distributed.scheduler.allowed-failures": 0}  # by default after the fourth worker lost
    folder = tmp_path_factory.mktemp("dask")
    with (
        dask.config.set(gives_up_at_once),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",  # None asks for port 8787, which another run may hold
            silence_logs="CRITICAL",
            local_directory=str(folder),
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_cluster_gives_the_features_of_one_process(monkeypatch, client):
    monkeypatch.setattr(streams, "WALKERS_PER_CHUNK", 64)  # 17 chunks of two nodes
    g, f = Graph.from_networkx(nx.karate_club_graph()).normalised(), modulation.diffusion(1.0)
    one_worker = list(client.scheduler_info()["workers"])[:1]
    alone = features.walk_features(jax.random.key(4), g, f, 32, 0.1).matrix
    for executor in (client.get_executor(), client.get_executor(workers=one_worker)):
        phi = features.walk_features(jax.random.key(4), g, f, 32, 0.1, executor=executor).matrix
        assert np.array_equal(alone.indptr, phi.indptr)
        assert np.array_equal(alone.indices, phi.indices)
        assert np.array_equal(alone.data, phi.data)
