"""Lengths of walks, each geometric, and the couplings of the walks of a node.

::

    length = floor(log(1 - u) / log(1 - p_halt)),   so that P(length >= k) = (1 - p_halt)^k

The uniforms u of the walks of one start node are drawn from a copula (:mod:`rfcore.copulas`): a block is a
start node, so that nodes are independent, and its draws are the walks of the node. Hops are coupled by
:mod:`rfcore.walks.hops`; :class:`Coupling` holds the two together.
"""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float, Int, Integer

from rfcore import checks, copulas
from rfcore.walks import hops, streams
from rfcore.walks.hops import First, Law
from rfcore.walks.streams import Key, Purpose

Drawn = tuple[Int[np.ndarray, "n_rows n_walks"], Law]
"""Lengths of walks, and how they hop."""


class Lengths(eqx.Module):
    """Lengths of walks, with what their loads and hops depend on."""

    values: Integer[np.ndarray, "n_rows n_walks"]
    """One row per start, one column per walk."""
    p_halt: float
    """Probability of stopping before each hop."""
    hops: Law = hops.Independent()
    """How the walks of a row hop together: see :mod:`rfcore.walks.hops`."""


class AntitheticTermination(eqx.Module):
    """Lengths of walks 2i and 2i + 1 of a node that halt by uniforms half a circle apart.

    ::

        before each hop the first of a pair halts if t < p_halt, the second if (t + 1/2) mod 1 < p_halt

    with a fresh uniform t for each hop, while both walk. The one that is left then halts like a single walk,
    and so does the last walk of an odd number. Each length is geometric. For p_halt < 1/2 the two never halt
    at once: one of them does at a time that is geometric for 2 p_halt, either with probability 1/2, and the
    other walks at least one hop more. For p_halt >= 1/2 at least one halts before its first hop, and both do
    with probability 2 p_halt - 1. A pair thus takes three uniforms, whatever the lengths.

    Source: Quasi-Monte Carlo Graph Random Features, 2023; Variance-Reducing Couplings, Appendix C.2.
    """

    def __call__(self, rng: np.random.Generator, n_nodes: int, n_walks: int, p_halt: float) -> Int[np.ndarray, "n m"]:
        """Lengths of the walks of a chunk of nodes."""
        u, which, v = rng.random((3, n_nodes, n_walks // 2))
        # (1 - 2 p_halt)^k is the probability that both make k hops.
        halts = quantile(u, 2 * p_halt) if p_halt < 0.5 else np.zeros(u.shape, dtype=np.int32)
        # Longer ones have a probability below 2^-52: as fine as uniforms are.
        alone = np.minimum(quantile(v, p_halt), longest(p_halt) - 1 - halts) + 1
        share = min(0.5, 1 - p_halt)  # probability that each outlives the other
        first, either = which < share, which < 2 * share
        pairs = np.empty((*u.shape, 2), dtype=np.int32)
        np.add(halts, alone * first, out=pairs[..., 0])
        np.add(halts, alone * (either ^ first), out=pairs[..., 1])
        values = pairs.reshape(n_nodes, -1)
        return np.column_stack([values, quantile(rng.random(n_nodes), p_halt)]) if n_walks % 2 else values


class Coupling(eqx.Module):
    """Joint distribution of the walks of a node: of their lengths, and of their hops.

    Args:
        lengths: a copula, or :class:`AntitheticTermination`.
        hops: :class:`~rfcore.walks.hops.Independent`, :class:`~rfcore.walks.hops.Systematic`,
            :class:`~rfcore.walks.hops.ArrayRQMC`, :class:`~rfcore.walks.hops.First` for first hops from the
            copula of the lengths, or a function.

    >>> from rfcore import copulas, walks
    >>> walks.Coupling(copulas.stratified, walks.hops.Systematic()) == walks.lengths.named("systematic")
    True
    """

    lengths: Callable
    hops: Law | First = hops.Independent()

    def __check_init__(self) -> None:
        if not callable(self.lengths):
            raise ValueError(f"lengths = {self.lengths!r}; give a copula, such as copulas.stratified")
        if not (callable(self.hops) or isinstance(self.hops, First)):
            raise ValueError(f"hops = {self.hops!r}; give a record of walks.hops, such as walks.hops.Systematic()")
        if isinstance(self.lengths, AntitheticTermination) and isinstance(self.hops, First):
            raise ValueError("AntitheticTermination has no coordinates for first hops; give a copula, or other hops")


Named = str | Coupling | Int[ArrayLike, "*k n"] | list | Callable
"""What stands for a coupling of walks: see :func:`named`."""
COUPLINGS = {name: Coupling(copula) for name, copula in copulas.COPULAS.items()} | {
    "antithetic": Coupling(AntitheticTermination()),
    "systematic": Coupling(copulas.stratified, hops.Systematic()),
}
"""Couplings by name; the last two mean something else for walks than they do for uniforms."""


def named(coupling: Named) -> Coupling:
    """Coupling of walks from a name, a permutation or a copula.

    Args:
        coupling: "systematic", stratified lengths with systematic hops; "antithetic",
            :class:`AntitheticTermination`; another name of a copula, for lengths alone: "iid", "reversal",
            "stratified", ... (:data:`rfcore.copulas.COPULAS`); the permutation of a sigma-coupling, an int
            array; a copula, for lengths alone; or a :class:`Coupling` as it is.
    """
    if isinstance(coupling, Coupling):
        return coupling
    if isinstance(coupling, AntitheticTermination):
        return Coupling(coupling)
    if isinstance(coupling, str) and coupling in COUPLINGS:
        return COUPLINGS[coupling]
    return Coupling(copulas.named(coupling, "coupling"))


def draw(key: Key, n_nodes: int, n_walks: int, p_halt: float, coupling: Named = "stratified") -> Lengths:
    """Lengths of n_walks walks from each of n_nodes nodes, with their hops.

    The same key gives the lengths that :func:`rfcore.features.walk_features` uses. Sobol' points are balanced
    where n_walks is a power of two; for other numbers of walks nothing is biased, and some of the gain is
    lost.

    Coupled walks cost what independent ones do where walks are long (p_halt = 0.1: a tenth more for
    stratified first hops, nothing measurable for the others). At p_halt = 0.5, with 16 walks from each node,
    features take up to 1.1 times as long with stratified lengths, 1.15 times with Sobol' points for lengths
    and two hops, and 1.2 to 1.4 times with stratified ones, which take three uniforms per walk before it
    makes its one hop.

    Args:
        p_halt: probability of stopping before each hop, between 1.8e-8 and 1, both excluded.
        coupling: coupling of the walks of a node, as for :func:`named`.

    Source: Variance-Reducing Couplings, Section 4, for lengths.

    The second walk of a pair is long where the first is short:

    >>> import jax
    >>> from rfcore import walks
    >>> lengths = walks.lengths.draw(jax.random.key(0), 1000, 2, 0.5, coupling="reversal").values
    >>> bool(((lengths[:, 0] == 0) == (lengths[:, 1] > 0)).all())
    True
    """
    n_nodes, n_walks = checks.count(n_nodes, "n_nodes"), checks.count(n_walks, "n_walks")
    p_halt, coupling, words = halting(p_halt), named(coupling), streams.words(key)
    sizes = [rows.stop - rows.start for rows in streams.chunks(n_nodes, n_walks)]
    values, how = zip(*streams.in_chunks(partial(of_chunk, words, coupling, n_walks, p_halt), sizes), strict=True)
    given = [one.uniforms for one in how if isinstance(one, hops.Given)]
    return Lengths(np.concatenate(values), p_halt, hops.Given(np.concatenate(given)) if given else how[0])


def of_chunk(words: int, coupling: Coupling, n_walks: int, p_halt: float, chunk: int, n_rows: int) -> Drawn:
    """Lengths of the walks of a chunk of nodes, from a stream of its own, and their hops."""
    rng, how = streams.generator(words, Purpose.LENGTHS, chunk), coupling.hops
    if isinstance(coupling.lengths, AntitheticTermination) and not isinstance(how, First):
        return coupling.lengths(rng, n_rows, n_walks, p_halt), how
    n_hops = how.n_hops if isinstance(how, First) else 0
    u = np.asarray(copulas.draw(coupling.lengths, rng.random, (n_rows, n_walks, 1 + n_hops)), dtype=float)
    return quantile(u[..., 0], p_halt), hops.Given(u[..., 1:]) if isinstance(how, First) else how


def quantile(u: Float[np.ndarray, "..."], p_halt: float) -> Int[np.ndarray, "..."]:
    """Geometric length at level u, floor(log(1 - u) / log(1 - p_halt)), int32, for 0 <= u < 1."""
    # Division and truncation: np.floor_divide takes an exact remainder, at several times the time.
    return (np.log1p(-u) / np.log1p(-p_halt)).astype(np.int32)


def halting(p_halt: float) -> float:
    """``p_halt`` as a probability whose longest walks have a length that int32 holds: at least 1.8e-8."""
    p_halt = float(checks.probability(p_halt, "p_halt"))
    if longest(p_halt) >= 2**31:
        raise ValueError(f"p_halt = {p_halt}; walks of {longest(p_halt):.1e} hops are too long: give at least 1.8e-8")
    return p_halt


def longest(p_halt: float) -> int:
    """Greatest length that can be drawn: uniforms are multiples of 2^-53, so that 1 - u >= 2^-53.

    Nothing is truncated; lengths are geometric up to the resolution of float64 uniforms.

    >>> from rfcore import walks
    >>> walks.lengths.longest(0.5)
    54
    """
    return int(53 * np.log(2) / -np.log1p(-p_halt)) + 1
