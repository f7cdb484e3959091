"""Bad input to any public name is a ValueError that names the argument, shows what came and says what to give.

The names and their arguments come from the packages themselves, the bad values from the kind of each argument, which its
name tells: a new function whose arguments have the names of the field needs no line here. What is left out stands below
with its reason.
"""

import functools
import inspect
import random
import re
from pathlib import Path

import equinox
import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import optax
import pytest
import scipy.sparse as sp
import trimesh
from public import public_names

from companion import datasets, evidence, models, papers, random_graphs
from companion.evidence import costs, processes, statistics
from companion.models import ode, transformer
from companion.models.encoder import Encoder
from companion.papers.simplex import classification
from companion.papers.ugrf import hidden_values, reference
from rfcore import attention, couplings, features, gp, graphs, kernels, solvers, theory, walks
from rfcore.attention import FeatureAttention
from rfcore.couplings import walk_lengths
from rfcore.features import modulation, neural
from rfcore.graphs import Graph

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
LAYER = equinox.nn.MultiheadAttention(2, 4, key=KEY)
ENCODER = (
    Encoder(np.ones((5, 4)), np.ones((512, 4)), transformer.Norm(np.ones(4), np.zeros(4)), (transformer.layer(KEY, 4, 2),), lambda text, n: [1, 2][:n], "here"),
    lambda good: [],
)
MASK = {"mask": (np.array([[True, False]]), lambda good: [good[0], 1 * good, None, good.T])}
KEYS_SEEN = (np.array([True, False, True]), lambda good: [[0.5] * 3, [1] * 3, ["a"] * 3, True, [True], np.ones((2, 2, 3), int)])


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


def rows(good):
    """Leading axes are taken."""
    return [*points(good)[:-2], np.asarray(good)[:, :0]]


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


def or_infinity(good):
    return [bad for bad in positive(good) if bad != np.inf]


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
    return [*matrices, *map(gp.OfFeatures, [None, "a", V, np.nan * IDENTITY]), sp.linalg.aslinearoperator(IDENTITY[:2])]


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


def pair_of_coordinates(good):
    return [*vector(good), good[:1]]


def axes_of_arrays(good):
    return [None, 3, [1, 2, 3], {}, {"m": [1]}, {"m": 3}, {"m": []}, {"": good["m"]}, {"m": [None] * 3}, good | {"n": [1]}]


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


NAME = ("orthogonal", choice)
WITH_A = features.ExponentialParameters(A=np.full(2, -0.1), B_x=1.4**0.5, B_y=1.4**0.5)
NORMAL = {"mean": ([0.1, 0.2], families), "covariance": (0.1 * np.eye(2), lambda good: [*points(good), good[:1], -good])}
LEARNABLE = gp.hyperparameters()
GRAPH_FIT = gp.fit_graph(KEY, G, [2, 0], V[:2])
BOUNDS = [0.5, 2.0], lambda good: [*vector(good), [2.0, 0.5], [0.0, 1.0]]
PRODUCTS = {"U": (np.ones((2, 2, 3)), array), "V": (np.ones((2, 2, 3)), but_none(array))}
REPEATS = np.array([[1.0, 2.0], [1.1, 2.1], [0.9, 2.05]])
FAILURE = evidence.order(2.0, 1.0, exact=True)
NOTEBOOK = "simplex/06_gram_matrices"
CLAIMS = Path(__file__).parents[1] / "data" / "claims"
LEDGER = evidence.Ledger(NOTEBOOK, "quick")


class Forgetful(evidence.Ledger):
    """A ledger that may be given the same name again."""

    kept = property(lambda self: {}, lambda self, kept: None)


ENTRY = next(entry for entry in evidence.entries() if entry.notebook == NOTEBOOK)
TABLE = datasets.Regression(X, V, "t", "here")
PART = datasets.Split(X, np.array([0, 1, 1]), X[:2], np.array([0, 1]))
TASK = classification.task(PART, 2, 1.0)
FILLED = jax.jit(lambda: jax.tree.map(lambda field: field[None], features.ExponentialParameters().filled(2)))()

# A good value of each argument, by its name, and the kind of its bad ones; and where a function means another thing by the name.
ARGUMENTS = {
    "A": ([-0.1, 0.05], lambda good: [*families(good), [0.2, 0.0]]),
    "B": (np.eye(2), lambda good: [*points(good), good[:1], 0 * good]), "G": (NETWORK, other_type), "K": (IDENTITY, gram),
    "U": (np.ones((2, 2, 3)), array), "V": (np.ones((2, 2, 3)), but_none(array)), "W": (IDENTITY, points), "X": (X, points),
    "Y": (X[::-1], points), "a": (V[:1], lambda good: [*entries(good), 0 * good, -good]), "above": (REPEATS, array),
    "alpha": ([1.0, 0.5], vector), "approximate": (gp.FactoredPosterior(V, IDENTITY), other_type), "asked": ([1], some_nodes),
    "at": (V, vector), "b": (V[:1], lambda good: [*entries(good), -good]), "base": (1.0, real), "batch": (1, count),
    "below": (REPEATS, lambda good: [*array(good), 0 * good]), "beta": (0.5, probability),
    "better": (REPEATS, lambda good: [*numbers(good), good[:1]]), "bound": (3.0, numbers), "bounds": ([1.0, 0.5], families),
    "by_choice": (False, None), "c": (0.5, real), "cases": ([int], lambda good: [None, int, [], [1], "a"]), "causal": (True, flag),
    "centred": (True, flag), "claim": (None, None), "clock": (evidence.Clock(), other_type), "comparisons": (2, count_or_none),
    "complexity": (0.1, at_least_0), "confidence": (0.9, confidence), "copies": (1, None),
    "correlation": (np.array([[1.0, -0.5], [-0.5, 1.0]]), correlation), "cosine": (0.5, real), "cost": (IDENTITY, points),
    "costs": (IDENTITY, points), "coupling": ("iid", choice), "couplings": ([couplings.iid], several),
    "covariance": (0.1 * np.eye(2), lambda good: [*points(good), good[:1], -good]), "covariance_1": (IDENTITY, points),
    "covariance_2": (IDENTITY, points), "covariance_x": NORMAL["covariance"], "covariance_y": NORMAL["covariance"],
    "curve": ([0.5, 0.1], lambda good: [*vector(good), [0.1, 0.5], [0.1, 0.0]]), "curves": (IDENTITY, array), "d": (2, count),
    "dangling": ("uniform", choice), "data": ((), None), "decay": (0.9, probability), "decision": (FAILURE, other_type),
    "degree": (2, count), "degrees": (5, lambda good: [bad for bad in all_positive(good) if bad is not None]),
    "delta": (0.1, probability), "deposits": (DEPOSITS, other_type), "description": ("draws", text), "detail": ("", None),
    "diagonal": (np.ones(3), but_none(vector)), "directions": ("simplex", choice), "n_init": (2, count), "nu": (1.5, lambda good: [*real(good), 0.0, -1.0]), "distance": (1.0, near), "double": (True, flag),
    "draw_directions": (couplings.directions.simplex, function), "draw_norms": (couplings.norms.independent, function),
    "dtype": (np.float32, lambda good: [int, None, "a"]),
    "edges": (np.array([[0, 1], [1, 2]]), lambda good: [good[0], good[:1], good.T[:0], good + 0.5, -good, good + 2, "all"]),
    "entry": (ENTRY, other_type), "error": (V[:1], lambda good: [*entries(good), 0 * good, -good]),
    "estimate": (IDENTITY, lambda good: [1j * good, "a"]),
    "estimates": (np.ones((2, 3, 3)), lambda good: [*entries(good), good[0], good[:, :2], good[:0]]),
    "exact": (gp.Posterior(V, IDENTITY), other_type), "exact_noise": (0.2, some_positive), "excess": (False, flag),
    "executor": (None, other_executor), "expected": (1.0, real), "f": (F, modulating), "f1": (F, modulating), "f2": (F, modulating),
    "factor": (X, lambda good: [*matrix(good), 0 * good]), "fallback": (True, flag), "false_alarm": (0.1, probability),
    "family": ("graphs", family), "features": ("fourier", choice), "finding": ("", None),
    "fits": ({"a": lambda x, held: features.ExponentialParameters()}, lambda good: [None, 3, "a", {}, {"a": 3}]),
    "folder": (CLAIMS, lambda good: ["no such", 3]), "function": (np.exp, function), "g": (G, graph), "geometric": (False, flag),
    "given": (kernels.spectrum(G), spectrum), "gram": (lambda lengthscale: IDENTITY, function), "graphs": ([G], several),
    "helpers": ((), lambda good: [[3], [len], [lambda: 3]]), "hidden": (1, count),
    "holds": (0, lambda good: [bad for bad in count_or_none(good) if bad != 0]), "hops": ("independent", choice),
    "imports": ("", lambda good: [3, None]), "in_direction": (True, optional_flag),
    "indices": (BARE.indices, lambda good: [*nodes(good), good[:-1], [1, 2, 0, 1], [1, 2, 2, 1]]),
    "indptr": ( BARE.indptr, lambda good: [None, 3, "a", good / 1, good[None], good[::-1], good[:-1], good + 1, [0, 3, 1, 4]], ),
    "k": (2, count_from_0), "kernel": ("softmax", choice), "kernels_and_modulations": ([(kernels.inverse_cosine, F)], pairs),
    "key": (KEY, key), "keys": (jax.random.split(KEY, 2), keys), "kind": ("sparse", choice), "known": ([True, False, True], mask),
    "label_scores": (IDENTITY, points), "labels": ([0, 1, 1], labels), "largest": (2, count), "law": ("pnc", choice),
    "least": (3.0, at_least_0), "ledger": ({}, other_type), "left": (STEPS, other_type), "length": (1.0, at_least_0),
    "lengths": ([1.0, 2.0, 1.5], lengths), "lengthscale": (1.0, at_least_0), "lengthscales": BOUNDS,
    "lessons": ([LESSON], lambda good: [*other_type(good), [], [3]]), "level": (0.5, number_or_none), "limit": (0.5, number_or_none),
    "lists": (reference.as_lists(G), None), "log_conformity": (V, entries), "log_k": (X, points), "log_q": (X, points),
    "log_test": (X, points), "log_train": (X, points), "log_weights": (V, families), "longest": (2, count),
    "loss": (FORM, other_type), "losses": (FORM, lambda good: [None, [], [good, good]]), "m": (3, count_from_0),
    "margin": (0.5, positive), "max_iterations": (5, count), "max_steps": (9, some_count), "mean": ([0.1, 0.2], families),
    "mean_1": (V, vector), "mean_2": (V, vector), "mean_x": NORMAL["mean"], "mean_y": NORMAL["mean"],
    "mesh": (trimesh.creation.box(), other_type),
    "method": ("spectrum", lambda good: [bad for bad in choice(good) if bad is not None]), "miss": (0.5, number_or_none),
    "mixing": (0.3, probability), "modulations": ([F], lambda good: [[3], None]), "n": (4, count), "n_anchors": (2, count),
    "n_bins": (3, count), "n_blocks": (1, count_from_0), "n_classes": (2, lambda good: [*count(good), 1]), "n_clusters": (2, count),
    "n_communities": (2, count), "n_coordinates": (2, count), "n_copies": (2, count), "n_directions": (2, count),
    "n_draws": (2, count), "n_features": (2, count), "n_flat": (2, count), "n_groups": (2, lambda good: [*count_from_2(good), 4]),
    "n_nodes": (3, count), "n_powers": (2, count), "n_probes": (2, lambda good: [*count(good), 1]), "n_projections": (2, count),
    "n_quantiles": (3, count_from_2), "n_repeats": (2, count), "n_rounds": (1, count), "n_samples": (3, count), "n_seeds": (2, count),
    "n_seen": (2, lambda good: [*count(good), 3]), "n_steps": (2, count), "n_terms": (20, count), "n_top": (1, count),
    "n_tuning": (1, lambda good: [*some_count(good), 3]), "n_walkers": (10, count), "n_walks": (2, count), "name": ("walks", text),
    "nodes": ([0, 2], nodes), "noise": (0.1, positive), "nonzeros": (1, count), "norms": (V**2, all_pair_norms),
    "notebook": (NOTEBOOK, choice), "of": ("kernel", choice), "omega": (X, points), "only_rounding": (False, flag),
    "opposites": ("equal", choice), "optimiser": (None, None), "others": ([0, 1, 0], partition), "ours": (V, numbers),
    "over": ("blocks", choice), "p": (2, count), "p_halt": (0.5, probability), "pair": (None, None), "pairs": (False, flag),
    "paper": (0.5, number_or_none), "paper_se": (0.5, number_or_none), "parameters": (features.ExponentialParameters(), other_type),
    "part": (PART, other_type), "phases": (V, families), "phi": (IDENTITY, matrix), "phi_asked": (IDENTITY, points),
    "phi_seen": (IDENTITY, points), "phi_test": (IDENTITY, points),
    "phi_train": (IDENTITY, points), "pilot": (9, count), "pixels": (np.ones((1, 3, 2, 2)), array), "points": ("sobol", choice),
    "positive_ratio": (V**2, entries), "power": (1, positive), "predicted": (X, points), "printed": (V, vector),
    "printed_se": (V**2, vector), "products": ([0.5, -1.0], lambda good: [*entries(good), 0.5, [0.5, 3.0]]),
    "profile": ("quick", choice), "psi": (IDENTITY, matrix), "q": (X[0], array), "radius": (1.0, at_least_0),
    "rate": (0.01, positive), "ratios": ([0.1, 1.0], lambda good: [*vector(good), [0.0, 1.0]]),
    "readings": ([(neural.flat(), 0.5)], lambda good: [None, 3, [], [good[0][0]], [(3, 0.5)], [(good[0][0], 1.0)], [(*good[0], 1)]]),
    "relative": (True, flag), "repeats": (REPEATS, points), "resolution": (0.1, positive), "right": (STEPS, other_type),
    "rng": (random.Random(0), None), "robust": (False, flag), "rounding": (0.5, number_or_none), "rtol": (1e-3, some_positive),
    "rule": ("order", text), "sample": ([0, 2], nodes), "scale": (1.0, real), "scaling": ("range", choice), "scores": (V, vector),
    "se": (V**2, vector), "seconds": ([1.0, 3.0], lambda good: [*entries(good), 1.0, [1.0, 2.0, 3.0], [0.0, 1.0]]),
    "seed": (1, count_from_0), "seen": ([2, 0], nodes), "self": (BARE, None), "shape": ((2, 2, 1), shape),
    "share": (0.1, lambda good: [*probability(good), 1e-3, 0.999]), "shift": (-1.0, real), "side": ("x", choice),
    "sigma": (1.0, at_least_0), "sigmas": ([1.0], lambda good: [*vector(good), [0.0], [-1.0]]), "size": (2, count),
    "sizes": ([1.0, 2.0], lambda good: [*vector(good), [0.0, 1.0], [2.0, 2.0]]), "smallest_bias": (1.0, all_positive),
    "smallest_difference": (1.0, all_positive), "squared": (True, flag), "squares": (IDENTITY, points), "standardised": (True, flag),
    "start": ([1.0, 1.0, 0.1], lambda good: [bad for bad in vector(good) if bad is not None] + [[1.0, 0.0, 1.0]]),
    "starts": ([jax.jit(neural.flat)()], lambda good: [None, []]), "statistic": (0.5, number_or_none), "step": (1e-3, positive),
    "steps_per_epoch": (1, count), "stored": (False, flag), "sweeps": (2, count_from_0), "t": (1.0, at_least_0),
    "table": (TABLE, other_type), "target": (IDENTITY, points), "targets": (IDENTITY, points), "task": (TASK, other_type),
    "test_fraction": (0.4, lambda good: [*real(good), 0, 1, -1.0]), "theta": (IDENTITY, lambda good: [*points(good), 2 * good]),
    "times": (ode.midpoint_times(1.0, 3), other_type), "tol": (1e-7, positive), "tolerance": (0.1, positive), "truth": (X, points),
    "u": (V**2, levels), "uniform": (np.random.default_rng(0).random, uniforms), "unit": ("times", optional_text),
    "unprinted_se": (0.1, all_at_least_0), "v": (1.0, distance), "value": (1.0, positive), "values": (X, matrix),
    "variance": (0.3, positive), "vectors": (IDENTITY, matrix), "verdict": ("reproduced", verdict), "w": (1.0, lengths),
    "walkers": ([2], several), "way": ("luma", choice), "weight": (None, lambda good: ["no such", 3]),
    "weights": (BARE.weights, vector), "why": ("w", text), "width": (2, lambda good: [*some_count(good), 1]),
    "widths": ([2], several), "work": (dict, function), "worse": (2 * REPEATS, numbers), "x": (X, points), "x_test": (X, points),
    "x_train": (X, points), "y": (V, vector), "y_repeats": (REPEATS, lambda good: [*repeated(good), -REPEATS]), "z": (1.0, distance),
}  # fmt: skip

OTHERWISE = {
    "couplings.low_discrepancy.unrandomised": {
        "m": (3, lambda good: [*count_from_0(good), 10**7]), "d": (2, lambda good: [*count(good), 10**5]),
    },
    "couplings.norms.coupled": {"law": ("reversal", choice)},
    "couplings.norms.equicorrelated": {"correlation": (0.5, real)},
    "couplings.directions.equicorrelated_root": {"name": ("c", None)},
    "couplings.chi.chi_quantile": {"d": (2, lambda good: [*count(good), 10**7])},
    "couplings.copulas.draw": {"law": (couplings.copulas.reversal, function)},
    "couplings.copulas.named": {"name": ("coupling", None)},
    "couplings.copulas.permutation": {"sigma": ([1, 0], permutation)},
    "couplings.directions.simplex_product": {"x": (X, array)},
    "couplings.choose": {
        "d": (3, count), "m": (4, count), "features": ("fourier", choice), "distance": (0.5, lambda good: [np.nan, "a", [0.5], 0.0, -1.0, 4.0]),
    },
    "papers.couplings.choices.sobol_mse_ratios": {
        "rng": (np.random.default_rng(0), lambda good: []), "d": (3, count), "n_draws": (1, count), "features": ("fourier", choice),
        "n_directions": (2, count),
    },
    "papers.couplings.choices.attention_errors": {"d": (3, count), "m": (4, count), "n_draws": (2, count)},
    "couplings.fast.draw": {"coupling": NAME},
    "couplings.fast.padded": {"d": (3, count)},
    "couplings.fast.Frequencies.project": {"self": (FAST, None), "unit": (1.0, None)},
    "couplings.frequencies.Dense.project": {"self": (couplings.frequencies.of(X), None), "unit": (1.0, None)},
    "couplings.frequencies.Weighted.project": {"self": (couplings.frequencies.weighted(X, V), None), "unit": (1.0, None)},
    "couplings.frequencies.of": {"d": (2, None)},
    "couplings.frequencies.normal": {"factor": (IDENTITY[:2, :2], points)},
    "couplings.fast.walsh_hadamard": {"x": (X, array)},
    "couplings.walk_lengths.draw": {"key": (KEY, host_key)},
    "couplings.walk_lengths.geometric_quantile": {"u": ([0.2, 0.5], array)},
    "couplings.copulas.over": {"law": ("sobol", choice)},
    "couplings.copulas.pairs": {"law": ("reversal", choice), "name": ("law", None)},
    "walks.recipe": {"key": (KEY, host_key)},
    "features.log_exponential": {"side": ("y", choice)},
    "features.mean_and_se": {"estimates": (X, lambda good: [*entries(good), 1.0, good[:1]])},
    "features.walk_features": {"key": (KEY, host_key)},
    "features.gram_error": {"target": (IDENTITY, lambda good: [good[:2], 0 * good, np.nan * good])},
    "features.WalkFeatures.with_modulation": {"self": (PHI, None)},
    "features.StreamedFeatures.with_modulation": {"self": (STREAMED, None)},
    "features.DepositsByStep.with_modulation": {"self": (STEPS, None)},
    "features.DepositFeatures.with_modulation": {"self": (WEIGHED, None)},
    "papers.ugrf.reference.walk_features": {"nodes": ([0, 2], None)},
    "features.modulation.deconvolve": {"alpha": ([1.0, 0.5], vector_or_function)},
    "features.modulation.from_taylor": {"alpha": ([1.0, 0.5], vector_or_function)},
    "features.modulation.from_values": {"values": ([1.0, 0.5], vector)},
    "features.modulation.p_step": {"alpha": (2.0, positive)},
    "features.modulation.of_kernel": {"kernel": (kernels.Diffusion(1.0), other_type)},
    "features.modulation.regularised_laplacian": {"d": (2, positive)},
    "features.modulation.tilted": {"g": ([0.0, 0.5], vector)},
    "features.modulation.to_taylor": {"n_terms": (5, count)},
    "kernels.gaussian": {"Y": (X, points)},
    "kernels.softmax": {"Y": (X, points)},
    **{
        name: {"g": (BARE, graph)}
        for name in ["kernels.diffusion", "kernels.inverse_cosine", "kernels.exponential", "kernels.function_of_weights",
         "kernels.power_series_rows", "kernels.spectrum", "kernels.power_series"]
    },
    "kernels.regularised_laplacian": {"g": (BARE, graph), "d": (2, positive)},
    "kernels.p_step": {"g": (BARE, graph), "alpha": (2.0, positive)},
    "kernels.OfLaplacian.dense": {"self": (kernels.Diffusion(1.0), None), "g": (BARE, graph)},
    "kernels.Diffusion.taylor": {"self": (kernels.Diffusion(1.0), None), "k": (3, lambda good: [None, -1, "a", 1.5])},
    "kernels.RegularisedLaplacian": {"d": (2, positive)},
    "kernels.RegularisedLaplacian.taylor": {
        "self": (kernels.RegularisedLaplacian(1.0, 2), None), "k": (3, lambda good: [None, -1, "a", 1.5]),
    },
    "kernels.PStep": {"alpha": (2.0, positive)},
    "kernels.PStep.taylor": {"self": (kernels.PStep(2.0, 2), None), "k": (3, lambda good: [None, -1, "a", 1.5])},
    "kernels.InverseCosine.taylor": {"self": (kernels.InverseCosine(), None), "k": (3, lambda good: [None, -1, "a", 1.5])},
    "kernels.Spectrum.at": {"self": (kernels.spectrum(G), None)},
    "kernels.chebyshev_product": {"v": (V, array), "degree": (3, count)},
    "kernels.exponential_product": {"g": (BARE, graph), "v": (V, array)},
    "theory.log_sampling_cost": {"law": (theory.NormalLaw(np.zeros(2), np.eye(2), 0.0, 0.0, 0.0), lambda good: [None, "normal"])},
    "papers.equivalence.joint_sampling.log_joint_variance_floor": {"m": (2, count)},
    "papers.equivalence.joint_sampling.optimal_overlaps": {"covariance": NORMAL["covariance"]},
    "papers.equivalence.joint_sampling.mean_overlap": {"coupling": ("orthogonal", choice)},
    "papers.favor.formulas.log_second_moment": {"parameters": (WITH_A, other_type)},
    "papers.favor.formulas.trigonometric": {"y": (X, points)},
    "papers.favor.formulas.generalised_exponential": {"A": (-0.1, lambda good: [*real(good), 0.125])},
    "papers.simplex.fast_bias.fast_bias": {"v": (V, vector), "coupling": ("simplex_fast", choice)},
    "papers.simplex.fast_bias.relative_mean": {"v": (1.0, lambda good: [*at_least_0(good), 21.0])},
    "papers.simplex.formulas.corners": {"d": (3, count_from_2)},
    "papers.simplex.formulas.product": {"x": (V, lambda good: [*vector(good), [1.0]])},
    "papers.simplex.formulas.sweep": {"lengths": (V, vectors)},
    **{
        name: {"x": (V, vector), "y": (V[::-1], vector), "m": (3, count), "coupling": NAME}
        for name in ["theory.positive_mse", "theory.fourier_mse", "theory.positive_gap", "theory.fourier_gap"]
    },
    "papers.simplex.gram_matrices.squared_errors": {
        "widths": ([3], lambda good: [3, "3", None, [0], [2.5]]),
        "couplings": (["simplex"], lambda good: ["simplex", 3, None, ["no such"]]),
    },
    "theory.positive_mse_ratio": {"d": (3, count_from_2), "m": (3, count), "coupling": ("simplex", choice)},
    "theory.fourier_mse_ratio": {"d": (3, count_from_2), "m": (3, count), "coupling": ("simplex", choice)},
    **{
        name: {"d": (3, count), "m": (3, count)}
        for name in ["papers.simplex.formulas.fourier_mse_ratio_asymptotic", "theory.fourier_floor", "theory.partners",
         "papers.simplex.formulas.fourier_mse_ratio"]
    },
    "theory.log_positive_cost": {"v": (1.0, positive), "d": (3, count)},
    "theory.fourier_cost": {"z": (1.0, positive), "d": (3, count), "excess": (True, flag)},
    "papers.simplex.arrangements.independent_conformity": {"v": (1.0, positive), "d": (3, count)},
    "papers.simplex.arrangements.shortest_sum": {"norms": (V**2, norms_of_vectors)},
    "papers.simplex.arrangements.mse_ratio": {"v": (V**2, lengths), "m": (3, count)},
    "papers.couplings.close_points.convex_radius": {"d": (3, count)},
    "theory.norm_coupling_ratio": {"d": (3, count_from_2), "m": (3, count_from_2)},
    "papers.couplings.attention_rows.row_covariance": {"k": (X, points), "m": (3, count), "cosine": (0.0, real)},
    "theory.stratified_norms_ratio": {"d": (3, count), "m": (6, count)},
    "papers.couplings.matern_errors.matern_mse_ratio": {"nu": (1.5, or_infinity), "d": (3, count_from_2), "over": ("block", choice)},
    "papers.couplings.matern_errors.matern_norm_share": {"nu": (1.5, or_infinity), "d": (3, count_from_2)},
    "theory.cosh_ratio": {"v": (1.0, positive)},
    "theory.one_frequency_mse": {"distance": (1.0, positive), "features": ("cosh", choice)},
    "theory.log_pair_excess": {"correlation": (0.5, lambda good: [*entries(good), 1.1]), "d": (3, count_from_2)},
    "papers.couplings.block_errors.block_mse_ratio": {
        "distance": (1.0, lambda good: [*entries(good), -1.0]), "d": (3, count_from_2), "features": ("positive", choice),
    },
    "papers.couplings.leaderboard.of_points": {
        "maps": (["fourier"], lambda good: ["fourier", 3, None, [], ["no such"]]), "couplings": ([couplings.iid], several),
        "m": (4, lambda good: [*count(good), 3]), "n_repeats": (2, count),
    },
    "papers.couplings.leaderboard.of_walks": {"target": (IDENTITY, gram), "n_repeats": (2, count)},
    "papers.couplings.leaderboard.loss_of_walks": {"target": (IDENTITY, gram), "n_repeats": (2, count), "n_steps": (3, some_count)},
    "papers.couplings.leaderboard.over": {
        "errors": (np.ones((3, 2)), lambda good: [*entries(good), good[:2]]), "plain": (V + 1, lambda good: [*vector(good), 0 * good]),
        "confidence": (0.9, probability),
    },
    "papers.simplex.two_frequencies.squared_error_at_angle": {"x": (V[:2], pair_of_coordinates), "y": (V[1:], pair_of_coordinates), "angle": (V, array)},
    "papers.couplings.gram_norms.gram_rmse": {"features": ("positive", choice), "n_nodes": (2, count)},
    "papers.couplings.gram_norms.gram_pair_excess": {"correlation": (0.5, lambda good: [*entries(good), 1.1]), "n_nodes": (2, count)},
    "papers.couplings.close_points.guarantee": {"d": (3, count_from_2), "law": ("independent", choice)},
    "papers.simplex.sign_change.fourier_threshold": {"d": (3, count_from_3)},
    "theory.log_conformity": {"d": (3, count_from_2), "coupling": ("simplex", choice)},
    "theory.log_conformity_at_angle": {"d": (3, count), "cosine": (0.5, entries)},
    "theory.log_conformity_of_directions": {"directions": (X, points)},
    "papers.simplex.pair_densities.log_pair_density": {"d": (3, count_from_2), "coupling": ("simplex", choice)},
    "papers.simplex.pair_densities.log_pair_density_at_angle": {"d": (3, count), "cosine": (0.5, entries)},
    "papers.simplex.formulas.orthogonal_conformity": {"v": (1.0, at_least_0), "d": (3, count)},
    "papers.simplex.formulas.simplex_conformity": {"v": (1.0, at_least_0), "d": (3, count_from_2)},
    "papers.simplex.formulas.positive_gap": {"x": (V, vector), "m": (3, count)},
    "papers.simplex.formulas.error_prefactor": {"d": (3, count_from_2)},
    "papers.simplex.formulas.fourier_gap": {"x": (V, vector), "m": (3, count)},
    "papers.simplex.formulas.pair_density": {"d": (3, count)},
    "papers.simplex.formulas.pair_density_at_angle": {"d": (3, count), "n_nodes": (20, count)},
    "papers.couplings.formulas.sum_cost": {"v": (1.0, at_least_0), "d": (3, count)},
    "papers.couplings.formulas.chi_square_moment": {"k": (2, count), "d": (3, count)},
    "papers.ugrf.formulas.alpha_regularised_laplacian": {"sigma": (1.0, positive)},
    "papers.ugrf.formulas.alpha_p_step": {"alpha": (3.0, positive)},
    "papers.ugrf.formulas.alpha_diffusion": {"sigma": (1.0, positive)},
    "papers.ugrf.formulas.batch_size_approximation": {"n_walkers": (3, count)},
    "walk_errors.joint_survival": {"coupling": ("stratified", choice)},
    "walk_errors.walk_feature_moments": {"coupling": ("reversal", choice)},
    "walk_errors.walk_gram_mse": {"coupling": ("reversal", choice)},
    "walk_errors.walk_gram_mses": {"couplings": (["reversal"], lambda good: ["reversal", 3])},
    "papers.ugrf.definiteness.definite_radius": {"alpha": ([1.0, 0.5], lambda good: [*vector(good), [0.0, 1.0], [-1.0, 0.5]])},
    "papers.couplings.equal_walkers.of_curve": {"walkers": ([4, 16], lambda good: [*vector(good), [16, 4], [0, 4]])},
    **{
        f"attention.{name}": dict.fromkeys(of, (X, rows)) | {"v": (X, lambda good: [*rows(good), good[:2]]), "mask": KEYS_SEEN}
        for name, of in {"softmax": ["q", "k"], "linear": ["phi_q", "phi_k"], "linear_of_logs": ["log_q", "log_k"]}.items()
    },
    "attention.FeatureAttention": {"attention": (LAYER, other_type), "n_features": (4, count), "causal": (False, flag), "coupling": (couplings.iid, function)},
    "attention.by_features": {
        **dict.fromkeys(["q", "k"], (X[None], lambda good: [*entries(good), good[0], np.stack(2 * [good[0]])])),
        "v": (X[None], lambda good: [*entries(good), good[:, :2]]), "omega": (X[None], lambda good: [*entries(good), good[0], good[:, :, :1]]),
        "mask": KEYS_SEEN, "causal": (False, flag),
        "parameters": (features.ExponentialParameters(), lambda good: [bad for bad in other_type(good) if bad is not None]),
    },
    "attention.dot_product_attention": {
        **dict.fromkeys(["query", "key"], (X[None], lambda good: [*entries(good), good[0]])), "value": (X[None], lambda good: [*entries(good), good[:, :2]]),
        "omega": (X[0][None], lambda good: [*entries(good), good[0], good[:, :1]]), "scale": (1.0, lambda good: [bad for bad in positive(good) if bad is not None]), "is_causal": (False, flag),
        "mask": (np.ones((1, 1, len(X[None])), bool), lambda good: [good[0], np.ones((2, 1, 3), bool), 1.0 * good, "a"]),
        "parameters": (features.ExponentialParameters(), lambda good: [bad for bad in other_type(good) if bad is not None]),
    },
    "models.transformer.layer": {"width": (4, lambda good: [*count(good), 5]), "n_heads": (2, count)},
    "models.transformer.linear": {"n_in": (2, count), "n_out": (2, count)},
    "models.encoder.Encoder.tokens": {
        "self": ENCODER, "sentences": (["a b"], lambda good: [None, "a", [], [3], 3.0]), "max_length": (8, lambda good: [*count(good), 1, 513]),
    },
    **{
        f"models.encoder.Encoder.{name}": {
            "self": ENCODER, "ids": (np.array([[1, 2]]), lambda good: [good[0], 1.0 * good, [["a"]], None, -good, 9 * good, np.ones((1, 513), int)]),
        } | more
        for name, more in {"start": {}, "heads": MASK, "embed": MASK | {"attention": (attention.softmax, lambda good: [None, 3, [good, good], [3], "a"])}}.items()
    },
    "attention.FeatureAttention.calibrated": {
        **dict.fromkeys(["query", "key_", "value"], (np.ones((3, 4)), points)), "self": (FeatureAttention(LAYER, 4, key=KEY), lambda good: []),
        "fit": (solvers.exponential.gerf, function), "process_heads": (None, lambda good: []),
    },
    "papers.couplings.attention_rows.leading_error": {"kernel": (V**2, array), "covariance": (IDENTITY, array)},
    "papers.couplings.attention_rows.row_error": {"kernel": (np.ones((3, 3)), lambda good: [*entries(good), good[0], good[:2], 0 * good])},
    "papers.couplings.formulas.attention_error": {
        "kernel": (np.ones((3, 3)), lambda good: [*entries(good), good[0], good[:2], 0 * good]),
    },
    "papers.simplex.classification.task": {"sigma": (1.0, positive)},
    "papers.simplex.classification.public_task": {
        "table": (datasets.Classification(np.eye(20), np.arange(20) % 2, ("a", "b"), "wifi", "here"), other_type),
    },
    "papers.simplex.classification.accuracies": {"n_blocks": (1, count)},
    "papers.favor.exponential_votes.accuracies": {
        "parameters": ({"a": FILLED}, lambda good: [None, 3, "a", {}, {"a": 3}, {"a": WITH_A}]),
        "widths": ([2, 3], lambda good: [*vector(good), [0], [1.5]]),
    },
    "models.clustering.labels_around": {"kernel": (IDENTITY, points)},
    "models.clustering.kernel_k_means": {"kernel": (IDENTITY, points)},
    "models.clustering.k_means": {"kernel": (IDENTITY, points)},
    "models.clustering.pair_error": {"labels": ([0, 1, 1], partition)},
    "papers.ugrf.generalisation.rademacher_trace_bound": {"sample": ([0, 2], samples)},
    "papers.ugrf.eight_graphs.shared_errors": {"targets": ([IDENTITY], lambda good: [[], good * 2, [1j * IDENTITY]])},
    "papers.ugrf.learned_modulations.loss_of_walks": {"n_steps": (3, some_count)},
    "papers.ugrf.learned_modulations.best_scale": {"f": (F, function)},
    "papers.ugrf.learned_modulations.learn_each": {"optimiser": (optax.adam(0.1), lambda good: [3, "a"])},
    "papers.ugrf.eight_graphs.draw": {"name": ("binary_tree", choice)},
    "papers.ugrf.eight_graphs.target": {"g": (G, lambda good: [*graph(good), BARE])},
    "papers.ugrf.eight_graphs.errors": {"g": (G, lambda good: [*graph(good), BARE])},
    "papers.ugrf.generalisation.taylor_bounds": {"n_terms": (3, count)},
    "papers.ugrf.fits.smooth": {"x": (V, vector), "degree": (1, lambda good: [*count_from_0(good), 3])},
    "papers.ugrf.fits.held_out": {"curves": (IDENTITY, points)},
    "papers.ugrf.generalisation.sign_supremum": {"sample": ([0, 2], lambda good: [*nodes(good), list(range(3)) * 6])},
    "papers.ugrf.generalisation.rademacher_complexity": {"n_draws": (4, count_from_2)},
    "papers.ugrf.generalisation.rademacher_repeats": {"n_draws": (4, count_from_2)},
    "papers.ugrf.generalisation.margin_loss": {"labels": ([1.0, -1.0, 1.0], vector)},
    "papers.ugrf.generalisation.margin_bound": {"loss": (0.1, at_least_0), "n_samples": (5, count)},
    "gp.posterior": {"y": (V[:2], vector), "covariance": (True, flag)},
    "gp.factored_posterior": {"phi": (IDENTITY, points), "y": (V[:2], vector)},
    "gp.mean_weights": {
        "phi": (PHI, lambda good: [bad for bad in sparse_symmetric(good) if not sp.issparse(bad)] + [STREAMED, sp.csr_array(np.nan * IDENTITY)]),
    },
    "gp.fit_gaussian": {"lengthscale": (1.0, some_positive)},
    "gp.log_evidence_by_probes": {
        "phi": (PHI, lambda good: [bad for bad in sparse(good) if bad is not STREAMED]),
        "n_steps": (2, lambda good: [*count(good), 1]),
    },
    "gp.hyperparameters": {"variance": (0.5, positive), "lengthscale": (0.5, positive), "noise": (0.5, positive)},
    "gp.diffusion_covariance": {"parameters": (LEARNABLE, other_type), "g": (kernels.spectrum(G), spectrum)},
    "gp.diffusion_features": {"parameters": (LEARNABLE, other_type), "deposits": (STEPS, other_type)},
    "gp.loss": {"parameters": (LEARNABLE, other_type)},
    "gp.fit_graph": {"key": (KEY, host_key), "y": (V[:2], lambda good: [*vector(good), 0 * good])},
    "gp.GraphFit.predict": {
        "self": (GRAPH_FIT, None), "asked": ([1], lambda good: [bad for bad in some_nodes(good) if bad is not None]),
    },
    **{
        name: {"nodes": ([2, 0], nodes)}
        for name in ["papers.ugrf.blocks.by_walks", "papers.ugrf.blocks.by_columns", "papers.ugrf.blocks.by_push", "papers.ugrf.blocks.powers",
         "papers.ugrf.blocks.deposits"]
    },
    "gp.fit_diffusion": {"n_steps": (2, lambda good: [*count(good), 1])},
    "papers.couplings.traffic_gp.predicted": {"K": (IDENTITY, points)},
    "papers.couplings.traffic_gp.compared": {
        "K": (IDENTITY, points), "exact": (gp.Posterior(V[:1], IDENTITY[:1, :1]), other_type),
    },
    "papers.couplings.traffic_gp.profile": {
        "B": (IDENTITY, points), "y": (V[None], lambda good: [*entries(good), good[0], good[:, :2]]),
    },
    "papers.couplings.traffic_gp.learn_on_grid": {
        "y": (V[None], lambda good: [*entries(good), good[0], good[:, :2]]), "lengthscales": ([0.5, 2.0], vector),
    },
    "papers.couplings.predictives.predictive_kl": {"approximate": (gp.Posterior(V, IDENTITY), other_type)},
    "papers.ugrf.hidden_values.hide": {"n_nodes": (20, count)},
    "papers.ugrf.hidden_values.lesson": {"values": (X, points), "share": (0.4, probability)},
    "papers.ugrf.hidden_values.loss": {
        "f": (F, function), "deposits": (STEPS, other_type), "hidden": ([1], lambda good: [*nodes(good), None, []]),
    },
    "papers.ugrf.hidden_values.error": {"f": (F, function)},
    "papers.ugrf.hidden_values.exact_error": {"f": (F, function), "values": (X, points)},
    "papers.ugrf.hidden_values.directions_in_turn": {"f": (F, function)},
    "papers.ugrf.hidden_values.weighted_sums": {"kernel": (IDENTITY, points)},
    "models.ode.uniform_times": {"n_repeats": (2, count_or_none)},
    "models.ode.stratified_times": {"n_repeats": (2, count_or_none)},
    "models.ode.midpoint_times": {"n_repeats": (2, count_or_none)},
    "models.ode.relative_errors": {"x": (V, vectors), "exact": (V, vector)},
    "models.pagerank.estimate": {"key": (KEY, host_key), "n_repeats": (2, some_count)},
    "models.regression.scores_of_logs": {"widths": ([1, 2], lambda good: [*vector(good), [0], [3], [1.5]])},
    "papers.simplex.best_directions.optimised": {
        "v": (1.0, positive), "start": (IDENTITY, lambda good: [bad for bad in points(good) if bad is not None]),
    },
    "papers.simplex.best_directions.weight_independent": {"start": (X, points), "v": (1.0, positive)},
    "solvers.exponential.of_law": {"mean": NORMAL["mean"], "covariance": (np.eye(2), NORMAL["covariance"][1])},
    "solvers.exponential.best_A": {"phi": ([0.0, 1.0], lambda good: [*entries(good), -0.1])},
    "solvers.sampling.of_phases": {"m": (3, count), "Y": (X, but_none(points))},
    "solvers.sampling.of_points": {"law": ("stratified", but_none(choice))},
    "solvers.sampling.of_two_sets": {"m": (3, count)},
    "solvers.gram.form": {"n_steps": (2, lambda good: [bad for bad in count(good) if bad is not None])},
    "papers.couplings.copula.correlation_factor": {"theta": (V, lambda good: [*vector(good), [0.1, 0.2]])},
    "papers.couplings.copula.learn": {
        "loss": (lambda key, norms: jnp.sum(norms), function), "d": (2, count_from_2),
        "start": ([0.1], lambda good: [bad for bad in vector(good) if bad is not None]),
    },
    "papers.couplings.copula.optimal": {"d": (3, count_from_2)},
    "papers.couplings.multi_marginal.solve": {"m": (2, lambda good: [*count_from_2(good), 10**3])},
    "papers.couplings.multi_marginal.two_norms": {"distance": (1.0, positive), "d": (3, count)},
    "papers.couplings.multi_marginal.norm_bound": {
        "d": (3, count_from_2), "m": (2, lambda good: [*count_from_2(good), 4]), "n_bins": (2, count_from_2),
    },
    "solvers.transport.bin_features": {"nodes": ([0, 2], some_nodes)},
    "solvers.transport.simulated_bin_features": {"nodes": ([0, 2], some_nodes)},
    "solvers.transport.pair_products": {"psi": (X, averages)},
    "solvers.transport.quadratic_cost": {"sigma": ([1, 0], permutation)},
    "solvers.transport.pagerank_mse": {
        "n_walks": (2, lambda good: [*count(good), 3]),
        "sigma": ([1, 2, 0], lambda good: [bad for bad in permutation(good) if bad is not None]),
    },
    "solvers.transport.by_projections": {"U": PRODUCTS["U"]},
    "solvers.descent.learn": {
        "loss": (lambda f: jnp.sum(f(np.arange(3)) ** 2), function), "f": (neural.flat(), None),
        "key": (None, lambda good: [bad for bad in key(good) if bad is not None]),
    },
    "graphs.Graph.from_edges": {"n_nodes": (3, some_count), "weights": ([1.0, 2.0], but_none(vector))},
    "graphs.Graph.from_mesh": {"nodes": ("faces", choice)},
    "graphs.Graph.scaled": {"factor": (2.0, lambda good: [*real(good), 0.0])},
    "evidence.Decision": {
        "why": ("", None), "ours": (0.5, number_or_none), "se": (0.5, number_or_none), "repeats": (2, count_or_none),
    },
    "evidence.Decision.as_dict": {"self": (FAILURE, None)},
    "evidence.Ledger.decide": {"self": (LEDGER, None), "table": ({ENTRY.claims[0].id: FAILURE}, decisions)},
    "evidence.Ledger.keep": {
        "self": (Forgetful(NOTEBOOK, "quick"), None), "name": ("error", text), "array": (V, lambda good: numbers(good)[1:]), "axes": ({"m": [1, 2, 3]}, axes_of_arrays),
    },
    "evidence.Ledger.key": {"self": (LEDGER, None)},
    "evidence.Ledger.rng": {"self": (LEDGER, None)},
    "evidence.Ledger.close": {"self": (LEDGER, None)},
    "evidence.agree": {
        "se": (0.1, all_at_least_0), "paper": (V, numbers), "paper_se": (0.1, all_at_least_0), "rounding": (0.1, all_at_least_0),
    },
    "evidence.bound": {
        "value": (REPEATS, numbers), "se": (None, lambda good: [0.1, "a"]), "side": ("below", choice), "exact": (False, flag),
    },
    "evidence.claims_of": {"notebook": (NOTEBOOK, text)},
    "evidence.processes.in_a_process": {"function": (three, lambda good: [*function(good), len, lambda: 3])},
    "evidence.erratum": {"decision": (FAILURE, lambda good: [*other_type(good), evidence.bound(1.0, 2.0, exact=True)])},
    "evidence.identity": {"exact": (V, numbers), "relative": (False, flag)},
    "evidence.in_batches": {"function": (jax.random.normal, function)},
    "evidence.kept": {"page": ("beyond/05_leaderboard", text), "name": ("error over independent", choice)},
    "evidence.order": {"exact": (False, flag)},
    "evidence.printed": {"table": ("simplex_table2", choice)},
    "evidence.statistics.kept": {
        "ours": (X, lambda good: [*numbers(good), good[0]]), "paper": (X, numbers), "paper_se": (0 * X + 0.1, all_at_least_0),
    },
    "evidence.slope": {"x": ([1.0, 2.0], lambda good: [*vector(good), [0.0, 1.0], [1.0, 1.0]])},
    "evidence.tail_index": {"values": ([1.0, 3.0, 2.0], vector)},
    "evidence.unbiased": {"estimates": (REPEATS, repeated), "truth": (1.5, numbers)},
    "evidence.value": {
        "ours": (1.0, real), "se": (0.1, at_least_0), "paper": (1.1, real), "paper_se": (0.1, at_least_0),
        "unprinted_se": (0.1, at_least_0), "rounding": (0.1, at_least_0),
        "resolution": (1.0, lambda good: [bad for bad in positive(good) if bad is not None]),
    },
    "datasets.classification": {"name": ("wifi", choice)},
    "datasets.find": {"name": ("karate", choice)},
    "datasets.graph": {"name": ("karate", choice)},
    "datasets.resize": {"pixels": (np.ones((2, 4, 4)), array), "size": (2, lambda good: [*count(good), 5]), "way": ("area", choice)},
    "datasets.images": {"name": ("mnist", choice)},
    "datasets.mesh": {"name": ("torus", choice)},
    "datasets.regression": {"name": ("concrete", choice)},
    "datasets.sentences": {"part": ("dev", choice)},
    "papers.ugrf.large_graphs.ring_with_chords": {"n": (5, count_from_3)},
    "papers.ugrf.large_graphs.communities": {"n": (5, count_from_3)},
    "papers.ugrf.large_graphs.streets": {"side": (3, count_from_3), "p": (0.5, probability)},
    "random_graphs.erdos_renyi": {"n": (5, count), "p": (0.5, probability)},
    "random_graphs.regular": {"n": (6, count), "degree": (3, lambda good: [*count(good), 6])},
    "walks.simulate": {"key": (KEY, host_key), "lengths": (LENGTHS, other_type), "nodes": ([0, 1, 2], nodes)},
}  # fmt: skip

# Good calls that compile for more than half a second, read data or write; they are made in the tests of their modules.
SLOW = {
    "couplings.directions.haar", "couplings.orthogonal", "couplings.simplex", "couplings.halton", "couplings.norms.pnc",
    "gp.posterior", "gp.factored_posterior", "papers.couplings.predictives.divergences", "gp.fit_gaussian", "papers.simplex.pair_densities.log_pair_density",
    "papers.simplex.formulas.pair_density_at_angle", "couplings.simplex_plus", "couplings.sobol", "couplings.norms.positive_monotone",
    "papers.simplex.pair_densities.log_pair_density_at_angle", "theory.fourier_mse", "gp.log_evidence", "couplings.orthogonal_fast", "gp.loss", "gp.fit_graph",
    "papers.couplings.predictives.predictive_kl", "gp.fit_diffusion",
    "couplings.simplex_fast", "couplings.orthogonal_pnc", "couplings.orthogonal_pm", "couplings.orthogonal_copula",
    "couplings.weight_dependent.balance", "features.neural.random", "papers.simplex.best_directions.optimised",
    "papers.simplex.best_directions.weight_independent", "solvers.descent.learn", "papers.couplings.copula.learn", "papers.couplings.copula.optimal", "attention.linear",
    "attention.linear_of_logs", "theory.positive_mse", "theory.log_conformity_of",
    "theory.log_conformity_of_directions", "theory.log_conformity_at_angle",
    "datasets.classification", "datasets.graph", "datasets.images", "datasets.mesh", "datasets.regression",
    "datasets.sentences", "datasets.traffic", "solvers.sampling.of_normal", "solvers.sampling.of_phases", "solvers.sampling.of_points",
    "solvers.sampling.of_two_sets", "theory.optimal_normal", "theory.log_sampling_cost", "papers.equivalence.joint_sampling.optimal_overlaps", "papers.equivalence.joint_sampling.log_joint_variance_floor",
    "trigonometric.trigonometric_least_variance", "theory.log_optimal_variance_bound", "features.dense", "solvers.exponential.of_law",
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
            "gp.Evidence", "gp.GraphFit", "gp.OfFeatures", "gp.Hyperparameters", "gp.Posterior", "models.ode.Times", "solvers.descent.Learned", "solvers.gram.Form", "walks.Deposits",
            "papers.couplings.attention_rows.RowError", "gp.GaussianFit", "models.encoder.Encoder", "models.transformer.Heads", "models.transformer.Linear",
            "models.transformer.Norm", "models.transformer.Layer", "papers.couplings.predictives.Divergences", "gp.FactoredPosterior",
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
            "solvers.descent.descend", "papers.couplings.block_errors.check_opposites", "papers.couplings.block_errors.has_table", "models.encoder.pooled", "models.transformer.Layer.heads",
        ],
        INNER,
    ),
}  # fmt: skip


PUBLIC = public_names(
    couplings, features, kernels, theory, attention, gp, models, solvers, graphs, random_graphs, walks, evidence, datasets, papers,
    processes, costs, statistics,
)
# What trains or measures a transformer hands its parts from one function to the next.
EXPERIMENTS = ("papers.favor.real_heads.", "papers.favor.in_encoder.", "papers.favor.better_maps.", "papers.favor.language.", "papers.favor.attention_costs.", "papers.simplex.vision.")
LEFT |= dict.fromkeys([name for name in PUBLIC if name.startswith(EXPERIMENTS)], "is a step of an experiment, from the step before")
NOT_LOOKED_AT = {"progress", "shared", "is_normalised"}


def row(name):
    """A good value and the kind of the bad ones for each argument of a function."""
    asked = inspect.signature(PUBLIC[name]).parameters.values()
    parameters = [p.name for p in asked if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in NOT_LOOKED_AT]
    known = ARGUMENTS | OTHERWISE.get(name, {})
    missing = [p for p in parameters if p not in known]
    assert not missing, f"{name}: give ARGUMENTS, or OTHERWISE for it, a good value and a kind for {missing}"
    return {p: known[p] for p in parameters}


ROWS = {name: row(name) for name in PUBLIC if name not in LEFT}
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
# Take the rounding of what they are given from its type; or answer in it.
ROUNDED = {"evidence.unbiased"} | {
    f"attention.{name}" for name in ("by_features", "dot_product_attention", "linear", "linear_of_logs", "softmax", "FeatureAttention.calibrated")
}


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
        if (dtype is np.bool_ and not is_0_or_1) or (np.dtype(dtype) in (np.float16, jnp.bfloat16) and name in ROUNDED):
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


def test_nothing_stands_in_the_tables_for_nothing():
    assert set(LEFT) | set(OTHERWISE) | SLOW <= set(PUBLIC)
    assert not set(LEFT) & set(OTHERWISE)
    used = {(name, argument) for name, row in ROWS.items() for argument in row}
    assert all((name, argument) in used for name, otherwise in OTHERWISE.items() for argument in otherwise)
    assert set(ARGUMENTS) <= {argument for name, argument in used if argument not in OTHERWISE.get(name, {})}


def test_what_a_compiled_function_has_captured_is_checked_like_any_value():
    good, bad, K, y = jnp.asarray(V)[None], jnp.asarray(V).at[0].set(jnp.nan)[None], jnp.eye(3), jnp.asarray(V)
    crooked = K.at[0, 1].set(0.5)
    assert np.allclose(jax.jit(lambda x: kernels.gaussian(x, good))(good), 1.0)
    assert np.isfinite(jax.jit(lambda noise: gp.log_evidence(K, y, noise))(0.1))
    with pytest.raises(ValueError, match="Y has 1 NaN"):
        jax.jit(lambda x: kernels.gaussian(x, bad))(good)
    with pytest.raises(ValueError, match="K is not symmetric"):
        jax.jit(lambda noise: gp.log_evidence(crooked, y, noise))(0.1)


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
