"""Hyper-parameters of a Gaussian process on a graph by a search on a grid, which local maxima cannot catch.

::

    y ~ N(0, kappa (B(gamma) + r I)),   B = U diag(lambda) U^T   at lengthscale gamma,   r = s^2 / kappa
    kappa(r) = (1/n) sum_i (U^T y)_i^2 / (lambda_i + r)   maximises the evidence at gamma and r, and leaves
    log evidence = -(n/2) (1 + log(2 pi kappa(r))) - (1/2) sum_i log(lambda_i + r)

One eigendecomposition per lengthscale serves all ratios r and all rows of y, (k, n). Descent:
:func:`rfcore.models.gp.walk_loss`.
"""

import numpy as np

from rfcore import checks
from rfcore.models.gp.exact import symmetric
from rfcore.models.gp.graph import hyperparameters

__all__ = ["learn_on_grid", "profile"]


def profile(B, y, ratios):
    """Log evidence maximised over kappa, and the best kappa: two arrays, (k, number of ratios)."""
    B, y = symmetric(B, "B"), np.asarray(checks.points(y, "y"), dtype=float)
    B, eps = np.asarray(B, dtype=float), np.finfo(B.dtype).eps
    ratios = np.asarray(checks.vector(ratios, "ratios"), dtype=float)
    if y.shape[1] != len(B):
        raise ValueError(f"y has shape {y.shape}, B {B.shape}; give rows of {len(B)} observations")
    if ratios.min() <= 0:
        raise ValueError(f"ratios has the value {ratios.min()}; give numbers above 0")
    eigenvalues, vectors = np.linalg.eigh(B)
    if eigenvalues[0] < -1e3 * eps * np.abs(eigenvalues).max():
        got = f"B has the eigenvalue {eigenvalues[0]:.3g}"
        raise ValueError(f"{got}; give a positive semidefinite matrix, such as phi @ phi.T of one set of features")
    spread = np.maximum(eigenvalues, 0)[:, None] + ratios
    variance = (y @ vectors) ** 2 @ (1 / spread) / len(B)
    fit = -len(B) / 2 * (1 + np.log(2 * np.pi * variance))
    return fit - np.log(spread).sum(axis=0) / 2, variance


def learn_on_grid(gram, y, lengthscales, ratios):
    """Hyperparameters of largest evidence for each row of y; ``gram(lengthscale)`` is B, of variance 1."""
    checks.function(gram, "gram", "lambda lengthscale: ...")
    lengthscales = np.asarray(checks.vector(lengthscales, "lengthscales"), dtype=float)
    found = [profile(gram(lengthscale), y, ratios) for lengthscale in lengthscales]
    log_evidence, variance = (np.stack(part, axis=1) for part in zip(*found, strict=True))  # (k, l, ratios)
    best = [np.unravel_index(np.argmax(each), each.shape) for each in log_evidence]
    return [
        hyperparameters(variance[i, j, r], lengthscales[j], variance[i, j, r] * ratios[r])
        for i, (j, r) in enumerate(best)
    ]
