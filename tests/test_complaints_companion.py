"""What a formula or a model of the companion does not hold for is a ValueError: without it most of these are numbers without a word."""

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest

from companion import random_graphs
from companion.models import clustering, gaussian_processes, ode, pagerank, regression, transformer
from companion.models.encoder import Encoder
from companion.papers.couplings import (
    attention_rows,
    block_errors,
    close_points,
    copula,
    equal_walkers,
    gram_norms,
    leaderboard,
    multi_marginal,
    predictives,
    walk_variance,
)
from companion.papers.couplings import formulas as of_couplings
from companion.papers.equivalence import joint_sampling
from companion.papers.favor import formulas as of_favor
from companion.papers.favor import language
from companion.papers.simplex import best_directions, vision
from companion.papers.ugrf import (
    definiteness,
    eight_graphs,
    fits,
    generalisation,
    hidden_values,
    modulation_pairs,
    reduction,
)
from companion.papers.ugrf import formulas as of_ugrf
from rfcore import features, theory, walks
from rfcore.features import modulation
from rfcore.graphs import Graph

KEY = jax.random.key(0)
BARE = Graph.from_networkx(nx.path_graph(3))
G = BARE.normalised()
DIRECTED = Graph.from_networkx(nx.DiGraph([(0, 1), (1, 2)]))
F = modulation.diffusion(1.0)
X = np.array([[0.1, 0.2], [0.3, -0.4], [0.0, 0.5]])
V = np.array([0.3, 0.1, 0.2])
KNOWN = np.array([True, False, True])
TIMES = ode.midpoint_times(1.0, 4)
DEPOSITS = walks.simulate(KEY, G, walks.lengths.draw(KEY, 3, 2, 0.5, "iid"))
ENCODER = Encoder(
    np.ones((5, 4)), np.ones((512, 4)), transformer.Norm(np.ones(4), np.zeros(4)), (transformer.layer(KEY, 4, 2),), lambda text, n: [1, 2][:n], "here"
)
CENTRED = features.ExponentialParameters(A=np.full(2, -0.1), B_x=np.eye(2), B_y=np.eye(2), centre_x=np.ones(2))
ROW = np.ones((1, 3))
KEPT = np.ones((2, 2, 3))

CASES = {
    # models
    "a source that changes": (lambda: ode.solution(G, lambda s: s * V, 1.0), "y is a function; give a source that does not change"),
    "rest of a source that changes": (lambda: ode.residual_at_rest(G, lambda s: s * V), "y is a function"),
    "states as a column": (lambda: ode.relative_errors(V[:, None], V), r"x has shape \(3, 1\); give states of 3 nodes"),
    "relative to nothing": (lambda: ode.relative_errors(V, 0 * V), "exact is zero"),
    "times past the end": (lambda: ode.quadrature(G, V, 0.5, TIMES), "times has values"),
    "weights of other times": (lambda: ode.quadrature(G, V, 1.0, TIMES._replace(weight=np.ones(1))), "times.weight has shape"),
    "labels in halves": (lambda: clustering.pair_error([0.2, 0.9, 1.5], [0, 1, 1]), "labels has shape .*give a vector of whole numbers"),
    "labels of other nodes": (lambda: clustering.pair_error([0, 1], [0, 1, 1]), "labels has 2 nodes, others 3"),
    "labels past the clusters": (lambda: clustering.kernel_k_means(np.eye(3), [0, 1, -1], 2), "labels has values -1 to 1; give 0 to 1"),
    "more clusters than nodes": (lambda: clustering.k_means(KEY, np.eye(3), 4), "n_clusters = 4 for 3 nodes"),
    "a kernel of other nodes": (lambda: clustering.kernel_k_means(np.eye(4), [0, 1, 1], 2), "kernel has shape"),
    "a product with another shape": (lambda: clustering.kernel_k_means(lambda Z: Z[:1], [0, 1, 1], 2), r"kernel\(Z\) has shape"),
    "a text for a list of texts": (lambda: ENCODER.tokens("ab"), "sentences = 'ab'; give a list"),
    "positions that were not trained": (lambda: ENCODER.tokens(["a"], 513), "max_length = 513; give at most 512"),
    "word pieces that are not there": (lambda: ENCODER.start([[5]]), "ids has values from 5 to 5; give numbers from 0 to 4"),
    "a mask of numbers": (lambda: ENCODER.embed(np.ones((1, 2), int), np.ones((1, 2))), "mask has dtype float64"),
    "heads that do not divide": (lambda: transformer.layer(KEY, 4, 3), "width = 4; give a multiple of n_heads = 3"),
    "PageRank without a chance": (lambda: pagerank.exact(G, 1.5), "p_halt = 1.5; give a probability"),
    "labels from 1": (lambda: regression.accuracy(np.eye(3), [1, 2, 3]), "labels has values .* from 0 to 2"),
    "labels that are shares": (lambda: regression.accuracy(np.eye(3), [0.5, 1.0, 2.0]), "labels has shape .* whole numbers"),
    "labels of other points": (lambda: regression.accuracy(np.eye(3), [0]), "labels has shape"),
    "features of other maps": (lambda: regression.scores(X, X, X[:, :1]), "phi_test has shape"),
    "targets of other points": (lambda: regression.scores(X, X[:1], X), "targets has 1 rows"),
    "no point to learn from": (lambda: regression.scores(X[:0], X[:0], X), "give at least one training point"),
    "wider than drawn": (lambda: regression.scores_of_logs(X, X, X, [3]), r"widths = \[3.0\]"),
    # Simplex
    "one length": (lambda: best_directions.optimised([1.0], 1.0), "give a vector of at least 2 positive lengths"),
    "a start of length 0": (lambda: best_directions.optimised([1.0, 1.0], 1.0, np.array([[1.0, 0.0], [0.0, 0.0]])), "start has a row of length 0"),
    "no distance to be best at": (lambda: best_directions.optimised([1.0, 2.0], 0.0), "v = 0.0; give a number above 0"),
    "no distance for directions": (lambda: best_directions.weight_independent(X[:2], 0.0), "v = 0.0; give a number above 0"),
    "one direction": (lambda: best_directions.weight_independent(X[:1], 1.0), "start has shape"),
    "patches that do not divide": (lambda: vision.patches(np.ones((1, 8, 8, 1)), 3), "size = 3; give a divisor"),
    # Variance-Reducing Couplings
    "one row of a kernel": (lambda: attention_rows.row_error(KEPT, ROW), "estimates has shape"),
    "one row of a kernel in Eq. 45": (lambda: of_couplings.attention_error(KEPT, ROW), "estimates has shape"),
    "a kernel that is 0": (lambda: attention_rows.row_error(KEPT, np.zeros((2, 3))), "kernel has the value 0"),
    "a kernel that is 0 in Eq. 45": (lambda: of_couplings.attention_error(KEPT, np.zeros((2, 3))), "kernel has the value 0"),
    "a leading row that is 0": (lambda: attention_rows.leading_error(np.zeros(3), np.eye(3)), "kernel has the value 0"),
    "an angle past the simplex": (lambda: attention_rows.row_covariance(X[0], X, 4, cosine=-1.5), "cosine = -1.5"),
    "a correlation of 2": (lambda: attention_rows.row_covariance(X[0], X, 4, law=2.0), "law = 2.0"),
    "queries too long": (lambda: attention_rows.row_covariance(99 * X[0], 99 * X, 4), "give shorter ones"),
    "opposites of Fourier features": (lambda: block_errors.block_mse_ratio(1.0, 4, "independent", "fourier", "equal"), "opposites = 'equal'; give 'none'"),
    "opposites of no kind": (lambda: block_errors.block_mse_ratio(1.0, 4, "independent", "positive", "some"), "opposites = 'some'; choose one of"),
    "opposites of Fourier features on points": (lambda: gram_norms.gram_rmse(X, "comonotone", "fourier", "equal"), "opposites = 'equal'; give 'none'"),
    "features of no kind on points": (lambda: gram_norms.gram_rmse(X, "iid", "cosine"), "features = 'cosine'; choose one of"),
    "points all in one place": (lambda: gram_norms.gram_pair_excess(0 * X, 0.5, "fourier"), "x has no distance above 0"),
    "points too far apart": (lambda: gram_norms.gram_pair_excess(99 * X, 0.5, "fourier"), "divide by a lengthscale"),
    "a distance below 0": (lambda: block_errors.block_mse_ratio(-1.0, 4, "independent", "fourier"), "distance has the value -1"),
    "a law without a table": (lambda: block_errors.block_mse_ratio(1.0, 4, "comonotone", "fourier"), "law = 'comonotone'"),
    "a guarantee on a line": (lambda: close_points.guarantee(1), "d = 1; give a whole number of at least 2"),
    "a guarantee of another law": (lambda: close_points.guarantee(4, "reversal"), "law = 'reversal'"),
    "angles of no correlation": (lambda: copula.correlation_factor([0.1, 0.2]), "theta has shape"),
    "a printed factor without ones": (lambda: of_couplings.correlation_factor(2 * np.eye(2)), "theta has shape"),
    "noise below 0": (lambda: of_couplings.posterior_by_weights(X, X, V, -0.1), "noise = -0.1; give a number above 0"),
    "values of other points": (lambda: of_couplings.posterior_by_weights(X, X, V[:1], 0.1), "phi_seen has shape"),
    "terms below 0": (lambda: equal_walkers.of_terms(1.0, -1.0, 1.0), "b has a value of -1"),
    "an error of 0": (lambda: equal_walkers.of_terms(1.0, 1.0, 0.0), "error has a value of 0"),
    "a curve that rises": (lambda: equal_walkers.of_curve([1.0, 2.0], [0.1, 0.5], 0.2), "curve = .* give errors that fall"),
    "walkers that fall": (lambda: equal_walkers.of_curve([2.0, 1.0], [0.5, 0.1], 0.2), "walkers = .* give rising numbers"),
    "repeats that are not paired": (lambda: leaderboard.over(np.ones((1, 2)), np.ones(3)), "errors has shape"),
    "errors over 0": (lambda: leaderboard.over(np.ones(3), np.zeros(3)), "plain has mean 0"),
    "an odd number of cosines and sines": (lambda: leaderboard.of_points(KEY, X, ["fourier"], [], 3, 2), "m = 3; give an even number"),
    "costs in an order": (lambda: multi_marginal.solve(np.triu(np.ones((3, 3))), 2), "costs has shape .* or is not symmetric"),
    "swaps of other bins": (lambda: multi_marginal.swap_gain(np.ones((2, 3))), "cost has shape"),
    "two norms of no features": (lambda: multi_marginal.two_norms(1.0, 3, "cosine", 4), "features = 'cosine'; choose one of"),
    "a bound for no features": (lambda: multi_marginal.norm_bound(1.0, 3, 2, "cosine", 4), "features = 'cosine'; choose one of"),
    "more norms than a block has": (lambda: multi_marginal.norm_bound(1.0, 2, 3, "fourier", 4), "m = 3; give at most d = 2"),
    "predictions at other points": (lambda: predictives.divergences(gaussian_processes.Posterior(V, np.eye(3)), gaussian_processes.LowRank(V[:2], X[:2]), 0.1), "give the same number of points"),
    "a variance of nothing": (lambda: walk_variance.walk_variance(G, F, 0.5, of="walks"), "of = 'walks'; choose one of"),
    "a variance on one-way edges": (lambda: walk_variance.walk_variance(DIRECTED, F, 0.5), "not symmetric"),
    # All Representations are Equivalent
    "a floor for no kernel": (lambda: joint_sampling.log_joint_variance_floor(X, 2, "matern"), "kernel = 'matern'; choose one of"),
    "overlaps of no kernel": (lambda: joint_sampling.mean_overlap(0.1, 3, "iid", "matern"), "kernel = 'matern'; choose one of"),
    "overlaps of another coupling": (lambda: joint_sampling.mean_overlap(0.1, 3, "simplex"), "coupling = 'simplex'; choose one of"),
    "a variance below 0": (lambda: joint_sampling.mean_overlap(-0.1, 3, "iid"), "variance = -0.1; give a number above 0"),
    "a variance of 1/2": (lambda: joint_sampling.mean_overlap(0.5, 3, "iid", "softmax"), "variance = 0.5; give one below 1/2"),
    "frequencies of other points": (lambda: joint_sampling.optimal_overlaps(X, np.eye(3) / 9), "omega has shape"),
    # FAVOR#
    "moments about centres": (lambda: of_favor.log_second_moment(X, X, CENTRED), "give features.ExponentialParameters without centres"),
    "an A of 1/8": (lambda: of_favor.generalised_exponential(X, X, 0.125), "A = 0.125; give a number below 1/8"),
    "exponents of other points": (lambda: of_favor.generalised_exponential(X, np.eye(3), 0.0), "omega has shape"),
    "phases of other frequencies": (lambda: of_favor.trigonometric(X, np.eye(2), np.zeros(1)), "phases has shape"),
    "symbols past the alphabet": (lambda: language.model(KEY, np.array([4]), 4), "training has the symbol 4"),
    # Universal Graph Random Features
    "beta above 1": (lambda: eight_graphs.target(G, 1.5), "beta = 1.5; give a probability"),
    "a target on raw weights": (lambda: eight_graphs.target(BARE, 0.5), "g has weights that are not normalised"),
    "targets of other modulations": (lambda: eight_graphs.shared_errors(KEY, G, [np.eye(3)], [F, F], 2, 0.5), "targets has 1 matrices for 2"),
    "moments without a chance": (lambda: theory.walk_gram_mse(G, F, F, 2, -0.5), "p_halt = -0.5; give a probability"),
    "moments of fewer than no walks": (lambda: theory.walk_gram_mse(G, F, F, -2, 0.5), "n_walks = -2"),
    "misfits of one curve": (lambda: fits.least_squares([1.0, 2.0, 3.0], [3.0, 1.0, 2.0]), "squares has shape"),
    "the others of one": (lambda: fits.held_out([1.0, 2.0], [[1.0, 2.0]], [0.1], [1.0], [0.1]), "curves has shape"),
    "groups of one": (lambda: fits.between_draws(np.ones((3, 1))), "repeats has shape"),
    "ratios of unlike shapes": (lambda: fits.ratios(X, X[:, :1]), "above has shape"),
    "ratios to 0": (lambda: fits.ratios(X, 0 * X), "below has a mean of 0"),
    "a curve of other places": (lambda: fits.smooth([1.0, 2.0], V, [1.5], 1), "curves has shape"),
    "as many terms as points": (lambda: fits.smooth([1.0, 2.0], [1.0, 2.0], [1.5], 2), "degree = 2 for 2 points"),
    "coefficients that do not begin with 1": (lambda: of_ugrf.f_by_iteration([2, 1]), r"alpha\[0\] = 2"),
    "no constant term": (lambda: definiteness.definite_radius([0.0, 1.0]), r"alpha\[0\] = 0"),
    "the radius of one-way edges": (lambda: generalisation.spectral_radius(DIRECTED), "g is directed"),
    "complexity on one-way edges": (lambda: generalisation.rademacher_complexity(KEY, DIRECTED, [0, 1], [1.0, 0.5]), "g is directed"),
    "signs on one-way edges": (lambda: generalisation.sign_supremum(DIRECTED, [0, 1], [1.0, 0.5]), "g is directed"),
    "bounds below 0": (lambda: generalisation.rademacher_bound([1.0, -0.5], 1.0, 4), "give a vector of numbers of at least 0"),
    "a radius below 0": (lambda: generalisation.rademacher_bound([1.0], -1.0, 4), "radius = -1.0"),
    "a complexity below 0": (lambda: generalisation.margin_bound(0.1, -1.0, 0.5, 9, 0.1), "complexity = -1.0"),
    "labels 0 and 1": (lambda: generalisation.margin_loss(V, [0, 1, 1], 1.0), "give -1 and 1"),
    "a margin below 0": (lambda: generalisation.margin_loss(V, [1, 1, 1], -1.0), "margin = -1.0; give a number above 0"),
    "a bound that holds twice": (lambda: generalisation.margin_bound(0.1, 0.1, 0.5, 9, 2.0), "delta = 2.0; give a probability"),
    "a sample of too many signs": (lambda: generalisation.sign_supremum(G, [0] * 17, [1.0]), "sample has 17 nodes"),
    "nothing to hide": (lambda: hidden_values.hide(KEY, 3, 0.1), "hides 0"),
    "values as a vector": (lambda: hidden_values.weighted_sums(np.eye(3), V, KNOWN), r"values has shape \(3,\); give one row per node"),
    "known ones as numbers": (lambda: hidden_values.weighted_sums(np.eye(3), X, [0, 1, 1]), "known has shape"),
    "sums over other nodes": (lambda: hidden_values.weighted_sums(np.eye(2), X, KNOWN), "kernel has shape"),
    "a product of another shape": (lambda: hidden_values.weighted_sums(lambda v: v[:1], X, KNOWN), r"kernel\(v\) has shape"),
    "all of them known": (lambda: hidden_values.exact_error(G, F, X, np.ones(3, bool)), "hides no node"),
    "all of them hidden": (lambda: hidden_values.directions_in_turn(KEY, DEPOSITS, F, X, 1), "n_groups = 1 for 3 nodes"),
    "more groups than nodes": (lambda: hidden_values.directions_in_turn(KEY, DEPOSITS, F, X, 4), "n_groups = 4 for 3 nodes"),
    "directions of other rows": (lambda: hidden_values.angular_error(X, X[:1]), "predicted has shape"),
    "signs in no place": (lambda: reduction.johnson_lindenstrauss(KEY, X, 2, "sparse", 0), "nonzeros = 0"),
    "projected to nothing": (lambda: reduction.johnson_lindenstrauss(KEY, X, 0), "n_features = 0"),
    "fewer than no features": (lambda: reduction.johnson_lindenstrauss_mse(X, X, -2), "n_features = -2"),
    "features of other walks": (lambda: reduction.johnson_lindenstrauss_mse(X, X[:, :1], 2), "psi has shape"),
    "more anchors than nodes": (lambda: reduction.anchor_points(KEY, np.eye(3), 4), "n_anchors = 4"),
    "a pair that is exact": (lambda: modulation_pairs.hessian(G, lambda k: (k == 0) * 1.0, 2, 0.5), "the symmetric pair of f has the expected error 0"),
    "an odd number of ends": (lambda: random_graphs.regular(KEY, 5, 3), "degree = 3 for n = 5 nodes"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_the_companion_does_not_hold_for_is_refused_with_words(case):
    call, words = CASES[case]
    with pytest.raises(ValueError, match=words):
        call()


def test_labels_that_a_compiled_function_has_captured_are_checked():
    bad = jnp.array([1, 2, 3])
    with pytest.raises(ValueError, match="labels has values"):
        jax.jit(lambda scores: regression.accuracy(scores, bad))(jnp.eye(3))
