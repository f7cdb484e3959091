"""The error of pairs of modulations around the symmetric one."""

import networkx as nx
import numpy as np
import pytest

from companion.papers.ugrf import modulation_pairs
from companion.papers.ugrf.modulation_pairs import hessian
from rfcore import theory
from rfcore.features import modulation
from rfcore.graphs import Graph

KARATE = Graph.from_networkx(nx.karate_club_graph()).normalised()


@pytest.mark.parametrize("f", [modulation.diffusion(1.0), modulation.regularised_laplacian(0.5, 2)])
def test_it_is_the_curvature_along_any_line(f):
    """log error(t g) = log error(0) + t^2 g H g / 2 + O(t^4)."""
    H = hessian(KARATE, f, 4, 0.2, n_directions=3)
    centre = theory.walk_gram_mse(KARATE, f, f, 4, 0.2, 30)
    for direction in np.random.default_rng(0).normal(size=(4, 3)):
        g = np.append(0.0, 0.01 * direction / np.linalg.norm(direction))
        pair = [modulation_pairs.tilted(f, sign * g) for sign in (1, -1)]
        rise = np.log(theory.walk_gram_mse(KARATE, *pair, 4, 0.2, 30) / centre)
        assert np.isclose(rise, g[1:] @ H @ g[1:] / 2, rtol=5e-3)
    assert np.array_equal(H, H.T)


def test_on_one_edge_by_hand():
    """One walk each on one edge, f = (1, a, 0, ...) tilted by g(1) = t: f_1 = (1, a - t, t^2 / 2 - a t, ...).

    Cut after two terms the features are exact but for the second hop's chance, and the mean square is that of a Bernoulli
    number: a walker makes its hop with probability q and then brings (a -+ t) / q.
    """
    edge, a, q = Graph.from_networkx(nx.path_graph(2)).normalised(), 0.4, 0.7
    f = modulation.from_values([1.0, a])

    def error(t):
        c, d = a - t, a + t
        # phi_1 = (1, c B_1 / q), phi_2 = (1, d B_2 / q) or exchanged; B_i are Bernoulli(q) per node and side.
        same = (c * d) ** 2 * (1 / q**2 - 1)
        other = (c**2 + d**2) * (1 / q - 1)
        return 2 * (same + other)

    assert np.isclose(theory.walk_gram_mse(edge, f, f, 1, 1 - q, 2), error(0), rtol=1e-12)
    second = (error(1e-3) - 2 * error(0) + error(-1e-3)) / 1e-6 / error(0)
    assert np.isclose(hessian(edge, f, 1, 1 - q, n_directions=1, n_terms=2)[0, 0], second, rtol=1e-4)
