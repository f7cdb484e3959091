"""Pairs matched bin by bin."""

from dataclasses import dataclass

import numpy as np

from rfcore import checks
from rfcore.couplings.copulas.sources import sizes
from rfcore.couplings.copulas.strata import in_cells


def permutation(sigma):
    """Pairs that are matched quantile bin by quantile bin, uniform within the bins.

    ::

        u_1 uniform, in bin i = floor(n u_1);   u_2 = (sigma(i) + v) / n,  v uniform

    Rows 2i and 2i + 1 of a block are a pair; an odd last row stands alone.

    Parameters
    ----------
    sigma : int array, shape (n,)
        A permutation of 0, ..., n - 1.

    Returns
    -------
    function (uniform, shape) -> u

    Raises
    ------
    ValueError
        If sigma is no permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.couplings import copulas
    >>> u = copulas.permutation([1, 0])(np.random.default_rng(0).random, (1000, 2, 1))
    >>> bool(((u[:, 0] < 0.5) == (u[:, 1] >= 0.5)).all())
    True

    Notes
    -----
    Variance-Reducing Couplings, Section 4 (sigma-coupling).
    """
    return matched(sigma, "sigma")


def matched(sigma, name):
    """:func:`permutation` of what a caller gave under the name `name`."""
    values = checks.vector(sigma, name)
    if checks.is_traced(values) or not np.array_equal(np.sort(values), np.arange(len(values))):
        raise ValueError(f"{name} = {sigma!r}; give a permutation of 0, ..., n - 1, known when the law is made")
    return _Permutation(tuple(int(i) for i in values))


@dataclass(frozen=True)
class _Permutation:
    sigma: tuple

    def __call__(self, uniform, shape):
        blocks, m, k = sizes(uniform, shape)
        first, place = uniform((*blocks, (m + 1) // 2, k)), uniform((*blocks, m // 2, k))
        xp = first.__array_namespace__()
        n = len(self.sigma)
        bins = xp.minimum((first[..., : m // 2, :] * n).astype(int), n - 1)
        second = in_cells(xp.asarray(self.sigma)[bins], place, n)
        pairs = xp.stack([first[..., : m // 2, :], second], axis=-2).reshape((*blocks, m - m % 2, k))
        return xp.concat([pairs, first[..., m // 2 :, :]], axis=-2)
