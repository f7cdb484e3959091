"""The optimised vectors are where no direction improves, and better than every coupling of given norms."""

import jax
import numpy as np
import pytest
from rounding import rounding

from companion.papers.simplex import conformities
from companion.papers.simplex.best_directions import optimised, weight_independent
from rfcore import couplings
from rfcore.couplings import directions, weight_dependent

LENGTHS = np.sqrt(np.random.default_rng(0).chisquare(6, size=6))


# Compiled as a whole: its steps one by one take several times as long to compile.
conformity_of = jax.jit(conformities.log_conformity_of)


def conformity(vectors, v):
    return float(conformity_of(vectors, v))


def test_any_start_ends_at_the_same_conformity_below_all_couplings():
    found = optimised(LENGTHS, 1.0)
    assert np.allclose(np.linalg.norm(found, axis=1), LENGTHS, rtol=rounding(20), atol=0)
    least = conformity(found, 1.0)
    for seed in range(4):
        elsewhere = optimised(LENGTHS, 1.0, start=np.random.default_rng(seed).normal(size=(6, 6)))
        # Sums of some hundred terms, exponents up to 10; a slope of 1e-9 is 1e-18 above the least.
        assert conformity(elsewhere, 1.0) == pytest.approx(least, rel=0, abs=rounding(2000))
    plus, simplex = weight_dependent.balance(LENGTHS), LENGTHS[:, None] * directions.simplex_product(np.eye(6))
    assert least < conformity(plus, 1.0) < conformity(simplex, 1.0)


def test_no_small_change_of_directions_improves():
    found = optimised(LENGTHS, 2.0)
    for seed in range(5):
        moved = found + 1e-3 * np.random.default_rng(seed).normal(size=(6, 6))
        moved *= LENGTHS[:, None] / np.linalg.norm(moved, axis=1, keepdims=True)
        assert conformity(moved, 2.0) > conformity(found, 2.0)


def test_simrf_plus_is_what_remains_for_small_v():
    plus = weight_dependent.balance(LENGTHS)
    excess = [conformity(plus, v) - conformity(optimised(LENGTHS, v), v) for v in (0.1, 0.2)]
    assert excess[1] / excess[0] == pytest.approx(16, rel=0.05)  # they differ by the fourth power of v


def test_as_a_coupling_it_needs_norms_and_a_rotation():
    draw = jax.jit(lambda norms, rotation: (couplings.norms.independent(norms, 3, 3), directions.haar(rotation, 3)[0]))
    lengths, rotation = draw(*jax.random.split(jax.random.key(1)))
    block = optimised(lengths, 1.0)
    omega = block @ rotation
    assert conformity(omega, 1.0) == pytest.approx(conformity(block, 1.0), abs=rounding(200, conformity(block, 1.0)))


def test_without_norms_any_start_ends_at_the_simplex():
    for seed, m in ((0, 3), (1, 3), (2, 2)):  # two vectors in three dimensions oppose each other
        found = weight_independent(np.random.default_rng(seed).normal(size=(m, 3)), 1.5)
        gram = found @ found.T
        assert np.allclose(gram, np.where(np.eye(m), 1.0, -1 / (m - 1)), atol=1e-6)
