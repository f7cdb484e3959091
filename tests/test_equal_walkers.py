"""Independent walkers with a given error: two terms are the whole error, and both ways back invert it."""

import networkx as nx
import numpy as np
import pytest
from rounding import rounding

from companion.papers.couplings import equal_walkers
from rfcore import theory
from rfcore.features import modulation
from rfcore.graphs import Graph

KARATE = Graph.from_networkx(nx.karate_club_graph()).normalised()
F = modulation.diffusion(1.0)
A, B = equal_walkers.gram_error_terms(KARATE, F, 0.2, 40)


@pytest.mark.parametrize("m", [1, 2, 3, 16, 1000])
def test_two_terms_are_the_error_of_any_number_of_walkers(m):
    # Sums of some thousand terms, of which the error is a tenth, a thousandth for many walkers.
    assert A / m + B / m**2 == pytest.approx(
        theory.walk_gram_mse(KARATE, F, F, m, 0.2, 40), rel=rounding(10_000) * m
    )


def test_the_walkers_of_an_error_have_that_error():
    m = np.array([0.5, 1.0, 7.0, 64.0, 1e6])
    assert np.allclose(equal_walkers.of_terms(A, B, A / m + B / m**2), m, rtol=rounding(20))
    pairs = equal_walkers.of_terms(np.array([A, 2 * A]), np.array([B, 0.0]), np.array([A + B, 0.5 * A]))
    assert np.allclose(pairs, [1.0, 4.0], rtol=rounding(20))


def test_a_coupling_that_saves_half_the_leading_term_is_worth_twice_the_walkers():
    assert equal_walkers.of_terms(A, B, A / 2000) == pytest.approx(2000, rel=B / A / 1000)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_between_what_was_run_powers_are_exact_and_beyond_errors_fall_as_one_over(power):
    run, m = np.array([4, 16, 64]), np.array([4.0, 5.0, 16.0, 40.0, 64.0])
    curve = 3.0 * run.astype(float) ** -power
    assert np.allclose(equal_walkers.of_curve(run, curve, 3.0 * m**-power), m, rtol=rounding(40))
    assert np.allclose(
        equal_walkers.of_curve(run, curve, curve[-1] / np.array([2.0, 10.0])),
        [128.0, 640.0],
        rtol=rounding(40),
    )
    assert equal_walkers.of_curve(run, curve, 2 * curve[0]) == pytest.approx(4.0, rel=rounding(40))


def test_a_dense_curve_and_the_two_terms_agree():
    run = np.geomspace(1, 1000, 400)
    errors = A / np.array([1.5, 10.0, 300.0]) + B / np.array([1.5, 10.0, 300.0]) ** 2
    found = equal_walkers.of_curve(run, A / run + B / run**2, errors)
    assert np.allclose(
        found, equal_walkers.of_terms(A, B, errors), rtol=1e-4
    )  # steps of 1.7 %, a curve that bends once



def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(
        ValueError,
        match=r"error has shape \(3,\), a and b have shapes \(2,\) and \(\); give shapes that broadcast",
    ):
        equal_walkers.of_terms(np.ones(2), 1.0, np.ones(3))
