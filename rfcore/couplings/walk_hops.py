"""Joint laws of the hops of the walks of a node, made while they walk: each knows where all walkers stand.

::

    a walker goes to neighbour number floor(u * number of neighbours) of its node,   u its uniform of that hop

A law of hops is a function ``(rng, n_rows, n_walks) -> uniforms``: for n_rows starts of n_walks walkers each,
on a NumPy generator of its own. ``uniforms(step, walkers, rows, nodes)`` is then asked once per hop, as
:func:`independent` says. Any such function serves where a name does. Lengths are drawn before, by a coupling
of their own (:func:`rfcore.couplings.walk_lengths.with_hops`): stratified ones go with these.

**What keeps features unbiased.** Every walk *by itself* must be a right random walk: its next hop is uniform
on the neighbours, whatever its own length and its own hops so far,

::

    P(u_(t+1) <= x | length, u_1, ..., u_t of the same walk) = x

Then it takes each path of k hops that it may with probability 1 / (product of the numbers of neighbours on
the way), and the expected load at node j and step k is (W^k)_ij. How the walks of one start depend on *each
other* is free, at one hop and across hops. Different starts must be independent, since an estimate of a
kernel multiplies the features of two. The laws here keep more than that: a hop is uniform given the lengths
and the past hops of *all* walks, because every point set is moved by a shift that is drawn after them; and no
number is used for two starts.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rfcore import checks

PURPOSE = 7  # of the random stream; part of what a key means
GOLDEN = (np.sqrt(5) - 1) / 2
MOST_SPACED = 1024  # walkers on a node: the points of all k up to this one are half a million numbers


def independent(rng, n_rows, n_walks):
    """Independent hops.

    Returns:
        A function ``(step, walkers, rows, nodes) -> u``, one uniform in [0, 1) per walker.

    ``step`` hops were made so far. ``walkers`` are the numbers ``row * n_walks + walk`` of those that hop
    now, those of the longest walks first; ``rows`` (starts) and ``nodes`` (where they stand) are theirs. None
    in place of u stands for independent uniforms, for this hop and all that follow: so it is here.
    """
    return lambda step, walkers, rows, nodes: None


def systematic(rng, n_rows, n_walks):
    """Walkers of one start that stand on one node spread evenly over its neighbours.

    ::

        u_r = (pi(r) / k + a j + v) mod 1,   r = 0, ..., k - 1 the walkers on the j-th node, longest first

    with one uniform v per start and hop, and a = .618..., the golden ratio. On a node these are evenly spaced
    points, of which an interval of length 1/d holds the whole number below k/d or the one above it: so many
    walkers go to each of d neighbours. pi is the order of the first k van der Corput points, so that the
    longest walks among them spread as well, and those that end next; a j keeps nodes with few walkers from
    hopping alike. More than 1,024 walkers on a node take van der Corput points as they are. Repelling random
    walks (the book has a page on them) spread all of them as evenly.

    Source: Madow and Madow, 1944 (systematic sampling); van der Corput, 1935 (the order).

    Six walkers on a node with three neighbours, two to each:

    >>> import numpy as np
    >>> from rfcore.couplings import walk_hops
    >>> uniforms = walk_hops.systematic(np.random.default_rng(0), 1, 6)
    >>> u = uniforms(0, np.arange(6), np.zeros(6, int), np.zeros(6, int))
    >>> np.bincount(np.floor(3 * u).astype(int)).tolist()
    [2, 2, 2]
    """
    (of_size, points), by_node, moved = _spaced(n_walks), _by_node(n_rows, n_walks), _golden(n_rows * n_walks)

    def uniforms(step, walkers, rows, nodes):
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


def array_rqmc(rng, n_rows, n_walks):
    """Walkers of one start, sorted by the node where they stand, hop by shifted van der Corput points.

    ::

        u_r = (vdc(r) + v) mod 1,   r = 0, 1, ... the walkers of the start by node, then longest walks first

    with one uniform v per start and hop. Walkers on one node have consecutive points and so spread over its
    neighbours; so do walkers on nodes whose numbers are close, which helps where such nodes are alike.

    Source: L'Ecuyer, Lécot and Tuffin, 2008, where it is called array-RQMC.
    """
    points, by_node = _van_der_corput(n_walks), _by_node(n_rows, n_walks)

    def uniforms(step, walkers, rows, nodes):
        order, met = by_node(rows, nodes)
        counts = np.bincount(rows, minlength=n_rows)
        met >>= 31  # rows, then
        u = points.take(np.arange(len(order)) - (counts.cumsum() - counts).take(met))
        u += rng.random(n_rows).take(met)
        return _placed(u, order)

    return uniforms


def named(hops):
    """Law of hops by its name; a function stands for itself, and what it gives is checked at every hop.

    Args:
        hops: "independent", "systematic", "array_rqmc" or function.
    """
    law = hops if callable(hops) else LAWS[checks.choice(hops, "hops", tuple(LAWS))]
    return law if law in LAWS.values() or isinstance(law, _Checked) else _Checked(law)


LAWS = {"independent": independent, "systematic": systematic, "array_rqmc": array_rqmc}


@dataclass(frozen=True)
class _Checked:
    """Anybody's law: what it gives is looked at."""

    law: object

    def __call__(self, rng, n_rows, n_walks):
        given = self.law(rng, n_rows, n_walks)

        def uniforms(step, walkers, rows, nodes):
            u = given(step, walkers, rows, nodes)
            if u is None:
                return None
            u = np.asarray(checks.numbers(u, "hops"), dtype=float)
            if u.shape != walkers.shape:
                raise ValueError(f"hops maps {len(walkers)} walkers to an array of shape {u.shape}; give one uniform per walker")
            return checks.levels(u, "hops")

        return uniforms


def _by_node(n_rows, n_walks):
    """Function (rows, nodes) -> walkers sorted by row, node and number; ``row 2^31 + node`` of each."""
    place, of_row = np.arange(n_rows * n_walks), np.arange(n_rows) << 31
    bits = (len(place) - 1).bit_length()  # at most 16 for rows, 31 for nodes and 16 for walkers: all that int64 has

    def by_node(rows, nodes):
        # Numbers that are all different: their order does not depend on the sort, of which NumPy has many.
        met = of_row.take(rows)
        met += nodes
        met <<= bits
        met += place[: len(met)]
        met.sort()
        order = met & ((1 << bits) - 1)
        met >>= bits
        return order, met

    return by_node


def _placed(u, order):
    """Fractional parts, each where its walker stands."""
    u -= np.floor(u)
    placed = np.empty(len(u))
    placed[order] = u
    return placed


@lru_cache(maxsize=16)
def _golden(n):
    """Fractional parts of the first n multiples of the golden ratio."""
    return _kept(np.arange(n) * GOLDEN % 1)


@lru_cache(maxsize=16)
def _van_der_corput(n):
    from scipy.stats import qmc  # not above: see copulas/nets.py

    return _kept(qmc.Halton(1, scramble=False).random(n)[:, 0])


@lru_cache(maxsize=16)
def _spaced(n_walks):
    """Where the points of k walkers begin, for k = 0, ..., n_walks, and the points of all k in a row."""
    corput, sizes = _van_der_corput(n_walks), np.arange(n_walks + 1)
    order = corput.argsort()
    points = [order[order < k].argsort() / k for k in range(1, min(n_walks, MOST_SPACED) + 1)]
    begin = np.minimum(sizes, MOST_SPACED + 1)
    return _kept(begin * (begin - 1) // 2), _kept(np.concatenate([*points, corput]))


def _kept(array):
    """An array that all who ask for this size share."""
    array.flags.writeable = False
    return array
