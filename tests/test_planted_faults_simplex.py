"""Known mistakes of the simplex paper's subjects, planted on purpose: what passes on our code must go red for each."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import hadamard

from rfcore import couplings, evidence, features, theory
from rfcore.couplings import directions, norms, weight_dependent
from rfcore.evidence import Verdict
from rfcore.models import regression

D = 4
V = np.full(D, 0.7)


@cache
def draws(coupling):
    many = jax.jit(jax.vmap(partial(coupling, m=2 * D, d=D)))
    return np.asarray(many(jax.random.split(jax.random.key(0), 50_000)))


# The checks, each a function of the thing that may be wrong.


def blocks_have_norms_of_their_own(coupling):
    squares = np.sum(draws(coupling) ** 2, axis=2) - D
    return evidence.unbiased(squares[:, :D] * squares[:, D:], 0.0, smallest_bias=0.3)


def rows_have_the_length_of_a_gaussian(coupling):
    return evidence.unbiased(np.sum(draws(coupling) ** 2, axis=2), D, smallest_bias=0.1)


def features_have_the_mean_of_the_enumeration(coupling, name):
    truth = theory.fast_bias(V, name) * np.exp(V @ V / 2)
    return evidence.unbiased(np.exp(draws(coupling) @ V).mean(axis=1), truth, smallest_bias=0.1)


def feature_scores_are_those_of_the_kernel(feature):
    rng = np.random.default_rng(0)
    x, x_test, targets = rng.normal(size=(30, D)) / 2, rng.normal(size=(5, D)) / 2, np.eye(3)[rng.integers(0, 3, 30)]

    def scores(key):
        omega = couplings.simplex(key, 2 * D, D)
        return regression.scores(feature(x, omega), targets, feature(x_test, omega))

    estimates = jax.jit(jax.vmap(scores))(jax.random.split(jax.random.key(1), 5_000))
    exact = np.asarray(regression.scores_exact(x, targets, x_test))
    return evidence.unbiased(np.asarray(estimates), exact, smallest_bias=1.5)


# The faults.


def simplex_plus_with_shared_norms(key, m, d):
    key_directions, key_norms = jax.random.split(key)
    block = weight_dependent.balance(norms.independent(key_norms, d, d))
    return (block @ directions.haar(key_directions, d, m // d)).reshape(-1, d)


def fast_without_normalisation(factors):
    def coupling(key, m, d):
        key_signs, key_norms = jax.random.split(key)
        signs = jax.random.rademacher(key_signs, (3, m // d, 1, d), dtype=float)
        blocks = jnp.eye(d)
        for i in range(3):
            blocks = blocks @ hadamard(d) / (1 if i in factors else np.sqrt(d)) * signs[i]
        return norms.independent(key_norms, m, d)[:, None] * blocks.reshape(m, d)

    return coupling


def bandwidth_wrong_by_root_two(x, omega):
    return features.positive(x / np.sqrt(2), omega)


SOUND = {
    "simplex_plus": lambda: blocks_have_norms_of_their_own(couplings.simplex_plus),
    "orthogonal_fast": lambda: rows_have_the_length_of_a_gaussian(couplings.orthogonal_fast),
    "simplex_fast": lambda: rows_have_the_length_of_a_gaussian(couplings.simplex_fast),
    "the planted product, normalised": lambda: rows_have_the_length_of_a_gaussian(fast_without_normalisation(())),
    "bias of orthogonal_fast": lambda: features_have_the_mean_of_the_enumeration(
        couplings.orthogonal_fast, "orthogonal_fast"
    ),
    "bias of simplex_fast": lambda: features_have_the_mean_of_the_enumeration(couplings.simplex_fast, "simplex_fast"),
    "regression": lambda: feature_scores_are_those_of_the_kernel(features.positive),
}
FAULTS = {
    "simplex_plus with norms shared between blocks": lambda: blocks_have_norms_of_their_own(
        simplex_plus_with_shared_norms
    ),
    "one Hadamard factor not normalised": lambda: rows_have_the_length_of_a_gaussian(fast_without_normalisation((1,))),
    "orthogonal_fast called simplex_fast": lambda: features_have_the_mean_of_the_enumeration(
        couplings.orthogonal_fast, "simplex_fast"
    ),
    "a Haar rotation called orthogonal_fast": lambda: features_have_the_mean_of_the_enumeration(
        couplings.orthogonal, "orthogonal_fast"
    ),
    "regression with the bandwidth wrong by sqrt(2)": lambda: feature_scores_are_those_of_the_kernel(
        bandwidth_wrong_by_root_two
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_code_passes(name):
    assert SOUND[name]().verdict is Verdict.REPRODUCED


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_caught(fault):
    assert FAULTS[fault]().verdict is Verdict.NOT_REPRODUCED
