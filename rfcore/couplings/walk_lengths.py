"""Joint laws of the walks of a node: of their lengths, each geometric, and of their first hops, each uniform.

::

    length = floor(log(1 - u_0) / log(1 - p_halt)),   so that P(length >= k) = (1 - p_halt)^k
    hop t goes to neighbour number floor(u_t * number of neighbours)

A coupling is a joint law of these uniforms, a copula: see :mod:`rfcore.copulas`. A block is a start
node, so that nodes are independent; its draws are the walks of the node; coordinate 0 is that of the length.
A law that says so (``copulas.over``) has coordinates 1, 2, ... for the first hops, too; all later hops are
independent. :func:`with_hops` couples all hops, while the walkers walk. Walks are data, drawn on the host
from NumPy generators (see :mod:`rfcore.streams`).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rfcore import checks, copulas, streams
from rfcore.couplings import walk_hops

PURPOSE = 1


class Lengths(NamedTuple):
    """Lengths of walks, with the law that they have: the loads of the walks depend on it."""

    values: np.ndarray
    """One row per start and one column per walk, whole numbers of at least 0."""
    p_halt: float
    """Probability of stopping before each hop."""
    hops: Any = None
    """Uniforms of the first hops of each walk, shape (n_nodes, n_walks, n_hops); a law of all hops; None where hops are independent."""


def draw(key, n_nodes, n_walks, p_halt, coupling="iid"):
    """Lengths of n_walks walks from each of n_nodes nodes, and how their hops are coupled.

    The same key gives the lengths that :func:`rfcore.features.walk_features` uses. Two coupled hops are about
    as good as many, if hops are coupled before the walks. Sobol' points are balanced where n_walks is
    a power of two; other numbers of walks keep their laws, so that nothing is biased, and lose some of the
    gain.

    Coupled walks cost what independent ones do where walks are long (p_halt = 0.1: stratified hops a tenth
    more, the rest nothing that shows). At p_halt = 0.5, with 16 walks from each node, features take up to 1.1
    times as long with stratified lengths, 1.15 times with Sobol' points for lengths and two hops, and 1.2 to
    1.4 times with stratified ones, which take three uniforms per walk before it makes its one hop.

    Args:
        key: JAX PRNG key.
        n_nodes, n_walks: counts.
        p_halt: probability of stopping before each hop, between 1.8e-8 and 1, both excluded.
        coupling: the joint law of the walks of a node, which :func:`named` looks up.

    Returns:
        Lengths, int32 (n_nodes, n_walks), with uniforms of first hops, float64 (n_nodes, n_walks, n_hops), or
        a law of all hops, if any are coupled.

    Source: Variance-Reducing Couplings, Section 4, for lengths.

    The second walk of a pair is long where the first is short:

    >>> import jax
    >>> from rfcore.couplings import walk_lengths
    >>> lengths = walk_lengths.draw(jax.random.key(0), 1000, 2, 0.5, coupling="reversal").values
    >>> bool(((lengths[:, 0] == 0) == (lengths[:, 1] > 0)).all())
    True
    """
    n_nodes, n_walks = checks.count(n_nodes, "n_nodes"), checks.count(n_walks, "n_walks")
    p_halt, law, words = halting(p_halt), named(coupling), streams.words(key)
    parts = [
        law(streams.generator(words, PURPOSE, chunk), rows.stop - rows.start, n_walks, p_halt)
        for chunk, rows in enumerate(streams.chunks(n_nodes, n_walks))
    ]
    hops = parts[0].hops
    hops = np.concatenate([part.hops for part in parts]) if isinstance(hops, np.ndarray) else hops
    return Lengths(np.concatenate([part.values for part in parts]), p_halt, hops)


def named(coupling):
    """Law of the walks of a node, by its name.

    Args:
        coupling: "systematic", stratified lengths with systematic hops; "antithetic" (:func:`antithetic`);
            another law of uniforms by its name, for lengths alone: "iid", "reversal", "stratified", ...
            (:data:`rfcore.copulas.COPULAS`); int array, the permutation of a sigma-coupling; what
            :func:`with_hops` makes; or a copula, a function ``(uniform, shape) -> u`` of as many coordinates
            as its attribute ``n_coordinates`` says, 1 where it has none.

    Returns:
        A function ``(rng, n_nodes, n_walks, p_halt) -> Lengths`` on a NumPy generator, for one chunk of
        nodes; it can be pickled if the coupling can.
    """
    if isinstance(coupling, _Walks):
        return coupling
    if isinstance(coupling, str):
        checks.choice(coupling, "coupling", (*copulas.COPULAS, "antithetic"))
        if coupling == "antithetic":
            return _Walks(antithetic)
        if coupling == "systematic":
            return with_hops("stratified", "systematic")
    copula = copulas.named(coupling, "coupling")
    n_hops = getattr(copula, "n_coordinates", 1) - 1
    return _Walks(partial(_pushed, copula=copula, n_hops=n_hops), n_hops)


def with_hops(coupling, hops):
    """Coupling of walks whose lengths have one law and whose hops another, made while they walk.

    Args:
        coupling: of the lengths, as :func:`named` takes it.
        hops: "independent", "systematic", "array_rqmc" or function (:mod:`rfcore.couplings.walk_hops`).

    >>> from rfcore.couplings import walk_lengths
    >>> coupling = walk_lengths.with_hops("reversal", "systematic")
    """
    lengths, law = named(coupling), walk_hops.named(hops)
    if lengths.n_hops or lengths.hops:
        raise ValueError(
            f"coupling = {coupling!r} couples hops, too; give a law of lengths alone, such as 'stratified'"
        )
    return lengths if law is walk_hops.independent else replace(lengths, hops=law)


@dataclass(frozen=True)
class _Walks:
    """Law of the walks of a node: of lengths and perhaps first hops, or of lengths and all hops."""

    draw: Any
    n_hops: int = 0
    hops: Any = None

    def __call__(self, rng, n_nodes, n_walks, p_halt):
        lengths = self.draw(rng, n_nodes, n_walks, p_halt)
        return lengths._replace(hops=self.hops) if self.hops else lengths


def _pushed(rng, n_nodes, n_walks, p_halt, copula, n_hops):
    u = np.asarray(copulas.draw(copula, rng.random, (n_nodes, n_walks, 1 + n_hops)), dtype=float)
    return Lengths(quantile(u[..., 0], p_halt), p_halt, u[..., 1:] if n_hops else None)


def antithetic(rng, n_nodes, n_walks, p_halt):
    """Antithetic termination: walks 2i and 2i + 1 of a node halt by uniforms half a circle apart.

    ::

        before each hop the first of a pair halts if t < p_halt, the second if (t + 1/2) mod 1 < p_halt

    with a fresh uniform t for each hop, while both walk; the one that is left halts as a walk alone does, and
    so does the last walk of an odd number. Each length is geometric. For p_halt < 1/2 the two never halt at
    once: one of them does at a time that is geometric for 2 p_halt, either with probability 1/2, and the
    other walks at least one hop more. For p_halt >= 1/2 at least one halts before its first hop, and both do
    with probability 2 p_halt - 1. So a pair takes three uniforms, whatever the lengths. The hops are
    independent.

    Args:
        rng: NumPy generator.
        n_nodes, n_walks, p_halt: as for :func:`draw`.

    Source: Quasi-Monte Carlo Graph Random Features, 2023; Variance-Reducing Couplings, Appendix C.2.
    """
    u, which, v = rng.random((3, n_nodes, n_walks // 2))
    # (1 - 2 p_halt)^k is how likely both are to make k hops.
    halts = quantile(u, 2 * p_halt) if p_halt < 0.5 else np.zeros(u.shape, dtype=np.int32)
    # Longer ones have a probability below 2^-52: as fine as uniforms are.
    alone = np.minimum(quantile(v, p_halt), longest(p_halt) - 1 - halts) + 1
    share = min(0.5, 1 - p_halt)  # how likely each is to survive the other
    first, either = which < share, which < 2 * share
    pairs = np.empty((*u.shape, 2), dtype=np.int32)
    np.add(halts, alone * first, out=pairs[..., 0])
    np.add(halts, alone * (either ^ first), out=pairs[..., 1])
    values = pairs.reshape(n_nodes, -1)
    if n_walks % 2:
        values = np.column_stack([values, quantile(rng.random(n_nodes), p_halt)])
    return Lengths(values, p_halt)


def quantile(u, p_halt):
    """Length at level u of the geometric law: floor(log(1 - u) / log(1 - p_halt)), int32, for 0 <= u < 1."""
    # Division and truncation: np.floor_divide takes an exact remainder, at several times the time.
    return (np.log1p(-u) / np.log1p(-p_halt)).astype(np.int32)


def halting(p_halt):
    """``p_halt`` as a probability whose longest walks have a length that int32 holds: at least 1.8e-8."""
    p_halt = checks.probability(p_halt, "p_halt")
    if longest(p_halt) >= 2**31:
        raise ValueError(f"p_halt = {p_halt}; walks of {longest(p_halt):.1e} hops are too long: give at least 1.8e-8")
    return p_halt


def longest(p_halt):
    """Greatest length that can be drawn: uniforms are multiples of 2^-53, so that 1 - u >= 2^-53.

    Nothing is truncated; the law of the lengths is geometric up to the resolution of float64 uniforms.

    >>> from rfcore.couplings import walk_lengths
    >>> walk_lengths.longest(0.5)
    54
    """
    return int(53 * np.log(2) / -np.log1p(-p_halt)) + 1


def batch_size(n_walkers, p_halt, delta):
    """How many values of f suffice: all of n_walkers walks are shorter than b with probability 1 - delta.

    ::

        b >= log(1 - (1 - delta)^(1/n_walkers)) / log(1 - p_halt),  b the smallest such

    Walks here are never cut: f is computed to the greatest length that was drawn, at most :func:`longest`.
    This is what it takes with high probability.

    Source: Universal Graph Random Features, Eqs. 17 and 18.

    >>> from rfcore.couplings import walk_lengths
    >>> walk_lengths.batch_size(1, 0.5, 0.3)  # 3/4 of the walks are shorter than 2 hops
    2
    """
    n_walkers = checks.count(n_walkers, "n_walkers")
    p_halt, delta = checks.probability(p_halt, "p_halt"), checks.probability(delta, "delta")
    one_is_longer = -np.expm1(np.log1p(-delta) / n_walkers)
    # Rounding lifts what is a whole number above it: by less than eight units, three roundings and the logarithm's condition.
    b = np.log(one_is_longer) / np.log1p(-p_halt)
    return int(np.ceil(b - 8 * np.finfo(float).eps * max(b, 1 / -np.log1p(-p_halt))))
