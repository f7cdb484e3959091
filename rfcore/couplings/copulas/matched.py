"""Pairs, or groups of more draws, matched bin by bin."""

from dataclasses import dataclass

import numpy as np

from rfcore import checks
from rfcore.couplings.copulas.sources import sizes
from rfcore.couplings.copulas.strata import in_cells


def permutation(sigma):
    """Pairs that are matched quantile bin by quantile bin, uniform within the bins.

    ::

        u_1 uniform, in bin i = floor(n u_1);   u_2 = (sigma(i) + v) / n,  v uniform

    Rows 2i and 2i + 1 of a block are a pair; an odd last row stands alone. With several permutations there
    are groups in place of pairs, u_3 in bin sigma_3(i) and so on; rows that do not fill a group are the first
    of one.

    Args:
        sigma: permutation of 0, ..., n - 1, shape (n,), or k of them, shape (k, n), for groups of k + 1.

    Source: Variance-Reducing Couplings, Section 4 (sigma-coupling); its outlook for groups.

    >>> import numpy as np
    >>> from rfcore.couplings import copulas
    >>> u = copulas.permutation([1, 0])(np.random.default_rng(0).random, (1000, 2, 1))
    >>> bool(((u[:, 0] < 0.5) == (u[:, 1] >= 0.5)).all())
    True
    """
    return matched(sigma, "sigma")


def matched(sigma, name):
    """:func:`permutation` of what a caller gave under the name ``name``."""
    values = checks.finite(checks.numbers(sigma, name), name)
    if checks.is_traced(values) or values.ndim not in (1, 2) or not values.size or not _are_permutations(values):
        raise ValueError(f"{name} = {sigma!r}; give a permutation of 0, ..., n - 1 (or several), known when the law is made")
    return _Matched(tuple(map(tuple, np.atleast_2d(values).astype(int).tolist())))


def _are_permutations(values):
    return bool(np.all(np.sort(np.atleast_2d(values), axis=-1) == np.arange(values.shape[-1])))


@dataclass(frozen=True)
class _Matched:
    sigmas: tuple

    def __call__(self, uniform, shape):
        uniform, blocks, m, k = sizes(uniform, shape)
        n, size = len(self.sigmas[0]), 1 + len(self.sigmas)
        groups = -(-m // size)
        first, place = uniform((*blocks, groups, k)), uniform((*blocks, m - groups, k))
        xp = first.__array_namespace__()
        bins = xp.minimum((first * n).astype(int), n - 1)
        # Draws 0, size, 2 size, ... are the first of a group; the others take what comes, group by group.
        group, member = np.divmod(np.arange(m), size)
        others = np.flatnonzero(member)
        cells = xp.asarray(self.sigmas)[member[others, None] - 1, bins[..., group[others], :]]
        drawn = xp.concat([first, in_cells(cells, place, n)], axis=-2)
        order = np.empty(m, dtype=int)
        order[np.append(np.flatnonzero(member == 0), others)] = np.arange(m)
        return drawn[..., order, :]
