"""Errors of walk features that are estimated: on small graphs they are those in closed form, row by row."""

from functools import partial

import jax
import networkx as nx
import numpy as np
import pytest

from rfcore import features, theory
from rfcore.graphs import Graph

KARATE = Graph.from_networkx(nx.karate_club_graph()).normalised()
F = features.modulation.diffusion(1.0)


def within(draws, exact, axis=0):
    return abs(draws.mean(axis) - exact) < 5 * draws.std(axis, ddof=1) / draws.shape[axis] ** 0.5


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("coupling", ["iid", "antithetic"])
def test_errors_are_those_in_closed_form(coupling, stored):
    walk = partial(features.walk_features, g=KARATE, f=F, n_walks=4, p_halt=0.3, coupling=coupling, stored=stored)
    errors, norms = theory.walk_row_mses(jax.random.key(1), walk, n_repeats=400, n_probes=4)
    mean, _ = theory.walk_feature_moments(KARATE, F, 4, 0.3, coupling=coupling)
    assert errors.shape == norms.shape == (400, 34)
    assert within(errors.sum(axis=1), theory.walk_gram_mse(KARATE, F, F, 4, 0.3, coupling=coupling))
    assert within(norms, np.sum((mean @ mean.T) ** 2, axis=1)).all()


def test_rows_are_told_apart_and_only_the_nodes_asked_for_count():
    nodes = np.array([33, 11, 0])
    walk = partial(features.walk_features, g=KARATE, f=F, n_walks=8, p_halt=0.3, coupling="iid", nodes=nodes)
    errors, norms = theory.walk_row_mses(jax.random.key(2), walk, n_repeats=1000)
    mean, _ = theory.walk_feature_moments(KARATE, F, 8, 0.3)
    block = mean[nodes] @ mean[nodes].T
    keys = jax.random.split(jax.random.key(3), (1000, 2))
    direct = np.array([np.sum(((walk(a) @ walk(b).T).toarray() - block) ** 2, axis=1) for a, b in keys])
    apart = errors.mean(axis=0) - direct.mean(axis=0)
    assert np.all(abs(apart) < 5 * np.sqrt((errors.var(axis=0) + direct.var(axis=0)) / 1000))
    assert within(norms, np.sum(block**2, axis=1)).all()
    assert np.ptp(direct.mean(axis=0)) > 10 * direct.std(axis=0).max() / 1000**0.5


def test_complaints():
    walk = partial(features.walk_features, g=KARATE, f=F, n_walks=4, p_halt=0.3)
    for key, options, complaint in ((0, {}, "key = 0"), (jax.random.key(0), {"n_repeats": 1}, "n_repeats = 1")):
        with pytest.raises(ValueError, match=complaint):
            theory.walk_row_mses(key, walk, **options)
