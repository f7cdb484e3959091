"""Modulations learned on a small graph: the loss of its walks, two numbers in place of a network, many trainings at once."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rfcore import checks, walks
from rfcore.couplings import walk_lengths
from rfcore.features.deposits import by_step
from rfcore.solvers import descent, gram

__all__ = ["Geometric", "best_scale", "learn_each", "loss_of_walks", "staircase"]


class Geometric(NamedTuple):
    """Modulation ``f(k) = c r^k``, itself the function and a pytree of its two numbers.

    On weights beta W it is c times the flat one on r beta W: a kernel of another length scale.

    Notes
    -----
    Ours.
    """

    c: jax.Array
    r: jax.Array

    def __call__(self, k):
        """Values at an integer array of lengths."""
        return self.c * self.r ** jnp.asarray(k)


def loss_of_walks(key, g, target, n_walks, p_halt, n_repeats, n_steps=10):
    """Mean squared relative error of Gram matrices from shared walks, as a function of the modulation.

    Parameters
    ----------
    key : JAX PRNG key
    g : rfcore.graphs.Graph
        Small: see :func:`rfcore.solvers.gram.form`.
    target : array, shape (N, N)
    n_walks : int
        Per node and repeat, independent, the same for rows and columns.
    p_halt : float
    n_repeats : int
    n_steps : int
        Steps counted.

    Returns
    -------
    rfcore.solvers.gram.Form

    Raises
    ------
    ValueError
        If a number is out of its range, or the target is no finite matrix that fits the graph.

    Notes
    -----
    Universal Graph Random Features, Section 3.4.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import graphs, kernels
    >>> from rfcore.features import neural
    >>> from rfcore.solvers import modulations
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> K = kernels.regularised_laplacian(g, 1.0, 2) * 4  # (I - W/2)^-2
    >>> loss = modulations.loss_of_walks(jax.random.key(0), g.scaled(0.5), K, 100, 0.5, 8)
    >>> bool(loss(neural.flat()) < 0.02)
    True
    """
    n_repeats, n = checks.count(n_repeats, "n_repeats"), checks.graph(g).n_nodes
    target = checks.numbers(target, "target")
    if target.shape != (n, n):
        raise ValueError(f"target has shape {target.shape}; give ({n}, {n}), the size of the graph")
    nodes = np.tile(np.arange(n), n_repeats)
    of_lengths, of_hops = jax.random.split(checks.key(key))
    lengths = walk_lengths.draw(of_lengths, len(nodes), n_walks, p_halt)
    stored = by_step(walks.simulate(of_hops, g, lengths, nodes=nodes))
    return gram.form(stored, stored, target, n_steps)


def best_scale(loss, f):
    """The c for which c f has the least loss, and that least loss.

    ::

        loss(c f) = A c^4 - 2 B c^2 + 1,   c = sqrt(B / A)

    Parameters
    ----------
    loss : rfcore.solvers.gram.Form
    f : function of an integer array
        Of values that are not negative, and not all 0.

    Returns
    -------
    (float, float)

    Raises
    ------
    ValueError
        If the loss is none, f no function, or no c makes the loss smaller.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> import jax, networkx
    >>> from rfcore import graphs, kernels
    >>> from rfcore.features import neural
    >>> from rfcore.solvers import modulations
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> K = kernels.regularised_laplacian(g, 1.0, 2) * 4
    >>> loss = modulations.loss_of_walks(jax.random.key(0), g.scaled(0.5), K, 4, 0.5, 8)
    >>> c, least = modulations.best_scale(loss, neural.flat())
    >>> bool(c < 1), bool(least < loss(neural.flat()))
    (True, True)
    """
    checks.instance(loss, gram.Form, "loss", "loss_of_walks(...)")
    checks.function(f, "f", "neural.flat()")
    once, twice = (float(loss(lambda k, c2=c2: np.sqrt(c2) * jnp.asarray(f(k)))) - 1 for c2 in (1.0, 2.0))
    A, B = twice / 2 - once, twice / 4 - once
    if not (A > 0 and B > 0):
        raise ValueError(f"f has no scale at which its loss is below 1 (A = {A:.3g}, B = {B:.3g}); give one of positive values")
    return float(np.sqrt(B / A)), float(1 - B**2 / A)


def staircase(steps_per_epoch, rate=0.01, decay=0.975):
    """Adam at a rate that decays once an epoch: the printed schedule.

    Parameters
    ----------
    steps_per_epoch : int
    rate : float
    decay : float
        Strictly between 0 and 1.

    Returns
    -------
    optax.GradientTransformation

    Raises
    ------
    ValueError
        If a number is out of its range.

    Notes
    -----
    Universal Graph Random Features, Section 3.4, which does not say how many steps an epoch has. The rates add up to
    rate / (1 - decay) per step of an epoch: 0.4.

    Examples
    --------
    >>> from rfcore.solvers import descent, modulations
    >>> far = descent.learn(lambda x: abs(x - 3.0), 0.0, n_steps=400, optimiser=modulations.staircase(1)).f
    >>> round(float(far), 2)
    0.4
    """
    steps, decay = checks.count(steps_per_epoch, "steps_per_epoch"), checks.probability(decay, "decay")
    rate = checks.real(rate, "rate", above=0)
    return optax.adam(optax.exponential_decay(rate, steps, decay, staircase=True))


def learn_each(starts, losses, n_steps, optimiser):
    """Many modulations, or pairs of them, learned at once, each as if alone.

    Parameters
    ----------
    starts : sequence of pytrees of one structure
        Modulations such as :func:`rfcore.features.neural.flat`, or tuples of two for a pair.
    losses : rfcore.solvers.gram.Form, or sequence of them
        One for all, or one each.
    n_steps : int
    optimiser : optax.GradientTransformation
        That treats every parameter apart, such as ``optax.adam``.

    Returns
    -------
    pytree
        Of the structure of one start, each leaf with a first axis over the starts.

    Raises
    ------
    ValueError
        If there are no starts, or losses that are none or not one each.

    Notes
    -----
    Ours: the sum of the losses falls as each would.

    Examples
    --------
    >>> import jax, networkx, optax
    >>> from rfcore import graphs, kernels
    >>> from rfcore.features import neural
    >>> from rfcore.solvers import modulations
    >>> g = graphs.Graph.from_networkx(networkx.path_graph(3)).normalised()
    >>> K = kernels.regularised_laplacian(g, 1.0, 2) * 4
    >>> loss = modulations.loss_of_walks(jax.random.key(0), g.scaled(0.5), K, 4, 0.5, 8)
    >>> found = modulations.learn_each([neural.flat(), neural.flat(0.5)], loss, 20, optax.adam(0.01))
    >>> found.w1.shape
    (2, 1)
    """
    starts = list(starts) if np.iterable(starts) else []
    if not starts:
        raise ValueError("starts has no start; give at least one, such as [neural.flat()]")
    shared = isinstance(losses, gram.Form)
    each = [losses] if shared else list(losses) if np.iterable(losses) else []
    if not all(isinstance(loss, gram.Form) for loss in each) or (not shared and len(each) != len(starts)):
        raise ValueError(f"losses has {len(each)} for {len(starts)} starts; give one Form for all, or one each")
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf, dtype=float) for leaf in leaves]), *starts)
    data = losses if shared else jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
    return descent.learn(_sum_shared if shared else _sum_each, stacked, (data,), n_steps, optimiser).f


def _loss(f, form):
    return form(*f) if type(f) is tuple else form(f)


def _sum_shared(fs, form):
    return jnp.sum(jax.vmap(_loss, in_axes=(0, None))(fs, form))


def _sum_each(fs, forms):
    return jnp.sum(jax.vmap(_loss)(fs, forms))
