"""Bad input to any public name is a ValueError that names the argument, shows what came and says what to give.

The names come from the packages themselves, the bad values from the kind of each argument: ``ROWS`` holds one good call
per name. A name without a row fails, and what is left out stands below with its reason.
"""

import functools
import inspect
import random
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import optax
import pytest
import scipy.sparse as sp
import trimesh
from public import public_names

from rfcore import (
    couplings,
    datasets,
    evidence,
    features,
    graphs,
    kernels,
    models,
    papers,
    random_graphs,
    solvers,
    theory,
    walks,
)
from rfcore.couplings import walk_lengths
from rfcore.evidence import costs, processes, statistics
from rfcore.features import modulation, neural
from rfcore.graphs import Graph
from rfcore.models import ode
from rfcore.papers.simplex import classification
from rfcore.papers.ugrf import hidden_values, reference

KEY = jax.random.key(0)
NETWORK = nx.path_graph(3)
BARE = Graph.from_networkx(NETWORK)
G = BARE.normalised()
F = modulation.diffusion(1.0)
LENGTHS = walk_lengths.draw(KEY, 3, 2, 0.5)
DEPOSITS = walks.simulate(KEY, G, LENGTHS)
STEPS = features.by_step(DEPOSITS)
LESSON = hidden_values.Lesson(STEPS, np.ones((3, 2)), np.array([True, False, True]), np.array([1]))
PHI = features.walk_features(KEY, G, F, 2, 0.5)
STREAMED = features.walk_features(KEY, G, F, 2, 0.5, stored=False)
FORM = solvers.gram.form(STEPS, STEPS, np.eye(3), 3)
WEIGHED = jax.jit(lambda steps: steps.with_modulation(F))(STEPS)
FAST = jax.jit(lambda key: couplings.fast.draw(key, 3, 2, "simplex"))(KEY)
X = np.array([[0.1, 0.2], [0.3, -0.4], [0.0, 0.5]])
V = np.array([0.3, -0.1, 0.2])
IDENTITY = np.eye(3)



def three():
    return 3


# Kinds of arguments: from a good value to bad ones.


def entries(good):
    """Arrays whose entries are no finite real numbers, and what is no array."""
    good = np.asarray(good, dtype=float)
    nan, inf = good.copy(), good.copy()
    nan.flat[0], inf.flat[-1] = np.nan, -np.inf
    masked = np.ma.masked_array(good, np.arange(good.size).reshape(good.shape) == 0)
    return [nan, inf, masked, good + 1j, good.astype(str), [[1.0], [1.0, 2.0]], None, "a"]


def array(good):
    return entries(good)


def vector(good):
    return [*entries(good), np.asarray(good)[None], 1.0, []]


def points(good):
    return [*entries(good), PHI, np.asarray(good)[0], np.asarray(good)[None], np.asarray(good)[:, :0]]


def vectors(good):
    """Several may be given at once."""
    return [*entries(good), np.asarray(good)[:-1], 1.0, []]


def matrix(good):
    return [bad for bad in points(good)[:-1] if bad is not PHI]  # they may be features, and of no columns


def families(good):
    """A vector, or several of one length."""
    return [*entries(good), np.asarray(good)[None, None], 1.0, []]


def mask(good):
    return [[0.5] * len(good), [1] * len(good), ["a"] * len(good), [list(good)], 0, None]


def lengths(good):
    return [*entries(good), -np.asarray(good), 0 * np.asarray(good)]


def key(good):
    return [0, None, "a", np.zeros(2), jax.random.split(KEY, 2), jnp.zeros((3, 2), jnp.uint32)]


def host_key(good):
    """Walks take keys of one kind."""
    return [*key(good), jax.random.key(0, impl="rbg")]


def graph(good):
    return [None, 3, "g", NETWORK, BARE.to_scipy(), IDENTITY]


def count(good, least=1):
    return [-1, 2.5, float("nan"), None, "3", True, [2], *range(least)]


def count_from_0(good):
    return count(good, 0)


def count_from_2(good):
    return count(good, 2)


def count_from_3(good):
    return count(good, 3)


def real(good):
    return [float("nan"), float("inf"), "1", None, 1j, [1.0, 2.0]]


def positive(good):
    return [*real(good), -1.0, 0.0]


def at_least_0(good):
    return [*real(good), -1.0]


def probability(good):
    return [*real(good), 0, 1, -0.1, 1.1]


def function(good):
    return [3, None, "f", IDENTITY]


def optional_function(good):
    return [3, "f", IDENTITY]


def modulating(good):
    """Functions of the length of a walk, and functions that are none."""
    wrong = [3, "f", modulation.lazy, lambda k: 2**-k, lambda k: np.ones((2, 3))]
    return [*wrong, lambda k: np.full(len(k), np.nan), lambda k: k + 1j, lambda k: None]


def vector_or_function(good):
    return [bad for bad in vector(good) if bad is not None]


def choice(good):
    return ["no such", "", None, 3]


def nodes(good):
    return [[3], [-1], [[0]], [[0], [0, 1]], [0.5], [True, False, True], "all"]


def but_none(kind):
    """Bad values of a kind where None means a default."""
    return lambda good: [bad for bad in kind(good) if bad is not None]


some_nodes, some_positive, some_count = but_none(nodes), but_none(positive), but_none(count)


def sparse(good):
    """Features, sparse or dense."""
    return [*matrix(IDENTITY)[:-1], STREAMED, sp.csr_array(np.full((3, 3), np.nan)), sp.csr_array(1j * IDENTITY)]


def sparse_symmetric(good):
    return [None, 3, "a", IDENTITY, *(sp.csr_array(bad) for bad in (np.nan * IDENTITY, np.triu(np.ones((3, 3))), IDENTITY[:2]))]


def gram(good):
    """A kernel: dense, sparse or of features."""
    matrices = [bad for bad in points(good) if bad is not PHI] + sparse_symmetric(good)[4:]
    return [*matrices, *map(models.gp.OfFeatures, [None, "a", V, np.nan * IDENTITY]), sp.linalg.aslinearoperator(IDENTITY[:2])]


def partition(good):
    return [[0.5] * len(good), ["a"] * len(good), [list(good)], 0, None]


def samples(good):
    """Several samples may be given at once."""
    return [bad for bad in nodes(good) if bad != [[0]]]


def labels(good):
    return [*partition(good), [-1] * len(good)]


def other_type(good):
    return [None, 3, "a", IDENTITY]


def several(good):
    """A sequence of at least one of something."""
    return [None, 3, "a", [], [None], [3, "a"], {}]


def pairs(good):
    kernel, f = good[0]
    wrong = [(lambda g: np.ones((2, 2)), f), (lambda g: np.full((3, 3), np.nan), f), (kernel, 3), (3, f), kernel]
    return [*several(good), *([pair] for pair in wrong)]


def flag(good):
    return [0, "yes", None, [True]]


def optional_flag(good):
    return [bad for bad in flag(good) if bad is not None]


def text(good):
    return ["", " ", None, 3, [good]]


def optional_text(good):
    return [bad for bad in text(good) if bad is not None]


def uniforms(good):
    """Sources of uniforms, and of normals."""
    rng = np.random.default_rng(0)
    return [*function(good), rng.standard_normal, rng.normal, lambda shape: 0.5]


def decisions(good):
    return [{"no such": FAILURE}, dict.fromkeys(good, 3), None, 3, [FAILURE]]


def keys(good):
    return [KEY, None, 3, "a", np.zeros((3, 2)), jax.random.split(KEY, 4).reshape(2, 2), jax.random.split(KEY, 0)]


def repeated(good):
    """Repeats down the first axis, two or more."""
    return [*entries(good), 1.0, np.asarray(good)[:1], []]


def numbers(good):
    return [*entries(good), []]


def all_positive(good):
    return [*numbers(good), -np.asarray(good), 0 * np.asarray(good)]


def all_at_least_0(good):
    return [*numbers(good), -np.asarray(good)]


def confidence(good):
    return [*real(good), 0.1, 1.0]


def family(good):
    return [bad for bad in choice(good) if bad is not None]


def verdict(good):
    return ["fine", None, 3, evidence.Verdict.NOT_YET]


def number_or_none(good):
    return [bad for bad in real(good) if bad is not None]


def count_or_none(good):
    return [bad for bad in count(good) if bad is not None]


def other_executor(good):
    return [4, "threads"]


def shape(good):
    return [None, 3, (3,), (2, -1, 1), (2, 2.5), "ab", ("a", "b")]


def correlation(good):
    asymmetric, indefinite = np.array([[1.0, 0.5], [0.2, 1.0]]), np.array([[1.0, 1.1], [1.1, 1.0]])
    return [*matrix(good), asymmetric, indefinite, 2 * np.eye(2), np.eye(2)[:1], np.eye(3)[:, :2]]


def permutation(good):
    return [*entries(good), 1.0, [], [0, 0], [1, 2], [0.5, 1.0], [[1, 0], [0, 0]]]


def spectrum(good):
    """Eigenvalues and rows of eigenvectors."""
    eigenvalues, vectors = good
    return [eigenvalues, None, 3, (eigenvalues[:2], vectors), (eigenvalues, vectors[0]), (eigenvalues * np.nan, vectors), ("a", vectors)]


def averages(good):
    """Per bin, and start or eigenvalue."""
    return [*entries(good), good[0], good[None, None], good[:, :0]]


def levels(good):
    return [*array(good), -0.1, 1.0]


def near(good):
    """A number above 0 and at most 5."""
    return [*positive(good), 6.0]


def all_pair_norms(good):
    return [*entries(good), np.asarray(good)[:1], 1.0, [], -np.asarray(good), 1e4 * np.ones(2)]


def norms_of_vectors(good):
    return [*entries(good), 1.0, [], -np.asarray(good)]


def distance(good):
    """A number or an array of numbers from 0 to 30."""
    return [*entries(good), -0.1, 31.0]


DRAW = {"key": (KEY, key), "m": (3, count_from_0), "d": (2, count)}
NAME = ("orthogonal", choice)
PAIR = {"x": (V, vector), "y": (V[::-1], vector), "m": (3, count)}
LAW = {"uniform": (np.random.default_rng(0).random, uniforms), "shape": ((2, 2, 1), shape)}
CORRELATION = {"correlation": (np.array([[1.0, -0.5], [-0.5, 1.0]]), correlation)}
RATIO = {"d": (3, count_from_2), "m": (3, count)}
MAP = {"x": (X, points), "omega": (X, points), "kernel": ("softmax", choice)}
POINTS = {"X": (X, points), "Y": (X[::-1], points)}
PARAMETERS = {"parameters": (features.ExponentialParameters(), other_type)}
WITH_A = features.ExponentialParameters(A=np.full(2, -0.1), B_x=1.4**0.5, B_y=1.4**0.5)
NORMAL = {"mean": ([0.1, 0.2], families), "covariance": (0.1 * np.eye(2), lambda good: [*points(good), good[:1], -good])}
NORMALS = {f"{name}_{side}": kind for side in "xy" for name, kind in NORMAL.items()}
WALKS = {"n_walks": (2, count), "p_halt": (0.5, probability)}
COUPLED = {"coupling": ("iid", choice)}
HOPS = {"hops": ("independent", choice)}
GRAM = {"left": (STEPS, other_type), "right": (STEPS, other_type), "target": (IDENTITY, points)}
OBSERVED = {"y": (V[:2], vector), "noise": (0.1, positive), "seen": ([2, 0], nodes), "asked": ([1], some_nodes)}
STOP = {"rtol": (1e-3, some_positive), "max_steps": (9, some_count)}
ESTIMATED = {
    "estimates": (np.ones((2, 3, 3)), lambda good: [*entries(good), good[0], good[:, :2], good[:0]]),
    "kernel": (np.ones((3, 3)), lambda good: [*entries(good), good[0], good[:2], 0 * good]),
}
REGRESSION = {"targets": (IDENTITY, points)}
LEARNABLE = models.gp.hyperparameters()
GRAPH_FIT = models.gp.fit_graph(KEY, G, [2, 0], V[:2])
BOUNDS = [0.5, 2.0], lambda good: [*vector(good), [2.0, 0.5], [0.0, 1.0]]
BINS = {"g": (G, graph), "f": (F, modulating), "n_bins": (3, count), "p_halt": (0.5, probability)}
PRODUCTS = {"U": (np.ones((2, 2, 3)), array), "V": (np.ones((2, 2, 3)), but_none(array))}
REPEATS = np.array([[1.0, 2.0], [1.1, 2.1], [0.9, 2.05]])
UNIT = {"unit": ("times", optional_text)}
FAILURE = evidence.order(2.0, 1.0, exact=True)
NOTEBOOK = "simplex/06_gram_matrices"
CLAIMS = Path(__file__).parents[1] / "data" / "claims"
LEDGER = evidence.Ledger(NOTEBOOK, "quick")
ENTRY = next(entry for entry in evidence.entries() if entry.notebook == NOTEBOOK)
PROFILE = {"profile": ("quick", choice)}
DATA = {"fallback": (True, flag)}
TABLE = datasets.Regression(X, V, "t", "here")
PART = datasets.Split(X, np.array([0, 1, 1]), X[:2], np.array([0, 1]))
TASK = classification.task(PART, 2, 1.0)
FILLED = jax.jit(lambda: jax.tree.map(lambda field: field[None], features.ExponentialParameters().filled(2)))()

ROWS = {
    "couplings.compose": {
        "draw_directions": (couplings.directions.simplex, function),
        "draw_norms": (couplings.norms.independent, function),
    },
    **dict.fromkeys(
        [
            "couplings.iid", "couplings.orthogonal", "couplings.simplex", "couplings.simplex_plus",
            "couplings.orthogonal_fast", "couplings.simplex_fast", "couplings.norms.independent",
            "couplings.norms.pnc", "couplings.norms.positive_monotone", "couplings.norms.stratified", "couplings.halton",
            "couplings.sobol", "couplings.orthogonal_pnc", "couplings.orthogonal_pm",
            "couplings.directions.independent", "couplings.directions.orthogonal", "couplings.directions.simplex",
        ],
        DRAW,
    ),
    "couplings.orthogonal_copula": DRAW | CORRELATION,
    "couplings.low_discrepancy.unrandomised": {
        "points": ("sobol", choice), "m": (3, lambda good: [*count_from_0(good), 10**7]), "d": (2, lambda good: [*count(good), 10**5])
    },
    "couplings.antithetic": {"omega": (X, points)},
    "couplings.norms.coupled": {"law": ("reversal", choice), "over": ("blocks", choice)},
    "couplings.norms.gaussian": CORRELATION,
    "couplings.norms.equicorrelated": {"correlation": (0.5, real)},
    "couplings.directions.equiangular": {"cosine": (0.5, real)},
    "couplings.directions.equicorrelated_root": {"c": (0.5, real), "d": (2, count), "name": ("c", None)},
    "couplings.chi.chi_quantile": {"u": (V**2, levels), "d": (2, lambda good: [*count(good), 10**7])},
    **dict.fromkeys(
        [
            "couplings.copulas.comonotone", "couplings.copulas.halton", "couplings.copulas.independent",
            "couplings.copulas.reversal", "couplings.copulas.sobol", "couplings.copulas.stratified",
            "couplings.copulas.systematic",
        ],
        LAW,
    ),
    "couplings.copulas.draw": {"law": (couplings.copulas.reversal, function), **LAW},
    "couplings.copulas.gaussian": CORRELATION,
    "couplings.copulas.gaussian_of_factor": {"factor": (X, lambda good: [*matrix(good), 0 * good])},
    "couplings.copulas.named": {"coupling": ("iid", choice), "name": ("coupling", None)},
    "couplings.copulas.permutation": {"sigma": ([1, 0], permutation)},
    "couplings.copulas.uniforms": {"key": (KEY, key)},
    "couplings.directions.haar": {"key": (KEY, key), "d": (2, count), "n_blocks": (1, count_from_0)},
    "couplings.directions.simplex_product": {"x": (X, array)},
    "couplings.fast.draw": DRAW | {"coupling": NAME},
    "couplings.fast.padded": {"d": (3, count)},
    "couplings.fast.Frequencies.project": {
        "self": (FAST, None), "x": (X, points), "unit": (1.0, None), "copies": (1, None)
    },
    "couplings.frequencies.Dense.project": {
        "self": (couplings.frequencies.of(X), None), "x": (X, points), "unit": (1.0, None), "copies": (1, None)
    },
    "couplings.frequencies.Weighted.project": {
        "self": (couplings.frequencies.weighted(X, V), None), "x": (X, points), "unit": (1.0, None), "copies": (1, None)
    },
    "couplings.frequencies.of": {"omega": (X, points), "d": (2, None)},
    "couplings.frequencies.weighted": {"omega": (X, points), "log_weights": (V, families)},
    "couplings.frequencies.normal": {"omega": (X, points), "mean": ([0.1, 0.2], families), "factor": (IDENTITY[:2, :2], points)},
    "couplings.fast.walsh_hadamard": {"x": (X, array)},
    "couplings.weight_dependent.balance": {"lengths": ([1.0, 2.0, 1.5], lengths), "sweeps": (2, count_from_0)},
    "couplings.walk_lengths.draw": {"key": (KEY, host_key), "n_nodes": (3, count), **WALKS, **COUPLED},
    "couplings.walk_lengths.geometric_quantile": {"u": ([0.2, 0.5], array), "p_halt": (0.5, probability)},
    "couplings.walk_lengths.halting": {"p_halt": (0.5, probability)},
    "couplings.walk_lengths.named": COUPLED,
    "couplings.walk_hops.named": HOPS,
    "couplings.walk_lengths.with_hops": COUPLED | HOPS,
    "couplings.copulas.over": {"law": ("sobol", choice), "n_coordinates": (2, count)},
    "couplings.copulas.pairs": {"law": ("reversal", choice), "name": ("law", None)},
    "walks.recipe": {"key": (KEY, host_key), "g": (G, graph), **WALKS, **COUPLED, "nodes": ([0, 2], nodes)},
    "papers.couplings.repelling.blocks": {"g": (G, graph)},
    "papers.couplings.repelling.shifted": {"g": (G, graph)},
    "features.fourier": MAP,
    "features.positive": MAP,
    "features.log_positive": MAP,
    "features.exponential": MAP | PARAMETERS | {"side": ("x", choice)},
    "features.log_exponential": MAP | PARAMETERS | {"side": ("y", choice)},
    "features.trigonometric": MAP | {"phases": (V, families)},
    "features.dense": {
        "A": ([-0.1, 0.05], lambda good: [*families(good), [0.2, 0.0]]),
        "B": (np.eye(2), lambda good: [*points(good), good[:1], 0 * good]),
    },
    "features.stabilised": {"log_q": (X, points), "log_k": (X, points)},
    "features.mean_and_se": {"estimates": (X, lambda good: [*entries(good), 1.0, good[:1]])},
    "features.by_step": {"deposits": (DEPOSITS, other_type)},
    "features.weigh": {"deposits": (DEPOSITS, other_type), "f": (F, modulating)},
    "features.walk_features": {
        "key": (KEY, host_key), "g": (G, graph), "f": (F, modulating), **WALKS, **COUPLED,
        "nodes": ([0, 2], nodes), "executor": (None, other_executor), "stored": (False, flag),
    },
    "features.gram_errors": {
        "key": (KEY, key), "graphs": ([G], several), "kernels_and_modulations": ([(kernels.inverse_cosine, F)], pairs),
        "walkers": ([2], several), "p_halt": (0.5, probability), "n_repeats": (2, count), **COUPLED, "executor": (None, other_executor),
    },
    "features.gram_error": {
        "estimate": (IDENTITY, lambda good: [1j * good, "a"]), "target": (IDENTITY, lambda good: [good[:2], 0 * good, np.nan * good]),
        "relative": (True, flag), "squared": (True, flag),
    },
    "papers.simplex.gram_matrices.errors": {
        "key": (KEY, key), "x": (X, points), "couplings": ([couplings.iid], several), "widths": ([2], several),
    },
    "features.WalkFeatures.with_modulation": {
        "self": (PHI, None), "f": (F, modulating), "executor": (None, other_executor)
    },
    "features.StreamedFeatures.with_modulation": {
        "self": (STREAMED, None), "f": (F, modulating), "executor": (None, other_executor)
    },
    "features.DepositsByStep.with_modulation": {"self": (STEPS, None), "f": (F, modulating)},
    "features.DepositFeatures.with_modulation": {"self": (WEIGHED, None), "f": (F, modulating)},
    "papers.ugrf.reference.as_lists": {"g": (G, graph)},
    "papers.ugrf.reference.walk_features": {
        "rng": (random.Random(0), None), "lists": (reference.as_lists(G), None), "f": (F, modulating), **WALKS,
        "nodes": ([0, 2], None),  # as printed: checks would be the most of it
    },
    "couplings.walk_lengths.batch_size": {
        "n_walkers": (10, count), "p_halt": (0.5, probability), "delta": (0.1, probability)
    },
    "features.modulation.deconvolve": {"alpha": ([1.0, 0.5], vector_or_function), "f2": (F, modulating)},
    "features.modulation.diffusion": {"sigma": (1.0, at_least_0)},
    "features.modulation.exponential": {"scale": (1.0, real)},
    "features.modulation.from_taylor": {"alpha": ([1.0, 0.5], vector_or_function)},
    "features.modulation.from_values": {"values": ([1.0, 0.5], vector)},
    "features.modulation.inverse_cosine": {},
    "features.modulation.lazy": {},
    "features.modulation.p_step": {"alpha": (2.0, positive), "p": (2, count)},
    "features.modulation.of_kernel": {"kernel": (kernels.Diffusion(1.0), other_type)},
    "features.modulation.regularised_laplacian": {"sigma": (1.0, at_least_0), "d": (2, positive)},
    "features.modulation.tilted": {"f": (F, modulating), "g": ([0.0, 0.5], vector)},
    "features.modulation.to_taylor": {
        "f1": (F, modulating), "f2": (F, modulating), "n_terms": (5, count)
    },
    "features.neural.random": {"key": (KEY, key), "hidden": (1, count)},
    "features.neural.flat": {"value": (1.0, positive), "hidden": (1, count)},
    "papers.ugrf.reduction.johnson_lindenstrauss": {
        "key": (KEY, key), "phi": (IDENTITY, matrix), "n_features": (2, count), "kind": ("sparse", choice),
        "nonzeros": (1, count),
    },
    "papers.ugrf.reduction.johnson_lindenstrauss_mse": {
        "phi": (IDENTITY, matrix), "psi": (IDENTITY, matrix), "n_features": (2, count)
    },
    "papers.ugrf.reduction.anchor_points": {"key": (KEY, key), "phi": (IDENTITY, matrix), "n_anchors": (2, count)},
    "kernels.gaussian": {"X": (X, points), "Y": (X, points)},
    "kernels.softmax": {"X": (X, points), "Y": (X, points)},
    "kernels.diffusion": {"g": (BARE, graph), "sigma": (1.0, at_least_0)},
    "kernels.regularised_laplacian": {"g": (BARE, graph), "sigma": (1.0, at_least_0), "d": (2, positive)},
    "kernels.p_step": {"g": (BARE, graph), "alpha": (2.0, positive), "p": (2, count)},
    "kernels.inverse_cosine": {"g": (BARE, graph)},
    "kernels.exponential": {"g": (BARE, graph), "scale": (1.0, real)},
    "kernels.function_of_weights": {"g": (BARE, graph), "function": (np.exp, function)},
    "kernels.power_series_rows": {"g": (BARE, graph), "alpha": ([1.0, 0.5], vector), "nodes": ([0, 2], nodes)},
    "kernels.OfLaplacian": {},
    "kernels.OfLaplacian.dense": {"self": (kernels.Diffusion(1.0), None), "g": (BARE, graph)},
    "kernels.Diffusion": {"sigma": (1.0, at_least_0)},
    "kernels.Diffusion.of_lengthscale": {"lengthscale": (1.0, at_least_0)},
    "kernels.Diffusion.taylor": {"self": (kernels.Diffusion(1.0), None), "k": (3, lambda good: [None, -1, "a", 1.5]), "power": (1, positive)},
    "kernels.RegularisedLaplacian": {"sigma": (1.0, at_least_0), "d": (2, positive)},
    "kernels.RegularisedLaplacian.taylor": {
        "self": (kernels.RegularisedLaplacian(1.0, 2), None), "k": (3, lambda good: [None, -1, "a", 1.5]), "power": (1, positive),
    },
    "kernels.PStep": {"alpha": (2.0, positive), "p": (2, count)},
    "kernels.PStep.taylor": {"self": (kernels.PStep(2.0, 2), None), "k": (3, lambda good: [None, -1, "a", 1.5]), "power": (1, positive)},
    "kernels.InverseCosine": {},
    "kernels.InverseCosine.taylor": {"self": (kernels.InverseCosine(), None), "k": (3, lambda good: [None, -1, "a", 1.5])},
    "kernels.spectrum": {"g": (BARE, graph)},
    "kernels.Spectrum.at": {"self": (kernels.spectrum(G), None), "nodes": ([0, 2], nodes)},
    "kernels.power_series": {"g": (BARE, graph), "alpha": ([1.0, 0.5], vector)},
    "kernels.chebyshev_product": {"g": (G, graph), "function": (np.exp, function), "v": (V, array), "degree": (3, count)},
    "kernels.exponential_product": {"g": (BARE, graph), "scale": (1.0, real), "v": (V, array)},
    "theory.log_relative_moment": POINTS | PARAMETERS,
    "theory.log_relative_variance": POINTS | PARAMETERS,
    "theory.shifted_log_variance": POINTS | PARAMETERS,
    "theory.fourier_log_relative_variance": POINTS,
    "theory.trigonometric_log_relative_variance": POINTS,
    "theory.log_optimal_variance_bound": POINTS | {"kernel": ("softmax", choice)},
    "theory.optimal_normal": NORMALS | {"kernel": ("softmax", choice)},
    "theory.log_sampling_cost": {
        "law": (theory.NormalLaw(np.zeros(2), np.eye(2), 0.0, 0.0, 0.0), lambda good: [None, "normal"]), **NORMAL
    },
    "papers.equivalence.joint_sampling.log_joint_variance_floor": {"X": (X, points), "m": (2, count), "kernel": ("softmax", choice)},
    "papers.equivalence.joint_sampling.optimal_overlaps": {"omega": (X, points), "covariance": NORMAL["covariance"], "kernel": ("softmax", choice)},
    "papers.equivalence.joint_sampling.mean_overlap": {
        "variance": (0.3, positive), "d": (2, count), "coupling": ("orthogonal", choice), "kernel": ("softmax", choice)
    },
    "theory.trigonometric_least_variance": POINTS,
    "papers.favor.formulas.log_second_moment": POINTS | {"parameters": (WITH_A, other_type)},
    **dict.fromkeys(["papers.favor.formulas.aderf_objective", "papers.favor.formulas.sderf_objective"], POINTS),
    "papers.favor.formulas.trigonometric": {"y": (X, points), "omega": (X, points), "phases": (V, families)},
    "papers.favor.formulas.generalised_exponential": {
        "x": (X, points), "omega": (X, points), "A": (-0.1, lambda good: [*real(good), 0.125])
    },
    "papers.simplex.fast_bias.fast_bias": {"v": (V, vector), "coupling": ("simplex_fast", choice)},
    "papers.simplex.fast_bias.relative_mean": {
        "products": ([0.5, -1.0], lambda good: [*entries(good), 0.5, [0.5, 3.0]]), "d": (2, count),
        "v": (1.0, lambda good: [*at_least_0(good), 21.0]),
    },
    "papers.simplex.formulas.corners": {"d": (3, count_from_2)},
    "papers.simplex.formulas.product": {"x": (V, lambda good: [*vector(good), [1.0]])},
    "papers.simplex.formulas.sweep": {"vectors": (IDENTITY, matrix), "lengths": (V, vectors)},
    **dict.fromkeys(["theory.positive_mse", "theory.fourier_mse"], PAIR | {"coupling": NAME}),
    **dict.fromkeys(["theory.positive_gap", "theory.fourier_gap"], PAIR | {"coupling": NAME}),
    "theory.positive_gram_mse": {"x": (X, points), "m": (3, count), "coupling": ("simplex", choice)},
    "theory.positive_gram_mses": {
        "x": (X, points), "widths": ([3], lambda good: [3, "3", None, [0], [2.5]]),
        "couplings": (["simplex"], lambda good: ["simplex", 3, None, ["no such"]]),
    },
    "theory.positive_mse_ratio": {"v": (1.0, distance), **RATIO, "coupling": ("simplex", choice)},
    "theory.fourier_mse_ratio": {"z": (1.0, distance), **RATIO, "coupling": ("simplex", choice)},
    "theory.fourier_mse_ratio_asymptotic": {"z": (1.0, distance), "d": (3, count), "m": (3, count)},
    "theory.log_positive_cost": {"norms": (V**2, all_pair_norms), "v": (1.0, positive), "d": (3, count), "excess": (False, flag)},
    "theory.fourier_cost": {"norms": (V**2, all_pair_norms), "z": (1.0, positive), "d": (3, count), "excess": (True, flag)},
    "papers.simplex.arrangements.independent_conformity": {"norms": (V**2, all_pair_norms), "v": (1.0, positive), "d": (3, count)},
    "papers.simplex.arrangements.shortest_sum": {"norms": (V**2, norms_of_vectors)},
    "papers.simplex.arrangements.mse_ratio": {"log_conformity": (V, entries), "v": (V**2, lengths), "m": (3, count)},
    "theory.fourier_convex_radius": {"d": (3, count)},
    "theory.swap_gain": {"cost": (IDENTITY, points)},
    "theory.norm_coupling_ratio": {
        "distance": (1.0, near), **RATIO, "m": (3, count_from_2), "law": ("pnc", choice), "features": ("fourier", choice)
    },
    "papers.couplings.attention_rows.row_covariance": {
        "q": (X[0], array), "k": (X, points), "m": (3, count), "law": ("pnc", choice), "cosine": (0.0, real), "pairs": (False, flag)
    },
    "theory.stratified_norms_ratio": {
        "distance": (1.0, near), "d": (3, count_from_2), "m": (6, lambda good: [*count(good), 4]), "features": ("fourier", choice),
        "over": ("blocks", choice), "directions": ("simplex", choice)
    },
    "theory.cosh_ratio": {"positive_ratio": (V**2, entries), "v": (1.0, positive)},
    "theory.one_frequency_mse": {"distance": (1.0, positive), "features": ("cosh", choice)},
    "theory.log_pair_excess": {
        "correlation": (0.5, lambda good: [*entries(good), 1.1]), "distance": (1.0, near), "d": (3, count_from_2), "features": ("fourier", choice)
    },
    "papers.couplings.block_errors.block_mse_ratio": {
        "distance": (1.0, lambda good: [*entries(good), -1.0]), "d": (3, count_from_2), "law": ("pnc", choice),
        "features": ("positive", choice), "opposites": ("equal", choice)
    },
    "papers.couplings.gram_norms.gram_rmse": {
        "x": (X, points), "law": ("pnc", choice), "features": ("positive", choice), "opposites": ("equal", choice), "n_nodes": (2, count)
    },
    "papers.couplings.gram_norms.gram_pair_excess": {
        "x": (X, points), "correlation": (0.5, lambda good: [*entries(good), 1.1]), "features": ("fourier", choice), "n_nodes": (2, count)
    },
    "theory.fourier_floor": {"d": (3, count), "m": (3, count)},
    "theory.fourier_guarantee": {"d": (3, count_from_2), "law": ("independent", choice)},
    "papers.simplex.sign_change.fourier_threshold": {"d": (3, count_from_3)},
    "theory.log_conformity": {"v": (1.0, distance), "d": (3, count_from_2), "coupling": ("simplex", choice)},
    "theory.log_conformity_at_angle": {"v": (1.0, distance), "d": (3, count), "cosine": (0.5, entries)},
    "theory.log_conformity_of": {"omega": (X, points), "v": (1.0, distance)},
    "theory.log_conformity_of_directions": {"directions": (X, points), "v": (1.0, distance)},
    "papers.simplex.pair_densities.log_pair_density": {"w": (1.0, lengths), "d": (3, count_from_2), "coupling": ("simplex", choice)},
    "papers.simplex.pair_densities.log_pair_density_at_angle": {"w": (1.0, lengths), "d": (3, count), "cosine": (0.5, entries)},
    "theory.partners": {"m": (3, count), "d": (3, count)},
    "papers.simplex.formulas.orthogonal_conformity": {"v": (1.0, at_least_0), "d": (3, count), "n_terms": (20, count)},
    "papers.simplex.formulas.simplex_conformity": {"v": (1.0, at_least_0), "d": (3, count_from_2), "n_terms": (20, count)},
    "papers.simplex.formulas.positive_gap": {"x": (V, vector), "y": (V, vector), "m": (3, count)},
    "papers.couplings.formulas.posterior_by_weights": {
        "phi_seen": (IDENTITY, points), "phi_asked": (IDENTITY, points), "y": (V, vector), "noise": (0.1, positive)
    },
    "papers.simplex.formulas.error_prefactor": {"d": (3, count_from_2)},
    "papers.simplex.formulas.fourier_gap": {"x": (V, vector), "y": (V, vector), "m": (3, count), "n_terms": (20, count)},
    "papers.simplex.formulas.pair_density": {"w": (1.0, lengths), "d": (3, count)},
    "papers.simplex.formulas.pair_density_at_angle": {
        "w": (1.0, lengths), "d": (3, count), "cosine": (0.5, real), "n_nodes": (20, count)
    },
    "papers.couplings.formulas.sum_cost": {
        "length": (1.0, at_least_0), "v": (1.0, at_least_0), "d": (3, count), "n_terms": (20, count)
    },
    "papers.couplings.formulas.chi_square_moment": {"k": (2, count), "d": (3, count)},
    "papers.couplings.formulas.correlation_factor": {"theta": (IDENTITY, lambda good: [*points(good), 2 * good])},
    "papers.simplex.formulas.fourier_mse_ratio": {"z": (1.0, distance), "d": (3, count), "m": (3, count)},
    "papers.ugrf.formulas.alpha_regularised_laplacian": {
        "k": (2, count_from_0), "sigma": (1.0, positive), "d": (2, count)
    },
    "papers.ugrf.formulas.alpha_p_step": {"k": (2, count_from_0), "alpha": (3.0, positive), "p": (2, count)},
    "papers.ugrf.formulas.alpha_diffusion": {"k": (2, count_from_0), "sigma": (1.0, positive)},
    "papers.ugrf.formulas.alpha_inverse_cosine": {"k": (2, count_from_0), "base": (1.0, real)},
    "papers.ugrf.formulas.f_regularised_laplacian": {"k": (2, count_from_0), "d": (2, count)},
    "papers.ugrf.formulas.f_p_step": {"k": (2, count_from_0), "p": (2, count)},
    "papers.ugrf.formulas.f_diffusion": {"k": (2, count_from_0)},
    "papers.ugrf.formulas.f_by_partitions": {"alpha": ([1.0, 0.5], vector)},
    "papers.ugrf.formulas.f_by_iteration": {"alpha": ([1.0, 0.5], vector)},
    "papers.ugrf.formulas.batch_size_approximation": {
        "n_walkers": (3, count), "p_halt": (0.5, probability), "delta": (0.1, probability)
    },
    "theory.bin_survival": {"n_bins": (3, count), "p_halt": (0.5, probability), "n_terms": (20, count)},
    "theory.joint_survival": {"coupling": ("stratified", choice), **WALKS, "n_terms": (20, count)},
    "theory.walk_feature_moments": {
        "g": (G, graph), "f": (F, modulating), **WALKS, "n_terms": (20, count), "coupling": ("reversal", choice)
    },
    "theory.walk_gram_mse": {
        "g": (G, graph), "f1": (F, modulating), "f2": (F, modulating), **WALKS, "n_terms": (20, count),
        "coupling": ("reversal", choice),
    },
    "theory.walk_gram_mses": {
        "g": (G, graph), "f1": (F, modulating), "f2": (F, modulating), **WALKS, "n_terms": (20, count),
        "couplings": (["reversal"], lambda good: ["reversal", 3]),
    },
    "papers.couplings.equal_walkers.gram_error_terms": {
        "g": (G, graph), "f": (F, modulating), "p_halt": (0.5, probability), "n_terms": (20, count)
    },
    "papers.couplings.walk_variance.walk_variance": {
        "g": (G, graph), "f": (F, modulating), "p_halt": (0.5, probability), "n_terms": (20, count), "of": ("kernel", choice),
    },
    "papers.ugrf.definiteness.definite_radius": {"alpha": ([1.0, 0.5], lambda good: [*vector(good), [0.0, 1.0], [-1.0, 0.5]])},
    "papers.ugrf.modulation_pairs.hessian": {
        "g": (G, graph), "f": (F, modulating), **WALKS, "n_directions": (2, count), "n_terms": (20, count), "step": (1e-3, positive),
    },
    "papers.couplings.equal_walkers.of_terms": {
        "a": (V[:1], lambda good: [*entries(good), 0 * good, -good]), "b": (V[:1], lambda good: [*entries(good), -good]),
        "error": (V[:1], lambda good: [*entries(good), 0 * good, -good]),
    },
    "papers.couplings.equal_walkers.of_curve": {
        "walkers": ([4, 16], lambda good: [*vector(good), [16, 4], [0, 4]]), "curve": ([0.5, 0.1], lambda good: [*vector(good), [0.1, 0.5], [0.1, 0.0]]),
        "error": (V[:1], lambda good: [*entries(good), 0 * good, -good]),
    },
    "models.attention.softmax": {
        "q": (X, points), "k": (X, points), "v": (X, lambda good: [*points(good), good[:2]]), "causal": (True, flag)
    },
    "models.attention.linear": {
        "phi_q": (X**2, points), "phi_k": (X**2, points), "v": (X, lambda good: [*points(good), good[:2]]), "causal": (True, flag)
    },
    "models.attention.linear_of_logs": {
        "log_q": (X, points), "log_k": (X, points), "v": (X, lambda good: [*points(good), good[:2]]), "causal": (True, flag)
    },
    "models.attention.leading_error": {"kernel": (V**2, array), "covariance": (IDENTITY, array)},
    **dict.fromkeys(["models.attention.row_error", "papers.couplings.formulas.attention_error"], ESTIMATED),
    "papers.simplex.classification.task": {
        "part": (PART, other_type), "n_classes": (2, lambda good: [*count(good), 1]), "sigma": (1.0, positive),
        "dtype": (np.float32, lambda good: [int, None, "a"]),
    },
    "papers.simplex.classification.public_task": {
        "table": (datasets.Classification(np.eye(20), np.arange(20) % 2, ("a", "b"), "wifi", "here"), other_type),
        "seed": (1, count_from_0), "double": (True, flag),
    },
    "papers.simplex.classification.accuracies": {
        "key": (KEY, key), "task": (TASK, other_type), "couplings": ([couplings.iid], several), "n_draws": (2, count),
        "n_blocks": (1, count), "width": (2, lambda good: [*some_count(good), 1]), "batch": (1, count),
    },
    **{f"papers.simplex.classification.{name}": {"task": (TASK, other_type)} for name in ("majority", "exact", "mean_v")},
    "papers.favor.exponential_votes.fitted": {
        "task": (TASK, other_type), "fits": ({"a": lambda x, held: features.ExponentialParameters()}, lambda good: [None, 3, "a", {}, {"a": 3}]),
        "sigmas": ([1.0], lambda good: [*vector(good), [0.0], [-1.0]]),
    },
    "papers.favor.exponential_votes.accuracies": {
        "key": (KEY, key), "task": (TASK, other_type), "parameters": ({"a": FILLED}, lambda good: [None, 3, "a", {}, {"a": 3}, {"a": WITH_A}]),
        "widths": ([2, 3], lambda good: [*vector(good), [0], [1.5]]), "n_seeds": (2, count), "n_tuning": (1, lambda good: [*some_count(good), 3]),
        "sigmas": ([1.0], lambda good: [*vector(good), [0.0], [-1.0]]), "batch": (1, count),
    },
    "papers.favor.exponential_votes.exact": {"task": (TASK, other_type), "sigmas": ([1.0], lambda good: [*vector(good), [0.0], [-1.0]])},
    "papers.favor.exponential_votes.without_validation": {"task": (TASK, other_type)},
    "models.clustering.initial_labels": {"key": (KEY, key), "n_nodes": (3, count), "n_clusters": (2, count)},
    "models.clustering.labels_around": {
        "kernel": (IDENTITY, points), "nodes": ([0, 2], nodes), "n_nodes": (3, count)
    },
    "models.clustering.kernel_k_means": {
        "kernel": (IDENTITY, points), "labels": ([0, 1, 1], labels), "n_clusters": (2, count), "max_iterations": (5, count)
    },
    "models.clustering.pair_error": {"labels": ([0, 1, 1], partition), "others": ([0, 1, 0], partition)},
    "papers.ugrf.generalisation.spectral_radius": {"g": (G, graph)},
    "papers.ugrf.generalisation.rademacher_bound": {
        "bounds": ([1.0, 0.5], families), "radius": (1.0, at_least_0), "n_samples": (3, count)
    },
    "papers.ugrf.generalisation.rademacher_trace_bound": {
        "g": (G, graph), "sample": ([0, 2], samples), "bounds": ([1.0, 0.5], families)
    },
    "papers.ugrf.eight_graphs.shared_errors": {
        "key": (KEY, key), "g": (G, graph), "targets": ([IDENTITY], lambda good: [[], good * 2, [1j * IDENTITY]]), "modulations": ([F], lambda good: [[3], None]),
        **WALKS, "n_repeats": (2, count),
    },
    "papers.ugrf.eight_graphs.shared_bias": {
        "g": (G, graph), "target": (IDENTITY, points), "f": (F, modulating), **WALKS, "n_terms": (20, count)
    },
    "papers.ugrf.learned_modulations.loss_of_walks": {
        "key": (KEY, key), "g": (G, graph), "target": (IDENTITY, points), **WALKS,
        "n_repeats": (2, count), "n_steps": (3, some_count),
    },
    "papers.ugrf.learned_modulations.best_scale": {"loss": (FORM, other_type), "f": (F, function)},
    "papers.ugrf.learned_modulations.staircase": {
        "steps_per_epoch": (1, count), "rate": (0.01, positive), "decay": (0.9, probability)
    },
    "papers.ugrf.learned_modulations.learn_each": {
        "starts": ([jax.jit(neural.flat)()], lambda good: [None, []]), "losses": (FORM, lambda good: [None, [], [good, good]]),
        "n_steps": (2, count), "optimiser": (optax.adam(0.1), lambda good: [3, "a"]),
    },
    "papers.ugrf.eight_graphs.draw": {"name": ("binary_tree", choice), "key": (KEY, key)},
    "papers.ugrf.eight_graphs.target": {"g": (G, lambda good: [*graph(good), BARE]), "beta": (0.5, probability)},
    "papers.ugrf.eight_graphs.errors": {
        "key": (KEY, key), "g": (G, lambda good: [*graph(good), BARE]),
        "readings": ([(neural.flat(), 0.5)], lambda good: [None, 3, [], [good[0][0]], [(3, 0.5)], [(good[0][0], 1.0)], [(*good[0], 1)]]),
        **WALKS, "n_repeats": (2, count),
    },
    "papers.ugrf.generalisation.taylor_bounds": {"n_terms": (3, count), "n_flat": (2, count)},
    "papers.ugrf.fits.smooth": {
        "x": (V, vector), "curves": (IDENTITY, array), "at": (V, vector), "degree": (1, lambda good: [*count_from_0(good), 3])
    },
    "papers.ugrf.fits.least_squares": {"at": (V, vector), "squares": (IDENTITY, points)},
    "papers.ugrf.fits.held_out": {
        "at": (V, vector), "curves": (IDENTITY, points), "se": (V**2, vector), "printed": (V, vector), "printed_se": (V**2, vector)
    },
    "papers.ugrf.fits.between_draws": {"repeats": (REPEATS, points)},
    "papers.ugrf.fits.ratios": {"above": (REPEATS, array), "below": (REPEATS, lambda good: [*array(good), 0 * good])},
    "papers.ugrf.generalisation.sign_supremum": {
        "g": (G, graph), "sample": ([0, 2], lambda good: [*nodes(good), list(range(3)) * 6]), "bounds": ([1.0, 0.5], families)
    },
    "papers.ugrf.generalisation.rademacher_complexity": {
        "key": (KEY, key), "g": (G, graph), "sample": ([0, 2], nodes), "bounds": ([1.0, 0.5], families),
        "n_draws": (4, count_from_2),
    },
    "papers.ugrf.generalisation.rademacher_repeats": {
        "key": (KEY, key), "g": (G, graph), "sample": ([0, 2], nodes), "bounds": ([1.0, 0.5], families),
        "n_draws": (4, count_from_2), "n_repeats": (2, count),
    },
    "papers.ugrf.generalisation.margin_loss": {
        "scores": (V, vector), "labels": ([1.0, -1.0, 1.0], vector), "margin": (0.5, positive)
    },
    "papers.ugrf.generalisation.margin_bound": {
        "loss": (0.1, at_least_0), "complexity": (0.1, at_least_0), "margin": (0.5, positive), "n_samples": (5, count),
        "delta": (0.1, probability),
    },
    "models.gp.posterior": {"K": (IDENTITY, gram), **OBSERVED, **STOP, "covariance": (True, flag)},
    "models.gp.factored_posterior": {"phi": (IDENTITY, points), **OBSERVED},
    "models.gp.mean_weights": {
        "phi": (PHI, lambda good: [bad for bad in sparse_symmetric(good) if not sp.issparse(bad)] + [STREAMED, sp.csr_array(np.nan * IDENTITY)]),
        "y": (V, vector), "noise": (0.1, positive), **STOP,
    },
    "models.gp.fit_gaussian": {
        "X": (X, points), "y": (V, vector), "lengthscale": (1.0, some_positive),
        "start": ([1.0, 1.0, 0.1], lambda good: [bad for bad in vector(good) if bad is not None] + [[1.0, 0.0, 1.0]]),
    },
    "models.gp.log_evidence": {"K": (IDENTITY, gram), "y": (V, vector), "noise": (0.1, positive)},
    "models.gp.log_evidence_by_probes": {
        "key": (KEY, key), "phi": (PHI, lambda good: [bad for bad in sparse(good) if bad is not STREAMED]), "y": (V, vector), "noise": (0.1, positive),
        "n_probes": (2, lambda good: [*count(good), 1]), "n_steps": (2, lambda good: [*count(good), 1]),
    },
    "models.gp.kl": {
        "mean_1": (V, vector), "covariance_1": (IDENTITY, points), "mean_2": (V, vector), "covariance_2": (IDENTITY, points)
    },
    "models.gp.hyperparameters": dict.fromkeys(["variance", "lengthscale", "noise"], (0.5, positive)),
    "models.gp.diffusion_covariance": {
        "parameters": (LEARNABLE, other_type), "g": (kernels.spectrum(G), spectrum), "tol": (1e-7, positive)
    },
    "models.gp.diffusion_features": {"parameters": (LEARNABLE, other_type), "deposits": (STEPS, other_type)},
    "models.gp.loss": {"parameters": (LEARNABLE, other_type), "given": (kernels.spectrum(G), spectrum), "y": (V, vector)},
    "models.gp.fit_graph": {
        "key": (KEY, host_key), "g": (G, graph), "seen": ([2, 0], nodes), "y": (V[:2], lambda good: [*vector(good), 0 * good]),
        "method": ("spectrum", lambda good: [bad for bad in choice(good) if bad is not None]), "lengthscales": BOUNDS, **WALKS,
    },
    "models.gp.GraphFit.predict": {"self": (GRAPH_FIT, None), "asked": ([1], lambda good: [bad for bad in some_nodes(good) if bad is not None])},
    "papers.ugrf.blocks.by_walks": {
        "key": (KEY, key), "g": (G, graph), "f": (F, modulating), "n_walks": (2, count), "p_halt": (0.5, probability),
        "nodes": ([2, 0], nodes),
    },
    "papers.ugrf.blocks.by_columns": {
        "g": (G, graph), "function": (np.exp, function), "degree": (2, count), "nodes": ([2, 0], nodes),
    },
    "papers.ugrf.blocks.by_push": {"g": (G, graph), "f": (F, modulating), "degree": (2, count), "nodes": ([2, 0], nodes)},
    "papers.ugrf.blocks.powers": {"g": (G, graph), "n_powers": (2, count), "nodes": ([2, 0], nodes)},
    "papers.ugrf.blocks.deposits": {
        "key": (KEY, key), "g": (G, graph), "n_walks": (2, count), "p_halt": (0.5, probability), "longest": (2, count),
        "nodes": ([2, 0], nodes),
    },
    "models.gp.fit_diffusion": {
        "key": (KEY, key), "deposits": (DEPOSITS, other_type), "y": (V, vector),
        "lengthscales": BOUNDS,
        "n_probes": (2, lambda good: [*count(good), 1]), "n_steps": (2, lambda good: [*count(good), 1]),
    },
    "papers.couplings.traffic_gp.predicted": {
        "K": (IDENTITY, points), "y": (V, vector), "noise": (0.1, positive), "n_seen": (2, lambda good: [*count(good), 3])
    },
    "papers.couplings.traffic_gp.compared": {
        "K": (IDENTITY, points), "y": (V, vector), "noise": (0.1, positive), "exact": (models.gp.Posterior(V[:1], IDENTITY[:1, :1]), other_type)
    },
    "papers.couplings.traffic_gp.profile": {
        "B": (IDENTITY, points), "y": (V[None], lambda good: [*entries(good), good[0], good[:, :2]]),
        "ratios": ([0.1, 1.0], lambda good: [*vector(good), [0.0, 1.0]]),
    },
    "papers.couplings.traffic_gp.learn_on_grid": {
        "gram": (lambda lengthscale: IDENTITY, function), "y": (V[None], lambda good: [*entries(good), good[0], good[:, :2]]),
        "lengthscales": ([0.5, 2.0], vector), "ratios": ([0.1, 1.0], lambda good: [*vector(good), [0.0, 1.0]]),
    },
    "papers.couplings.predictives.divergences": {
        "exact": (models.gp.Posterior(V, IDENTITY), other_type), "approximate": (models.gp.FactoredPosterior(V, IDENTITY), other_type),
        "noise": (0.1, positive), "exact_noise": (0.2, some_positive),
    },
    "papers.couplings.predictives.predictive_kl": {
        **dict.fromkeys(["approximate", "exact"], (models.gp.Posterior(V, IDENTITY), other_type)), "noise": (0.1, positive)
    },
    "papers.ugrf.hidden_values.hide": {"key": (KEY, key), "n_nodes": (20, count), "share": (0.1, lambda good: [*probability(good), 1e-3, 0.999])},
    "papers.ugrf.hidden_values.lesson": {
        "key": (KEY, key), "g": (G, graph), "values": (X, points), "n_copies": (2, count), "n_walks": (2, count),
        "p_halt": (0.5, probability), "share": (0.4, probability),
    },
    "papers.ugrf.hidden_values.of_one_size": {"lessons": ([LESSON], lambda good: [*other_type(good), [], [3]])},
    "papers.ugrf.hidden_values.loss": {
        "f": (F, function), "deposits": (STEPS, other_type), "values": (X, matrix), "known": ([True, False, True], mask),
        "hidden": ([1], lambda good: [*nodes(good), None, []]),
    },
    "papers.ugrf.hidden_values.error": {
        "deposits": (DEPOSITS, other_type), "f": (F, function), "values": (X, matrix), "known": ([True, False, True], mask)
    },
    "papers.ugrf.hidden_values.exact_error": {
        "g": (G, graph), "f": (F, function), "values": (X, points), "known": ([True, False, True], mask), "n_terms": (20, count)
    },
    "papers.ugrf.hidden_values.directions_in_turn": {
        "key": (KEY, key), "deposits": (DEPOSITS, other_type), "f": (F, function), "values": (X, matrix),
        "n_groups": (2, lambda good: [*count_from_2(good), 4]),
    },
    "papers.ugrf.hidden_values.weighted_sums": {
        "kernel": (IDENTITY, points), "values": (X, matrix), "known": ([True, False, True], mask)
    },
    "papers.ugrf.hidden_values.angular_error": {"predicted": (X, points), "truth": (X, points)},
    "models.ode.uniform_times": {
        "key": (KEY, key), "t": (1.0, at_least_0), "n": (4, count), "n_repeats": (2, count_or_none)
    },
    "models.ode.stratified_times": {
        "key": (KEY, key), "t": (1.0, at_least_0), "n": (4, count), "n_repeats": (2, count_or_none)
    },
    "models.ode.midpoint_times": {"t": (1.0, at_least_0), "n": (4, count), "n_repeats": (2, count_or_none)},
    "models.ode.solution": {"g": (G, graph), "y": (V, vector), "t": (1.0, at_least_0), "shift": (-1.0, real)},
    "models.ode.quadrature": {
        "g": (G, graph), "y": (V, vector), "t": (1.0, at_least_0), "times": (ode.midpoint_times(1.0, 3), other_type),
        "shift": (-1.0, real),
    },
    "models.ode.estimate": {
        "key": (KEY, key), "g": (G, graph), "y": (V, vector), "t": (1.0, at_least_0),
        "times": (ode.midpoint_times(1.0, 3), other_type), **WALKS, "shift": (-1.0, real),
    },
    "models.ode.residual_at_rest": {"g": (G, graph), "y": (V, vector), "shift": (-1.0, real)},
    "models.ode.relative_errors": {"x": (V, vectors), "exact": (V, vector)},
    "models.pagerank.exact": {"g": (G, graph), "p_halt": (0.5, probability), "dangling": ("uniform", choice)},
    "models.pagerank.estimate": {
        "key": (KEY, host_key), "g": (G, graph), **WALKS, **COUPLED,
        "n_repeats": (2, some_count), "dangling": ("uniform", choice),
    },
    "models.regression.scores": {"phi_train": (IDENTITY, points), **REGRESSION, "phi_test": (IDENTITY, points)},
    "models.regression.scores_of_logs": {
        "log_train": (X, points), **REGRESSION, "log_test": (X, points), "widths": ([1, 2], lambda good: [*vector(good), [0], [3], [1.5]]),
    },
    "models.regression.scores_exact": {"x_train": (X, points), **REGRESSION, "x_test": (X, points)},
    "models.regression.accuracy": {"label_scores": (IDENTITY, points), "labels": ([0, 1, 1], labels)},
    "papers.simplex.best_directions.optimised": {
        "lengths": ([1.0, 2.0, 1.5], lengths), "v": (1.0, positive),
        "start": (IDENTITY, lambda good: [bad for bad in points(good) if bad is not None]),
    },
    "papers.simplex.best_directions.weight_independent": {"start": (X, points), "v": (1.0, positive)},
    **dict.fromkeys(
        ["solvers.exponential.aderf", "solvers.exponential.gerf", "solvers.exponential.saderf", "solvers.exponential.sderf"],
        POINTS | {"centred": (True, flag)},
    ),
    "solvers.exponential.of_law": {"mean": NORMAL["mean"], "covariance": (np.eye(2), NORMAL["covariance"][1])},
    "solvers.exponential.best_A": {"phi": ([0.0, 1.0], lambda good: [*entries(good), -0.1])},
    "solvers.sampling.of_normal": {"omega": (X, points), **NORMALS, "kernel": ("softmax", choice)},
    "solvers.sampling.of_phases": {
        "key": (KEY, key), "m": (3, count), "X": (X, points), "Y": (X, but_none(points)), "kernel": ("softmax", choice), "pilot": (9, count)
    },
    "solvers.sampling.of_points": {
        "key": (KEY, key), "omega": (X, points), "X": (X, points), "kernel": ("softmax", choice), "law": ("stratified", but_none(choice))
    },
    "solvers.sampling.of_two_sets": {"key": (KEY, key), "m": (3, count), **POINTS, "kernel": ("softmax", choice), "pilot": (9, count)},
    "solvers.gram.errors": {"f1": (F, modulating), "f2": (F, modulating), **GRAM},
    "solvers.gram.form": GRAM | {"n_steps": (2, lambda good: [bad for bad in count(good) if bad is not None])},
    "papers.couplings.copula.correlation_factor": {"theta": (V, lambda good: [*vector(good), [0.1, 0.2]])},
    "papers.couplings.copula.learn": {
        "key": (KEY, key), "loss": (lambda key, norms: jnp.sum(norms), function), "d": (2, count_from_2), "n_steps": (2, count),
        "n_draws": (2, count), "start": ([0.1], lambda good: [bad for bad in vector(good) if bad is not None]),
        "optimiser": (None, None),
    },
    "papers.couplings.copula.optimal": {
        "key": (KEY, key), "distance": (1.0, near), "d": (3, count_from_2), "features": ("fourier", choice)
    },
    "papers.couplings.multi_marginal.solve": {"costs": (IDENTITY, points), "m": (2, lambda good: [*count_from_2(good), 10**3])},
    "papers.couplings.multi_marginal.two_norms": {
        "distance": (1.0, positive), "d": (3, count), "features": ("fourier", choice), "n_quantiles": (3, count_from_2)
    },
    "papers.couplings.multi_marginal.norm_bound": {
        "distance": (1.0, near), "d": (3, count_from_2), "m": (2, lambda good: [*count_from_2(good), 4]),
        "features": ("fourier", choice), "n_bins": (2, count_from_2),
    },
    "solvers.transport.bin_spectra": BINS | {"n_terms": (20, count)},
    "solvers.transport.bin_features": BINS | {"nodes": ([0, 2], some_nodes), "n_terms": (20, count)},
    "solvers.transport.simulated_bin_features": {
        "key": (KEY, key), **BINS, "n_walks": (2, count), "nodes": ([0, 2], some_nodes)
    },
    "solvers.transport.pair_products": {"psi": (X, averages)},
    "solvers.transport.matching_costs": PRODUCTS,
    "solvers.transport.quadratic_cost": PRODUCTS | {"sigma": ([1, 0], permutation)},
    "solvers.transport.pagerank_costs": {"g": (G, graph), "n_bins": (3, count), "p_halt": (0.5, probability)},
    "solvers.transport.pagerank_mse": {
        "costs": (IDENTITY, points), "n_nodes": (3, count), "n_walks": (2, lambda good: [*count(good), 3]),
        "sigma": ([1, 2, 0], lambda good: [bad for bad in permutation(good) if bad is not None]),
    },
    "solvers.transport.assignment": {"costs": (IDENTITY, points)},
    "solvers.transport.exhaustive": PRODUCTS,
    "solvers.transport.by_projections": {"key": (KEY, key), "U": PRODUCTS["U"], "n_projections": (2, count)},
    "solvers.descent.learn": {
        "loss": (lambda f: jnp.sum(f(np.arange(3)) ** 2), function), "f": (neural.flat(), None), "n_steps": (2, count),
        "data": ((), None), "optimiser": (None, None), "key": (None, lambda good: [bad for bad in key(good) if bad is not None]),
    },
    "graphs.Graph": {
        "indptr": (
            BARE.indptr,
            lambda good: [None, 3, "a", good / 1, good[None], good[::-1], good[:-1], good + 1, [0, 3, 1, 4]],
        ),
        "indices": (BARE.indices, lambda good: [*nodes(good), good[:-1], [1, 2, 0, 1], [1, 2, 2, 1]]),
        "weights": (BARE.weights, vector),
    },
    "graphs.Graph.from_scipy": {"W": (IDENTITY, points)},
    "graphs.Graph.from_networkx": {"G": (NETWORK, other_type), "weight": (None, lambda good: ["no such", 3])},
    "graphs.Graph.from_edges": {
        "edges": (np.array([[0, 1], [1, 2]]), lambda good: [good[0], good[:1], good.T[:0], good + 0.5, -good, good + 2, "all"]),
        "n_nodes": (3, some_count), "weights": ([1.0, 2.0], but_none(vector)),
    },
    "graphs.Graph.from_mesh": {"mesh": (trimesh.creation.box(), other_type), "nodes": ("faces", choice)},
    "graphs.Graph.normalised": {"self": (BARE, None)},
    "graphs.Graph.scaled": {"self": (BARE, None), "factor": (2.0, lambda good: [*real(good), 0.0])},
    "graphs.Graph.to_scipy": {"self": (BARE, None)},
    "graphs.Graph.transitions": {"self": (BARE, None), "dangling": ("uniform", choice)},
    "evidence.Decision": {
        "verdict": ("reproduced", verdict), "rule": ("order", text), "detail": ("", None), "finding": ("", None),
        "why": ("", None), "claim": (None, None), "by_choice": (False, None), **UNIT,
        **dict.fromkeys(["ours", "se", "paper", "paper_se", "statistic", "limit", "rounding", "level", "miss"], (0.5, number_or_none)),
        **dict.fromkeys(["comparisons", "repeats"], (2, count_or_none)), "holds": (0, lambda good: [bad for bad in count_or_none(good) if bad != 0]), "pair": (None, None),
    },
    "evidence.Decision.as_dict": {"self": (FAILURE, None)},
    "evidence.Clock": {},
    "evidence.Ledger": {"notebook": (NOTEBOOK, choice), **PROFILE},
    "evidence.open_page": {"notebook": (NOTEBOOK, choice), **PROFILE},
    "evidence.Ledger.decide": {"self": (LEDGER, None), "table": ({ENTRY.claims[0].id: FAILURE}, decisions)},
    "evidence.Ledger.key": {"self": (LEDGER, None), "name": ("walks", text)},
    "evidence.Ledger.rng": {"self": (LEDGER, None), "name": ("walks", text)},
    "evidence.Ledger.close": {"self": (LEDGER, None)},
    "evidence.agree": {
        "ours": (V, numbers), "se": (0.1, all_at_least_0), "paper": (V, numbers), "paper_se": (0.1, all_at_least_0),
        "unprinted_se": (0.1, all_at_least_0), "smallest_difference": (1.0, all_positive), "rounding": (0.1, all_at_least_0), "false_alarm": (0.1, probability),
        "degrees": (5, lambda good: [bad for bad in all_positive(good) if bad is not None]),
        "in_direction": (True, optional_flag), **UNIT,
    },
    "evidence.bound": {
        "value": (REPEATS, numbers), "bound": (3.0, numbers), "se": (None, lambda good: [0.1, "a"]),
        "side": ("below", choice), "confidence": (0.9, confidence), "exact": (False, flag),
        "robust": (False, flag), "geometric": (False, flag), "only_rounding": (False, flag), **UNIT,
    },
    "evidence.claims_of": {"notebook": (NOTEBOOK, text), "folder": (CLAIMS, lambda good: ["no such", 3])},
    "evidence.cost": {"work": (dict, function)},
    "evidence.processes.in_a_process": {
        "function": (three, lambda good: [*function(good), len, lambda: 3]),
        "helpers": ((), lambda good: [[3], [len], [lambda: 3]]),
        "imports": ("", lambda good: [3, None]),
    },
    "evidence.decisions": PROFILE,
    "evidence.entries": {"folder": (CLAIMS, lambda good: ["no such", 3])},
    "evidence.entry_verdict": {"entry": (ENTRY, other_type), "ledger": ({}, other_type)},
    "evidence.erratum": {
        "decision": (FAILURE, lambda good: [*other_type(good), evidence.bound(1.0, 2.0, exact=True)]), "why": ("w", text)
    },
    "evidence.error_rates": PROFILE,
    "evidence.headline": PROFILE,
    "evidence.identity": {
        "ours": (V, numbers), "exact": (V, numbers), "tolerance": (0.1, positive), "relative": (False, flag), **UNIT
    },
    "evidence.in_batches": {
        "function": (jax.random.normal, function), "keys": (jax.random.split(KEY, 2), keys), "size": (2, count),
        "description": ("draws", text),
    },
    "evidence.not_run": {"why": ("w", text)},
    "evidence.order": {
        "better": (REPEATS, lambda good: [*numbers(good), good[:1]]), "worse": (2 * REPEATS, numbers), "confidence": (0.9, confidence),
        "exact": (False, flag), "robust": (False, flag), **UNIT,
    },
    "evidence.printed": {"table": ("simplex_table2", choice)},
    "evidence.scaled": {"decision": (FAILURE, other_type), "why": ("w", text)},
    "evidence.scorecard": PROFILE,
    "evidence.statistics.kept": {
        "ours": (X, lambda good: [*numbers(good), good[0]]), "paper": (X, numbers), "paper_se": (0 * X + 0.1, all_at_least_0),
        "least": (3.0, at_least_0),
    },
    "evidence.slope": {
        "x": ([1.0, 2.0], lambda good: [*vector(good), [0.0, 1.0], [1.0, 1.0]]),
        "y_repeats": (REPEATS, lambda good: [*repeated(good), -REPEATS]), "expected": (1.0, real),
        "resolution": (0.1, positive), "confidence": (0.9, confidence), "robust": (False, flag),
    },
    "evidence.tail_index": {"values": ([1.0, 3.0, 2.0], vector), "n_top": (1, count)},
    "evidence.timed": {"decision": (FAILURE, other_type), **PROFILE, "clock": (evidence.Clock(), other_type)},
    "evidence.unbiased": {
        "estimates": (REPEATS, repeated), "truth": (1.5, numbers), "smallest_bias": (1.0, all_positive),
        "false_alarm": (0.1, probability), **UNIT,
    },
    "evidence.value": {
        "ours": (1.0, real), "se": (0.1, at_least_0), "paper": (1.1, real), "paper_se": (0.1, at_least_0),
        "unprinted_se": (0.1, at_least_0), "rounding": (0.1, at_least_0), "in_direction": (True, optional_flag),
        "resolution": (1.0, lambda good: [bad for bad in positive(good) if bad is not None]), **UNIT,
    },
    "evidence.costs.seconds_per_call": {
        "cases": ([int], lambda good: [None, int, [], [1], "a"]), "n_rounds": (1, count), "description": ("draws", text),
    },
    "evidence.costs.exponents": {
        "sizes": ([1.0, 2.0], lambda good: [*vector(good), [0.0, 1.0], [2.0, 2.0]]),
        "seconds": ([1.0, 3.0], lambda good: [*entries(good), 1.0, [1.0, 2.0, 3.0], [0.0, 1.0]]),
    },
    "datasets.classification": {"name": ("wifi", choice), **DATA},
    "datasets.entries": {"family": ("graphs", family)},
    "datasets.fallbacks": {},
    "datasets.find": {"name": ("karate", choice), "family": ("graphs", family)},
    "datasets.graph": {"name": ("karate", choice), **DATA},
    "datasets.grey": {"pixels": (np.ones((1, 3, 2, 2)), array), "way": ("luma", choice)},
    "datasets.resize": {"pixels": (np.ones((2, 4, 4)), array), "size": (2, lambda good: [*count(good), 5]), "way": ("area", choice)},
    "datasets.images": {"name": ("mnist", choice), **DATA},
    "datasets.mesh": {"name": ("torus", choice), **DATA},
    "datasets.provenance": {},
    "datasets.regression": {"name": ("concrete", choice), **DATA},
    "datasets.sentences": {"part": ("dev", choice), **DATA},
    "datasets.small_split": {
        "table": (TABLE, other_type), "seed": (1, count_from_0), "largest": (2, count), "scaling": ("range", choice)
    },
    "datasets.split": {
        "table": (TABLE, other_type), "seed": (1, count_from_0), "test_fraction": (0.4, lambda good: [*real(good), 0, 1, -1.0]),
        "standardised": (True, flag),
    },
    "datasets.traffic": DATA,
    "papers.ugrf.large_graphs.ring_with_chords": {"key": (KEY, key), "n": (5, count_from_3)},
    "papers.ugrf.large_graphs.communities": {
        "key": (KEY, key), "n": (5, count_from_3), "n_communities": (2, count), "mixing": (0.3, probability),
    },
    "papers.ugrf.large_graphs.streets": {"key": (KEY, key), "side": (3, count_from_3), "p": (0.5, probability)},
    "random_graphs.erdos_renyi": {"key": (KEY, key), "n": (5, count), "p": (0.5, probability)},
    "random_graphs.regular": {"key": (KEY, key), "n": (6, count), "degree": (3, lambda good: [*count(good), 6])},
    "walks.simulate": {"key": (KEY, host_key), "g": (G, graph), "lengths": (LENGTHS, other_type), "nodes": ([0, 1, 2], nodes)},
    "walks.checked": {"deposits": (DEPOSITS, other_type)},
    "walks.start_nodes": {"g": (G, graph), "nodes": ([0, 2], nodes)},
}  # fmt: skip

# Good calls that compile for more than half a second, read data or write; they are made in the tests of their modules.
SLOW = {
    "couplings.directions.haar", "couplings.orthogonal", "couplings.simplex", "couplings.halton", "couplings.norms.pnc",
    "models.gp.posterior", "models.gp.factored_posterior", "papers.couplings.predictives.divergences", "models.gp.fit_gaussian", "papers.simplex.pair_densities.log_pair_density",
    "papers.simplex.formulas.pair_density_at_angle", "couplings.simplex_plus", "couplings.sobol", "couplings.norms.positive_monotone",
    "papers.simplex.pair_densities.log_pair_density_at_angle", "theory.fourier_mse", "models.gp.log_evidence", "couplings.orthogonal_fast", "models.gp.loss", "models.gp.fit_graph",
    "papers.couplings.predictives.predictive_kl", "models.gp.fit_diffusion",
    "couplings.simplex_fast", "couplings.orthogonal_pnc", "couplings.orthogonal_pm", "couplings.orthogonal_copula",
    "couplings.weight_dependent.balance", "features.neural.random", "papers.simplex.best_directions.optimised",
    "papers.simplex.best_directions.weight_independent", "solvers.descent.learn", "papers.couplings.copula.learn", "papers.couplings.copula.optimal", "models.attention.linear",
    "models.attention.linear_of_logs", "theory.positive_mse", "theory.log_conformity_of",
    "theory.log_conformity_of_directions", "theory.log_conformity_at_angle",
    "datasets.classification", "datasets.graph", "datasets.images", "datasets.mesh", "datasets.regression",
    "datasets.sentences", "datasets.traffic", "solvers.sampling.of_normal", "solvers.sampling.of_phases", "solvers.sampling.of_points",
    "solvers.sampling.of_two_sets", "theory.optimal_normal", "theory.log_sampling_cost", "papers.equivalence.joint_sampling.optimal_overlaps", "papers.equivalence.joint_sampling.log_joint_variance_floor",
    "theory.trigonometric_least_variance", "theory.log_optimal_variance_bound", "features.dense", "solvers.exponential.of_law",
    "evidence.Ledger.close", "evidence.in_batches", "papers.favor.exponential_votes.fitted", "papers.favor.exponential_votes.accuracies",
}  # fmt: skip

# Names without a row, and arguments with bad values that are not refused.
RESULTS = "holds what functions return: they check, and JAX and pickle rebuild it from anything"
ANY_NUMBER = "takes any number of arguments: their checks are tested with its module"
INNER = "takes arguments that its callers have checked, in a loop"
LEFT = {
    **dict.fromkeys(["couplings.frequencies.Projectable", "couplings.frequencies.Projectable.project"], "says what others do"),
    **dict.fromkeys(
        [
            "couplings.fast.Frequencies", "couplings.frequencies.Dense", "couplings.frequencies.Weighted",
            "couplings.walk_lengths.Lengths", "couplings.copulas.Correlated", "couplings.copulas.DifferentStrata", "couplings.copulas.Law",
            "couplings.copulas.Gaussian", "couplings.copulas.Matched", "walks.Recipe", "walks.Recipe.chunks", "walks.Recipe.walkers", "features.DepositsByStep", "features.ExponentialParameters", "theory.NormalLaw",
            "features.DepositFeatures", "features.DepositFeatures.to_scipy", "features.DepositFeatures.toarray",
            "features.WalkFeatures", "papers.ugrf.reference.Lists", "kernels.Spectrum", "papers.ugrf.hidden_values.Lesson", "features.neural.Neural", "papers.ugrf.learned_modulations.Geometric", "models.clustering.Clusters",
            "papers.simplex.classification.Accuracies", "papers.simplex.classification.Task", "papers.favor.exponential_votes.Accuracies",
            "models.gp.Evidence", "models.gp.GraphFit", "models.gp.OfFeatures", "models.gp.Hyperparameters", "models.gp.Posterior", "models.ode.Times", "solvers.descent.Learned", "solvers.gram.Form", "walks.Deposits",
            "models.attention.RowError", "models.gp.GaussianFit", "papers.couplings.predictives.Divergences", "models.gp.FactoredPosterior",
            "papers.couplings.multi_marginal.NormBound", "papers.couplings.multi_marginal.Plan", "papers.couplings.multi_marginal.TwoNorms",
            "papers.couplings.copula.Learned", "papers.couplings.copula.Optimal", "features.WalkFeatures.to_scipy",
            "features.WalkFeatures.toarray", "features.StreamedFeatures", "features.StreamedFeatures.to_scipy",
            "features.StreamedFeatures.toarray",
            "datasets.Classification", "datasets.Regression", "datasets.Split", "datasets.Images", "datasets.Sentences",
            "datasets.Traffic", "datasets.Entry", "datasets.File",
        ],
        RESULTS,
    ),
    "couplings.copulas.by_coordinate": ANY_NUMBER,
    **dict.fromkeys(["datasets.Damaged", "datasets.Unavailable", "datasets.FallbackWarning"], "is raised by the loaders, with a text"),
    **dict.fromkeys(
        ["evidence.Verdict", "evidence.Verdict.word", "evidence.Verdict.counted"],
        "is an enumeration, whose words the scorecard asks for",
    ),
    **dict.fromkeys(
        [
            "couplings.walk_lengths.antithetic", "couplings.walk_lengths.longest", "couplings.walk_hops.array_rqmc",
            "couplings.walk_hops.independent", "couplings.walk_hops.systematic", "features.ExponentialParameters.away",
            "features.ExponentialParameters.moved", "features.ExponentialParameters.swapped", "features.ExponentialParameters.filled",
            "solvers.descent.descend", "papers.couplings.block_errors.check_opposites", "papers.couplings.block_errors.has_table",
        ],
        INNER,
    ),
}  # fmt: skip


PUBLIC = public_names(
    couplings, features, kernels, theory, models, solvers, graphs, random_graphs, walks, evidence, datasets, papers,
    processes, costs, statistics,
)
SHOWN = r"( = | has | is of type | maps )"
MEND = r"(give|choose|remove|set|lower) "


def fault_of(call, arguments, argument, bad):
    """What is wrong with the answer to a bad argument; None if all is well."""
    try:
        call(**arguments | {argument: bad})
    except ValueError as error:
        message = str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:100]
    else:
        return "no complaint"
    # Both functions of a pair, f1 and f2, reach the walks as f.
    if re.search(rf"(?s)\b({argument}|{argument.rstrip('12')})\b.*?{SHOWN}.*{MEND}", message):
        return None
    return f"says {message!r}"


@pytest.mark.parametrize("name", ROWS)
def test_bad_input_is_a_value_error_that_helps(name):
    call, row = PUBLIC[name], ROWS[name]
    arguments = {argument: good for argument, (good, _) in row.items()}
    if name not in SLOW:
        call(**arguments)
    faults = []
    for argument, (good, kind) in row.items():
        for bad in kind(good) if kind else []:
            fault = fault_of(call, arguments, argument, bad)
            if fault:
                faults.append(f"{argument} = {bad!r}: {fault}")
    assert not faults, "\n".join(faults)


# The same numbers have the same answer, however narrow the type that holds them.


def thrice(x, dtype):
    """A sparse matrix whose entries stand three times each, to be added up."""
    row, column = np.nonzero(np.ones(x.shape))
    return sp.coo_array((np.tile(x.ravel(), 3).astype(dtype), (np.tile(row, 3), np.tile(column, 3))), x.shape)


STORED = {  # how whole numbers are given in some type; and the narrow types, where bool is for 0 and 1
    "NumPy": (lambda x, dtype: x.astype(dtype), [np.int8, np.float16, np.bool_]),
    "JAX": (lambda x, dtype: jnp.asarray(x, dtype=dtype), [jnp.int8, jnp.float16, jnp.bfloat16, np.bool_]),
    "SciPy": (thrice, [np.int8, np.bool_]),
}
LARGEST = (100, 11, 3, 1, 0)  # whole numbers to try, until a function has a use for them; a square of 100 is no int8
ROUNDED = {"evidence.unbiased"}  # take the rounding of what they are given from its type


def arrays(good):
    """A good value as an array, or as a list of several."""
    good = good.toarray() if hasattr(good, "toarray") else good
    is_several = isinstance(good, list | tuple) and np.ndim(good[0]) == 2
    return [np.asarray(x, dtype=float) for x in good] if is_several else np.asarray(good, dtype=float)


def answer(result):
    """Arrays behind what a function returns; a function is called as modulations, couplings or laws are."""
    if hasattr(result, "to_scipy"):
        return [result.to_scipy().toarray()]
    leaves = jax.tree.leaves(result)
    if len(leaves) != 1 or leaves[0] is not result:
        return [array for leaf in leaves for array in answer(leaf)]
    if isinstance(result, jax.Array | type) or not (callable(result) or hasattr(result, "__dict__")):
        return [x for x in [np.asarray(result)] if x.dtype != object]
    if not callable(result):
        return answer(vars(result))
    for arguments in ((np.arange(3),), (KEY, 2, 2), (np.random.default_rng(0).random, (2, 2, 1))):
        try:
            return answer(result(*arguments))
        except (AttributeError, IndexError, TypeError, ValueError):
            continue
    raise ValueError(f"{result!r} takes none of these arguments")


@functools.cache
def has(dtype):
    """Whether XLA computes with it here: on a processor without F16C it fails for float16, whoever asks."""
    try:
        return not jnp.zeros(1, dtype).astype(float).any()
    except jax.errors.JaxRuntimeError:
        return False


def narrow_faults(name, argument, good, stored):
    store, dtypes = STORED[stored]
    dtypes = [dtype for dtype in dtypes if has(dtype)]
    row = {other: value for other, (value, _) in ROWS[name].items()}

    def given(largest, dtype):
        size = max((np.abs(x).max(initial=0) for x in jax.tree.leaves(arrays(good))), default=0) or 1
        return jax.tree.map(lambda x: store(np.round(largest * x / size), dtype), arrays(good))

    if stored == "SciPy" and any(np.ndim(x) != 2 for x in jax.tree.leaves(arrays(good))):
        return
    for largest in LARGEST:
        try:
            expected = answer(PUBLIC[name](**row | {argument: given(largest, float)}))
        except (ValueError, RuntimeError, RuntimeWarning):
            continue
        if all(np.all(np.isfinite(x)) for x in expected if x.dtype.kind == "f"):
            break
    else:
        return
    is_0_or_1 = all(np.all((x >= 0) & (largest <= 1)) for x in jax.tree.leaves(arrays(good)))
    for dtype in dtypes:
        if (dtype is np.bool_ and not is_0_or_1) or (np.dtype(dtype) == np.float16 and name in ROUNDED):
            continue
        try:
            found = answer(PUBLIC[name](**row | {argument: given(largest, dtype)}))
        except Exception as error:
            found = [np.asarray(f"{type(error).__name__}: {error}")]
        if [x.dtype for x in found] != [x.dtype for x in expected] or not all(map(np.array_equal, found, expected)):
            yield f"{argument} of {stored} and {np.dtype(dtype)}: {found} is not {expected}"


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in SLOW)) for name in ROWS])
def test_narrow_numbers_are_as_good_as_others(name):
    faults = [
        fault
        for argument, (good, kind) in ROWS[name].items()
        if kind and any(np.iscomplexobj(x) for bad in kind(good) for x in jax.tree.leaves(bad))  # it takes numbers
        for stored in STORED
        for fault in narrow_faults(name, argument, good, stored)
    ]
    assert not faults, "\n".join(faults)


def test_every_public_name_has_a_row_or_a_reason():
    assert sorted(PUBLIC) == sorted([*ROWS, *LEFT])


def test_every_argument_has_a_kind():
    for name, row in ROWS.items():
        free = {"progress", "shared", "is_normalised", "arguments", "options", "indices"}
        assert set(inspect.signature(PUBLIC[name]).parameters) - free == set(row) - free, name


def test_what_a_compiled_function_has_captured_is_checked_like_any_value():
    good, bad, K, y = jnp.asarray(V)[None], jnp.asarray(V).at[0].set(jnp.nan)[None], jnp.eye(3), jnp.asarray(V)
    crooked = K.at[0, 1].set(0.5)
    assert np.allclose(jax.jit(lambda x: kernels.gaussian(x, good))(good), 1.0)
    assert np.isfinite(jax.jit(lambda noise: models.gp.log_evidence(K, y, noise))(0.1))
    with pytest.raises(ValueError, match="Y has 1 NaN"):
        jax.jit(lambda x: kernels.gaussian(x, bad))(good)
    with pytest.raises(ValueError, match="K is not symmetric"):
        jax.jit(lambda noise: models.gp.log_evidence(crooked, y, noise))(0.1)


def test_traced_keys_of_walks():
    with pytest.raises(ValueError, match="key is traced"):
        jax.jit(lambda key: features.walk_features(key, G, F, 2, 0.5).toarray())(KEY)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones(3), np.ones(2), "y has shape"),
        (np.ones((1, 3)), np.ones((1, 3)), "x has shape"),
        (np.full(3, 20.0), np.full(3, 20.0), "give values in"),
    ],
)
def test_pairs_of_points(x, y, message):
    with pytest.raises(ValueError, match=message):
        theory.positive_mse(x, y, 3, "orthogonal")


@pytest.mark.parametrize("values", [np.ones(3, dtype=int), np.ones((3, 2)), -np.ones((3, 2), dtype=int)])
def test_walk_lengths(values):
    with pytest.raises(ValueError, match=r"lengths has (shape|values)"):
        walks.simulate(KEY, G, walk_lengths.Lengths(values, 0.1))


def test_halves_that_are_swapped_or_do_not_fit_do_not_compose():
    directions, norms = couplings.directions.independent, couplings.norms.independent
    with pytest.raises(ValueError, match=r"draw_directions drew an array of shape \(4,\); give directions"):
        couplings.compose(norms, directions)(KEY, 4, 3)
    with pytest.raises(ValueError, match=r"draw_norms drew an array of shape \(4, 3\); give .*second"):
        couplings.compose(directions, directions)(KEY, 4, 3)
    with pytest.raises(ValueError, match=r"draw_norms = <function reversal.*give a function, such as couplings\.norms"):
        couplings.compose(directions, couplings.copulas.reversal)(KEY, 4, 3)


def test_alpha_of_p_step_is_at_least_2():
    for p_step in (modulation.p_step, lambda alpha, p: kernels.p_step(BARE, alpha, p)):
        with pytest.raises(ValueError, match=r"alpha = 1\.9; give"):
            p_step(1.9, 2)
