"""Whether our numbers go the paper's way, where they are not the paper's. This module is imported by its own name."""

import numpy as np

from rfcore.evidence.agreement import same_shape
from rfcore.evidence.means import not_negative


def kept(ours, paper, paper_se, least=3.0):
    """Whether every printed difference of two columns that stands out of its error has its printed sign in ours too.

    ::

        sign(ours_ij - ours_ik) = sign(paper_ij - paper_ik)   wherever  |paper_ij - paper_ik| > least sqrt(se_ij^2 + se_ik^2)

    It is the ``in_direction`` of :func:`rfcore.evidence.agreement.agree`, decided by a rule of its own.

    Parameters
    ----------
    ours, paper, paper_se : array_like, shape (n_rows, n_columns)
        Our numbers, the printed ones and their printed standard errors; columns of a row are compared.
    least : float
        Printed errors that a difference must exceed to count.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If shapes differ or are not of two dimensions, a number is not finite, or an error or least is negative.

    Notes
    -----
    Ours.

    Examples
    --------
    >>> from rfcore.evidence import signs
    >>> signs.kept([[0.3, 0.5], [0.2, 0.1]], [[0.2, 0.6], [0.15, 0.2]], 0.02)
    True
    >>> signs.kept([[0.5, 0.3]], [[0.2, 0.6]], 0.02)
    False
    """
    ours, paper = same_shape(ours, "ours", paper, "paper")
    paper, paper_se = same_shape(paper, "paper", paper_se, "paper_se")
    if ours.ndim != 2:
        raise ValueError(f"ours has shape {ours.shape}; give rows of columns that are compared")
    not_negative(paper_se.min(), "paper_se")
    least = not_negative(least, "least")
    first, second = np.triu_indices(ours.shape[1], 1)
    change = paper[:, first] - paper[:, second]
    clear = np.abs(change) > least * np.hypot(paper_se[:, first], paper_se[:, second])
    return bool(np.all((np.sign(ours[:, first] - ours[:, second]) == np.sign(change)) | ~clear))
