"""Hyper-parameters of a Gaussian process on a graph by a search on a grid, which local maxima cannot catch.

::

    y ~ N(0, kappa (B(gamma) + r I)),   B = U diag(lambda) U^T   at lengthscale gamma,   r = s^2 / kappa
    kappa(r) = (1/n) sum_i (U^T y)_i^2 / (lambda_i + r)   maximises the evidence at gamma and r, and leaves
    log evidence = -(n/2) (1 + log(2 pi kappa(r))) - (1/2) sum_i log(lambda_i + r)

One eigendecomposition per lengthscale serves all r and all y. Compare :func:`rfcore.models.gp.walk_loss` for descent.
"""

import numpy as np

from rfcore import checks
from rfcore.models.gp.exact import symmetric
from rfcore.models.gp.graph import hyperparameters

__all__ = ["learn_on_grid", "profile"]


def profile(B, y, ratios):
    """Log evidence, maximised over the variance of the signal, and where.

    Parameters
    ----------
    B : array, shape (n, n)
        Symmetric, positive semidefinite: the kernel of variance 1.
    y : array, shape (k, n)
        Vectors of observations, a row each.
    ratios : array, shape (l,)
        Variances of the noise over that of the signal, s^2 / kappa; above 0.

    Returns
    -------
    log_evidence, variance : float64 arrays, shape (k, l)

    Raises
    ------
    ValueError
        If B is not symmetric or has negative eigenvalues beyond rounding, shapes do not fit, a number is not finite, or a ratio is not above 0.

    Notes
    -----
    Rasmussen and Williams, 2006, Eq. 2.30, maximised over a common factor of signal and noise.

    Examples
    --------
    >>> import numpy as np
    >>> from rfcore.models.gp.profile import profile
    >>> log_evidence, variance = profile(np.eye(2), [[1.0, 1.0]], [1.0])
    >>> float(variance[0, 0])  # 0.5 of signal and 0.5 of noise
    0.5
    """
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
    """Hyper-parameters of largest evidence on a grid of lengthscales and noises, the variance of the signal free.

    Parameters
    ----------
    gram : function ``lengthscale -> array, shape (n, n)``
        The kernel of variance 1 between the nodes that were seen, exact or of features.
    y : array, shape (k, n)
        Vectors of observations, a row each.
    lengthscales : array, shape (l,)
    ratios : array
        As for :func:`profile`.

    Returns
    -------
    list of Hyperparameters, one for each row of y

    Raises
    ------
    ValueError
        As :func:`profile`, or if gram is no function or the lengthscales are no vector.

    Notes
    -----
    Ours; the model is that of Variance-Reducing Couplings, Appendix F.2, which learns by descent.

    Examples
    --------
    >>> import networkx, numpy as np
    >>> from rfcore import graphs, kernels
    >>> from rfcore.models.gp.profile import learn_on_grid
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> wave = kernels.spectrum(g)[1][:, -2]  # smooth: the second of the eigenvectors
    >>> (found,) = learn_on_grid(lambda l: kernels.diffusion(g, 2**0.5 * l), wave[None], [0.5, 1.0, 4.0], [0.01, 1.0])
    >>> round(float(found.lengthscale), 6)
    4.0
    """
    checks.function(gram, "gram", "lambda lengthscale: ...")
    lengthscales = np.asarray(checks.vector(lengthscales, "lengthscales"), dtype=float)
    found = [profile(gram(lengthscale), y, ratios) for lengthscale in lengthscales]
    log_evidence, variance = (np.stack(part, axis=1) for part in zip(*found, strict=True))  # (k, l, ratios)
    best = [np.unravel_index(np.argmax(each), each.shape) for each in log_evidence]
    return [
        hyperparameters(variance[i, j, r], lengthscales[j], variance[i, j, r] * ratios[r])
        for i, (j, r) in enumerate(best)
    ]
