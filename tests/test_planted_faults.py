"""Known mistakes, planted on purpose: the checks that pass on our code must go red for each."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest

from rfcore import couplings, evidence, features, kernels, theory, walks
from rfcore.couplings import walk_lengths
from rfcore.evidence import Verdict
from rfcore.features import modulation
from rfcore.graphs import Graph

D = 4
X = np.array([[0.30, -0.20, 0.10, 0.25]])
Y = np.array([[0.20, 0.10, 0.30, 0.05]])


# The checks, each a function of the thing that may be wrong.


def features_are_unbiased(coupling, feature=features.positive, n=20_000):
    def estimate(key):
        omega = coupling(key, 2 * D, D)
        return jnp.sum(feature(X, omega) * feature(Y, omega))

    estimates = jax.jit(jax.vmap(estimate))(jax.random.split(jax.random.key(0), n))
    return evidence.unbiased(np.asarray(estimates), float(kernels.gaussian(X, Y)[0, 0]), smallest_bias=0.02)


def error_is_the_one_of_theory(coupling, name, n=20_000):
    truth = kernels.gaussian(X, Y)[0, 0]

    def squared_error(key):
        omega = coupling(key, 2 * D, D)
        return (jnp.sum(features.positive(X, omega) * features.positive(Y, omega)) - truth) ** 2

    errors = jax.jit(jax.vmap(squared_error))(jax.random.split(jax.random.key(1), n))
    expected = float(theory.positive_mse(X[0], Y[0], 2 * D, name))
    return evidence.unbiased(np.asarray(errors), expected, smallest_bias=expected / 2)


def walks_estimate_the_kernel(make_features, seeds=(1, 2), repeats=800):
    g = Graph.from_networkx(nx.karate_club_graph())
    left, right = (make_features(seed, g.normalised(), repeats).reshape(repeats, 34, 34) for seed in seeds)
    return evidence.unbiased(left @ right.transpose(0, 2, 1), kernels.regularised_laplacian(g, 1.0, 2), smallest_bias=0.02)


def honest_walks(seed, g, repeats):
    nodes = np.tile(np.arange(34), repeats)
    f = modulation.regularised_laplacian(1.0, 2)
    return features.walk_features(jax.random.key(seed), g, f, 8, 0.3, nodes=nodes).toarray()


# The faults.


def without_sign_fix(key, m, d):
    key_rotations, key_norms = jax.random.split(key)
    q, _ = jnp.linalg.qr(jax.random.normal(key_rotations, (m // d, d, d)))
    return couplings.norms.independent(key_norms, m, d)[:, None] * q.reshape(m, d)


def norms_shared_between_blocks(key, m, d):
    key_directions, key_norms = jax.random.split(key)
    shared = jnp.tile(couplings.norms.independent(key_norms, d, d), m // d)
    return shared[:, None] * couplings.directions.simplex(key_directions, m, d)


def same_key_for_every_block(key, m, d):
    return jnp.tile(couplings.simplex(key, d, d), (m // d, 1))


def bandwidth_twice(x, omega):
    return features.positive(np.sqrt(2) * x, omega)


def without_root_m(x, omega):
    return features.positive(x, omega) * jnp.sqrt(omega.shape[0])


def without_division_by_survival(seed, g, repeats, p_halt=0.3):
    key, nodes = jax.random.key(seed), np.tile(np.arange(34), repeats)
    lengths = walk_lengths.draw(key, len(nodes), 8, p_halt)
    deposits = walks.simulate(key, g, lengths._replace(p_halt=1e-12), nodes=nodes)
    return features.weigh(deposits, modulation.regularised_laplacian(1.0, 2)).toarray()


@pytest.mark.parametrize("name", theory.COUPLINGS)
def test_sound_couplings_pass(name):
    coupling = getattr(couplings, name)
    assert features_are_unbiased(coupling).verdict is Verdict.REPRODUCED
    assert error_is_the_one_of_theory(coupling, name).verdict is Verdict.REPRODUCED


def test_sound_walks_pass():
    assert walks_estimate_the_kernel(honest_walks).verdict is Verdict.REPRODUCED


FAULTS = {
    "missing sign fix": lambda: features_are_unbiased(without_sign_fix),
    "factor 2 in the bandwidth": lambda: features_are_unbiased(couplings.iid, bandwidth_twice),
    "missing 1/sqrt(m)": lambda: features_are_unbiased(couplings.iid, without_root_m),
    "norms shared between blocks": lambda: error_is_the_one_of_theory(norms_shared_between_blocks, "simplex", 400_000),
    "a key reused for every block": lambda: error_is_the_one_of_theory(same_key_for_every_block, "simplex"),
    "orthogonal features called simplex": lambda: error_is_the_one_of_theory(couplings.orthogonal, "simplex"),
    "walks shared between rows and columns": lambda: walks_estimate_the_kernel(honest_walks, seeds=(1, 1)),
    "missing 1/(1 - p)": lambda: walks_estimate_the_kernel(without_division_by_survival),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_caught(fault):
    assert FAULTS[fault]().verdict is Verdict.NOT_REPRODUCED
