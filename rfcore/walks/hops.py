"""Joint distributions of the hops of the walks of a node.

::

    a walker goes to neighbour number floor(u * number of neighbours) of its node,   u its uniform of that hop

Hops are a record, or any function, called as ``hops(rng, n_rows, n_walks) -> uniforms`` for n_rows starts of
n_walks walkers each, on a NumPy generator of its own. At every hop ``uniforms(step, walkers, rows, nodes)``
then returns one uniform in [0, 1) per walker: ``step`` hops were made so far; ``walkers`` are the numbers
``row * n_walks + walk`` of those that hop now, those of the longest walks first; ``rows`` and ``nodes`` are
their starts and current nodes. None in place of the array means independent uniforms, at this hop and all
later ones. Lengths are drawn before, see :class:`rfcore.walks.Coupling`.

**What keeps features unbiased.** Every walk *by itself* must be a simple random walk: its next hop is uniform
on the neighbours, given its own length and its own hops so far,

::

    P(u_(t+1) <= x | length, u_1, ..., u_t of the same walk) = x

It then takes each possible path of k hops with probability 1 / (product of the numbers of neighbours on the
way), and the expected load at node j and step k is (W^k)_ij. The walks of one start may depend on *each
other* in any way, at one hop and across hops. Different starts must be independent, since an estimate of a
kernel multiplies the features of two. :class:`Systematic` and :class:`ArrayRQMC` satisfy more than that: a
hop is uniform given the lengths and the past hops of *all* walks, because every point set is shifted by a
uniform drawn after them, and no number is used for two starts.
"""

import abc
from collections.abc import Callable
from functools import lru_cache

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from rfcore import checks

GOLDEN = (np.sqrt(5) - 1) / 2
MOST_SPACED = 1024  # walkers on a node: the points of all k up to this one are half a million numbers

Walkers = Int[np.ndarray, " n"]
Uniforms = Callable[[int, Walkers, Walkers, Walkers], Float[np.ndarray, " n"] | None]
"""``(step, walkers, rows, nodes) -> u``."""


class Hops(eqx.Module):
    """Joint distribution of the hops of the walks of a node, for all nodes of a chunk."""

    @abc.abstractmethod
    def __call__(self, rng: np.random.Generator, n_rows: int, n_walks: int) -> Uniforms:
        """The function that gives the uniforms of each hop: see :mod:`rfcore.walks.hops`."""


Law = Hops | Callable[[np.random.Generator, int, int], Uniforms]
"""A record, or a function of your own."""


class Independent(Hops):
    """Independent hops."""

    def __call__(self, rng: np.random.Generator, n_rows: int, n_walks: int) -> Uniforms:
        """Uniforms of every hop of a chunk."""
        return lambda step, walkers, rows, nodes: None


class First(eqx.Module):
    """First hops from coordinates 1, ..., n_hops of the copula of the lengths; later hops are independent.

    Two coupled hops are about as good as many.

    >>> from rfcore import copulas, walks
    >>> coupling = walks.Coupling(copulas.sobol, walks.hops.First(2))  # points in three dimensions
    """

    n_hops: int

    def __check_init__(self) -> None:
        checks.count(self.n_hops, "n_hops")


class Given(Hops):
    """First hops whose uniforms were drawn before; later hops are independent."""

    uniforms: Float[np.ndarray, "n_rows n_walks n_hops"]

    def __call__(self, rng: np.random.Generator, n_rows: int, n_walks: int) -> Uniforms:
        """Uniforms of every hop of a chunk."""
        by_hop = np.moveaxis(self.uniforms, 2, 0).reshape(self.uniforms.shape[2], -1)

        def uniforms(step: int, walkers: Walkers, rows: Walkers, nodes: Walkers) -> Float[np.ndarray, " n"] | None:
            return by_hop[step].take(walkers, mode="clip") if step < len(by_hop) else None

        return uniforms


class Systematic(Hops):
    """Walkers of one start that are on the same node spread evenly over its neighbours.

    ::

        u_r = (pi(r) / k + a j + v) mod 1,   r = 0, ..., k - 1 the walkers on the j-th node, longest first

    with one uniform v per start and hop, and a = .618..., the golden ratio. On a node these are evenly spaced
    points, so that each of its d neighbours receives k/d of the walkers, rounded down or up. pi is the order
    of the first k van der Corput points: it spreads the longest walks among themselves as well, and those
    that end next. The shift a j keeps nodes with few walkers from hopping alike. More than 1,024 walkers on a
    node take van der Corput points as they are. Repelling random walks (the book has a page on them) spread
    walkers as evenly.

    Source: Madow and Madow, 1944 (systematic sampling); van der Corput, 1935 (the order).

    Six walkers on a node with three neighbours, two to each:

    >>> import numpy as np
    >>> from rfcore.walks import hops
    >>> uniforms = hops.Systematic()(np.random.default_rng(0), 1, 6)
    >>> u = uniforms(0, np.arange(6), np.zeros(6, int), np.zeros(6, int))
    >>> np.bincount(np.floor(3 * u).astype(int)).tolist()
    [2, 2, 2]
    """

    def __call__(self, rng: np.random.Generator, n_rows: int, n_walks: int) -> Uniforms:
        """Uniforms of every hop of a chunk."""
        (of_size, points), by_node, moved = _spaced(n_walks), _by_node(n_rows, n_walks), _golden(n_rows * n_walks)

        def uniforms(step: int, walkers: Walkers, rows: Walkers, nodes: Walkers) -> Float[np.ndarray, " n"]:
            order, met = by_node(rows, nodes)
            n = len(order)
            group = np.zeros(n, dtype=np.int32)
            new = met[1:] != met[:-1]
            new.cumsum(dtype=np.int32, out=group[1:])
            first = np.append(0, new.nonzero()[0] + 1)
            points_of = of_size.take(np.append(first[1:], n) - first)
            points_of -= first
            start = rng.random(n_rows).take(met.take(first) >> 31)
            start += moved[: len(first)]
            place = points_of.take(group)
            place += np.arange(n)
            u = points.take(place)
            u += start.take(group)
            return _placed(u, order)

        return uniforms


class ArrayRQMC(Hops):
    """Walkers of one start, sorted by their current node, hop by shifted van der Corput points.

    ::

        u_r = (vdc(r) + v) mod 1,   r = 0, 1, ... the walkers of the start by node, then longest walks first

    with one uniform v per start and hop. Walkers on one node have consecutive points and so spread over its
    neighbours; so do walkers on nodes whose numbers are close, which helps where such nodes are alike.

    Source: L'Ecuyer, Lécot and Tuffin, 2008, where it is called array-RQMC.
    """

    def __call__(self, rng: np.random.Generator, n_rows: int, n_walks: int) -> Uniforms:
        """Uniforms of every hop of a chunk."""
        points, by_node = _van_der_corput(n_walks), _by_node(n_rows, n_walks)

        def uniforms(step: int, walkers: Walkers, rows: Walkers, nodes: Walkers) -> Float[np.ndarray, " n"]:
            order, met = by_node(rows, nodes)
            counts = np.bincount(rows, minlength=n_rows)
            met >>= 31  # rows, then
            u = points.take(np.arange(len(order)) - (counts.cumsum() - counts).take(met))
            u += rng.random(n_rows).take(met)
            return _placed(u, order)

        return uniforms


def of_rows(hops: Law, rows: slice) -> Law:
    """Hops of some rows."""
    return Given(hops.uniforms[rows]) if isinstance(hops, Given) else hops


def started(hops: Law, rng: np.random.Generator, n_rows: int, n_walks: int) -> Uniforms:
    """``hops(rng, n_rows, n_walks)``; the uniforms of a user's own function are checked at every hop."""
    given = hops(rng, n_rows, n_walks)
    if isinstance(hops, Hops):
        return given

    def uniforms(step: int, walkers: Walkers, rows: Walkers, nodes: Walkers) -> Float[np.ndarray, " n"] | None:
        u = given(step, walkers, rows, nodes)
        if u is None:
            return None
        u = np.asarray(checks.numbers(u, "hops"), dtype=float)
        if u.shape != walkers.shape:
            raise ValueError(f"hops maps {len(walkers)} walkers to an array of shape {u.shape}; give one uniform per walker")
        return checks.levels(u, "hops")

    return uniforms


def _by_node(n_rows: int, n_walks: int) -> Callable[[Walkers, Walkers], tuple[Walkers, Walkers]]:
    """Function (rows, nodes) -> walkers sorted by row, node and number; ``row 2^31 + node`` of each."""
    place, of_row = np.arange(n_rows * n_walks), np.arange(n_rows) << 31
    bits = (len(place) - 1).bit_length()  # at most 16 for rows, 31 for nodes and 16 for walkers, which fill int64

    def by_node(rows: Walkers, nodes: Walkers) -> tuple[Walkers, Walkers]:
        # The numbers are distinct, so that their order does not depend on the sorting algorithm.
        met = of_row.take(rows)
        met += nodes
        met <<= bits
        met += place[: len(met)]
        met.sort()
        order = met & ((1 << bits) - 1)
        met >>= bits
        return order, met

    return by_node


def _placed(u: Float[np.ndarray, " n"], order: Walkers) -> Float[np.ndarray, " n"]:
    """Fractional parts, each at the position of its walker."""
    u -= np.floor(u)
    placed = np.empty(len(u))
    placed[order] = u
    return placed


@lru_cache(maxsize=16)
def _golden(n: int) -> Float[np.ndarray, " n"]:
    """Fractional parts of the first n multiples of the golden ratio."""
    return _kept(np.arange(n) * GOLDEN % 1)


@lru_cache(maxsize=16)
def _van_der_corput(n: int) -> Float[np.ndarray, " n"]:
    from scipy.stats import qmc  # imported here, as in copulas/nets.py

    return _kept(qmc.Halton(1, scramble=False).random(n)[:, 0])


@lru_cache(maxsize=16)
def _spaced(n_walks: int) -> tuple[Int[np.ndarray, " n_sizes"], Float[np.ndarray, " n_points"]]:
    """Where the points of k walkers begin, for k = 0, ..., n_walks, and the points of all k in a row."""
    corput, sizes = _van_der_corput(n_walks), np.arange(n_walks + 1)
    order = corput.argsort()
    points = [order[order < k].argsort() / k for k in range(1, min(n_walks, MOST_SPACED) + 1)]
    begin = np.minimum(sizes, MOST_SPACED + 1)
    return _kept(begin * (begin - 1) // 2), _kept(np.concatenate([*points, corput]))


def _kept(array: np.ndarray) -> np.ndarray:
    """The array, read-only, since all callers share it."""
    array.flags.writeable = False
    return array
