"""Whether our numbers go the paper's way, where they are not the paper's.

Imported by its own name, ``rfcore.evidence.signs``.
"""

import numpy as np

from rfcore.evidence.agreement import same_shape
from rfcore.evidence.means import not_negative


def kept(ours, paper, paper_se, least=3.0):
    """Whether every printed difference of two columns that exceeds its error has its sign in ours too.

    ::

        sign(ours_ij - ours_ik) = sign(paper_ij - paper_ik)
        wherever  |paper_ij - paper_ik| > least sqrt(se_ij^2 + se_ik^2)

    It is the ``in_direction`` of :func:`rfcore.evidence.agreement.agree`, decided by a rule of its own.

    Args:
        ours, paper, paper_se: our numbers, the printed ones and their printed standard errors, shape (n_rows,
            n_columns); columns of a row are compared.
        least: printed errors that a difference must exceed to count.
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
